/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The images of several SMs in one folder, and which of them are removed first.
 *
 * Model: there is a ring (history/ring.h) for each SM whose images are in the folder;
 * the first is this SM's own.  The same rule applies to all of them together, so that
 * SMs that copy each other's images keep the same ones:
 *
 *     a segment is removed when its newest image is too old for its tier, by the wall
 *     clock and by the images since: one reading of a clock removes nothing
 *     while all together are too large, the oldest segment of the largest tier is removed,
 *     whoever wrote it, even if it is being written
 *
 * A segment that was removed for lack of room is not copied again, nor is an older one
 * of its tier: the tier's floor is the newest such name, until there is more room.  SMs
 * send each other their floors, because each reaches its limit at a different image.
 * The highest floor applies to all SMs with the same limit.
 *
 * A clock that was wrong for a time leaves segments with names of the future.  They are
 * not copied, and are the first to go when there is no room.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: the rings are the caller's. */
#ifndef TRIAD_HISTORY_RINGS_H
#define TRIAD_HISTORY_RINGS_H

#include "history/ring.h"

#define TRIAD_HISTORY_MAX_OTHERS 8u
#define TRIAD_HISTORY_MAX_OWNERS (TRIAD_HISTORY_MAX_OTHERS + 1u)
/* The most segments of a tier that are copied from one SM: ten years of days, and
 * restarts. */
#define TRIAD_HISTORY_MAX_COPIES 8192u

struct triad_history_rings {
	unsigned n;
	uint64_t port_guids[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_ring *rings[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_limits limits;
	/* The newest names that had no room: here, and as received from others; 0:
	 * none. */
	uint64_t floor_us[TRIAD_HISTORY_N_TIERS];
	uint64_t reported_floor_us[TRIAD_HISTORY_N_TIERS];
};

/* The ring of that SM; NULL: the folder has none of its images. */
struct triad_history_ring *triad_history_rings_find(
	const struct triad_history_rings *rings, uint64_t port_guid);

/* Sets the limits; with more room older images are copied again. */
void triad_history_rings_limit(
	struct triad_history_rings *rings, const struct triad_history_limits *limits);

/* Receives the floor of another SM with the same limit.  Ignores it while half of the
 * room is free here, because then it can't be right; and if it is later than 'now_us',
 * because the images written now would be below it. */
void triad_history_rings_receive_floor(struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t floor_us, uint64_t now_us);

/* A segment to be removed. */
struct triad_history_surplus {
	unsigned owner; /* an index */
	enum triad_history_tier tier;
	struct triad_history_segment *segment;
};

/* Finds a segment to remove so that 'more' octets have room at 'now_us' (wall clock).
 * False: there is none.  The caller removes it from its ring, and calls again. */
bool triad_history_rings_surplus(struct triad_history_rings *rings, uint64_t now_us,
	uint64_t more, struct triad_history_surplus *surplus);

/* Whether a segment whose newest image is of 'last_us' may be copied at 'now_us'.
 * Refuses names that are not whole milliseconds, as in file names: two of them could
 * mean the same file. */
bool triad_history_rings_takes(const struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t begun_us, uint64_t last_us,
	uint64_t now_us);

uint64_t triad_history_rings_octets(const struct triad_history_rings *rings);

#endif
