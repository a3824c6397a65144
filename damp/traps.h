/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traps that cost OpenSM a light sweep each, though nothing in the fabric changes: 129 to 131
 * (errors of a port), 256 to 259 (bad keys) and those of vendors.
 *
 * Model: of each sender and kind TRIAD_TRAPS_BURST pass at once, and later one each
 * TRIAD_TRAPS_PERIOD_US; of all together TRIAD_TRAPS_BURST_OF_ALL, and one a second.  The
 * others are kept from OpenSM, and counted by sender and kind.
 *
 * Thread-safety: none.  Memory: fixed, 80 KiB; senders beyond TRIAD_TRAPS_N replace those
 * that were heard of longest ago. */
#ifndef TRIAD_DAMP_TRAPS_H
#define TRIAD_DAMP_TRAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"

#define TRIAD_TRAPS_N 1024u
#define TRIAD_TRAPS_BURST 3u
#define TRIAD_TRAPS_PERIOD_US (10 * TRIAD_US_PER_S)
#define TRIAD_TRAPS_BURST_OF_ALL 10u

#define TRIAD_TRAPS_OF_VENDORS 0u /* a kind, beside the numbers */

struct triad_trap_sender {
	uint16_t lid, kind; /* the number of the trap, or TRIAD_TRAPS_OF_VENDORS */
	uint64_t due_us;    /* when the next would come, if they came evenly */
	uint64_t heard_us;  /* 0: an empty place */
	uint64_t n_heard, n_kept;
};

/* Zeros at first. */
struct triad_traps {
	uint64_t due_us;
	uint64_t n_heard, n_kept;
	struct triad_trap_sender senders[TRIAD_TRAPS_N];
};

/* Whether traps of that number cost a sweep and change nothing.  Those of vendors do. */
bool triad_traps_are_damped(uint16_t kind);

/* Counts a trap of such a kind.  Returns whether it is to be kept from OpenSM. */
bool triad_traps_take(
	struct triad_traps *traps, uint16_t lid, uint16_t kind, uint64_t now_us);

#endif
