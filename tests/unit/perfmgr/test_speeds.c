/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports are asked for speeds that the SM does not know, when, and what fabrics then
 * have; the fabric is two simulated switches with two hosts each, five links. */
#include "perfmgr/devices/speeds.h"

#include <string.h>

#include "ib/link.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define N_ENDS 10u /* of links */
#define HDR 4
#define RATE_10_GBPS 3
#define RATE_200_GBPS 17

static struct triad_fabric *fabric;
static struct triad_speeds *speeds;
static uint64_t now_us;
static uint8_t told; /* LinkSpeedExtActive, by all */
static bool is_silent;

/* As the SM would make it: no extended speed at all. */
static struct triad_fabric *make_fabric(void)
{
	struct triad_fabric *made = fabric_row(2, 2);

	for (uint32_t i = 0; i < made->n_ports; i++) {
		struct triad_fabric_port *port = &made->ports[i];

		port->state = port->remote == TRIAD_FABRIC_NONE ? TRIAD_PORT_DOWN
								: TRIAD_PORT_ACTIVE;
		port->lid = (uint16_t)(1 + port->node);
		port->width = 2;
		port->speed = 1;
		port->speed_ext = port->speed_ext_supported = 0;
		port->speed_supported = 7;
		port->rate = RATE_10_GBPS;
		port->rate_caps = 0;
		/* A switch has its capabilities at port 0. */
		if (!port->number || made->nodes[port->node].type == TRIAD_NODE_CA)
			port->rate_caps = TRIAD_RATE_CAP_EXTENDED;
	}
	return made;
}

static void set_up(void)
{
	fabric = make_fabric();
	speeds = triad_speeds_new(true);
	now_us = 1000 * S;
	told = HDR;
	is_silent = false;
}

static void tear_down(void)
{
	triad_speeds_free(speeds);
	triad_fabric_unref(fabric);
}

/* A port that is an end of a link. */
static uint32_t an_end(void)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE)
			return i;
	ck_abort_msg("no link");
	return 0;
}

static void next_sweep(void)
{
	triad_fabric_unref(fabric);
	fabric = make_fabric();
}

static void adopt(void)
{
	triad_speeds_lay_over(speeds, fabric);
	ck_assert_int_eq(
		triad_speeds_adopt(speeds, fabric, TRIAD_SPEEDS_AGAIN_US, now_us), 0);
}

static void answer(uint32_t tid)
{
	uint8_t info[64] = {[31] = 2, [30] = 3, [32] = 7 << 4 | 4, [35] = 4 << 4};

	info[62] = (uint8_t)(told << 4 | told);
	triad_speeds_answer(speeds, tid, is_silent ? NULL : info, now_us);
}

/* Asks until 'until_us'; returns how many questions there were. */
static unsigned run_until(uint64_t until_us)
{
	struct triad_speeds_question question;
	unsigned n = 0;
	uint64_t due_us;

	for (;;) {
		while (triad_speeds_next(speeds, now_us, &question, &due_us)) {
			n++;
			answer(question.tid);
		}
		if (due_us > until_us)
			break;
		ck_assert_uint_gt(due_us, now_us);
		now_us = due_us;
	}
	now_us = until_us;
	return n;
}

static unsigned run(void)
{
	return run_until(now_us + S);
}

/* The speed of all links, which must be the same. */
static enum triad_link_speed speed_of_all(void)
{
	enum triad_link_speed speed =
		triad_link_rate_active(&fabric->ports[an_end()]).speed;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE)
			ck_assert_uint_eq(
				triad_link_rate_active(&fabric->ports[i]).speed, speed);
	return speed;
}

/* --- what fabrics have --- */

START_TEST(test_speeds_before_answers_are_not_known)
{
	const struct triad_fabric_port *port;

	adopt();
	port = &fabric->ports[an_end()];
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_ANY);
	ck_assert_uint_eq(port->speed_supported, 0);
	ck_assert_uint_eq(port->source_speed, 1);
	/* Paths go on. */
	ck_assert_uint_eq(port->rate, RATE_10_GBPS);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_ports, N_ENDS);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_known, 0);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_faster, 0);
}
END_TEST

START_TEST(test_speeds_that_were_told_are_those_of_the_next_fabric)
{
	struct triad_speeds_counts counts;

	adopt();
	ck_assert(!triad_speeds_take_news(speeds, now_us));
	ck_assert_uint_eq(run(), N_ENDS);
	ck_assert(triad_speeds_take_news(speeds, now_us));
	ck_assert(!triad_speeds_take_news(speeds, now_us));
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_HDR);
	ck_assert_uint_eq(fabric->ports[an_end()].rate, RATE_200_GBPS);
	ck_assert_uint_eq(fabric->ports[an_end()].speed_ext_supported, HDR);
	ck_assert_uint_eq(fabric->ports[an_end()].width_supported, 3);
	counts = triad_speeds_counts(speeds);
	ck_assert_uint_eq(counts.n_known, N_ENDS);
	ck_assert_uint_eq(counts.n_faster, N_ENDS);
	ck_assert_str_eq(counts.rate, "4x HDR");
	ck_assert_str_eq(counts.source_rate, "4x SDR");
	ck_assert_uint_gt(strlen(counts.label), 0);
	ck_assert(!triad_speeds_take_news(speeds, now_us));
}
END_TEST

START_TEST(test_speed_that_is_no_extended_one_is_known)
{
	told = 0;
	adopt();
	run();
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_QDR);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_known, N_ENDS);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_faster, 0);
}
END_TEST

START_TEST(test_port_whose_speed_the_sm_knows_is_as_the_sm_says)
{
	fabric->ports[an_end()].speed_ext_supported = 3;
	fabric->ports[an_end()].speed_ext = 2;
	adopt();
	ck_assert_uint_eq(fabric->ports[an_end()].source_speed, 0);
	ck_assert_int_eq(triad_link_rate_active(&fabric->ports[an_end()]).speed,
		TRIAD_SPEED_EDR);
	ck_assert_uint_eq(run(), N_ENDS - 1);
}
END_TEST

START_TEST(test_ports_without_the_capability_are_not_asked)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].rate_caps = 0;
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_SDR);
	ck_assert_uint_eq(run(), 0);
}
END_TEST

START_TEST(test_ports_that_are_down_are_not_asked)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].state = TRIAD_PORT_DOWN;
	adopt();
	ck_assert_uint_eq(run(), 0);
}
END_TEST

START_TEST(test_devices_with_an_m_key_are_asked_by_who_knows_it)
{
	triad_speeds_free(speeds);
	speeds = triad_speeds_new(false);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->nodes[fabric->ports[i].node].type == TRIAD_NODE_CA)
			fabric->ports[i].needs_m_key = true;
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_ANY);
	ck_assert_uint_eq(run(), N_ENDS - 4);
}
END_TEST

/* --- links that change --- */

START_TEST(test_link_with_another_width_is_not_known)
{
	adopt();
	run();
	next_sweep();
	fabric->ports[an_end()].width = 1;
	adopt();
	ck_assert_int_eq(triad_link_rate_active(&fabric->ports[an_end()]).speed,
		TRIAD_SPEED_ANY);
	ck_assert_uint_eq(run(), 1);
}
END_TEST

START_TEST(test_link_to_another_port_is_not_known)
{
	uint32_t end = an_end(), remote;

	adopt();
	run();
	next_sweep();
	remote = fabric->ports[end].remote;
	fabric->ports[remote].number = 200;
	adopt();
	ck_assert_int_eq(
		triad_link_rate_active(&fabric->ports[end]).speed, TRIAD_SPEED_ANY);
}
END_TEST

START_TEST(test_ports_are_asked_again_after_a_sweep_but_not_at_once)
{
	adopt();
	run();
	ck_assert_uint_eq(run_until(now_us + 3600 * S), 0);
	next_sweep();
	adopt();
	told = 2;
	ck_assert_uint_eq(run(), N_ENDS);
	ck_assert(triad_speeds_take_news(speeds, now_us));
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_EDR);
	ck_assert_uint_eq(run_until(now_us + TRIAD_SPEEDS_AGAIN_US - 2 * S), 0);
	ck_assert_uint_eq(run_until(now_us + 2 * S), N_ENDS);
	ck_assert(!triad_speeds_take_news(speeds, now_us));
}
END_TEST

START_TEST(test_speed_that_the_sm_knew_for_a_sweep_is_kept)
{
	adopt();
	run();
	next_sweep();
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].speed_ext = fabric->ports[i].speed_ext_supported = 2;
	adopt();
	ck_assert_uint_eq(run_until(now_us + 60 * S), 0);
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_EDR);
}
END_TEST

START_TEST(test_answer_between_copy_and_adoption_is_news)
{
	struct triad_fabric *copy = make_fabric();

	adopt();
	triad_speeds_lay_over(speeds, copy);
	run();
	ck_assert_int_eq(
		triad_speeds_adopt(speeds, copy, TRIAD_SPEEDS_AGAIN_US, now_us), 0);
	ck_assert_uint_eq(run(), 0);
	ck_assert(triad_speeds_take_news(speeds, now_us));
	triad_fabric_unref(copy);
}
END_TEST

/* --- restraint --- */

START_TEST(test_questions_are_few_at_a_time_with_a_gap)
{
	struct triad_speeds_question question;
	uint64_t due_us;

	adopt();
	for (unsigned i = 0; i < TRIAD_SPEEDS_WINDOW; i++) {
		ck_assert(triad_speeds_next(speeds, now_us, &question, &due_us));
		ck_assert(!triad_speeds_next(speeds, now_us, &question, &due_us));
		now_us += TRIAD_SPEEDS_GAP_US;
	}
	ck_assert(!triad_speeds_next(speeds, now_us + S, &question, &due_us));
	ck_assert_uint_eq(triad_speeds_n_asked(speeds), TRIAD_SPEEDS_WINDOW);
	answer(question.tid);
	ck_assert(triad_speeds_next(speeds, now_us, &question, &due_us));
	triad_speeds_expire(speeds, S, now_us + S);
	ck_assert_uint_eq(triad_speeds_n_asked(speeds), 0);
	ck_assert_uint_eq(triad_speeds_counts(speeds).n_unanswered, 4);
}
END_TEST

START_TEST(test_silent_ports_are_asked_less_and_less)
{
	unsigned n;

	is_silent = true;
	adopt();
	ck_assert_uint_eq(run(), N_ENDS);
	ck_assert_uint_eq(run_until(now_us + 12 * S), N_ENDS);
	ck_assert_uint_eq(run_until(now_us + 10 * S), 0);
	n = run_until(now_us + 86400 * S);
	ck_assert_uint_ge(n, 86400 / 640 * N_ENDS);
	ck_assert_uint_le(n, (86400 / 640 + 8) * N_ENDS);
	is_silent = false;
	run_until(now_us + 641 * S);
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_HDR);
}
END_TEST

START_TEST(test_ports_of_which_nothing_is_known_come_first)
{
	struct triad_speeds_question question;
	uint32_t end = an_end();
	uint64_t due_us;

	adopt();
	run();
	next_sweep();
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE)
			end = i;
	fabric->ports[end].width = 1;
	now_us += TRIAD_SPEEDS_AGAIN_US;
	adopt();
	ck_assert(triad_speeds_next(speeds, now_us, &question, &due_us));
	ck_assert_uint_eq(
		question.node_guid, fabric->nodes[fabric->ports[end].node].guid);
	ck_assert_uint_eq(question.number, fabric->ports[end].number);
	ck_assert_uint_eq(question.lid, fabric->ports[end].lid);
}
END_TEST

START_TEST(test_port_that_went_down_has_told_nothing)
{
	uint8_t info[64] = {[32] = TRIAD_PORT_DOWN, [62] = HDR << 4};
	struct triad_speeds_question question;
	uint64_t due_us;

	adopt();
	ck_assert(triad_speeds_next(speeds, now_us, &question, &due_us));
	triad_speeds_answer(speeds, question.tid, info, now_us);
	next_sweep();
	adopt();
	ck_assert_int_eq(speed_of_all(), TRIAD_SPEED_ANY);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("speeds");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_speeds_before_answers_are_not_known);
	tcase_add_test(cases, test_speeds_that_were_told_are_those_of_the_next_fabric);
	tcase_add_test(cases, test_speed_that_is_no_extended_one_is_known);
	tcase_add_test(cases, test_port_whose_speed_the_sm_knows_is_as_the_sm_says);
	tcase_add_test(cases, test_ports_without_the_capability_are_not_asked);
	tcase_add_test(cases, test_ports_that_are_down_are_not_asked);
	tcase_add_test(cases, test_devices_with_an_m_key_are_asked_by_who_knows_it);
	tcase_add_test(cases, test_link_with_another_width_is_not_known);
	tcase_add_test(cases, test_link_to_another_port_is_not_known);
	tcase_add_test(cases, test_ports_are_asked_again_after_a_sweep_but_not_at_once);
	tcase_add_test(cases, test_speed_that_the_sm_knew_for_a_sweep_is_kept);
	tcase_add_test(cases, test_answer_between_copy_and_adoption_is_news);
	tcase_add_test(cases, test_questions_are_few_at_a_time_with_a_gap);
	tcase_add_test(cases, test_silent_ports_are_asked_less_and_less);
	tcase_add_test(cases, test_ports_of_which_nothing_is_known_come_first);
	tcase_add_test(cases, test_port_that_went_down_has_told_nothing);
	return run_cases(cases);
}
