/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of finding roots (roots.h), for the files of congestion/. */
#ifndef TRIAD_CONGESTION_ROOTS_PARTS_H
#define TRIAD_CONGESTION_ROOTS_PARTS_H

#include "congestion/estimate.h"
#include "congestion/roots.h"

struct triad_congestion_finder {
	const struct triad_congestion_turns *turns;
	const struct triad_routes_layout *layout;
	const struct triad_fabric *fabric;
	struct triad_congestion_load *loads; /* in the present plane */
	const struct triad_congestion_load *all_loads;
	const struct triad_congestion_by_vl *by_vl; /* or NULL */
	uint32_t plane;                             /* with 'by_vl' */
	/* For each port: 1 + its index in by_vl->waits; 0: its VLs are not known. */
	uint32_t *vl_waits;
	struct triad_congestion_limits limits;
	const struct triad_congestion_matrix *matrix; /* or NULL */
	struct triad_congestion_estimate estimate;
	uint32_t *queue; /* ports of the tree being walked */
	/* Of each port: the root that had it last, from 1 on; or 0. */
	uint32_t *in_tree;
	uint32_t mark; /* of the present root, in 'in_tree' */
	bool *is_sure; /* of each port of the tree: it carries packets for the root */
};

static inline bool triad_congestion_waits(
	const struct triad_congestion_finder *finder, uint32_t port)
{
	return triad_congestion_load_waits(&finder->loads[port], &finder->limits);
}

static inline bool triad_congestion_is_busy(
	const struct triad_congestion_finder *finder, uint32_t port)
{
	return finder->loads[port].sent >= finder->limits.busy;
}

/* The switch that has 'port', or TRIAD_FABRIC_NONE. */
static inline uint32_t triad_congestion_switch(
	const struct triad_congestion_finder *finder, uint32_t port)
{
	return finder->layout->switch_of_node[finder->fabric->ports[port].node];
}

/* Fills in the hosts of the root's tree, with their roles.  Returns 0 or ENOMEM. */
int triad_congestion_find_hosts(
	struct triad_congestion_finder *finder, struct triad_congestion_root *root);

enum triad_congestion_kind triad_congestion_kind_of(
	const struct triad_congestion_finder *finder,
	const struct triad_congestion_root *root);

#endif
