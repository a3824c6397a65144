/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The end of every unit test's main(), and helpers for all unit tests. */
#ifndef TRIAD_TESTS_UNIT_RUN_H
#define TRIAD_TESTS_UNIT_RUN_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* libcheck writes the location of each assertion that holds into a file.  Its parent
 * process reads the locations one by one, and moves the rest of the buffer each time.
 * In a random test with some hundred thousand assertions that takes most of the time,
 * so this turns it off.  An assertion that fails still reports its location.  Only the
 * last location before a crash is lost; the sanitizers report that. */
#define _mark_point(file, line) ((void)0)

/* Runs the cases and prints their results as TAP; the exit status doesn't depend on
 * them. */
static inline int run_cases(TCase *cases)
{
	Suite *suite = suite_create("unit");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, cases);
	/* This is wall time.  In scripts/check the tests in Python have a higher
	 * priority, and on a busy machine some seconds of work take minutes. */
	tcase_set_timeout(cases, 300);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}

#define TEST_FOLDER_SIZE 64

/* Makes a new folder where the files of tests go, which is the test's to remove. */
static inline void make_test_folder(char folder[TEST_FOLDER_SIZE])
{
	const char *parent = getenv("TMPDIR");
	int length = snprintf(folder, TEST_FOLDER_SIZE, "%s/triad-unit-XXXXXX",
		parent ? parent : "/tmp");

	ck_assert_msg(length < TEST_FOLDER_SIZE, "TMPDIR is too long: %s", parent);
	ck_assert_msg(mkdtemp(folder) != NULL, "no folder in %s", parent);
}

/* Whether an emulator of another processor (qemu-user) runs this test.  If so, reports
 * all cases as skipped, because the emulator lacks 'what'. */
static inline bool is_skipped_under_emulation(const char *what)
{
	if (!getenv("TRIAD_EMULATED"))
		return false;
	printf("1..0 # SKIP under emulation there is no %s\n", what);
	return true;
}

/* The source tree, for tests that read the manual or an example. */
static inline const char *source_folder(void)
{
	const char *folder = getenv("TRIAD_SRCDIR");

	return folder ? folder : ".";
}

#endif
