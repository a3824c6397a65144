/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What happened, in order: a ring of events, of which a new one replaces the oldest.
 *
 * Model: each event has a number, one more than the one before it.  Numbers begin in
 * the middle of their range, because events read from a file may come later than newer
 * ones: triad_timeline_prepend() puts them before those that are there.
 *
 * A storm must not push out all earlier events.  So within TRIAD_TIMELINE_STORM_US only
 * the first events of each kind are kept: 1/64 of the room, 16 at least.  The others
 * are counted, and one event (TRIAD_TIMELINE_MORE) reports them when that time is over:
 *
 *     if (triad_timeline_admits(timeline, kind, now))
 *             triad_timeline_add(timeline, &event);
 *     triad_timeline_report_omitted(timeline, now, wall, false)  a few times a second
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: the room times 256 octets, touched as needed: 65,536 events take 16 MiB,
 * 1,000,000 take 256 MB. */
#ifndef TRIAD_PERFMGR_TIMELINE_H
#define TRIAD_PERFMGR_TIMELINE_H

#include "perfmgr/timeline/event.h"

#define TRIAD_TIMELINE_MAX_EVENTS 1000000u
#define TRIAD_TIMELINE_STORM_US UINT64_C(10000000)

struct triad_timeline;

/* With room for 1 to TRIAD_TIMELINE_MAX_EVENTS.  NULL when memory is short. */
struct triad_timeline *triad_timeline_new(uint32_t room);
/* Accepts NULL. */
void triad_timeline_free(struct triad_timeline *timeline);

/* Whether to add an event of that kind; else counts it.  'now_us' is monotonic. */
bool triad_timeline_admits(
	struct triad_timeline *timeline, unsigned kind, uint64_t now_us);
/* Counts 'n' events that could not be kept for another reason. */
void triad_timeline_note_more(
	struct triad_timeline *timeline, unsigned kind, uint64_t n, uint64_t now_us);
/* Adds a TRIAD_TIMELINE_MORE for each kind with counted events, when the storm's time
 * is over, or at once when 'is_last'. */
void triad_timeline_report_omitted(struct triad_timeline *timeline, uint64_t now_us,
	uint64_t wall_us, bool is_last);

/* Adds the newest event. */
void triad_timeline_add(
	struct triad_timeline *timeline, const struct triad_timeline_event *event);
/* Puts an event before the oldest one.  False: there is no room. */
bool triad_timeline_prepend(
	struct triad_timeline *timeline, const struct triad_timeline_event *event);

/* The oldest event's number, and one more than the newest one's. */
uint64_t triad_timeline_first(const struct triad_timeline *timeline);
uint64_t triad_timeline_end(const struct triad_timeline *timeline);

/* NULL: there is none of that number. */
const struct triad_timeline_event *triad_timeline_get(
	const struct triad_timeline *timeline, uint64_t number);

struct triad_timeline_counts {
	uint32_t n;           /* events that are kept */
	uint32_t room;        /* for so many */
	uint64_t n_displaced; /* of the events kept before */
	uint64_t n_not_kept;  /* in storms */
};

struct triad_timeline_counts triad_timeline_counts(
	const struct triad_timeline *timeline);

#endif
