/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the guard:
 *
 *     guard_walk.c  the graph, distances, depth-first walks
 *     guard.c       what is lost without a link
 *
 * Thread-safety: as the guard. */
#ifndef TRIAD_PORTMGR_GUARD_PARTS_H
#define TRIAD_PORTMGR_GUARD_PARTS_H

#include "portmgr/plan/guard.h"

#define NONE TRIAD_FABRIC_NONE

/* What passes a port's link.  A link that is held passes SMPs alone. */
#define GUARD_SMPS 1u
#define GUARD_DATA 2u

/* A link from a switch to another one. */
struct guard_link {
	uint32_t to;   /* a switch */
	uint32_t port; /* of the switch that it leads from */
};

/* The tree of a depth-first walk.  A switch's subtree has the switches entered from its
 * own 'enter' on and before its 'leave'. */
struct guard_view {
	unsigned need; /* GUARD_SMPS, GUARD_DATA */
	bool is_stale; /* links were removed since the walk */
	/* For each switch: its number in the order of entering (NONE: not reached), the
	 * first number after its subtree, the earliest switch that a link of its
	 * subtree leads to, and its port to the switch that it was entered from (or
	 * NONE). */
	uint32_t *enter, *leave, *low, *parent;
	uint32_t *order; /* switches, by 'enter' */
};

/* Switches have numbers of their own, in the fabric's order. */
struct triad_guard {
	const struct triad_fabric *fabric;
	uint32_t *sms; /* ports of the fabric */
	uint32_t n_sms;
	uint32_t own; /* this SM's node, or NONE */
	uint32_t n_switches;
	uint32_t *switch_of;  /* for each node, or NONE */
	uint32_t *node_of;    /* for each switch */
	uint32_t *first_link; /* for each switch, and an end */
	struct guard_link *links;
	uint8_t *link_of;   /* for each port: GUARD_*; 0: no link, or removed */
	uint32_t *distance; /* for each switch */
	struct guard_view views[2];
	uint32_t *stack; /* of a walk */
	uint32_t *next;  /* for each switch: the link to examine next */
};

static inline uint32_t guard_far_of(const struct triad_guard *guard, uint32_t port)
{
	return guard->fabric->ports[port].remote;
}

/* The switch that a port is on, or NONE. */
static inline uint32_t guard_switch_at(const struct triad_guard *guard, uint32_t port)
{
	return guard->switch_of[guard->fabric->ports[port].node];
}

/* Fills in the fabric's graph; the caller has allocated the arrays. */
void guard_make_graph(struct triad_guard *guard);
/* Walks again over the remaining graph. */
void guard_walk(struct triad_guard *guard, struct guard_view *view);

#endif
