/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/recent.h"

#include "tests/unit/run.h"

static const uint16_t base[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};

static void add(struct triad_recent *recent, size_t at, uint32_t n)
{
	triad_recent_add(recent, (struct triad_fabric_slice){.n = n, .at = at});
}

START_TEST(test_table_found_is_the_first_from_then_on)
{
	struct triad_recent recent = {0};

	ck_assert_int_eq(triad_recent_find(&recent, base, base, 1), -1);
	add(&recent, 0, 2);
	add(&recent, 2, 2);
	add(&recent, 4, 1);
	ck_assert_int_eq(triad_recent_find(&recent, base, base + 2, 2), 1);
	ck_assert_int_eq(triad_recent_find(&recent, base, base + 2, 2), 0);
	ck_assert_int_eq(triad_recent_find(&recent, base, base + 4, 1), 1);
	ck_assert_int_eq(triad_recent_find(&recent, base, base, 2), 2);
	/* a table's beginning isn't the same table */
	ck_assert_int_eq(triad_recent_find(&recent, base, base + 2, 1), -1);
}
END_TEST

START_TEST(test_table_that_was_not_met_for_longest_falls_out)
{
	struct triad_recent recent = {0};

	for (unsigned i = 0; i < TRIAD_RECENT_MOST; i++)
		add(&recent, i, 1);
	ck_assert_int_eq(triad_recent_find(&recent, base, base, 1), 15);
	add(&recent, 16, 1);
	ck_assert_uint_eq(recent.n, TRIAD_RECENT_MOST);
	ck_assert_int_eq(triad_recent_find(&recent, base, base + 1, 1), -1);
	ck_assert_int_eq(triad_recent_find(&recent, base, base, 1), 1);
}
END_TEST

START_TEST(test_table_taken_by_its_index_is_the_one_found_there)
{
	struct triad_recent one = {0}, other = {0};
	struct triad_fabric_slice slice;

	ck_assert(!triad_recent_take(&one, 0, &slice));
	for (unsigned i = 0; i < 5; i++) {
		add(&one, i, 1);
		add(&other, i, 1);
	}
	for (unsigned i = 0; i < 50; i++) {
		unsigned wanted = i * 7 % 5;
		int index = triad_recent_find(&one, base, base + wanted, 1);

		ck_assert_int_ge(index, 0);
		ck_assert(triad_recent_take(&other, (unsigned)index, &slice));
		ck_assert_uint_eq(slice.at, wanted);
	}
	ck_assert(!triad_recent_take(&one, 5, &slice));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("recent");

	tcase_add_test(cases, test_table_found_is_the_first_from_then_on);
	tcase_add_test(cases, test_table_that_was_not_met_for_longest_falls_out);
	tcase_add_test(cases, test_table_taken_by_its_index_is_the_one_found_there);
	return run_cases(cases);
}
