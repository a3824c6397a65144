/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports changed enough to be told of.
 *
 * Model: for each of the engine's rows the totals that were told last.  A port is due
 *
 *     when it was never told of, or its row was another port's then;
 *     when its data, both ways together, changed by more than the threshold since;
 *     when it waited for more ticks than the threshold has words: a port that is stuck
 *         sends nothing;
 *     when a total went down: it was set to 0, and whoever adds up must know;
 *     when what else the caller watches is not what it was;
 *     when its pace, as far as the caller gives it, is another by more than the
 * threshold: a port that went idle has no change that could say so.
 *
 * What is told are totals, so that a change that was not worth a word is in the next
 * one: nothing is lost, whatever the threshold.
 *
 * Tellings are numbered, so that what one of them said can be told again.
 *
 * Invariants: of a port that is not due, what its data and what its waits changed since
 * it was told are at most the threshold, each.
 *
 * Thread-safety: none; one thread.
 * Memory: 56 octets a row, as far as the highest row goes, at most
 * TRIAD_ENGINE_MAX_ROWS of them; checked.
 * Source: [monitoring-rfc: aggregate data and packet counters, provide upstream data
 * only when change is larger than a given threshold]. */
#ifndef TRIAD_PERFMGR_CHANGE_FILTER_H
#define TRIAD_PERFMGR_CHANGE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triad_change_filter;

/* What is known of a port. */
struct triad_change_filter_port {
	uint64_t node_guid;
	uint8_t port;
	uint32_t watched; /* due when it differs: a sum of error counters, or 0 */
	uint64_t xmit_words, rcv_words; /* totals */
	uint64_t wait_ticks;            /* total; 0: not looked at */
	/* Words both ways, and ticks, in the last interval; 0: not looked at. */
	float pace_words, pace_ticks;
};

/* NULL when memory is short. */
struct triad_change_filter *triad_change_filter_new(void);
void triad_change_filter_free(struct triad_change_filter *aggregate);

/* Says in '*due' whether the port in the engine's row 'row' is due, its data or
 * waits having to change by more than 'min_change_words'; if so it counts as told.
 * Returns 0; ENOMEM, EOVERFLOW (row number over the cap): then it is due, and will be
 * the next time. */
int triad_change_filter_check(struct triad_change_filter *aggregate, uint32_t row,
	const struct triad_change_filter_port *port, uint64_t min_change_words,
	bool *due);

/* Telling 'number' begins: what is due from now on is told in it.  Without, all is in
 * telling 0. */
void triad_change_filter_begin(struct triad_change_filter *aggregate, uint32_t number);

/* What was told of 'row' is forgotten: it is due. */
void triad_change_filter_forget_row(
	struct triad_change_filter *aggregate, uint32_t row);

/* What was told in 'number' or later got lost: what was about these ports is due. */
void triad_change_filter_forget_from(
	struct triad_change_filter *aggregate, uint32_t number);

/* What was told got lost, or begins anew: every port is due. */
void triad_change_filter_forget(struct triad_change_filter *aggregate);

size_t triad_aggregate_octets(const struct triad_change_filter *aggregate);

#endif
