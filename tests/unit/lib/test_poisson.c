/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/poisson.h"

#include <math.h>

#include "tests/unit/run.h"

/* Bounds computed with 40 digits: the roots of mpmath.gammainc(n, x, inf, regularized),
 * and those for n + 1. */
static const struct {
	uint64_t n;
	double confidence, low, high;
} known[] = {
	{0, 0.95, 0, 3.68887945411394},
	{1, 0.95, 0.0253178079842899, 5.5716433909389},
	{2, 0.95, 0.242209278543965, 7.22468766772396},
	{5, 0.95, 1.62348639011842, 11.6683320793227},
	{10, 0.95, 4.79538869613243, 18.3903560420178},
	{50, 0.95, 37.1109637374619, 65.9187666643368},
	{1000, 0.95, 938.973018407695, 1063.9521360163},
	{99999, 0.95, 99380.1557627304, 100620.741640774},
	{100000, 0.95, 99381.1526637447, 100621.744739744},
	{1000000, 0.95, 998040.983340294, 1001961.91194543},
	{100000000, 0.95, 99980401.3073247, 100019601.587079},
	{0, 0.99, 0, 5.29831736654804},
	{1, 0.99, 0.00501254182354428, 7.43012950028012},
	{10, 0.99, 3.71692213146712, 21.3978274996543},
	{1000, 0.99, 920.424046163359, 1084.37286806439},
	{99999, 0.99, 99186.3337059191, 100816.426960557},
	{100000, 0.99, 99187.3296331648, 100817.431033291},
	{100000000, 0.99, 99974243.585266, 100025761.171461},
};

START_TEST(test_interval_known_values_are_met)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct triad_poisson_interval interval =
			triad_poisson_interval(known[i].n, known[i].confidence);
		double width = known[i].high - known[i].low;
		/* The tolerance that the header promises for either method. */
		double tolerance = known[i].n < TRIAD_POISSON_EXACT
			? 1e-9 * known[i].high
			: fmin(1e-8 * known[i].high, 1e-6 * width);

		ck_assert_double_eq_tol(interval.low, known[i].low, tolerance);
		ck_assert_double_eq_tol(interval.high, known[i].high, tolerance);
	}
}
END_TEST

/* The sum of all probabilities up to n, term by term. */
static double at_most_summed(uint64_t n, double mean)
{
	double term = exp(-mean), sum = term;

	for (uint64_t i = 1; i <= n; i++) {
		term *= mean / (double)i;
		sum += term;
	}
	return sum;
}

START_TEST(test_at_most_is_the_sum_of_chances)
{
	for (uint64_t n = 0; n < 200; n++)
		for (double mean = 0.001; mean < 600; mean *= 1.7)
			ck_assert_double_eq_tol(triad_poisson_at_most(n, mean),
				at_most_summed(n, mean), 1e-12);
}
END_TEST

/* An exact interval contains the mean with at least its confidence. */
START_TEST(test_interval_any_mean_is_covered)
{
	for (double mean = 0.05; mean < 60; mean *= 1.03) {
		double term = exp(-mean), covered = 0;

		for (uint64_t n = 0; n < 200; n++) {
			struct triad_poisson_interval interval =
				triad_poisson_interval(n, 0.95);

			if (interval.low <= mean && mean <= interval.high)
				covered += term;
			term *= mean / (double)(n + 1);
		}
		ck_assert_msg(
			covered >= 0.95 - 1e-9, "%g covered of %g", covered, mean);
	}
}
END_TEST

START_TEST(test_interval_any_count_is_within_and_grows)
{
	struct triad_poisson_interval before = {-1, 0};

	for (double count = 0; count < 1.8e19; count = floor(count * 1.37) + 1) {
		uint64_t n = (uint64_t)count;
		struct triad_poisson_interval interval =
			triad_poisson_interval(n, 0.95);

		ck_assert(interval.low > before.low && interval.high > before.high);
		ck_assert(interval.low <= count && count < interval.high);
		before = interval;
	}
	before = triad_poisson_interval(UINT64_MAX, 0.95);
	ck_assert_double_eq_tol(before.low, 0x1p64 - 1.96 * 0x1p32, 1e8);
	ck_assert_double_eq_tol(before.high, 0x1p64 + 1.96 * 0x1p32, 1e8);
}
END_TEST

START_TEST(test_interval_more_confidence_is_wider)
{
	for (uint64_t n = 0; n < 300000; n = n * 3 + 1) {
		struct triad_poisson_interval a = triad_poisson_interval(n, 0.9);
		struct triad_poisson_interval b = triad_poisson_interval(n, 0.999);

		ck_assert(b.low <= a.low && b.high > a.high);
	}
}
END_TEST

START_TEST(test_wrong_arguments_are_no_numbers)
{
	const double wrong[] = {0, 1, -0.5, 2, NAN, INFINITY};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct triad_poisson_interval interval =
			triad_poisson_interval(3, wrong[i]);

		ck_assert(isnan(interval.low) && isnan(interval.high));
	}
	ck_assert(isnan(triad_poisson_at_most(3, NAN)));
	ck_assert(isnan(triad_poisson_at_most(3, -1)));
	ck_assert_double_eq(triad_poisson_at_most(0, 0), 1);
	ck_assert_double_eq(triad_poisson_at_most(UINT64_MAX, 0), 1);
	ck_assert_double_eq(triad_poisson_at_most(5, INFINITY), 0);
	ck_assert_double_eq(triad_poisson_at_most(UINT64_MAX, INFINITY), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("poisson");

	tcase_add_test(cases, test_interval_known_values_are_met);
	tcase_add_test(cases, test_at_most_is_the_sum_of_chances);
	tcase_add_test(cases, test_interval_any_mean_is_covered);
	tcase_add_test(cases, test_interval_any_count_is_within_and_grows);
	tcase_add_test(cases, test_interval_more_confidence_is_wider);
	tcase_add_test(cases, test_wrong_arguments_are_no_numbers);
	return run_cases(cases);
}
