/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/engine.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define S UINT64_C(1000000)

static struct triad_engine *engine;
static struct triad_fabric *fabric;
static uint32_t rows[4096];

static void set_up(void)
{
	engine = triad_engine_new();
	fabric = fabric_row(2, 3);
	ck_assert_int_eq(triad_engine_adopt(engine, fabric, S, rows), 0);
}

static void tear_down(void)
{
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
}

static void count_in(enum triad_pma_attribute attribute, uint32_t row,
	enum triad_counter counter, uint64_t raw, uint64_t now)
{
	struct triad_pma_reading reading = {.has = 1u << counter};

	reading.raw[counter] = raw;
	triad_engine_update(engine, row, attribute, &reading, now);
}

static void count_to(
	uint32_t row, enum triad_counter counter, uint64_t raw, uint64_t now)
{
	count_in(TRIAD_PMA_PORT_COUNTERS, row, counter, raw, now);
}

static struct triad_engine_row read_row(uint32_t row)
{
	struct triad_engine_row copy;

	ck_assert(triad_engine_read(engine, row, &copy));
	return copy;
}

START_TEST(test_first_reading_total_is_raw)
{
	struct triad_engine_row row;

	count_to(rows[5], TRIAD_SYMBOL_ERROR_COUNTER, 17, 2 * S);
	row = read_row(rows[5]);
	ck_assert_uint_eq(row.total[TRIAD_SYMBOL_ERROR_COUNTER], 17);
	ck_assert_uint_eq(row.change[TRIAD_SYMBOL_ERROR_COUNTER], 0);
	ck_assert_uint_eq(row.has, 1u << TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_SYMBOL_ERROR_COUNTER)));
}
END_TEST

/* Row: M9, M16 */
START_TEST(test_second_reading_change_and_rate)
{
	struct triad_engine_row row;

	count_to(rows[5], TRIAD_PORT_XMIT_DATA, 1000, 2 * S);
	count_to(rows[5], TRIAD_PORT_XMIT_DATA, 6000, 4 * S);
	row = read_row(rows[5]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA], 6000);
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_DATA], 5000);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA) == 2500);
	ck_assert_uint_eq(row.read_us, 4 * S);
}
END_TEST

START_TEST(test_counter_at_maximum_marked)
{
	count_to(rows[3], TRIAD_LINK_DOWNED_COUNTER, 254, 2 * S);
	ck_assert_uint_eq(read_row(rows[3]).saturated, 0);
	count_to(rows[3], TRIAD_LINK_DOWNED_COUNTER, 255, 3 * S);
	ck_assert_uint_eq(read_row(rows[3]).saturated, 1u << TRIAD_LINK_DOWNED_COUNTER);
}
END_TEST

/* Row: S7 */
START_TEST(test_reset_by_others_total_goes_on)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 100, 2 * S);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 7, 4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 107);
	ck_assert_uint_eq(row.change[TRIAD_PORT_RCV_ERRORS], 7);
	ck_assert_uint_eq(row.others.last_us / S, 4);
	ck_assert_uint_eq(row.others.n, 1);
}
END_TEST

/* The counter has 64 bits, then 32 bits at their maximum, then 64 bits again. */
START_TEST(test_counter_in_other_attribute_no_change)
{
	const enum triad_counter counter = TRIAD_PORT_XMIT_DATA;
	struct triad_engine_row row;

	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], counter, 1ULL << 40, 2 * S);
	count_in(TRIAD_PMA_PORT_COUNTERS, rows[1], counter, UINT32_MAX, 4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[counter], 1ULL << 40);
	ck_assert_uint_eq(row.change[counter], 0);
	ck_assert_uint_eq(row.others.n, 0);
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], counter, 1ULL << 41, 6 * S);
	ck_assert_uint_eq(read_row(rows[1]).total[counter], 1ULL << 40);
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], counter, (1ULL << 41) + 5,
		8 * S);
	ck_assert_uint_eq(read_row(rows[1]).total[counter], (1ULL << 40) + 5);
}
END_TEST

/* The 32-bit PortXmitData of this agent wraps; PortXmitPkts doesn't. */
START_TEST(test_wrap_at_32_bits_counted)
{
	struct triad_pma_reading reading = {
		.has = 1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_XMIT_PKTS};
	struct triad_engine_row row;

	reading.raw[TRIAD_PORT_XMIT_DATA] = UINT64_C(0xf0000000);
	reading.raw[TRIAD_PORT_XMIT_PKTS] = 1000;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &reading, 2 * S);
	reading.raw[TRIAD_PORT_XMIT_DATA] = 0x100;
	reading.raw[TRIAD_PORT_XMIT_PKTS] = 2000;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &reading, 4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_DATA], 0x10000100);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA], UINT64_C(0x100000100));
	ck_assert_uint_eq(row.others.n, 0);
}
END_TEST

START_TEST(test_reset_of_all_counters_no_wrap)
{
	struct triad_pma_reading reading = {
		.has = 1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_XMIT_PKTS};
	struct triad_engine_row row;

	reading.raw[TRIAD_PORT_XMIT_DATA] = UINT64_C(0xf0000000);
	reading.raw[TRIAD_PORT_XMIT_PKTS] = 1000;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &reading, 2 * S);
	reading.raw[TRIAD_PORT_XMIT_DATA] = 0x100;
	reading.raw[TRIAD_PORT_XMIT_PKTS] = 3;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &reading, 4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_DATA], 0x100);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_PKTS], 1003);
	ck_assert_uint_eq(row.others.n, 1);
}
END_TEST

START_TEST(test_saturated_counter_change_is_what_is_known)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 10, 2 * S);
	count_to(rows[1], TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 15, 3 * S);
	count_to(rows[1], TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, 15, 4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.change[TRIAD_LOCAL_LINK_INTEGRITY_ERRORS], 0);
	ck_assert_uint_eq(row.total[TRIAD_LOCAL_LINK_INTEGRITY_ERRORS], 15);
	ck_assert_uint_eq(row.saturated, 1u << TRIAD_LOCAL_LINK_INTEGRITY_ERRORS);
}
END_TEST

/* Judges a reading of 'words' in PortXmitData at second 's'.  The link carries 100
 * words a microsecond.  Returns whether the reading was marked implausible; counts it
 * if the engine believes it. */
static bool is_implausible(uint64_t words, uint64_t s)
{
	struct triad_pma_reading reading = {.has = 1u << TRIAD_PORT_XMIT_DATA};
	bool is_believed;
	uint32_t impossible;

	reading.raw[TRIAD_PORT_XMIT_DATA] = words;
	impossible = triad_engine_mark_implausible(engine, rows[0],
		TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 100, s * S, &is_believed);
	if (is_believed)
		triad_engine_update(engine, rows[0], TRIAD_PMA_PORT_COUNTERS_EXTENDED,
			&reading, s * S);
	return impossible;
}

static uint64_t total_of_data(void)
{
	return read_row(rows[0]).total[TRIAD_PORT_XMIT_DATA];
}

START_TEST(test_more_than_the_link_can_carry_left_out)
{
	struct triad_engine_row row;

	/* Any first value is plausible. */
	ck_assert(!is_implausible(UINT64_C(1) << 60, 10));
	ck_assert(!is_implausible((UINT64_C(1) << 60) + 1000, 20));
	/* A glitch: the next reading has the right value again. */
	ck_assert(is_implausible(UINT64_MAX - 5, 30));
	ck_assert_uint_eq(total_of_data(), (UINT64_C(1) << 60) + 1000);
	ck_assert(!is_implausible((UINT64_C(1) << 60) + 3000, 40));
	ck_assert_uint_eq(total_of_data(), (UINT64_C(1) << 60) + 3000);
	row = read_row(rows[0]);
	ck_assert_double_eq(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA), 100);
	/* The value went back, but not by a reset: the link can't have carried so much
	 * since. */
	ck_assert(is_implausible((UINT64_C(1) << 60) - 7, 50));
	ck_assert_uint_eq(total_of_data(), (UINT64_C(1) << 60) + 3000);
}
END_TEST

START_TEST(test_counter_that_jumped_and_stays_goes_on_from_there)
{
	const uint64_t there = UINT64_C(1) << 63;

	is_implausible(500, 10);
	ck_assert(is_implausible(there, 20));
	ck_assert(is_implausible(there + 100, 30));
	ck_assert(is_implausible(there + 200, 40));
	ck_assert_uint_eq(total_of_data(), 500);
	ck_assert(!is_implausible(there + 300, 50));
	ck_assert_uint_eq(total_of_data(), 600);
	/* A low value is plausible: the counter was reset. */
	ck_assert(!is_implausible(1, 60));
	ck_assert_uint_eq(total_of_data(), 601);
}
END_TEST

START_TEST(test_fast_link_for_its_time_is_believed)
{
	ck_assert(!is_implausible(0, 10));
	/* The maximum for 10 s, then for an hour, is plausible.  So is 8 times the
	 * maximum: the link may have been faster before.  72 times isn't. */
	ck_assert(!is_implausible(UINT64_C(1000000000), 20));
	ck_assert(!is_implausible(UINT64_C(361000000000), 3620));
	ck_assert(!is_implausible(UINT64_C(361000000000) + UINT64_C(8000000000), 3630));
	ck_assert(is_implausible(UINT64_C(361000000000) + UINT64_C(80000000000), 3640));
}
END_TEST

START_TEST(test_clock_goes_back_no_rate)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 1, 9 * S);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 5, 3 * S);
	row = read_row(rows[1]);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS)));
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 5);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 7, 5 * S);
	row = read_row(rows[1]);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS) == 1);
}
END_TEST

START_TEST(test_confirmed_port_rate_zero)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 1, 2 * S);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 5, 4 * S);
	triad_engine_confirm(engine, rows[1], true, 9 * S);
	row = read_row(rows[1]);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS) == 0);
	ck_assert_uint_eq(row.interval_us[TRIAD_READ_ERRORS], 5 * S);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 5);
	ck_assert_uint_eq(row.read_us, 9 * S);
}
END_TEST

START_TEST(test_counter_that_stays_at_its_maximum_has_no_rate)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 65533, 2 * S);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 65535, 4 * S);
	row = read_row(rows[1]);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS) == 1);
	ck_assert(triad_engine_rate_is_least(&row, TRIAD_PORT_RCV_ERRORS));
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 65535, 6 * S);
	row = read_row(rows[1]);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS)));
	ck_assert(!triad_engine_rate_is_least(&row, TRIAD_PORT_RCV_ERRORS));
}
END_TEST

START_TEST(test_forgotten_wait_is_unknown_until_it_is_read)
{
	const uint32_t wait = 1u << TRIAD_PORT_XMIT_WAIT;
	struct triad_engine_report report;
	struct triad_engine_row row;
	uint64_t total;

	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, 5, 2 * S);
	triad_engine_confirm(engine, rows[1], true, 4 * S);
	triad_engine_confirm(engine, rows[1], false, 6 * S);
	row = read_row(rows[1]);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 0);
	triad_engine_forget_wait(engine, rows[1]);
	triad_engine_mark(engine, rows[1], true);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.has, 0);
	ck_assert_uint_eq(row.forgotten, wait);
	ck_assert(row.answered && isnan(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT)));
	ck_assert(!triad_engine_total(engine, rows[1], row.node_guid, row.port,
		TRIAD_PORT_XMIT_WAIT, &total));
	/* Another process that reads it tells that it is not known. */
	ck_assert(triad_engine_describe(engine, rows[1], &report));
	ck_assert_uint_eq(report.has, 0);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, 45, 8 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.has, wait);
	ck_assert_uint_eq(row.forgotten, 0);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT], 45);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 10);
	triad_engine_take(engine, rows[1],
		&(struct triad_engine_report){
			.read_us = 9 * S, .has = 1u << TRIAD_VL15_DROPPED});
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.forgotten, wait);
	report = (struct triad_engine_report){.read_us = 18 * S, .has = wait};
	report.raw[TRIAD_PORT_XMIT_WAIT] = 65;
	triad_engine_take(engine, rows[1], &report);
	row = read_row(rows[1]);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 2);
}
END_TEST

START_TEST(test_wait_of_64_bits_goes_on_from_that_of_32)
{
	const uint64_t much = UINT64_C(1) << 40;
	struct triad_engine_report report;
	struct triad_engine_changes changes;
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 2 * S);
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], TRIAD_PORT_XMIT_WAIT, much,
		4 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT], UINT32_MAX);
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_WAIT], 0);
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], TRIAD_PORT_XMIT_WAIT,
		3 * much, 6 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT], UINT32_MAX + 2 * much);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == (double)much);
	/* No value of it is a maximum. */
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], TRIAD_PORT_XMIT_WAIT, 0,
		8 * S);
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], TRIAD_PORT_XMIT_WAIT,
		UINT32_MAX, 10 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 0);
	ck_assert_uint_eq(row.others.n, 1);
	ck_assert(triad_engine_changes(engine, rows[1], 10 * S, &changes));
	ck_assert_uint_eq(changes.full, 0);
	/* Reports have 32 bits for its raw value. */
	count_in(TRIAD_PMA_PORT_COUNTERS_EXTENDED, rows[1], TRIAD_PORT_XMIT_WAIT, much,
		12 * S);
	row = read_row(rows[1]);
	ck_assert(triad_engine_describe(engine, rows[1], &report));
	ck_assert(report.has_wide_errors);
	ck_assert_uint_le(report.raw[TRIAD_PORT_XMIT_WAIT], UINT32_MAX);
	ck_assert_uint_eq(
		report.base[TRIAD_PORT_XMIT_WAIT] + report.raw[TRIAD_PORT_XMIT_WAIT],
		row.total[TRIAD_PORT_XMIT_WAIT]);
}
END_TEST

/* A reading of all that PortCountersExtended has, errors of 64 bits among them. */
static struct triad_pma_reading wide_reading(uint64_t errors, uint64_t data)
{
	struct triad_pma_reading reading = {.has = (1u << TRIAD_N_COUNTERS) - 1};

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		reading.raw[i] = i < TRIAD_FIRST_WIDE_COUNTER ? errors : data;
	return reading;
}

static void count_wide(uint32_t row, uint64_t errors, uint64_t data, uint64_t now)
{
	struct triad_pma_reading reading = wide_reading(errors, data);

	triad_engine_update(
		engine, row, TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, now);
}

static void assert_errors(uint32_t at, uint64_t total, uint64_t change, double rate)
{
	struct triad_engine_row row = read_row(at);

	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		ck_assert_uint_eq(row.total[i], total);
		ck_assert_uint_eq(row.change[i], change);
		ck_assert_int_eq(isnan(triad_engine_rate(&row, i)), isnan(rate));
		if (!isnan(rate))
			ck_assert_double_eq_tol(
				triad_engine_rate(&row, i), rate, 1e-9 + rate * 1e-12);
	}
	ck_assert_uint_eq(row.saturated, 0);
}

/* No value is a maximum: not those of PortCounters, nor those of how a row keeps them. */
START_TEST(test_errors_of_64_bits_are_exact)
{
	static const uint64_t values[] = {14, 15, 16, 254, 255, 256, 65534, 65535,
		65536, 70000, 131071, 200000, UINT32_MAX, UINT64_C(1) << 40,
		UINT64_C(1) << 63};
	const unsigned n = sizeof(values) / sizeof(values[0]);
	struct triad_engine_changes changes;
	uint64_t total;

	count_wide(rows[1], 3, 100, 2 * S);
	assert_errors(rows[1], 3, 0, NAN);
	for (unsigned i = 0; i < n; i++) {
		uint64_t change = values[i] - (i ? values[i - 1] : 3);

		count_wide(rows[1], values[i], 100, (2 + i + 1) * 2 * S);
		assert_errors(rows[1], values[i], change,
			i ? (double)change / 2 : (double)change / 4);
		ck_assert(triad_engine_changes(
			engine, rows[1], (2 + i + 1) * 2 * S, &changes));
		ck_assert_uint_eq(
			changes.changed & TRIAD_NARROW_COUNTERS, TRIAD_NARROW_COUNTERS);
		ck_assert_uint_eq(changes.change[TRIAD_QP1_DROPPED], change);
		ck_assert_uint_eq(changes.full, 0);
		ck_assert(
			triad_engine_total(engine, rows[1], read_row(rows[1]).node_guid,
				read_row(rows[1]).port, TRIAD_VL15_DROPPED, &total));
		ck_assert_uint_eq(total, values[i]);
	}
	/* And small again. */
	count_wide(rows[1], values[n - 1], 100, 100 * S);
	assert_errors(rows[1], values[n - 1], 0, 0);
	count_wide(rows[1], 6, 100, 102 * S);
	assert_errors(rows[1], values[n - 1] + 6, 6, 3);
	ck_assert_uint_eq(read_row(rows[1]).others.n, 1);
	count_wide(rows[1], 70006, 100, 104 * S);
	assert_errors(rows[1], values[n - 1] + 70006, 70000, 35000);
	/* Totals set to 0, and our own reset. */
	triad_engine_zero(engine, rows[1], 105 * S);
	assert_errors(rows[1], 0, 70000, 35000);
	triad_engine_reset(engine, rows[1],
		&(struct triad_pma_reading){.has = TRIAD_NARROW_COUNTERS}, 106 * S);
	count_wide(rows[1], 80000, 100, 108 * S);
	assert_errors(rows[1], 80000, 80000, 20000);
	ck_assert_uint_eq(read_row(rows[1]).own.n, 1);
}
END_TEST

/* Rows that were given away begin anew. */
START_TEST(test_errors_of_64_bits_are_not_inherited_with_the_row)
{
	struct triad_fabric *none = fabric_row(1, 0), *again = fabric_row(2, 3);

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		count_wide(rows[i], 1, 1, 2 * S);
		count_wide(rows[i], 500000, 1, 4 * S);
	}
	ck_assert_int_eq(triad_engine_adopt(engine, none, 5 * S, rows), 0);
	ck_assert_int_eq(
		triad_engine_adopt(engine, none, 6 * S + TRIAD_ENGINE_KEEP_S * S, rows),
		0);
	ck_assert_int_eq(triad_engine_adopt(
				 engine, again, 7 * S + TRIAD_ENGINE_KEEP_S * S, rows),
		0);
	assert_errors(rows[again->n_ports - 1], 0, 0, NAN);
	count_wide(rows[again->n_ports - 1], 65535, 1, TRIAD_ENGINE_KEEP_S * S + 9 * S);
	assert_errors(rows[again->n_ports - 1], 65535, 0, NAN);
	triad_fabric_unref(none);
	triad_fabric_unref(again);
}
END_TEST

/* An agent that gives errors in the other attribute: what was counted in between is not
 * known, and nothing grows that never was. */
START_TEST(test_errors_that_change_over_go_on_without_growth)
{
	struct triad_pma_reading narrow = {.has = TRIAD_NARROW_COUNTERS};
	struct triad_engine_row row;

	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		narrow.raw[i] = triad_counter_max(i);
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &narrow, 2 * S);
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &narrow, 4 * S);
	ck_assert_uint_eq(read_row(rows[1]).saturated, TRIAD_NARROW_COUNTERS);
	count_wide(rows[1], 900000, 100, 6 * S);
	count_wide(rows[1], 900000, 300, 6 * S + S / 2);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 0);
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		ck_assert_uint_eq(row.total[i], triad_counter_max(i));
		ck_assert_uint_eq(row.change[i], 0);
	}
	count_wide(rows[1], 1000000, 1000, 7 * S);
	row = read_row(rows[1]);
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		ck_assert_uint_eq(row.total[i], triad_counter_max(i) + 100000);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS) == 200000);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA) == 1400);
	/* And back: no rate of errors in between, but one of data, which stay. */
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		narrow.raw[i] = 5;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &narrow, 8 * S);
	row = read_row(rows[1]);
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		ck_assert_uint_eq(row.total[i], triad_counter_max(i) + 100000);
		ck_assert_uint_eq(row.change[i], 0);
		ck_assert(isnan(triad_engine_rate(&row, i)));
	}
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA) == 1400);
	ck_assert_uint_eq(row.others.n, 0);
	narrow.raw[TRIAD_PORT_RCV_ERRORS] = 9;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &narrow, 10 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 65535 + 100004);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_RCV_ERRORS) == 2);
}
END_TEST

/* Another process's row of such a port has exact totals and changes, and is not at a
 * maximum, though its values are PortCounters' at most. */
START_TEST(test_errors_of_64_bits_told_to_another_engine)
{
	struct triad_engine_report report;

	count_wide(rows[1], 40, 0, 2 * S);
	for (unsigned i = 0; i < 3; i++) {
		count_wide(rows[1], 40 + i * 100000, 0, (4 + 2 * i) * S);
		ck_assert(triad_engine_describe(engine, rows[1], &report));
		for (unsigned c = 0; c < TRIAD_FIRST_WIDE_COUNTER; c++)
			ck_assert_uint_le(report.raw[c], triad_counter_max(c));
		triad_engine_take(engine, rows[2], &report);
		assert_errors(
			rows[2], 40 + i * 100000, i ? 100000 : 0, i ? 50000 : NAN);
	}
	/* Told on. */
	ck_assert(triad_engine_describe(engine, rows[2], &report));
	ck_assert(report.has_wide_errors);
	/* One of PortCounters that stands there is. */
	report = (struct triad_engine_report){
		.read_us = 20 * S, .has = 1u << TRIAD_LINK_DOWNED_COUNTER};
	report.raw[TRIAD_LINK_DOWNED_COUNTER] = 255;
	triad_engine_take(engine, rows[2], &report);
	ck_assert_uint_eq(read_row(rows[2]).saturated, 1u << TRIAD_LINK_DOWNED_COUNTER);
}
END_TEST

/* More errors than symbols fit through the link. */
START_TEST(test_more_errors_than_the_link_has_symbols_left_out)
{
	struct triad_pma_reading reading = wide_reading(UINT64_C(1) << 62, 0);
	bool is_believed;

	count_wide(rows[0], 100000, 0, 10 * S);
	ck_assert_uint_eq(triad_engine_mark_implausible(engine, rows[0],
				  TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 100,
				  20 * S, &is_believed),
		TRIAD_NARROW_COUNTERS & ~(1u << TRIAD_PORT_XMIT_WAIT));
	ck_assert(!is_believed);
	assert_errors(rows[0], 100000, 0, NAN);
	for (unsigned i = 0; i < 2; i++)
		triad_engine_mark_implausible(engine, rows[0],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 100,
			(30 + i * 10) * S, &is_believed);
	ck_assert(is_believed);
	reading.has &= ~(1u << TRIAD_PORT_XMIT_WAIT);
	triad_engine_update(
		engine, rows[0], TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 40 * S);
	ck_assert_uint_eq(read_row(rows[0]).total[TRIAD_VL15_DROPPED], 100000);
	ck_assert_uint_eq(read_row(rows[0]).change[TRIAD_VL15_DROPPED], 0);
}
END_TEST

START_TEST(test_wait_at_its_maximum_is_a_lower_bound)
{
	struct triad_pma_reading after = {.has = 1u << TRIAD_PORT_XMIT_WAIT};
	struct triad_pma_reading next = {
		.has = 1u << TRIAD_PORT_XMIT_WAIT | 1u << TRIAD_VL15_DROPPED};
	struct triad_engine_changes changes;
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, 5, 2 * S);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 4 * S);
	/* Also after our reset, until it is read again. */
	triad_engine_reset(engine, rows[1], &after, 4 * S);
	triad_engine_mark(engine, rows[1], true);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 1u << TRIAD_PORT_XMIT_WAIT);
	ck_assert(
		triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == (UINT32_MAX - 5) / 2.);
	ck_assert(triad_engine_changes(engine, rows[1], 4 * S, &changes));
	ck_assert_uint_eq(changes.full, 1u << TRIAD_PORT_XMIT_WAIT);
	next.raw[TRIAD_PORT_XMIT_WAIT] = 10;
	triad_engine_update(engine, rows[1], TRIAD_PMA_PORT_COUNTERS, &next, 6 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 0);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 5);
	/* Read again a moment after our reset: the higher rate stays. */
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 8 * S);
	triad_engine_reset(engine, rows[1], &after, 8 * S);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, 100, 10 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 1u << TRIAD_PORT_XMIT_WAIT);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) ==
		(UINT64_C(0xffffffff) - 10 + 100) / 4.);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 1000 * S);
	triad_engine_reset(engine, rows[1], &after, 1000 * S);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, 2000000000, 1001 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.saturated, 0);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 2000000000);
	triad_engine_reset(engine, rows[1], &after, 1001 * S);
	/* At its maximum since the reading before, it says nothing. */
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 1002 * S);
	count_to(rows[1], TRIAD_PORT_XMIT_WAIT, UINT32_MAX, 1003 * S);
	row = read_row(rows[1]);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT)));
	ck_assert(triad_engine_changes(engine, rows[1], 1003 * S, &changes));
	ck_assert_uint_eq(changes.fresh & 1u << TRIAD_PORT_XMIT_WAIT, 0);
}
END_TEST

START_TEST(test_own_reset_distinguished_total_goes_on)
{
	struct triad_pma_reading after = {.has = 1u << TRIAD_PORT_RCV_ERRORS};
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 60000, 2 * S);
	triad_engine_expect_reset(engine, rows[1], after.has);
	after.raw[TRIAD_PORT_RCV_ERRORS] = 2; /* counted since the reset */
	triad_engine_reset(engine, rows[1], &after, 3 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 60002);
	ck_assert_uint_eq(row.own.n, 1);
	ck_assert_uint_eq(row.own.last_us / S, 3);
	/* The counter passed its value before the reset: only the answer to the Set
	 * shows that it was reset. */
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 61000, 9 * S);
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 121000);
	ck_assert_uint_eq(row.others.n, 0);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 10, 10 * S);
	ck_assert_uint_eq(read_row(rows[1]).others.n, 1);
}
END_TEST

static void check_reset(
	uint64_t n, unsigned counter, uint64_t value, uint64_t at_us, bool is_own)
{
	struct triad_reset reset;

	ck_assert(triad_reset_log_get(triad_engine_resets(engine), n, &reset));
	ck_assert_uint_eq(reset.node_guid, read_row(rows[0]).node_guid);
	ck_assert_uint_eq(reset.port, read_row(rows[0]).port);
	ck_assert_uint_eq(reset.counter, counter);
	ck_assert_uint_eq(reset.value, value);
	ck_assert_uint_eq(reset.at_us, at_us);
	ck_assert_int_eq(reset.is_own, is_own);
}

/* Row: A4 */
START_TEST(test_each_reset_kept_with_counter_value_and_time)
{
	struct triad_pma_reading reading = {.has = 1u << TRIAD_SYMBOL_ERROR_COUNTER};
	struct triad_reset reset;

	count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 100, 10 * S);
	count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 40, 20 * S);
	count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 50, 30 * S);
	triad_engine_expect_reset(engine, rows[0], 1u << TRIAD_SYMBOL_ERROR_COUNTER);
	triad_engine_reset(engine, rows[0], &reading, 31 * S);
	count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 7, 40 * S);
	count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 3, 50 * S);
	ck_assert_uint_eq(triad_reset_log_count(triad_engine_resets(engine)), 3);
	check_reset(0, TRIAD_SYMBOL_ERROR_COUNTER, 100, 20 * S, false);
	check_reset(1, TRIAD_SYMBOL_ERROR_COUNTER, 50, 31 * S, true);
	check_reset(2, TRIAD_SYMBOL_ERROR_COUNTER, 7, 50 * S, false);
	ck_assert(!triad_reset_log_get(triad_engine_resets(engine), 3, &reset));
	for (unsigned i = 0; i < TRIAD_RESET_LOG_SIZE; i++) {
		count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 9, 60 * S);
		count_to(rows[0], TRIAD_SYMBOL_ERROR_COUNTER, 0, 70 * S);
	}
	ck_assert(!triad_reset_log_get(triad_engine_resets(engine), 2, &reset));
	check_reset(3, TRIAD_SYMBOL_ERROR_COUNTER, 9, 70 * S, false);
}
END_TEST

START_TEST(test_own_reset_not_done_nothing_counted_twice)
{
	struct triad_pma_reading after = {.has = 1u << TRIAD_PORT_RCV_ERRORS};

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 60000, 2 * S);
	triad_engine_expect_reset(engine, rows[1], after.has);
	after.raw[TRIAD_PORT_RCV_ERRORS] = 60000;
	triad_engine_reset(engine, rows[1], &after, 3 * S);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 60001, 4 * S);
	ck_assert_uint_eq(read_row(rows[1]).total[TRIAD_PORT_RCV_ERRORS], 60001);
}
END_TEST

START_TEST(test_zeroed_total_counts_from_there)
{
	struct triad_engine_row row;

	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 100, 2 * S);
	triad_engine_zero(engine, rows[1], 3 * S);
	ck_assert_uint_eq(read_row(rows[1]).total[TRIAD_PORT_RCV_ERRORS], 0);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 130, 4 * S);
	ck_assert_uint_eq(read_row(rows[1]).total[TRIAD_PORT_RCV_ERRORS], 30);
	count_to(rows[1], TRIAD_PORT_RCV_ERRORS, 5, 5 * S); /* another tool reset it */
	row = read_row(rows[1]);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 35);
	ck_assert_uint_eq(row.zeroed_us / S, 3);
}
END_TEST

START_TEST(test_mark_unanswered_counters_stay)
{
	count_to(rows[2], TRIAD_PORT_RCV_ERRORS, 5, 2 * S);
	triad_engine_mark(engine, rows[2], true);
	ck_assert(read_row(rows[2]).answered);
	triad_engine_mark(engine, rows[2], false);
	ck_assert(!read_row(rows[2]).answered);
	ck_assert_uint_eq(read_row(rows[2]).total[TRIAD_PORT_RCV_ERRORS], 5);
}
END_TEST

START_TEST(test_adopt_port_away_and_back_keeps_row)
{
	struct triad_fabric *small = fabric_row(1, 3), *again = fabric_row(2, 3);
	uint32_t node = triad_fabric_find_node(fabric, 0x201);
	uint32_t port = triad_fabric_find_port(fabric, node, 2);
	uint32_t fewer[4096], after[4096];

	count_to(rows[port], TRIAD_PORT_RCV_ERRORS, 5, 2 * S);
	ck_assert_int_eq(triad_engine_adopt(engine, small, 3 * S, fewer), 0);
	ck_assert_int_eq(triad_engine_adopt(engine, again, 4 * S, after), 0);
	ck_assert_uint_eq(after[port], rows[port]);
	ck_assert_uint_eq(read_row(after[port]).total[TRIAD_PORT_RCV_ERRORS], 5);
	triad_fabric_unref(small);
	triad_fabric_unref(again);
}
END_TEST

START_TEST(test_adopt_port_away_for_long_starts_anew)
{
	struct triad_fabric *small = fabric_row(1, 3), *again = fabric_row(2, 3);
	uint32_t node = triad_fabric_find_node(fabric, 0x201);
	uint32_t port = triad_fabric_find_port(fabric, node, 2);
	uint32_t others[4096];

	count_to(rows[port], TRIAD_PORT_RCV_ERRORS, 5, 2 * S);
	ck_assert_int_eq(triad_engine_adopt(engine, small, 3 * S, others), 0);
	ck_assert_int_eq(triad_engine_adopt(engine, small,
				 4 * S + TRIAD_ENGINE_KEEP_S * S, others),
		0);
	ck_assert_int_eq(triad_engine_adopt(engine, again,
				 5 * S + TRIAD_ENGINE_KEEP_S * S, others),
		0);
	ck_assert_uint_eq(read_row(others[port]).has, 0);
	ck_assert_uint_eq(read_row(others[port]).node_guid, 0x201);
	triad_fabric_unref(small);
	triad_fabric_unref(again);
}
END_TEST

/* Ports come and go at random.  No two ports may share a row, and memory must stay
 * within bounds. */
START_TEST(test_adopt_random_fabrics_rows_distinct)
{
	unsigned seed = (unsigned)time(NULL);

	printf("# seed %u\n", seed);
	srand(seed);
	for (unsigned round = 0; round < 300; round++) {
		struct triad_fabric *other =
			fabric_row(1 + (unsigned)rand() % 8, (unsigned)rand() % 20);
		static bool used[8192];

		memset(used, 0, sizeof(used));
		ck_assert_int_eq(triad_engine_adopt(engine, other, round * S, rows), 0);
		for (uint32_t i = 0; i < other->n_ports; i++) {
			struct triad_engine_row row = read_row(rows[i]);
			const struct triad_fabric_port *port = &other->ports[i];

			ck_assert_uint_lt(rows[i], 8192);
			ck_assert(!used[rows[i]]);
			used[rows[i]] = true;
			ck_assert_uint_eq(row.node_guid, other->nodes[port->node].guid);
			ck_assert_uint_eq(row.port, port->number);
		}
		triad_fabric_unref(other);
	}
	ck_assert_uint_lt(triad_engine_octets(engine), 4000000);
}
END_TEST

static atomic_bool writing;

/* A reader goes on until it saw enough changes, or for at most 5 s: if it shares a
 * processor with the writer, it sees only one change per time slice. */
static bool must_go_on(unsigned n_changes, unsigned enough, uint64_t begin_us)
{
	return !n_changes ||
		(n_changes < enough && triad_clock_now_us() < begin_us + 5 * S);
}

/* Readers must never see half of an update: the writer increments all counters
 * alike. */
static void *write_rows(void *argument)
{
	for (uint64_t n = 1; atomic_load(&writing); n++) {
		struct triad_pma_reading reading = {
			.has = (1u << TRIAD_N_COUNTERS) - 1};

		/* Errors are small and large in turn. */
		for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
			reading.raw[i] = n * 7 % 0x20000;
		triad_engine_update(
			engine, rows[0], TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, n);
	}
	return NULL;
}

START_TEST(test_read_while_written_whole)
{
	struct triad_engine_row row;
	pthread_t writer;
	unsigned n_changes = 0;
	uint64_t last = 0, begin_us = triad_clock_now_us();

	atomic_store(&writing, true);
	pthread_create(&writer, NULL, write_rows, NULL);
	while (must_go_on(n_changes, 2000, begin_us)) {
		ck_assert(triad_engine_read(engine, rows[0], &row));
		for (unsigned i = 1; i < TRIAD_N_COUNTERS; i++)
			ck_assert_uint_eq(row.total[i], row.total[0]);
		ck_assert_uint_ge(row.total[0], last);
		n_changes += row.total[0] != last;
		last = row.total[0];
	}
	atomic_store(&writing, false);
	pthread_join(writer, NULL);
}
END_TEST

/* Every second update is a reset, which changes the base and the last value
 * together. */
static void *reset_rows(void *argument)
{
	for (uint64_t n = 1; atomic_load(&writing); n++) {
		struct triad_pma_reading reading = {
			.has = 1, .raw = {n % 2 ? 30000 : 1}};

		triad_engine_update(
			engine, rows[0], TRIAD_PMA_PORT_COUNTERS, &reading, n);
	}
	return NULL;
}

/* Row: S7 */
START_TEST(test_total_while_written_never_goes_back)
{
	pthread_t writer;
	unsigned n_changes = 0;
	uint64_t last = 0, total, begin_us = triad_clock_now_us();
	struct triad_engine_row row;

	ck_assert(triad_engine_read(engine, rows[0], &row));
	atomic_store(&writing, true);
	pthread_create(&writer, NULL, reset_rows, NULL);
	while (must_go_on(n_changes, 200000, begin_us)) {
		if (!triad_engine_total(engine, rows[0], row.node_guid, row.port,
			    TRIAD_SYMBOL_ERROR_COUNTER, &total))
			continue;
		ck_assert_uint_ge(total, last);
		n_changes += total != last;
		last = total;
	}
	atomic_store(&writing, false);
	pthread_join(writer, NULL);
}
END_TEST

START_TEST(test_total_of_another_port_or_counter_none)
{
	struct triad_pma_reading reading = {.has = 1, .raw = {7}};
	struct triad_engine_row row;
	uint64_t total;

	triad_engine_update(engine, rows[0], TRIAD_PMA_PORT_COUNTERS, &reading, 1);
	ck_assert(triad_engine_read(engine, rows[0], &row));
	ck_assert(triad_engine_total(
		engine, rows[0], row.node_guid, row.port, 0, &total));
	ck_assert_uint_eq(total, 7);
	ck_assert(!triad_engine_total(
		engine, rows[0], row.node_guid + 1, row.port, 0, &total));
	ck_assert(!triad_engine_total(
		engine, rows[0], row.node_guid, row.port + 1, 0, &total));
	ck_assert(!triad_engine_total(
		engine, rows[0], row.node_guid, row.port, 1, &total));
	ck_assert(!triad_engine_total(engine, UINT32_MAX, 1, 1, 0, &total));
}
END_TEST

START_TEST(test_read_row_never_given_none)
{
	struct triad_engine_row row;

	ck_assert(!triad_engine_read(engine, 100000, &row));
	ck_assert(!triad_engine_read(engine, UINT32_MAX, &row));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("engine");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_first_reading_total_is_raw);
	tcase_add_test(cases, test_second_reading_change_and_rate);
	tcase_add_test(cases, test_counter_at_maximum_marked);
	tcase_add_test(cases, test_reset_by_others_total_goes_on);
	tcase_add_test(cases, test_counter_in_other_attribute_no_change);
	tcase_add_test(cases, test_wrap_at_32_bits_counted);
	tcase_add_test(cases, test_reset_of_all_counters_no_wrap);
	tcase_add_test(cases, test_saturated_counter_change_is_what_is_known);
	tcase_add_test(cases, test_more_than_the_link_can_carry_left_out);
	tcase_add_test(cases, test_counter_that_jumped_and_stays_goes_on_from_there);
	tcase_add_test(cases, test_fast_link_for_its_time_is_believed);
	tcase_add_test(cases, test_clock_goes_back_no_rate);
	tcase_add_test(cases, test_confirmed_port_rate_zero);
	tcase_add_test(cases, test_own_reset_distinguished_total_goes_on);
	tcase_add_test(cases, test_each_reset_kept_with_counter_value_and_time);
	tcase_add_test(cases, test_own_reset_not_done_nothing_counted_twice);
	tcase_add_test(cases, test_zeroed_total_counts_from_there);
	tcase_add_test(cases, test_mark_unanswered_counters_stay);
	tcase_add_test(cases, test_adopt_port_away_and_back_keeps_row);
	tcase_add_test(cases, test_adopt_port_away_for_long_starts_anew);
	tcase_add_test(cases, test_adopt_random_fabrics_rows_distinct);
	tcase_add_test(cases, test_counter_that_stays_at_its_maximum_has_no_rate);
	tcase_add_test(cases, test_forgotten_wait_is_unknown_until_it_is_read);
	tcase_add_test(cases, test_wait_of_64_bits_goes_on_from_that_of_32);
	tcase_add_test(cases, test_errors_of_64_bits_are_exact);
	tcase_add_test(cases, test_errors_of_64_bits_are_not_inherited_with_the_row);
	tcase_add_test(cases, test_errors_that_change_over_go_on_without_growth);
	tcase_add_test(cases, test_errors_of_64_bits_told_to_another_engine);
	tcase_add_test(cases, test_more_errors_than_the_link_has_symbols_left_out);
	tcase_add_test(cases, test_wait_at_its_maximum_is_a_lower_bound);
	tcase_add_test(cases, test_read_while_written_whole);
	tcase_add_test(cases, test_total_while_written_never_goes_back);
	tcase_add_test(cases, test_total_of_another_port_or_counter_none);
	tcase_add_test(cases, test_read_row_never_given_none);
	return run_cases(cases);
}
