/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/search.h"

#include <stdbool.h>

#include "tests/unit/run.h"

static const uint32_t items[] = {2, 3, 3, 3, 5, 8, 13};

#define N (sizeof(items) / sizeof(items[0]))

static unsigned n_asked;

static bool is_below(uint32_t at, uint32_t key)
{
	ck_assert_uint_lt(at, N);
	n_asked++;
	return items[at] < key;
}

START_TEST(test_search_is_as_looking_at_one_after_the_other)
{
	for (uint32_t first = 0; first <= N; first++)
		for (uint32_t end = first; end <= N; end++)
			for (uint32_t key = 0; key < 15; key++) {
				uint32_t at, expected = first;

				while (expected < end && items[expected] < key)
					expected++;
				n_asked = 0;
				TRIAD_SEARCH(at, first, end, is_below(at, key));
				ck_assert_uint_eq(at, expected);
				ck_assert_uint_le(n_asked, 3);
			}
}
END_TEST

START_TEST(test_search_near_the_largest_place)
{
	const uint32_t end = UINT32_MAX;
	uint32_t at;

	TRIAD_SEARCH(at, end - 10, end, at < end - 3);
	ck_assert_uint_eq(at, end - 3);
	TRIAD_SEARCH(at, 0, end, true);
	ck_assert_uint_eq(at, end);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("search");

	tcase_add_test(cases, test_search_is_as_looking_at_one_after_the_other);
	tcase_add_test(cases, test_search_near_the_largest_place);
	return run_cases(cases);
}
