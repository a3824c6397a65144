/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "triad/fabric.h"

#define NONE TRIAD_FABRIC_NONE
#define LEAST_SLOTS 1024
#define MAX_LOOKS (1u << 24) /* the most edges to examine for one circle */
#define LOOKS_OF_CLEARING 16 /* words cleared in the time of examining one edge */

void triad_routes_graph_clear(struct triad_routes_graph *graph)
{
	free(graph->edges);
	free(graph->names);
	free(graph->at);
	free(graph->to);
	free(graph->components);
	*graph = (struct triad_routes_graph){0};
}

/* --- edges --- */

static uint64_t *find_edge_slot(uint64_t *edges, uint32_t n_slots, uint64_t edge)
{
	uint32_t i = (uint32_t)triad_hash_word(0, edge) & (n_slots - 1);

	while (edges[i] && edges[i] != edge)
		i = (i + 1) & (n_slots - 1);
	return &edges[i];
}

static int make_room_for_edge(struct triad_routes_graph *graph)
{
	uint32_t n_slots = graph->n_slots ? 2 * graph->n_slots : LEAST_SLOTS;
	uint64_t *edges;

	if (graph->n_edges < graph->n_slots / 4 * 3)
		return 0;
	if (graph->n_edges >= TRIAD_ROUTES_MAX_EDGES)
		return EOVERFLOW;
	edges = calloc(n_slots, sizeof(*edges));
	if (!edges)
		return ENOMEM;
	for (uint32_t i = 0; i < graph->n_slots; i++)
		if (graph->edges[i])
			*find_edge_slot(edges, n_slots, graph->edges[i]) =
				graph->edges[i];
	free(graph->edges);
	graph->edges = edges;
	graph->n_slots = n_slots;
	return 0;
}

int triad_routes_graph_add(struct triad_routes_graph *graph, uint32_t from, uint32_t to)
{
	uint64_t edge = (uint64_t)from << 32 | to;
	int error = make_room_for_edge(graph);
	uint64_t *slot;

	if (error)
		return error;
	slot = find_edge_slot(graph->edges, graph->n_slots, edge);
	graph->n_edges += !*slot;
	*slot = edge;
	return 0;
}

/* --- nodes --- */

static int compare_edges(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static int compare_node_numbers(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static uint32_t node_of(const struct triad_routes_graph *graph, uint32_t name)
{
	const uint32_t *found = bsearch(&name, graph->names, graph->n_nodes,
		sizeof(*graph->names), compare_node_numbers);

	return (uint32_t)(found - graph->names);
}

/* Moves the hash table's edges, sorted, to the beginning, and collects the names of
 * their ends. */
static void name_nodes(struct triad_routes_graph *graph)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < graph->n_slots; i++)
		if (graph->edges[i])
			graph->edges[n++] = graph->edges[i];
	qsort(graph->edges, n, sizeof(*graph->edges), compare_edges);
	for (uint32_t i = 0; i < n; i++) {
		graph->names[2 * i] = (uint32_t)(graph->edges[i] >> 32);
		graph->names[2 * i + 1] = (uint32_t)graph->edges[i];
	}
	qsort(graph->names, 2 * (size_t)n, sizeof(*graph->names), compare_node_numbers);
	for (uint32_t i = 0; i < 2 * n; i++)
		if (!i || graph->names[i] != graph->names[i - 1])
			graph->names[graph->n_nodes++] = graph->names[i];
}

static int sort(struct triad_routes_graph *graph)
{
	uint32_t n = graph->n_edges;

	graph->names = calloc(2 * (size_t)n + 1, sizeof(*graph->names));
	graph->to = calloc((size_t)n + 1, sizeof(*graph->to));
	if (!graph->names || !graph->to)
		return ENOMEM;
	if (n)
		name_nodes(graph);
	graph->at = calloc((size_t)graph->n_nodes + 1, sizeof(*graph->at));
	graph->components =
		malloc(((size_t)graph->n_nodes + 1) * sizeof(*graph->components));
	if (!graph->at || !graph->components)
		return ENOMEM;
	memset(graph->components, 0xff, graph->n_nodes * sizeof(*graph->components));
	for (uint32_t i = 0; i < n; i++) {
		graph->to[i] = node_of(graph, (uint32_t)graph->edges[i]);
		graph->at[node_of(graph, (uint32_t)(graph->edges[i] >> 32)) + 1]++;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->at[i + 1] += graph->at[i];
	return 0;
}

/* --- components --- */

struct search {
	struct triad_routes_graph *graph;
	uint32_t n_seen;
	uint32_t *index, *low; /* of each node; 0: not seen yet */
	uint32_t *next;        /* of each node: its next edge to follow */
	uint32_t *path;        /* nodes that the search is in: its call stack */
	uint32_t *stack, n_stack;
	uint8_t *on_stack;
};

static void enter_node(struct search *search, uint32_t node)
{
	search->index[node] = search->low[node] = ++search->n_seen;
	search->next[node] = search->graph->at[node];
	search->stack[search->n_stack++] = node;
	search->on_stack[node] = 1;
}

static void lower(struct search *search, uint32_t node, uint32_t low)
{
	if (low < search->low[node])
		search->low[node] = low;
}

/* Leaves 'node': all nodes that it reaches are done.  If none leads further back,
 * 'node' and the nodes above it on the stack are one component. */
static void leave(struct search *search, uint32_t node)
{
	struct triad_routes_graph *graph = search->graph;
	bool is_circle = search->stack[search->n_stack - 1] != node;
	uint32_t member;

	if (search->low[node] != search->index[node])
		return;
	/* A component of one node is a circle only if it has an edge to itself. */
	for (uint32_t i = graph->at[node]; i < graph->at[node + 1]; i++)
		is_circle |= graph->to[i] == node;
	do {
		member = search->stack[--search->n_stack];
		search->on_stack[member] = 0;
		if (is_circle)
			graph->components[member] = graph->n_components;
	} while (member != node);
	graph->n_components += is_circle;
}

static void search_from(struct search *search, uint32_t root)
{
	const struct triad_routes_graph *graph = search->graph;
	uint32_t n_path = 1;

	search->path[0] = root;
	enter_node(search, root);
	while (n_path) {
		uint32_t node = search->path[n_path - 1], to;

		if (search->next[node] == graph->at[node + 1]) {
			leave(search, node);
			if (--n_path)
				lower(search, search->path[n_path - 1],
					search->low[node]);
			continue;
		}
		to = graph->to[search->next[node]++];
		if (!search->index[to]) {
			enter_node(search, to);
			search->path[n_path++] = to;
		} else if (search->on_stack[to]) {
			lower(search, node, search->index[to]);
		}
	}
}

int triad_routes_graph_solve(struct triad_routes_graph *graph)
{
	int error = sort(graph);

	return error ? error : triad_routes_graph_find_components(graph);
}

int triad_routes_graph_find_components(struct triad_routes_graph *graph)
{
	size_t n = (size_t)graph->n_nodes + 1;
	uint32_t *words = calloc(n, 5 * sizeof(*words) + 1);

	if (!words)
		return ENOMEM;
	struct search search = {.graph = graph,
		.index = words,
		.low = words + n,
		.next = words + 2 * n,
		.path = words + 3 * n,
		.stack = words + 4 * n,
		.on_stack = (uint8_t *)(words + 5 * n)};

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (!search.index[i])
			search_from(&search, i);
	free(words);
	return 0;
}

/* --- the shortest way --- */

/* Sets where each node was first come from, until 'to' is reached; 'from' is its own. */
static bool find_way(const struct triad_routes_graph *graph, uint32_t from, uint32_t to,
	uint32_t *came_from, uint32_t *queue)
{
	uint32_t n = 1;

	queue[0] = from;
	came_from[from] = from;
	for (uint32_t i = 0; i < n && came_from[to] == NONE; i++)
		for (uint32_t e = graph->at[queue[i]]; e < graph->at[queue[i] + 1];
			e++) {
			uint32_t next = graph->to[e];

			if (came_from[next] != NONE ||
				graph->components[next] != graph->components[from])
				continue;
			came_from[next] = queue[i];
			queue[n++] = next;
		}
	return came_from[to] != NONE;
}

int triad_routes_graph_way(const struct triad_routes_graph *graph, uint32_t from,
	uint32_t to, uint32_t **way, uint32_t *n)
{
	size_t size = ((size_t)graph->n_nodes + 1) * sizeof(uint32_t);
	uint32_t *came_from = malloc(size), *nodes = malloc(size);
	int error = came_from && nodes ? 0 : ENOMEM;

	if (!error) {
		memset(came_from, 0xff, size);
		if (!find_way(graph, from, to, came_from, nodes))
			error = ENOENT;
	}
	if (!error) {
		*n = 1;
		for (uint32_t at = to; at != from; at = came_from[at])
			++*n;
		for (uint32_t i = *n, at = to; i-- > 0; at = came_from[at])
			nodes[i] = at;
		*way = nodes;
		nodes = NULL;
	}
	free(came_from);
	free(nodes);
	return error;
}

/* --- the shortest circle --- */

struct round {
	const struct triad_routes_graph *graph;
	uint32_t component;
	uint32_t *came_from, *queue;
	uint32_t *best, n_best; /* n_best NONE: no circle yet */
	uint32_t n_looks;
};

/* Keeps the circle of 'n' nodes whose last one is 'last'. */
static void keep(struct round *round, uint32_t last, uint32_t n)
{
	round->n_best = n;
	/* At the first node 'came_from' is NONE, but n is 0 then. */
	for (uint32_t node = last; n-- > 0; node = round->came_from[node])
		round->best[n] = round->graph->names[node];
}

/* Finds the shortest circle through 'start'; keeps it if it is shorter than the best
 * one. */
static void go_round(struct round *round, uint32_t start)
{
	const struct triad_routes_graph *graph = round->graph;
	uint32_t n = 1, length = 1, end_of_length = 1;

	memset(round->came_from, 0xff, graph->n_nodes * sizeof(*round->came_from));
	round->n_looks += graph->n_nodes / LOOKS_OF_CLEARING;
	round->queue[0] = start;
	for (uint32_t i = 0; i < n && length < round->n_best; i++) {
		uint32_t node = round->queue[i];

		for (uint32_t e = graph->at[node]; e < graph->at[node + 1]; e++) {
			uint32_t to = graph->to[e];

			round->n_looks++;
			if (to == start) {
				keep(round, node, length);
				return;
			}
			if (graph->components[to] != round->component ||
				round->came_from[to] != NONE)
				continue;
			round->came_from[to] = node;
			round->queue[n++] = to;
		}
		if (i + 1 == end_of_length) {
			length++;
			end_of_length = n;
		}
	}
}

int triad_routes_graph_circle(const struct triad_routes_graph *graph,
	uint32_t component, uint32_t **circle, uint32_t *n)
{
	size_t size = ((size_t)graph->n_nodes + 1) * sizeof(uint32_t);
	struct round round = {.graph = graph,
		.component = component,
		.came_from = malloc(size),
		.queue = malloc(size),
		.best = malloc(size),
		.n_best = NONE};
	int error = round.came_from && round.queue && round.best ? 0 : ENOMEM;

	for (uint32_t i = 0; !error && i < graph->n_nodes; i++)
		if (graph->components[i] == component && round.n_looks < MAX_LOOKS)
			go_round(&round, i);
	free(round.came_from);
	free(round.queue);
	if (error) {
		free(round.best);
		return error;
	}
	*circle = round.best;
	*n = round.n_best;
	return 0;
}
