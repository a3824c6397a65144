/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/slurm_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

static char folder[TEST_FOLDER_SIZE];
static struct triad_slurm_job job;

static void make_folder(void)
{
	make_test_folder(folder);
	job = (struct triad_slurm_job){.id = "17"};
}

static void remove_folder(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* --- what squeue prints --- */

/* Row: N9 */
START_TEST(test_output_of_job_gives_hosts)
{
	static const struct {
		const char *text, *state, *hosts;
		bool is_over;
	} cases[] = {
		{"RUNNING host-[01-02]\n", "RUNNING", "host-[01-02]", false},
		{"COMPLETING a", "COMPLETING", "a", false},
		/* An array: hosts of tasks that are over may be others' now. */
		{"COMPLETED a\nRUNNING b\nPENDING \nRUNNING c[1-2]\n", "RUNNING",
			"b,c[1-2]", false},
		{"FAILED a\nTIMEOUT b\n", "FAILED", "a,b", true},
		{"PENDING\nCOMPLETED a\n", "COMPLETED", "a", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(triad_slurm_job_read(cases[i].text, &job), "%s: %s",
			cases[i].text, job.why);
		ck_assert_str_eq(job.state, cases[i].state);
		ck_assert_str_eq(job.hosts, cases[i].hosts);
		ck_assert_int_eq(job.is_over, cases[i].is_over);
	}
}
END_TEST

START_TEST(test_output_without_hosts_is_explained)
{
	static char much[2 * sizeof(job.hosts)];
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "17 no such job"},
		{"\n\n", "17 no such job"},
		{"PENDING \n", "17 begun PENDING"},
		{"PENDING (null)\n", "17 begun PENDING"},
		{"CANCELLED n/a\n", "17 no hosts CANCELLED"},
		{"\x1b[2J\n", "17 no hosts ?[2J"},
		{much, "17 octets"},
	};

	memset(much, 'a', sizeof(much) - 1);
	memcpy(much, "RUNNING ", 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(!triad_slurm_job_read(cases[i].text, &job));
		ck_assert_msg(mentions(job.why, cases[i].words), "%zu: %s", i, job.why);
	}
}
END_TEST

/* --- numbers --- */

START_TEST(test_number_is_one_of_slurm)
{
	static const char *const numbers[] = {"1", "10", "4294967295"};
	static const char *const sets[] = {
		"12_3", "12_[1-3,7%2]", "12+1", "12,13", "12_0,13+0,14"};
	static const char *const others[] = {"", "0", "012", "4294967296",
		"00000000000000000000000000000000000000000000000000000000000001",
		"18446744073709551617", "99999999999999999999999999999999", "-1", "+1",
		"1.0", "0x1", " 1", "1 ", "12,", ",12", "12,013", "12,4294967296",
		"12_", "12_[]", "12_[1", "12+", "12+[1]", "1;id", "--help", "a",
		"12\n"};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ck_assert(triad_slurm_job_is_number(numbers[i]));
		ck_assert(triad_slurm_job_is_set(numbers[i]));
	}
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		ck_assert(!triad_slurm_job_is_number(sets[i]));
		ck_assert_msg(triad_slurm_job_is_set(sets[i]), "%s", sets[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		ck_assert_msg(!triad_slurm_job_is_number(others[i]), "%s", others[i]);
		ck_assert_msg(!triad_slurm_job_is_set(others[i]), "%s", others[i]);
	}
}
END_TEST

/* --- asking it: a shell's script stands in for squeue --- */

static bool ask(const char *script, unsigned limit_s)
{
	char path[sizeof(folder) + 16];
	const struct triad_slurm_asking asking = {.program = path, .limit_s = limit_s};
	FILE *file;

	snprintf(path, sizeof(path), "%s/squeue", folder);
	remove(path);
	file = script ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "#!/bin/sh\n%s\n", script);
		fclose(file);
		ck_assert_int_eq(chmod(path, 0700), 0);
	}
	return triad_slurm_job_ask(&asking, &job);
}

START_TEST(test_squeue_gets_number_and_no_shell)
{
	snprintf(job.id, sizeof(job.id), "1;exit 3");
	ck_assert_msg(
		ask("for i; do j=$i; done; case $j in '1;exit 3') echo RUNNING a;; esac",
			9),
		"%s", job.why);
	ck_assert_str_eq(job.hosts, "a");
}
END_TEST

START_TEST(test_squeue_that_fails_is_explained)
{
	ck_assert(!ask(NULL, 9));
	ck_assert_msg(mentions(job.why, "17 squeue can't be run here"), "%s", job.why);
	ck_assert(!ask(
		"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1",
		9));
	ck_assert_msg(mentions(job.why, "17 no such job Invalid"), "%s", job.why);
	ck_assert(!ask("echo one >&2; echo two >&2; echo RUNNING a; exit 1", 9));
	ck_assert_msg(mentions(job.why, "squeue one"), "%s", job.why);
	ck_assert_ptr_null(strstr(job.why, "two"));
	ck_assert(!ask("kill -9 $$", 9));
	ck_assert_msg(mentions(job.why, "17 squeue"), "%s", job.why);
}
END_TEST

START_TEST(test_squeue_without_end_is_killed)
{
	char command[sizeof(folder) + 64];
	uint64_t begin_us = triad_clock_now_us();

	/* What it has started goes, too. */
	snprintf(command, sizeof(command), "sleep 600 & echo $! >%s/pid; wait", folder);
	ck_assert(!ask(command, 1));
	ck_assert_msg(mentions(job.why, "17 1 s"), "%s", job.why);
	snprintf(command, sizeof(command), "read p <%s/pid; ! kill -0 $p 2>/dev/null",
		folder);
	/* Whoever adopts it may take a moment to wait for it. */
	while (system(command) && triad_clock_now_us() < begin_us + 30 * TRIAD_US_PER_S)
		;
	ck_assert_int_eq(system(command), 0);
	ck_assert(!ask("exec >&- 2>&-; exec sleep 600", 1));
	ck_assert_msg(mentions(job.why, "17 1 s"), "%s", job.why);
}
END_TEST

/* The process that is left behind keeps the pipes. */
START_TEST(test_squeue_that_leaves_a_process_behind_has_answered)
{
	uint64_t begin_us = triad_clock_now_us();

	ck_assert_msg(ask("sleep 600 & echo RUNNING a", 30), "%s", job.why);
	ck_assert_str_eq(job.hosts, "a");
	ck_assert(!ask("sleep 600 & echo RUNNING a; echo one >&2; exit 1", 30));
	ck_assert_msg(mentions(job.why, "squeue one"), "%s", job.why);
	/* What such a process prints stops nobody. */
	ck_assert_msg(ask("yes >&2 & sleep 600 >/dev/null 2>&1 & echo RUNNING b", 30),
		"%s", job.why);
	ck_assert_str_eq(job.hosts, "b");
	ck_assert(triad_clock_now_us() < begin_us + 30 * TRIAD_US_PER_S);
}
END_TEST

START_TEST(test_squeue_that_prints_without_end_is_killed)
{
	ck_assert(!ask("exec yes 'RUNNING a'", 60));
	ck_assert_msg(mentions(job.why, "17 octets"), "%s", job.why);
	/* Of errors the beginning is kept, and the rest is read. */
	ck_assert(!ask(
		"i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); echo many; done >&2; "
		"exit 1",
		60));
	ck_assert_msg(mentions(job.why, "squeue many"), "%s", job.why);
}
END_TEST

/* --- the command --- */

START_TEST(test_words_have_hosts_in_place_of_job)
{
	static const char *const by_two[] = {"job", "--slurm", "17", "--json"};
	static const char *const by_one[] = {"job", "--json", "--slurm=17"};
	const char *to[8];

	ck_assert_int_eq(triad_slurm_job_words(4, by_two, "a,b", to), 4);
	ck_assert_str_eq(to[1], "--json");
	ck_assert_str_eq(to[2], "--nodes");
	ck_assert_str_eq(to[3], "a,b");
	ck_assert_int_eq(triad_slurm_job_words(3, by_one, "a", to), 4);
	ck_assert_str_eq(to[3], "a");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("slurm job");

	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_output_of_job_gives_hosts);
	tcase_add_test(cases, test_output_without_hosts_is_explained);
	tcase_add_test(cases, test_number_is_one_of_slurm);
	tcase_add_test(cases, test_squeue_gets_number_and_no_shell);
	tcase_add_test(cases, test_squeue_that_fails_is_explained);
	tcase_add_test(cases, test_squeue_without_end_is_killed);
	tcase_add_test(cases, test_squeue_that_leaves_a_process_behind_has_answered);
	tcase_add_test(cases, test_squeue_that_prints_without_end_is_killed);
	tcase_add_test(cases, test_words_have_hosts_in_place_of_job);
	return run_cases(cases);
}
