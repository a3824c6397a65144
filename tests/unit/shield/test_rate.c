/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "shield/rate.h"

#include <stdlib.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

static struct triad_shield_rate *rate;

static void set_up(void)
{
	rate = calloc(1, sizeof(*rate));
}

static void tear_down(void)
{
	free(rate);
}

/* How many of 'n' requests at once are taken. */
static unsigned take(uint16_t lid, unsigned n, uint32_t per_s, uint64_t now_us)
{
	unsigned n_taken = 0;

	for (unsigned i = 0; i < n; i++)
		n_taken += triad_shield_rate_take(rate, lid, per_s, now_us);
	return n_taken;
}

START_TEST(test_after_a_pause_there_is_room_for_a_burst)
{
	uint64_t now_us = 1000 * TRIAD_US_PER_S;

	ck_assert_uint_eq(take(5, 5000, 100, now_us), 1001);
	ck_assert_uint_eq(take(5, 5000, 100, now_us), 0);
	/* Then as many as the rate says. */
	for (unsigned i = 1; i <= 20; i++)
		ck_assert_uint_eq(take(5, 5000, 100, now_us + i * TRIAD_US_PER_S), 100);
	/* Nobody saves up more than a burst. */
	ck_assert_uint_eq(take(5, 5000, 100, now_us + 1000 * TRIAD_US_PER_S), 1001);
}
END_TEST

START_TEST(test_who_keeps_to_the_rate_is_never_refused)
{
	uint64_t now_us = 7;

	for (unsigned i = 0; i < 100000; i++, now_us += 10000)
		ck_assert(triad_shield_rate_take(rate, 1, 100, now_us));
}
END_TEST

START_TEST(test_clients_do_not_count_for_each_other)
{
	ck_assert_uint_eq(take(1, 100000, 10, 1), 101);
	ck_assert_uint_eq(take(2, 100000, 10, 1), 101);
	/* Whatever LID a MAD has. */
	ck_assert_uint_eq(take(0xffff, 100000, 10, 1), 101);
	ck_assert_uint_eq(take(0, 100000, 10, 1), 101);
}
END_TEST

START_TEST(test_no_rate_takes_all)
{
	ck_assert_uint_eq(take(1, 100000, 0, 1), 100000);
	/* And does not count against a rate that is set later. */
	ck_assert_uint_eq(take(1, 100000, 10, 1), 101);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("rate");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_after_a_pause_there_is_room_for_a_burst);
	tcase_add_test(cases, test_who_keeps_to_the_rate_is_never_refused);
	tcase_add_test(cases, test_clients_do_not_count_for_each_other);
	tcase_add_test(cases, test_no_rate_takes_all);
	return run_cases(cases);
}
