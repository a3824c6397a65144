/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion when memory is short: the result is ENOMEM, and no memory
 * leaks. */
#include "congestion/roots.h"

#include <errno.h>

#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"

/* More allocations than are needed, so in the end none is refused. */
#define MAX_ALLOCATIONS 400

static const struct triad_congestion_limits limits = {0.1f, 0.9f};
static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct triad_congestion_load *loads;

/* Begins with two slow hosts. */
static void begin(void)
{
	fabric = fat_tree(4);
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	loads = calloc(fabric->n_ports, sizeof(*loads));
	for (uint32_t i = 0; i < 3; i++)
		loads[fabric->ports[layout->hosts[i].port].remote].wait = 0.5f;
	loads[layout->hosts[0].port].wait = 0.5f;
}

static void end(void)
{
	free(loads);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
}

START_TEST(test_congestion_without_memory_fails_and_loses_nothing)
{
	struct triad_congestion_turns *turns = NULL;
	struct triad_congestion *found = NULL;
	unsigned n = 0;
	int error = ENOMEM;

	while (error && ++n < MAX_ALLOCATIONS) {
		refuse(n);
		error = triad_congestion_turns_make(layout, NULL, NULL, &turns);
		ck_assert(refused() == !!error);
		ck_assert(!error || (error == ENOMEM && !turns));
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 5);
	error = ENOMEM;
	for (n = 0; error && ++n < MAX_ALLOCATIONS;) {
		refuse(n);
		error = triad_congestion_find(
			turns, loads, &limits, NULL, NULL, &found);
		ck_assert(refused() == !!error);
		ck_assert(!error || (error == ENOMEM && !found));
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_eq(found->n_roots, 3);
	triad_congestion_free(found);
	triad_congestion_turns_free(turns);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("memory");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, test_congestion_without_memory_fails_and_loses_nothing);
	return run_cases(tests);
}
