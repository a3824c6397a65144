/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/diag.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_diags diags;
static char text[1024];

static const char *format(size_t i)
{
	triad_diags_format(&diags, i, text, sizeof(text));
	return text;
}

static void begin(void)
{
	triad_diags_init(&diags, "triad.conf");
}

START_TEST(test_diag_places_shown_when_known)
{
	triad_diags_add(&diags, 0, 0, "whole %s", "file");
	triad_diags_add(&diags, 3, 0, "whole line");
	triad_diags_add(&diags, 3, 7, "octet");
	ck_assert_uint_eq(diags.n, 3);
	ck_assert_uint_eq(diags.n_total, 3);
	ck_assert_str_eq(format(0), "triad.conf: whole file");
	ck_assert_str_eq(format(1), "triad.conf:3: whole line");
	ck_assert_str_eq(format(2), "triad.conf:3:7: octet");
}
END_TEST

START_TEST(test_diag_init_empties_list)
{
	triad_diags_add(&diags, 1, 1, "old");
	triad_diags_init(&diags, "other");
	ck_assert_uint_eq(diags.n, 0);
	ck_assert_uint_eq(diags.n_total, 0);
	ck_assert_str_eq(diags.source, "other");
}
END_TEST

START_TEST(test_diag_list_full_kept_whole)
{
	for (unsigned i = 1; i <= TRIAD_DIAG_MAX; i++)
		triad_diags_add(&diags, i, 0, "mistake %u", i);
	ck_assert_uint_eq(diags.n, TRIAD_DIAG_MAX);
	ck_assert_str_eq(format(TRIAD_DIAG_MAX - 1), "triad.conf:64: mistake 64");
}
END_TEST

START_TEST(test_diag_list_over_counted_in_last)
{
	for (unsigned i = 1; i <= TRIAD_DIAG_MAX + 5; i++)
		triad_diags_add(&diags, i, 2, "mistake %u", i);
	ck_assert_uint_eq(diags.n, TRIAD_DIAG_MAX);
	ck_assert_uint_eq(diags.n_total, TRIAD_DIAG_MAX + 5);
	ck_assert_str_eq(format(TRIAD_DIAG_MAX - 2), "triad.conf:63:2: mistake 63");
	assert_mentions(format(TRIAD_DIAG_MAX - 1), "triad.conf 6 more");
}
END_TEST

START_TEST(test_diag_long_text_cut)
{
	char longer[1000];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	triad_diags_init(&diags, longer);
	triad_diags_add(&diags, 1, 0, "%s", longer);
	ck_assert_uint_eq(strlen(diags.source), sizeof(diags.source) - 1);
	ck_assert_uint_eq(strlen(diags.entries[0].text), TRIAD_DIAG_TEXT_SIZE - 1);
	triad_diags_format(&diags, 0, text, 10);
	ck_assert_str_eq(text, "xxxxxxxxx");
}
END_TEST

START_TEST(test_diag_control_characters_replaced)
{
	triad_diags_init(&diags, "a\nb");
	triad_diags_add(&diags, 0, 0, "'%s'", "x\x1b[2J\xff");
	ck_assert_str_eq(format(0), "a?b: 'x?[2J?'");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("diag");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_diag_places_shown_when_known);
	tcase_add_test(cases, test_diag_init_empties_list);
	tcase_add_test(cases, test_diag_list_full_kept_whole);
	tcase_add_test(cases, test_diag_list_over_counted_in_last);
	tcase_add_test(cases, test_diag_long_text_cut);
	tcase_add_test(cases, test_diag_control_characters_replaced);
	return run_cases(cases);
}
