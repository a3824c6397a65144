/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/fair_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define ROOM 64
#define N_SOURCES 100

struct item {
	unsigned source, number;
};

static struct triad_fair_queue *queue;
static struct item items[ROOM];
static unsigned n_of[N_SOURCES]; /* put so far */

static void set_up(void)
{
	queue = triad_fair_queue_new(ROOM, N_SOURCES);
	ck_assert_ptr_nonnull(queue);
	memset(n_of, 0, sizeof(n_of));
}

static void tear_down(void)
{
	triad_fair_queue_free(queue);
}

static bool put(unsigned source)
{
	uint32_t slot;

	if (!triad_fair_queue_put(queue, source, &slot))
		return false;
	ck_assert_uint_lt(slot, ROOM);
	items[slot] = (struct item){source, n_of[source]++};
	return true;
}

static struct item take(void)
{
	uint32_t slot;

	ck_assert(triad_fair_queue_take(queue, &slot));
	return items[slot];
}

static void check_next(unsigned source, unsigned number)
{
	struct item item = take();

	ck_assert_uint_eq(item.source, source);
	ck_assert_uint_eq(item.number, number);
}

static unsigned fill(unsigned source)
{
	unsigned n = 0;

	while (put(source))
		n++;
	return n;
}

START_TEST(test_one_source_first_in_first_out)
{
	uint32_t slot;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < ROOM / 2; i++)
			ck_assert(put(7));
		for (unsigned i = 0; i < ROOM / 2; i++)
			check_next(7, round * ROOM / 2 + i);
		ck_assert(!triad_fair_queue_take(queue, &slot));
	}
}
END_TEST

START_TEST(test_sources_take_turns)
{
	for (unsigned i = 0; i < 4; i++)
		put(99);
	put(0);
	put(5);
	put(5);
	check_next(99, 0);
	check_next(0, 0);
	check_next(5, 0);
	check_next(99, 1);
	/* A source that returns is last in turn again. */
	put(0);
	check_next(5, 1);
	check_next(99, 2);
	check_next(0, 1);
	check_next(99, 3);
	ck_assert_uint_eq(triad_fair_queue_length(queue), 0);
}
END_TEST

START_TEST(test_room_is_left_for_others)
{
	ck_assert_uint_eq(fill(1), ROOM / 2);
	ck_assert_uint_eq(fill(2), ROOM / 4);
	/* A third source that comes late gets half of the remaining room, until the
	 * others use less. */
	ck_assert_uint_eq(fill(3), ROOM / 8);
	ck_assert(!put(1) && !put(2));
	for (unsigned i = 10; put(i); i++)
		ck_assert_uint_lt(i, N_SOURCES - 1);
	ck_assert_uint_eq(triad_fair_queue_length(queue), ROOM);
}
END_TEST

START_TEST(test_sources_that_always_put_have_the_same_share)
{
	unsigned n[3] = {0};

	for (unsigned i = 0; i < 30000; i++) {
		for (unsigned source = 0; source < 3; source++)
			(void)put(source);
		(void)put(0);
		(void)put(0);
		n[take().source]++;
	}
	for (unsigned source = 0; source < 3; source++)
		ck_assert_uint_eq(n[source], 10000);
}
END_TEST

/* Compares with simple counts per source. */
START_TEST(test_random_puts_and_takes)
{
	uint64_t seed = (uint64_t)time(NULL), state = seed;
	unsigned n_taken[N_SOURCES] = {0}, since_turn[N_SOURCES] = {0};

	printf("# seed %llu\n", (unsigned long long)seed);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned source = random_below(&state, N_SOURCES), n_active = 0;
		uint32_t length = triad_fair_queue_length(queue);
		struct item item;

		if (random_below(&state, 100) < 55) {
			unsigned has = n_of[source] - n_taken[source];

			ck_assert_int_eq(put(source), has < ROOM - length);
			if (!has)
				since_turn[source] = 0;
			continue;
		}
		if (!length)
			continue;
		item = take();
		ck_assert_uint_eq(item.number, n_taken[item.source]++);
		/* No source waits for more turns than there are active sources. */
		for (unsigned other = 0; other < N_SOURCES; other++)
			if (n_of[other] != n_taken[other]) {
				n_active++;
				since_turn[other]++;
			}
		since_turn[item.source] = 0;
		for (unsigned other = 0; other < N_SOURCES; other++)
			if (n_of[other] != n_taken[other])
				ck_assert_uint_le(since_turn[other], N_SOURCES);
		ck_assert_uint_le(n_active, ROOM);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fair_queue");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_one_source_first_in_first_out);
	tcase_add_test(cases, test_sources_take_turns);
	tcase_add_test(cases, test_room_is_left_for_others);
	tcase_add_test(cases, test_sources_that_always_put_have_the_same_share);
	tcase_add_test(cases, test_random_puts_and_takes);
	return run_cases(cases);
}
