/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counter engine: from raw readings to totals that never go back.
 *
 * Model: a row for each (node GUID, port number) ever seen, holding for each counter the
 * raw value last read, a 64-bit total and the change of the last interval.  The first
 * reading sets the total to the raw value, so that a total begins at the hardware's value.
 * After that only changes are added:
 *
 *     raw >= last   the change is the difference;
 *     raw <  last   the counter was reset, by us or by somebody else, and has counted 'raw'
 *                   since, which is the change.
 *
 * The counters of PortCounters stop at their maximum, and those of PortCountersExtended
 * have 64 bits, so neither should ever wrap.  But the 32-bit counters of some agents do:
 * such a counter has wrapped if it goes from the last quarter of its range to the first,
 * while others of the same answer do not decrease.  (A reset affects all counters of an
 * attribute, or those that we selected.)
 *
 * A counter at its maximum has lost what came after.  Its change is then a lower bound, and
 * its bit in 'saturated' is set.
 *
 * When an agent changes the attribute that has a counter, to a wider or narrower one, the
 * total continues from the value read there: the change in between is not known.
 *
 * The engine distinguishes our resets from others: triad_engine_expect_reset() announces
 * ours before they are sent, because the answer may be lost although the reset was done.
 *
 * A row stays when its port leaves the fabric, so that a port which returns continues its
 * totals.  Rows are dropped when their ports have been away for TRIAD_ENGINE_KEEP_S, or
 * when more ports are away than present.
 *
 * Time: if the clock goes back, the interval is 0 and there is no rate.
 *
 * Thread-safety: one thread, the engine's, calls everything except triad_engine_read() and
 * _total(), which any thread may call while the engine exists.  Each row has a sequence
 * counter, odd while the row is written; a reader copies the row again if it changed
 * meanwhile.  Nobody waits for a reader.
 *
 * Memory: rows are in slabs that are freed only with the engine.  So a reader with an old
 * row number at worst reads another port's row, and detects that by the GUID and port in
 * it.  At most TRIAD_ENGINE_MAX_ROWS; 448 octets for each.
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

/* Parts of a row; the counters of a part are read together, and so have the same interval.
 * PortXmitWait is in PortCounters, but a node's summary can confirm a port's errors and not
 * its PortXmitWait. */
enum triad_reading_part {
	TRIAD_READ_NARROW, /* the rest of PortCounters */
	TRIAD_READ_WIDE,   /* PortCountersExtended */
	TRIAD_READ_WAIT,   /* PortXmitWait */
	TRIAD_READ_N_PARTS
};

/* The noticed resets of one kind of a port. */
struct triad_engine_resets {
	uint64_t last_us; /* monotonic, to the second; 0: never */
	uint32_t n;       /* stops at 65535 */
};

/* One port's counters, as a reader gets them. */
struct triad_engine_row {
	uint64_t node_guid;
	uint64_t read_us; /* when it last answered, monotonic; 0: never */
	struct triad_engine_resets others, own; /* resets of its hardware by others,
						 * and by us */
	uint64_t zeroed_us; /* when its totals were set to 0, to the second; 0: never */
	uint32_t has;       /* bit i: counter i has been read */
	uint32_t saturated; /* bit i: it stands at its maximum in PortCounters */
	uint8_t port;
	bool was_asked;   /* it was asked since it is in the fabric */
	bool answered;    /* it answered the last request */
	bool wide_behind; /* data counters of PortCounters are older than the
			   * interval */
	uint64_t interval_us
		[TRIAD_PMA_N_COUNTER_ATTRIBUTES]; /* the time of 'change'; 0: none */
	uint64_t total[TRIAD_N_COUNTERS];
	uint64_t change[TRIAD_N_COUNTERS];
};

/* The changes of a port's counters in their last interval. */
struct triad_engine_changes {
	uint32_t fresh;    /* bit i: counter i was read, and has an interval */
	uint32_t changed;  /* bit i: of these, counter i grew by change[i] */
	uint32_t full;     /* bit i: of these, counter i is at its maximum: the
			    * change is a lower bound */
	uint32_t extended; /* bit i: it came with PortCountersExtended */
	float interval_us
		[TRIAD_PMA_N_COUNTER_ATTRIBUTES]; /* of attributes with fresh ones */
	uint64_t change[TRIAD_N_COUNTERS];
};

/* The part of the row that a fresh counter belongs to. */
static inline enum triad_reading_part triad_engine_part(
	const struct triad_engine_changes *changes, unsigned counter)
{
	if (counter == TRIAD_PORT_XMIT_WAIT)
		return TRIAD_READ_WAIT;
	return changes->extended & 1u << counter ? TRIAD_READ_WIDE : TRIAD_READ_NARROW;
}

/* NULL when memory is short. */
struct triad_engine *triad_engine_new(void);
void triad_engine_free(struct triad_engine *engine);

/* The resets found by updates, and those reported to triad_engine_reset(), of counters that
 * were not 0.  It exists as long as the engine. */
struct triad_reset_log *triad_engine_resets(struct triad_engine *engine);

/* The totals of detail attributes, by the engine's rows.  It exists as long as the
 * engine. */
struct triad_details *triad_engine_details(const struct triad_engine *engine);

/* Makes the ports of 'fabric' the present ones.  'rows' (room for fabric->n_ports)
 * receives each port's row.  Returns 0, ENOMEM or EOVERFLOW; then nothing changed. */
int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows);

/* Adds a reading of 'attribute' of 'row' at 'now_us'.  Never allocates or blocks.  Returns
 * the error counters (bit i: counter i) that grew. */
uint32_t triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us);

/* Checks a reading before each update.  A reading is implausible if a counter of
 * PortCountersExtended grew by far more than the link can have carried since the last
 * reading; 'words_per_us' (of 4 octets) is the link's capacity, 0: not known.  Returns the
 * implausible counters (bit i: counter i).  If '*is_believed' is false, the caller must not
 * pass the reading to update(), and treats it as no answer.  The third such reading in a
 * row is accepted, because the port's counters really have other values now: their totals
 * continue from these, without a change. */
#define TRIAD_ENGINE_MAX_DOUBTS 3
uint32_t triad_engine_mark_doubtful(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	double words_per_us, uint64_t now_us, bool *is_believed);

/* The node's summary shows that the port's errors are unchanged: counts as an update
 * without a change.  'wait_too': so is PortXmitWait; otherwise its interval continues until
 * it is read.  Data counters in the same attribute are unknown: they have no interval until
 * they were read twice in a row again. */
void triad_engine_confirm(
	struct triad_engine *engine, uint32_t row, bool wait_too, uint64_t now_us);

/* A reset of the counters in 'mask' (bit i: counter i) is being sent; 0: the last one was
 * refused. */
void triad_engine_expect_reset(
	struct triad_engine *engine, uint32_t row, uint32_t mask);

/* The port confirmed the reset; 'reading' has the counters after it. */
void triad_engine_reset(struct triad_engine *engine, uint32_t row,
	const struct triad_pma_reading *reading, uint64_t now_us);

/* Sets the port's totals to 0, also those of its details. */
void triad_engine_zero(struct triad_engine *engine, uint32_t row, uint64_t now_us);

/* Fetches a row that will be updated soon into the cache. */
void triad_engine_prefetch(const struct triad_engine *engine, uint32_t row);

/* Sets whether the port answered completely when it was last asked. */
void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered);

/* Copies the changes of the counters of 'row' that were read at 'since_us' or later.
 * Returns false when none was.  For the engine's thread.  If a port was read twice since
 * then, these are the changes of the later interval. */
bool triad_engine_changes(const struct triad_engine *engine, uint32_t row,
	uint64_t since_us, struct triad_engine_changes *changes);

/* A port's state as another process read it; see triad_engine_take(). */
struct triad_engine_report {
	uint64_t read_us; /* when it was read, by our clock */
	uint32_t has;
	bool answered;
	uint32_t n_others_resets, n_own_resets;
	uint32_t zeroed_s; /* as the engine counts; 0: never; not taken */
	uint64_t raw[TRIAD_N_COUNTERS];
	uint64_t base[TRIAD_N_COUNTERS]; /* total = base + raw, modulo 2^64 */
};

/* Sets 'row' to another process's report, instead of a reading: its totals become those of
 * the report, its changes and interval the differences from the last one.  A total that
 * would go back gets no change; the caller prevents that. */
void triad_engine_take(struct triad_engine *engine, uint32_t row,
	const struct triad_engine_report *report);

/* Makes a report of 'row'.  'read_us' is when it was last read (0: never); if the port did
 * not answer completely, when the older part was.  For the engine's thread.  Returns false
 * for an unused row number. */
bool triad_engine_describe(const struct triad_engine *engine, uint32_t row,
	struct triad_engine_report *report);

/* Copies a row.  Returns false for an unused row number. */
bool triad_engine_read(
	const struct triad_engine *engine, uint32_t row, struct triad_engine_row *copy);

/* Reads one total of a row.  Returns false when the row is not that port's, or the
 * counter has not been read.  Any thread, as triad_engine_read(). */
bool triad_engine_total(const struct triad_engine *engine, uint32_t row,
	uint64_t node_guid, uint8_t port, unsigned counter, uint64_t *total);

/* The change of a counter per second over its last interval; NAN without one. */
double triad_engine_rate(const struct triad_engine_row *row, unsigned counter);

/* Octets that the engine uses. */
size_t triad_engine_octets(const struct triad_engine *engine);

#endif
