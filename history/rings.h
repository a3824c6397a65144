/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose images are in a folder, and which of them give way to others.
 *
 * Model: a ring (history/ring.h) for each SM whose images are there; the first is this
 * SM's own.  One rule is for all of them together, so that SMs that copy each other's
 * images keep the same ones:
 *
 *     a segment goes when the newest image in it is too old for its tier
 *     while all together are too large, the oldest segment goes of the tier that has
 *     most, whoever wrote it, and that which is written included
 *
 * What went for lack of room is not copied again, nor is what is older in its tier: the
 * floor says so until there is more room.  SMs tell each other their floors, because each
 * of them reaches its limit at another image: then the highest floor counts for all that
 * have the same room.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: the rings are the caller's. */
#ifndef TRIAD_HISTORY_RINGS_H
#define TRIAD_HISTORY_RINGS_H

#include "history/ring.h"

#define TRIAD_HISTORY_MAX_OTHERS 8u
#define TRIAD_HISTORY_MAX_OWNERS (TRIAD_HISTORY_MAX_OTHERS + 1u)
/* Segments of a tier that are copied of one SM: ten years of days, and restarts. */
#define TRIAD_HISTORY_MAX_COPIES 8192u

struct triad_history_rings {
	unsigned n;
	uint64_t port_guids[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_ring *rings[TRIAD_HISTORY_MAX_OWNERS];
	struct triad_history_limits limits;
	/* Newest names that had no room, here and where somebody told of it; 0: none. */
	uint64_t floor_us[TRIAD_HISTORY_N_TIERS];
	uint64_t told_floor_us[TRIAD_HISTORY_N_TIERS];
};

/* NULL: nothing of that SM's is there. */
struct triad_history_ring *triad_history_rings_find(
	const struct triad_history_rings *rings, uint64_t port_guid);

/* Sets what they are limited to; more room has what is older copied again. */
void triad_history_rings_limit(
	struct triad_history_rings *rings, const struct triad_history_limits *limits);

/* Another SM with the same room says that it had none for a segment of that name.  Nothing
 * happens while half of the room is free here: that can't be so.  Nor is a floor that is
 * later than 'now_us': what is written at present would be below it. */
void triad_history_rings_tell_floor(struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t floor_us, uint64_t now_us);

/* A segment that is to go. */
struct triad_history_surplus {
	unsigned owner; /* an index */
	enum triad_history_tier tier;
	struct triad_history_segment *segment;
};

/* What is to go, so that 'more' octets have room at 'now_us' (wall clock).  False:
 * nothing.  The caller removes it from its ring, and asks again. */
bool triad_history_rings_surplus(struct triad_history_rings *rings, uint64_t now_us,
	uint64_t more, struct triad_history_surplus *surplus);

/* Whether a segment whose newest image is of 'last_us' may be copied at 'now_us'.  Names are
 * in whole ms, as files have them: others would be the same file. */
bool triad_history_rings_takes(const struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t begun_us, uint64_t last_us,
	uint64_t now_us);

uint64_t triad_history_rings_octets(const struct triad_history_rings *rings);

#endif
