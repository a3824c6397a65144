/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int triad_routes_tree_init(struct triad_routes_tree *tree, uint32_t n_switches)
{
	size_t n = n_switches ? n_switches : 1;

	*tree = (struct triad_routes_tree){.n_switches = n_switches,
		.next = calloc(n, sizeof(*tree->next)),
		.order = calloc(n, sizeof(*tree->order)),
		.ends = calloc(n, sizeof(*tree->ends)),
		.left = calloc(n, sizeof(*tree->left)),
		.count = calloc(n, sizeof(*tree->count)),
		.n_in = calloc(n, sizeof(*tree->n_in))};
	return tree->next && tree->order && tree->ends && tree->left && tree->count &&
			tree->n_in
		? 0
		: ENOMEM;
}

void triad_routes_tree_clear(struct triad_routes_tree *tree)
{
	free(tree->next);
	free(tree->order);
	free(tree->ends);
	free(tree->left);
	free(tree->count);
	free(tree->n_in);
}

static enum triad_routes_end end_at(const struct triad_routes_goal *goal,
	const struct triad_routes_link *link, uint32_t sw, uint8_t out)
{
	if (out == 255)
		return TRIAD_ROUTES_NO_ROUTE;
	if (!link || link->kind == TRIAD_ROUTES_DEAD)
		return TRIAD_ROUTES_DEAD_PORT;
	return triad_routes_arrives(goal, link, sw) ? TRIAD_ROUTES_ARRIVES
						    : TRIAD_ROUTES_ELSEWHERE;
}

/* Finds where each switch sends, and how many switches send to it. */
static void find_next(struct triad_routes_tree *tree,
	const struct triad_routes_layout *layout, const struct triad_routes_goal *goal,
	const uint8_t *column)
{
	memset(tree->n_in, 0, tree->n_switches * sizeof(*tree->n_in));
	for (uint32_t i = 0; i < tree->n_switches; i++) {
		const struct triad_routes_link *link =
			triad_routes_link(layout, i, column[i]);

		if (link && link->kind == TRIAD_ROUTES_TO_SWITCH) {
			tree->next[i] = link->to;
			tree->n_in[link->to]++;
			/* The default, until another end is found. */
			tree->ends[i] = TRIAD_ROUTES_CIRCLES;
			continue;
		}
		tree->next[i] = TRIAD_FABRIC_NONE;
		tree->ends[i] = (uint8_t)end_at(goal, link, i, column[i]);
	}
}

/* Orders the switches: first the leaves, then each switch after all that send to it. */
static void add_up(struct triad_routes_tree *tree)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n_switches; i++)
		if (!tree->n_in[i])
			tree->order[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = tree->next[tree->order[i]];

		if (next == TRIAD_FABRIC_NONE)
			continue;
		tree->count[next] += tree->count[tree->order[i]];
		if (!--tree->n_in[next])
			tree->order[n++] = next;
	}
	tree->n_ordered = n;
}

void triad_routes_tree_grow(struct triad_routes_tree *tree,
	const struct triad_routes_layout *layout, const struct triad_routes_goal *goal,
	const uint8_t *column)
{
	find_next(tree, layout, goal, column);
	add_up(tree);
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t at = tree->order[i], next = tree->next[at];

		tree->left[at] = 0;
		if (next == TRIAD_FABRIC_NONE)
			continue;
		tree->ends[at] = tree->ends[next];
		tree->left[at] = (uint16_t)(tree->left[next] + 1);
	}
}

void triad_routes_columns(const struct triad_routes_layout *layout, uint32_t first,
	uint32_t n, uint8_t *columns)
{
	/* Go table by table: LIDs of one switch are often neighbours in a table. */
	for (uint32_t sw = 0; sw < layout->n_switches; sw++)
		for (uint32_t i = 0; i < n; i++)
			columns[(size_t)i * layout->n_switches + sw] = triad_routes_out(
				layout, sw, layout->goals[first + i].lid);
}

const char *triad_routes_end_name(enum triad_routes_end end)
{
	static const char *const names[] = {[TRIAD_ROUTES_ARRIVES] = "arrives",
		[TRIAD_ROUTES_NO_ROUTE] = "no route",
		[TRIAD_ROUTES_DEAD_PORT] = "a dead port",
		[TRIAD_ROUTES_ELSEWHERE] = "elsewhere",
		[TRIAD_ROUTES_CIRCLES] = "a loop"};

	return end < TRIAD_ROUTES_N_ENDS ? names[end] : "?";
}
