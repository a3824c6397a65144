/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a comparison:
 *
 *     compare.c   the order of things, and cables that are where they should be
 *     resolve.c   which port of the fabric each end of the plan is
 *     paths.c     alternating paths and rings, turned into items
 *
 * A vertex is a port: below 'n_fabric_ports' the fabric's of that index, from there on one
 * that the plan names and the fabric does not list.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CABLING_COMPARE_PARTS_H
#define TRIAD_CABLING_COMPARE_PARTS_H

#include "cabling/compare.h"

#define TRIAD_CABLING_NONE UINT32_MAX
#define TRIAD_CABLING_SHARED (UINT32_MAX - 1) /* a name of several nodes */

/* Flags of a vertex. */
enum {
	TRIAD_CABLING_ANY = 1,  /* any far end will do */
	TRIAD_CABLING_FREE = 2, /* it is planned to be free */
	/* Its planned far end is not in the fabric, or has a name of several nodes. */
	TRIAD_CABLING_FAR_ABSENT = 4,
	/* It has a planned far end, and whether that cable is there can't be known. */
	TRIAD_CABLING_FAR_UNKNOWN = 8,
	TRIAD_CABLING_RIGHT = 16, /* its cable is where it is planned */
	TRIAD_CABLING_DONE = 32,  /* an item has been made of it */
};

/* Flags of a node. */
enum {
	TRIAD_CABLING_IN_PLAN = 1,
	TRIAD_CABLING_IS_SHARED = 2, /* the plan has its name, and another node, too */
};

struct triad_cabling_work {
	const struct triad_cabling_plan *plan;
	const struct triad_fabric *fabric;
	const struct triad_cabling_cable *cables;
	struct triad_diags *diags;
	struct triad_cabling_result *result;
	size_t items_room, steps_room;
	uint32_t n_steps;
	uint8_t *node_flags;
	uint32_t *ends;   /* vertex of each end of each link, or NONE or SHARED */
	uint32_t *ruled;  /* vertex of each port that is planned without a cable */
	uint64_t *others; /* ports that the fabric does not list: node << 8 | number */
	size_t n_others, others_room;
	uint32_t n_vertices;
	uint32_t *planned, *present; /* the vertex at the far end, or NONE */
	uint32_t *link_of;           /* the plan's link of a vertex, or NONE */
	uint8_t *flags;
	uint32_t *path; /* room for all vertices */
	int error;      /* ENOMEM; nothing more is done */
};

/* Sets 'ends', 'ruled', 'others', 'node_flags', 'n_vertices', and adds items about nodes. */
void triad_cabling_resolve(struct triad_cabling_work *work);

/* Adds items about what is not right. */
void triad_cabling_paths(struct triad_cabling_work *work);

struct triad_cabling_port triad_cabling_port_of(
	const struct triad_cabling_work *work, uint32_t vertex);

/* A new item about so many vertices; NULL after an error. */
struct triad_cabling_item *triad_cabling_add(struct triad_cabling_work *work,
	enum triad_cabling_kind kind, unsigned n, const uint32_t *vertices);

#endif
