/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_NUMBER (UINT64_C(1) << 32)
#define STORM_SHARE 64u
#define MIN_STORM 16u

/* One kind's events, in the present stretch of time. */
struct storm {
	uint64_t since_us; /* 0: none came yet */
	uint32_t n_kept;
	uint64_t n_more;        /* to be reported, */
	uint64_t more_since_us; /* counted since then */
};

struct triad_timeline {
	uint32_t room;
	uint64_t first, end; /* numbers; event i is at events[i % room] */
	uint64_t n_displaced, n_not_kept;
	struct storm storms[TRIAD_N_TIMELINE_KINDS];
	struct triad_timeline_event events[];
};

struct triad_timeline *triad_timeline_new(uint32_t room)
{
	struct triad_timeline *timeline =
		calloc(1, sizeof(*timeline) + (size_t)room * sizeof(*timeline->events));

	if (!timeline)
		return NULL;
	timeline->room = room;
	timeline->first = timeline->end = FIRST_NUMBER;
	return timeline;
}

void triad_timeline_free(struct triad_timeline *timeline)
{
	free(timeline);
}

/* --- storms --- */

static struct storm *storm_of(
	struct triad_timeline *timeline, unsigned kind, uint64_t now_us)
{
	struct storm *storm = &timeline->storms[kind];

	if (!storm->since_us || now_us - storm->since_us >= TRIAD_TIMELINE_STORM_US) {
		storm->since_us = now_us;
		storm->n_kept = 0;
	}
	return storm;
}

bool triad_timeline_admits(
	struct triad_timeline *timeline, unsigned kind, uint64_t now_us)
{
	struct storm *storm = storm_of(timeline, kind, now_us);
	uint32_t most = timeline->room / STORM_SHARE;

	if (storm->n_kept < (most > MIN_STORM ? most : MIN_STORM)) {
		storm->n_kept++;
		return true;
	}
	triad_timeline_note_more(timeline, kind, 1, now_us);
	return false;
}

void triad_timeline_note_more(
	struct triad_timeline *timeline, unsigned kind, uint64_t n, uint64_t now_us)
{
	struct storm *storm = storm_of(timeline, kind, now_us);

	if (!storm->n_more)
		storm->more_since_us = now_us;
	storm->n_more += n;
	timeline->n_not_kept += n;
}

void triad_timeline_report_omitted(struct triad_timeline *timeline, uint64_t now_us,
	uint64_t wall_us, bool is_last)
{
	for (unsigned kind = 1; kind < TRIAD_N_TIMELINE_KINDS; kind++) {
		struct storm *storm = &timeline->storms[kind];
		struct triad_timeline_event event = {
			.at_us = wall_us,
			.kind = TRIAD_TIMELINE_MORE,
			.count = storm->n_more < UINT32_MAX ? (uint32_t)storm->n_more
							    : UINT32_MAX,
		};

		if (!storm->n_more ||
			(!is_last &&
				now_us - storm->more_since_us <
					TRIAD_TIMELINE_STORM_US))
			continue;
		snprintf(event.text, sizeof(event.text), "%s",
			triad_timeline_kind_name(kind));
		triad_timeline_add(timeline, &event);
		storm->n_more = 0;
	}
}

/* --- events --- */

static struct triad_timeline_event *slot_of(
	struct triad_timeline *timeline, uint64_t number)
{
	return &timeline->events[number % timeline->room];
}

void triad_timeline_add(
	struct triad_timeline *timeline, const struct triad_timeline_event *event)
{
	struct triad_timeline_event *slot;

	if (timeline->end - timeline->first == timeline->room) {
		timeline->first++;
		timeline->n_displaced++;
	}
	slot = slot_of(timeline, timeline->end++);
	*slot = *event;
	triad_timeline_event_clean(slot);
}

bool triad_timeline_prepend(
	struct triad_timeline *timeline, const struct triad_timeline_event *event)
{
	if (timeline->end - timeline->first == timeline->room)
		return false;
	*slot_of(timeline, --timeline->first) = *event;
	return true;
}

uint64_t triad_timeline_first(const struct triad_timeline *timeline)
{
	return timeline->first;
}

uint64_t triad_timeline_end(const struct triad_timeline *timeline)
{
	return timeline->end;
}

const struct triad_timeline_event *triad_timeline_get(
	const struct triad_timeline *timeline, uint64_t number)
{
	return number >= timeline->first && number < timeline->end
		? &timeline->events[number % timeline->room]
		: NULL;
}

struct triad_timeline_counts triad_timeline_counts(
	const struct triad_timeline *timeline)
{
	return (struct triad_timeline_counts){
		.n = (uint32_t)(timeline->end - timeline->first),
		.room = timeline->room,
		.n_displaced = timeline->n_displaced,
		.n_not_kept = timeline->n_not_kept,
	};
}
