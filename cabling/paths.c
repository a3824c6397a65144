/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Paths and rings of planned and present cables, turned into items; see compare.h. */
#include "cabling/compare_parts.h"
#include "lib/grow.h"

/* A path's vertices; its first edge is planned or present, and they alternate. */
struct path {
	uint32_t *vertices;
	uint32_t n;
	bool begins_planned;
};

static bool is_wrong(const struct triad_cabling_work *work, uint32_t vertex)
{
	return !(work->flags[vertex] & (TRIAD_CABLING_RIGHT | TRIAD_CABLING_DONE));
}

/* --- items ------------------------------------------------------------- */

static void add_move(
	struct triad_cabling_work *work, uint32_t from, uint32_t to, uint32_t other)
{
	struct triad_cabling_item *item = triad_cabling_add(
		work, TRIAD_CABLING_MOVE, 3, (const uint32_t[]){from, to, other});

	if (item)
		item->link = work->link_of[to];
}

static bool has_plug(const struct triad_cabling_work *work, uint32_t vertex)
{
	return work->cables && vertex < work->fabric->n_ports &&
		work->cables[vertex].has_plug;
}

static void add_put(struct triad_cabling_work *work, uint32_t a, uint32_t b)
{
	struct triad_cabling_item *item =
		triad_cabling_add(work, TRIAD_CABLING_PUT, 2, (const uint32_t[]){a, b});

	if (!item)
		return;
	item->link = work->link_of[a];
	item->what = (has_plug(work, a) ? TRIAD_CABLING_PLUG_0 : 0) |
		(has_plug(work, b) ? TRIAD_CABLING_PLUG_1 : 0);
}

/* --- a cable where none is planned ------------------------------------- */

static uint8_t flags_of_node(const struct triad_cabling_work *work, uint32_t vertex)
{
	return work->node_flags[work->fabric->ports[vertex].node];
}

/* Whether the node at 'far' may be the one that 'vertex' is planned to lead to. */
static bool may_be_planned(
	const struct triad_cabling_work *work, uint32_t vertex, uint32_t far)
{
	return work->flags[vertex] & TRIAD_CABLING_FAR_ABSENT &&
		(flags_of_node(work, far) & TRIAD_CABLING_IS_SHARED ||
			!(flags_of_node(work, far) & TRIAD_CABLING_IN_PLAN));
}

/* Whether the port is planned, and not to lead where its cable leads. */
static bool is_planned_elsewhere(const struct triad_cabling_work *work, uint32_t vertex)
{
	return work->flags[vertex] &
		(TRIAD_CABLING_FREE | TRIAD_CABLING_FAR_ABSENT |
			TRIAD_CABLING_FAR_UNKNOWN);
}

static bool is_inside_switch(const struct triad_fabric *fabric, uint32_t vertex)
{
	return triad_fabric_is_aggregation_node(
		&fabric->nodes[fabric->ports[vertex].node]);
}

static bool is_extra(struct triad_cabling_work *work, uint32_t a, uint32_t b)
{
	if (is_inside_switch(work->fabric, a) || is_inside_switch(work->fabric, b) ||
		(work->flags[a] | work->flags[b]) & TRIAD_CABLING_ANY ||
		may_be_planned(work, a, b) || may_be_planned(work, b, a))
		return false;
	if (is_planned_elsewhere(work, a) || is_planned_elsewhere(work, b))
		return true;
	if ((flags_of_node(work, a) | flags_of_node(work, b)) & TRIAD_CABLING_IN_PLAN)
		return work->plan->judges_all;
	work->result->n_outside++;
	return false;
}

/* --- paths ------------------------------------------------------------- */

static void walk_path(struct triad_cabling_work *work, uint32_t from, bool is_planned,
	struct path *path)
{
	*path = (struct path){work->path, 0, is_planned};
	for (uint32_t at = from; at != TRIAD_CABLING_NONE && is_wrong(work, at);
		is_planned = !is_planned) {
		path->vertices[path->n++] = at;
		work->flags[at] |= TRIAD_CABLING_DONE;
		at = is_planned ? work->planned[at] : work->present[at];
	}
}

static void turn_path(struct path *path)
{
	for (uint32_t i = 0; i < path->n / 2; i++) {
		uint32_t first = path->vertices[i];

		path->vertices[i] = path->vertices[path->n - 1 - i];
		path->vertices[path->n - 1 - i] = first;
	}
}

/* The path begins with a port that is free and a planned cable. */
static void fill_from_free(
	struct triad_cabling_work *work, const uint32_t *v, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 2 < n; i += 2)
		add_move(work, v[i + 2], v[i], v[i + 1]);
	if (i + 1 < n)
		add_put(work, v[i], v[i + 1]);
}

static void add_path(struct triad_cabling_work *work, struct path *path)
{
	const uint32_t *v = path->vertices;

	/* With an odd number of vertices both kinds are equally many. */
	if (path->n % 2 && !path->begins_planned) {
		turn_path(path);
		path->begins_planned = true;
	}
	if (path->begins_planned) {
		fill_from_free(work, v, path->n);
		return;
	}
	if (path->n > 2 || is_extra(work, v[0], v[1]))
		(void)triad_cabling_add(work, TRIAD_CABLING_TAKE_OUT, 2, v);
	if (path->n > 2)
		fill_from_free(work, v + 1, path->n - 1);
}

/* --- rings ------------------------------------------------------------- */

static uint32_t node_of(const struct triad_cabling_work *work, uint32_t vertex)
{
	return triad_cabling_port_of(work, vertex).node;
}

/* How many ends from 'first' on, every second, are at the same node as the one before. */
static uint32_t count_neighbours(
	const struct triad_cabling_work *work, const struct path *path, uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t i = first; i + 2 < path->n; i += 2)
		n += node_of(work, path->vertices[i]) ==
			node_of(work, path->vertices[i + 2]);
	return n;
}

static void add_step(struct triad_cabling_work *work, uint32_t vertex)
{
	struct triad_cabling_result *result = work->result;

	if (!work->error)
		work->error = triad_grow(&result->steps, &work->steps_room,
			work->n_steps + 1, sizeof(*result->steps), 16);
	if (!work->error)
		result->steps[work->n_steps++] = triad_cabling_port_of(work, vertex);
}

/* 'first' is 0 or 1: which end of each cable is touched.  An end at an even place goes to
 * the next of them, one at an odd place to the one before. */
static void add_ring_steps(
	struct triad_cabling_work *work, const struct path *path, uint32_t first)
{
	struct triad_cabling_item *item =
		triad_cabling_add(work, TRIAD_CABLING_RING, 1, &path->vertices[first]);
	const uint32_t n = path->n / 2;

	if (!item)
		return;
	item->n = n;
	item->first_step = work->n_steps;
	item->n_steps = n;
	for (uint32_t i = 0; i < n; i++)
		add_step(work, path->vertices[2 * (first || !i ? i : n - i) + first]);
}

/* The ring begins with a present cable. */
static void add_ring(struct triad_cabling_work *work, const struct path *path)
{
	const uint32_t *v = path->vertices;
	/* It is less to walk if the ends are at one switch. */
	uint32_t first =
		count_neighbours(work, path, 1) > count_neighbours(work, path, 0);
	struct triad_cabling_item *item;

	if (path->n > 4) {
		add_ring_steps(work, path, first);
		return;
	}
	item = triad_cabling_add(work, TRIAD_CABLING_SWAP, 4,
		(const uint32_t[]){v[first], v[first + 2], v[!first], v[!first + 2]});
	if (item)
		item->n = 2;
}

/* --- all --------------------------------------------------------------- */

void triad_cabling_paths(struct triad_cabling_work *work)
{
	struct path path;

	for (uint32_t i = 0; i < work->n_vertices && !work->error; i++) {
		bool is_planned = work->planned[i] != TRIAD_CABLING_NONE;
		bool is_present = work->present[i] != TRIAD_CABLING_NONE;

		if (is_planned == is_present || !is_wrong(work, i))
			continue;
		walk_path(work, i, is_planned, &path);
		add_path(work, &path);
	}
	for (uint32_t i = 0; i < work->n_vertices && !work->error; i++) {
		if (work->planned[i] == TRIAD_CABLING_NONE || !is_wrong(work, i))
			continue;
		walk_path(work, i, false, &path);
		add_ring(work, &path);
	}
}
