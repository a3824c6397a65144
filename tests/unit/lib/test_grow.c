/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/grow.h"

#include <errno.h>
#include <stdint.h>

#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"

struct item {
	uint32_t number;
	char more[9];
};

START_TEST(test_array_filled_one_by_one_keeps_its_items)
{
	struct item *items = NULL;
	size_t room = 0;

	for (uint32_t n = 0; n < 1000; n++) {
		size_t before = room;

		ck_assert_int_eq(
			triad_grow(&items, &room, n + 1, sizeof(*items), 3), 0);
		ck_assert_uint_gt(room, n);
		ck_assert(room == before || room == (before ? 2 * before : 3));
		items[n] = (struct item){.number = n};
	}
	ck_assert_uint_eq(room, 1536);
	for (uint32_t n = 0; n < 1000; n++)
		ck_assert_uint_eq(items[n].number, n);
	free(items);
}
END_TEST

START_TEST(test_array_with_room_for_all_stays_where_it_is)
{
	uint64_t *items = NULL, *before;
	size_t room = 0;

	ck_assert_int_eq(triad_grow(&items, &room, 100, sizeof(*items), 1), 0);
	ck_assert_uint_eq(room, 128);
	before = items;
	ck_assert_int_eq(triad_grow(&items, &room, 128, sizeof(*items), 1), 0);
	ck_assert_ptr_eq(items, before);
	ck_assert_uint_eq(room, 128);
	free(items);
}
END_TEST

START_TEST(test_array_without_memory_stays_as_it_is)
{
	uint16_t *items = NULL, *before;
	size_t room = 0;

	ck_assert_int_eq(triad_grow(&items, &room, 2, sizeof(*items), 2), 0);
	items[1] = 7;
	before = items;
	refuse(1);
	ck_assert_int_eq(triad_grow(&items, &room, 3, sizeof(*items), 2), ENOMEM);
	ck_assert(was_refused);
	ck_assert_ptr_eq(items, before);
	ck_assert_uint_eq(room, 2);
	ck_assert_uint_eq(items[1], 7);
	free(items);
}
END_TEST

START_TEST(test_array_larger_than_memory_is_refused)
{
	static const size_t n[] = {
		SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1};
	uint64_t *items = NULL;
	size_t room = 0;

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		ck_assert_int_eq(
			triad_grow(&items, &room, n[i], sizeof(*items), 64), ENOMEM);
		ck_assert_ptr_null(items);
		ck_assert_uint_eq(room, 0);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("grow");

	tcase_add_test(cases, test_array_filled_one_by_one_keeps_its_items);
	tcase_add_test(cases, test_array_with_room_for_all_stays_where_it_is);
	tcase_add_test(cases, test_array_without_memory_stays_as_it_is);
	tcase_add_test(cases, test_array_larger_than_memory_is_refused);
	return run_cases(cases);
}
