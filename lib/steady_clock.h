/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A wall clock that one reading can't move: for what ends at a time and must not end because
 * the clock was wrong for a moment.
 *
 * Model: it follows the wall clock.  When that one is set, by TRIAD_STEADY_SLACK_US or more,
 * the steady clock goes on as if it had not been, until the new time has held for
 * TRIAD_STEADY_CONFIRM_US.
 *
 * Thread-safety: none. */
#ifndef TRIAD_LIB_STEADY_CLOCK_H
#define TRIAD_LIB_STEADY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_STEADY_SLACK_US UINT64_C(2000000)
#define TRIAD_STEADY_CONFIRM_US UINT64_C(3600000000)

/* All zeros at first, and to trust the next reading. */
struct triad_steady_clock {
	bool is_set;
	int64_t offset_us;   /* of the steady clock, to that since boot */
	bool is_in_doubt;    /* the wall clock has another offset */
	int64_t other_us;    /* that one */
	uint64_t doubted_us; /* since when, since boot */
};

/* Returns the steady time; 'wall_us' and 'boot_us' are read at the same moment
 * (triad/clock.h). */
uint64_t triad_steady_clock_read(
	struct triad_steady_clock *clock, uint64_t wall_us, uint64_t boot_us);

#endif
