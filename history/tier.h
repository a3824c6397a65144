/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tiers of images: how often each has one (history/ring.h).
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_HISTORY_TIER_H
#define TRIAD_HISTORY_TIER_H

#include <stdbool.h>
#include <stdint.h>

enum triad_history_tier {
	TRIAD_HISTORY_SWEEPS,
	TRIAD_HISTORY_MINUTES,
	TRIAD_HISTORY_HOURS,
	TRIAD_HISTORY_N_TIERS
};

struct triad_history_tier_info {
	const char *name;
	uint64_t spacing_us; /* 0: every image */
	uint64_t keep_us;    /* 0: as configured */
	uint64_t segment_us;
};

extern const struct triad_history_tier_info triad_history_tiers[TRIAD_HISTORY_N_TIERS];

/* An image in its segment.  Times are of the wall clock. */
struct triad_history_entry {
	uint64_t time_us, offset, size, sweep;
	bool is_key;
};

/* Whether a tier keeps an image of that time, if its last one is of 'last_us' (0: it has
 * none). */
bool triad_history_tier_takes(
	enum triad_history_tier tier, uint64_t last_us, uint64_t time_us);

#endif
