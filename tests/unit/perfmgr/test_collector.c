/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The collector, with its scheduler and engine, against simulated agents. */
#include "perfmgr/collector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/perfmgr/fixture.h"

/* Row: M16 */
START_TEST(test_sweep_every_port_read)
{
	struct triad_collector_status status;

	set_all_counters(UINT64_C(1) << 40);
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma());
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	check_totals();
	/* Triad sends one ClassPortInfo query to each agent, and two queries per
	 * port. */
	ck_assert_uint_eq(agents->n_class_port_info, 4 + 40);
	ck_assert_uint_eq(agents->n_sent, 4 + 40 + 2 * n_ports_with_pma());
}
END_TEST

START_TEST(test_reading_that_cannot_be_left_out_and_counted)
{
	uint32_t port = find_port(0x201, 3);

	set_all_counters(UINT64_C(1) << 40);
	sweep(1);
	agents->raw[port][TRIAD_PORT_RCV_DATA] += UINT64_C(1) << 62;
	ck_assert_uint_eq(sweep(1).n_impossible, 1);
	agents->raw[port][TRIAD_PORT_RCV_DATA] -= UINT64_C(1) << 62;
	ck_assert_uint_eq(sweep(1).n_impossible, 1);
	check_totals();
}
END_TEST

START_TEST(test_second_sweep_capabilities_known)
{
	sweep(3);
	ck_assert_uint_eq(agents->n_class_port_info, 4 + 40);
}
END_TEST

/* Row: A5 */
START_TEST(test_window_kept)
{
	agents->latency_us = 1000;
	sweep(2);
	ck_assert_uint_le(agents->most_in_flight, 16);
	ck_assert_uint_ge(agents->most_in_flight, 15);
	ck_assert_uint_le(agents->most_to_one_lid, 4);
}
END_TEST

/* Row: M16 */
START_TEST(test_period_constant_without_drift)
{
	uint64_t first_us, last_us;

	agents->latency_us = 3000;
	first_us = sweep(1).started_us;
	for (unsigned i = 1; i <= 20; i++) {
		last_us = sweep(1).started_us;
		ck_assert_uint_ge(last_us, first_us + i * 10 * S);
		ck_assert_uint_le(last_us, first_us + i * 10 * S + 50 * MS);
	}
	ck_assert_uint_eq(triad_collector_status(collector).n_late, 0);
}
END_TEST

START_TEST(test_sweep_longer_than_period_reported)
{
	struct triad_collector_status status;

	params.period_us = S;
	params.sweep.window = 1;
	triad_collector_set_params(collector, &params);
	agents->latency_us = 20 * MS; /* 2 * 88 queries, one at a time: over 3 s */
	status = sweep(3);
	ck_assert_uint_eq(status.n_late, 3);
	/* The next sweep begins at the period's next multiple, not at once. */
	ck_assert_uint_eq(status.started_us % S, 0);
}
END_TEST

START_TEST(test_lossy_fabric_all_answered_or_reported)
{
	struct triad_collector_status status;

	printf("# seed %u\n", seed);
	agents->lost_percent = 10;
	agents->twice_percent = 10;
	set_all_counters(77);
	params.sweep.retries = 8;
	triad_collector_set_params(collector, &params);
	status = sweep(5);
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma());
	ck_assert_uint_gt(status.counts.retries, 0);
	ck_assert_uint_gt(status.counts.late, 0);
	check_totals();
}
END_TEST

START_TEST(test_garbage_never_counted)
{
	struct triad_collector_status status;

	printf("# seed %u\n", seed);
	agents->garbage_percent = 30;
	set_all_counters(5);
	status = sweep(20);
	ck_assert_uint_eq(
		status.last.n_answered + status.last.n_unanswered, n_ports_with_pma());
	ck_assert_uint_gt(status.counts.malformed + status.counts.refused, 0);
	ck_assert_uint_gt(status.last_errors, 0);
	ck_assert_uint_lt(status.last_errors, status.counts.malformed);
	agents->garbage_percent = 0;
	/* The sweep before it may have had some garbage left to the end. */
	ck_assert_uint_eq(sweep(2).last_errors, 0);
}
END_TEST

START_TEST(test_silent_switch_unanswered_others_read)
{
	struct triad_collector_status status;
	uint32_t port = find_port(0x201, 5), other = find_port(0x202, 5);

	set_all_counters(9);
	sweep(1);
	agents->silent_lid = 2;
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 12);
	ck_assert(!read_port(port).answered);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_DATA],
		agents->raw[port][TRIAD_PORT_XMIT_DATA]);
	ck_assert(read_port(other).answered);
	/* Triad stops after the queries in the window and their retries; it doesn't
	 * query all ports of the switch. */
	ck_assert_uint_le(status.counts.timeouts, 3 * 4 + 4);
	agents->silent_lid = 0;
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	ck_assert(read_port(port).answered);
}
END_TEST

START_TEST(test_silent_from_start_never_zero)
{
	uint32_t port = find_port(0x201, 5);

	agents->silent_lid = 2;
	sweep(1);
	ck_assert(!read_port(port).answered);
	ck_assert_uint_eq(read_port(port).has, 0);
	ck_assert_uint_eq(read_port(port).read_us, 0);
}
END_TEST

START_TEST(test_extended_refused_falls_back)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_collector_status status;

	set_all_counters(1000);
	agents->refuses_extended = true;
	sweep(1);
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	ck_assert(read_port(port).has & 1u << TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_DATA],
		agents->raw[port][TRIAD_PORT_XMIT_DATA]);
}
END_TEST

START_TEST(test_transport_full_everything_sent_later)
{
	struct triad_collector_status status;

	agents->send_room = 3;
	agents->latency_us = 500;
	status = sweep(2);
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma());
	ck_assert_uint_eq(status.counts.timeouts, 0);
	ck_assert_uint_eq(status.counts.sent, agents->n_sent);
}
END_TEST

START_TEST(test_transport_broken_owner_sleeps)
{
	uint64_t slept_us = 0;

	agents->broken = true;
	for (unsigned i = 0; i < 100; i++)
		slept_us += triad_collector_step(collector);
	ck_assert_uint_ge(slept_us, S);
	ck_assert(triad_collector_status(collector).receive_errors > 0);
}
END_TEST

START_TEST(test_new_fabric_taken_up_totals_kept)
{
	struct triad_fabric *bigger = fabric_row(5, 10);
	struct agents *new_agents = agents_new(bigger, seed);
	uint32_t port = find_port(0x201, 5);
	struct triad_view *old_view;

	set_all_counters(50);
	sweep(1);
	old_view = triad_collector_view(collector);
	new_agents->now_us = agents->now_us;
	triad_collector_set_transport(collector, &new_agents->transport);
	for (uint32_t i = 0; i < bigger->n_ports; i++)
		new_agents->raw[i][TRIAD_PORT_RCV_ERRORS] = 7;
	triad_collector_set_fabric(collector, bigger);
	for (unsigned i = 0; i < 2000; i++) {
		agents->now_us = new_agents->now_us;
		new_agents->now_us += triad_collector_step(collector);
		agents->now_us = new_agents->now_us;
	}
	/* Switch 4 is new; the old view still reads the ports of the old fabric. */
	ck_assert_uint_eq(triad_collector_status(collector).last.n_ports, 5 * 12 + 50);
	ck_assert_uint_ne(old_view->fabric->n_ports, bigger->n_ports);
	ck_assert_uint_eq(read_port(port).node_guid, 0x201);
	triad_view_unref(old_view);
	triad_collector_set_transport(collector, NULL);
	agents_free(new_agents);
	triad_fabric_unref(bigger);
}
END_TEST

START_TEST(test_sweep_now_begins_at_once_period_stays)
{
	uint64_t first_us = sweep(1).started_us, second_us;

	agents->now_us += 3 * S;
	triad_collector_sweep_now(collector);
	second_us = sweep(1).started_us;
	ck_assert_uint_lt(second_us, first_us + 4 * S);
	ck_assert_uint_ge(sweep(1).started_us, first_us + 10 * S);
}
END_TEST

START_TEST(test_window_changed_old_answers_dropped)
{
	agents->latency_us = 90 * MS;
	agents->twice_percent = 50;
	for (unsigned i = 0; i < 6; i++) {
		params.sweep.window = 1 + i * 7 % 20;
		triad_collector_set_params(collector, &params);
		set_all_counters(i * 10);
		agents->now_us += 20 * S;
		sweep(1);
		ck_assert_uint_eq(
			triad_collector_status(collector).last.n_unanswered, 0);
	}
}
END_TEST

START_TEST(test_drain_takes_what_is_in_flight)
{
	agents->latency_us = 50 * MS;
	triad_collector_step(collector);
	ck_assert(triad_collector_drain(collector, S));
	agents->silent_lid = 2;
	triad_collector_step(collector);
	ck_assert(!triad_collector_status(collector).sweeping ||
		!triad_collector_drain(collector, S));
}
END_TEST

START_TEST(test_drained_sweep_not_finished)
{
	struct triad_collector_status status = sweep(1);

	agents->latency_us = 50 * MS;
	agents->now_us += 10 * S;
	triad_collector_step(collector);
	ck_assert(triad_collector_status(collector).sweeping);
	triad_collector_drain(collector, S);
	ck_assert_uint_eq(triad_collector_status(collector).last_started_us,
		status.last_started_us);
	ck_assert_uint_lt(
		status.last_started_us, triad_collector_status(collector).started_us);
}
END_TEST

/* Pauses like an SM that is standby for a while.  _i: for an hour; for a second; for an
 * hour in which the period changes. */
START_TEST(test_sweep_after_a_pause_is_due_at_once_and_late_by_nothing)
{
	struct triad_collector_status status;

	sweep(1);
	agents->latency_us = 50 * MS;
	agents->now_us += 10 * S;
	triad_collector_step(collector);
	ck_assert(triad_collector_status(collector).sweeping);
	triad_collector_drain(collector, S);
	agents->now_us += _i == 1 ? S : 3600 * S;
	if (_i == 2) {
		params.period_us = 20 * S;
		triad_collector_set_params(collector, &params);
	}
	triad_collector_step(collector);
	status = triad_collector_status(collector);
	ck_assert(status.sweeping);
	ck_assert_uint_lt(status.delay_max_us, S);
}
END_TEST

static unsigned n_asked(void)
{
	struct triad_view *view = triad_collector_view(collector);
	struct triad_engine_row row;
	unsigned n = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		n += triad_view_read(view, i, &row) && row.was_asked;
	triad_view_unref(view);
	return n;
}

/* With _i the port doesn't answer. */
START_TEST(test_port_was_asked_once_a_sweep_has_asked_it)
{
	agents->silent_lid = _i ? 2 : 0;
	agents->latency_us = 50 * MS;
	triad_collector_step(collector);
	ck_assert_uint_eq(n_asked(), 0);
	sweep(1);
	ck_assert_uint_eq(n_asked(), n_ports_with_pma());
}
END_TEST

START_TEST(test_port_that_comes_back_was_not_asked_since)
{
	struct triad_fabric *less = fabric_row(2, 10);

	sweep(1);
	triad_collector_set_fabric(collector, less);
	triad_collector_adopt(collector);
	ck_assert_uint_lt(n_asked(), n_ports_with_pma());
	triad_collector_set_fabric(collector, fabric);
	triad_collector_adopt(collector);
	ck_assert_uint_gt(n_asked(), 0);
	ck_assert_uint_lt(n_asked(), n_ports_with_pma());
	sweep(1);
	ck_assert_uint_eq(n_asked(), n_ports_with_pma());
	triad_fabric_unref(less);
}
END_TEST

/* The transport of the next test turns answers into "busy". */
static unsigned n_busy;

static int receive_busy(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	int error = agents->transport.receive(context, wait_us, reply);

	if (!error && n_busy) {
		reply->mad[5] |= 1; /* the status field's low octet */
		n_busy--;
	}
	return error;
}

/* The first query of all is for the agent's capabilities.  A busy agent hasn't reported
 * that it has none. */
START_TEST(test_busy_agents_asked_again)
{
	struct triad_mad_transport transport = agents->transport;
	struct triad_collector_status status;

	transport.receive = receive_busy;
	n_busy = 10;
	set_all_counters(UINT64_C(1) << 33);
	triad_collector_set_transport(collector, &transport);
	status = sweep(1);
	ck_assert_uint_eq(status.counts.refused, 10);
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma());
	check_totals();
}
END_TEST

static int receive_late_word(
	void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	int error = agents->transport.receive(context, wait_us, reply);

	if (!error)
		reply->status = ETIMEDOUT;
	return error;
}

/* The kernel reports a timeout just after Triad's own. */
START_TEST(test_word_of_lost_mad_not_an_answer)
{
	struct triad_mad_transport transport = agents->transport;
	struct triad_collector_status status;

	transport.receive = receive_late_word;
	agents->latency_us = params.sweep.timeout_us + MS;
	triad_collector_set_transport(collector, &transport);
	status = sweep(1);
	ck_assert_uint_eq(status.counts.late, 0);
	ck_assert_uint_gt(status.counts.timeouts, 0);
}
END_TEST

START_TEST(test_no_fabric_no_sweep)
{
	struct triad_collector *idle = triad_collector_new(&agents->clock, NULL, NULL);

	triad_collector_set_params(idle, &params);
	triad_collector_set_transport(idle, &agents->transport);
	ck_assert_uint_gt(triad_collector_step(idle), 0);
	ck_assert_ptr_null(triad_collector_view(idle));
	triad_collector_free(idle);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("collector");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_sweep_every_port_read);
	tcase_add_test(cases, test_reading_that_cannot_be_left_out_and_counted);
	tcase_add_test(cases, test_second_sweep_capabilities_known);
	tcase_add_test(cases, test_window_kept);
	tcase_add_test(cases, test_period_constant_without_drift);
	tcase_add_test(cases, test_sweep_longer_than_period_reported);
	tcase_add_test(cases, test_lossy_fabric_all_answered_or_reported);
	tcase_add_test(cases, test_garbage_never_counted);
	tcase_add_test(cases, test_silent_switch_unanswered_others_read);
	tcase_add_test(cases, test_silent_from_start_never_zero);
	tcase_add_test(cases, test_extended_refused_falls_back);
	tcase_add_test(cases, test_transport_full_everything_sent_later);
	tcase_add_test(cases, test_transport_broken_owner_sleeps);
	tcase_add_test(cases, test_new_fabric_taken_up_totals_kept);
	tcase_add_test(cases, test_sweep_now_begins_at_once_period_stays);
	tcase_add_test(cases, test_window_changed_old_answers_dropped);
	tcase_add_test(cases, test_drain_takes_what_is_in_flight);
	tcase_add_test(cases, test_drained_sweep_not_finished);
	tcase_add_loop_test(cases,
		test_sweep_after_a_pause_is_due_at_once_and_late_by_nothing, 0, 3);
	tcase_add_loop_test(cases, test_port_was_asked_once_a_sweep_has_asked_it, 0, 2);
	tcase_add_test(cases, test_port_that_comes_back_was_not_asked_since);
	tcase_add_test(cases, test_busy_agents_asked_again);
	tcase_add_test(cases, test_word_of_lost_mad_not_an_answer);
	tcase_add_test(cases, test_no_fabric_no_sweep);
	return run_cases(cases);
}
