/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/run.h"

#define MS UINT64_C(1000)

struct record {
	unsigned n;
	enum triad_log_level level;
	char line[2048];
};

static void record_line(void *context, enum triad_log_level level, const char *line)
{
	struct record *record = context;

	record->n++;
	record->level = level;
	strncpy(record->line, line, sizeof(record->line) - 1);
	errno = EIO; /* a writer may change errno */
}

static struct record record;
static struct triad_log test_log = {
	.write = record_line, .context = &record, .level = TRIAD_LOG_INFO};

START_TEST(test_write_line_made)
{
	triad_log_write(&test_log, TRIAD_LOG_INFO, "port %d: %s", 3, "down");
	ck_assert_uint_eq(record.n, 1);
	ck_assert_int_eq(record.level, TRIAD_LOG_INFO);
	ck_assert_str_eq(record.line, "port 3: down");
}
END_TEST

START_TEST(test_write_no_log_ignored)
{
	triad_log_write(NULL, TRIAD_LOG_ERROR, "nobody hears");
	triad_log_write(&test_log, TRIAD_LOG_ERROR, "but this");
	ck_assert_uint_eq(record.n, 1);
}
END_TEST

START_TEST(test_write_level_above_dropped)
{
	triad_log_write(&test_log, TRIAD_LOG_VERBOSE, "too much");
	ck_assert_uint_eq(record.n, 0);
	atomic_store(&test_log.level, TRIAD_LOG_VERBOSE);
	triad_log_write(&test_log, TRIAD_LOG_VERBOSE, "wanted");
	ck_assert_uint_eq(record.n, 1);
}
END_TEST

START_TEST(test_write_long_line_cut)
{
	char text[2000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	triad_log_write(&test_log, TRIAD_LOG_INFO, "%s", text);
	ck_assert_uint_eq(strlen(record.line), 1023);
}
END_TEST

START_TEST(test_write_name_with_newline_kept_in_line)
{
	triad_log_write(&test_log, TRIAD_LOG_INFO, "node '%s'",
		"a\nERR 0000: forged\x1b[2J\xff");
	ck_assert_str_eq(record.line, "node 'a?ERR 0000: forged?[2J?'");
}
END_TEST

START_TEST(test_write_errno_kept)
{
	errno = ENOENT;
	triad_log_write(&test_log, TRIAD_LOG_INFO, "line");
	ck_assert_uint_eq(record.n, 1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(test_limit_burst_used_up_then_refused)
{
	struct triad_log_limit limit = {.burst = 3, .period_us = 1000 * MS};
	unsigned long suppressed = 9;

	for (int i = 0; i < 3; i++) {
		ck_assert(triad_log_limit_pass(&limit, 5000 * MS, &suppressed));
		ck_assert_uint_eq(suppressed, 0);
	}
	suppressed = 9;
	ck_assert(!triad_log_limit_pass(&limit, 5999 * MS, &suppressed));
	ck_assert_uint_eq(suppressed, 0);
	ck_assert(!triad_log_limit_pass(&limit, 5999 * MS, &suppressed));
	ck_assert(triad_log_limit_pass(&limit, 6000 * MS, &suppressed));
	ck_assert_uint_eq(suppressed, 2);
	ck_assert(triad_log_limit_pass(&limit, 6000 * MS, &suppressed));
	ck_assert_uint_eq(suppressed, 0);
}
END_TEST

START_TEST(test_limit_window_begins_with_first_line)
{
	struct triad_log_limit limit = {.burst = 1, .period_us = 1000 * MS};
	unsigned long suppressed;

	ck_assert(triad_log_limit_pass(&limit, 1900 * MS, &suppressed));
	ck_assert(!triad_log_limit_pass(&limit, 2000 * MS, &suppressed));
	ck_assert(!triad_log_limit_pass(&limit, 2899 * MS, &suppressed));
	ck_assert(triad_log_limit_pass(&limit, 2900 * MS, &suppressed));
}
END_TEST

START_TEST(test_limit_older_time_same_window)
{
	struct triad_log_limit limit = {.burst = 1, .period_us = 1000 * MS};
	unsigned long suppressed;

	ck_assert(triad_log_limit_pass(&limit, 9000 * MS, &suppressed));
	ck_assert(!triad_log_limit_pass(&limit, 5000 * MS, &suppressed));
}
END_TEST

START_TEST(test_limit_no_period_passes_all)
{
	struct triad_log_limit limit = {.burst = 1};
	unsigned long suppressed;

	for (int i = 0; i < 5; i++)
		ck_assert(triad_log_limit_pass(&limit, 1, &suppressed));
}
END_TEST

START_TEST(test_limit_no_burst_refuses_all)
{
	struct triad_log_limit limit = {.period_us = 1000 * MS};
	unsigned long suppressed;

	for (uint64_t i = 0; i < 5; i++)
		ck_assert(!triad_log_limit_pass(&limit, i * 1000 * MS, &suppressed));
}
END_TEST

/* The same rule with plain variables, in milliseconds. */
struct model {
	uint64_t start_ms;
	unsigned used;
	unsigned long suppressed;
};

static bool model_pass(struct model *model, unsigned burst, uint64_t period_ms,
	uint64_t now_ms, unsigned long *suppressed)
{
	if (now_ms >= model->start_ms + period_ms) {
		model->start_ms = now_ms;
		model->used = 0;
	}
	*suppressed = 0;
	if (model->used == burst) {
		model->suppressed++;
		return false;
	}
	model->used++;
	*suppressed = model->suppressed;
	model->suppressed = 0;
	return true;
}

START_TEST(test_limit_random_times_as_model)
{
	struct triad_log_limit limit = {.burst = 4, .period_us = 50 * MS};
	struct model model = {.used = 0};
	unsigned long got, expected;
	uint64_t now_ms = 1;

	srand(7);
	for (int i = 0; i < 20000; i++) {
		now_ms += (uint64_t)rand() % 20;
		ck_assert_msg(triad_log_limit_pass(&limit, now_ms * MS, &got) ==
				model_pass(&model, 4, 50, now_ms, &expected),
			"seed 7, step %d", i);
		ck_assert_msg(got == expected, "seed 7, step %d", i);
	}
}
END_TEST

#define N_THREADS 4
#define N_CALLS 50000

static struct triad_log_limit shared_limit = {.burst = 5, .period_us = 10 * MS};
static _Atomic unsigned long passed, reported;
static _Atomic uint64_t shared_now_us = 10 * MS;

/* Each thread sometimes advances the time past the end of a window. */
static void *call_limit(void *context)
{
	unsigned long suppressed;

	for (int i = 0; i < N_CALLS; i++) {
		uint64_t now_us = i % 100 ? atomic_load(&shared_now_us)
					  : atomic_fetch_add(&shared_now_us, MS);

		if (triad_log_limit_pass(&shared_limit, now_us, &suppressed))
			atomic_fetch_add(&passed, 1);
		atomic_fetch_add(&reported, suppressed);
	}
	return context;
}

START_TEST(test_limit_threads_never_over_burst)
{
	pthread_t threads[N_THREADS];
	unsigned long n_windows;

	for (int i = 0; i < N_THREADS; i++)
		ck_assert(!pthread_create(&threads[i], NULL, call_limit, NULL));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	n_windows = (atomic_load(&shared_now_us) - 10 * MS) / (10 * MS) + 1;
	ck_assert_uint_le(atomic_load(&passed), n_windows * 5);
	ck_assert_uint_ge(atomic_load(&passed), 5);
	ck_assert_uint_eq(atomic_load(&passed) + atomic_load(&reported) +
			atomic_load(&shared_limit.suppressed),
		N_THREADS * N_CALLS);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("log");

	tcase_add_test(cases, test_write_line_made);
	tcase_add_test(cases, test_write_no_log_ignored);
	tcase_add_test(cases, test_write_level_above_dropped);
	tcase_add_test(cases, test_write_long_line_cut);
	tcase_add_test(cases, test_write_name_with_newline_kept_in_line);
	tcase_add_test(cases, test_write_errno_kept);
	tcase_add_test(cases, test_limit_burst_used_up_then_refused);
	tcase_add_test(cases, test_limit_window_begins_with_first_line);
	tcase_add_test(cases, test_limit_older_time_same_window);
	tcase_add_test(cases, test_limit_no_period_passes_all);
	tcase_add_test(cases, test_limit_no_burst_refuses_all);
	tcase_add_test(cases, test_limit_random_times_as_model);
	tcase_add_test(cases, test_limit_threads_never_over_burst);
	return run_cases(cases);
}
