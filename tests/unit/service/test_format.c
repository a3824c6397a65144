/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* service/command/format.h: numbers with three significant digits, and lines wrapped
 * between words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ib/counter.h"
#include "service/command/format.h"
#include "tests/unit/run.h"

static const struct {
	enum triad_counter_unit unit;
	double value;
	const char *text;
} cases[] = {
	{TRIAD_UNIT_PACKETS, 0, "0"},
	/* The lowest rate that a histogram distinguishes from 0. */
	{TRIAD_UNIT_PACKETS, 1.0 / 4096, "0.000244"},
	{TRIAD_UNIT_PACKETS, 0.0625, "0.0625"},
	{TRIAD_UNIT_PACKETS, 1.875, "1.88"},
	{TRIAD_UNIT_PACKETS, 99.949, "99.9"},
	{TRIAD_UNIT_PACKETS, 99.951, "100"},
	{TRIAD_UNIT_PACKETS, 999.4, "999"},
	{TRIAD_UNIT_PACKETS, 999.5, "1.00 k"},
	{TRIAD_UNIT_PACKETS, 53248, "53.2 k"},
	{TRIAD_UNIT_WORDS, 0.0625, "0.25 B"},
	{TRIAD_UNIT_WORDS, 3.2e9, "12.8 GB"},
	{TRIAD_UNIT_EVENTS, 0.25, "0.25"},
	{TRIAD_UNIT_EVENTS, 123456, "123456"},
	{TRIAD_UNIT_EVENTS, NAN, "-"},
};

START_TEST(test_value_has_three_digits_that_count)
{
	char text[32];

	triad_command_format_counter(
		text, sizeof(text), cases[_i].unit, cases[_i].value);
	ck_assert_str_eq(text, cases[_i].text);
}
END_TEST

/* --- lines --- */

static char written[4096];

static bool write_text(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	strncat(written, data, size);
	return true;
}

/* Wraps a text that begins after four columns; further lines are indented by two. */
static const char *wrap(const char *text)
{
	static struct triad_output output;

	written[0] = '\0';
	triad_output_init(&output, write_text, NULL);
	triad_command_put_wrapped(&output, text, 4, 2);
	triad_output_flush(&output);
	return written;
}

START_TEST(test_short_text_is_one_line)
{
	ck_assert_str_eq(wrap("a sentence"), "a sentence\n");
	ck_assert_str_eq(wrap(""), "\n");
}
END_TEST

START_TEST(test_line_ends_between_words_that_still_fit)
{
	char text[256], expected[256];

	/* 76 columns are left: "y" ends in the last one, "z" doesn't fit. */
	snprintf(text, sizeof(text), "%074d y z", 0);
	snprintf(expected, sizeof(expected), "%074d y\n  z\n", 0);
	ck_assert_str_eq(wrap(text), expected);
	/* Widths are counted in characters, not in octets. */
	snprintf(text, sizeof(text), "%072d \303\251\303\251\303\251 z", 0);
	snprintf(
		expected, sizeof(expected), "%072d \303\251\303\251\303\251\n  z\n", 0);
	ck_assert_str_eq(wrap(text), expected);
}
END_TEST

START_TEST(test_word_longer_than_a_line_stays_whole)
{
	char text[512], expected[512];

	snprintf(text, sizeof(text), "see /%0100d for more", 0);
	snprintf(expected, sizeof(expected), "see\n  /%0100d\n  for more\n", 0);
	ck_assert_str_eq(wrap(text), expected);
}
END_TEST

int main(void)
{
	TCase *values = tcase_create("values");

	tcase_add_loop_test(values, test_value_has_three_digits_that_count, 0,
		sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(values, test_short_text_is_one_line);
	tcase_add_test(values, test_line_ends_between_words_that_still_fit);
	tcase_add_test(values, test_word_longer_than_a_line_stays_whole);
	return run_cases(values);
}
