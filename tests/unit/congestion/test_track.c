/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion from one sweep to the next. */
#include "congestion/track.h"

#include <string.h>

#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"

static struct triad_fabric *fabric;
static struct triad_congestion_track track;
static unsigned n_reported[3];
static struct triad_congestion_host hosts[8]; /* hosts of the first root */
static uint32_t n_hosts;
static bool is_first; /* nothing was known before the sweep */

static void begin(void)
{
	fabric = fat_tree(4);
	track.n = 0;
	memset(n_reported, 0, sizeof(n_reported));
	n_hosts = 0;
	is_first = false;
}

static void end(void)
{
	triad_fabric_unref(fabric);
}

static void report(void *context, enum triad_congestion_change change,
	const struct triad_congestion_tracked *root)
{
	(void)context;
	(void)root;
	n_reported[change]++;
}

/* Adds a sweep that found roots at 'n' ports from 'first' on. */
static void sweep(uint32_t first, uint32_t n, uint64_t now_us)
{
	struct triad_congestion_root roots[8] = {0};
	struct triad_congestion found = {.n_roots = n, .roots = roots};

	for (uint32_t i = 0; i < n; i++)
		roots[i] = (struct triad_congestion_root){.port = first + i,
			.vl = TRIAD_CONGESTION_NO_VL,
			.may_be_older = is_first};
	roots[0].hosts = hosts;
	roots[0].n_hosts = n_hosts;
	triad_congestion_track_add(&track, fabric, &found, now_us, report, NULL);
}

static const struct triad_congestion_tracked *root_at(uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return triad_congestion_track_find(&track, fabric->nodes[at->node].guid,
		at->number, TRIAD_CONGESTION_NO_VL);
}

static uint64_t since(uint32_t port)
{
	const struct triad_congestion_tracked *root = root_at(port);

	return root ? root->since_us : 0;
}

START_TEST(test_root_found_again_keeps_its_time)
{
	sweep(3, 2, 100);
	sweep(4, 1, 200);
	sweep(3, 2, 300);
	ck_assert_uint_eq(since(3), 100);
	ck_assert_uint_eq(since(4), 100);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_BEGUN], 2);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 0);
}
END_TEST

START_TEST(test_root_of_the_first_sweep_may_be_older_as_long_as_it_is_there)
{
	is_first = true;
	sweep(3, 1, 100);
	is_first = false;
	sweep(3, 2, 200);
	ck_assert_uint_eq(since(3), 100);
	ck_assert(root_at(3)->since_at_least);
	ck_assert(!root_at(4)->since_at_least);
}
END_TEST

/* The root's VL is known only in the second sweep. */
START_TEST(test_root_of_which_the_vl_becomes_known_is_the_same)
{
	struct triad_congestion_root root = {.port = 3, .vl = TRIAD_CONGESTION_NO_VL};
	struct triad_congestion found = {.n_roots = 1, .roots = &root};
	static const uint8_t vls[] = {
		TRIAD_CONGESTION_NO_VL, 2, TRIAD_CONGESTION_NO_VL};

	for (unsigned i = 0; i < 3; i++) {
		root.vl = vls[i];
		triad_congestion_track_add(
			&track, fabric, &found, 100 * (i + 1), report, NULL);
	}
	ck_assert_uint_eq(track.n, 1);
	ck_assert_uint_eq(since(3), 100);
	ck_assert_uint_eq(track.roots[0].vl, 2);
	ck_assert_uint_eq(track.roots[0].begun_vl, TRIAD_CONGESTION_NO_VL);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_BEGUN], 1);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 0);
}
END_TEST

START_TEST(test_roots_on_two_vls_of_a_port_are_two)
{
	struct triad_congestion_root roots[] = {
		{.port = 3, .vl = 1}, {.port = 3, .vl = 2}};
	struct triad_congestion found = {.n_roots = 2, .roots = roots};

	triad_congestion_track_add(&track, fabric, &found, 100, report, NULL);
	found.n_roots = 1;
	for (unsigned i = 0; i < 2; i++)
		triad_congestion_track_add(&track, fabric, &found, 200, report, NULL);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_BEGUN], 2);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 1);
	ck_assert_uint_eq(track.roots[0].vl, 1);
}
END_TEST

START_TEST(test_root_missed_twice_is_over)
{
	sweep(3, 1, 100);
	sweep(3, 0, 200);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 0);
	sweep(3, 0, 300);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 1);
	ck_assert_uint_eq(since(3), 0);
	sweep(3, 1, 400);
	ck_assert_uint_eq(since(3), 400);
}
END_TEST

START_TEST(test_roots_that_are_not_known_are_over)
{
	sweep(3, 2, 100);
	triad_congestion_track_add(&track, fabric, NULL, 200, report, NULL);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 2);
	ck_assert_uint_eq(track.n, 0);
}
END_TEST

/* Lets 'n' hosts wait, at the ports from 'first' on. */
static void wait_at(uint32_t first, uint32_t n)
{
	n_hosts = n;
	for (uint32_t i = 0; i < n; i++)
		hosts[i].port = first + i;
}

START_TEST(test_root_for_which_the_same_hosts_wait_has_moved)
{
	const struct triad_congestion_tracked *root;

	wait_at(20, 6);
	is_first = true;
	sweep(3, 1, 100);
	is_first = false;
	wait_at(21, 6);
	sweep(7, 1, 200);
	ck_assert_uint_eq(since(7), 100);
	ck_assert(root_at(7)->since_at_least);
	ck_assert_uint_eq(since(3), 0);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_BEGUN], 1);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_MOVED], 1);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_ENDED], 0);
	root = &track.roots[0];
	ck_assert_uint_eq(root->from_guid, fabric->nodes[fabric->ports[3].node].guid);
	ck_assert_uint_eq(root->from_port, fabric->ports[3].number);
	sweep(7, 1, 300);
	ck_assert_uint_eq(since(7), 100);
}
END_TEST

START_TEST(test_root_for_which_other_hosts_wait_is_another)
{
	wait_at(20, 6);
	sweep(3, 1, 100);
	wait_at(25, 6);
	sweep(7, 1, 200);
	ck_assert_uint_eq(since(7), 200);
	ck_assert_uint_eq(since(3), 100);
	ck_assert_uint_eq(n_reported[TRIAD_CONGESTION_MOVED], 0);
}
END_TEST

START_TEST(test_root_that_is_still_there_has_not_moved)
{
	wait_at(20, 6);
	sweep(3, 1, 100);
	/* The second root has the same hosts, and is first in the list. */
	for (unsigned i = 0; i < 2; i++) {
		struct triad_congestion_root roots[2] = {
			{.port = 7, .hosts = hosts, .n_hosts = 6},
			{.port = 3, .hosts = hosts, .n_hosts = 6}};
		struct triad_congestion found = {.n_roots = 2, .roots = roots};

		triad_congestion_track_add(
			&track, fabric, &found, 200 + i, report, NULL);
	}
	ck_assert_uint_eq(since(3), 100);
	ck_assert_uint_eq(since(7), 200);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("track");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, test_root_found_again_keeps_its_time);
	tcase_add_test(tests,
		test_root_of_the_first_sweep_may_be_older_as_long_as_it_is_there);
	tcase_add_test(tests, test_root_of_which_the_vl_becomes_known_is_the_same);
	tcase_add_test(tests, test_roots_on_two_vls_of_a_port_are_two);
	tcase_add_test(tests, test_root_missed_twice_is_over);
	tcase_add_test(tests, test_roots_that_are_not_known_are_over);
	tcase_add_test(tests, test_root_for_which_the_same_hosts_wait_has_moved);
	tcase_add_test(tests, test_root_for_which_other_hosts_wait_is_another);
	tcase_add_test(tests, test_root_that_is_still_there_has_not_moved);
	return run_cases(tests);
}
