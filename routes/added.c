/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/added.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes/graph.h"

struct sum {
	const struct triad_routes_layout *layout;
	const struct triad_routes_deps *old, *added;
	struct triad_routes_graph graph; /* its nodes are links, by their number */
};

/* One word of a link's dependencies: a bit for each port of the next switch. */
struct word {
	uint32_t link, first; /* 'first' is the link of bit 0 */
	uint64_t old, added;
};

/* Calls 'visit' for each word that has a bit, until one returns false. */
static void for_words(struct sum *sum,
	bool (*visit)(void *context, const struct word *word), void *context)
{
	const struct triad_routes_layout *layout = sum->layout;

	for (uint32_t i = 0; i < layout->n_links; i++) {
		const struct triad_routes_link *link = &layout->links[i];
		const struct triad_routes_switch *sw;
		uint32_t width;
		size_t at;

		if (link->kind != TRIAD_ROUTES_TO_SWITCH)
			continue;
		sw = &layout->switches[link->to];
		width = triad_routes_deps_width(sw);
		at = sum->old->first[link->to] + (size_t)link->in_port * width;
		for (uint32_t k = 0; k < width; k++) {
			struct word word = {.link = i,
				.first = sw->first_link + 64 * k,
				.old = sum->old->words[at + k],
				.added = sum->added->words[at + k]};

			if ((word.old | word.added) && !visit(context, &word))
				return;
		}
	}
}

static bool count_edges(void *context, const struct word *word)
{
	struct triad_routes_graph *graph = &((struct sum *)context)->graph;

	graph->at[word->link + 1] +=
		(uint32_t)__builtin_popcountll(word->old | word->added);
	return true;
}

/* Words are visited by links, in order. */
static bool put_edges(void *context, const struct word *word)
{
	struct triad_routes_graph *graph = &((struct sum *)context)->graph;

	for (uint64_t left = word->old | word->added; left; left &= left - 1)
		graph->to[graph->n_edges++] =
			word->first + (uint32_t)__builtin_ctzll(left);
	return true;
}

static int make_graph(struct sum *sum)
{
	struct triad_routes_graph *graph = &sum->graph;
	size_t n = sum->layout->n_links + 1u;

	graph->n_nodes = sum->layout->n_links;
	graph->at = calloc(n, sizeof(*graph->at));
	graph->components = malloc(n * sizeof(*graph->components));
	if (!graph->at || !graph->components)
		return ENOMEM;
	memset(graph->components, 0xff, n * sizeof(*graph->components));
	for_words(sum, count_edges, sum);
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->at[i + 1] += graph->at[i];
	graph->to = malloc((graph->at[graph->n_nodes] + 1u) * sizeof(*graph->to));
	if (!graph->to)
		return ENOMEM;
	for_words(sum, put_edges, sum);
	return triad_routes_graph_find_components(graph);
}

/* --- an added dependency in a circle --- */

struct closing {
	struct sum *sum;
	bool old_count;
	uint32_t from, to; /* TRIAD_FABRIC_NONE: none has been found */
};

static bool look_at_added(void *context, const struct word *word)
{
	struct closing *closing = context;
	const uint32_t *components = closing->sum->graph.components;
	uint64_t left = word->added & (closing->old_count ? UINT64_MAX : ~word->old);

	for (; left && components[word->link] != TRIAD_FABRIC_NONE; left &= left - 1) {
		uint32_t to = word->first + (uint32_t)__builtin_ctzll(left);

		if (components[to] != components[word->link])
			continue;
		closing->from = word->link;
		closing->to = to;
		return false;
	}
	return true;
}

static uint32_t port_of(const struct triad_routes_layout *layout, uint32_t link)
{
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &layout->switches[i];

		if (link - sw->first_link < sw->n_links)
			return triad_fabric_find_port(
				layout->fabric, sw->node, link - sw->first_link);
	}
	return TRIAD_FABRIC_NONE;
}

static int show(const struct closing *closing, struct triad_routes_circle *circle)
{
	uint32_t *way = NULL;
	int error = triad_routes_graph_way(&closing->sum->graph, closing->to,
		closing->from, &way, &circle->n_links);

	for (uint32_t i = 0;
		!error && i < circle->n_links && i < TRIAD_ROUTES_MAX_LOOP_STEPS; i++)
		circle->ports[circle->n_shown++] =
			port_of(closing->sum->layout, way[i]);
	free(way);
	return error;
}

int triad_routes_added_find(const struct triad_routes_layout *layout,
	const struct triad_routes_deps *old, const struct triad_routes_deps *added,
	bool old_count, struct triad_routes_circle *circle)
{
	struct sum sum = {.layout = layout, .old = old, .added = added};
	struct closing closing = {
		.sum = &sum, .old_count = old_count, .from = TRIAD_FABRIC_NONE};
	int error = make_graph(&sum);

	*circle = (struct triad_routes_circle){0};
	if (!error && sum.graph.n_components)
		for_words(&sum, look_at_added, &closing);
	if (!error && closing.from != TRIAD_FABRIC_NONE)
		error = show(&closing, circle);
	triad_routes_graph_clear(&sum.graph);
	return error;
}
