/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Selects the details that an agent reports to its master, as DETAILS, after a sweep
 * and its DATA.
 *
 * Model: a port is due when one of its attributes was read for the first time, or was
 * read again and is not all zeros.  Besides, each port is due in one of 'refresh'
 * sweeps, to make up for lost messages.  Details are read from a few ports at a time
 * (perfmgr/sweep/rounds.h), so few ports are due in a sweep.
 *
 *     triad_detail_reporter_begin(reporter, view, refresh)
 *     while ((size = triad_detail_reporter_next(reporter, ...)))    each is one message
 *
 * Thread-safety: none; the engine's thread.  Memory: 8 octets for each row of the
 * engine, checked; without memory all ports with details are reported. */
#ifndef TRIAD_COLLECT_DETAIL_REPORTER_H
#define TRIAD_COLLECT_DETAIL_REPORTER_H

#include "collect/detail_message.h"
#include "perfmgr/view.h"

/* Octets that triad_detail_reporter_next() must be given. */
#define TRIAD_DETAIL_REPORTER_MESSAGE_SIZE (64u * 1024)

struct triad_detail_reporter;

struct triad_detail_reporter *triad_detail_reporter_new(void);
void triad_detail_reporter_free(struct triad_detail_reporter *reporter);

/* Begins a report of 'view' (referenced until the next one).  'refresh': in sweeps; 0:
 * never. */
void triad_detail_reporter_begin(struct triad_detail_reporter *reporter,
	struct triad_view *view, uint32_t refresh);

/* Writes the next message into 'to'.  Returns its size; 0: there are no more. */
size_t triad_detail_reporter_next(struct triad_detail_reporter *reporter,
	const struct triad_collect_head *head, uint64_t now_us, uint8_t *to);

/* The receiver may lack what was reported: everything is due. */
void triad_detail_reporter_forget(struct triad_detail_reporter *reporter);

#endif
