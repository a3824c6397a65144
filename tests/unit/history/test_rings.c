/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which segments of a folder are removed, whatever the clock says. */
#include "history/rings.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define MINUTE (60 * TRIAD_US_PER_S)
#define HOUR (60 * MINUTE)
#define YEAR (365 * 24 * HOUR)
#define START (56 * YEAR)
#define SIZE 1000u

static struct triad_history_ring rings[2];
static struct triad_history_rings all;
static uint64_t now_us;

static void begin(void)
{
	memset(rings, 0, sizeof(rings));
	all = (struct triad_history_rings){.n = 2,
		.port_guids = {1, 2},
		.rings = {&rings[0], &rings[1]},
		.limits = {.max_octets = 1000 * SIZE,
			.keep_us = YEAR,
			.period_us = MINUTE}};
	now_us = START;
}

static void end(void)
{
	triad_history_ring_clear(&rings[0]);
	triad_history_ring_clear(&rings[1]);
}

/* Removes what is surplus; returns how many segments. */
static unsigned prune(void)
{
	struct triad_history_surplus surplus;
	unsigned n = 0;

	while (triad_history_rings_surplus(&all, now_us, 0, &surplus)) {
		triad_history_ring_remove(
			all.rings[surplus.owner], surplus.tier, surplus.segment);
		n++;
	}
	return n;
}

/* Writes an image a minute. */
static void write_images(unsigned owner, unsigned n)
{
	struct triad_history_ring *ring = &rings[owner];

	for (unsigned i = 0; i < n; i++, now_us += MINUTE) {
		struct triad_history_entry entry = {
			.time_us = now_us, .size = SIZE, .is_key = true};

		if (triad_history_ring_is_full(
			    ring, TRIAD_HISTORY_SWEEPS, &all.limits, now_us))
			ck_assert_ptr_nonnull(triad_history_ring_begin(
				ring, TRIAD_HISTORY_SWEEPS, now_us));
		ck_assert_int_eq(
			triad_history_ring_add(ring, TRIAD_HISTORY_SWEEPS,
				triad_history_ring_last(ring, TRIAD_HISTORY_SWEEPS),
				&entry),
			0);
	}
}

START_TEST(test_image_older_than_its_tier_removed)
{
	write_images(0, 60);
	ck_assert_uint_eq(prune(), 0);
	write_images(0, 15);
	ck_assert_uint_eq(prune(), 1);
}
END_TEST

START_TEST(test_clock_ten_years_ahead_nothing_removed)
{
	write_images(0, 30);
	now_us += 10 * YEAR;
	ck_assert_uint_eq(prune(), 0);
	/* Whoever starts now reads the same segments, and writes. */
	write_images(0, 20);
	ck_assert_uint_eq(prune(), 0);
	/* After as many images as an hour has, it is an hour. */
	write_images(0, 50);
	ck_assert_uint_ge(prune(), 3);
	ck_assert_uint_ge(rings[0].n_entries, 60);
}
END_TEST

START_TEST(test_clock_ahead_again_and_again_nothing_removed)
{
	write_images(0, 10);
	for (unsigned i = 0; i < 5; i++) {
		now_us += YEAR;
		write_images(0, 1);
		ck_assert_uint_eq(prune(), 0);
		now_us -= YEAR;
		write_images(0, 1);
		ck_assert_uint_eq(prune(), 0);
	}
}
END_TEST

START_TEST(test_images_of_a_dead_sm_age_by_those_of_another)
{
	write_images(0, 10);
	write_images(1, 80);
	ck_assert_uint_ge(prune(), 1);
	ck_assert_uint_eq(rings[0].n_entries, 0);
}
END_TEST

START_TEST(test_names_of_the_future_go_first_and_are_no_floor)
{
	uint64_t removed_us = now_us + 10 * YEAR;
	struct triad_history_surplus surplus;

	write_images(0, 10);
	now_us = removed_us;
	write_images(0, 10);
	now_us = START + HOUR / 2;
	write_images(0, 10);
	all.limits.max_octets = 25 * SIZE;
	ck_assert(triad_history_rings_surplus(&all, now_us, 0, &surplus));
	ck_assert_uint_eq(surplus.segment->begun_us, removed_us);
	triad_history_ring_remove(&rings[0], surplus.tier, surplus.segment);
	ck_assert(triad_history_rings_takes(
		&all, TRIAD_HISTORY_SWEEPS, now_us - MINUTE, now_us, now_us));
}
END_TEST

START_TEST(test_clock_set_back_images_go_on_in_the_segment_begun_last)
{
	write_images(0, 10);
	now_us -= 2 * HOUR;
	write_images(0, 5);
	ck_assert_uint_eq(rings[0].tiers[TRIAD_HISTORY_SWEEPS].n, 2);
	ck_assert_uint_eq(triad_history_ring_last_us(&rings[0], TRIAD_HISTORY_SWEEPS),
		now_us - MINUTE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("rings");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_image_older_than_its_tier_removed);
	tcase_add_test(cases, test_clock_ten_years_ahead_nothing_removed);
	tcase_add_test(cases, test_clock_ahead_again_and_again_nothing_removed);
	tcase_add_test(cases, test_images_of_a_dead_sm_age_by_those_of_another);
	tcase_add_test(cases, test_names_of_the_future_go_first_and_are_no_floor);
	tcase_add_test(
		cases, test_clock_set_back_images_go_on_in_the_segment_begun_last);
	return run_cases(cases);
}
