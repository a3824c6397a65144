/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How soon links with a known BER are found to be worse than their target, and how
 * often good links are reported: by perfmgr/watch/ber.h, and by two windows of fixed
 * length as in UFM's plug-in [UFM SDK, pdr_deterministic_plugin/README.md, "NDR Link
 * Validation Procedure"]: more than 2.88 errors in 12 minutes, which is 1e-14 at 400
 * Gb/s, or more than 3 in 125 minutes, which is 1e-15.
 *
 * Links are 4x NDR with a target of 1e-15.  Errors are Poisson, and in one part come in
 * bursts, too.  All judges see the same errors. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmgr/watch/ber.h"
#include "tests/random.h"
#include "tests/sim/storms.h"

#define TARGET 1e-15
#define DAY_S 86400.0
#define YEAR_DAYS 365.25
#define MAX_DETECTION_DAYS 30.0
#define BURST_ERRORS 10000u
#define BURST_DAYS 7.0
#define MAX_WINDOW 256u

/* --- judges --- */

/* Errors in the last readings. */
struct window {
	uint32_t readings[MAX_WINDOW];
	uint32_t n, next;
	uint64_t sum;
};

struct judge {
	/* Of ber.h; 0 days: windows. */
	double promised_days;
	unsigned n_readings;
	/* The greatest numbers of errors that pass in the short and in the long window.
	 * */
	double short_over, long_over;

	struct triad_ber_test test;
	struct triad_ber ber;
	struct window windows[2];

	uint64_t n_alarms, n_good;
	double *delays_s;
};

#define OURS(days, n)                                                                  \
	{                                                                              \
		.promised_days = (days), .n_readings = (n)                             \
	}
#define WINDOWS(s, l)                                                                  \
	{                                                                              \
		.short_over = (s), .long_over = (l)                                    \
	}

static struct judge judges[] = {
	OURS(0.05, 1),
	OURS(0.2, 1),
	OURS(1, 1),
	OURS(10, 1),
	OURS(100, 1),
	OURS(1000, 1),
	OURS(1e5 * YEAR_DAYS, 1),
	OURS(1, 3),
	OURS(100, 3),
	OURS(1e5 * YEAR_DAYS, 3),
	WINDOWS(2.88, 3),
	WINDOWS(4, 5),
	WINDOWS(5, 8),
	WINDOWS(6, 10),
	WINDOWS(7, 12),
	WINDOWS(9, 15),
};

#define N_JUDGES (sizeof(judges) / sizeof(judges[0]))

struct sim {
	uint64_t seed, random, n_readings;
	uint64_t link_days, n_trials, interval_s;
	double bps;
	bool shows_progress;
};

static unsigned window_length(const struct sim *sim, unsigned minutes)
{
	unsigned period = (unsigned)(sim->interval_s + 59) / 60;
	unsigned n = (minutes + period + 1) / period;

	return n < MAX_WINDOW ? n : MAX_WINDOW;
}

static void judge_begin(struct judge *judge, const struct sim *sim)
{
	triad_ber_begin(&judge->ber);
	memset(judge->windows, 0, sizeof(judge->windows));
	judge->windows[0].n = window_length(sim, 12);
	judge->windows[1].n = window_length(sim, 125);
}

static bool window_add(struct window *window, uint32_t errors, double over)
{
	window->sum += errors;
	window->sum -= window->readings[window->next];
	window->readings[window->next] = errors;
	window->next = (window->next + 1) % window->n;
	return (double)window->sum > over;
}

/* Returns whether the link is found to be worse. */
static bool judge_add(struct judge *judge, const struct sim *sim, uint32_t errors)
{
	struct triad_ber_reading reading = {
		.errors = errors, .seconds = (double)sim->interval_s};
	enum triad_ber_verdict verdict;
	bool is_short, is_long;

	if (judge->promised_days > 0) {
		verdict = triad_ber_add(&judge->ber, &judge->test, &reading);
		judge->n_good += verdict == TRIAD_BER_GOOD;
		return verdict == TRIAD_BER_WORSE;
	}
	is_short = window_add(&judge->windows[0], errors, judge->short_over);
	is_long = window_add(&judge->windows[1], errors, judge->long_over);
	return is_short || is_long;
}

/* --- errors --- */

static double uniform(struct sim *sim)
{
	return (double)(random_next(&sim->random) >> 11) * 0x1p-53;
}

/* Knuth's algorithm; 'quiet' is e^-mean. */
static uint32_t poisson(struct sim *sim, double quiet)
{
	double product = uniform(sim);
	uint32_t n = 0;

	while (product > quiet) {
		product *= uniform(sim);
		n++;
	}
	return n;
}

static double mean_errors(const struct sim *sim, double ratio)
{
	return ratio * TARGET * sim->bps * (double)sim->interval_s;
}

/* --- false alarms --- */

struct part {
	double ratio;
	bool has_bursts;
	double alarms_per_year[N_JUDGES];
	double good_share[N_JUDGES];
};

static void progress(const struct sim *sim, const char *what, double ratio, double done)
{
	if (sim->shows_progress)
		fprintf(stderr, "\r%s at %g times the target: %3.0f %%  ", what, ratio,
			100 * done);
}

/* A burst lies in one reading, or seldom across two: of a second, anywhere. */
static uint32_t burst(struct sim *sim, uint32_t *rest)
{
	uint32_t n = *rest;

	*rest = 0;
	if (uniform(sim) >= (double)sim->interval_s / (BURST_DAYS * DAY_S))
		return n;
	if (uniform(sim) < 1 / (double)sim->interval_s)
		*rest = BURST_ERRORS / 2;
	return n + BURST_ERRORS - *rest;
}

static void part_run(struct sim *sim, struct part *part, uint64_t link_days)
{
	double quiet = exp(-mean_errors(sim, part->ratio));
	uint64_t n = link_days * 86400 / sim->interval_s;
	uint32_t rest = 0;

	for (size_t j = 0; j < N_JUDGES; j++) {
		judge_begin(&judges[j], sim);
		judges[j].n_alarms = judges[j].n_good = 0;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint32_t errors = poisson(sim, quiet);

		if (part->has_bursts)
			errors += burst(sim, &rest);
		for (size_t j = 0; j < N_JUDGES; j++)
			if (judge_add(&judges[j], sim, errors)) {
				judges[j].n_alarms++;
				judge_begin(&judges[j], sim);
			}
		if (i % 1000000 == 0)
			progress(sim, part->has_bursts ? "bursts" : "alarms",
				part->ratio, (double)i / (double)n);
	}
	sim->n_readings += n;
	for (size_t j = 0; j < N_JUDGES; j++) {
		part->alarms_per_year[j] =
			(double)judges[j].n_alarms * YEAR_DAYS / (double)link_days;
		part->good_share[j] = (double)judges[j].n_good / (double)n;
	}
}

/* --- detection --- */

/* One link that is new and bad.  Its errors begin within the first reading. */
static void trial(struct sim *sim, double ratio, uint64_t number)
{
	double interval = (double)sim->interval_s, begun_s = uniform(sim) * interval;
	double quiet = exp(-mean_errors(sim, ratio));
	double first = exp(-mean_errors(sim, ratio) * (1 - begun_s / interval));
	size_t n_left = N_JUDGES;

	for (size_t j = 0; j < N_JUDGES; j++) {
		judge_begin(&judges[j], sim);
		judges[j].delays_s[number] = INFINITY;
	}
	for (double now_s = interval; n_left && now_s < MAX_DETECTION_DAYS * DAY_S;
		now_s += interval) {
		uint32_t errors = poisson(sim, now_s == interval ? first : quiet);

		sim->n_readings++;
		for (size_t j = 0; j < N_JUDGES; j++) {
			double *delay_s = &judges[j].delays_s[number];

			if (isinf(*delay_s) && judge_add(&judges[j], sim, errors)) {
				*delay_s = now_s - begun_s;
				n_left--;
			}
		}
	}
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct detection {
	double ratio;
	/* Infinite: not found in time. */
	double mean_s[N_JUDGES], median_s[N_JUDGES], most_s[N_JUDGES];
};

static void detection_run(struct sim *sim, struct detection *detection)
{
	uint64_t n = sim->n_trials;

	for (uint64_t i = 0; i < n; i++) {
		trial(sim, detection->ratio, i);
		if (i % 100 == 0)
			progress(sim, "detection", detection->ratio,
				(double)i / (double)n);
	}
	for (size_t j = 0; j < N_JUDGES; j++) {
		double *delays_s = judges[j].delays_s, sum_s = 0;

		for (uint64_t i = 0; i < n; i++)
			sum_s += delays_s[i];
		detection->mean_s[j] = sum_s / (double)n;
		qsort(delays_s, n, sizeof(*delays_s), by_size);
		detection->median_s[j] = delays_s[n / 2];
		detection->most_s[j] = delays_s[n * 95 / 100];
	}
}

/* --- results --- */

static struct part parts[] = {
	{.ratio = 0.1}, {.ratio = 1}, {.ratio = 0.1, .has_bursts = true}};
static struct detection detections[] = {
	{.ratio = 2}, {.ratio = 3}, {.ratio = 10}, {.ratio = 100}};

#define N_PARTS (sizeof(parts) / sizeof(parts[0]))
#define N_DETECTIONS (sizeof(detections) / sizeof(detections[0]))

static void print_seconds(const char *key, double seconds)
{
	if (isinf(seconds))
		printf("\"%s\": null", key);
	else
		printf("\"%s\": %.0f", key, seconds);
}

static void print_judge(size_t j)
{
	const struct judge *judge = &judges[j];

	if (judge->promised_days > 0)
		printf("{\"kind\": \"evidence\", \"n_readings\": %u, "
		       "\"promised_per_year\": %.6g",
			judge->n_readings, YEAR_DAYS / judge->promised_days);
	else
		printf("{\"kind\": \"windows\", \"short_over\": %g, \"long_over\": %g",
			judge->short_over, judge->long_over);
	for (size_t i = 0; i < N_PARTS; i++)
		printf(", \"%s_per_year_%g\": %.6g",
			parts[i].has_bursts ? "bursts" : "alarms", parts[i].ratio,
			parts[i].alarms_per_year[j]);
	for (size_t i = 0; i < 2 && judge->promised_days > 0; i++)
		printf(", \"good_share_%g\": %.6g", parts[i].ratio,
			parts[i].good_share[j]);
	printf(", \"detection\": [");
	for (size_t i = 0; i < N_DETECTIONS; i++) {
		printf("%s{\"ratio\": %g, ", i ? ", " : "", detections[i].ratio);
		print_seconds("mean_s", detections[i].mean_s[j]);
		printf(", ");
		print_seconds("median_s", detections[i].median_s[j]);
		printf(", ");
		print_seconds("p95_s", detections[i].most_s[j]);
		printf("}");
	}
	printf("]}");
}

static void print_all(const struct sim *sim)
{
	printf("{\"seed\": %" PRIu64 ", \"target\": %g, \"bps\": %.0f, "
	       "\"interval_s\": %" PRIu64 ", \"trials\": %" PRIu64
	       ", \"link_days\": %.0f,\n\"judges\": [\n",
		sim->seed, TARGET, sim->bps, sim->interval_s, sim->n_trials,
		(double)sim->n_readings * (double)sim->interval_s / DAY_S);
	for (size_t j = 0; j < N_JUDGES; j++) {
		print_judge(j);
		puts(j + 1 < N_JUDGES ? "," : "");
	}
	puts("]}");
}

static void run(struct sim *sim)
{
	for (size_t i = 0; i < N_PARTS; i++)
		part_run(sim, &parts[i],
			parts[i].has_bursts ? (sim->link_days + 3) / 4
					    : sim->link_days);
	for (size_t i = 0; i < N_DETECTIONS; i++)
		detection_run(sim, &detections[i]);
	if (sim->shows_progress)
		fputs("\r\n", stderr);
}

/* --- command line --- */

static void usage(void)
{
	puts("Usage: ber_trials [--link-days N] [--trials N] [--interval SECONDS] "
	     "[--seed N]\n"
	     "\n"
	     "Prints JSON: false alarms and times to detection of Triad's test of BERs,\n"
	     "and of windows of fixed length, for links of known BER.\n"
	     "\n"
	     "  --link-days N       of links at the target, and as many at a tenth of it\n"
	     "                      (default 450,000)\n"
	     "  --trials N          bad links of each BER (default 4,000)\n"
	     "  --interval SECONDS  between readings, 1-3600 (default 300)\n"
	     "  --seed N            of the random numbers (default 1)");
}

static bool take_option(int option, void *wish)
{
	struct sim *sim = wish;

	switch (option) {
	case 'd':
		return storms_read_number(optarg, &sim->link_days) && sim->link_days;
	case 't':
		return storms_read_number(optarg, &sim->n_trials) && sim->n_trials;
	case 'i':
		return storms_read_number(optarg, &sim->interval_s) &&
			sim->interval_s >= 1 && sim->interval_s <= 3600;
	case 's':
		return storms_read_number(optarg, &sim->seed);
	}
	return false;
}

static const struct option known[] = {
	{"link-days", required_argument, NULL, 'd'},
	{"trials", required_argument, NULL, 't'},
	{"interval", required_argument, NULL, 'i'},
	{"seed", required_argument, NULL, 's'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool prepare(struct sim *sim)
{
	struct triad_link_rate rate = {triad_link_width_find("4x"), TRIAD_SPEED_NDR};

	sim->bps = (double)triad_link_rate_signal_bps(rate);
	sim->random = sim->seed;
	sim->shows_progress = isatty(STDERR_FILENO);
	for (size_t j = 0; j < N_JUDGES; j++) {
		struct judge *judge = &judges[j];

		judge->delays_s = calloc(sim->n_trials, sizeof(*judge->delays_s));
		if (!judge->delays_s)
			return false;
		if (judge->promised_days > 0 &&
			triad_ber_test_init(&judge->test, TARGET, sim->bps,
				judge->promised_days * DAY_S, judge->n_readings))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const struct storms_options options = {known, usage, take_option};
	struct sim sim = {
		.seed = 1, .link_days = 450000, .n_trials = 4000, .interval_s = 300};
	int status;

	if (!storms_read_options(&options, argc, argv, &sim, &status))
		return status;
	if (!prepare(&sim)) {
		fputs("ber_trials: out of memory\n", stderr);
		return 1;
	}
	run(&sim);
	print_all(&sim);
	for (size_t j = 0; j < N_JUDGES; j++)
		free(judges[j].delays_s);
	return 0;
}
