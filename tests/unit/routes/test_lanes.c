/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lanes of SLs that a routing engine draws from. */
#include "routes/lanes.h"

#include <stdlib.h>

#include "tests/unit/run.h"

static struct triad_routes_lanes lanes;

static void begin(void)
{
	lanes = (struct triad_routes_lanes){0};
}

/* Compares so many answers from the lane of 'low' to 'high'. */
static void draw(unsigned low, unsigned high, unsigned n)
{
	unsigned size = high - low + 1;

	for (unsigned i = 0; i < n; i++)
		triad_routes_lanes_add(&lanes, (uint8_t)(low + (unsigned)rand() % size),
			(uint8_t)(low + (unsigned)rand() % size));
}

START_TEST(test_all_of_a_lane_are_known_from_one)
{
	draw(0, 4, 500);
	draw(5, 6, 100);
	draw(7, 7, 100);
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 0xff), 0);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 3), 0x1f);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 6), 0x60);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 7), 0x80);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 0 | 1u << 5), 0x7f);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 0), 0);
}
END_TEST

START_TEST(test_what_lies_between_two_of_a_lane_is_in_it)
{
	for (unsigned i = 0; i < TRIAD_ROUTES_LANE_DRAWS; i++)
		triad_routes_lanes_add(&lanes, 2, 5);
	/* 9 to 12 and 11 to 15: one lane. */
	triad_routes_lanes_add(&lanes, 12, 9);
	triad_routes_lanes_add(&lanes, 15, 11);
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 1u << 5), 0);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 5), 0x3c);
	ck_assert_uint_eq(triad_routes_lanes_of(&lanes, 1u << 10), 0xfe00);
}
END_TEST

START_TEST(test_lane_that_was_compared_too_seldom_is_not_known)
{
	draw(0, 3, 1000);
	draw(4, 4, TRIAD_ROUTES_LANE_DRAWS - 1);
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 0xf), 0);
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 0x1f), 1u << 4);
	draw(4, 4, 1);
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 0x1f), 0);
	/* Seen once, but never compared. */
	ck_assert_uint_eq(triad_routes_lanes_close(&lanes, 0x3f), 1u << 5);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("lanes");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_all_of_a_lane_are_known_from_one);
	tcase_add_test(cases, test_what_lies_between_two_of_a_lane_is_in_it);
	tcase_add_test(cases, test_lane_that_was_compared_too_seldom_is_not_known);
	return run_cases(cases);
}
