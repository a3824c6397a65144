/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_stats.h"

#include <math.h>
#include <time.h>

#include "cli/profile_links.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define T0 (UINT64_C(1767323045) * S)

static struct triad_stats *stats;
static unsigned seed;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	stats = triad_stats_new();
	ck_assert_ptr_nonnull(stats);
}

static void tear_down(void)
{
	triad_stats_free(stats);
}

static void begin(uint64_t sm_guid, uint64_t time_us, enum triad_profile_sweep sweep)
{
	const struct triad_profile_info info = {.time_us = time_us,
		.sm_guid = sm_guid,
		.started_us = 1,
		.sweep = sweep};

	ck_assert_int_eq(triad_stats_begin(stats, &info), 0);
}

static void add(uint64_t guid, unsigned port, uint64_t time_us, uint64_t xmit,
	uint64_t rcv, uint32_t mbps)
{
	struct triad_profile_row row = {.time_us = time_us,
		.node_guid = guid,
		.port = (uint8_t)port,
		.remote_guid = guid ^ 1,
		.remote_port = (uint8_t)port,
		.mbps = mbps,
		.has = TRIAD_PROFILE_DATA_COUNTERS};

	row.total[TRIAD_PORT_XMIT_DATA] = xmit;
	row.total[TRIAD_PORT_RCV_DATA] = rcv;
	ck_assert_int_eq(triad_stats_add(stats, &row), 0);
}

static double sum_of_bins(void)
{
	double sum = 0;

	for (unsigned i = 0; i < TRIAD_STATS_BINS; i++) {
		ck_assert_msg(stats->bins[i] >= 0, "seed %u", seed);
		sum += stats->bins[i];
	}
	return sum;
}

/* Clocks jump, totals go down, and collectors begin anew.  The result equals a plain
 * sum, and the bins contain all of it. */
START_TEST(test_random_rows_add_up)
{
	uint64_t now_us = T0, last[20] = {0}, words[20] = {0};
	bool seen[20] = {false};
	double sum = 0;

	for (unsigned i = 0; i < 5000; i++) {
		uint64_t step_us = (uint64_t)rand() % (rand() % 50 ? 10 * S : 9000 * S);

		now_us = rand() % 100 ? now_us + step_us : now_us - step_us;
		begin(1, now_us,
			rand() % 3 ? TRIAD_PROFILE_SWEEP_ALL
				   : TRIAD_PROFILE_SWEEP_PART);
		for (unsigned p = 0; p < 20; p++) {
			uint64_t total = last[p] + (uint64_t)rand() % 100000;

			if (rand() % 3)
				continue;
			if (rand() % 100 == 0)
				total = (uint64_t)rand() % 100;
			add(2 * p + 2, 1, now_us, total, 0, 0);
			if (seen[p] && total >= last[p])
				words[p] += total - last[p];
			last[p] = total;
			seen[p] = true;
		}
	}
	triad_stats_end(stats);
	for (unsigned p = 0; p < 20; p++) {
		const struct triad_stats_port *port =
			triad_stats_find(stats, 2 * p + 2, 1);

		ck_assert_ptr_nonnull(port);
		ck_assert_msg(port->words[0] == words[p], "seed %u: port %u", seed, p);
		sum += (double)words[p];
	}
	ck_assert_msg(fabs(sum_of_bins() - sum) < 1e-6 * sum, "seed %u: %g, not %g",
		seed, sum_of_bins(), sum);
	ck_assert_uint_le(stats->n_bins, TRIAD_STATS_BINS);
}
END_TEST

START_TEST(test_change_is_in_the_bins_of_its_interval)
{
	begin(1, T0, TRIAD_PROFILE_SWEEP_ALL);
	add(2, 1, T0, 0, 0, 0);
	begin(1, T0 + 10 * S, TRIAD_PROFILE_SWEEP_ALL);
	add(2, 1, T0 + 10 * S, 1000, 0, 0);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_double_eq_tol(stats->bins[i], 100, 1e-9);
	/* After four doublings, bins have 16 s. */
	begin(1, T0 + 8000 * S, TRIAD_PROFILE_SWEEP_ALL);
	ck_assert_uint_eq(stats->bin_us, 16 * S);
	ck_assert_double_eq_tol(stats->bins[0], 1000, 1e-9);
}
END_TEST

/* A port was left out while it was quiet.  Its burst counts for the last interval,
 * unless the link can't carry so much in that time. */
START_TEST(test_peak_is_over_the_last_interval)
{
	for (unsigned i = 0; i <= 10; i++) {
		begin(1, T0 + i * 10 * S, TRIAD_PROFILE_SWEEP_ALL);
		if (i == 0) {
			add(2, 1, T0, 0, 0, 32);
			add(4, 1, T0, 0, 0, 32);
		}
	}
	add(2, 1, T0 + 100 * S, 10000000, 0, 32);
	add(4, 1, T0 + 100 * S, 20000000, 0, 32);
	triad_stats_end(stats);
	ck_assert_double_eq_tol(triad_stats_find(stats, 2, 1)->peak[0], 1000000, 1);
	ck_assert_uint_eq(triad_stats_find(stats, 2, 1)->peak_us[0], T0 + 90 * S);
	ck_assert_double_eq_tol(triad_stats_find(stats, 4, 1)->peak[0], 200000, 1);
}
END_TEST

START_TEST(test_sweep_of_a_part_ends_no_interval)
{
	begin(1, T0, TRIAD_PROFILE_SWEEP_ALL);
	add(2, 1, T0, 0, 0, 100000);
	begin(1, T0 + 50 * S, TRIAD_PROFILE_SWEEP_PART);
	begin(1, T0 + 60 * S, TRIAD_PROFILE_SWEEP_ALL);
	add(2, 1, T0 + 60 * S, 6000, 0, 100000);
	triad_stats_end(stats);
	ck_assert_double_eq_tol(triad_stats_find(stats, 2, 1)->peak[0], 100, 1e-6);
}
END_TEST

START_TEST(test_gap_counts_missing_sweeps)
{
	uint64_t now_us = T0;

	for (unsigned i = 0; i < 20; i++) {
		now_us += 10 * S + (uint64_t)rand() % S;
		begin(1, now_us, TRIAD_PROFILE_SWEEP_ALL);
		begin(1, now_us + 5 * S, TRIAD_PROFILE_SWEEP_PART);
	}
	ck_assert_uint_eq(stats->n_gaps, 0);
	begin(1, now_us + 41 * S, TRIAD_PROFILE_SWEEP_ALL);
	triad_stats_end(stats);
	ck_assert_uint_eq(stats->n_gaps, 1);
	ck_assert_uint_eq(stats->gaps[0].n_missing, 3);
	ck_assert_uint_eq(stats->gaps[0].from_us, now_us);
}
END_TEST

static void begin_so_often(
	uint64_t *now_us, unsigned n, unsigned step_s, unsigned period_s)
{
	for (unsigned i = 0; i < n; i++) {
		const struct triad_profile_info info = {
			.time_us = *now_us += step_s * S,
			.sm_guid = 1,
			.started_us = 1,
			.period_us = period_s * S,
			.sweep = TRIAD_PROFILE_SWEEP_ALL};

		ck_assert_int_eq(triad_stats_begin(stats, &info), 0);
	}
}

START_TEST(test_other_period_and_sweeps_between_are_no_gaps)
{
	for (unsigned is_said = 0; is_said < 2; is_said++) {
		uint64_t now_us = T0;

		begin_so_often(&now_us, 20, 10, 10 * is_said);
		for (unsigned i = 0; i < 3; i++) { /* sweeps by 'perf sweep' */
			begin_so_often(&now_us, 1, 2, 10 * is_said);
			begin_so_often(&now_us, 2, 8, 10 * is_said);
		}
		begin_so_often(&now_us, 20, 60, 60 * is_said);
		begin_so_often(&now_us, 20, 5, 5 * is_said);
		triad_stats_end(stats);
		ck_assert_uint_eq(stats->n_gaps, 0);
		tear_down();
		set_up();
	}
}
END_TEST

START_TEST(test_gap_of_many_early_sweeps_by_the_period)
{
	uint64_t now_us = T0;

	begin_so_often(&now_us, 20, 1, 10);
	begin_so_often(&now_us, 2, 10, 10);
	begin_so_often(&now_us, 1, 40, 10);
	begin_so_often(&now_us, 2, 10, 10);
	triad_stats_end(stats);
	ck_assert_uint_eq(stats->n_gaps, 1);
	ck_assert_uint_eq(stats->gaps[0].n_missing, 3);
}
END_TEST

/* Each agent below a manager has its own ports, and all report the GUID of the
 * manager's SM. */
START_TEST(test_processes_with_one_guid_are_distinguished)
{
	for (unsigned sweep = 0; sweep < 50; sweep++)
		for (unsigned agent = 0; agent < 4; agent++) {
			const struct triad_profile_info info = {
				.time_us = T0 + sweep * 10 * S + agent * S,
				.sm_guid = 1,
				.started_us = T0 - (9 - agent) * S,
				.sweep = TRIAD_PROFILE_SWEEP_ALL};

			ck_assert_int_eq(triad_stats_begin(stats, &info), 0);
			add(2 + agent, 1, info.time_us, 1000 * sweep, 0, 0);
		}
	triad_stats_end(stats);
	ck_assert_uint_eq(stats->n_collectors, 4);
	for (unsigned agent = 0; agent < 4; agent++) {
		ck_assert_uint_eq(stats->collectors[agent].n_restarts, 0);
		ck_assert_uint_eq(
			triad_stats_find(stats, 2 + agent, 1)->words[0], 49000);
	}
	ck_assert_uint_eq(stats->n_repeated, 0);
	ck_assert_uint_eq(stats->n_gaps, 0);
}
END_TEST

START_TEST(test_sections_without_comment_taken)
{
	ck_assert_int_eq(triad_stats_begin(stats, NULL), 0);
	add(2, 1, T0, 0, 0, 0);
	ck_assert_int_eq(triad_stats_begin(stats, NULL), 0);
	add(2, 1, T0 + 10 * S, 500, 0, 0);
	triad_stats_end(stats);
	ck_assert_uint_eq(stats->n_frames, 2);
	ck_assert_uint_eq(triad_stats_find(stats, 2, 1)->words[0], 500);
	ck_assert_uint_eq(triad_stats_find(stats, 2, 1)->observed_us, 10 * S);
}
END_TEST

/* These are more ports than the table initially holds, in random order. */
START_TEST(test_many_ports_found_again)
{
	begin(1, T0, TRIAD_PROFILE_SWEEP_ALL);
	for (unsigned i = 0; i < 10000; i++)
		add(2 + i * 7919 % 10000, 1 + i % 3, T0, i, 0, 0);
	triad_stats_end(stats);
	ck_assert_uint_eq(stats->n_ports, 10000);
	for (unsigned i = 0; i < 10000; i++) {
		const struct triad_stats_port *port = triad_stats_find(
			stats, 2 + i * 7919 % 10000, (uint8_t)(1 + i % 3));

		ck_assert_ptr_nonnull(port);
		ck_assert_uint_eq(port->last[0], i);
	}
	ck_assert_ptr_null(triad_stats_find(stats, 1, 1));
}
END_TEST

/* Ports 1 to 3 of nodes 2 and 3 are linked.  Node 3's end of the third link doesn't
 * answer. */
START_TEST(test_links_have_both_directions)
{
	static const double there[] = {1000, 3000, 2000}, back[] = {300, 300, 900};
	struct triad_links links;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t time_us = T0 + i * 32 * S;

		begin(1, time_us, TRIAD_PROFILE_SWEEP_ALL);
		add(2, 1, time_us, i * 1000, i * 7, 1000);
		add(2, 2, time_us, i * 3000, i * 100, 1000);
		add(2, 3, time_us, i * 2000, i * 900, 1000);
		add(3, 1, time_us, i * 300, 0, 1000);
		add(3, 2, time_us, i * 300, 0, 1000);
	}
	triad_stats_end(stats);
	ck_assert_int_eq(triad_links_make(&links, stats), 0);
	ck_assert_uint_eq(links.n_links, 3);
	ck_assert_uint_eq(links.by_mean[0], 1);
	for (unsigned i = 0; i < 3; i++) {
		const struct triad_link *link = &links.links[i];

		ck_assert_uint_eq(link->guid[0], 2);
		ck_assert_uint_eq(link->guid[1], 3);
		ck_assert_uint_eq(link->port[0], i + 1);
		ck_assert_double_eq_tol(link->mean_bps[0], there[i], 1e-6);
		ck_assert_double_eq_tol(link->mean_bps[1], back[i], 1e-6);
	}
	ck_assert_uint_eq(links.n_bundles, 1);
	ck_assert_uint_eq(links.bundles[0].n_links, 3);
	/* From node 3 the maximum is 900 with a mean of 500; from node 2 it is 3000
	 * with a mean of 2000. */
	ck_assert_uint_eq(links.bundles[0].direction, TRIAD_LINK_BACK);
	ck_assert_double_eq_tol(links.bundles[0].ratio, 1.8, 1e-9);
	ck_assert_uint_eq(links.bundles[0].busiest, 2);
	triad_links_clear(&links);
}
END_TEST

/* Only the end with the higher GUID was read. */
START_TEST(test_link_of_the_far_end_alone_is_turned)
{
	struct triad_links links;

	for (unsigned i = 0; i < 2; i++) {
		begin(1, T0 + i * 32 * S, TRIAD_PROFILE_SWEEP_ALL);
		add(3, 1, T0 + i * 32 * S, i * 300, i * 40, 1000);
	}
	triad_stats_end(stats);
	ck_assert_int_eq(triad_links_make(&links, stats), 0);
	ck_assert_uint_eq(links.n_links, 1);
	ck_assert_uint_eq(links.links[0].guid[0], 2);
	ck_assert_double_eq_tol(links.links[0].mean_bps[TRIAD_LINK_THERE], 40, 1e-6);
	ck_assert_double_eq_tol(links.links[0].mean_bps[TRIAD_LINK_BACK], 300, 1e-6);
	triad_links_clear(&links);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("profile_stats");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_random_rows_add_up);
	tcase_add_test(cases, test_change_is_in_the_bins_of_its_interval);
	tcase_add_test(cases, test_peak_is_over_the_last_interval);
	tcase_add_test(cases, test_sweep_of_a_part_ends_no_interval);
	tcase_add_test(cases, test_gap_counts_missing_sweeps);
	tcase_add_test(cases, test_other_period_and_sweeps_between_are_no_gaps);
	tcase_add_test(cases, test_gap_of_many_early_sweeps_by_the_period);
	tcase_add_test(cases, test_processes_with_one_guid_are_distinguished);
	tcase_add_test(cases, test_sections_without_comment_taken);
	tcase_add_test(cases, test_many_ports_found_again);
	tcase_add_test(cases, test_links_have_both_directions);
	tcase_add_test(cases, test_link_of_the_far_end_alone_is_turned);
	return run_cases(cases);
}
