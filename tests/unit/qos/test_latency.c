/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/latency.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

#define LAST_END ((UINT64_C(1) << 42) - 1)

static struct triad_latency latency;

static void set_up(void)
{
	memset(&latency, 0, sizeof(latency));
}

/* The upper end of the bucket that contains 'ns'. */
static uint64_t reported(uint64_t ns)
{
	struct triad_latency_summary summary;

	set_up();
	triad_latency_add(&latency, ns);
	summary = triad_latency_summarize(&latency);
	ck_assert_uint_eq(summary.n, 1);
	ck_assert_uint_eq(summary.p50_ns, summary.max_ns);
	ck_assert_uint_eq(summary.p99_ns, summary.max_ns);
	return summary.max_ns;
}

START_TEST(test_summary_of_nothing_is_0)
{
	struct triad_latency_summary summary = triad_latency_summarize(&latency);

	ck_assert_uint_eq(summary.n, 0);
	ck_assert_uint_eq(summary.p50_ns, 0);
	ck_assert_uint_eq(summary.max_ns, 0);
}
END_TEST

START_TEST(test_bucket_small_numbers_exact)
{
	for (uint64_t ns = 0; ns < 16; ns++)
		ck_assert_uint_eq(reported(ns), ns);
	ck_assert_uint_eq(reported(16), 17);
	ck_assert_uint_eq(reported(17), 17);
	ck_assert_uint_eq(reported(18), 19);
	ck_assert_uint_eq(reported(1023), 1023);
	ck_assert_uint_eq(reported(1024), 1024 + 127);
	ck_assert_uint_eq(reported(1024 + 127), 1024 + 127);
	ck_assert_uint_eq(reported(1024 + 128), 1024 + 255);
}
END_TEST

START_TEST(test_bucket_end_within_an_eighth)
{
	for (unsigned shift = 3; shift < 42; shift++)
		for (unsigned i = 0; i < 40; i++) {
			uint64_t ns = UINT64_C(1) << shift;

			ns += (ns - 1) * i / 39;
			ck_assert_uint_ge(reported(ns), ns);
			ck_assert_uint_le(reported(ns), ns + ns / 8);
			/* The end belongs to its bucket; the next value doesn't. */
			ck_assert_uint_eq(reported(reported(ns)), reported(ns));
			if (reported(ns) < LAST_END)
				ck_assert_uint_gt(
					reported(reported(ns) + 1), reported(ns));
		}
}
END_TEST

START_TEST(test_bucket_beyond_the_last_is_the_last)
{
	ck_assert_uint_eq(reported(LAST_END), LAST_END);
	ck_assert_uint_eq(reported(LAST_END + 1), LAST_END);
	ck_assert_uint_eq(reported(UINT64_MAX), LAST_END);
}
END_TEST

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void check_part(unsigned seed, uint64_t value, uint64_t exact)
{
	ck_assert_msg(value >= exact && value <= exact + exact / 8,
		"seed %u: %lu, not %lu", seed, (unsigned long)value,
		(unsigned long)exact);
}

START_TEST(test_quantiles_random_times_within_an_eighth)
{
	enum { MAX = 3000 };
	unsigned seed = (unsigned)time(NULL);
	uint64_t times[MAX];

	srand(seed);
	for (unsigned round = 0; round < 50; round++) {
		struct triad_latency_summary summary;
		unsigned n = 1 + (unsigned)rand() % MAX;

		set_up();
		for (unsigned i = 0; i < n; i++) {
			times[i] = (uint64_t)rand() >> rand() % 24;
			triad_latency_add(&latency, times[i]);
		}
		qsort(times, n, sizeof(times[0]), compare);
		summary = triad_latency_summarize(&latency);
		ck_assert_uint_eq(summary.n, n);
		check_part(seed, summary.p50_ns, times[n / 2]);
		check_part(seed, summary.p99_ns, times[(unsigned)(n * 0.99)]);
		check_part(seed, summary.max_ns, times[n - 1]);
	}
}
END_TEST

/* Compares with a plain count of the same times. */
START_TEST(test_counts_below_doublings_and_sum_are_those_of_the_times)
{
	enum { N = 5000 };
	unsigned seed = (unsigned)time(NULL);
	uint64_t n_below[TRIAD_LATENCY_N_ENDS] = {0}, sum_ns = 0;
	struct triad_latency_summary summary;

	srand(seed);
	for (unsigned i = 0; i < N; i++) {
		uint64_t ns = ((uint64_t)rand() << 4) >> rand() % 30;

		triad_latency_add(&latency, ns);
		sum_ns += ns;
		for (unsigned end = 0; end < TRIAD_LATENCY_N_ENDS; end++)
			n_below[end] += ns < triad_latency_end_ns(end);
	}
	/* Times equal to the ends. */
	for (unsigned end = 0; end < TRIAD_LATENCY_N_ENDS; end++) {
		triad_latency_add(&latency, triad_latency_end_ns(end));
		sum_ns += triad_latency_end_ns(end);
		for (unsigned above = end + 1; above < TRIAD_LATENCY_N_ENDS; above++)
			n_below[above]++;
	}
	summary = triad_latency_summarize(&latency);
	ck_assert_uint_eq(summary.n, N + TRIAD_LATENCY_N_ENDS);
	ck_assert_uint_eq(summary.sum_ns, sum_ns);
	for (unsigned end = 0; end < TRIAD_LATENCY_N_ENDS; end++)
		ck_assert_msg(summary.n_below[end] == n_below[end],
			"seed %u, end %u: %lu, not %lu", seed, end,
			(unsigned long)summary.n_below[end],
			(unsigned long)n_below[end]);
	ck_assert_uint_eq(triad_latency_end_ns(0), 1024);
	ck_assert_uint_eq(triad_latency_end_ns(TRIAD_LATENCY_N_ENDS - 1), 1 << 30);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("latency");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_summary_of_nothing_is_0);
	tcase_add_test(cases, test_bucket_small_numbers_exact);
	tcase_add_test(cases, test_bucket_end_within_an_eighth);
	tcase_add_test(cases, test_bucket_beyond_the_last_is_the_last);
	tcase_add_test(cases, test_quantiles_random_times_within_an_eighth);
	tcase_add_test(
		cases, test_counts_below_doublings_and_sum_are_those_of_the_times);
	return run_cases(cases);
}
