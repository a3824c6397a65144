/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Resets of hardware counters and of totals, and topologies that change in mid-sweep,
 * against simulated agents. */
#include "perfmgr/collector.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/perfmgr/fixture.h"

static void let_reset(bool near_full)
{
	params.sweep.reset_near_full = near_full;
	triad_collector_set_params(collector, &params);
}

static uint64_t *raw(uint32_t port, unsigned counter)
{
	return &agents->raw[port][counter];
}

/* --- near full --- */

/* Row: M16, A4 */
START_TEST(test_near_full_counter_reset_total_goes_on)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	let_reset(true);
	*raw(port, TRIAD_LINK_DOWNED_COUNTER) = 190;
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 1000;
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 0);
	*raw(port, TRIAD_LINK_DOWNED_COUNTER) = 200;
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 1);
	/* Triad reset that counter and no other. */
	ck_assert_uint_eq(*raw(port, TRIAD_LINK_DOWNED_COUNTER), 0);
	ck_assert_uint_eq(*raw(port, TRIAD_PORT_RCV_ERRORS), 1000);
	*raw(port, TRIAD_LINK_DOWNED_COUNTER) += 3;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_LINK_DOWNED_COUNTER], 203);
	ck_assert_uint_eq(row.change[TRIAD_LINK_DOWNED_COUNTER], 3);
	ck_assert_uint_eq(row.own.n, 1);
	ck_assert_uint_gt(row.own.last_us, 0);
	ck_assert_uint_eq(row.others.n, 0);
}
END_TEST

START_TEST(test_near_full_never_left_alone)
{
	uint32_t port = find_port(0x201, 5);

	let_reset(false);
	*raw(port, TRIAD_LINK_DOWNED_COUNTER) = 255;
	sweep(3);
	ck_assert_uint_eq(agents->n_sets, 0);
	ck_assert_uint_eq(read_port(port).saturated, 1u << TRIAD_LINK_DOWNED_COUNTER);
}
END_TEST

/* The agent did the reset, but its answer is lost.  Triad counts nothing twice, and
 * counts the reset as its own. */
START_TEST(test_near_full_answer_lost_total_right)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	let_reset(true);
	agents->lose_set_answers = true;
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 60000;
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 1); /* not sent again */
	ck_assert_uint_eq(triad_collector_status(collector).counts.resets_failed, 1);
	ck_assert(read_port(port).answered);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 40;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_RCV_ERRORS], 60040);
	ck_assert_uint_eq(row.own.n, 1);
	ck_assert_uint_eq(row.others.n, 0);
}
END_TEST

/* Row: A4 */
START_TEST(test_near_full_data_of_agent_without_extended)
{
	uint32_t port = find_port(0x201, 5);
	const uint64_t high = UINT64_C(0xf0000000);

	let_reset(true);
	agents->capabilities = 0x1100;
	*raw(port, TRIAD_PORT_XMIT_DATA) = high;
	sweep(1);
	ck_assert_uint_eq(*raw(port, TRIAD_PORT_XMIT_DATA), 0);
	*raw(port, TRIAD_PORT_XMIT_DATA) = high;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_DATA], 2 * high);
}
END_TEST

/* Counters fill up again and again, and MADs are lost.  Only errors between a reading
 * and the reset could be lost; here there are none. */
/* Row: A4 */
START_TEST(test_near_full_random_totals_right)
{
	uint64_t counted[TRIAD_N_COUNTERS] = {0};
	uint32_t port = find_port(0x201, 5);

	printf("# seed %u\n", seed);
	srand(seed);
	let_reset(true);
	params.sweep.mode = TRIAD_SWEEP_TRIAD;
	params.sweep.retries = 8;
	triad_collector_set_params(collector, &params);
	agents->lost_percent = 10;
	agents->twice_percent = 10;
	for (unsigned round = 0; round < 200; round++) {
		unsigned c = (unsigned)rand() % TRIAD_PORT_XMIT_WAIT;
		uint64_t more = (uint64_t)rand() % (triad_counter_max(c) / 4 + 1);

		if (c == TRIAD_QP1_DROPPED ||
			*raw(port, c) + more > triad_counter_max(c))
			continue;
		*raw(port, c) += more;
		counted[c] += more;
		sweep(1);
		ck_assert_msg(read_port(port).total[c] == counted[c],
			"seed %u round %u: %s", seed, round, triad_counters[c].name);
	}
	ck_assert_uint_gt(read_port(port).own.n, 0);
	ck_assert_uint_eq(read_port(port).others.n, 0);
}
END_TEST

/* --- on demand --- */

START_TEST(test_reset_totals_zero_hardware_untouched)
{
	uint32_t port = find_port(0x201, 5), other = find_port(0x201, 6);
	struct triad_engine_row row;

	set_all_counters(5);
	sweep(1);
	reset_port(port, false);
	row = read_port(port);
	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
		ck_assert_uint_eq(row.total[c], 0);
	ck_assert_uint_gt(row.zeroed_us, 0);
	ck_assert_uint_eq(read_port(other).total[TRIAD_PORT_XMIT_DATA],
		agents->raw[other][TRIAD_PORT_XMIT_DATA]);
	agents->raw[port][TRIAD_PORT_XMIT_DATA] += 9;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_DATA], 9);
	ck_assert_uint_eq(agents->n_sets, 0);
}
END_TEST

START_TEST(test_reset_hardware_all_counters_at_once)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	params.sweep.mode = TRIAD_SWEEP_TRIAD;
	triad_collector_set_params(collector, &params);
	set_all_counters(5);
	sweep(1);
	reset_port(port, true);
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 2); /* one for each attribute */
	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
		if (c != TRIAD_QP1_DROPPED)
			ck_assert_uint_eq(agents->raw[port][c], 0);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA], 0);
	agents->raw[port][TRIAD_PORT_XMIT_DATA] = 9;
	sweep(1);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA], 9);
	ck_assert_uint_gt(row.own.n, 0);
	ck_assert_uint_eq(row.others.n, 0);
	ck_assert_uint_eq(agents->n_sets, 2);
}
END_TEST

START_TEST(test_reset_hardware_of_silent_port_ends)
{
	uint32_t port = find_port(0x201, 5);
	unsigned sent;

	agents->silent_lid = 2;
	sweep(6);
	reset_port(port, true);
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 0);
	/* Triad resets once, not in each sweep. */
	sent = agents->n_sent;
	sweep(1);
	ck_assert_uint_eq(agents->n_sent - sent, 2 * (n_ports_with_pma() - 12));
}
END_TEST

/* --- the fabric changes in mid-sweep --- */

/* Runs until some but not all ports have been read. */
static void sweep_half(void)
{
	struct triad_collector_status status;

	agents->latency_us = MS;
	agents->jitter_us = MS;
	agents->now_us += 10 * S;
	do {
		agents->now_us += triad_collector_step(collector);
		status = triad_collector_status(collector);
	} while (!status.sweeping || status.progress.n_answered < 20);
	ck_assert(status.sweeping);
}

START_TEST(test_nodes_vanish_in_mid_sweep_it_goes_on)
{
	struct triad_collector_status status;

	set_all_counters(5);
	sweep(1);
	sweep_half();
	change_fabric(fabric_row(2, 10));
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	ck_assert_uint_eq(status.counts.timeouts, 0);
	check_totals();
}
END_TEST

START_TEST(test_nodes_appear_in_mid_sweep_read_in_it)
{
	struct triad_collector_status status;

	set_all_counters(5);
	sweep(1);
	sweep_half();
	change_fabric(fabric_row(6, 10));
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, 6 * 12 + 60);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	check_totals();
}
END_TEST

START_TEST(test_node_changes_port_count_in_mid_sweep)
{
	struct triad_collector_status status;

	set_all_counters(5);
	sweep(1);
	sweep_half();
	change_fabric(fabric_row(4, 14));
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	check_totals();
	change_fabric(fabric_row(4, 6));
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	check_totals();
}
END_TEST

/* Answers to queries of old LIDs come when those LIDs belong to other ports. */
START_TEST(test_lids_change_in_mid_sweep_totals_right)
{
	struct triad_collector_status status;

	set_all_counters(5);
	sweep(1);
	sweep_half();
	change_fabric(fabric_row_moved(4, 10, 1));
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	ck_assert_uint_gt(status.counts.late, 0);
	check_totals();
}
END_TEST

START_TEST(test_node_away_and_back_with_other_lid_totals_go_on)
{
	uint64_t guid = 0x10000 + 3 * 256 + 2;
	uint32_t port = find_port(guid, 1);

	*raw(port, TRIAD_PORT_RCV_ERRORS) = 100;
	sweep(1);
	sweep_half();
	change_fabric(fabric_row(3, 10));
	sweep(2);
	change_fabric(fabric_row_moved(4, 10, 50));
	port = find_port(guid, 1);
	*raw(port, TRIAD_PORT_RCV_ERRORS) = 4; /* the device was rebooted */
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_RCV_ERRORS], 104);
	ck_assert(read_port(port).answered);
}
END_TEST

START_TEST(test_random_fabrics_in_mid_sweep_every_port_read)
{
	printf("# seed %u\n", seed);
	srand(seed);
	params.sweep.mode = TRIAD_SWEEP_TRIAD;
	params.sweep.retries = 8;
	triad_collector_set_params(collector, &params);
	agents->lost_percent = 5;
	agents->twice_percent = 5;
	agents->latency_us = MS;
	for (unsigned round = 0; round < 100; round++) {
		struct triad_collector_status status;
		unsigned turns = (unsigned)rand() % 40;

		agents->now_us += 10 * S;
		for (unsigned i = 0; i < turns; i++)
			triad_collector_step(collector);
		change_fabric(fabric_row_moved(1 + (unsigned)rand() % 6,
			1 + (unsigned)rand() % 12, (unsigned)rand() % 4));
		status = sweep(1);
		ck_assert_msg(status.last.n_ports == n_ports_with_pma() &&
				!status.last.n_unanswered,
			"seed %u round %u: %u of %u ports unanswered", seed, round,
			status.last.n_unanswered, status.last.n_ports);
		set_all_counters(round * 3);
		sweep(1);
		for (uint32_t i = 0; i < fabric->n_ports; i++)
			ck_assert(!fabric->ports[i].has_pma || read_port(i).answered);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("resets");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_near_full_counter_reset_total_goes_on);
	tcase_add_test(cases, test_near_full_never_left_alone);
	tcase_add_test(cases, test_near_full_answer_lost_total_right);
	tcase_add_test(cases, test_near_full_data_of_agent_without_extended);
	tcase_add_test(cases, test_near_full_random_totals_right);
	tcase_add_test(cases, test_reset_totals_zero_hardware_untouched);
	tcase_add_test(cases, test_reset_hardware_all_counters_at_once);
	tcase_add_test(cases, test_reset_hardware_of_silent_port_ends);
	tcase_add_test(cases, test_nodes_vanish_in_mid_sweep_it_goes_on);
	tcase_add_test(cases, test_nodes_appear_in_mid_sweep_read_in_it);
	tcase_add_test(cases, test_node_changes_port_count_in_mid_sweep);
	tcase_add_test(cases, test_lids_change_in_mid_sweep_totals_right);
	tcase_add_test(cases, test_node_away_and_back_with_other_lid_totals_go_on);
	tcase_add_test(cases, test_random_fabrics_in_mid_sweep_every_port_read);
	return run_cases(cases);
}
