/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The queries of a sweep in each mode, the agents that a sweep leaves out, and its
 * window of queries in flight, against simulated agents. */
#include "perfmgr/collector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perfmgr/sweep/sweep_agents.h"
#include "perfmgr/sweep/window.h"
#include "tests/unit/perfmgr/fixture.h"

/* Sweeps once; returns the number of MADs sent. */
static unsigned mads_of_sweep(void)
{
	unsigned before = agents->n_sent;

	sweep(1);
	return agents->n_sent - before;
}

/* --- modes: 4 switches with 12 ports each, 40 hosts --- */

/* Row: X1 */
START_TEST(test_triad_quiet_fabric_one_mad_a_switch_for_errors)
{
	set_all_counters(3);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		for (unsigned c = 0; c < TRIAD_PORT_XMIT_DATA; c++)
			agents->raw[i][c] = 0;
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	/* A switch: the summary and the data counters of 12 ports; a host: both
	 * attributes. */
	ck_assert_uint_eq(mads_of_sweep(), 4 * (1 + 12) + 40 * 2);
	check_totals();
}
END_TEST

START_TEST(test_triad_error_on_one_port_its_switch_read)
{
	uint32_t port = find_port(0x201, 5), sibling = find_port(0x201, 6);

	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] = 7;
	ck_assert_uint_eq(mads_of_sweep(), 4 * (1 + 12) + 40 * 2 + 12);
	ck_assert_uint_eq(read_port(port).total[TRIAD_SYMBOL_ERROR_COUNTER], 7);
	ck_assert_uint_eq(read_port(port).change[TRIAD_SYMBOL_ERROR_COUNTER], 7);
	/* The next sweep doesn't read the errors again; they haven't changed. */
	ck_assert_uint_eq(mads_of_sweep(), 4 * (1 + 12) + 40 * 2);
	ck_assert_uint_eq(read_port(port).change[TRIAD_SYMBOL_ERROR_COUNTER], 0);
	ck_assert_uint_eq(read_port(port).total[TRIAD_SYMBOL_ERROR_COUNTER], 7);
	ck_assert_uint_eq(read_port(sibling).total[TRIAD_SYMBOL_ERROR_COUNTER], 0);
}
END_TEST

START_TEST(test_triad_unchanged_rate_over_last_interval)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] = 5;
	sweep(3);
	row = read_port(port);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 0);
	ck_assert_uint_ge(row.interval_us[TRIAD_READ_ERRORS], 9 * S);
}
END_TEST

/* Row: A15 */
START_TEST(test_triad_congestion_noticed)
{
	uint32_t port = find_port(0x200, 1);

	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] = 123456;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_WAIT], 123456);
}
END_TEST

/* Two ports have errors, and the 4-bit sum is saturated at 15: it shows no further
 * errors. */
START_TEST(test_triad_saturated_sum_ports_read)
{
	uint32_t a = find_port(0x201, 5), b = find_port(0x201, 6);

	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[a][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] = 9;
	agents->raw[b][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] = 9;
	sweep(1);
	agents->raw[b][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] = 10;
	sweep(1);
	ck_assert_uint_eq(read_port(b).total[TRIAD_LOCAL_LINK_INTEGRITY_ERRORS], 10);
}
END_TEST

/* The transport of the next test saturates sums at 255, like ibsim's sum of
 * PortXmitDiscards. */
static int receive_short_sums(
	void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	int error = agents->transport.receive(context, wait_us, reply);
	uint8_t *discards = reply->mad + 64 + 14;

	if (!error && reply->mad[17] == 0x12 && reply->mad[65] == 0xff && discards[0]) {
		discards[0] = 0;
		discards[1] = 255;
	}
	return error;
}

START_TEST(test_triad_sum_that_stops_early_not_believed)
{
	struct triad_mad_transport transport = agents->transport;
	uint32_t port = find_port(0x201, 5);

	transport.receive = receive_short_sums;
	triad_collector_set_transport(collector, &transport);
	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[port][TRIAD_PORT_XMIT_DISCARDS] = 300;
	sweep(1);
	agents->raw[port][TRIAD_PORT_XMIT_DISCARDS] = 400;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_DISCARDS], 400);
}
END_TEST

/* The transport of the next test has sums that are all 0. */
static int receive_zero_sums(
	void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	int error = agents->transport.receive(context, wait_us, reply);

	if (!error && reply->mad[17] == 0x12 && reply->mad[65] == 0xff)
		memset(reply->mad + 66, 0, sizeof(reply->mad) - 66);
	return error;
}

START_TEST(test_triad_sum_without_data_of_ports_with_data_not_believed)
{
	struct triad_mad_transport transport = agents->transport;
	uint32_t port = find_port(0x201, 5);

	transport.receive = receive_zero_sums;
	triad_collector_set_transport(collector, &transport);
	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[port][TRIAD_PORT_XMIT_PKTS] = 1;
	sweep(2);
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] = 3;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_SYMBOL_ERROR_COUNTER], 3);
}
END_TEST

START_TEST(test_triad_reset_by_others_seen)
{
	uint32_t port = find_port(0x201, 5);

	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 9;
	sweep(1);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 2;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_RCV_ERRORS], 11);
	ck_assert_uint_eq(read_port(port).others.n, 1);
}
END_TEST

/* What a reset took from one port, errors added at another: the sum stays, and each port's
 * errors are those that the sum tells, until the ports are read all the same. */
START_TEST(test_triad_equal_sum_is_confirmed_by_the_ports_in_time)
{
	uint32_t reset = find_port(0x201, 5), other = find_port(0x201, 6);
	unsigned n = 0, mads;

	set_mode(TRIAD_SWEEP_TRIAD);
	agents->raw[reset][TRIAD_SYMBOL_ERROR_COUNTER] = 30;
	sweep(2);
	ck_assert_uint_eq(read_port(reset).total[TRIAD_SYMBOL_ERROR_COUNTER], 30);
	ck_assert(read_port(reset).by_sum);
	agents->raw[reset][TRIAD_SYMBOL_ERROR_COUNTER] = 0;
	agents->raw[other][TRIAD_SYMBOL_ERROR_COUNTER] = 30;
	sweep(1);
	ck_assert(read_port(other).by_sum);
	while (read_port(other).by_sum && n++ < 3 * TRIAD_SUMS_BELIEVED)
		mads = mads_of_sweep();
	ck_assert_uint_ge(n, TRIAD_SUMS_BELIEVED - 3);
	ck_assert_uint_le(n, 2 * TRIAD_SUMS_BELIEVED);
	/* Of one switch, not of all in one sweep. */
	ck_assert_uint_eq(mads, 4 * (1 + 12) + 40 * 2 + 12);
	ck_assert_uint_eq(read_port(other).total[TRIAD_SYMBOL_ERROR_COUNTER], 30);
	ck_assert_uint_eq(read_port(reset).total[TRIAD_SYMBOL_ERROR_COUNTER], 30);
	ck_assert_uint_eq(read_port(reset).others.n, 1);
	/* Again and again. */
	agents->raw[other][TRIAD_SYMBOL_ERROR_COUNTER] = 0;
	agents->raw[reset][TRIAD_SYMBOL_ERROR_COUNTER] = 30;
	sweep(TRIAD_SUMS_BELIEVED + 1);
	ck_assert_uint_eq(read_port(reset).total[TRIAD_SYMBOL_ERROR_COUNTER], 60);
}
END_TEST

START_TEST(test_triad_no_summary_ports_read)
{
	agents->capabilities = 0x1200; /* no AllPortSelect */
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	ck_assert_uint_eq(mads_of_sweep(), 2 * n_ports_with_pma());
	ck_assert_uint_eq(agents->n_summaries, 0);
}
END_TEST

START_TEST(test_triad_no_extended_ports_read_once)
{
	agents->capabilities = 0x1100;
	set_all_counters(4);
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	ck_assert_uint_eq(mads_of_sweep(), n_ports_with_pma());
	ck_assert_uint_eq(read_port(find_port(0x201, 5)).total[TRIAD_PORT_XMIT_PKTS],
		agents->raw[find_port(0x201, 5)][TRIAD_PORT_XMIT_PKTS]);
}
END_TEST

/* Row: X1 */
START_TEST(test_errors_quiet_fabric_one_mad_an_agent)
{
	set_mode(TRIAD_SWEEP_ERRORS);
	sweep(1);
	ck_assert_uint_eq(mads_of_sweep(), 4 + 40);
	agents->raw[find_port(0x201, 5)][TRIAD_LINK_DOWNED_COUNTER] = 1;
	ck_assert_uint_eq(mads_of_sweep(), 4 + 40 + 12);
	ck_assert_uint_eq(
		read_port(find_port(0x201, 5)).total[TRIAD_LINK_DOWNED_COUNTER], 1);
}
END_TEST

/* The agent has data counters only in PortCounters, so Triad reads them only with new
 * errors.  Such a reading spans many intervals and gives no rate, nor do sweeps that
 * only confirm the errors. */
START_TEST(test_errors_data_of_no_interval_has_no_rate)
{
	const struct triad_histograms_scope all = {.of = TRIAD_HISTOGRAMS_OF_ALL};
	struct triad_watch *watch = triad_collector_watch(collector);
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;
	struct triad_histogram histogram;
	uint64_t n_zeros;

	agents->capabilities = TRIAD_PMA_ALL_PORT_SELECT;
	set_mode(TRIAD_SWEEP_ERRORS);
	sweep(2);
	triad_watch_clear_histograms(watch);
	for (unsigned i = 0; i < 3; i++) {
		agents->raw[port][TRIAD_PORT_XMIT_DATA] += 1000;
		sweep(3);
		agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
		sweep(1);
	}
	sweep(3);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA], 3000);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA)));
	ck_assert(triad_engine_rate(&row, TRIAD_LINK_DOWNED_COUNTER) == 0);
	ck_assert_int_eq(triad_watch_histogram(watch, &all, TRIAD_PORT_XMIT_DATA,
				 &histogram, &n_zeros),
		0);
	ck_assert_uint_eq(triad_histogram_count(&histogram), 0);
	triad_histogram_clear(&histogram);
	for (unsigned i = 0; i < 2; i++) {
		agents->raw[port][TRIAD_PORT_XMIT_DATA] += 1000;
		agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
		sweep(1);
	}
	row = read_port(port);
	ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA), 100, 5);
}
END_TEST

START_TEST(test_full_everything_read)
{
	set_mode(TRIAD_SWEEP_FULL);
	sweep(1);
	ck_assert_uint_eq(mads_of_sweep(), 2 * n_ports_with_pma());
	ck_assert_uint_eq(agents->n_summaries, 0);
}
END_TEST

/* Errors occur, hardware is reset, MADs are lost.  In each mode the totals are those
 * counted, as far as Triad could read them. */
START_TEST(test_modes_random_totals_right)
{
	static uint64_t counted[4096][TRIAD_N_COUNTERS];

	printf("# seed %u\n", seed);
	srand(seed);
	memset(counted, 0, sizeof(counted));
	agents->lost_percent = 5;
	params.sweep.retries = 8;
	for (unsigned round = 0; round < 60; round++) {
		set_mode(round % 7 == 3     ? TRIAD_SWEEP_FULL
				: round % 5 ? TRIAD_SWEEP_TRIAD
					    : TRIAD_SWEEP_ERRORS);
		for (unsigned n = (unsigned)rand() % 30; n; n--) {
			uint32_t port = (uint32_t)rand() % fabric->n_ports;
			unsigned c = (unsigned)rand() % TRIAD_PORT_XMIT_WAIT;
			uint64_t most = triad_counter_max(c);
			uint64_t more = (uint64_t)rand() % 3;

			if (agents->raw[port][c] + more > most)
				continue;
			agents->raw[port][c] += more;
			counted[port][c] += more;
		}
		sweep(1);
		ck_assert_uint_eq(
			triad_collector_status(collector).last.n_unanswered, 0);
		for (uint32_t i = 0; i < fabric->n_ports; i++)
			for (unsigned c = 0; c < TRIAD_PORT_XMIT_WAIT; c++)
				if (fabric->ports[i].has_pma && c != TRIAD_QP1_DROPPED)
					ck_assert_msg(
						read_port(i).total[c] == counted[i][c],
						"seed %u round %u port %u %s", seed,
						round, i, triad_counters[c].name);
	}
}
END_TEST

/* --- silence --- */

START_TEST(test_silent_agent_asked_more_and_more_seldom)
{
	unsigned sent[24], n_asked = 0;

	sweep(1);
	agents->silent_lid = 2; /* a switch: one agent for all of its ports */
	for (unsigned i = 0; i < 24; i++) {
		unsigned before = agents->n_sent;

		ck_assert_uint_eq(sweep(1).last.n_unanswered, 12);
		sent[i] = agents->n_sent - before;
		n_asked += sent[i] > 2 * (n_ports_with_pma() - 12);
	}
	/* The sweeps 1, 2, 4, 7, 12, 21 query it: 0, 1, 2, 4, 8 in between leave it
	 * out. */
	ck_assert_uint_eq(n_asked, 6);
	agents->silent_lid = 0;
	ck_assert_uint_eq(sweep(TRIAD_N_COUNTERS).last.n_unanswered, 0);
}
END_TEST

START_TEST(test_silent_agent_asked_when_a_sweep_is_requested)
{
	agents->silent_lid = 2;
	sweep(8);
	agents->silent_lid = 0;
	triad_collector_sweep_now(collector);
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	ck_assert_uint_eq(triad_collector_status(collector).last.n_left_out, 0);
}
END_TEST

START_TEST(test_third_of_fabric_silent_others_right)
{
	struct triad_collector_status status;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].lid % 3 == 0)
			agents->silent_lids[fabric->ports[i].lid] = true;
	set_mode(TRIAD_SWEEP_TRIAD);
	set_all_counters(1000);
	status = sweep(11);
	ck_assert_uint_eq(status.n_late, 0);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			ck_assert_int_eq(
				read_port(i).answered, fabric->ports[i].lid % 3 != 0);
	ck_assert_uint_gt(status.last.n_left_out, 0);
	/* Silent agents don't reduce the window for the others. */
	ck_assert_uint_eq(status.window, 16);
}
END_TEST

/* --- the window --- */

START_TEST(test_window_most_lost_narrower_then_wide_again)
{
	struct triad_window window = {0};

	triad_window_set_most(&window, 64);
	ck_assert_uint_eq(window.width, 64);
	for (unsigned i = 0; i < 1000; i++)
		triad_window_judge(&window, i % 2);
	ck_assert_uint_eq(window.width, TRIAD_WINDOW_LEAST);
	for (unsigned i = 0; i < 2000; i++)
		triad_window_judge(&window, i % 10 == 0); /* no more than an eighth */
	ck_assert_uint_eq(window.width, 64);
	triad_window_set_most(&window, 2);
	ck_assert_uint_eq(window.width, 2);
	triad_window_set_most(&window, 100);
	ck_assert_uint_eq(window.width, 100);
}
END_TEST

/* A path that holds 8 MADs and drops the rest. */
static int send_to_short_queue(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	if (agents->in_flight >= 8)
		return 0; /* lost */
	return agents->transport.send(context, to, mad, timeout_ms);
}

START_TEST(test_window_larger_than_queue_narrowed_all_answered)
{
	struct triad_mad_transport transport = agents->transport;
	struct triad_collector_status status;

	transport.send = send_to_short_queue;
	agents->latency_us = MS;
	params.period_us = 100 * S;
	params.sweep.window = 64;
	params.sweep.node_window = 8;
	params.sweep.retries = 6;
	triad_collector_set_transport(collector, &transport);
	triad_collector_set_params(collector, &params);
	status = sweep(10);
	ck_assert_uint_lt(status.window, 32);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
}
END_TEST

/* --- redirection --- */

static void move_agent(bool says_in_info_only, uint16_t pkey)
{
	agents->moved_from = fabric->ports[find_port(0x201, 5)].lid;
	agents->moved_to = 7777;
	agents->moved_qpn = 0x123;
	agents->moved_pkey = pkey;
	agents->says_moved_in_info_only = says_in_info_only;
	agents->raw[find_port(0x201, 5)][TRIAD_PORT_RCV_ERRORS] = 5;
}

START_TEST(test_redirected_agent_read_where_it_is)
{
	for (unsigned info_only = 0; info_only < 2; info_only++) {
		struct triad_collector_status status;

		move_agent(info_only, 0xffff);
		status = sweep(2);
		ck_assert_uint_eq(status.last.n_unanswered, 0);
		/* The agent redirects once; then Triad knows the new address. */
		ck_assert_uint_eq(status.counts.redirected, 1);
		ck_assert_uint_eq(
			read_port(find_port(0x201, 5)).total[TRIAD_PORT_RCV_ERRORS], 5);
		tear_down();
		set_up();
	}
}
END_TEST

START_TEST(test_redirected_to_foreign_partition_unanswered_and_reported)
{
	struct triad_collector_status status;

	move_agent(false, 0x8777);
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 12);
	ck_assert_uint_eq(status.counts.unreachable, 1);
}
END_TEST

START_TEST(test_redirected_in_circles_ends)
{
	struct triad_collector_status status;

	/* Every query, to whatever QP, is redirected to QP 0x123 of the same LID. */
	move_agent(false, 0xffff);
	agents->moved_to = agents->moved_from;
	agents->moved_qpn = 0x123;
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	agents->moved_to = 9999; /* no agent has this LID */
	agents->moved_qpn = 0;
	tear_down();
	set_up();
	move_agent(false, 0xffff);
	agents->moved_qpn = 0;
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 12);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("modes");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_triad_quiet_fabric_one_mad_a_switch_for_errors);
	tcase_add_test(cases, test_triad_error_on_one_port_its_switch_read);
	tcase_add_test(cases, test_triad_unchanged_rate_over_last_interval);
	tcase_add_test(cases, test_triad_congestion_noticed);
	tcase_add_test(cases, test_triad_saturated_sum_ports_read);
	tcase_add_test(cases, test_triad_sum_that_stops_early_not_believed);
	tcase_add_test(
		cases, test_triad_sum_without_data_of_ports_with_data_not_believed);
	tcase_add_test(cases, test_triad_reset_by_others_seen);
	tcase_add_test(cases, test_triad_equal_sum_is_confirmed_by_the_ports_in_time);
	tcase_add_test(cases, test_triad_no_summary_ports_read);
	tcase_add_test(cases, test_triad_no_extended_ports_read_once);
	tcase_add_test(cases, test_errors_quiet_fabric_one_mad_an_agent);
	tcase_add_test(cases, test_errors_data_of_no_interval_has_no_rate);
	tcase_add_test(cases, test_full_everything_read);
	tcase_add_test(cases, test_modes_random_totals_right);
	tcase_add_test(cases, test_silent_agent_asked_more_and_more_seldom);
	tcase_add_test(cases, test_silent_agent_asked_when_a_sweep_is_requested);
	tcase_add_test(cases, test_third_of_fabric_silent_others_right);
	tcase_add_test(cases, test_window_most_lost_narrower_then_wide_again);
	tcase_add_test(cases, test_window_larger_than_queue_narrowed_all_answered);
	tcase_add_test(cases, test_redirected_agent_read_where_it_is);
	tcase_add_test(
		cases, test_redirected_to_foreign_partition_unanswered_and_reported);
	tcase_add_test(cases, test_redirected_in_circles_ends);
	return run_cases(cases);
}
