/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Selects the ports whose counters changed enough to be reported.
 *
 * Model: the filter keeps, for each row of the engine, the totals of the last report. A
 * port is due
 *
 *     when it was never reported, or its row belonged to another port at the last report;
 *     when its data, both ways together, changed by more than the threshold since;
 *     when it waited for more ticks than the threshold has words: a port that is stuck
 *         sends nothing;
 *     when a total decreased: it was set to 0, and readers that add up changes must see
 *     that;
 *     when 'watched' changed;
 *     when its pace, if the caller gives it, changed by more than the threshold: a port
 *         that went idle has no change that could show it.
 *
 * Reports contain totals, so a change below the threshold is in the next report:
 * nothing is lost, whatever the threshold.  Reports are numbered, so that one that was
 * lost can be repeated.
 *
 * Invariants: since its last report, the data and the waits of a port that is not due
 * changed by the threshold at most, each.
 *
 * Thread-safety: none; one thread.
 * Memory: 56 octets a row up to the highest row, at most TRIAD_ENGINE_MAX_ROWS rows;
 * checked.
 * Source: [monitoring-rfc: aggregate data and packet counters, provide upstream data
 * only when change is larger than a given threshold]. */
#ifndef TRIAD_PERFMGR_CHANGE_FILTER_H
#define TRIAD_PERFMGR_CHANGE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triad_change_filter;

/* The present state of a port. */
struct triad_change_filter_port {
	uint64_t node_guid;
	uint8_t port;
	uint32_t watched; /* due when it differs: a sum of error counters, or 0 */
	uint64_t xmit_words, rcv_words; /* totals */
	uint64_t wait_ticks;            /* total; 0: not compared */
	/* Words in both directions, and ticks, in the last interval; 0: not
	 * compared. */
	float pace_words, pace_ticks;
};

/* NULL when memory is short. */
struct triad_change_filter *triad_change_filter_new(void);
void triad_change_filter_free(struct triad_change_filter *filter);

/* Sets '*due' to whether the port in the engine's row 'row' is due: its data or waits
 * must have changed by more than 'min_change_words'.  A due port counts as reported.
 * Returns 0; or ENOMEM or EOVERFLOW (row number over the cap): then the port is due now
 * and the next time. */
int triad_change_filter_check(struct triad_change_filter *filter, uint32_t row,
	const struct triad_change_filter_port *port, uint64_t min_change_words,
	bool *due);

/* Begins report 'number': ports that become due from now on belong to it.  Before the
 * first call they belong to report 0. */
void triad_change_filter_begin(struct triad_change_filter *filter, uint32_t number);

/* Forgets the report of 'row': it is due. */
void triad_change_filter_forget_row(struct triad_change_filter *filter, uint32_t row);

/* Reports 'number' and later were lost: their ports are due. */
void triad_change_filter_forget_from(
	struct triad_change_filter *filter, uint32_t number);

/* All reports were lost, or start over: every port is due. */
void triad_change_filter_forget(struct triad_change_filter *filter);

#endif
