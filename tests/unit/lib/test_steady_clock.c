/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/steady_clock.h"

#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define YEAR (365 * 24 * 3600 * S)
#define WALL (56 * YEAR)
#define BOOT (1000 * S)

static struct triad_steady_clock clock_read;

static void begin(void)
{
	clock_read = (struct triad_steady_clock){0};
}

/* Reads it 'after_us' later, when the wall clock is ahead by 'ahead_us'. */
static uint64_t look(uint64_t after_us, int64_t ahead_us)
{
	return triad_steady_clock_read(
		&clock_read, WALL + after_us + (uint64_t)ahead_us, BOOT + after_us);
}

START_TEST(test_clock_that_is_not_set_followed)
{
	ck_assert_uint_eq(look(0, 0), WALL);
	ck_assert_uint_eq(look(5 * S, (int64_t)S), WALL + 6 * S);
	ck_assert_uint_eq(look(YEAR, (int64_t)S), WALL + YEAR + S);
}
END_TEST

START_TEST(test_clock_set_for_a_time_not_followed)
{
	const int64_t steps[] = {10 * (int64_t)YEAR, -(int64_t)YEAR};

	for (unsigned i = 0; i < 2; i++) {
		begin();
		(void)look(0, 0);
		for (unsigned minute = 1; minute < 60; minute++)
			ck_assert_uint_eq(look(minute * 60 * S, steps[i]),
				WALL + minute * 60 * S);
		ck_assert_uint_eq(look(3600 * S, 0), WALL + 3600 * S);
		/* The next step is doubted as long as the first. */
		ck_assert_uint_eq(look(3601 * S, steps[i]), WALL + 3601 * S);
	}
}
END_TEST

START_TEST(test_clock_set_for_good_followed_after_an_hour)
{
	(void)look(0, 0);
	ck_assert_uint_eq(look(60 * S, (int64_t)YEAR), WALL + 60 * S);
	ck_assert_uint_eq(look(3659 * S, (int64_t)YEAR), WALL + 3659 * S);
	ck_assert_uint_eq(look(3660 * S, (int64_t)YEAR), WALL + 3660 * S + YEAR);
}
END_TEST

START_TEST(test_clock_set_twice_doubted_anew)
{
	(void)look(0, 0);
	(void)look(60 * S, (int64_t)YEAR);
	ck_assert_uint_eq(look(3600 * S, -(int64_t)YEAR), WALL + 3600 * S);
	ck_assert_uint_eq(look(3700 * S, -(int64_t)YEAR), WALL + 3700 * S);
	ck_assert_uint_eq(look(7200 * S, -(int64_t)YEAR), WALL + 7200 * S - YEAR);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("steady_clock");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_clock_that_is_not_set_followed);
	tcase_add_test(cases, test_clock_set_for_a_time_not_followed);
	tcase_add_test(cases, test_clock_set_for_good_followed_after_an_hour);
	tcase_add_test(cases, test_clock_set_twice_doubted_anew);
	return run_cases(cases);
}
