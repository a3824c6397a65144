/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/ber.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/poisson.h"

#define SECONDS_PER_YEAR (365.25 * 86400)
#define LEAST_EXPECTED 1.0
#define MAX_READINGS 100u
/* Evidence below this many times that of a quiet link is no rise. */
#define RISE 2.0

/* --- the test --- */

/* The ratios k to the target: log2(k), and k - 1. */
static const struct {
	double octaves, excess;
} ratios[TRIAD_BER_N_RATIOS] = {{1, 1}, {2, 3}, {4, 15}, {6, 63}};

/* Evidence for one ratio on a link that long had no errors and is read continuously;
 * longer readings give less. */
static double quiet(unsigned i)
{
	return 1 / ratios[i].excess;
}

static double quiet_mean(void)
{
	double sum = 0;

	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++)
		sum += quiet(i);
	return sum / TRIAD_BER_N_RATIOS;
}

static bool is_positive(double number)
{
	return number > 0 && isfinite(number);
}

int triad_ber_test_init(struct triad_ber_test *test, double target, double bps,
	double false_alarm_s, unsigned n_readings)
{
	double alarm = target * bps * false_alarm_s;

	if (!is_positive(target) || !is_positive(bps) || !is_positive(false_alarm_s) ||
		!is_positive(alarm) || alarm < LEAST_EXPECTED || n_readings < 1 ||
		n_readings > MAX_READINGS)
		return EINVAL;
	*test = (struct triad_ber_test){
		.target = target,
		.bps = bps,
		.alarm = alarm,
		/* n - 1 readings stay below the alarm; n pass it, with a margin for
		 * evidence that fades between them. */
		.most = pow(alarm / quiet_mean(), 1 / (n_readings - 0.5)),
	};
	return 0;
}

double triad_ber_false_alarm_s(uint64_t n_links, double per_year)
{
	return (double)n_links * SECONDS_PER_YEAR / per_year;
}

/* --- evidence for worse --- */

static double evidence_of(const struct triad_ber *ber)
{
	double sum = 0;

	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++)
		sum += ber->evidence[i];
	return sum / TRIAD_BER_N_RATIOS;
}

static void evidence_add(struct triad_ber *ber, const struct triad_ber_test *test,
	double errors, double expected)
{
	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++) {
		double before = ber->evidence[i];
		double most = test->most * fmax(before, quiet(i));
		double after = (before + expected) *
			exp2(ratios[i].octaves * errors -
				ratios[i].excess * expected * M_LOG2E);

		ber->evidence[i] = fmin(after, most);
	}
}

/* Adds time without errors in the limit of ever shorter readings: evidence grows by the
 * expected errors, and fades. */
static void evidence_add_quiet(struct triad_ber *ber, double expected)
{
	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++) {
		double faded = -expm1(-ratios[i].excess * expected);

		ber->evidence[i] += faded * (quiet(i) - ber->evidence[i]);
	}
}

/* --- spans --- */

static void span_add(struct triad_ber_span *span, uint64_t errors, double expected)
{
	if (__builtin_add_overflow(span->errors, errors, &span->errors))
		span->errors = UINT64_MAX;
	span->expected += expected;
}

static void recent_clear(struct triad_ber *ber)
{
	memset(ber->recent, 0, sizeof(ber->recent));
}

static void recent_add(struct triad_ber *ber, uint64_t errors, double expected)
{
	if (ber->recent[0].expected >= TRIAD_BER_SPAN) {
		ber->recent[1] = ber->recent[0];
		ber->recent[0] = (struct triad_ber_span){0};
	}
	span_add(&ber->recent[0], errors, expected);
}

static struct triad_ber_span recent_of(const struct triad_ber *ber)
{
	struct triad_ber_span span = ber->recent[0];

	span_add(&span, ber->recent[1].errors, ber->recent[1].expected);
	return span;
}

/* How surprising so few errors are at the target: by Chernoff's bound, their chance is
 * at most e^-surprise; 0 when they are not few. */
static double surprise(struct triad_ber_span span)
{
	double errors = (double)span.errors;

	if (errors >= span.expected)
		return 0;
	return span.expected - errors +
		(errors > 0 ? errors * log(errors / span.expected) : 0);
}

static bool is_good(struct triad_ber_span span)
{
	return surprise(span) > -log(TRIAD_BER_ERROR_PROBABILITY);
}

/* --- a link --- */

void triad_ber_begin(struct triad_ber *ber)
{
	*ber = (struct triad_ber){.verdict = TRIAD_BER_UNDECIDED};
}

static void episode_begin(struct triad_ber *ber, uint64_t now_us)
{
	ber->episode = (struct triad_ber_span){0};
	ber->since_us = now_us;
}

/* Readings from here on decide when the link is good again. */
static void alarm(struct triad_ber *ber)
{
	ber->verdict = TRIAD_BER_WORSE;
	memset(ber->evidence, 0, sizeof(ber->evidence));
	recent_clear(ber);
}

static void judge_rate(struct triad_ber *ber, const struct triad_ber_test *test)
{
	bool is_good_now = is_good(recent_of(ber));

	if (ber->verdict == TRIAD_BER_WORSE)
		ber->verdict = is_good_now ? TRIAD_BER_GOOD : TRIAD_BER_WORSE;
	else if (evidence_of(ber) >= test->alarm)
		alarm(ber);
	else
		ber->verdict = is_good_now ? TRIAD_BER_GOOD : TRIAD_BER_UNDECIDED;
}

/* 'is_quiet': no errors, in ever shorter readings. */
static enum triad_ber_verdict add_reading(struct triad_ber *ber,
	const struct triad_ber_test *test, const struct triad_ber_reading *reading,
	bool is_quiet)
{
	double expected = reading->seconds * test->bps * test->target;

	if (!is_positive(expected))
		return (enum triad_ber_verdict)ber->verdict;
	if (ber->verdict != TRIAD_BER_WORSE) {
		if (evidence_of(ber) < RISE * quiet_mean())
			episode_begin(ber, reading->from_us);
		if (is_quiet)
			evidence_add_quiet(ber, expected);
		else
			evidence_add(ber, test, (double)reading->errors, expected);
	}
	span_add(&ber->episode, reading->errors, expected);
	if (reading->is_least)
		recent_clear(ber);
	else
		recent_add(ber, reading->errors, expected);
	judge_rate(ber, test);
	return (enum triad_ber_verdict)ber->verdict;
}

enum triad_ber_verdict triad_ber_add(struct triad_ber *ber,
	const struct triad_ber_test *test, const struct triad_ber_reading *reading)
{
	return add_reading(ber, test, reading, false);
}

enum triad_ber_verdict triad_ber_add_quiet(struct triad_ber *ber,
	const struct triad_ber_test *test, double seconds, uint64_t from_us)
{
	const struct triad_ber_reading reading = {
		.seconds = seconds, .from_us = from_us};

	return add_reading(ber, test, &reading, true);
}

/* --- estimates --- */

struct triad_ber_estimate triad_ber_estimate(const struct triad_ber *ber,
	const struct triad_ber_test *test, double confidence)
{
	struct triad_ber_span span =
		ber->verdict == TRIAD_BER_WORSE ? ber->episode : recent_of(ber);
	struct triad_poisson_interval interval =
		triad_poisson_interval(span.errors, confidence);
	double bits = span.expected / test->target;

	return (struct triad_ber_estimate){
		.ber = bits > 0 ? (double)span.errors / bits : 0,
		.low = bits > 0 ? interval.low / bits : 0,
		.high = bits > 0 ? interval.high / bits : INFINITY,
		.errors = span.errors,
		.bits = bits,
	};
}

/* Errors to be expected at the target until the link is good, if errors go on at the
 * span's rate.  Surprise then grows in proportion to the span, but the span is
 * limited. */
static double until_good(struct triad_ber_span span)
{
	double wanted =
		-log(TRIAD_BER_ERROR_PROBABILITY) * span.expected / surprise(span);

	return wanted <= 2 * TRIAD_BER_SPAN ? fmax(wanted - span.expected, 0)
					    : INFINITY;
}

/* Errors to be expected at the target until the alarm.  Evidence of each ratio then
 * grows exponentially, if at all. */
static double until_worse(const struct triad_ber *ber,
	const struct triad_ber_test *test, struct triad_ber_span span)
{
	double ratio = (double)span.errors / span.expected, least = INFINITY;

	for (unsigned i = 0; i < TRIAD_BER_N_RATIOS; i++) {
		double growth = ratio * ratios[i].octaves * M_LN2 - ratios[i].excess;
		double wanted = TRIAD_BER_N_RATIOS * test->alarm /
			fmax(ber->evidence[i], quiet(i));

		if (growth > 0)
			least = fmin(least, log(wanted) / growth);
	}
	return least;
}

double triad_ber_remaining_s(
	const struct triad_ber *ber, const struct triad_ber_test *test)
{
	struct triad_ber_span span = recent_of(ber);

	if (ber->verdict != TRIAD_BER_UNDECIDED)
		return 0;
	/* Without data, assume no errors. */
	if (!(span.expected > 0))
		return -log(TRIAD_BER_ERROR_PROBABILITY) / (test->bps * test->target);
	return fmin(until_good(span), until_worse(ber, test, span)) /
		(test->bps * test->target);
}
