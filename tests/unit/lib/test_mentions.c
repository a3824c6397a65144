/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What tests of messages look for (tests/unit/mentions.h). */
#include "tests/unit/mentions.h"

#define MESSAGE "leaf-01: port 13: SL 5 goes to VL 7\n"

START_TEST(test_words_in_their_order_are_mentioned)
{
	ck_assert(mentions(MESSAGE, "leaf-01 port 13 SL 5 VL 7"));
	ck_assert(mentions(MESSAGE, "leaf-01: 13: SL 5 7\n"));
	ck_assert(!mentions(MESSAGE, "SL 7 VL 5"));
	ck_assert(!mentions(MESSAGE, "port 13 13"));
}
END_TEST

START_TEST(test_part_of_a_word_is_not_mentioned)
{
	ck_assert(!mentions(MESSAGE, "port 3"));
	ck_assert(!mentions(MESSAGE, "port 1"));
	ck_assert(!mentions(MESSAGE, "eaf-01"));
}
END_TEST

START_TEST(test_each_line_mentions_its_words)
{
	ck_assert(mentions("a 1\nb 2\n", "1\n2"));
	ck_assert(!mentions("a 1\nb 2\n", "2\n1"));
	ck_assert(!mentions("a 1\nb 2\n", "1"));
	ck_assert(!mentions("a 1\n", "1\n2"));
	ck_assert(!mentions("", "1"));
	ck_assert(!mentions("a 1", ""));
}
END_TEST

START_TEST(test_one_line_of_some_has_the_words)
{
	ck_assert(has_line_with("a 1\nb 2\n", "b 2"));
	ck_assert(!has_line_with("a 1\nb 2\n", "a 2"));
	ck_assert(!has_line_with("", "a"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("mentions");

	tcase_add_test(cases, test_words_in_their_order_are_mentioned);
	tcase_add_test(cases, test_part_of_a_word_is_not_mentioned);
	tcase_add_test(cases, test_each_line_mentions_its_words);
	tcase_add_test(cases, test_one_line_of_some_has_the_words);
	return run_cases(cases);
}
