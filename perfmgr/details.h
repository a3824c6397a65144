/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Totals of the detail attributes (ib/detail.h), beside the engine's rows.
 *
 * Model: each row of the engine may have a block for each detail attribute that its port
 * was asked for.  A block has for each counter what was read last and a 64-bit total,
 * which goes on when the hardware is reset, as engine.h says; the first reading is where
 * it begins.  A counter that stands at its maximum has lost what came after.
 *
 * Most details of most ports are 0 for ever.  An attribute without anything but zeros
 * gets no block, only a bit that says that it was read.
 *
 * A row that has gone to another port begins anew.
 *
 * A manager has what agents read (collect/detail_message.h).  While the same agent
 * reports a port, its total is the agent's and a constant; when another one takes over,
 * the total goes on from what the hardware said last, as in collect/aggregator.h.
 *
 * Thread-safety: as the engine, to which it belongs: one thread, the engine's, calls all
 * but triad_details_read(), _known(), _any() and _counts(), which any thread may call at any
 * time.  Each row has a sequence counter, odd while it is written; nobody waits for a
 * reader.
 *
 * Memory: 48 octets for each row of 1,024 of which one has details, and for each block
 * 48 and 16 for each counter, 24 where an agent's totals differ from what it read; no
 * more than the limit.  What the limit leaves out is
 * counted.  All of it is freed with the store, not before: a reader may have any of it
 * in hand. */
#ifndef TRIAD_PERFMGR_DETAILS_H
#define TRIAD_PERFMGR_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/detail.h"

struct triad_details;

/* Whose details they are: the engine's row, and the port that it must belong to. */
struct triad_details_port {
	uint32_t row;
	uint8_t number;
	uint64_t node_guid;
};

/* One attribute of a port, as a reader gets it: slots of ib/detail.h. */
struct triad_detail_row {
	uint64_t read_us;     /* monotonic */
	uint64_t interval_us; /* that 'change' took; 0: not known */
	uint32_t n_own_resets, n_others_resets;
	uint64_t saturated; /* bit i: slot i stands at its maximum */
	uint64_t total[TRIAD_DETAIL_MOST_SLOTS];
	uint64_t change[TRIAD_DETAIL_MOST_SLOTS];
};

struct triad_details_counts {
	size_t octets;
	uint64_t n_dropped; /* readings that found no memory */
};

/* NULL when memory is short.  'most_octets' is the limit. */
struct triad_details *triad_details_new(size_t most_octets);
void triad_details_free(struct triad_details *details);

/* What is there already stays. */
void triad_details_set_limit(struct triad_details *details, size_t most_octets);

/* Adds a reading.  'after_reset': it is the answer to our reset of the attribute. */
void triad_details_update(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us);

/* What an agent says of an attribute of a port. */
struct triad_details_report {
	uint64_t read_us; /* when it was read, by the clock of here */
	uint32_t n_own_resets, n_others_resets;
	uint32_t raw[TRIAD_DETAIL_MOST_SLOTS];
	uint64_t base[TRIAD_DETAIL_MOST_SLOTS]; /* total = base + raw, modulo 2^64 */
};

/* Whether all it counts is 0, as of most ports. */
static inline bool triad_details_is_zero(const struct triad_details_report *report)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++)
		any |= report->raw[i] | report->base[i];
	return !any;
}

/* Two readings by different agents that are closer than this are not known to be in
 * order: clocks are compared by messages, which take their time. */
#define TRIAD_DETAILS_DOUBT_US UINT64_C(2000000)

/* Takes what an agent says.  'teller' (not 0) stands for the agent's start and for when
 * it set the port's totals to 0, so that totals of one teller never go back.  Returns
 * false when the report is older than what is there, or found no memory. */
bool triad_details_take(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_details_report *report, uint32_t teller);

/* Copies what a report of an attribute would say.  Returns false when the port was not
 * read for it. */
bool triad_details_describe(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_details_report *report);

/* Makes the port's totals 0. */
void triad_details_zero(
	struct triad_details *details, const struct triad_details_port *port);

/* The attributes that the port was read for (TRIAD_DETAIL_BIT()). */
uint32_t triad_details_known(
	const struct triad_details *details, const struct triad_details_port *port);

/* A number that changes whenever the port's details do; 0: it has none.  For the
 * engine's thread. */
uint32_t triad_details_version(
	const struct triad_details *details, const struct triad_details_port *port);

/* Copies an attribute.  Returns false when the port was not read for it. */
bool triad_details_read(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_detail_row *copy);

/* The attributes that any port was ever read for. */
uint32_t triad_details_any(const struct triad_details *details);

struct triad_details_counts triad_details_counts(const struct triad_details *details);

#endif
