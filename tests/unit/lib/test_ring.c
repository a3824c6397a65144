/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/ring.h"

#include "tests/random.h"
#include "tests/unit/run.h"

#define ROOM 5u /* deliberately no power of two */

START_TEST(test_ring_of_zeros_is_filled_from_the_first_place_on)
{
	struct triad_ring ring = {0};

	for (uint32_t i = 0; i < ROOM; i++)
		ck_assert_uint_eq(triad_ring_put(&ring, ROOM), i);
	ck_assert_uint_eq(ring.n, ROOM);
	ck_assert_uint_eq(triad_ring_take(&ring, ROOM), 0);
	ck_assert_uint_eq(triad_ring_put(&ring, ROOM), 0);
	ck_assert_uint_eq(triad_ring_take(&ring, ROOM), 1);
}
END_TEST

/* Compares with an array whose numbers move up when the first is taken. */
START_TEST(test_ring_of_random_puts_and_takes_is_in_order)
{
	uint32_t items[ROOM], expected[ROOM], n = 0, next = 0;
	uint64_t seed = 20261123;
	struct triad_ring ring = {0};

	for (unsigned turn = 0; turn < 10000; turn++) {
		if (random_below(&seed, 2) && n < ROOM) {
			items[triad_ring_put(&ring, ROOM)] = expected[n++] = next++;
		} else if (n) {
			ck_assert_uint_eq(
				items[triad_ring_take(&ring, ROOM)], expected[0]);
			n--;
			for (uint32_t i = 0; i < n; i++)
				expected[i] = expected[i + 1];
		}
		ck_assert_uint_eq(ring.n, n);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_uint_eq(
				items[triad_ring_at(&ring, ROOM, i)], expected[i]);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("ring");

	tcase_add_test(cases, test_ring_of_zeros_is_filled_from_the_first_place_on);
	tcase_add_test(cases, test_ring_of_random_puts_and_takes_is_in_order);
	return run_cases(cases);
}
