/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/ports.h"

#include <string.h>

#include "tests/unit/run.h"

#define N 4

enum {
	UNKNOWN = TRIAD_DAMP_UNKNOWN,
	DOWN = TRIAD_DAMP_DOWN,
	INIT = TRIAD_DAMP_INIT,
	ACTIVE = TRIAD_DAMP_ACTIVE
};

static struct triad_damp_switch of;
static uint8_t found[N + 1], has[N + 1];
static bool is_held[N + 1], is_sweeping;
static uint32_t n_sweeps;
static struct triad_damp_moves moves;

static void set_up(void)
{
	memset(&of, 0, sizeof(of));
	memset(is_held, 0, sizeof(is_held));
	is_sweeping = false;
	n_sweeps = 1;
	for (unsigned i = 1; i <= N; i++)
		found[i] = has[i] = ACTIVE;
}

static void look(void)
{
	const struct triad_damp_reading reading = {.n_ports = N,
		.is_sweeping = is_sweeping,
		.n_sweeps = n_sweeps,
		.found = found,
		.has = has,
		.is_held = is_held};

	triad_damp_compare(&of, &reading, &moves);
}

static void sweep(void)
{
	for (unsigned i = 1; i <= N; i++)
		if (!is_held[i])
			has[i] = found[i] = found[i] == DOWN ? DOWN : ACTIVE;
	n_sweeps++;
}

START_TEST(test_states_are_those_of_the_specification)
{
	static const uint8_t states[] = {UNKNOWN, DOWN, INIT, INIT, ACTIVE, UNKNOWN};

	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(triad_damp_state_of((uint8_t)i), states[i]);
}
END_TEST

START_TEST(test_nothing_moved)
{
	found[4] = has[4] = DOWN;
	for (unsigned i = 0; i < 3; i++) {
		look();
		ck_assert_uint_eq(moves.n_bounced, 0);
		ck_assert(!moves.must_tell);
	}
}
END_TEST

START_TEST(test_down_is_a_bounce_once_and_coming_back_is_none)
{
	found[2] = DOWN;
	look();
	ck_assert_uint_eq(moves.n_bounced, 1);
	ck_assert_uint_eq(moves.bounced[0], 2);
	ck_assert(moves.must_tell);
	look();
	ck_assert_uint_eq(moves.n_bounced, 0);
	sweep();
	found[2] = INIT;
	look();
	ck_assert_uint_eq(moves.n_bounced, 0);
	ck_assert(moves.must_tell);
}
END_TEST

START_TEST(test_down_and_up_between_two_looks_is_seen_by_init)
{
	look();
	found[3] = INIT;
	look();
	ck_assert_uint_eq(moves.n_bounced, 1);
	ck_assert_uint_eq(moves.bounced[0], 3);
	/* OpenSM makes it ACTIVE, and it bounces once more. */
	sweep();
	found[3] = INIT;
	look();
	ck_assert_uint_eq(moves.n_bounced, 1);
}
END_TEST

START_TEST(test_what_opensm_has_from_before_is_no_bounce)
{
	/* OpenSM has not swept yet: it still has the port as ACTIVE. */
	found[2] = DOWN;
	look();
	found[2] = INIT;
	look();
	ck_assert_uint_eq(moves.n_bounced, 0);
	found[2] = DOWN;
	look();
	ck_assert_uint_eq(moves.n_bounced, 1);
}
END_TEST

START_TEST(test_a_held_link_is_no_reason_to_sweep)
{
	is_held[1] = true;
	has[1] = DOWN;
	found[1] = INIT;
	look();
	ck_assert(!moves.must_tell);
	found[1] = DOWN;
	look();
	ck_assert_uint_eq(moves.n_bounced, 1);
	ck_assert(!moves.must_tell);
	/* Any other port is. */
	found[2] = DOWN;
	look();
	ck_assert(moves.must_tell);
}
END_TEST

START_TEST(test_opensm_is_told_until_two_sweeps_have_ended)
{
	found[2] = DOWN;
	look();
	ck_assert(moves.must_tell);
	look();
	ck_assert(moves.must_tell);
	/* A sweep that was under way did not see all of it. */
	n_sweeps++;
	has[2] = INIT;
	look();
	ck_assert(moves.must_tell);
	n_sweeps += 2;
	look();
	ck_assert(!moves.must_tell);
	/* It comes back and goes: that is new. */
	has[2] = DOWN;
	found[2] = INIT;
	look();
	ck_assert(moves.must_tell);
}
END_TEST

START_TEST(test_a_port_that_stays_in_init_does_not_keep_opensm_sweeping)
{
	unsigned n_told = 0;

	found[2] = INIT;
	has[2] = ACTIVE;
	for (unsigned i = 0; i < 100; i++) {
		look();
		n_told += moves.must_tell;
		n_sweeps += moves.must_tell;
		has[2] = INIT + i % 2; /* what OpenSM hopes, and what it reads */
	}
	ck_assert_uint_le(n_told, 3);
}
END_TEST

START_TEST(test_in_mid_sweep_changes_since_the_last_look_are_told)
{
	look();
	is_sweeping = true;
	/* OpenSM has read the port as DOWN already, or will. */
	has[2] = DOWN;
	look();
	ck_assert(!moves.must_tell);
	found[3] = DOWN;
	look();
	ck_assert(moves.must_tell);
	look();
	ck_assert(!moves.must_tell);
	/* When it is through, what it has counts. */
	is_sweeping = false;
	n_sweeps++;
	has[2] = ACTIVE;
	look();
	ck_assert(moves.must_tell);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("ports");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_states_are_those_of_the_specification);
	tcase_add_test(cases, test_nothing_moved);
	tcase_add_test(cases, test_down_is_a_bounce_once_and_coming_back_is_none);
	tcase_add_test(cases, test_down_and_up_between_two_looks_is_seen_by_init);
	tcase_add_test(cases, test_what_opensm_has_from_before_is_no_bounce);
	tcase_add_test(cases, test_a_held_link_is_no_reason_to_sweep);
	tcase_add_test(cases, test_opensm_is_told_until_two_sweeps_have_ended);
	tcase_add_test(
		cases, test_a_port_that_stays_in_init_does_not_keep_opensm_sweeping);
	tcase_add_test(cases, test_in_mid_sweep_changes_since_the_last_look_are_told);
	return run_cases(cases);
}
