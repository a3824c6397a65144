/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Totals of the detail attributes (ib/detail.h), beside the engine's rows.
 *
 * Model: each row of the engine has at most one block for each detail attribute.  A
 * block keeps the last reading and a 64-bit total of each counter.  The total begins
 * with the first reading and goes on when the hardware is reset, as in engine.h.  A
 * counter at its maximum has lost later events.
 *
 * Most details of most ports stay 0.  An attribute that has read only zeros gets no
 * block, just a bit for "was read".
 *
 * When a row goes to another port, its details begin anew.
 *
 * A manager gets details from agents (collect/detail_message.h).  While one agent
 * reports a port, our total is the agent's plus a constant.  When another agent takes
 * over, our total goes on from the last value of the hardware, as in
 * collect/aggregator.h.
 *
 * Thread-safety: as in engine.h.  Any thread may call triad_details_read(), _known(),
 * _any() and _counts() at any time; the engine's thread alone calls the rest.  Each row
 * has a sequence counter, odd while it is written; a reader retries, and no writer
 * waits for it.
 *
 * Memory: rows come in slabs of 1,024, of 48 octets each.  A block takes 48 octets, and
 * 16 for each counter, or 24 where an agent's totals differ from its readings.  A limit
 * caps the sum; readings dropped because of it are counted.  All memory stays until
 * triad_details_free(), because a reader may be using it. */
#ifndef TRIAD_PERFMGR_DETAILS_H
#define TRIAD_PERFMGR_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/detail.h"

struct triad_details;

/* The key of details: the engine's row, and the port to which it must belong. */
struct triad_details_port {
	uint32_t row;
	uint8_t number;
	uint64_t node_guid;
};

/* One attribute of a port, for readers: slots of ib/detail.h. */
struct triad_detail_row {
	uint64_t read_us;     /* monotonic */
	uint64_t interval_us; /* the time of 'change'; 0: not known */
	uint32_t n_own_resets, n_others_resets;
	uint64_t saturated; /* bit i: slot i is at its maximum */
	uint64_t total[TRIAD_DETAIL_MOST_SLOTS];
	uint64_t change[TRIAD_DETAIL_MOST_SLOTS];
};

struct triad_details_counts {
	size_t octets;
	uint64_t n_dropped; /* readings dropped because memory was short */
};

/* NULL when memory is short.  'most_octets' is the limit. */
struct triad_details *triad_details_new(size_t most_octets);
void triad_details_free(struct triad_details *details);

/* Blocks made before stay, even beyond a lower limit. */
void triad_details_set_limit(struct triad_details *details, size_t most_octets);

/* Adds a reading.  'after_reset': it is the answer to our reset of the attribute. */
void triad_details_update(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us);

/* What an agent reports of one attribute of a port. */
struct triad_details_report {
	uint64_t read_us; /* when it was read, by our clock */
	uint32_t n_own_resets, n_others_resets;
	uint32_t raw[TRIAD_DETAIL_MOST_SLOTS];
	uint64_t base[TRIAD_DETAIL_MOST_SLOTS]; /* total = base + raw, modulo 2^64 */
};

/* Whether all counters of the report are 0, as for most ports. */
static inline bool triad_details_is_zero(const struct triad_details_report *report)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++)
		any |= report->raw[i] | report->base[i];
	return !any;
}

/* Two readings by different agents closer than this may be in either order: agents'
 * clocks are compared through messages, whose delay varies. */
#define TRIAD_DETAILS_REVALIDATE_US UINT64_C(2000000)

/* Stores an agent's report.  'reporter' (not 0) identifies the agent's incarnation and
 * its last zeroing of the port's totals, so totals of one reporter never go back.
 * Returns false when the report is older than what is stored, or memory is short. */
bool triad_details_take(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_details_report *report, uint32_t reporter);

/* Makes the report of an attribute that an agent sends.  Returns false when the port
 * was not read for it. */
bool triad_details_describe(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_details_report *report);

/* Sets the port's totals to 0. */
void triad_details_zero(
	struct triad_details *details, const struct triad_details_port *port);

/* The attributes that were read from the port (TRIAD_DETAIL_BIT()). */
uint32_t triad_details_known(
	const struct triad_details *details, const struct triad_details_port *port);

/* A number that changes with each change of the port's details; 0: it has none.  For
 * the engine's thread. */
uint32_t triad_details_version(
	const struct triad_details *details, const struct triad_details_port *port);

/* Copies an attribute.  Returns false when it was not read from the port. */
bool triad_details_read(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_detail_row *copy);

/* The attributes that were read of any port so far. */
uint32_t triad_details_any(const struct triad_details *details);

struct triad_details_counts triad_details_counts(const struct triad_details *details);

#endif
