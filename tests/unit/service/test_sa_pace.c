/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sa_pace.h"
#include "tests/unit/run.h"

#define S TRIAD_US_PER_S
#define BEGIN (1000 * S)

static struct triad_sa_pace pace;

static void setup(void)
{
	pace = (struct triad_sa_pace){0};
}

/* Reports each 'every_us' during 'for_us'; readings take no time.  Returns the number
 * of readings, and in '*most' the largest number within a second. */
static unsigned flood(uint64_t every_us, uint64_t for_us, unsigned *most)
{
	uint64_t due_us = UINT64_MAX, last_us = 0;
	unsigned n = 0;

	*most = 1;
	for (uint64_t now_us = BEGIN; now_us < BEGIN + for_us; now_us += every_us) {
		if (now_us >= due_us) {
			if (last_us && now_us - last_us < S)
				++*most;
			last_us = now_us;
			triad_sa_pace_read(&pace, now_us);
			due_us = UINT64_MAX;
			n++;
		}
		if (due_us == UINT64_MAX)
			due_us = triad_sa_pace_report(&pace, now_us);
	}
	return n;
}

START_TEST(test_report_after_calm_answered_in_half_a_second)
{
	ck_assert_uint_eq(triad_sa_pace_report(&pace, BEGIN), BEGIN + S / 2);
	triad_sa_pace_read(&pace, BEGIN + S / 2);
	ck_assert_uint_eq(
		triad_sa_pace_report(&pace, BEGIN + 20 * S), BEGIN + 20 * S + S / 2);
}
END_TEST

START_TEST(test_reports_that_go_on_once_a_second_then_each_10_s)
{
	unsigned most;

	/* Readings are at 0.5, 1.5, 3.5, 7.5 and 15.5 s. */
	ck_assert_uint_eq(flood(S / 8, 20 * S, &most), 5);
	ck_assert_uint_eq(most, 1);
	setup();
	ck_assert_uint_eq(flood(S / 8, 115 * S + S / 2, &most), 5 + 9);
}
END_TEST

START_TEST(test_report_after_reading_waits_for_interval)
{
	triad_sa_pace_report(&pace, BEGIN);
	triad_sa_pace_read(&pace, BEGIN);
	ck_assert_uint_eq(triad_sa_pace_report(&pace, BEGIN + S / 10), BEGIN + S);
	/* A report late in the interval may also be the first of a burst. */
	ck_assert_uint_eq(
		triad_sa_pace_report(&pace, BEGIN + 9 * S / 10), BEGIN + 14 * S / 10);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_pace");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, test_report_after_calm_answered_in_half_a_second);
	tcase_add_test(cases, test_reports_that_go_on_once_a_second_then_each_10_s);
	tcase_add_test(cases, test_report_after_reading_waits_for_interval);
	return run_cases(cases);
}
