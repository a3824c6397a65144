/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a file of state could be written is known before it must be. */
#include "service/state_probe.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/file.h"

static char folder[TEST_FOLDER_SIZE], path[96], other[96];
static struct triad_state_probe *probe;
static atomic_int disk_error; /* what the disk says */
static atomic_uint n_tries;

/* --- the disk --- */

int __real_triad_file_replace(
	const char *to, const void *octets, size_t size, mode_t mode);
int __wrap_triad_file_replace(
	const char *to, const void *octets, size_t size, mode_t mode);

int __wrap_triad_file_replace(
	const char *to, const void *octets, size_t size, mode_t mode)
{
	int error = disk_error;

	if (!error)
		error = __real_triad_file_replace(to, octets, size, mode);
	n_tries++;
	return error;
}

/* --- the time --- */

static atomic_ullong passed_us;

uint64_t __real_triad_clock_now_us(void);
uint64_t __wrap_triad_clock_now_us(void);

uint64_t __wrap_triad_clock_now_us(void)
{
	return __real_triad_clock_now_us() + passed_us;
}

/* --- cases --- */

static void begin(void)
{
	const struct triad_state_probe_params params = {
		.part = "part", .consequence = "nothing is", .size = 100};

	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/one.state", folder);
	snprintf(other, sizeof(other), "%s/other.state", folder);
	disk_error = 0;
	n_tries = 0;
	probe = triad_state_probe_new(&params, NULL);
	ck_assert_ptr_nonnull(probe);
}

static void end(void)
{
	ck_assert(triad_state_probe_free(probe));
	/* It leaves nothing there. */
	ck_assert_int_eq(rmdir(folder), 0);
}

static void wait_for(bool fails, char *why, size_t size)
{
	while (triad_state_probe_fails(probe, why, size) != fails)
		sched_yield();
}

START_TEST(test_full_disk_known_until_there_is_room)
{
	char why[128] = "";

	disk_error = ENOSPC;
	triad_state_probe_set(probe, path);
	wait_for(true, why, sizeof(why));
	ck_assert_str_eq(why, strerror(ENOSPC));
	disk_error = 0;
	triad_state_probe_set(probe, other);
	while (n_tries < 2)
		sched_yield();
	wait_for(false, why, sizeof(why));
}
END_TEST

START_TEST(test_disk_tried_again_each_time_it_is_due)
{
	char why[128] = "";

	triad_state_probe_set(probe, path);
	while (n_tries < 1)
		sched_yield();
	for (unsigned i = 0; i < 1000; i++) {
		ck_assert(!triad_state_probe_fails(probe, why, sizeof(why)));
		sched_yield();
	}
	ck_assert_uint_eq(n_tries, 1);
	while (n_tries < 5) {
		passed_us += TRIAD_PROBE_US;
		(void)triad_state_probe_fails(probe, why, sizeof(why));
		sched_yield();
	}
}
END_TEST

START_TEST(test_folder_that_others_may_write_known)
{
	char why[128] = "";

	ck_assert_int_eq(chmod(folder, 0777), 0);
	triad_state_probe_set(probe, path);
	wait_for(true, why, sizeof(why));
	ck_assert_ptr_nonnull(strstr(why, folder));
	ck_assert_uint_eq(n_tries, 0);
}
END_TEST

START_TEST(test_without_a_file_nothing_tried)
{
	char why[128];

	triad_state_probe_set(probe, path);
	while (!n_tries)
		sched_yield();
	triad_state_probe_set(probe, "");
	disk_error = ENOSPC;
	ck_assert(!triad_state_probe_fails(probe, why, sizeof(why)));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("state_probe");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_full_disk_known_until_there_is_room);
	tcase_add_test(cases, test_disk_tried_again_each_time_it_is_due);
	tcase_add_test(cases, test_folder_that_others_may_write_known);
	tcase_add_test(cases, test_without_a_file_nothing_tried);
	return run_cases(cases);
}
