/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds circles in a directed graph: the sets of nodes that depend on each other, and a
 * shortest circle of each.
 *
 * Model: edges are added in any order, even twice.  Nodes are numbers below 2^32, and
 * exist as ends of edges. triad_routes_graph_solve() finds the strongly connected
 * components with more than one node, or one with an edge to itself (Tarjan:
 * Depth-first search and linear graph algorithms, 1972; without recursion).
 *
 * Thread-safety: none; the caller's.
 * Memory: TRIAD_ROUTES_MAX_EDGES at most. */
#ifndef TRIAD_ROUTES_GRAPH_H
#define TRIAD_ROUTES_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_ROUTES_MAX_EDGES (1u << 22)

struct triad_routes_graph {
	uint64_t *edges; /* from << 32 | to; a hash table, 0: empty */
	uint32_t n_edges, n_slots;
	/* After solving: */
	uint32_t n_nodes;
	uint32_t *names;      /* of nodes, sorted */
	uint32_t *at, *to;    /* edges from node i: to[at[i]] to before to[at[i + 1]] */
	uint32_t *components; /* of each node; TRIAD_FABRIC_NONE: in no circle */
	uint32_t n_components;
};

/* Clears the graph.  All zeros is an empty graph. */
void triad_routes_graph_clear(struct triad_routes_graph *graph);

/* 'from' is above 0.  Returns 0, ENOMEM or EOVERFLOW (too many). */
int triad_routes_graph_add(
	struct triad_routes_graph *graph, uint32_t from, uint32_t to);

/* Add no edges afterwards.  Returns 0 or ENOMEM. */
int triad_routes_graph_solve(struct triad_routes_graph *graph);

/* The same for a graph without added edges whose 'n_nodes', 'at', 'to' and 'components' (all
 * TRIAD_FABRIC_NONE) the caller has filled by malloc(); it gets no names. */
int triad_routes_graph_find_components(struct triad_routes_graph *graph);

/* Finds a shortest way between two nodes of one component.  Sets '*way', which the caller
 * frees, to its nodes, both ends among them, and '*n' to their number; of a node to itself
 * that is 1.  Returns 0, ENOMEM, or ENOENT (there is none). */
int triad_routes_graph_way(const struct triad_routes_graph *graph, uint32_t from,
	uint32_t to, uint32_t **way, uint32_t *n);

/* Finds one of the shortest circles in a component.  Sets '*circle', which the caller
 * frees, to its nodes' names in order, and '*n' to their number.  In a large component
 * the search is bounded and may miss a shorter one.  Returns 0 or ENOMEM. */
int triad_routes_graph_circle(const struct triad_routes_graph *graph,
	uint32_t component, uint32_t **circle, uint32_t *n);

#endif
