/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the port manager's records say of a bad link: whether it is out, and how often it was.
 *
 * Model: the newest record of one of its ends that says so decides.  A taking or a retraining
 * that was merely intended counts as done, and a return as not done: the last master may have
 * ended in between, and who asks looks at the link.
 *
 * Thread-safety: that of the history.  Memory: none.  Times: wall clock, as in records. */
#ifndef TRIAD_PAST_H
#define TRIAD_PAST_H

#include <stdint.h>

#include "damp/links.h"
#include "portmgr/history/history.h"

/* Takings that are older are no longer counted. */
#define TRIAD_PAST_REMEMBERED_US (7 * 24 * 3600 * TRIAD_US_PER_S)

enum triad_past {
	TRIAD_PAST_NOTHING,
	TRIAD_PAST_OUT,        /* it was taken by statistics */
	TRIAD_PAST_BACK,       /* it was returned after its test */
	TRIAD_PAST_KEPT_OUT,   /* a person holds it */
	TRIAD_PAST_LEFT_ALONE, /* a person let it go, within a day */
};

/* 'n_taken': how often it was taken since a person released it, within TRIAD_PAST_REMEMBERED_US. */
enum triad_past triad_past_of(const struct triad_history *history,
	const struct triad_damp_ends *ends, uint64_t now_wall_us, uint32_t *n_taken);

/* How often it was retrained since it was taken, within that time; '*ago_us' becomes how long ago the
 * last time is (0: never). */
uint32_t triad_past_retrained(const struct triad_history *history,
	const struct triad_damp_ends *ends, uint64_t now_wall_us, uint64_t *ago_us);

#endif
