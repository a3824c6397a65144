/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an agent reports to its master after a sweep: DATA of the ports that changed
 * enough.
 *
 * Model: perfmgr/formats/change_filter.h decides which ports are due: data or waits
 * changed by more than a threshold since the last report, or their pace did; the port
 * answers again; a counter crossed its threshold in either direction, or grew above it;
 * a counter was reset or set to 0. Errors below their threshold do not make a port due,
 * but each row that is sent contains them.  Besides, each port is reported in one of
 * 'refresh' sweeps, whatever it did. A port that never answered has a row, too, without
 * counters, because it may have alerts.
 *
 *     triad_reporter_begin(reporter, view, ...)               when a sweep has ended
 *     while ((size = triad_reporter_next(reporter, ...)))     each is one message
 *
 * Each sweep has at least one message, even if nothing changed.  Messages are numbered;
 * those that the master lacks become due again.
 *
 * Thread-safety: none; the engine's thread.  Memory: 56 octets for each row of the
 * engine and 4 for each port of the view, checked; without memory all ports are
 * reported.
 * Source: [monitoring-rfc: aggregate data; Data], rows M5-M7, M12. */
#ifndef TRIAD_COLLECT_REPORTER_H
#define TRIAD_COLLECT_REPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/data.h"
#include "perfmgr/view.h"

/* Octets that triad_reporter_next() must be given. */
#define TRIAD_REPORTER_MESSAGE_SIZE (64u * 1024)

struct triad_reporter;

struct triad_reporter_params {
	uint64_t min_change_words; /* data both ways, in words of 4 octets; ticks of
	                              waiting */
	uint32_t refresh;          /* sweeps; 1: everything, always; 0: never */
	uint64_t period_us;        /* of sweeps, for the pace */
};

struct triad_reporter_counts {
	uint64_t n_messages, n_octets;
	uint64_t n_rows;     /* reported */
	uint64_t n_held;     /* ports that were not due, in all sweeps */
	uint64_t n_again;    /* times that messages were requested again */
	uint64_t raw_octets; /* octets if all counters of all ports were sent */
};

/* NULL when memory is short. */
struct triad_reporter *triad_reporter_new(void);
void triad_reporter_free(struct triad_reporter *reporter);
void triad_reporter_configure(
	struct triad_reporter *reporter, const struct triad_reporter_params *params);

/* Begins a report of 'view' (referenced until the next one).  'findings' (NULL: none)
 * has for each port the raised causes, as bits; copied. */
void triad_reporter_begin(struct triad_reporter *reporter, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint64_t now_us);

/* Writes the next message into 'to', of TRIAD_REPORTER_MESSAGE_SIZE octets. Returns its
 * size; 0: there are no more. */
size_t triad_reporter_next(struct triad_reporter *reporter,
	const struct triad_collect_head *head, uint64_t now_us, uint8_t *to);

/* The messages from 'from' on were lost. */
void triad_reporter_repeat_from(struct triad_reporter *reporter, uint32_t from);

/* Ports with counters in the last report. */
uint32_t triad_reporter_n_ports(const struct triad_reporter *reporter);

/* The number of the last message. */
uint32_t triad_reporter_number(const struct triad_reporter *reporter);
struct triad_reporter_counts triad_reporter_counts(
	const struct triad_reporter *reporter);

#endif
