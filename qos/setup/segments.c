/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/segments.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

/* The first value of a span, or the value after its last one. */
struct edge {
	uint64_t value;
	uint32_t group;
	bool is_end;
};

/* A sweep from the lowest value to the highest, with the groups that are open there. */
struct sweep {
	struct edge *edges;
	size_t n_edges;
	uint32_t *n_open; /* open spans of each group; they may overlap */
	uint32_t *place;  /* of each open group in 'open' */
	uint32_t *open;
	uint32_t n;
	size_t room; /* of the list of the segments' groups */
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *one = a, *other = b;

	return (one->value > other->value) - (one->value < other->value);
}

static void make_edges(
	struct sweep *sweep, const struct triad_segment_span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sweep->edges[sweep->n_edges++] =
			(struct edge){.value = spans[i].first, .group = spans[i].group};
		if (spans[i].last != UINT64_MAX)
			sweep->edges[sweep->n_edges++] =
				(struct edge){.value = spans[i].last + 1,
					.group = spans[i].group,
					.is_end = true};
	}
	qsort(sweep->edges, sweep->n_edges, sizeof(*sweep->edges), compare_edges);
}

static void pass_edge(struct sweep *sweep, const struct edge *edge)
{
	uint32_t last;

	if (!edge->is_end) {
		if (sweep->n_open[edge->group]++)
			return;
		sweep->place[edge->group] = sweep->n;
		sweep->open[sweep->n++] = edge->group;
		return;
	}
	if (--sweep->n_open[edge->group])
		return;
	/* Move the last one of the list to the free place. */
	last = sweep->open[--sweep->n];
	sweep->open[sweep->place[edge->group]] = last;
	sweep->place[last] = sweep->place[edge->group];
}

/* Adds a segment from 'start' on, with the groups that are open. */
static int add_segment(struct sweep *sweep, struct triad_segments *to, uint64_t start)
{
	uint32_t at = to->at[to->n];
	size_t n = (size_t)at + sweep->n;

	if (n > TRIAD_SEGMENTS_MAX_LISTED)
		return EOVERFLOW;
	if (triad_grow(&to->groups, &sweep->room, n, sizeof(*to->groups), 256))
		return ENOMEM;
	if (sweep->n)
		memcpy(to->groups + at, sweep->open, sweep->n * sizeof(*sweep->open));
	to->starts[to->n++] = start;
	to->at[to->n] = at + sweep->n;
	return 0;
}

static int run_sweep(struct sweep *sweep, struct triad_segments *to)
{
	size_t i = 0;
	int error = 0;

	/* Begin the first segment at 0, so that a search always finds one. */
	if (!sweep->n_edges || sweep->edges[0].value)
		error = add_segment(sweep, to, 0);
	while (!error && i < sweep->n_edges) {
		uint64_t value = sweep->edges[i].value;

		/* An end and a beginning of one group at one value may come in either
		 * order: the span that ends has begun before. */
		for (; i < sweep->n_edges && sweep->edges[i].value == value; i++)
			pass_edge(sweep, &sweep->edges[i]);
		error = add_segment(sweep, to, value);
	}
	return error;
}

int triad_segments_make(struct triad_segments *segments,
	const struct triad_segment_span *spans, size_t n, uint32_t n_groups)
{
	struct sweep sweep = {0};
	int error = 0;

	*segments = (struct triad_segments){0};
	if (n > TRIAD_SEGMENTS_MAX_SPANS)
		return EOVERFLOW;
	sweep.edges = malloc((2 * n + 1) * sizeof(*sweep.edges));
	sweep.n_open = calloc((size_t)n_groups + 1, sizeof(*sweep.n_open));
	sweep.place = calloc((size_t)n_groups + 1, sizeof(*sweep.place));
	sweep.open = calloc((size_t)n_groups + 1, sizeof(*sweep.open));
	segments->starts = malloc((2 * n + 1) * sizeof(*segments->starts));
	segments->at = calloc(2 * n + 2, sizeof(*segments->at));
	if (!sweep.edges || !sweep.n_open || !sweep.place || !sweep.open ||
		!segments->starts || !segments->at)
		error = ENOMEM;
	if (!error) {
		make_edges(&sweep, spans, n);
		error = run_sweep(&sweep, segments);
	}
	free(sweep.edges);
	free(sweep.n_open);
	free(sweep.place);
	free(sweep.open);
	if (error)
		triad_segments_clear(segments);
	return error;
}

void triad_segments_clear(struct triad_segments *segments)
{
	free(segments->starts);
	free(segments->at);
	free(segments->groups);
	*segments = (struct triad_segments){0};
}
