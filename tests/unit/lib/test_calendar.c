/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/calendar.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

static const struct {
	int64_t wall_s;
	const char *text;
} dates[] = {
	{-62135596800, "1-01-01 00:00:00"},
	{-1, "1969-12-31 23:59:59"},
	{0, "1970-01-01 00:00:00"},
	{951782399, "2000-02-28 23:59:59"},
	{951782400, "2000-02-29 00:00:00"},
	{978220800, "2000-12-31 00:00:00"},
	{2147483647, "2038-01-19 03:14:07"},
	{2147483648, "2038-01-19 03:14:08"},
	{4107542399, "2100-02-28 23:59:59"},
	{4107542400, "2100-03-01 00:00:00"},
	{253402300799, "9999-12-31 23:59:59"},
};

static void write_date(const struct tm *date, char text[64])
{
	snprintf(text, 64, "%d-%02d-%02d %02d:%02d:%02d", date->tm_year + 1900,
		date->tm_mon + 1, date->tm_mday, date->tm_hour, date->tm_min,
		date->tm_sec);
}

START_TEST(test_date_known_is_made_and_read)
{
	struct tm date;
	char text[64];

	triad_calendar_from_s(dates[_i].wall_s, &date);
	write_date(&date, text);
	ck_assert_str_eq(text, dates[_i].text);
	ck_assert_int_eq(triad_calendar_to_s(&date), dates[_i].wall_s);
}
END_TEST

START_TEST(test_day_or_month_too_many_carries_over)
{
	struct tm february = {.tm_year = 126, .tm_mon = 1, .tm_mday = 30},
		  thirteenth = {.tm_year = 126, .tm_mon = 12, .tm_mday = 1};
	struct tm date;
	char text[64];

	triad_calendar_from_s(triad_calendar_to_s(&february), &date);
	write_date(&date, text);
	ck_assert_str_eq(text, "2026-03-02 00:00:00");
	triad_calendar_from_s(triad_calendar_to_s(&thirteenth), &date);
	write_date(&date, text);
	ck_assert_str_eq(text, "2027-01-01 00:00:00");
}
END_TEST

/* Compares with the C library, for dates that time_t can represent. */
START_TEST(test_dates_random_are_those_of_the_c_library)
{
	uint64_t seed = triad_clock_now_us(), random = seed;
	/* From the year 1 to 9999, or to 2038. */
	const int64_t first_s = sizeof(time_t) > 4 ? -62135596800 : 0;
	const int64_t last_s = sizeof(time_t) > 4 ? 253402300799 : INT32_MAX;

	printf("# seed %" PRIu64 "\n", seed);
	for (unsigned i = 0; i < 200000; i++) {
		int64_t wall_s = first_s +
			(int64_t)(random_next(&random) %
				(uint64_t)(last_s - first_s + 1));
		time_t seconds = (time_t)wall_s;
		struct tm expected, date;

		gmtime_r(&seconds, &expected);
		triad_calendar_from_s(wall_s, &date);
		if (date.tm_year != expected.tm_year ||
			date.tm_mon != expected.tm_mon ||
			date.tm_mday != expected.tm_mday ||
			date.tm_hour != expected.tm_hour ||
			date.tm_min != expected.tm_min ||
			date.tm_sec != expected.tm_sec)
			ck_abort_msg("%" PRId64 " s", wall_s);
		if (triad_calendar_to_s(&date) != wall_s)
			ck_abort_msg("%" PRId64 " s, read again", wall_s);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("calendar");

	tcase_add_loop_test(cases, test_date_known_is_made_and_read, 0,
		(int)(sizeof(dates) / sizeof(dates[0])));
	tcase_add_test(cases, test_day_or_month_too_many_carries_over);
	tcase_add_test(cases, test_dates_random_are_those_of_the_c_library);
	return run_cases(cases);
}
