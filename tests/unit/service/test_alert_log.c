/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* While the disk of the alerts' file hangs, alerts still go to the log, and the status
 * reports the hang. */
#include "service/alert_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/file.h"
#include "triad/line_file.h"

#define POLL_US 1000
#define N_ALERTS 600u

/* The linker replaces the product's functions with these (--wrap). */
int __wrap_triad_line_file_write(
	struct triad_line_file *file, const char *line, size_t size);
uint64_t __real_triad_clock_now_us(void);
uint64_t __wrap_triad_clock_now_us(void);

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER; /* held: the disk hangs */
static atomic_uint n_begun;
static atomic_ulong later_us;

int __wrap_triad_line_file_write(
	struct triad_line_file *file, const char *line, size_t size)
{
	atomic_fetch_add(&n_begun, 1);
	pthread_mutex_lock(&disk);
	pthread_mutex_unlock(&disk);
	return 0;
}

uint64_t __wrap_triad_clock_now_us(void)
{
	return __real_triad_clock_now_us() + atomic_load(&later_us);
}

static atomic_uint n_logged;

static void count_line(void *context, enum triad_log_level level, const char *line)
{
	atomic_fetch_add(&n_logged, 1);
}

static struct triad_log test_log = {.write = count_line, .level = TRIAD_LOG_INFO};

static void wait_until_is(atomic_uint *number, unsigned value)
{
	while (atomic_load(number) != value)
		usleep(POLL_US);
}

START_TEST(test_file_whose_disk_hangs_is_reported_and_the_log_goes_on)
{
	const struct triad_alert alert = {.n_findings = 1, .n_ends = 1};
	struct triad_alert_log *alert_log = triad_alert_log_new(&test_log);
	struct triad_conf *conf = triad_conf_new(1);
	struct triad_alerts_sink sink;
	struct triad_alert_log_status status;

	ck_assert_ptr_nonnull(alert_log);
	ck_assert_ptr_nonnull(conf);
	snprintf(conf->alerts.file, sizeof(conf->alerts.file), "/nowhere/alerts");
	triad_alert_log_configure(alert_log, conf);
	sink = triad_alert_log_sink(alert_log);
	pthread_mutex_lock(&disk);
	sink.take(sink.context, TRIAD_ALERT_RAISED, &alert);
	sink.done(sink.context);
	wait_until_is(&n_begun, 1);
	wait_until_is(&n_logged, 1);
	/* The disk isn't reported as hung before TRIAD_DISK_HUNG_US. */
	atomic_store(&later_us, TRIAD_DISK_HUNG_US / 2);
	ck_assert_uint_eq(triad_alert_log_status(alert_log).file_hung_us, 0);
	atomic_store(&later_us, 2 * TRIAD_DISK_HUNG_US);
	status = triad_alert_log_status(alert_log);
	ck_assert_uint_ge(status.file_hung_us, TRIAD_DISK_HUNG_US);
	ck_assert_uint_eq(status.n_file_lines, 0);
	ck_assert_int_eq(status.file_error, 0);
	/* These are more alerts than the queue holds: the others are counted. */
	for (unsigned i = 0; i < N_ALERTS; i++)
		sink.take(sink.context, TRIAD_ALERT_RAISED, &alert);
	status = triad_alert_log_status(alert_log);
	ck_assert_uint_eq(status.n_file_summarised, N_ALERTS - 511);
	ck_assert_uint_eq(status.n_summarised, N_ALERTS - TRIAD_ALERT_LOG_BURST);
	pthread_mutex_unlock(&disk);
	wait_until_is(&n_begun, 512);
	while (triad_alert_log_status(alert_log).n_file_lines != 512)
		usleep(POLL_US);
	/* The status counts the last line and reports the end of its write at once. */
	ck_assert_uint_eq(triad_alert_log_status(alert_log).file_hung_us, 0);
	ck_assert(triad_alert_log_free(alert_log));
	triad_conf_unref(conf);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alert_log");

	tcase_add_test(
		cases, test_file_whose_disk_hangs_is_reported_and_the_log_goes_on);
	return run_cases(cases);
}
