/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Totals of the detail attributes (ib/detail.h), beside the engine's rows.
 *
 * Model: each row of the engine may have a block for each detail attribute that its port
 * was asked for.  For each counter a block has the last value and a 64-bit total, which
 * continues when the hardware is reset, as in engine.h.  The total begins at the first
 * value.  A counter at its maximum has lost what came after.
 *
 * Most details of most ports are always 0.  An attribute with only zeros gets no block, but
 * a bit that records that it was read.
 *
 * When a row is given to another port, its details start from nothing.
 *
 * A manager has the details that agents read (collect/detail_message.h).  While the same
 * agent reports a port, the total is the agent's plus a constant.  When another agent takes
 * over, the total continues from the last hardware value, as in collect/aggregator.h.
 *
 * Thread-safety: as the engine, to which it belongs: one thread, the engine's, calls
 * everything except triad_details_read(), _known(), _any() and _counts(), which any thread
 * may call at any time.  Each row has a sequence counter, odd while it is written; nobody
 * waits for a reader.
 *
 * Memory: rows are grouped by 1,024; 48 octets for each row of a group in which any has
 * details.  Each block has 48 octets, and 16 for each counter, or 24 if an agent's totals
 * differ from the values.  The limit applies to all; readings dropped because of it are
 * counted.  Nothing is freed before the store, because readers may still use it. */
#ifndef TRIAD_PERFMGR_DETAILS_H
#define TRIAD_PERFMGR_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/detail.h"

struct triad_details;

/* The owner of details: the engine's row, and the port that the row must belong to. */
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
	uint64_t saturated; /* bit i: slot i stands at its maximum */
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

/* Sets the limit; details that exist stay. */
void triad_details_set_limit(struct triad_details *details, size_t most_octets);

/* Adds a reading.  'after_reset': it is the answer to our reset of the attribute. */
void triad_details_update(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us);

/* An agent's report of an attribute of a port. */
struct triad_details_report {
	uint64_t read_us; /* when it was read, by our clock */
	uint32_t n_own_resets, n_others_resets;
	uint32_t raw[TRIAD_DETAIL_MOST_SLOTS];
	uint64_t base[TRIAD_DETAIL_MOST_SLOTS]; /* total = base + raw, modulo 2^64 */
};

/* Whether all its counters are 0, as for most ports. */
static inline bool triad_details_is_zero(const struct triad_details_report *report)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++)
		any |= report->raw[i] | report->base[i];
	return !any;
}

/* If two readings by different agents are closer than this, their order is unknown, because
 * clocks are compared by messages with unknown delays. */
#define TRIAD_DETAILS_DOUBT_US UINT64_C(2000000)

/* Adds an agent's report.  'teller' (not 0) identifies the agent's start and its last
 * setting of the port's totals to 0, so that totals of one teller never decrease.  Returns
 * false when the report is older than the present values, or memory is short. */
bool triad_details_take(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_details_report *report, uint32_t teller);

/* Makes a report of an attribute.  Returns false when the attribute was not read from the
 * port. */
bool triad_details_describe(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_details_report *report);

/* Sets the port's totals to 0. */
void triad_details_zero(
	struct triad_details *details, const struct triad_details_port *port);

/* The attributes that were read from the port (TRIAD_DETAIL_BIT()). */
uint32_t triad_details_known(
	const struct triad_details *details, const struct triad_details_port *port);

/* A number that changes with each change of the port's details; 0: it has none.  For the
 * engine's thread. */
uint32_t triad_details_version(
	const struct triad_details *details, const struct triad_details_port *port);

/* Copies an attribute.  Returns false when it was not read from the port. */
bool triad_details_read(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_detail_row *copy);

/* The attributes that were ever read from any port. */
uint32_t triad_details_any(const struct triad_details *details);

struct triad_details_counts triad_details_counts(const struct triad_details *details);

#endif
