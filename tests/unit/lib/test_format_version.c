/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/format_version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run.h"

#define NAME "# Triad's test"

static const struct {
	const char *octets;
	unsigned version;
} titles[] = {
	{NAME "\nmore", 1},
	{NAME, 1},
	{NAME "; written by itself\n", 1},
	{NAME ", version 1\n", 1},
	{NAME ", version 2; more\n", 2},
	{NAME ", version 31", 31},
	{NAME "\n, version 2\n", 1},
	{NAME ", version 0\n", UINT_MAX},
	{NAME ", version \n", UINT_MAX},
	{NAME ", version x\n", UINT_MAX},
	{NAME ", version 99999999999999999999\n", UINT_MAX},
	{"# Triad's tes", 0},
	{"# Triad's tes\nt", 0},
	{"", 0},
	{"\n" NAME ", version 2\n", 0},
};

/* Reads a heap copy of exactly that size, so that a sanitizer reports any read past the
 * end. */
START_TEST(test_version_of_a_first_line)
{
	size_t size = strlen(titles[_i].octets);
	char *exact = malloc(size ? size : 1);

	memcpy(exact, titles[_i].octets, size);
	ck_assert_uint_eq(triad_format_version(exact, size, NAME), titles[_i].version);
	free(exact);
}
END_TEST

START_TEST(test_version_of_a_message)
{
	ck_assert_uint_eq(triad_format_message_version("TrEl\7", 5, 0x5472456cu), 7);
	ck_assert_uint_eq(triad_format_message_version("TrEl\7", 4, 0x5472456cu), 0);
	ck_assert_uint_eq(triad_format_message_version("TrEl\7", 2, 0x5472456cu), 0);
	ck_assert_uint_eq(triad_format_message_version("TrPm\7", 5, 0x5472456cu), 0);
}
END_TEST

START_TEST(test_words_have_both_versions_and_room)
{
	char text[TRIAD_FORMAT_REFUSAL_SIZE];

	triad_format_refusal(text, UINT_MAX, 1);
	ck_assert_ptr_nonnull(strstr(text, "4294967295"));
	ck_assert_ptr_nonnull(strstr(text, "move it away"));
	triad_format_disagreement(text, 255, 2);
	ck_assert_ptr_nonnull(strstr(text, "version 255"));
	ck_assert_ptr_nonnull(strstr(text, "on both"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("format_version");

	tcase_add_loop_test(cases, test_version_of_a_first_line, 0,
		(int)(sizeof(titles) / sizeof(titles[0])));
	tcase_add_test(cases, test_version_of_a_message);
	tcase_add_test(cases, test_words_have_both_versions_and_room);
	return run_cases(cases);
}
