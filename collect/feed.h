/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an agent tells its master after a sweep: DATA of the ports that changed enough.
 *
 * Model: a port is told of when perfmgr/formats/aggregate.h says that it is due: its
 * data or waits changed by more than a threshold since it was told last, or their pace
 * did; it answers now and did not before; a counter crossed its threshold, or no longer
 * does, or grew while it is over it; it was reset or set to 0.  Errors below their
 * threshold are no reason, but are in each row that is sent.  Besides, each port is
 * told of in one of 'refresh' sweeps, whatever it did.  A port that never answered has
 * a row, too, without counters: there may be alerts of it.
 *
 *     triad_feed_begin(feed, view, ...)               when a sweep has ended
 *     while ((size = triad_feed_next(feed, ...)))     each is one message
 *
 * There is at least one message a sweep, if only to say that nothing happened.  What
 * the master lacks, by the numbers of the messages, is due again.
 *
 * Thread-safety: none; the engine's thread.  Memory: 56 octets for each row of the
 * engine and 4 for each port of the view, checked; without it all ports are told of.
 * Source: [monitoring-rfc: aggregate data; Data], rows M5-M7, M12. */
#ifndef TRIAD_COLLECT_FEED_H
#define TRIAD_COLLECT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/data.h"
#include "perfmgr/view.h"

/* Octets that triad_feed_next() must be given. */
#define TRIAD_FEED_MESSAGE_SIZE (64u * 1024)

struct triad_feed;

struct triad_feed_params {
	uint64_t min_change_words; /* data both ways, in words of 4 octets; ticks of
	                              waiting */
	uint32_t refresh;          /* sweeps; 1: everything, always; 0: never */
	uint64_t period_us;        /* of sweeps, for the pace */
};

struct triad_feed_counts {
	uint64_t n_messages, n_octets;
	uint64_t n_rows;     /* told of */
	uint64_t n_held;     /* ports that were not due, in all sweeps */
	uint64_t n_again;    /* times that something was asked for again */
	uint64_t raw_octets; /* what all ports and counters would have taken, each
	                         sweep */
};

/* NULL when memory is short. */
struct triad_feed *triad_feed_new(void);
void triad_feed_free(struct triad_feed *feed);
void triad_feed_configure(
	struct triad_feed *feed, const struct triad_feed_params *params);

/* Ports of 'view' (referenced until the next one) are looked at.  'findings' (NULL:
 * none) has for each the causes that are raised, in bits; copied. */
void triad_feed_begin(struct triad_feed *feed, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint64_t now_us);

/* The next message into 'to', of TRIAD_FEED_MESSAGE_SIZE octets.  Returns its size; 0:
 * that was all. */
size_t triad_feed_next(struct triad_feed *feed, const struct triad_collect_head *head,
	uint64_t now_us, uint8_t *to);

/* The messages from 'from' on did not come. */
void triad_feed_again(struct triad_feed *feed, uint32_t from);

/* Nobody has what was told: everything is due. */
void triad_feed_forget(struct triad_feed *feed);

/* Ports with counters, in the last telling. */
uint32_t triad_feed_n_ports(const struct triad_feed *feed);

/* The number of the last message. */
uint32_t triad_feed_number(const struct triad_feed *feed);
struct triad_feed_counts triad_feed_counts(const struct triad_feed *feed);

#endif
