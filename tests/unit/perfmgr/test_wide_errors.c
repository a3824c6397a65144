/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sweeps of agents whose PortCountersExtended has errors of 64 bits, against simulated
 * ones, whose PortCounters stop at their maximum. */
#include "perfmgr/collector.h"

#include <stdio.h>
#include <string.h>

#include "perfmgr/sweep/plan.h"
#include "tests/unit/perfmgr/fixture.h"

/* 4 switches with 12 ports each, 40 hosts. */
#define N_SWITCHES 4
#define N_AGENTS 44
#define N_PORTS (4 * 12 + 40)

static void set_up_wide(void)
{
	set_up();
	agents->has_wide_errors = true;
	params.sweep.reset_near_full = true;
	set_mode(TRIAD_SWEEP_TRIAD);
}

/* Sweeps once; returns the number of MADs sent. */
static unsigned mads_of_sweep(void)
{
	unsigned before = agents->n_sent;

	sweep(1);
	return agents->n_sent - before;
}

static uint64_t disbelieved(void)
{
	return triad_collector_status(collector).counts.disbelieved;
}

static uint64_t *raw(uint32_t port, unsigned counter)
{
	return &agents->raw[port][counter];
}

static void assert_total(uint32_t port, unsigned counter, uint64_t total)
{
	struct triad_engine_row row = read_port(port);

	ck_assert_uint_eq(row.total[counter], total);
	ck_assert_uint_eq(row.saturated & 1u << counter, 0);
}

/* _i: the mode.  The first sweep compares each port with its PortCounters; then one MAD
 * a port has everything, and in the mode of errors one MAD a switch. */
START_TEST(test_one_mad_has_everything)
{
	const unsigned quiet = _i == TRIAD_SWEEP_ERRORS ? N_SWITCHES + 40 : N_PORTS;
	uint32_t port = find_port(0x201, 5);

	set_mode((enum triad_sweep_mode)_i);
	*raw(port, TRIAD_SYMBOL_ERROR_COUNTER) = 70000;
	*raw(port, TRIAD_LINK_DOWNED_COUNTER) = 300;
	ck_assert_uint_eq(mads_of_sweep(),
		N_AGENTS + 2 * N_PORTS + (_i == TRIAD_SWEEP_ERRORS ? N_SWITCHES : 0));
	assert_total(port, TRIAD_SYMBOL_ERROR_COUNTER, 70000);
	ck_assert_uint_eq(mads_of_sweep(), quiet);
	agents->n_narrow = 0;
	/* Its PortCounters stand at their maximum: the wide ones alone move. */
	for (unsigned i = 1; i <= 5; i++) {
		*raw(port, TRIAD_SYMBOL_ERROR_COUNTER) += 3;
		*raw(port, TRIAD_LINK_DOWNED_COUNTER) += 1;
		ck_assert_uint_eq(
			mads_of_sweep(), quiet + (_i == TRIAD_SWEEP_ERRORS ? 12 : 0));
		assert_total(port, TRIAD_SYMBOL_ERROR_COUNTER, 70000 + 3 * i);
		assert_total(port, TRIAD_LINK_DOWNED_COUNTER, 300 + i);
		ck_assert_uint_eq(
			read_port(port).change[TRIAD_SYMBOL_ERROR_COUNTER], 3);
	}
	/* The last one's sums are known now. */
	ck_assert_uint_eq(mads_of_sweep(), quiet);
	ck_assert_uint_eq(agents->n_narrow, 0);
	ck_assert_uint_eq(disbelieved(), 0);
	/* None is near a maximum. */
	ck_assert_uint_eq(agents->n_sets, 0);
	if (_i != TRIAD_SWEEP_ERRORS)
		ck_assert_uint_eq(agents->n_summaries, 0);
}
END_TEST

/* Now and then PortCounters are read beside, of few ports in one sweep. */
START_TEST(test_each_port_is_compared_now_and_then)
{
	unsigned most = 0;

	sweep(1);
	for (unsigned i = 0; i < 4 * TRIAD_WIDE_BELIEVED; i++) {
		unsigned before = agents->n_narrow;

		sweep(1);
		before = agents->n_narrow - before;
		most = before > most ? before : most;
	}
	/* The first reading was one, too. */
	ck_assert_uint_ge(agents->n_narrow, 3 * N_PORTS);
	ck_assert_uint_le(agents->n_narrow, 5 * N_PORTS);
	ck_assert_uint_le(most, 8);
}
END_TEST

/* --- sums --- */

/* Sums of another agent are unchanged for ever: what they have of data shows it. */
START_TEST(test_sums_of_zeros_are_not_believed)
{
	uint32_t port = find_port(0x201, 5);

	agents->has_zero_sums = true;
	set_mode(TRIAD_SWEEP_ERRORS);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		*raw(i, TRIAD_PORT_RCV_DATA) = 1000;
	sweep(2);
	for (unsigned i = 1; i <= 3; i++) {
		*raw(port, TRIAD_PORT_XMIT_DISCARDS) += 100000;
		sweep(1);
		assert_total(port, TRIAD_PORT_XMIT_DISCARDS, i * 100000);
	}
}
END_TEST

START_TEST(test_sum_that_gets_no_answer_ports_read)
{
	uint32_t port = find_port(0x201, 5);

	agents->ignores_wide_sums = true;
	set_mode(TRIAD_SWEEP_ERRORS);
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	for (unsigned i = 1; i <= 3; i++) {
		*raw(port, TRIAD_PORT_XMIT_DISCARDS) += 100000;
		ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
		assert_total(port, TRIAD_PORT_XMIT_DISCARDS, i * 100000);
	}
	/* It is not asked for again. */
	agents->n_summaries = 0;
	ck_assert_uint_eq(mads_of_sweep(), N_PORTS);
	ck_assert_uint_eq(agents->n_summaries, 0);
	/* A switch that is dead is left out. */
	agents->silent_lid = 2;
	ck_assert_uint_eq(sweep(3).last.n_unanswered, 12);
	agents->silent_lid = 0;
	ck_assert_uint_eq(sweep(3).last.n_unanswered, 0);
}
END_TEST

START_TEST(test_dead_switch_asked_for_its_sums_is_left_out)
{
	uint32_t port = find_port(0x201, 5);

	set_mode(TRIAD_SWEEP_ERRORS);
	sweep(2);
	agents->silent_lid = 2;
	ck_assert_uint_eq(sweep(4).last.n_unanswered, 12);
	ck_assert_uint_gt(sweep(2).last.n_left_out, 0);
	agents->silent_lid = 0;
	*raw(port, TRIAD_PORT_XMIT_DISCARDS) += 100000;
	triad_collector_sweep_now(collector);
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	assert_total(port, TRIAD_PORT_XMIT_DISCARDS, 100000);
	sweep(1);
	/* Summed up again. */
	ck_assert_uint_eq(mads_of_sweep(), N_SWITCHES + 40);
}
END_TEST

/* --- agents that promise them and have none --- */

static void assert_narrow(uint32_t port, uint64_t errors)
{
	struct triad_engine_row row = read_port(port);

	ck_assert(row.answered);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], errors);
	ck_assert_uint_eq(
		row.total[TRIAD_PORT_XMIT_DATA], *raw(port, TRIAD_PORT_XMIT_DATA));
}

/* _i: the mode. */
START_TEST(test_promised_and_lacking_narrow_ones_are_read)
{
	uint32_t port = find_port(0x201, 5);
	uint64_t n_disbelieved;

	agents->lacks_wide_errors = true;
	set_mode((enum triad_sweep_mode)_i);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		*raw(i, TRIAD_PORT_RCV_ERRORS) = 5;
		*raw(i, TRIAD_PORT_XMIT_DATA) = 1000 + i;
	}
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	ck_assert_uint_eq(disbelieved(), N_AGENTS);
	/* From the first value on. */
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			assert_narrow(i, 5);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 40000;
	sweep(1);
	assert_narrow(port, 40000);
	/* As those of any such agent they are reset in time. */
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 60000;
	sweep(1);
	ck_assert_uint_eq(*raw(port, TRIAD_PORT_RCV_ERRORS), 0);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 9;
	sweep(1);
	assert_narrow(port, 60009);
	ck_assert_uint_eq(read_port(port).others.n, 0);
	ck_assert_uint_eq(disbelieved(), N_AGENTS);
	/* It was another device, or has other firmware, once it was silent. */
	agents->silent_lid = fabric->ports[port].lid;
	sweep(1);
	agents->silent_lid = 0;
	agents->lacks_wide_errors = false;
	triad_collector_sweep_now(collector);
	sweep(1);
	assert_narrow(port, 60009);
	*raw(port, TRIAD_PORT_RCV_ERRORS) += 1000000;
	sweep(1);
	assert_total(port, TRIAD_PORT_RCV_ERRORS, 1060009);
	/* Compared at once, not in the turn of its ports. */
	n_disbelieved = disbelieved();
	agents->silent_lid = fabric->ports[port].lid;
	sweep(1);
	agents->silent_lid = 0;
	agents->lacks_wide_errors = true;
	triad_collector_sweep_now(collector);
	sweep(1);
	ck_assert_uint_eq(disbelieved(), n_disbelieved + 1);
}
END_TEST

/* The device was exchanged, or got other firmware, between two sweeps.  _i: the mode. */
START_TEST(test_lacking_since_noticed_in_time)
{
	uint32_t port = find_port(0x201, 5), sibling = find_port(0x201, 6);
	unsigned n = 0;

	set_mode((enum triad_sweep_mode)_i);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 100000;
	sweep(3);
	agents->lacks_wide_errors = true;
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 7;
	*raw(sibling, TRIAD_PORT_RCV_ERRORS) = 3;
	for (; !disbelieved(); n++)
		sweep(1);
	ck_assert_uint_le(n, 2 * TRIAD_WIDE_BELIEVED);
	sweep(2);
	/* No growth that never was. */
	assert_narrow(port, 100000);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 11;
	*raw(sibling, TRIAD_PORT_RCV_ERRORS) = 8;
	sweep(1);
	assert_narrow(port, 100004);
	assert_narrow(sibling, 5);
}
END_TEST

/* --- resets --- */

START_TEST(test_resets_by_others_and_by_us)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	*raw(port, TRIAD_PORT_RCV_ERRORS) = 100000;
	*raw(port, TRIAD_VL15_DROPPED) = 70000;
	sweep(1);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 80000;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 180000);
	ck_assert_uint_eq(row.change[TRIAD_PORT_RCV_ERRORS], 80000);
	ck_assert_uint_eq(row.others.n, 1);
	/* On demand, in both attributes. */
	reset_port(port, true);
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 2);
	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
		ck_assert_uint_eq(*raw(port, c), 0);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 90000;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 90000);
	ck_assert_uint_eq(row.total[TRIAD_VL15_DROPPED], 0);
	ck_assert_uint_eq(row.others.n, 1);
	ck_assert_uint_gt(row.own.n, 0);
	/* The answers are lost, the resets done. */
	agents->lose_set_answers = true;
	reset_port(port, true);
	sweep(1);
	agents->lose_set_answers = false;
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 66000;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 66000);
	ck_assert_uint_eq(row.others.n, 1);
}
END_TEST

/* --- random --- */

/* In each mode totals are those counted, however large, whatever is lost, and whoever
 * resets. */
START_TEST(test_random_totals_exact)
{
	static uint64_t counted[N_PORTS * 2][TRIAD_N_COUNTERS];
	static bool was_reset[N_PORTS * 2];
	unsigned n_resets = 0;

	printf("# seed %u\n", seed);
	srand(seed);
	memset(counted, 0, sizeof(counted));
	agents->lost_percent = 5;
	agents->twice_percent = 5;
	params.sweep.retries = 8;
	for (unsigned round = 0; round < 200; round++) {
		set_mode(round % 7 == 3     ? TRIAD_SWEEP_FULL
				: round % 5 ? TRIAD_SWEEP_TRIAD
					    : TRIAD_SWEEP_ERRORS);
		memset(was_reset, 0, sizeof(was_reset));
		for (unsigned n = (unsigned)rand() % 30; n; n--) {
			uint32_t port = (uint32_t)rand() % fabric->n_ports;
			unsigned c = (unsigned)rand() % TRIAD_FIRST_WIDE_COUNTER;
			uint64_t more = (uint64_t)rand() % 3
				? (uint64_t)rand() % 3
				: (uint64_t)rand() % 100000;

			/* Somebody resets what was read, and so much that neither the
			 * port nor a sum passes it again before the next sweep. */
			if (round && rand() % 5 == 0 && more < 3 &&
				agents->raw[port][c] > 1000 &&
				counted[port][c] == read_port(port).total[c]) {
				agents->raw[port][c] = 0;
				was_reset[port] = true;
				n_resets++;
			}
			if (was_reset[port])
				more %= 3;
			agents->raw[port][c] += more;
			counted[port][c] += more;
		}
		sweep(1);
		ck_assert_uint_eq(
			triad_collector_status(collector).last.n_unanswered, 0);
		for (uint32_t i = 0; i < fabric->n_ports; i++)
			for (unsigned c = 0; c < TRIAD_FIRST_WIDE_COUNTER; c++)
				if (fabric->ports[i].has_pma && c != TRIAD_QP1_DROPPED)
					ck_assert_msg(
						read_port(i).total[c] == counted[i][c],
						"seed %u round %u port %u %s", seed,
						round, i, triad_counters[c].name);
	}
	ck_assert_uint_eq(disbelieved(), 0);
	ck_assert_uint_gt(n_resets, 10);
}
END_TEST

/* Agents change over and back, MADs are lost or garbage, nodes come and go: each sweep
 * ends, and reports each port once. */
START_TEST(test_random_faults_sweeps_end)
{
	printf("# seed %u\n", seed);
	srand(seed);
	agents->lost_percent = 10;
	agents->twice_percent = 10;
	agents->garbage_percent = 5;
	agents->jitter_us = 200 * MS;
	agents->latency_us = MS;
	for (unsigned round = 0; round < 150; round++) {
		struct triad_sweep_progress last;

		set_mode((enum triad_sweep_mode)((unsigned)rand() % 3));
		agents->has_wide_errors = rand() % 4;
		agents->lacks_wide_errors = rand() % 3 == 0;
		agents->ignores_wide_sums = rand() % 3 == 0;
		agents->refuses_extended = rand() % 5 == 0;
		agents->silent_lid = (uint16_t)(rand() % 8);
		for (uint32_t p = 0; p < fabric->n_ports; p++)
			agents->raw[p][TRIAD_PORT_RCV_ERRORS] +=
				(uint64_t)rand() % 30000;
		agents->now_us += 10 * S;
		for (unsigned i = (unsigned)rand() % 40; i; i--)
			triad_collector_step(collector);
		if (rand() % 3 == 0)
			change_fabric(fabric_row_moved(1 + (unsigned)rand() % 6,
				1 + (unsigned)rand() % 12, (unsigned)rand() % 4));
		last = sweep(1).last;
		ck_assert_uint_eq(last.n_answered + last.n_unanswered, last.n_ports);
	}
	ck_assert_uint_gt(disbelieved(), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("wide errors");

	tcase_add_checked_fixture(cases, set_up_wide, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, test_one_mad_has_everything, 0, 3);
	tcase_add_test(cases, test_each_port_is_compared_now_and_then);
	tcase_add_test(cases, test_sums_of_zeros_are_not_believed);
	tcase_add_test(cases, test_sum_that_gets_no_answer_ports_read);
	tcase_add_test(cases, test_dead_switch_asked_for_its_sums_is_left_out);
	tcase_add_loop_test(
		cases, test_promised_and_lacking_narrow_ones_are_read, 0, 3);
	tcase_add_loop_test(cases, test_lacking_since_noticed_in_time, 0, 3);
	tcase_add_test(cases, test_resets_by_others_and_by_us);
	tcase_add_test(cases, test_random_totals_exact);
	tcase_add_test(cases, test_random_faults_sweeps_end);
	return run_cases(cases);
}
