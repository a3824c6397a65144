/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/change_filter.h"

#include <errno.h>
#include <time.h>

#include "perfmgr/engine.h"
#include "tests/unit/run.h"

#define N_PORTS 50

static struct triad_change_filter *aggregate;
static unsigned seed;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	aggregate = triad_change_filter_new();
	ck_assert_ptr_nonnull(aggregate);
}

static void tear_down(void)
{
	triad_change_filter_free(aggregate);
}

static bool take(uint32_t row, uint64_t guid, uint64_t xmit, uint64_t rcv, uint64_t min)
{
	struct triad_change_filter_port port = {
		.node_guid = guid, .port = 1, .xmit_words = xmit, .rcv_words = rcv};
	bool due;

	ck_assert_int_eq(
		triad_change_filter_check(aggregate, row, &port, min, &due), 0);
	return due;
}

START_TEST(test_port_first_seen_is_due_once)
{
	ck_assert(take(7, 1, 0, 0, 100));
	ck_assert(!take(7, 1, 0, 0, 100));
	ck_assert(!take(7, 1, 0, 0, 0));
}
END_TEST

/* Row: M7, A9 */
START_TEST(test_changes_up_and_down_add_up_to_threshold)
{
	ck_assert(take(7, 1, 1000, 1000, 100));
	ck_assert(!take(7, 1, 1060, 1040, 100));
	ck_assert(take(7, 1, 1060, 1041, 100));
	ck_assert(!take(7, 1, 1160, 1041, 100));
	ck_assert(take(7, 1, 1161, 1041, 100));
	ck_assert(take(7, 1, 1162, 1041, 0));
	ck_assert(!take(7, 1, UINT64_MAX, 1041, UINT64_MAX));
	ck_assert(take(7, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1));
}
END_TEST

START_TEST(test_row_of_another_port_is_due)
{
	struct triad_change_filter_port port = {.node_guid = 1, .port = 2};
	bool due;

	ck_assert(take(7, 1, 0, 0, 100));
	ck_assert_int_eq(triad_change_filter_check(aggregate, 7, &port, 100, &due), 0);
	ck_assert(due);
	ck_assert(take(7, 1, 0, 0, 100));
	ck_assert(take(7, 2, 0, 0, 100));
	ck_assert(!take(7, 2, 0, 0, 100));
}
END_TEST

START_TEST(test_total_that_went_down_is_due)
{
	ck_assert(take(7, 1, 50, 50, 1000));
	ck_assert(take(7, 1, 49, 50, 1000));
	ck_assert(take(7, 1, 49, 49, 1000));
	ck_assert(!take(7, 1, 50, 50, 1000));
	ck_assert(take(7, 1, 48, 49, UINT64_MAX));
	ck_assert(take(7, 1, 48, 48, UINT64_MAX));
}
END_TEST

START_TEST(test_watched_sum_that_differs_is_due)
{
	struct triad_change_filter_port port = {
		.node_guid = 1, .port = 1, .watched = 3};
	bool due;

	ck_assert(take(7, 1, 0, 0, 1000));
	triad_change_filter_check(aggregate, 7, &port, 1000, &due);
	ck_assert(due);
	triad_change_filter_check(aggregate, 7, &port, 1000, &due);
	ck_assert(!due);
}
END_TEST

START_TEST(test_waits_alone_make_a_port_due)
{
	struct triad_change_filter_port port = {.node_guid = 1, .port = 1};
	const struct {
		uint64_t ticks;
		bool is_due;
	} steps[] = {{0, true}, {1000, false}, {1001, true}, {2001, false}, {7, true}};

	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		bool due;

		port.wait_ticks = steps[i].ticks;
		triad_change_filter_check(aggregate, 7, &port, 1000, &due);
		ck_assert_msg(due == steps[i].is_due, "step %u", i);
	}
}
END_TEST

START_TEST(test_forget_makes_every_port_due)
{
	ck_assert(take(7, 1, 5, 5, 100));
	ck_assert(take(8, 2, 5, 5, 100));
	triad_change_filter_forget(aggregate);
	ck_assert(take(7, 1, 5, 5, 100));
	ck_assert(take(8, 2, 5, 5, 100));
}
END_TEST

START_TEST(test_row_over_cap_is_due_and_refused)
{
	struct triad_change_filter_port port = {.node_guid = 1, .port = 1};
	bool due = false;

	ck_assert_int_eq(triad_change_filter_check(
				 aggregate, TRIAD_ENGINE_MAX_ROWS, &port, 1, &due),
		EOVERFLOW);
	ck_assert(due);
	ck_assert(take(TRIAD_ENGINE_MAX_ROWS - 1, 1, 0, 0, 1));
}
END_TEST

/* A reader that adds up the reported changes gets the total: within the threshold all
 * the time, and exactly when everything is reported.  This holds for any threshold,
 * also if it changes. */
/* Row: M7, A9 */
START_TEST(test_sum_of_what_is_reported_is_the_total)
{
	uint64_t total[N_PORTS][2] = {{0}}, sum[N_PORTS][2] = {{0}},
		 last[N_PORTS][2] = {{0}};
	unsigned n_reported = 0, n_rounds = 400;

	for (unsigned round = 0; round <= n_rounds; round++) {
		uint64_t min = round == n_rounds ? 0 : (uint64_t)rand() % 5000;

		for (unsigned i = 0; i < N_PORTS; i++) {
			total[i][0] += (uint64_t)rand() % 1000;
			total[i][1] += rand() % 2 ? 0 : (uint64_t)rand() % 1000;
			if (take(i * 37, i + 1, total[i][0], total[i][1], min)) {
				for (unsigned way = 0; way < 2; way++) {
					sum[i][way] += total[i][way] - last[i][way];
					last[i][way] = total[i][way];
				}
				n_reported++;
			}
			ck_assert_msg(
				total[i][0] + total[i][1] - sum[i][0] - sum[i][1] <=
					min,
				"seed %u: port %u of round %u", seed, i, round);
		}
	}
	for (unsigned i = 0; i < N_PORTS; i++) {
		ck_assert_msg(sum[i][0] == total[i][0], "seed %u", seed);
		ck_assert_msg(sum[i][1] == total[i][1], "seed %u", seed);
	}
	ck_assert_uint_lt(n_reported, n_rounds * N_PORTS);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("aggregate");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_port_first_seen_is_due_once);
	tcase_add_test(cases, test_changes_up_and_down_add_up_to_threshold);
	tcase_add_test(cases, test_row_of_another_port_is_due);
	tcase_add_test(cases, test_total_that_went_down_is_due);
	tcase_add_test(cases, test_watched_sum_that_differs_is_due);
	tcase_add_test(cases, test_waits_alone_make_a_port_due);
	tcase_add_test(cases, test_forget_makes_every_port_due);
	tcase_add_test(cases, test_row_over_cap_is_due_and_refused);
	tcase_add_test(cases, test_sum_of_what_is_reported_is_the_total);
	return run_cases(cases);
}
