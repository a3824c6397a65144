/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/turns.h"

#include <errno.h>
#include <stdlib.h>

#include "routes/tree.h"

#define N_COLUMNS 64u

/* State while turns are counted. */
struct counter {
	struct triad_congestion_turns *turns;
	struct triad_routes_tree tree;
	uint8_t *columns;
	uint32_t *
		of_hosts; /* of each link: LIDs that a host of the switch sends there */
};

static uint32_t *pairs_of(
	struct triad_congestion_turns *turns, uint32_t sw, uint32_t in, uint32_t out)
{
	return &turns->pairs[turns->first[sw] +
		(size_t)in * turns->layout->switches[sw].n_links + out];
}

static void count_goal(struct counter *counter, const struct triad_routes_goal *goal,
	const uint8_t *column)
{
	const struct triad_routes_layout *layout = counter->turns->layout;
	struct triad_routes_tree *tree = &counter->tree;

	for (uint32_t sw = 0; sw < layout->n_switches; sw++)
		tree->count[sw] = layout->switches[sw].n_hosts;
	tree->count[goal->sw]--;
	triad_routes_tree_grow(tree, layout, goal, column);
	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i], next = tree->next[sw];
		const struct triad_routes_switch *at = &layout->switches[sw];

		if (!tree->count[sw] || tree->ends[sw] != TRIAD_ROUTES_ARRIVES)
			continue;
		counter->of_hosts[at->first_link + column[sw]]++;
		if (next != TRIAD_FABRIC_NONE)
			*pairs_of(counter->turns, next,
				layout->links[at->first_link + column[sw]].in_port,
				column[next]) += tree->count[sw];
	}
}

/* All hosts of a switch use the same port to a LID, except that none sends to its
 * own. */
static void add_hosts(struct counter *counter)
{
	const struct triad_routes_layout *layout = counter->turns->layout;

	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];
		const struct triad_routes_switch *at = &layout->switches[host->sw];

		for (uint32_t out = 0; out < at->n_links; out++)
			if (out != host->in_port)
				*pairs_of(counter->turns, host->sw, host->in_port,
					out) = counter->of_hosts[at->first_link + out];
	}
}

static int count_all(
	struct counter *counter, bool (*is_stopped)(void *context), void *context)
{
	const struct triad_routes_layout *layout = counter->turns->layout;

	for (uint32_t first = 0; first < layout->n_goals; first += N_COLUMNS) {
		uint32_t n = layout->n_goals - first;

		n = n < N_COLUMNS ? n : N_COLUMNS;
		if (is_stopped && is_stopped(context))
			return ECANCELED;
		triad_routes_columns(layout, first, n, counter->columns);
		for (uint32_t i = 0; i < n; i++)
			if (layout->goals[first + i].host != TRIAD_FABRIC_NONE)
				count_goal(counter, &layout->goals[first + i],
					counter->columns +
						(size_t)i * layout->n_switches);
	}
	add_hosts(counter);
	return 0;
}

static void fill_ports(struct triad_congestion_turns *turns)
{
	const struct triad_routes_layout *layout = turns->layout;
	const struct triad_fabric *fabric = layout->fabric;

	for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
		const struct triad_routes_switch *at = &layout->switches[sw];

		for (uint32_t i = 0; i < at->n_links; i++) {
			uint32_t port = triad_fabric_find_port(fabric, at->node, i);
			bool is_dead = port == TRIAD_FABRIC_NONE ||
				layout->links[at->first_link + i].kind ==
					TRIAD_ROUTES_DEAD;

			turns->ports[at->first_link + i] =
				is_dead ? TRIAD_FABRIC_NONE : port;
			turns->from[at->first_link + i] = is_dead
				? TRIAD_FABRIC_NONE
				: fabric->ports[port].remote;
		}
	}
}

static struct triad_congestion_turns *make_empty(
	const struct triad_routes_layout *layout)
{
	struct triad_congestion_turns *turns = calloc(1, sizeof(*turns));
	size_t n = 0;

	if (!turns)
		return NULL;
	turns->layout = layout;
	turns->first = calloc(layout->n_switches + 1u, sizeof(*turns->first));
	turns->ports = calloc(layout->n_links + 1u, sizeof(*turns->ports));
	turns->from = calloc(layout->n_links + 1u, sizeof(*turns->from));
	for (uint32_t sw = 0; turns->first && sw < layout->n_switches; sw++) {
		turns->first[sw] = n;
		n += (size_t)layout->switches[sw].n_links *
			layout->switches[sw].n_links;
	}
	if (n <= TRIAD_CONGESTION_MAX_TURNS)
		turns->pairs = calloc(n + 1, sizeof(*turns->pairs));
	if (turns->first && turns->ports && turns->from && turns->pairs)
		return turns;
	triad_congestion_turns_free(turns);
	return NULL;
}

int triad_congestion_turns_make(const struct triad_routes_layout *layout,
	bool (*is_stopped)(void *context), void *context,
	struct triad_congestion_turns **turns)
{
	struct counter counter = {.turns = make_empty(layout)};
	int error = triad_routes_tree_init(&counter.tree, layout->n_switches);

	counter.columns = malloc((size_t)N_COLUMNS * layout->n_switches + 1);
	counter.of_hosts = calloc(layout->n_links + 1u, sizeof(*counter.of_hosts));
	if (!counter.turns || !counter.columns || !counter.of_hosts)
		error = ENOMEM;
	if (!error) {
		fill_ports(counter.turns);
		error = count_all(&counter, is_stopped, context);
	}
	triad_routes_tree_clear(&counter.tree);
	free(counter.columns);
	free(counter.of_hosts);
	*turns = error ? NULL : counter.turns;
	if (error)
		triad_congestion_turns_free(counter.turns);
	return error;
}

void triad_congestion_turns_free(struct triad_congestion_turns *turns)
{
	if (!turns)
		return;
	free(turns->first);
	free(turns->pairs);
	free(turns->ports);
	free(turns->from);
	free(turns);
}
