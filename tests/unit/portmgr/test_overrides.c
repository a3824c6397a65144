/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/overrides.h"

#include "tests/unit/run.h"

static struct triad_overrides overrides;

static void add(uint64_t guid, uint8_t port)
{
	const struct triad_plan_item item = {
		.node_guid = guid, .number = port, .lost = {.fingerprint = 7}};

	triad_overrides_add(&overrides, &item);
}

static bool has(uint64_t guid, uint8_t port)
{
	for (uint32_t i = 0; i < overrides.n; i++)
		if (overrides.all[i].node_guid == guid && overrides.all[i].port == port)
			return true;
	return false;
}

START_TEST(test_overrides_without_room_forget_the_oldest)
{
	overrides.n = 0;
	for (unsigned i = 0; i < TRIAD_OVERRIDES_MAX + 2; i++)
		add(100 + i, 1);
	ck_assert_uint_eq(overrides.n, TRIAD_OVERRIDES_MAX);
	ck_assert(!has(100, 1));
	ck_assert(!has(101, 1));
	for (unsigned i = 2; i < TRIAD_OVERRIDES_MAX + 2; i++)
		ck_assert(has(100 + i, 1));
	ck_assert_uint_eq(overrides.all[0].fingerprint, 7);
}
END_TEST

START_TEST(test_overrides_that_are_removed_leave_the_others)
{
	overrides.n = 0;
	add(1, 1);
	add(1, 2);
	add(1, 1);
	add(2, 1);
	triad_overrides_remove(&overrides, 1, 1);
	ck_assert_uint_eq(overrides.n, 2);
	ck_assert(has(1, 2));
	ck_assert(has(2, 1));
	triad_overrides_remove(&overrides, 9, 9);
	ck_assert_uint_eq(overrides.n, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("overrides");

	tcase_add_test(cases, test_overrides_without_room_forget_the_oldest);
	tcase_add_test(cases, test_overrides_that_are_removed_leave_the_others);
	return run_cases(cases);
}
