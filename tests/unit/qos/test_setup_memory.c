/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan when memory is short: the test refuses each allocation in turn. */
#include <errno.h>

#include "tests/unit/qos/plan_fixture.h"
#include "tests/unit/scarce_memory.h"

/* The plan has changes, findings, dead places and ends cut off. */
START_TEST(test_plan_without_memory_refused)
{
	unsigned n = 0;
	bool is_short;
	int error;

	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 5-9\n" TABLE(
		"15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0")));
	ck_assert_uint_gt(plan->n_changes, 0);
	ck_assert_uint_gt(plan->n_findings, 0);
	ck_assert_uint_gt(plan->n_paths, 0);
	ck_assert_uint_gt(plan->n_cut_off, 0);
	do {
		triad_setup_plan_free(plan);
		plan = NULL;
		refuse(++n);
		error = triad_setup_plan_make(setup, fabric, &plan);
		is_short = refused();
		if (is_short) {
			ck_assert_int_eq(error, ENOMEM);
			ck_assert_ptr_null(plan);
		}
	} while (is_short);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 12);
	drop_all();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup memory");

	tcase_add_test(cases, test_plan_without_memory_refused);
	return run_cases(cases);
}
