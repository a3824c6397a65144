/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/histogram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

static unsigned seed;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
}

/* A random value with a random number of bits, so that every octave occurs. */
static uint64_t random_value(unsigned max_bits)
{
	unsigned bits = 1 + (unsigned)rand() % max_bits;
	uint64_t value =
		(uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand();

	return (value & ((UINT64_C(1) << (bits - 1)) - 1)) | UINT64_C(1) << (bits - 1);
}

static bool add(struct triad_histogram *histogram, uint64_t value)
{
	return triad_histogram_add(histogram, triad_histogram_place((double)value));
}

static bool are_equal(const struct triad_histogram *a, const struct triad_histogram *b)
{
	return a->first == b->first && a->n == b->n && a->joined == b->joined &&
		!memcmp(a->counts, b->counts, a->n * sizeof(*a->counts));
}

START_TEST(test_value_is_in_its_bucket)
{
	for (unsigned i = 0; i < 100000; i++) {
		struct triad_histogram histogram;
		struct triad_histogram_bucket bucket;
		uint64_t value = random_value(62);

		triad_histogram_init(&histogram, 16);
		ck_assert(add(&histogram, value));
		ck_assert_uint_eq(histogram.n, 1);
		bucket = triad_histogram_bucket(&histogram, 0);
		ck_assert_uint_eq(bucket.count, 1);
		ck_assert_msg(
			bucket.low <= (double)value && (double)value < bucket.high,
			"seed %u: %lu is not in %g to %g", seed, (unsigned long)value,
			bucket.low, bucket.high);
		triad_histogram_clear(&histogram);
	}
}
END_TEST

/* As the header promises, the middle of a bucket differs from its values by at most
 * 1/2^(scale + 1). */
START_TEST(test_middle_of_bucket_error_is_bounded)
{
	struct triad_histogram histogram;

	for (unsigned round = 0; round < 200; round++) {
		unsigned bits = 1 + (unsigned)rand() % 62;
		double worst = 0, bound;

		triad_histogram_init(&histogram, 2 + (unsigned)rand() % 60);
		for (unsigned i = 0; i < 500; i++)
			ck_assert(add(&histogram, random_value(bits)));
		bound = triad_histogram_error(&histogram);
		if (triad_histogram_scale(&histogram) >= 0)
			ck_assert_double_eq(bound,
				ldexp(1, -(triad_histogram_scale(&histogram) + 1)));
		for (unsigned i = 0; i < histogram.n; i++) {
			struct triad_histogram_bucket b =
				triad_histogram_bucket(&histogram, i);
			double error = ((b.low + b.high) / 2 - b.low) / b.low;

			worst = error > worst ? error : worst;
		}
		ck_assert_msg(worst <= bound * (1 + 1e-9), "seed %u: %g over %g", seed,
			worst, bound);
		triad_histogram_clear(&histogram);
	}
}
END_TEST

/* Compares with a simple implementation: it keeps all values, and sorts them into
 * buckets at the end. */
START_TEST(test_counts_are_those_of_all_values)
{
	for (unsigned round = 0; round < 300; round++) {
		static uint64_t values[400];
		struct triad_histogram histogram;
		unsigned bits = 1 + (unsigned)rand() % 62;

		triad_histogram_init(&histogram, 2 + (unsigned)rand() % 40);
		for (unsigned i = 0; i < 400; i++) {
			values[i] = random_value(bits);
			ck_assert(add(&histogram, values[i]));
			ck_assert_uint_le(histogram.n, histogram.most);
		}
		ck_assert_uint_eq(triad_histogram_count(&histogram), 400);
		for (unsigned b = 0; b < histogram.n; b++) {
			struct triad_histogram_bucket bucket =
				triad_histogram_bucket(&histogram, b);
			uint64_t n = 0;

			for (unsigned i = 0; i < 400; i++)
				n += (double)values[i] >= bucket.low &&
					(double)values[i] < bucket.high;
			ck_assert_msg(n == bucket.count, "seed %u: %lu, not %lu", seed,
				(unsigned long)bucket.count, (unsigned long)n);
		}
		triad_histogram_clear(&histogram);
	}
}
END_TEST

static void fill(struct triad_histogram *histogram, unsigned most, unsigned n,
	unsigned bits, uint64_t *values)
{
	triad_histogram_init(histogram, most);
	for (unsigned i = 0; i < n; i++) {
		values[i] = random_value(bits);
		ck_assert(add(histogram, values[i]));
	}
}

/* (a + b) + c, a + (b + c), c + (a + b) and all values one by one are the same. */
/* Row: M8 */
START_TEST(test_merge_is_exact_associative_and_commutative)
{
	for (unsigned round = 0; round < 300; round++) {
		struct triad_histogram part[3], left, right, other, plain;
		static uint64_t values[3][100];
		unsigned most = 2 + (unsigned)rand() % 40;

		triad_histogram_init(&left, most);
		triad_histogram_init(&right, most);
		triad_histogram_init(&other, most);
		triad_histogram_init(&plain, most);
		for (unsigned i = 0; i < 3; i++) {
			unsigned n = (unsigned)rand() % 100;

			fill(&part[i], most, n, 1 + (unsigned)rand() % 62, values[i]);
			for (unsigned j = 0; j < n; j++)
				ck_assert(add(&plain, values[i][j]));
		}
		ck_assert(triad_histogram_merge(&left, &part[0]));
		ck_assert(triad_histogram_merge(&left, &part[1]));
		ck_assert(triad_histogram_merge(&left, &part[2]));
		ck_assert(triad_histogram_merge(&right, &part[1]));
		ck_assert(triad_histogram_merge(&right, &part[2]));
		ck_assert(triad_histogram_merge(&other, &part[2]));
		ck_assert(triad_histogram_merge(&other, &part[0]));
		ck_assert(triad_histogram_merge(&other, &part[1]));
		ck_assert(triad_histogram_merge(&part[0], &right));
		ck_assert_msg(are_equal(&left, &part[0]), "seed %u: associative", seed);
		ck_assert_msg(are_equal(&left, &other), "seed %u: commutative", seed);
		ck_assert_msg(are_equal(&left, &plain), "seed %u: exact", seed);
		for (unsigned i = 0; i < 3; i++)
			triad_histogram_clear(&part[i]);
		triad_histogram_clear(&left);
		triad_histogram_clear(&right);
		triad_histogram_clear(&other);
		triad_histogram_clear(&plain);
	}
}
END_TEST

START_TEST(test_what_was_there_earlier_is_taken_away)
{
	for (unsigned i = 0; i < 500; i++) {
		unsigned most = i % 2 ? TRIAD_HISTOGRAM_MOST : 16;
		struct triad_histogram earlier, later, since, all;

		triad_histogram_init(&earlier, most);
		triad_histogram_init(&since, most);
		triad_histogram_init(&later, most);
		for (unsigned k = (unsigned)rand() % 100; k; k--)
			ck_assert(add(&earlier, random_value(30)));
		for (unsigned k = (unsigned)rand() % 100; k; k--)
			ck_assert(add(&since, random_value(30)));
		ck_assert(triad_histogram_merge(&later, &earlier));
		ck_assert(triad_histogram_merge(&later, &since));
		ck_assert(triad_histogram_subtract(&later, &earlier));
		ck_assert(!later.n || (later.counts[0] && later.counts[later.n - 1]));
		/* The difference, with the same buckets, equals 'since'. */
		triad_histogram_init(&all, most);
		ck_assert(triad_histogram_merge(&all, &later));
		ck_assert(triad_histogram_merge(&later, &since));
		for (unsigned k = 0; k < later.n; k++)
			ck_assert_msg(later.counts[k] ==
					2 * all.counts[later.first + k - all.first],
				"seed %u, %u: bucket %u", seed, i, k);
		triad_histogram_clear(&earlier);
		triad_histogram_clear(&since);
		triad_histogram_clear(&later);
		triad_histogram_clear(&all);
	}
}
END_TEST

START_TEST(test_what_began_anew_is_not_the_same)
{
	struct triad_histogram earlier, later;

	triad_histogram_init(&earlier, 16);
	triad_histogram_init(&later, 16);
	ck_assert(add(&earlier, 1000));
	ck_assert(add(&later, 2000));
	ck_assert(!triad_histogram_subtract(&later, &earlier));
	ck_assert(add(&later, 1000));
	ck_assert(triad_histogram_subtract(&later, &earlier));
	ck_assert(!triad_histogram_subtract(&later, &earlier));
	/* The earlier histogram has coarser buckets than the later one. */
	ck_assert(add(&earlier, 1) && add(&earlier, UINT64_C(1) << 40));
	ck_assert(add(&later, 1000));
	ck_assert(!triad_histogram_subtract(&later, &earlier));
	triad_histogram_clear(&earlier);
	triad_histogram_clear(&later);
}
END_TEST

START_TEST(test_coarse_into_fine_becomes_coarse)
{
	struct triad_histogram fine, coarse;

	triad_histogram_init(&fine, TRIAD_HISTOGRAM_MOST);
	triad_histogram_init(&coarse, 4);
	ck_assert(add(&fine, 1000));
	ck_assert(add(&coarse, 10));
	ck_assert(add(&coarse, 1000000));
	ck_assert_int_lt(triad_histogram_scale(&coarse), 0);
	ck_assert(triad_histogram_merge(&fine, &coarse));
	ck_assert_int_eq(triad_histogram_scale(&fine), triad_histogram_scale(&coarse));
	ck_assert_uint_eq(triad_histogram_count(&fine), 3);
	triad_histogram_clear(&fine);
	triad_histogram_clear(&coarse);
}
END_TEST

START_TEST(test_quantile_is_within_the_error)
{
	struct triad_histogram histogram;

	triad_histogram_init(&histogram, TRIAD_HISTOGRAM_MOST);
	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert(add(&histogram, i * 1000));
	ck_assert_double_eq_tol(
		triad_histogram_quantile(&histogram, 0, 0.5), 500000, 62500);
	ck_assert_double_eq_tol(
		triad_histogram_quantile(&histogram, 0, 0.99), 990000, 123750);
	/* With as many zeros as other values the median is 0. */
	ck_assert_double_eq(triad_histogram_quantile(&histogram, 1000, 0.5), 0);
	ck_assert_double_eq_tol(
		triad_histogram_quantile(&histogram, 1000, 0.75), 500000, 62500);
	triad_histogram_clear(&histogram);
}
END_TEST

START_TEST(test_rate_of_one_event_in_an_hour_is_not_none)
{
	struct triad_histogram histogram;
	struct triad_histogram_bucket bucket;

	triad_histogram_init(&histogram, 16);
	ck_assert(triad_histogram_add(
		&histogram, triad_histogram_place(triad_histogram_factor(3600e6))));
	bucket = triad_histogram_bucket(&histogram, 0);
	ck_assert_double_eq_tol(bucket.low, 4096.0 / 3600, 0.15);
	triad_histogram_clear(&histogram);
	ck_assert_uint_eq(triad_histogram_place(triad_histogram_factor(1e12)), 0);
	ck_assert_uint_eq(triad_histogram_place(0x1p63), TRIAD_HISTOGRAM_MOST - 1);
	ck_assert_uint_eq(triad_histogram_place((double)UINT64_MAX * 4096),
		TRIAD_HISTOGRAM_MOST - 1);
	ck_assert_uint_eq(triad_histogram_place(4096), 48);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("histogram");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_value_is_in_its_bucket);
	tcase_add_test(cases, test_middle_of_bucket_error_is_bounded);
	tcase_add_test(cases, test_counts_are_those_of_all_values);
	tcase_add_test(cases, test_merge_is_exact_associative_and_commutative);
	tcase_add_test(cases, test_what_was_there_earlier_is_taken_away);
	tcase_add_test(cases, test_what_began_anew_is_not_the_same);
	tcase_add_test(cases, test_coarse_into_fine_becomes_coarse);
	tcase_add_test(cases, test_quantile_is_within_the_error);
	tcase_add_test(cases, test_rate_of_one_event_in_an_hour_is_not_none);
	return run_cases(cases);
}
