/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether so many links came or went lately that it is no time to take out more.
 *
 * Model: links between switches are counted in each view of the fabric, those that are held out of
 * routing among them.  By how much the count moves is added up over two windows, this one and
 * the last, so between one and two of TRIAD_CALM_US.  A first count moves nothing.
 *
 * Thread-safety: one thread.  Memory: none but the structure, zeros at first.  Times: of any clock
 * that does not go back. */
#ifndef TRIAD_CALM_H
#define TRIAD_CALM_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"

#define TRIAD_CALM_US (60 * TRIAD_US_PER_S)

struct triad_calm {
	bool has_count;
	uint32_t n_links;
	uint64_t begun_us;              /* this window */
	uint64_t n_moved, n_moved_last; /* in it, and in the one before */
};

void triad_calm_note(struct triad_calm *calm, uint32_t n_links, uint64_t now_us);
/* How many links came or went lately. */
uint64_t triad_calm_n_moved(struct triad_calm *calm, uint64_t now_us);

#endif
