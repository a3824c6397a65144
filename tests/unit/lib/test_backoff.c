/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/backoff.h"

#include "tests/unit/run.h"

START_TEST(test_wait_doubles_after_each_failure_up_to_the_most)
{
	static const uint64_t waits[] = {0, 5, 10, 20, 40, 60, 60};

	for (uint32_t n = 0; n < sizeof(waits) / sizeof(waits[0]); n++)
		ck_assert_uint_eq(triad_backoff(n, 5, 60), waits[n]);
}
END_TEST

START_TEST(test_wait_stays_the_most_however_many_failures)
{
	static const uint32_t numbers[] = {62, 63, 64, 65, 66, 1000, UINT32_MAX};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ck_assert_uint_eq(triad_backoff(numbers[i], 3, 100), 100);
		ck_assert_uint_eq(triad_backoff(numbers[i], 200, 100), 100);
	}
	ck_assert_uint_eq(triad_backoff(64, 1, UINT64_MAX), UINT64_C(1) << 63);
	ck_assert_uint_eq(triad_backoff(65, 1, UINT64_MAX), UINT64_MAX);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("backoff");

	tcase_add_test(cases, test_wait_doubles_after_each_failure_up_to_the_most);
	tcase_add_test(cases, test_wait_stays_the_most_however_many_failures);
	return run_cases(cases);
}
