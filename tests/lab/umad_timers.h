/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Timers for many owners: a binary heap of pointers to timers that their owners embed.
 *
 * Model: a timer is idle or armed; it expires once.  Setting and stopping take O(log
 * n), the next time O(1).  Time is an argument, in microseconds.
 *
 * Thread-safety: none; the caller excludes concurrent calls.
 * Memory: timers belong to their owners, the heap's array to the heap. */
#ifndef LAB_UMAD_TIMERS_H
#define LAB_UMAD_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_NEVER UINT64_MAX

struct lab_timer {
	uint64_t at_us;
	size_t position; /* in the heap, from 1; 0: idle */
	/* Called when the timer has expired; it is idle then. */
	void (*expired)(void *context, struct lab_timer *timer);
};

struct lab_timers {
	struct lab_timer **heap; /* indices begin at 1 */
	size_t n, room;
};

/* Arms the timer, or changes its time.  Returns 0 or ENOMEM. */
int lab_timer_set(struct lab_timers *timers, struct lab_timer *timer, uint64_t at_us);

/* Stops a timer; does nothing to an idle one. */
void lab_timer_stop(struct lab_timers *timers, struct lab_timer *timer);

/* When the next timer expires, or LAB_NEVER. */
uint64_t lab_timers_next_us(const struct lab_timers *timers);

/* Runs one timer that has expired at 'now_us'; false when there is none. */
bool lab_timers_run_one(struct lab_timers *timers, void *context, uint64_t now_us);

#endif
