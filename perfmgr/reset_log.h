/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last resets of counters in hardware: which counter, what it read before, when,
 * and by whom.
 *
 * Model: a ring of TRIAD_RESET_LOG_SIZE records; a new one replaces the oldest.
 *
 * Thread-safety: any thread, except for new and free; the lock is held for a copy of
 * one record.  Memory: TRIAD_RESET_LOG_SIZE records of 32 octets.  Source:
 * [perf-manager-arch 2]. */
#ifndef TRIAD_PERFMGR_RESET_LOG_H
#define TRIAD_PERFMGR_RESET_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_RESET_LOG_SIZE 8192u

struct triad_reset {
	uint64_t at_us; /* when it was read or done, monotonic */
	uint64_t node_guid;
	uint64_t value; /* the counter's last value before it */
	uint8_t port, counter;
	bool is_own; /* by this process; false: by another */
};

struct triad_reset_log;

/* NULL when memory is short. */
struct triad_reset_log *triad_reset_log_new(void);
/* Accepts NULL. */
void triad_reset_log_free(struct triad_reset_log *log);

void triad_reset_log_add(struct triad_reset_log *log, const struct triad_reset *reset);

/* How many were ever added.  They are numbered from 0; the last one has this number
 * less 1. */
uint64_t triad_reset_log_count(struct triad_reset_log *log);

/* Copies number 'n'.  False: it was overwritten, or is not there yet. */
bool triad_reset_log_get(
	struct triad_reset_log *log, uint64_t n, struct triad_reset *reset);

#endif
