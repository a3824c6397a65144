/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The paths of packets to one LID from all switches, as a tree.
 *
 * Model: a switch sends packets to a LID out of one port, whatever port they entered by
 * [IBA 18.2.4.3].  So the paths to a LID are a tree with the goal as its root.  If
 * tables are wrong, there are further trees: their roots are switches at which packets
 * end, or circles.  'order' has the switches from the leaves to the roots, without
 * those in circles.
 *
 * Thread-safety: none; the caller's.  Memory: owns its arrays; the same tree is grown
 * repeatedly, for one goal after the other. */
#ifndef TRIAD_ROUTES_TREE_H
#define TRIAD_ROUTES_TREE_H

#include "routes/layout.h"

/* How the path of packets ends. */
enum triad_routes_end {
	TRIAD_ROUTES_ARRIVES,
	TRIAD_ROUTES_NO_ROUTE,  /* a switch has no port for the LID */
	TRIAD_ROUTES_DEAD_PORT, /* a switch sends it to a dead port */
	TRIAD_ROUTES_ELSEWHERE, /* to an end port that does not have the LID */
	TRIAD_ROUTES_CIRCLES,   /* packets go in a circle */
	TRIAD_ROUTES_N_ENDS
};

struct triad_routes_tree {
	uint32_t n_switches;
	uint32_t *next;  /* the next switch, or TRIAD_FABRIC_NONE */
	uint32_t *order; /* 'n_ordered' of them */
	uint32_t n_ordered;
	uint8_t *ends;   /* enum triad_routes_end, for each switch */
	uint16_t *left;  /* remaining links between switches, if it arrives */
	uint32_t *count; /* set by the caller, then added up along the paths */
	uint32_t *n_in;
};

/* Returns 0 or ENOMEM; clear in either case. */
int triad_routes_tree_init(struct triad_routes_tree *tree, uint32_t n_switches);
void triad_routes_tree_clear(struct triad_routes_tree *tree);

/* Grows the tree of 'goal'.  'column' has the port of each switch.  The caller sets
 * 'count' to the number that begins at each switch; afterwards it is the number that
 * passes each switch, or, for a switch in a circle, the number that comes in. */
void triad_routes_tree_grow(struct triad_routes_tree *tree,
	const struct triad_routes_layout *layout, const struct triad_routes_goal *goal,
	const uint8_t *column);

/* The ports for 'n' goals from 'first' on: entry i * n_switches + sw of 'columns'. */
void triad_routes_columns(const struct triad_routes_layout *layout, uint32_t first,
	uint32_t n, uint8_t *columns);

/* "arrives", "no route", "a dead port", "elsewhere", "a loop". */
const char *triad_routes_end_name(enum triad_routes_end end);

#endif
