/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan where memory is short: each allocation in turn is refused. */
#include <errno.h>

#include "tests/unit/qos/plan_bed.h"

/* The linker puts these in the place of malloc() and so on. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned n_left; /* that are granted before one is refused; 0: all are */
static bool was_refused;

static bool is_refused(void)
{
	if (!n_left || --n_left)
		return false;
	was_refused = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return is_refused() ? NULL : __real_realloc(memory, size);
}

/* There are changes, findings, dead places and ends cut off. */
START_TEST(test_plan_without_memory_refused)
{
	unsigned n = 0;
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
		n_left = ++n;
		was_refused = false;
		error = triad_setup_plan_make(setup, fabric, &plan);
		n_left = 0;
		if (was_refused) {
			ck_assert_int_eq(error, ENOMEM);
			ck_assert_ptr_null(plan);
		}
	} while (was_refused);
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
