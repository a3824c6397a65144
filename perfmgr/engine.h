/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counter engine: from raw readings to totals that never go back.
 *
 * Model: a row for each (node GUID, port number) ever seen, holding for each counter
 * the raw value last read, a 64-bit total and the change of the last interval.  The
 * first reading sets the total to the raw value, so that a total begins at the
 * hardware's value.  After that only changes are added:
 *
 *     raw >= last   the change is the difference;
 *     raw <  last   the counter was reset, by us or by somebody else, and has counted 'raw'
 *                   since, which is the change.
 *
 * The counters of PortCounters stop at their maximum, and those of PortCountersExtended
 * have 64 bits, so neither should ever wrap.  But the 32-bit counters of some agents
 * do: such a counter has wrapped if it goes from the last quarter of its range to the
 * first, while others of the same answer do not decrease.  (A reset affects all
 * counters of an attribute, or those that we selected.)
 *
 * A counter of PortCounters at its maximum has lost what came after.  Its change is then
 * a lower bound, and its bit in 'saturated' is set.
 *
 * When an agent begins to give a counter in the other attribute (wider or narrower),
 * its total goes on from the value read there; what it counted in between is unknown.
 * Errors and PortXmitWait, which change over together, then have no interval.
 *
 * The engine tells our resets from those of others: triad_engine_expect_reset()
 * announces ours before they are sent, because the agent may reset and its answer be
 * lost.
 *
 * A row stays when its port leaves the fabric, so that the port has its totals when it
 * comes back.  The engine frees rows of ports away for over TRIAD_ENGINE_KEEP_S.  It
 * frees all rows of absent ports when these outnumber the present ones by more than a
 * slab (8,192).
 *
 * Time: if the clock goes back, the interval is 0 and there is no rate.
 *
 * Thread-safety: any thread may call triad_engine_read() and _total() while the engine
 * lives; one thread, the engine's, calls the rest.  Each row has a sequence counter,
 * odd while the row is written.  A reader copies the row again when it changed
 * meanwhile; no writer waits for a reader.
 *
 * Memory: rows lie in slabs that are freed only with the engine.  So a reader with a
 * stale row number reads at worst another port's row, and sees that by the GUID and
 * port in it.  At most TRIAD_ENGINE_MAX_ROWS; 456 octets for each, and 208 for one with
 * an error counter that ever read, or grew by, 65,535 or more.
 * Spec: IBA volume 1, 16.1.3.5, 16.1.4.11; [perf-manager-arch 2]. */
#ifndef TRIAD_PERFMGR_ENGINE_H
#define TRIAD_PERFMGR_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "perfmgr/reset_log.h"
#include "ib/pma.h"
#include "triad/fabric.h"

#define TRIAD_ENGINE_MAX_ROWS (1u << 22)
#define TRIAD_ENGINE_KEEP_S (24 * 3600)

struct triad_details;
struct triad_engine;

/* Counters that are read together, and so share an interval.  A node's summary can show
 * that a port's errors did not change, and leave its PortXmitWait and its data counters
 * unknown: so these have parts of their own, even when they come with the errors. */
enum triad_reading_part {
	TRIAD_READ_ERRORS, /* errors, and data counters in PortCounters */
	TRIAD_READ_WIDE,   /* data counters in PortCountersExtended */
	TRIAD_READ_WAIT,   /* PortXmitWait */
	TRIAD_READ_N_PARTS
};

/* The resets of one kind that were noticed at a port. */
struct triad_engine_resets {
	uint64_t last_us; /* monotonic, to the second; 0: never */
	uint32_t n;       /* stops at 65535 */
};

/* One port's counters, as a reader gets them. */
struct triad_engine_row {
	uint64_t node_guid;
	uint64_t read_us; /* when it last answered, monotonic; 0: never */
	struct triad_engine_resets others, own; /* in hardware, by others or by us */
	uint64_t zeroed_us; /* totals were set to 0, to the second; 0: never */
	uint32_t has;       /* bit i: counter i is known */
	uint32_t forgotten; /* bit i: counter i was read, but is not known now */
	uint32_t saturated; /* bit i: it is at its maximum in PortCounters, or, of
			     * PortXmitWait, was before our reset */
	uint8_t port;
	bool was_asked; /* since it is in the fabric */
	bool answered;  /* the last time it was asked */
	bool by_sum; /* its errors are as they were: the sum of its switch, unchanged, says
	                   * so, and not the port */
	bool wide_behind; /* PortCounters' data was not read in the interval */
	uint64_t interval_us
		[TRIAD_READ_N_PARTS]; /* of enum triad_reading_part; 0: none */
	uint64_t total[TRIAD_N_COUNTERS];
	uint64_t change[TRIAD_N_COUNTERS];
};

/* How a port's counters changed in their last interval. */
struct triad_engine_changes {
	uint32_t fresh;    /* bit i: counter i was read, and has an interval */
	uint32_t changed;  /* bit i: of these, it grew, by change[i] */
	uint32_t full;     /* bit i: of these, it stands at its maximum, and grew by
	                    * change[i] or more */
	uint32_t extended; /* bit i: it is a data counter in PortCountersExtended */
	float interval_us[TRIAD_READ_N_PARTS]; /* of enum triad_reading_part, with fresh
		                                   * ones */
	uint64_t change[TRIAD_N_COUNTERS];
};

/* The part in which a fresh counter was read. */
static inline enum triad_reading_part triad_engine_part(
	const struct triad_engine_changes *changes, unsigned counter)
{
	if (counter == TRIAD_PORT_XMIT_WAIT)
		return TRIAD_READ_WAIT;
	return changes->extended & 1u << counter ? TRIAD_READ_WIDE : TRIAD_READ_ERRORS;
}

/* NULL when memory is short. */
struct triad_engine *triad_engine_new(void);
void triad_engine_free(struct triad_engine *engine);

/* The log of resets: those that updates detected, and ours that triad_engine_reset()
 * reported; only of counters that were not 0.  It lives as long as the engine. */
struct triad_reset_log *triad_engine_resets(struct triad_engine *engine);

/* The store of details, by the engine's rows.  It lives as long as the engine. */
struct triad_details *triad_engine_details(const struct triad_engine *engine);

/* Makes the ports of 'fabric' the present ones.  'rows' (room for fabric->n_ports)
 * receives each port's row.  Returns 0, or ENOMEM or EOVERFLOW with nothing changed. */
int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows);

/* Adds a reading of 'attribute' for 'row', taken at 'now_us'.  Never allocates or
 * blocks.  One that has PortXmitWait alone leaves the intervals of the others;
 * after a reading at its maximum, the higher of the two rates stays.  Returns
 * the error counters (bit i: counter i) that grew since the reading before. */
uint32_t triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us);

/* Call it before each update.  Returns the counters (bit i: counter i) of
 * PortCountersExtended, errors among them, that grew by far more than the link can have
 * carried since the last reading.  'words_per_us' (of 4 octets) is what the link can carry; 0: not known.
 * Sets '*is_believed' to false for such a reading: don't give it to update(), as if
 * there had been no answer.  Believes the third one in a row: the agent really counts
 * from elsewhere, and those totals go on from the new values, without a change. */
#define TRIAD_ENGINE_MAX_DOUBTS 3
uint32_t triad_engine_mark_implausible(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	double words_per_us, uint64_t now_us, bool *is_believed);

/* The node's summary shows that the port's errors did not change: counts as an update
 * without a change.  'wait_too': PortXmitWait did not change either; else its interval
 * goes on until it is read, and its last rate stands.  The data counters of PortCounters are unknown: they have
 * no interval until two more readings in a row. */
void triad_engine_confirm(
	struct triad_engine *engine, uint32_t row, bool wait_too, uint64_t now_us);

/* PortXmitWait may have changed since a summary said last that it did not.  Until it is
 * read, readers get a row that does not have it. */
void triad_engine_forget_wait(struct triad_engine *engine, uint32_t row);

/* We are about to reset the counters in 'mask' (bit i: counter i); 0: the agent
 * refused, so expect none. */
void triad_engine_expect_reset(
	struct triad_engine *engine, uint32_t row, uint32_t mask);

/* The agent confirmed our reset; 'reading' has the counters after it. */
void triad_engine_reset(struct triad_engine *engine, uint32_t row,
	const struct triad_pma_reading *reading, uint64_t now_us);

/* Sets the port's totals to 0, and those of its details. */
void triad_engine_zero(struct triad_engine *engine, uint32_t row, uint64_t now_us);

/* Fetches a row that will be updated soon into the cache. */
void triad_engine_prefetch(const struct triad_engine *engine, uint32_t row);

/* Notes whether the port answered in full when it was last asked. */
void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered);

/* Copies the changes of those counters of 'row' that were read at 'since_us' or later;
 * of counters read twice since then, the later change.  Returns false when none was
 * read.  For the engine's thread. */
bool triad_engine_changes(const struct triad_engine *engine, uint32_t row,
	uint64_t since_us, struct triad_engine_changes *changes);

/* A port's counters as another process read them; see triad_engine_take(). */
struct triad_engine_report {
	uint64_t read_us; /* when it was read, by our clock */
	uint32_t has;
	bool answered;
	/* Errors and PortXmitWait have 64 bits: none of them stops at a maximum. */
	bool has_wide_errors;
	uint32_t n_others_resets, n_own_resets;
	uint32_t zeroed_s; /* in the engine's seconds; 0: never; take() ignores it */
	/* Of wide errors no more than PortCounters has; the base has the rest. */
	uint64_t raw[TRIAD_N_COUNTERS];
	uint64_t base[TRIAD_N_COUNTERS]; /* total = base + raw, modulo 2^64 */
};

/* Writes a report of another process into 'row', in place of a reading.  Totals become
 * those of the report; changes and interval are what passed since the last one.  A
 * total that goes back gets no change; the caller prevents that. */
void triad_engine_take(struct triad_engine *engine, uint32_t row,
	const struct triad_engine_report *report);

/* Makes a report of 'row'.  'read_us' is when the row was last read, by our clock (0:
 * never); if the port did not answer in full, when the older part was.  For the
 * engine's thread.  Returns false for a row number never given out. */
bool triad_engine_describe(const struct triad_engine *engine, uint32_t row,
	struct triad_engine_report *report);

/* Copies a row.  Returns false for an unused row number. */
bool triad_engine_read(
	const struct triad_engine *engine, uint32_t row, struct triad_engine_row *copy);

/* Reads one total of a row.  Returns false when the row is not that port's, or the
 * counter has not been read.  Any thread, as triad_engine_read(). */
bool triad_engine_total(const struct triad_engine *engine, uint32_t row,
	uint64_t node_guid, uint8_t port, unsigned counter, uint64_t *total);

/* The change of a counter per second over its last interval; NAN without one, or if it
 * stood at its maximum then.  Of a 'saturated' one it is a lower bound. */
double triad_engine_rate(const struct triad_engine_row *row, unsigned counter);
/* Whether it is a lower bound over 0: the counter stopped at its maximum in that
 * interval. */
bool triad_engine_rate_is_least(const struct triad_engine_row *row, unsigned counter);

/* Octets that the engine uses. */
size_t triad_engine_octets(const struct triad_engine *engine);

#endif
