/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether so many links came or went lately that it is no time to take out more.
 *
 * Model: links between switches are counted in each view of the fabric, those that are held out of
 * routing among them.  The most less the fewest of two windows, this one and the last, so of one
 * to two of TRIAD_CALM_US: a link that flaps counts once.
 *
 * Thread-safety: one thread.  Memory: none but the structure, zeros at first.  Times: of any clock
 * that does not go back. */
#ifndef TRIAD_CALM_H
#define TRIAD_CALM_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"

#define TRIAD_CALM_US (60 * TRIAD_US_PER_S)

struct triad_calm_window {
	uint32_t fewest, most;
};

struct triad_calm {
	bool has_count;
	uint32_t n_links;  /* the last count */
	uint64_t begun_us; /* 'now' */
	struct triad_calm_window now, last;
};

void triad_calm_note(struct triad_calm *calm, uint32_t n_links, uint64_t now_us);
/* How many links came or went lately; 0: nothing was counted yet. */
uint32_t triad_calm_n_moved(struct triad_calm *calm, uint64_t now_us);

#endif
