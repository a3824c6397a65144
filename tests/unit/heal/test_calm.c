/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/calm.h"

#include "tests/unit/run.h"

static struct triad_calm calm;
static uint64_t now_us;

static void set_up(void)
{
	calm = (struct triad_calm){0};
	now_us = 1000 * TRIAD_CALM_US;
	triad_calm_note(&calm, 100, now_us);
}

START_TEST(test_first_count_moves_nothing)
{
	ck_assert_uint_eq(triad_calm_n_moved(&calm, now_us), 0);
}
END_TEST

START_TEST(test_nothing_counted_is_nothing_moved)
{
	calm = (struct triad_calm){0};
	ck_assert_uint_eq(triad_calm_n_moved(&calm, now_us), 0);
}
END_TEST

START_TEST(test_links_that_come_count_as_those_that_go)
{
	triad_calm_note(&calm, 90, now_us);
	triad_calm_note(&calm, 105, now_us);
	triad_calm_note(&calm, 100, now_us);
	ck_assert_uint_eq(triad_calm_n_moved(&calm, now_us), 15);
}
END_TEST

START_TEST(test_link_that_flaps_counts_once)
{
	for (unsigned i = 0; i < 20; i++) {
		now_us += TRIAD_US_PER_S;
		triad_calm_note(&calm, 100 - i % 2, now_us);
	}
	ck_assert_uint_eq(triad_calm_n_moved(&calm, now_us), 1);
}
END_TEST

START_TEST(test_what_moved_is_forgotten_after_one_window_to_two)
{
	/* At any moment of a window. */
	for (uint64_t at_us = 0; at_us < TRIAD_CALM_US; at_us += TRIAD_US_PER_S) {
		set_up();
		now_us += at_us;
		triad_calm_note(&calm, 80, now_us);
		ck_assert_uint_eq(
			triad_calm_n_moved(&calm, now_us + TRIAD_CALM_US - 1), 20);
		ck_assert_uint_eq(
			triad_calm_n_moved(&calm, now_us + 2 * TRIAD_CALM_US), 0);
	}
}
END_TEST

START_TEST(test_slow_trickle_never_adds_up)
{
	for (unsigned i = 1; i <= 100; i++) {
		now_us += TRIAD_CALM_US / 2;
		triad_calm_note(&calm, 100 - i, now_us);
		ck_assert_uint_le(triad_calm_n_moved(&calm, now_us), 4);
	}
}
END_TEST

START_TEST(test_window_begins_when_nobody_asked_for_long)
{
	triad_calm_note(&calm, 80, now_us);
	now_us += 100 * TRIAD_CALM_US + 7;
	triad_calm_note(&calm, 70, now_us);
	ck_assert_uint_eq(triad_calm_n_moved(&calm, now_us), 10);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("calm");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_first_count_moves_nothing);
	tcase_add_test(cases, test_nothing_counted_is_nothing_moved);
	tcase_add_test(cases, test_link_that_flaps_counts_once);
	tcase_add_test(cases, test_links_that_come_count_as_those_that_go);
	tcase_add_test(cases, test_what_moved_is_forgotten_after_one_window_to_two);
	tcase_add_test(cases, test_slow_trickle_never_adds_up);
	tcase_add_test(cases, test_window_begins_when_nobody_asked_for_long);
	return run_cases(cases);
}
