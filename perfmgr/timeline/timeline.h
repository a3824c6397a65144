/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The timeline: a ring of events in order; a new event replaces the oldest.
 *
 * Model: each event has a number, one more than the one before it.  Numbers begin in the
 * middle of their range, because older events may be read from a file later:
 * triad_timeline_prepend() puts them before the present ones.
 *
 * A storm must not displace all earlier events.  So in each TRIAD_TIMELINE_STORM_US only
 * the first events of a kind are kept, up to 1/64 of the room (at least 16).  The others
 * are counted, and one event (TRIAD_TIMELINE_MORE) reports them when that time is over:
 *
 *     if (triad_timeline_admits(timeline, kind, now))
 *             triad_timeline_add(timeline, &event);
 *     triad_timeline_tell_more(timeline, now, wall, false)       a few times a second
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: the room times 256 octets, touched as they are needed: 65,536 events have
 * 16 MiB, 1,000,000 have 256 MB. */
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

/* Whether to add an event of that kind; if not, counts it.  'now_us' is monotonic. */
bool triad_timeline_admits(
	struct triad_timeline *timeline, unsigned kind, uint64_t now_us);
/* Counts 'n' that could not be kept for another reason. */
void triad_timeline_note_more(
	struct triad_timeline *timeline, unsigned kind, uint64_t n, uint64_t now_us);
/* Adds an event for each kind with counted events, when the time for counting is over, or
 * at once if 'is_last'. */
void triad_timeline_tell_more(struct triad_timeline *timeline, uint64_t now_us,
	uint64_t wall_us, bool is_last);

/* Adds the newest event. */
void triad_timeline_add(
	struct triad_timeline *timeline, const struct triad_timeline_event *event);
/* Puts an event before the oldest one.  False: there is no room for it. */
bool triad_timeline_prepend(
	struct triad_timeline *timeline, const struct triad_timeline_event *event);

/* The oldest event's number, and one more than the newest one's. */
uint64_t triad_timeline_first(const struct triad_timeline *timeline);
uint64_t triad_timeline_end(const struct triad_timeline *timeline);

/* NULL: there is none of that number. */
const struct triad_timeline_event *triad_timeline_get(
	const struct triad_timeline *timeline, uint64_t number);

struct triad_timeline_counts {
	uint32_t n;          /* events that are kept */
	uint32_t room;       /* the most that can be kept */
	uint64_t n_gave_way; /* events replaced by newer ones */
	uint64_t n_not_kept; /* events dropped in storms */
};

struct triad_timeline_counts triad_timeline_counts(
	const struct triad_timeline *timeline);

#endif
