/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counter engine: from raw readings to totals that never go back.
 *
 * Model: a row for each (node GUID, port number) ever seen, holding for each counter
 * the raw value last read, a 64-bit total and the change of the last interval.  The
 * first reading sets the total to the raw value, so that a total begins where the
 * hardware stands.  After that only changes are added:
 *
 *     raw >= last   the change is the difference;
 *     raw <  last   the counter was reset, by us or by somebody else, and the change
 *                   is what was counted since: raw.
 *
 * The counters of PortCounters stop at their maximum, and those of
 * PortCountersExtended have 64 bits, so neither should ever wrap.  There are agents
 * whose 32-bit counters do: a 32-bit counter that goes from the last quarter of its
 * range to the first one, while others of the same answer go on, has wrapped.  (A
 * reset takes all counters of an attribute back, or those that we asked for.)
 *
 * A counter at its maximum has lost what came after: its change is the least that it
 * can have been, and 'saturated' says so.
 *
 * A counter that an agent now has in the other attribute, which is wider or narrower,
 * goes on from the value read there: what passed in between is not known.
 *
 * Resets are told apart: ours were announced by triad_engine_expect_reset() before
 * they were sent, because the answer may be lost though the reset was done.
 *
 * A row stays when its port leaves the fabric, so that a port which comes back goes
 * on with its totals; rows of ports that have been away for TRIAD_ENGINE_KEEP_S, or
 * when more are away than present, are given up.
 *
 * Time: a clock that went back gives an interval of 0, so no rate.
 *
 * Thread-safety: one thread, the engine's, calls everything but
 * triad_engine_read() and _total(), which any thread may call at any time while the
 * engine lives: each row has a sequence counter, odd while the row is written, and a
 * reader takes the row again when it changed under its hands.  Nobody waits for a
 * reader.
 *
 * Memory: rows lie in slabs that are freed only with the engine, so that a reader
 * with an old row number reads a row of somebody else at worst, and sees that by the
 * GUID and port in it.  At most TRIAD_ENGINE_MAX_ROWS; 448 octets for each.
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

/* Counters that are read together, and so changed in the same interval.  PortXmitWait
 * is in PortCounters, but a port's errors can be known, from its node's sum, while its
 * PortXmitWait is not. */
enum triad_reading_part {
	TRIAD_READ_NARROW, /* the rest of PortCounters */
	TRIAD_READ_WIDE,   /* PortCountersExtended */
	TRIAD_READ_WAIT,   /* PortXmitWait */
	TRIAD_READ_N_PARTS
};

/* A kind of reset of a port, as far as it was noticed. */
struct triad_engine_resets {
	uint64_t last_us; /* monotonic, to the second; 0: never */
	uint32_t n;       /* stops at 65535 */
};

/* One port's counters, as a reader gets them. */
struct triad_engine_row {
	uint64_t node_guid;
	uint64_t read_us; /* when it last answered, monotonic; 0: never */
	struct triad_engine_resets others, own; /* of its hardware, by whom */
	uint64_t zeroed_us; /* when its totals were, to the second; 0: never */
	uint32_t has;       /* bit i: counter i has been read */
	uint32_t saturated; /* bit i: it stands at its maximum in PortCounters */
	uint8_t port;
	bool was_asked;   /* since it is in the fabric */
	bool answered;    /* the last time it was asked */
	bool wide_behind; /* data counters of PortCounters are from before the
	                      interval */
	uint64_t interval_us
		[TRIAD_PMA_N_COUNTER_ATTRIBUTES]; /* that 'change' took; 0: none */
	uint64_t total[TRIAD_N_COUNTERS];
	uint64_t change[TRIAD_N_COUNTERS];
};

/* What became of a port's counters in their last interval. */
struct triad_engine_changes {
	uint32_t fresh;    /* bit i: counter i was read, and has an interval */
	uint32_t changed;  /* bit i: of these, it grew, by change[i] */
	uint32_t full;     /* bit i: of these, it stands at its maximum: it grew by no
	                    * less */
	uint32_t extended; /* bit i: it came with PortCountersExtended */
	float interval_us
		[TRIAD_PMA_N_COUNTER_ATTRIBUTES]; /* of attributes with fresh ones */
	uint64_t change[TRIAD_N_COUNTERS];
};

/* What a fresh counter was read with. */
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

/* The resets that updates found and that were told by triad_engine_reset(): of counters
 * that did not stand at 0.  It lives as long as the engine. */
struct triad_reset_log *triad_engine_resets(struct triad_engine *engine);

/* The totals of detail attributes, by the engine's rows.  It lives as long as the
 * engine. */
struct triad_details *triad_engine_details(const struct triad_engine *engine);

/* Makes the ports of 'fabric' the present ones.  'rows' (room for fabric->n_ports)
 * receives each port's row.  Returns 0, ENOMEM or EOVERFLOW; then nothing changed. */
int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows);

/* Adds what 'attribute' said about 'row' at 'now_us'.  Never allocates or blocks.
 * Returns the counters of errors (bit i: counter i) that have grown since. */
uint32_t triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us);

/* A reading is not believed when a counter of PortCountersExtended grew by far more
 * than the link can have carried since it was last read; 'words_per_us' (of 4 octets)
 * is what it can do, 0: that is not known.  To be asked before each update.  Returns
 * which counters (bit i: counter i).  While '*is_believed' is false the reading must
 * not be given to update(): it is as if there had been no answer.  The third one in a
 * row is believed: the port has really begun to count from elsewhere, and what these
 * counters say then is where their totals go on from, without a change. */
#define TRIAD_ENGINE_MAX_DOUBTS 3
uint32_t triad_engine_mark_doubtful(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	double words_per_us, uint64_t now_us, bool *is_believed);

/* The port's errors are known, from its node's sum, to be what they were: as an update
 * without a change.  'wait_too': PortXmitWait as well; else its interval goes on until
 * it is read.  Of data counters in the same attribute nothing is known: they have no
 * interval until they were read twice in a row again. */
void triad_engine_confirm(
	struct triad_engine *engine, uint32_t row, bool wait_too, uint64_t now_us);

/* A reset of the counters in 'mask' (bit i: counter i) is being sent; 0: what was sent
 * was refused. */
void triad_engine_expect_reset(
	struct triad_engine *engine, uint32_t row, uint32_t mask);

/* The port says that it was done; 'reading' has what the counters were after it. */
void triad_engine_reset(struct triad_engine *engine, uint32_t row,
	const struct triad_pma_reading *reading, uint64_t now_us);

/* Makes the port's totals 0, those of its details too. */
void triad_engine_zero(struct triad_engine *engine, uint32_t row, uint64_t now_us);

/* Fetches a row that will be updated soon into the cache. */
void triad_engine_prefetch(const struct triad_engine *engine, uint32_t row);

/* Says whether the port answered in full when it was last asked. */
void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered);

/* Says what became of the counters of 'row' that were read at 'since_us' or later.
 * Returns false when none was.  For the engine's thread.  Of a port that was read
 * twice since then it tells the later interval. */
bool triad_engine_changes(const struct triad_engine *engine, uint32_t row,
	uint64_t since_us, struct triad_engine_changes *changes);

/* A port's state as somebody else read it; see triad_engine_take(). */
struct triad_engine_report {
	uint64_t read_us; /* when, by the clock of here */
	uint32_t has;
	bool answered;
	uint32_t n_others_resets, n_own_resets;
	uint32_t zeroed_s; /* as the engine counts; 0: never; not taken */
	uint64_t raw[TRIAD_N_COUNTERS];
	uint64_t base[TRIAD_N_COUNTERS]; /* total = base + raw, modulo 2^64 */
};

/* Makes 'row' what somebody else found, in the place of a reading: its totals are those
 * of the report, its changes and interval what passed since the last one.  A total that
 * would go back has no change; the caller sees to it that none does. */
void triad_engine_take(struct triad_engine *engine, uint32_t row,
	const struct triad_engine_report *report);

/* Copies what a report of 'row' would say, but for 'read_us', which is when it was read
 * last by the clock of here (0: never); of a port that did not answer as a whole, when
 * the older part was.  For the engine's thread.  Returns false for a row number never
 * given out. */
bool triad_engine_describe(const struct triad_engine *engine, uint32_t row,
	struct triad_engine_report *report);

/* Copies a row.  Returns false for a row number that was never given out. */
bool triad_engine_read(
	const struct triad_engine *engine, uint32_t row, struct triad_engine_row *copy);

/* Reads one total of a row.  Returns false when the row is not that port's, or the
 * counter has not been read.  Any thread, as triad_engine_read(). */
bool triad_engine_total(const struct triad_engine *engine, uint32_t row,
	uint64_t node_guid, uint8_t port, unsigned counter, uint64_t *total);

/* The change of a counter per second over its last interval; NAN without one. */
double triad_engine_rate(const struct triad_engine_row *row, unsigned counter);

/* Octets the engine takes. */
size_t triad_engine_octets(const struct triad_engine *engine);

#endif
