/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's storage of rows: slabs, and a directory by port.
 *
 * Model: a row has three parts in three slabs.  The hot part, four cache lines, has the
 * last values and changes; an update touches only this part.  The cold part has for
 * each counter the base that the last value is added to:
 *
 *     total = base + last        (modulo 2^64)
 *
 * A base changes only when the hardware was reset or the total is set to 0.  So a sweep
 * over a million ports touches a quarter of a gigabyte instead of twice that.
 *
 * Error counters are small, and few of them change.  So the hot part has 16 bits for
 * the last value and 16 for the change of each.  One that has TRIAD_SHORT_MOST there has
 * that value, or a greater one, in the large part, which no other counter touches: it
 * takes no memory until a port's counters need it.
 *
 * The directory lists row numbers, sorted by (node GUID, port): of ports in the fabric,
 * and of ports that left it not long ago.
 *
 * What readers look at is under the row's sequence lock (lib/sequence_lock.h).  Only the
 * engine's thread looks at absent_s, next_free, from_extended, asked and
 * n_implausible_readings.
 *
 * Internal to the engine (engine.h), which says who may call when. */
#ifndef TRIAD_PERFMGR_ROWS_H
#define TRIAD_PERFMGR_ROWS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "lib/sequence_lock.h"
#include "perfmgr/engine.h"
#include "triad/fabric.h"

/* A slab of hot halves is 2 MiB, a huge page. */
#define TRIAD_SLAB_ROWS 8192u

/* Error counters, which have 16 bits or less in PortCounters; PortXmitWait after them has
 * 32 or 64. */
#define TRIAD_N_SHORT TRIAD_PORT_XMIT_WAIT
#define TRIAD_SHORT_COUNTERS ((1u << TRIAD_N_SHORT) - 1)
#define TRIAD_SHORT_MOST UINT16_MAX
#define TRIAD_N_WIDE (TRIAD_N_COUNTERS - TRIAD_FIRST_WIDE_COUNTER)

_Static_assert(TRIAD_N_SHORT + 1 == TRIAD_FIRST_WIDE_COUNTER, "the table's order");

/* Bits of a row's 'state'. */
#define TRIAD_ROW_WAS_ASKED 1u    /* since the port is in the fabric */
#define TRIAD_ROW_ANSWERED 2u     /* the last time it was asked */
#define TRIAD_ROW_WAIT_UNKNOWN 4u /* triad_engine_forget_wait() */
#define TRIAD_ROW_WAIT_FULL 8u    /* it read its maximum; a reset may have followed */
#define TRIAD_ROW_ERRORS_WIDE                                                          \
	16u                  /* errors and PortXmitWait were last read from
	                           * PortCountersExtended */
#define TRIAD_ROW_BY_SUM 32u /* its errors are those that an unchanged sum told */

struct triad_row_hot {
	atomic_uint sequence; /* odd while the row is written */
	uint32_t has;         /* bit i: counter i has been read */
	uint64_t node_guid;
	uint64_t read_us[TRIAD_READ_N_PARTS];
	float interval_us[TRIAD_READ_N_PARTS];
	uint8_t port;
	uint8_t state;
	uint8_t from_extended; /* bit i: wide counter i was last read from
	                        * PortCountersExtended */
	uint8_t wide_behind; /* readings of PortCounters until the interval is also that of
	                      * its wide counters; 0: it is */
	uint64_t wait_change;
	/* --- the next cache line --- */
	uint16_t short_last[TRIAD_N_SHORT], short_change[TRIAD_N_SHORT];
	uint32_t asked; /* bit i: we sent a reset of counter i */
	uint64_t wait_last;
	/* --- two more --- */
	uint64_t wide_last[TRIAD_N_WIDE], wide_change[TRIAD_N_WIDE];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct triad_row_hot) == 256, "four cache lines");

struct triad_row_cold {
	uint64_t base[TRIAD_N_COUNTERS];
	uint32_t others_reset_s, own_reset_s, zeroed_s; /* 0: never */
	union {
		uint32_t absent_s;  /* when it left the fabric; 0: it is there */
		uint32_t next_free; /* while the row is free */
	};
	uint16_t n_others_resets, n_own_resets;
	uint8_t n_implausible_readings; /* impossible readings in a row */
};

/* Of errors with TRIAD_SHORT_MOST in the hot part; of others it is not read. */
struct triad_row_large {
	struct {
		uint64_t last, change;
	} of[TRIAD_N_SHORT];
};

struct triad_slab {
	struct triad_row_hot *hot;
	struct triad_row_cold *cold;
	struct triad_row_large *large;
};

struct triad_rows {
	_Atomic(struct triad_slab *) slabs[TRIAD_ENGINE_MAX_ROWS / TRIAD_SLAB_ROWS];
	uint32_t n_rows;     /* rows ever used */
	uint32_t first_free; /* a list of free rows; TRIAD_NO_ROW: none */
	uint32_t *directory;
	uint32_t n_entries;
};

#define TRIAD_NO_ROW UINT32_MAX

struct triad_engine {
	struct triad_rows rows;
	struct triad_reset_log *resets;
	struct triad_details *details;
};

void triad_rows_init(struct triad_rows *rows);
void triad_rows_clear(struct triad_rows *rows);

/* NULL for an unused row number. */
static inline struct triad_row_hot *triad_rows_hot(
	const struct triad_rows *rows, uint32_t row)
{
	uint32_t slab = row / TRIAD_SLAB_ROWS;
	struct triad_slab *at = NULL;

	if (slab < sizeof(rows->slabs) / sizeof(rows->slabs[0]))
		at = atomic_load_explicit(&rows->slabs[slab], memory_order_acquire);
	return at ? &at->hot[row % TRIAD_SLAB_ROWS] : NULL;
}

/* For a row number in use. */
static inline struct triad_row_cold *triad_rows_cold(
	const struct triad_rows *rows, uint32_t row)
{
	struct triad_slab *slab = atomic_load_explicit(
		&rows->slabs[row / TRIAD_SLAB_ROWS], memory_order_relaxed);

	return &slab->cold[row % TRIAD_SLAB_ROWS];
}

/* For a row number in use. */
static inline struct triad_row_large *triad_rows_large(
	const struct triad_rows *rows, uint32_t row)
{
	struct triad_slab *slab = atomic_load_explicit(
		&rows->slabs[row / TRIAD_SLAB_ROWS], memory_order_relaxed);

	return &slab->large[row % TRIAD_SLAB_ROWS];
}

/* An error's last raw value and its last change. */
static inline uint64_t triad_row_short_last(const struct triad_row_hot *hot,
	const struct triad_row_large *large, unsigned counter)
{
	uint16_t last = triad_shared_get(&hot->short_last[counter]);

	return last < TRIAD_SHORT_MOST ? last
				       : triad_shared_get(&large->of[counter].last);
}

static inline uint64_t triad_row_short_change(const struct triad_row_hot *hot,
	const struct triad_row_large *large, unsigned counter)
{
	uint16_t change = triad_shared_get(&hot->short_change[counter]);

	return change < TRIAD_SHORT_MOST ? change
					 : triad_shared_get(&large->of[counter].change);
}

/* The same of any counter, however they are kept. */
static inline uint64_t triad_row_last(const struct triad_row_hot *hot,
	const struct triad_row_large *large, unsigned counter)
{
	if (counter < TRIAD_N_SHORT)
		return triad_row_short_last(hot, large, counter);
	if (counter == TRIAD_PORT_XMIT_WAIT)
		return triad_shared_get(&hot->wait_last);
	return triad_shared_get(&hot->wide_last[counter - TRIAD_FIRST_WIDE_COUNTER]);
}

static inline uint64_t triad_row_change(const struct triad_row_hot *hot,
	const struct triad_row_large *large, unsigned counter)
{
	if (counter < TRIAD_N_SHORT)
		return triad_row_short_change(hot, large, counter);
	if (counter == TRIAD_PORT_XMIT_WAIT)
		return triad_shared_get(&hot->wait_change);
	return triad_shared_get(&hot->wide_change[counter - TRIAD_FIRST_WIDE_COUNTER]);
}

static inline void triad_row_set_short(struct triad_row_hot *hot,
	struct triad_row_large *large, unsigned counter, uint64_t raw, uint64_t change)
{
	triad_shared_set(&hot->short_last[counter],
		raw < TRIAD_SHORT_MOST ? raw : TRIAD_SHORT_MOST);
	triad_shared_set(&hot->short_change[counter],
		change < TRIAD_SHORT_MOST ? change : TRIAD_SHORT_MOST);
	if (raw >= TRIAD_SHORT_MOST)
		triad_shared_set(&large->of[counter].last, raw);
	if (change >= TRIAD_SHORT_MOST)
		triad_shared_set(&large->of[counter].change, change);
}

static inline void triad_row_set_last(struct triad_row_hot *hot,
	struct triad_row_large *large, unsigned counter, uint64_t raw, uint64_t change)
{
	if (counter < TRIAD_N_SHORT) {
		triad_row_set_short(hot, large, counter, raw, change);
	} else if (counter == TRIAD_PORT_XMIT_WAIT) {
		triad_shared_set(&hot->wait_last, raw);
		triad_shared_set(&hot->wait_change, change);
	} else {
		triad_shared_set(
			&hot->wide_last[counter - TRIAD_FIRST_WIDE_COUNTER], raw);
		triad_shared_set(
			&hot->wide_change[counter - TRIAD_FIRST_WIDE_COUNTER], change);
	}
}

/* Gives each port of 'fabric' its row; see triad_engine_adopt(). */
int triad_rows_adopt(struct triad_rows *rows, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *row_of_port);

size_t triad_rows_octets(const struct triad_rows *rows);

#endif
