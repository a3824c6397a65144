/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric's switches, links and LIDs, arranged for passes over all destinations.
 *
 * Model: switches have numbers from 0 on; a link is one port of a switch, as the port
 * that packets leave by.  Hosts are the ports of CAs and routers that have a LID and
 * whose link leads to a switch, except aggregation nodes, which are inside switches.
 * Packets begin and end at hosts.  Goals are the LIDs that packets go to: each LID of
 * each host (with LMC, each is a path of its own) and those of switches and aggregation
 * nodes.  Goals are sorted by their switch, then by LID.
 *
 * A link is dead when it can't carry packets: the port does not exist, its other end is
 * unknown, or an end is down or disabled.
 *
 * Levels: 1 for switches with hosts, else one more than the lowest neighbour's; 0 for
 * hosts.  The fabric is a tree (is_tree) when all links lead one level up or down.
 * Storage attached to a spine does not make the spine a leaf.  A switch with hosts
 * counts as one without when it has at most half of the mean number of hosts, and some
 * switch without hosts has two or more lower neighbours, all of which are also its
 * neighbours.
 *
 * Thread-safety: made by one thread, then immutable.
 * Memory: owns its arrays and a reference to the fabric, whose sizes are capped. */
#ifndef TRIAD_ROUTES_LAYOUT_H
#define TRIAD_ROUTES_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_ROUTES_N_LIDS 0xc000u /* unicast LIDs, and 0 */
#define TRIAD_ROUTES_NO_LEVEL UINT16_MAX

enum triad_routes_link_kind {
	TRIAD_ROUTES_DEAD,
	TRIAD_ROUTES_TO_SWITCH,
	TRIAD_ROUTES_TO_END, /* a CA's or router's port */
	TRIAD_ROUTES_ITSELF, /* port 0 */
};

struct triad_routes_link {
	uint32_t to; /* a switch's number, or an end's index in the fabric's ports */
	uint8_t in_port; /* number of the port at the other end */
	uint8_t kind;    /* enum triad_routes_link_kind */
};

struct triad_routes_switch {
	uint32_t node;       /* index in the fabric's nodes */
	uint32_t first_link; /* of port 0, in 'links'; 'n_links' follow */
	uint32_t n_links;
	uint32_t first_host, n_hosts; /* in 'hosts' */
	uint32_t first_goal, n_goals; /* in 'goals' */
	uint16_t level;               /* or TRIAD_ROUTES_NO_LEVEL */
};

struct triad_routes_host {
	uint32_t port;   /* index in the fabric's ports */
	uint32_t sw;     /* the switch's number */
	uint8_t in_port; /* the switch's port */
};

struct triad_routes_goal {
	uint32_t port; /* index in the fabric's ports */
	uint32_t sw;   /* the switch's number: that the goal is at, or is */
	uint32_t host; /* in 'hosts'; TRIAD_FABRIC_NONE: a switch */
	uint16_t lid;
};

struct triad_routes_layout {
	struct triad_fabric *fabric;
	uint32_t n_switches, n_links, n_hosts, n_goals;
	struct triad_routes_switch *switches;
	struct triad_routes_link *links;
	struct triad_routes_host *hosts; /* by switch */
	struct triad_routes_goal *goals;
	uint32_t *switch_of_node; /* or TRIAD_FABRIC_NONE */
	uint32_t *host_of_port;   /* or TRIAD_FABRIC_NONE */
	uint32_t n_host_goals;    /* LIDs of hosts */
	bool has_tables;          /* some switch has a forwarding table */
	bool is_tree;
	uint16_t n_levels; /* the highest level */
};

/* Takes a reference to 'fabric'.  Returns 0 or ENOMEM. */
int triad_routes_layout_make(
	struct triad_fabric *fabric, struct triad_routes_layout **layout);
void triad_routes_layout_free(struct triad_routes_layout *layout); /* accepts NULL */

/* A copy of the layout's links in which those of 'n' of the fabric's ports are dead, at both
 * ends; the caller frees it.  NULL: not enough memory. */
struct triad_routes_link *triad_routes_links_without(
	const struct triad_routes_layout *layout, const uint32_t *ports, uint32_t n);

/* The port that switch 'sw' sends packets to 'lid' by: a number, 255 for none. */
static inline uint8_t triad_routes_out(
	const struct triad_routes_layout *layout, uint32_t sw, uint16_t lid)
{
	const struct triad_fabric_slice *lft =
		&layout->fabric->nodes[layout->switches[sw].node].lft;

	return lid < lft->n ? layout->fabric->lft[lft->at + lid] : 255;
}

/* The link by that port, or NULL: the switch has no port of that number. */
static inline const struct triad_routes_link *triad_routes_link(
	const struct triad_routes_layout *layout, uint32_t sw, unsigned number)
{
	const struct triad_routes_switch *at = &layout->switches[sw];

	return number < at->n_links ? &layout->links[at->first_link + number] : NULL;
}

/* True when packets that leave by 'link' are at the goal then. */
static inline bool triad_routes_arrives(const struct triad_routes_goal *goal,
	const struct triad_routes_link *link, uint32_t sw)
{
	return link->kind == TRIAD_ROUTES_TO_END ? link->to == goal->port
		: link->kind == TRIAD_ROUTES_ITSELF
		? sw == goal->sw && goal->host == TRIAD_FABRIC_NONE
		: false;
}

/* Distances, in links between switches, to the 'n' switches from 'first' on (64 at
 * most): entry i * n_switches + sw of 'distances', UINT16_MAX where there is no way, or
 * a longer one than TRIAD_ROUTES_MAX_DISTANCE (OpenSM's paths have 64 hops at most).
 * 'words' is room for 3 * n_switches. */
#define TRIAD_ROUTES_DISTANCES 64u
#define TRIAD_ROUTES_MAX_DISTANCE 255
void triad_routes_distances(const struct triad_routes_layout *layout, uint32_t first,
	uint32_t n, uint16_t *distances, uint64_t *words);

#endif
