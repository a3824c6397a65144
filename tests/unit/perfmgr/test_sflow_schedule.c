/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/sflow_schedule.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "perfmgr/formats/sflow.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)
#define INTERVAL (20 * S)
#define BEGIN (1000 * S)
#define MAX_NODES 300

static struct triad_sflow_schedule *schedule;
static struct triad_engine_row row;

static void set_up(void)
{
	schedule = triad_sflow_schedule_new(TRIAD_SFLOW_MAX_INDEX, INTERVAL);
	row = (struct triad_engine_row){.has = (1u << TRIAD_N_COUNTERS) - 1};
}

static void tear_down(void)
{
	triad_sflow_schedule_free(schedule);
}

/* 'n' ports on nodes with the GUIDs from 'first' on, 'each' on a node. */
static struct triad_fabric *make_fabric(uint64_t first, uint32_t n, uint32_t each)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric;

	for (uint32_t i = 0; i < n; i++) {
		struct triad_fabric_node node = {.guid = first + i / each};
		struct triad_fabric_port port = {
			.number = (uint8_t)(1 + i % each), .has_pma = true};

		if (i % each == 0)
			triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	return fabric;
}

static int adopt(uint64_t first, uint32_t n, uint64_t now_us)
{
	struct triad_fabric *fabric = make_fabric(first, n, n > 10000 ? 200 : 1);
	int error = triad_sflow_schedule_adopt(schedule, fabric, now_us);

	triad_fabric_unref(fabric);
	return error;
}

/* Takes all ports that are due; returns their number, and the first in '*first'. */
static uint32_t take(uint64_t now_us, uint32_t *first)
{
	uint32_t n = 0, port;

	if (first)
		*first = UINT32_MAX;
	while (triad_sflow_schedule_next(schedule, now_us, &port)) {
		if (!n && first)
			*first = port;
		n++;
	}
	return n;
}

static uint32_t index_of(uint32_t port)
{
	uint32_t index;

	triad_sflow_schedule_count(schedule, port, &row, &index);
	return index;
}

static uint32_t sequence_of(uint32_t port)
{
	uint32_t index;

	return triad_sflow_schedule_count(schedule, port, &row, &index);
}

/* --- pace --- */

START_TEST(test_ports_come_at_even_distances)
{
	uint32_t first;

	ck_assert(triad_sflow_schedule_next_us(schedule) == UINT64_MAX);
	ck_assert_uint_eq(take(BEGIN, NULL), 0);
	ck_assert_int_eq(adopt(1, 200, BEGIN), 0);
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 200; i++) {
			uint64_t due_us = BEGIN + round * INTERVAL + i * 100 * MS;

			ck_assert_uint_eq(
				triad_sflow_schedule_next_us(schedule), due_us);
			ck_assert_uint_eq(take(due_us - 1, NULL), 0);
			ck_assert_uint_eq(take(due_us, &first), 1);
			ck_assert_uint_eq(first, i);
		}
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_rounds, 2);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).round_us, INTERVAL);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).worst_jitter_us, 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).slipped_us, 0);
}
END_TEST

START_TEST(test_late_by_little_keeps_the_round)
{
	uint64_t now_us = BEGIN, n = 0;

	ck_assert_int_eq(adopt(1, 20000, BEGIN), 0);
	/* A port is due each millisecond; the test looks each 70 ms. */
	for (; now_us < BEGIN + 10 * INTERVAL; now_us += 70 * MS) {
		uint32_t taken = take(now_us, NULL);

		ck_assert_uint_le(taken, 71);
		n += taken;
	}
	ck_assert_uint_ge(n, 10 * 20000 - 70);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).slipped_us, 0);
	ck_assert_uint_le(
		triad_sflow_schedule_status(schedule).worst_jitter_us, 70 * MS);
}
END_TEST

START_TEST(test_pause_makes_no_burst_and_leaves_no_port_out)
{
	uint32_t first;

	ck_assert_int_eq(adopt(1, 2000, BEGIN), 0);
	ck_assert_uint_eq(take(BEGIN + 95 * MS, &first), 10);
	/* After a minute without a look, more than three rounds are late. */
	ck_assert_uint_eq(take(BEGIN + 60 * S, &first), 11);
	ck_assert_uint_eq(first, 10);
	ck_assert_uint_eq(take(BEGIN + 60 * S + 10 * MS, &first), 1);
	ck_assert_uint_eq(first, 21);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).slipped_us,
		60 * S - 100 * MS - TRIAD_SFLOW_CATCH_UP_US);
}
END_TEST

START_TEST(test_round_with_a_known_pause_is_not_measured)
{
	ck_assert_int_eq(adopt(1, 10, BEGIN), 0);
	take(BEGIN, NULL);
	triad_sflow_schedule_pause(schedule);
	for (unsigned i = 0; i < 100; i++)
		take(BEGIN + 500 * S + i * S, NULL);
	ck_assert_uint_ge(triad_sflow_schedule_status(schedule).n_rounds, 4);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).worst_jitter_us, 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).round_us, INTERVAL);
}
END_TEST

START_TEST(test_interval_changed_goes_on_at_its_port)
{
	uint32_t first;

	ck_assert_int_eq(adopt(1, 200, BEGIN), 0);
	for (unsigned i = 0; i < 50; i++)
		ck_assert_uint_eq(take(BEGIN + i * 100 * MS, NULL), 1);
	triad_sflow_schedule_set_interval(schedule, 2 * S, BEGIN + 4901 * MS);
	ck_assert_uint_eq(take(BEGIN + 5 * S, &first), 1);
	ck_assert_uint_eq(first, 50);
	ck_assert_uint_eq(take(BEGIN + 5 * S + 10 * MS, &first), 1);
	/* With a shorter interval no port waits as long as before. */
	triad_sflow_schedule_set_interval(schedule, 1000 * S, BEGIN + 5 * S);
	take(BEGIN + 5 * S + 20 * MS, NULL);
	triad_sflow_schedule_set_interval(schedule, S, BEGIN + 5 * S + 20 * MS);
	ck_assert_uint_eq(
		triad_sflow_schedule_next_us(schedule), BEGIN + 5 * S + 20 * MS);
}
END_TEST

/* Row: M1 */
START_TEST(test_million_ports_cost_24_octets_each)
{
	uint64_t now_us = BEGIN, most = 0, n = 0;

	ck_assert_int_eq(adopt(1, 1000000, BEGIN), 0);
	triad_sflow_schedule_set_interval(schedule, 30 * S, BEGIN);
	for (; now_us < BEGIN + 30 * S; now_us += 10 * MS) {
		uint32_t taken = take(now_us, NULL);

		n += taken;
		most = taken > most ? taken : most;
	}
	ck_assert_uint_ge(n, 999600);
	ck_assert_uint_le(most, 334);
	ck_assert_uint_lt(triad_sflow_schedule_status(schedule).octets, 1000000 * 25);
}
END_TEST

/* --- fabrics that change --- */

START_TEST(test_ports_added_and_gone_do_not_move_the_rest)
{
	uint32_t first;

	/* GUIDs 100 to 299; 50 ports have been sampled. */
	ck_assert_int_eq(adopt(100, 200, BEGIN), 0);
	for (unsigned i = 0; i < 50; i++)
		take(BEGIN + i * 100 * MS, NULL);
	/* GUIDs 90 to 289: the next is 150, the 60th of them. */
	ck_assert_int_eq(adopt(90, 200, BEGIN + 4950 * MS), 0);
	ck_assert_uint_eq(triad_sflow_schedule_next_us(schedule), BEGIN + 5 * S);
	ck_assert_uint_eq(take(BEGIN + 5 * S, &first), 1);
	ck_assert_uint_eq(first, 60);
	/* All ports that were still due are gone: the round ends. */
	ck_assert_int_eq(adopt(90, 30, BEGIN + 5 * S), 0);
	ck_assert_uint_eq(take(BEGIN + 5 * S + 200 * MS, &first), 1);
	ck_assert_uint_eq(first, 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_rounds, 1);
	ck_assert_int_eq(adopt(90, 0, BEGIN + 6 * S), 0);
	ck_assert_uint_eq(take(BEGIN + 60 * S, NULL), 0);
	ck_assert_int_eq(adopt(90, 1, BEGIN + 70 * S), 0);
	ck_assert_uint_eq(take(BEGIN + 70 * S, NULL), 1);
}
END_TEST

START_TEST(test_port_keeps_index_and_sequence_while_away)
{
	ck_assert_int_eq(adopt(100, 10, BEGIN), 0);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(index_of(i), i + 1);
	/* GUIDs 103 to 112: three ports are gone, three are new. */
	ck_assert_int_eq(adopt(103, 10, BEGIN + S), 0);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(index_of(i), i + 4);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_absent, 3);
	ck_assert_uint_eq(sequence_of(0), 3);
	ck_assert_uint_eq(sequence_of(9), 2);
	/* Ports that return get their old indices. */
	ck_assert_int_eq(adopt(99, 14, BEGIN + 2 * S), 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_absent, 0);
	ck_assert_uint_eq(index_of(0), 14);
	ck_assert_uint_eq(index_of(1), 1);
	ck_assert_uint_eq(sequence_of(1), 3);
	ck_assert_uint_eq(index_of(4), 4);
	ck_assert_uint_eq(sequence_of(13), 3);
}
END_TEST

START_TEST(test_port_away_for_days_gets_another_index)
{
	const uint64_t day_us = TRIAD_ENGINE_KEEP_S * S;

	ck_assert_int_eq(adopt(1, 10, BEGIN), 0);
	ck_assert_int_eq(adopt(2, 10, BEGIN), 0);
	ck_assert_int_eq(adopt(2, 9, BEGIN + day_us), 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_absent, 2);
	ck_assert_int_eq(adopt(2, 10, BEGIN + day_us + 2 * S), 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_absent, 0);
	ck_assert_int_eq(adopt(1, 10, BEGIN + day_us + 3 * S), 0);
	ck_assert_uint_eq(index_of(0), 12);
	ck_assert_uint_eq(index_of(9), 10);
	/* If nearly all ports are absent, the schedule keeps none of them. */
	ck_assert_int_eq(adopt(1, 10000, BEGIN), 0);
	ck_assert_int_eq(adopt(1, 1, BEGIN), 0);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_absent, 0);
}
END_TEST

START_TEST(test_index_is_given_again_when_all_were_used)
{
	uint64_t now_us = BEGIN;
	const uint64_t day_us = TRIAD_ENGINE_KEEP_S * S + 2 * S;

	triad_sflow_schedule_free(schedule);
	schedule = triad_sflow_schedule_new(20, INTERVAL);
	ck_assert_int_eq(adopt(1, 10, now_us), 0); /* 1 to 10 */
	ck_assert_int_eq(adopt(6, 10, now_us), 0); /* 11 to 15; 1 to 5 away */
	/* The last five free indices; then none is left, as absent ports keep
	 * theirs. */
	ck_assert_int_eq(adopt(6, 15, now_us), 0);
	ck_assert_uint_eq(index_of(14), 20);
	ck_assert_int_eq(adopt(6, 16, now_us), EOVERFLOW);
	ck_assert_uint_eq(triad_sflow_schedule_status(schedule).n_ports, 15);
	ck_assert_uint_eq(index_of(14), 20);
	/* After a day of absence the indices 1 to 5 are free. */
	now_us += day_us;
	ck_assert_int_eq(adopt(6, 14, now_us), 0);
	now_us += day_us;
	ck_assert_int_eq(adopt(6, 14, now_us), 0);
	ck_assert_int_eq(adopt(6, 19, now_us), 0);
	ck_assert_uint_eq(index_of(13), 19);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(index_of(14 + i), i + 1);
}
END_TEST

START_TEST(test_indices_never_meet)
{
	unsigned seed = (unsigned)time(NULL), state = seed;
	uint64_t now_us = BEGIN;

	triad_sflow_schedule_free(schedule);
	schedule = triad_sflow_schedule_new(2 * MAX_NODES, INTERVAL);
	for (unsigned turn = 0; turn < 2000; turn++) {
		uint8_t given[2 * MAX_NODES + 1] = {0};
		uint32_t first = 1 + (uint32_t)rand_r(&state) % 1000;
		uint32_t n = (uint32_t)rand_r(&state) % MAX_NODES;
		int error = adopt(first, n, now_us);

		ck_assert_msg(!error || error == EOVERFLOW, "seed %u", seed);
		n = triad_sflow_schedule_status(schedule).n_ports;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t index = index_of(i);

			if (!index || index > 2 * MAX_NODES || given[index]++)
				ck_abort_msg("seed %u: turn %u, index %u", seed, turn,
					index);
		}
		now_us += (uint64_t)(rand_r(&state) % 4) * 8 * 3600 * S;
	}
}
END_TEST

START_TEST(test_index_past_24_bits_makes_all_expanded)
{
	struct triad_fabric *large = make_fabric(1 << 20, 1 << 20, 200);

	/* A million absent ports are too many to keep: when they return, they get
	 * other indices. */
	for (unsigned i = 0; i < 16; i++) {
		ck_assert_int_eq(adopt(1, 1, BEGIN), 0);
		ck_assert(!triad_sflow_schedule_is_expanded(schedule));
		ck_assert_int_eq(triad_sflow_schedule_adopt(schedule, large, BEGIN), 0);
	}
	ck_assert(triad_sflow_schedule_is_expanded(schedule));
	triad_fabric_unref(large);
}
END_TEST

/* --- sequence numbers --- */

START_TEST(test_sequence_goes_on_while_counters_do)
{
	ck_assert_int_eq(adopt(1, 2, BEGIN), 0);
	for (uint32_t i = 1; i < 100; i++) {
		row.total[TRIAD_PORT_XMIT_WAIT] += (UINT64_C(1) << 40) + (5u << 29);
		row.total[TRIAD_PORT_RCV_DATA] += UINT64_C(1) << 50;
		row.total[TRIAD_SYMBOL_ERROR_COUNTER] += 1u << 30;
		ck_assert_uint_eq(sequence_of(0), i);
	}
	ck_assert_uint_eq(sequence_of(1), 1);
}
END_TEST

START_TEST(test_sequence_begins_again_with_the_counters)
{
	ck_assert_int_eq(adopt(1, 1, BEGIN), 0);
	row.total[TRIAD_VL15_DROPPED] = 7;
	row.total[TRIAD_PORT_XMIT_DATA] = 1000;
	ck_assert_uint_eq(sequence_of(0), 1);
	ck_assert_uint_eq(sequence_of(0), 2);
	/* The total was zeroed and has passed its former value. */
	row.zeroed_us = 5 * S;
	row.total[TRIAD_PORT_XMIT_DATA] = 2000;
	ck_assert_uint_eq(sequence_of(0), 1);
	ck_assert_uint_eq(sequence_of(0), 2);
	/* The engine had released the row and used it again. */
	row.total[TRIAD_PORT_XMIT_DATA] = 1999;
	ck_assert_uint_eq(sequence_of(0), 1);
	row.total[TRIAD_PORT_XMIT_DATA] = 1u << 20;
	row.total[TRIAD_VL15_DROPPED] = 6;
	ck_assert_uint_eq(sequence_of(0), 1);
	/* The port now has other counters. */
	row.has &= ~(1u << TRIAD_QP1_DROPPED);
	ck_assert_uint_eq(sequence_of(0), 1);
	ck_assert_uint_eq(sequence_of(0), 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sflow_schedule");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_ports_come_at_even_distances);
	tcase_add_test(cases, test_late_by_little_keeps_the_round);
	tcase_add_test(cases, test_pause_makes_no_burst_and_leaves_no_port_out);
	tcase_add_test(cases, test_round_with_a_known_pause_is_not_measured);
	tcase_add_test(cases, test_interval_changed_goes_on_at_its_port);
	tcase_add_test(cases, test_million_ports_cost_24_octets_each);
	tcase_add_test(cases, test_ports_added_and_gone_do_not_move_the_rest);
	tcase_add_test(cases, test_port_keeps_index_and_sequence_while_away);
	tcase_add_test(cases, test_port_away_for_days_gets_another_index);
	tcase_add_test(cases, test_index_is_given_again_when_all_were_used);
	tcase_add_test(cases, test_indices_never_meet);
	tcase_add_test(cases, test_index_past_24_bits_makes_all_expanded);
	tcase_add_test(cases, test_sequence_goes_on_while_counters_do);
	tcase_add_test(cases, test_sequence_begins_again_with_the_counters);
	return run_cases(cases);
}
