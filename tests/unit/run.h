/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What every unit test's main ends with. */
#ifndef TRIAD_TESTS_UNIT_RUN_H
#define TRIAD_TESTS_UNIT_RUN_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* check writes the place of each assertion that holds into a file, and its parent reads
 * them one by one, each time moving what is left of them: with some hundred thousand of
 * them in a random test that takes most of its time.  An assertion that fails tells its
 * place without them.  What they would tell is where a test was when it crashed; the
 * sanitizers do. */
#define _mark_point(file, line) ((void)0)

/* Runs the cases and prints TAP, which is what tells whether they passed. */
static inline int run_cases(TCase *cases)
{
	Suite *suite = suite_create("unit");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, cases);
	/* Of wall time: in scripts/check they give way to the tests in Python, and on a
	 * busy machine some seconds of work take minutes. */
	tcase_set_timeout(cases, 300);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}

/* Whether a program that emulates one processor on another runs this (qemu-user); then
 * all cases are skipped, because it lacks something. */
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
