/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/traps.h"

#include <string.h>

#include "tests/unit/run.h"

static struct triad_traps traps;
static uint64_t now_us;

static void set_up(void)
{
	memset(&traps, 0, sizeof(traps));
	now_us = 1000 * TRIAD_US_PER_S;
}

/* How many of 'n' at once pass. */
static unsigned pass(uint16_t lid, uint16_t kind, unsigned n)
{
	unsigned n_passed = 0;

	for (unsigned i = 0; i < n; i++)
		n_passed += !triad_traps_take(&traps, lid, kind, now_us);
	return n_passed;
}

START_TEST(test_links_and_changes_of_nodes_are_never_kept)
{
	static const uint16_t kinds[] = {128, 144, 145, 64, 67, 65535};

	for (unsigned i = 0; i < 6; i++)
		ck_assert(!triad_traps_are_damped(kinds[i]));
	for (unsigned i = 129; i <= 131; i++)
		ck_assert(triad_traps_are_damped((uint16_t)i));
	for (unsigned i = 256; i <= 259; i++)
		ck_assert(triad_traps_are_damped((uint16_t)i));
	ck_assert(triad_traps_are_damped(TRIAD_TRAPS_OF_VENDORS));
}
END_TEST

START_TEST(test_of_a_sender_three_pass_and_then_one_each_period)
{
	ck_assert_uint_eq(pass(5, 257, 1000), TRIAD_TRAPS_BURST);
	for (unsigned i = 0; i < 20; i++) {
		now_us += TRIAD_TRAPS_PERIOD_US;
		ck_assert_uint_eq(pass(5, 257, 1000), 1);
	}
	ck_assert_uint_eq(traps.n_heard, 21000);
	ck_assert_uint_eq(traps.n_kept, 21000 - 23);
}
END_TEST

START_TEST(test_senders_and_kinds_do_not_count_for_each_other)
{
	pass(5, 257, 1000);
	ck_assert_uint_eq(pass(6, 257, 1), 1);
	ck_assert_uint_eq(pass(5, 129, 1), 1);
}
END_TEST

START_TEST(test_of_all_together_no_more_than_one_a_second)
{
	unsigned n = 0;

	for (uint16_t lid = 1; lid <= 2000; lid++)
		n += pass(lid, 256, 1);
	ck_assert_uint_eq(n, TRIAD_TRAPS_BURST_OF_ALL);
	n = 0;
	for (unsigned i = 0; i < 60; i++) {
		now_us += TRIAD_US_PER_S;
		for (uint16_t lid = 1; lid <= 200; lid++)
			n += pass(lid, 256, 1);
	}
	ck_assert_uint_ge(n, 59);
	ck_assert_uint_le(n, 61);
}
END_TEST

START_TEST(test_each_sender_is_counted)
{
	unsigned n = 0;

	pass(5, 257, 10);
	pass(7, 129, 20);
	for (unsigned i = 0; i < TRIAD_TRAPS_N; i++) {
		const struct triad_trap_sender *sender = &traps.senders[i];

		n += sender->lid == 5 && sender->kind == 257 && sender->n_heard == 10 &&
			sender->n_kept == 10 - TRIAD_TRAPS_BURST;
		n += sender->lid == 7 && sender->n_heard == 20;
	}
	ck_assert_uint_eq(n, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("traps");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_links_and_changes_of_nodes_are_never_kept);
	tcase_add_test(cases, test_of_a_sender_three_pass_and_then_one_each_period);
	tcase_add_test(cases, test_senders_and_kinds_do_not_count_for_each_other);
	tcase_add_test(cases, test_of_all_together_no_more_than_one_a_second);
	tcase_add_test(cases, test_each_sender_is_counted);
	return run_cases(cases);
}
