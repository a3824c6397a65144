/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/ber.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/poisson.h"
#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

/* At the target rate one error is expected in 100 s. */
#define TARGET 1e-12
#define BPS 1e10
#define LAMBDA (TARGET * BPS)
#define INTERVAL_S 10.0
#define FALSE_ALARM_S 3e12 /* 100,000 years */

static struct triad_ber_test test_of(double false_alarm_s, unsigned n_readings)
{
	struct triad_ber_test test;

	ck_assert_int_eq(
		triad_ber_test_init(&test, TARGET, BPS, false_alarm_s, n_readings), 0);
	return test;
}

static enum triad_ber_verdict add(struct triad_ber *ber,
	const struct triad_ber_test *test, uint64_t errors, double seconds)
{
	struct triad_ber_reading reading = {.errors = errors, .seconds = seconds};

	return triad_ber_add(ber, test, &reading);
}

static double evidence_of(const struct triad_ber *ber)
{
	double sum = 0;

	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++)
		sum += ber->evidence[i];
	return sum / TRIAD_BER_N_RATIOS;
}

/* --- targets, parameters --- */

START_TEST(test_targets_every_speed_has_one)
{
	for (int speed = TRIAD_SPEED_SDR; speed < TRIAD_N_SPEEDS; speed++)
		for (int kind = 0; kind < TRIAD_BER_N_KINDS; kind++) {
			double target = triad_ber_target((enum triad_link_speed)speed,
				(enum triad_ber_kind)kind);

			ck_assert(target >= 1e-15 && target <= 1e-5);
		}
	ck_assert_double_eq(triad_ber_target(TRIAD_SPEED_ANY, TRIAD_BER_RAW), 0);
	ck_assert_double_eq(triad_ber_target(TRIAD_SPEED_FDR, TRIAD_BER_SYMBOL), 1e-12);
	ck_assert_double_eq(triad_ber_target(TRIAD_SPEED_NDR, TRIAD_BER_SYMBOL), 1e-15);
}
END_TEST

START_TEST(test_init_out_of_range_is_refused)
{
	const double wrong[] = {0, -1, NAN, INFINITY};
	struct triad_ber_test test;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		double w = wrong[i];

		ck_assert_int_eq(triad_ber_test_init(&test, w, BPS, 1e9, 3), EINVAL);
		ck_assert_int_eq(triad_ber_test_init(&test, TARGET, w, 1e9, 3), EINVAL);
		ck_assert_int_eq(triad_ber_test_init(&test, TARGET, BPS, w, 3), EINVAL);
	}
	ck_assert_int_eq(triad_ber_test_init(&test, TARGET, BPS, 1e9, 0), EINVAL);
	ck_assert_int_eq(triad_ber_test_init(&test, TARGET, BPS, 1e9, 101), EINVAL);
	ck_assert_int_eq(triad_ber_test_init(&test, 1e300, 1e300, 1e9, 3), EINVAL);
	ck_assert_int_eq(triad_ber_test_init(&test, TARGET, BPS, 99, 3), EINVAL);
	ck_assert_int_eq(triad_ber_test_init(&test, TARGET, BPS, 100, 3), 0);
}
END_TEST

START_TEST(test_false_alarm_s_is_links_times_year)
{
	ck_assert_double_eq(triad_ber_false_alarm_s(100000, 1), 1e5 * 365.25 * 86400);
	ck_assert_double_eq(triad_ber_false_alarm_s(1, 2), 365.25 * 43200);
}
END_TEST

/* --- worse --- */

/* The rate is ten times the target: each reading of 10 s has an error. */
START_TEST(test_link_above_target_is_worse_since_it_began)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};
	struct triad_ber_reading reading = {.seconds = INTERVAL_S};
	enum triad_ber_verdict verdict = TRIAD_BER_UNDECIDED;
	struct triad_ber_estimate estimate;

	for (unsigned i = 0; i < 10000; i++) {
		reading.from_us = i * 10 * TRIAD_US_PER_S;
		verdict = triad_ber_add(&ber, &test, &reading);
	}
	ck_assert_int_eq(verdict, TRIAD_BER_GOOD);
	reading.errors = 1;
	for (unsigned i = 10000; verdict != TRIAD_BER_WORSE; i++) {
		ck_assert_uint_lt(i, 10060);
		reading.from_us = i * 10 * TRIAD_US_PER_S;
		verdict = triad_ber_add(&ber, &test, &reading);
	}
	ck_assert_uint_eq(ber.since_us, 100000 * TRIAD_US_PER_S);
	estimate = triad_ber_estimate(&ber, &test, 0.95);
	ck_assert_double_eq_tol(estimate.ber, 10 * TARGET, 1e-20);
	ck_assert_double_eq_tol(estimate.bits, (double)estimate.errors * 1e11, 1);
	ck_assert(estimate.low > TARGET && estimate.low < estimate.ber);
	ck_assert(estimate.high > estimate.ber && estimate.high < 30 * TARGET);
	/* The verdict stays WORSE, and the estimate goes on. */
	ck_assert_int_eq(add(&ber, &test, 1, INTERVAL_S), TRIAD_BER_WORSE);
	ck_assert_uint_eq(
		triad_ber_estimate(&ber, &test, 0.95).errors, estimate.errors + 1);
	ck_assert_double_eq(triad_ber_remaining_s(&ber, &test), 0);
}
END_TEST

START_TEST(test_worse_link_without_errors_becomes_good)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};
	double seconds = 0;

	while (add(&ber, &test, 1, INTERVAL_S) != TRIAD_BER_WORSE)
		;
	while (add(&ber, &test, 0, INTERVAL_S) == TRIAD_BER_WORSE)
		seconds += INTERVAL_S;
	ck_assert_int_eq(ber.verdict, TRIAD_BER_GOOD);
	/* Without errors, 6.9 expected ones decide: e^-6.9 is 1/1000. */
	ck_assert_double_eq_tol(seconds, 690, INTERVAL_S);
}
END_TEST

START_TEST(test_more_errors_never_less_evidence)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	uint64_t random = (uint64_t)time(NULL), seed = random;

	for (unsigned i = 0; i < 2000; i++) {
		struct triad_ber few = {.since_us = 0}, many = few;

		for (unsigned j = 0; j < 50; j++) {
			uint64_t errors = random_below(&random, 4) / 3;
			uint64_t more = random_below(&random, 10) / 9;
			double seconds = 1 + random_below(&random, 100);

			add(&few, &test, errors, seconds);
			if (add(&many, &test, errors + more, seconds) ==
				TRIAD_BER_WORSE)
				break;
			ck_assert_int_ne(few.verdict, TRIAD_BER_WORSE);
			ck_assert_msg(
				evidence_of(&many) >= evidence_of(&few) * 0.999999,
				"seed %lu", (unsigned long)seed);
		}
	}
}
END_TEST

/* The bound in ber.h, for one ratio and readings that aren't cut: n errors come first
 * or last, and are split anywhere. */
START_TEST(test_split_reading_changes_evidence_within_bound)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 1);
	uint64_t random = (uint64_t)time(NULL), seed = random;

	for (unsigned i = 0; i < 20000; i++) {
		struct triad_ber whole = {.since_us = 0}, split;
		double first_s = 1 + random_below(&random, 30);
		double last_s = 1 + random_below(&random, 30);
		double m1 = first_s * LAMBDA, m = (first_s + last_s) * LAMBDA;
		unsigned n1 = random_below(&random, 3), n2 = random_below(&random, 3);
		double before;

		add(&whole, &test, random_below(&random, 3), INTERVAL_S);
		before = whole.evidence[0];
		split = whole;
		add(&whole, &test, n1 + n2, first_s + last_s);
		add(&split, &test, n1, first_s);
		add(&split, &test, n2, last_s);
		ck_assert_msg(split.evidence[0] >= whole.evidence[0] * (before + m1) /
					(before + m) * 0.999999,
			"seed %lu", (unsigned long)seed);
		ck_assert_msg(
			split.evidence[0] <= whole.evidence[0] * exp(m1) * 1.000001,
			"seed %lu", (unsigned long)seed);
	}
}
END_TEST

/* --- bursts --- */

/* Whatever the number of errors, two readings never decide, but three in a row do. */
START_TEST(test_burst_fewer_readings_never_decide)
{
	const uint64_t sizes[] = {1000, 10000, UINT32_MAX, UINT64_MAX};
	uint64_t random = (uint64_t)time(NULL), seed = random;

	for (unsigned n = 2; n <= 6; n++) {
		const struct triad_ber_test test = test_of(FALSE_ALARM_S, n);

		for (unsigned i = 0; i < 4000; i++) {
			struct triad_ber ber = {.since_us = 0};
			enum triad_ber_verdict verdict = TRIAD_BER_UNDECIDED;
			unsigned n_quiet = random_below(&random, 50);

			for (unsigned j = 0; j < n_quiet; j++)
				add(&ber, &test, 0, 1 + random_below(&random, 5000));
			for (unsigned j = 1; j < n; j++) {
				add(&ber, &test, 0, 1);
				verdict = add(&ber, &test, sizes[i % 4],
					1 + random_below(&random, 5000));
				ck_assert_msg(verdict != TRIAD_BER_WORSE,
					"seed %lu: %u of %u readings",
					(unsigned long)seed, j, n);
			}
			add(&ber, &test, sizes[i % 4], 1);
			ck_assert_int_eq(ber.verdict, TRIAD_BER_WORSE);
		}
	}
}
END_TEST

START_TEST(test_burst_once_is_forgotten)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};

	for (unsigned week = 0; week < 20; week++) {
		ck_assert_int_ne(add(&ber, &test, 10000, INTERVAL_S), TRIAD_BER_WORSE);
		for (double s = 0; s < 7 * 86400; s += 600)
			add(&ber, &test, 0, 600);
		ck_assert_int_eq(ber.verdict, TRIAD_BER_GOOD);
	}
}
END_TEST

START_TEST(test_burst_one_reading_allowed_decides)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 1);
	struct triad_ber ber = {.since_us = 0};

	ck_assert_int_eq(add(&ber, &test, 10000, INTERVAL_S), TRIAD_BER_WORSE);
}
END_TEST

/* --- good, undecided --- */

START_TEST(test_quiet_link_is_good_when_it_was_reported)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};
	double seconds = triad_ber_remaining_s(&ber, &test);

	ck_assert_double_eq_tol(seconds, log(1000) / LAMBDA, 1e-6);
	ck_assert_double_eq(triad_ber_estimate(&ber, &test, 0.95).ber, 0);
	ck_assert(isinf(triad_ber_estimate(&ber, &test, 0.95).high));
	ck_assert_int_eq(add(&ber, &test, 0, seconds * 0.999), TRIAD_BER_UNDECIDED);
	ck_assert_double_eq_tol(
		triad_ber_remaining_s(&ber, &test), seconds * 0.001, 1e-6);
	ck_assert_int_eq(add(&ber, &test, 0, seconds * 0.002), TRIAD_BER_GOOD);
	ck_assert_double_eq(triad_ber_remaining_s(&ber, &test), 0);
	ck_assert(triad_ber_estimate(&ber, &test, 0.95).high < TARGET);
}
END_TEST

/* Errors come evenly, every 100 s / 'ratio'.  Checks that the verdict comes about when
 * triad_ber_remaining_s() predicted it. */
static void check_remaining(double ratio, enum triad_ber_verdict wanted)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 1);
	struct triad_ber ber = {.since_us = 0};
	double step_s = 1 / (LAMBDA * ratio), reported_s, seconds = 0;

	for (unsigned i = 0; i < 3; i++)
		add(&ber, &test, 1, step_s);
	reported_s = triad_ber_remaining_s(&ber, &test);
	while (ber.verdict == TRIAD_BER_UNDECIDED && seconds < 1e7) {
		add(&ber, &test, 1, step_s);
		seconds += step_s;
	}
	ck_assert_int_eq(ber.verdict, wanted);
	ck_assert_msg(fabs(reported_s - seconds) <= 0.1 * seconds + step_s,
		"%g times the target: %g s, not %g s", ratio, seconds, reported_s);
}

START_TEST(test_remaining_at_even_rate_comes_true)
{
	check_remaining(0.1, TRIAD_BER_GOOD);
	check_remaining(0.5, TRIAD_BER_GOOD);
	check_remaining(2, TRIAD_BER_WORSE);
	check_remaining(10, TRIAD_BER_WORSE);
}
END_TEST

/* A rate at the target, and one of 0.8 times it: the recent span is too short to decide
 * that. */
START_TEST(test_link_near_its_target_is_never_decided)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);

	for (unsigned tenths = 8; tenths <= 10; tenths += 2) {
		struct triad_ber ber = {.since_us = 0};

		for (unsigned i = 0; i < 100000; i++)
			ck_assert_int_eq(add(&ber, &test, i % 100 % 10 < tenths,
						 INTERVAL_S * 10),
				TRIAD_BER_UNDECIDED);
		ck_assert(isinf(triad_ber_remaining_s(&ber, &test)));
		ck_assert_double_eq_tol(triad_ber_estimate(&ber, &test, 0.95).ber,
			TARGET * tenths / 10, 0.02 * TARGET);
	}
}
END_TEST

/* The verdict GOOD needs slightly more evidence than the exact bound, never less. */
START_TEST(test_good_is_within_the_exact_bound)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);

	for (uint64_t errors = 0; errors < 200; errors++)
		for (double expected = 1; expected < 400; expected *= 1.01) {
			struct triad_ber ber = {.since_us = 0};
			double chance = triad_poisson_at_most(errors, expected);

			add(&ber, &test, errors, expected / LAMBDA);
			if (ber.verdict == TRIAD_BER_GOOD)
				ck_assert(chance < TRIAD_BER_ERROR_PROBABILITY);
			else
				ck_assert(chance > TRIAD_BER_ERROR_PROBABILITY / 40);
		}
}
END_TEST

/* Years without errors don't hide the current rate. */
START_TEST(test_good_for_years_then_above_target_is_worse)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};
	unsigned n = 0;

	for (unsigned i = 0; i < 1000000; i++)
		add(&ber, &test, 0, 300);
	ck_assert_int_eq(ber.verdict, TRIAD_BER_GOOD);
	while (add(&ber, &test, 9, 300) != TRIAD_BER_WORSE)
		n++;
	ck_assert_uint_lt(n, 20);
}
END_TEST

/* --- hard cases --- */

START_TEST(test_lower_bound_is_evidence_but_never_good)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber_reading reading = {.seconds = 300, .is_least = true};
	struct triad_ber ber = {.since_us = 0};

	for (unsigned i = 0; i < 1000; i++)
		ck_assert_int_eq(
			triad_ber_add(&ber, &test, &reading), TRIAD_BER_UNDECIDED);
	reading.errors = UINT64_MAX;
	for (unsigned i = 0; i < 3; i++)
		triad_ber_add(&ber, &test, &reading);
	ck_assert_int_eq(ber.verdict, TRIAD_BER_WORSE);
	ck_assert_uint_eq(ber.episode.errors, UINT64_MAX);
	ck_assert(isfinite(triad_ber_estimate(&ber, &test, 0.95).high));
}
END_TEST

START_TEST(test_reading_without_time_is_ignored)
{
	const double wrong[] = {0, -1, NAN, INFINITY, -INFINITY};
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber, before;

	memset(&ber, 0, sizeof(ber));
	add(&ber, &test, 2, INTERVAL_S);
	before = ber;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		add(&ber, &test, 1, wrong[i]);
		ck_assert_mem_eq(&ber, &before, sizeof(ber));
	}
}
END_TEST

START_TEST(test_any_reading_leaves_numbers)
{
	uint64_t random = (uint64_t)time(NULL), seed = random;

	for (unsigned i = 0; i < 3000; i++) {
		const struct triad_ber_test test =
			test_of(pow(10, 2 + random_below(&random, 290)),
				1 + random_below(&random, 100));
		struct triad_ber ber = {.since_us = 0};

		for (unsigned j = 0; j < 30; j++) {
			uint64_t errors =
				random_next(&random) >> random_below(&random, 64);
			double seconds =
				pow(10, (double)random_below(&random, 500) - 250);

			add(&ber, &test, j % 2 ? errors : 0, seconds);
			ck_assert_msg(evidence_of(&ber) >= 0, "seed %lu",
				(unsigned long)seed);
			ck_assert(!isnan(triad_ber_remaining_s(&ber, &test)));
			ck_assert(triad_ber_remaining_s(&ber, &test) >= 0);
		}
		ck_assert(!isnan(triad_ber_estimate(&ber, &test, 0.95).ber));
	}
}
END_TEST

START_TEST(test_begin_forgets_all)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber ber = {.since_us = 0};

	while (add(&ber, &test, 5, INTERVAL_S) != TRIAD_BER_WORSE)
		;
	triad_ber_begin(&ber);
	ck_assert_int_eq(ber.verdict, TRIAD_BER_UNDECIDED);
	ck_assert_double_eq(evidence_of(&ber), 0);
	ck_assert_double_eq(triad_ber_estimate(&ber, &test, 0.95).bits, 0);
	ck_assert_uint_le(sizeof(ber), 96);
}
END_TEST

/* After hours without a reading, one long reading counts like a hundred short ones. */
START_TEST(test_gap_is_one_long_reading)
{
	const struct triad_ber_test test = test_of(FALSE_ALARM_S, 3);
	struct triad_ber gap = {.since_us = 0}, readings = gap;

	add(&gap, &test, 40, 36000);
	for (unsigned i = 0; i < 120; i++)
		add(&readings, &test, i % 3 == 2, 300);
	ck_assert_int_eq(gap.verdict, TRIAD_BER_GOOD);
	ck_assert_int_eq(readings.verdict, TRIAD_BER_GOOD);
	ck_assert_double_eq(
		triad_ber_estimate(&gap, &test, 0.95).ber, 40 / (36000 * BPS));
}
END_TEST

/* For raw BERs a reading may have hundreds of millions of errors. */
START_TEST(test_raw_errors_by_the_million_are_judged)
{
	struct triad_ber_test test;
	struct triad_ber ber = {.since_us = 0};

	ck_assert_int_eq(triad_ber_test_init(&test, 1e-6, 425e9, FALSE_ALARM_S, 3), 0);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(add(&ber, &test, 100000000, 300), TRIAD_BER_GOOD);
	add(&ber, &test, 400000000, 300);
	add(&ber, &test, 400000000, 300);
	ck_assert_int_ne(ber.verdict, TRIAD_BER_WORSE);
	add(&ber, &test, 400000000, 300);
	add(&ber, &test, 400000000, 300);
	ck_assert_int_eq(ber.verdict, TRIAD_BER_WORSE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("ber");

	tcase_add_test(cases, test_targets_every_speed_has_one);
	tcase_add_test(cases, test_init_out_of_range_is_refused);
	tcase_add_test(cases, test_false_alarm_s_is_links_times_year);
	tcase_add_test(cases, test_link_above_target_is_worse_since_it_began);
	tcase_add_test(cases, test_worse_link_without_errors_becomes_good);
	tcase_add_test(cases, test_more_errors_never_less_evidence);
	tcase_add_test(cases, test_split_reading_changes_evidence_within_bound);
	tcase_add_test(cases, test_burst_fewer_readings_never_decide);
	tcase_add_test(cases, test_burst_once_is_forgotten);
	tcase_add_test(cases, test_burst_one_reading_allowed_decides);
	tcase_add_test(cases, test_quiet_link_is_good_when_it_was_reported);
	tcase_add_test(cases, test_remaining_at_even_rate_comes_true);
	tcase_add_test(cases, test_link_near_its_target_is_never_decided);
	tcase_add_test(cases, test_good_is_within_the_exact_bound);
	tcase_add_test(cases, test_good_for_years_then_above_target_is_worse);
	tcase_add_test(cases, test_lower_bound_is_evidence_but_never_good);
	tcase_add_test(cases, test_reading_without_time_is_ignored);
	tcase_add_test(cases, test_any_reading_leaves_numbers);
	tcase_add_test(cases, test_begin_forgets_all);
	tcase_add_test(cases, test_gap_is_one_long_reading);
	tcase_add_test(cases, test_raw_errors_by_the_million_are_judged);
	return run_cases(cases);
}
