/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sweeps in which two events coincide: a summary and a lost MAD, a reset and a refusal,
 * a new topology and MADs in flight. */
#include "perfmgr/collector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/perfmgr/fixture.h"

/* The row, but switch 0x201 has only its first 'n' ports. */
static struct triad_fabric *cut_row(unsigned n)
{
	struct triad_fabric *cut = fabric_row(4, 10);
	const struct triad_fabric_node *node =
		&cut->nodes[triad_fabric_find_node(cut, 0x201)];

	for (uint32_t i = 0; i < node->n_ports; i++)
		if (cut->ports[node->first_port + i].number > n)
			cut->ports[node->first_port + i].has_pma = false;
	return cut;
}

/* --- a transport that loses the MADs that a test selects --- */

static bool (*is_lost)(const struct triad_mad_address *to, const uint8_t *mad);
static struct triad_mad_transport lossy;

static int send_lossy(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	if (is_lost && is_lost(to, mad))
		return 0;
	return agents->transport.send(context, to, mad, timeout_ms);
}

static void lose(bool (*what)(const struct triad_mad_address *to, const uint8_t *mad))
{
	is_lost = what;
	lossy = agents->transport;
	lossy.send = send_lossy;
	triad_collector_set_transport(collector, &lossy);
}

/* Whether the MAD queries PortCounters of port 5 of switch 0x201. */
static bool is_counters(const struct triad_mad_address *to, const uint8_t *mad)
{
	return to->lid == 2 && mad[17] == 0x12 && mad[65] == 5;
}

static bool is_of_port(const struct triad_mad_address *to, const uint8_t *mad)
{
	return to->lid == 2 && mad[17] != 1 && mad[65] == 5;
}

static bool is_set(const struct triad_mad_address *to, const uint8_t *mad)
{
	return mad[3] == 2;
}

/* --- summaries --- */

START_TEST(test_read_after_changed_sum_lost_read_later)
{
	uint32_t port = find_port(0x201, 5);

	lose(NULL);
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 9;
	lose(is_counters);
	sweep(1);
	ck_assert(!read_port(port).answered);
	lose(NULL);
	sweep(5);
	ck_assert(read_port(port).answered);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_RCV_ERRORS], 9);
}
END_TEST

START_TEST(test_sweep_drained_after_changed_sum_read_later)
{
	uint32_t port = find_port(0x201, 5);

	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 9;
	lose(is_counters);
	agents->now_us += 10 * S;
	for (unsigned i = 0; i < 3; i++)
		triad_collector_step(collector);
	triad_collector_drain(collector, S);
	lose(NULL);
	triad_collector_sweep_now(collector);
	sweep(5);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_RCV_ERRORS], 9);
}
END_TEST

START_TEST(test_port_never_read_not_confirmed_by_sum)
{
	lose(is_counters);
	set_mode(TRIAD_SWEEP_ERRORS);
	sweep(3);
	ck_assert(!read_port(find_port(0x201, 5)).answered);
}
END_TEST

START_TEST(test_new_port_read_though_sum_is_quiet)
{
	change_fabric(cut_row(8));
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	change_fabric(fabric_row(4, 10));
	sweep(1);
	ck_assert(read_port(find_port(0x201, 9)).has & 1u << TRIAD_PORT_RCV_ERRORS);
}
END_TEST

/* The 4-bit counter gains 12 in each period and is reset each time, so the switch's sum
 * is the same each time. */
START_TEST(test_same_sum_after_own_reset_not_believed)
{
	uint64_t *raw =
		&agents->raw[find_port(0x201, 5)][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS];

	params.sweep.reset_near_full = true;
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	for (unsigned i = 1; i <= 6; i++) {
		*raw += 12;
		sweep(1);
		ck_assert_uint_eq(*raw, 0);
		ck_assert_uint_eq(read_port(find_port(0x201, 5))
					  .total[TRIAD_LOCAL_LINK_INTEGRITY_ERRORS],
			i * 12);
	}
}
END_TEST

/* When the answer comes, the switch no longer has an entry among the sums. */
START_TEST(test_switch_left_with_one_port_while_sum_is_asked)
{
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(1);
	agents->latency_us = 50 * MS;
	agents->now_us += 10 * S;
	triad_collector_step(collector);
	ck_assert_uint_gt(agents->n_summaries, 0);
	change_fabric(cut_row(1));
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
}
END_TEST

/* --- refusals and resets --- */

static unsigned n_counters;

/* Delays answers: the first query of PortCounters is answered after the refusal of
 * PortCountersExtended; the second, if there is one, after the reset. */
static int send_slowly(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	int error;

	if (is_counters(to, mad) && mad[3] == 1)
		agents->latency_us = ++n_counters == 1 ? 20 * MS : 60 * MS;
	error = agents->transport.send(context, to, mad, timeout_ms);
	agents->latency_us = 10;
	return error;
}

START_TEST(test_extended_refused_while_counters_are_out_counted_once)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_mad_transport transport = agents->transport;

	n_counters = 0;
	transport.send = send_slowly;
	agents->refuses_extended = true;
	params.sweep.reset_near_full = true;
	set_mode(TRIAD_SWEEP_FULL);
	triad_collector_set_transport(collector, &transport);
	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] = 200;
	sweep(3);
	ck_assert_uint_eq(read_port(port).total[TRIAD_LINK_DOWNED_COUNTER], 200);
}
END_TEST

START_TEST(test_reset_by_others_after_own_of_zero_distinguished)
{
	uint32_t port = find_port(0x201, 5);

	sweep(1);
	reset_port(port, true);
	sweep(1);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 50;
	sweep(2);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 3;
	sweep(1);
	ck_assert_uint_eq(read_port(port).others.n, 1);
}
END_TEST

START_TEST(test_reset_wanted_survives_another_lid)
{
	uint64_t guid = 0x10000 + 1 * 256 + 2;

	sweep(1);
	reset_port(find_port(guid, 1), true);
	change_fabric(fabric_row_moved(4, 10, 1));
	sweep(1);
	ck_assert_uint_gt(agents->n_sets, 0);
}
END_TEST

START_TEST(test_reset_lost_port_answered_all_the_same)
{
	uint32_t port = find_port(0x201, 5);

	sweep(1);
	lose(is_set);
	reset_port(port, true);
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	ck_assert_uint_eq(triad_collector_status(collector).counts.resets_failed, 2);
}
END_TEST

/* The agent did the reset, but its answer is lost.  Then the counter passes its value
 * before the reset. */
START_TEST(test_reset_answer_lost_then_counted_past_it)
{
	uint32_t port = find_port(0x201, 5);

	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 1;
	sweep(1);
	agents->lose_set_answers = true;
	reset_port(port, true);
	sweep(1);
	ck_assert_uint_eq(agents->n_sets, 2); /* one for each attribute; not repeated */
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 2;
	sweep(1);
	ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_RCV_ERRORS], 2);
	ck_assert_uint_eq(read_port(port).others.n, 0);
}
END_TEST

/* --- silence and redirection --- */

START_TEST(test_one_dead_port_others_read)
{
	static const unsigned windows[] = {1, 2, 3, 8};

	for (unsigned i = 0; i < 4; i++) {
		params.sweep.node_window = windows[i];
		set_mode(TRIAD_SWEEP_FULL);
		lose(is_of_port);
		for (unsigned j = 0; j < 8; j++)
			ck_assert_uint_eq(sweep(1).last.n_unanswered, 1);
		tear_down();
		set_up();
	}
}
END_TEST

START_TEST(test_known_agent_moves_with_many_questions_out)
{
	params.sweep.node_window = 8;
	set_mode(TRIAD_SWEEP_FULL);
	sweep(1);
	agents->latency_us = MS;
	agents->moved_from = 2;
	agents->moved_to = 7777;
	agents->moved_qpn = 0x123;
	agents->moved_pkey = 0xffff;
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
	ck_assert_uint_eq(triad_collector_status(collector).counts.unreachable, 0);
}
END_TEST

/* --- failure to send --- */

static int send_never(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	return ENETDOWN;
}

START_TEST(test_nothing_can_be_sent_sweep_cut_and_no_agent_silent)
{
	struct triad_mad_transport transport = agents->transport;
	struct triad_collector_status status;

	sweep(1);
	transport.send = send_never;
	triad_collector_set_transport(collector, &transport);
	status = sweep(8);
	ck_assert_uint_le(status.duration_us, S);
	ck_assert_uint_eq(status.last.n_unanswered, n_ports_with_pma());
	triad_collector_set_transport(collector, &agents->transport);
	ck_assert_uint_eq(sweep(1).last.n_unanswered, 0);
}
END_TEST

static uint32_t seen[4096];
static unsigned n_seen, n_again;

static int send_seen(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	uint32_t tid = (uint32_t)mad[12] << 24 | (uint32_t)mad[13] << 16 |
		(uint32_t)mad[14] << 8 | mad[15];

	for (unsigned i = 0; i < n_seen; i++)
		n_again += seen[i] == tid;
	seen[n_seen++] = tid;
	return agents->transport.send(context, to, mad, timeout_ms);
}

START_TEST(test_window_changed_no_transaction_id_twice)
{
	struct triad_mad_transport transport = agents->transport;

	n_seen = n_again = 0;
	transport.send = send_seen;
	triad_collector_set_transport(collector, &transport);
	for (unsigned window = 1; window <= 3; window++) {
		params.sweep.window = window;
		set_mode(TRIAD_SWEEP_FULL);
		while (n_seen < window * 1200)
			sweep(1);
	}
	ck_assert_uint_eq(n_again, 0);
}
END_TEST

START_TEST(test_drain_after_nodes_went_waits_for_their_answers)
{
	sweep(1);
	agents->latency_us = 50 * MS;
	agents->now_us += 10 * S;
	triad_collector_step(collector);
	change_fabric(fabric_row(1, 2));
	triad_collector_step(collector);
	ck_assert(triad_collector_drain(collector, S));
	ck_assert_uint_eq(agents->n_queued, 0);
}
END_TEST

START_TEST(test_fabrics_without_agents_sweeps_end)
{
	for (unsigned i = 0; i < 3; i++) {
		struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
		struct triad_fabric *empty = NULL;

		ck_assert_int_eq(triad_fabric_build(builder, 0, &empty), 0);
		triad_fabric_builder_free(builder);
		change_fabric(empty);
		ck_assert_uint_eq(sweep(2).last.n_ports, 0);
		change_fabric(fabric_row(2, 3));
		agents->now_us += 10 * S;
		triad_collector_step(collector);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("hard_cases");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_read_after_changed_sum_lost_read_later);
	tcase_add_test(cases, test_sweep_drained_after_changed_sum_read_later);
	tcase_add_test(cases, test_port_never_read_not_confirmed_by_sum);
	tcase_add_test(cases, test_new_port_read_though_sum_is_quiet);
	tcase_add_test(cases, test_same_sum_after_own_reset_not_believed);
	tcase_add_test(cases, test_switch_left_with_one_port_while_sum_is_asked);
	tcase_add_test(
		cases, test_extended_refused_while_counters_are_out_counted_once);
	tcase_add_test(cases, test_reset_by_others_after_own_of_zero_distinguished);
	tcase_add_test(cases, test_reset_wanted_survives_another_lid);
	tcase_add_test(cases, test_reset_lost_port_answered_all_the_same);
	tcase_add_test(cases, test_reset_answer_lost_then_counted_past_it);
	tcase_add_test(cases, test_one_dead_port_others_read);
	tcase_add_test(cases, test_known_agent_moves_with_many_questions_out);
	tcase_add_test(cases, test_nothing_can_be_sent_sweep_cut_and_no_agent_silent);
	tcase_add_test(cases, test_window_changed_no_transaction_id_twice);
	tcase_add_test(cases, test_drain_after_nodes_went_waits_for_their_answers);
	tcase_add_test(cases, test_fabrics_without_agents_sweeps_end);
	return run_cases(cases);
}
