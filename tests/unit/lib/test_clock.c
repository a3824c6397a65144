/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text of times, written and read again. */
#include "triad/clock.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/unit/run.h"

START_TEST(test_time_is_read_as_people_write_it)
{
	static const struct {
		const char *text;
		uint64_t wall_s;
	} rows[] = {
		{"2026-01-31T22:00:00Z", 1769896800},
		{"2026-01-31T22:00Z", 1769896800},
		{"2026-01-31T22:00:00.987Z", 1769896800},
		{"2026-01-31T23:00+01:00", 1769896800},
		{"2026-01-31T17:30-0430", 1769896800},
		{"1970-01-01T00:00Z", 0},
		{"2026-01-31T22:00", 1769896800},
		{"2026-01-31T22:00:00", 1769896800},
		{"2026-01-31", 1769817600},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t wall_us = 1;

		ck_assert_msg(
			triad_clock_parse(rows[i].text, &wall_us), "%s", rows[i].text);
		ck_assert_msg(wall_us == rows[i].wall_s * TRIAD_US_PER_S,
			"%s: %" PRIu64, rows[i].text, wall_us);
	}
}
END_TEST

START_TEST(test_what_is_no_time_is_refused)
{
	static const char *const rows[] = {"", "22:00", "2026-01", "2026-01-31Z",
		"2026-01-31T", "2026-02-30T22:00Z", "2026-13-01T22:00Z",
		"2026-01-31T25:00Z", "2026-01-31T22:00Zulu", "2026-01-31 22:00Z",
		"1969-12-31T23:00Z", "now"};
	uint64_t wall_us = 7;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(!triad_clock_parse(rows[i], &wall_us), "%s", rows[i]);
	ck_assert_uint_eq(wall_us, 7);
}
END_TEST

START_TEST(test_time_to_the_second)
{
	char text[TRIAD_CLOCK_TEXT_SIZE];

	ck_assert_str_eq(triad_clock_format_s(UINT64_C(1767323045678901), text),
		"2026-01-02T03:04:05Z");
	ck_assert_str_eq(triad_clock_format_s(0, text), "1970-01-01T00:00:00Z");
}
END_TEST

START_TEST(test_what_is_written_is_read_again)
{
	uint64_t seed = triad_clock_now_us(), random = seed;

	printf("# seed %" PRIu64 "\n", seed);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t wall_us =
			random_next(&random) % UINT64_C(4102444800) * TRIAD_US_PER_S;
		char text[TRIAD_CLOCK_TEXT_SIZE];
		uint64_t read_us;

		triad_clock_format(wall_us, text);
		ck_assert_msg(triad_clock_parse(text, &read_us), "%s", text);
		ck_assert_uint_eq(read_us, wall_us);
	}
}
END_TEST

START_TEST(test_moment_shown_twice_has_one_time)
{
	int64_t offset_us = triad_clock_wall_offset_us();

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t begun_us = triad_clock_wall_us(), wall_us, ended_us;

		ck_assert_int_eq(triad_clock_wall_offset_us(), offset_us);
		wall_us = triad_clock_now_us() + (uint64_t)offset_us;
		ended_us = triad_clock_wall_us();
		ck_assert_uint_ge(wall_us + 6000, begun_us);
		ck_assert_uint_le(wall_us, ended_us + 6000);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("clock");

	tcase_add_test(cases, test_time_is_read_as_people_write_it);
	tcase_add_test(cases, test_what_is_no_time_is_refused);
	tcase_add_test(cases, test_what_is_written_is_read_again);
	tcase_add_test(cases, test_time_to_the_second);
	tcase_add_test(cases, test_moment_shown_twice_has_one_time);
	return run_cases(cases);
}
