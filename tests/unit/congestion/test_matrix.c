/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which host sends to which, estimated from the rates of links; the test knows the
 * traffic. */
#include "congestion/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "congestion/roots.h"
#include "ib/link.h"
#include "tests/random.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/flows.h"
#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"

#define RADIX 4u /* 16 hosts, 2 at each edge, 4 in each pod */
#define N_SWEEPS 20u
#define MAX_ALLOCATIONS 100u

static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct flows *flows;
static struct triad_congestion_turns *turns;
static struct triad_congestion_load *loads;
static struct triad_congestion_matrix matrix;
static struct triad_congestion *found;

static void begin(void)
{
	fabric = fat_tree(RADIX);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].width = triad_link_width_find("4x");
		fabric->ports[i].speed = 4;
		fabric->ports[i].speed_ext = 2;
	}
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	ck_assert_int_eq(triad_congestion_turns_make(layout, NULL, NULL, &turns), 0);
	flows = flows_new(layout, 8, 1, 1);
	loads = calloc(fabric->n_ports, sizeof(*loads));
}

static void end(void)
{
	triad_congestion_free(found);
	found = NULL;
	triad_congestion_matrix_clear(&matrix);
	triad_congestion_turns_free(turns);
	flows_free(flows);
	free(loads);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
}

static uint32_t host(unsigned n)
{
	char name[16];

	snprintf(name, sizeof(name), "host-%u", n);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (strcmp(fabric->nodes[i].name, name) == 0)
			return layout
				->host_of_port[triad_fabric_find_port(fabric, i, 1)];
	return TRIAD_FABRIC_NONE;
}

/* The switch's port that leads to a host. */
static uint32_t port_to(unsigned n)
{
	return fabric->ports[layout->hosts[host(n)].port].remote;
}

static void sweep(void)
{
	flows_run(flows, 1000, 3000);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		loads[i] = (struct triad_congestion_load){
			.wait = (float)flows_wait(flows, i),
			.sent = (float)flows_sent(flows, i)};
	ck_assert_int_eq(triad_congestion_matrix_learn(&matrix, turns, loads), 0);
}

/* Adds flows of hosts 0 and 1 through the same port of their edge: one to a slow host,
 * one to another host. */
static void add_two(void)
{
	flows_set_drain(flows, host(5), 0.2);
	ck_assert_uint_ne(flows_add(flows, host(0), host(5), 0.9), UINT32_MAX);
	ck_assert_uint_ne(flows_add(flows, host(1), host(13), 0.9), UINT32_MAX);
}

/* Both flows pause at random; in the last sweep neither pauses. */
static void sweep_with_pauses(void)
{
	uint64_t random = 1;

	for (unsigned i = 0; i < N_SWEEPS; i++) {
		for (uint32_t k = 0; k < 2; k++)
			flows_set_pause(
				flows, k, i + 1 < N_SWEEPS && random_below(&random, 2));
		sweep();
	}
}

static const struct triad_congestion_host *find_host(unsigned n)
{
	static const struct triad_congestion_limits limits = {0.1f, 0.9f};

	ck_assert_int_eq(
		triad_congestion_find(turns, loads, &limits, NULL, &matrix, &found), 0);
	ck_assert_uint_eq(found->n_roots, 1);
	for (uint32_t i = 0; i < found->roots[0].n_hosts; i++)
		if (found->roots[0].hosts[i].port == layout->hosts[host(n)].port)
			return &found->roots[0].hosts[i];
	ck_abort_msg("host %u does not wait", n);
	return NULL;
}

/* Row: N8 */
START_TEST(test_victim_is_distinguished_from_contributor_when_they_pause)
{
	const struct triad_congestion_host *victim, *contributor;

	add_two();
	sweep_with_pauses();
	contributor = find_host(0);
	ck_assert_int_eq(contributor->role, TRIAD_CONGESTION_CONTRIBUTOR);
	ck_assert_float_gt(contributor->share, 0.9f);
	triad_congestion_free(found);
	victim = find_host(1);
	ck_assert_int_eq(victim->role, TRIAD_CONGESTION_VICTIM);
	ck_assert_float_lt(victim->share, 0.1f);
}
END_TEST

/* Either flow may be the one to the slow host: however many sweeps there are, it stays
 * undecided. */
START_TEST(test_hosts_that_never_pause_are_undecided)
{
	add_two();
	for (unsigned i = 0; i < N_SWEEPS; i++)
		sweep();
	ck_assert_int_eq(find_host(0)->role, TRIAD_CONGESTION_UNDECIDED);
	ck_assert(isnan(triad_congestion_matrix_share(&matrix, host(1), port_to(5))));
}
END_TEST

/* The sums of the pairs' rates equal the rates of links. */
START_TEST(test_matrix_fits_what_links_carry)
{
	add_two();
	ck_assert_uint_ne(flows_add(flows, host(9), host(2), 0.4), UINT32_MAX);
	sweep();
	ck_assert_uint_gt(matrix.n_pairs, 2);
	for (uint32_t p = 0; p < fabric->n_ports; p++) {
		double sum = 0;

		for (uint32_t i = 0; i < matrix.n_pairs; i++)
			for (uint32_t k = 0; k < matrix.pairs[i].n; k++)
				if (matrix.paths[matrix.pairs[i].first + k] == p)
					sum += matrix.pairs[i].bps;
		if (sum > 0)
			ck_assert_double_eq_tol(
				sum / 1e9, 100 * (double)loads[p].sent, 2);
	}
}
END_TEST

START_TEST(test_what_is_learnt_outlasts_sweeps_in_which_a_host_is_silent)
{
	add_two();
	sweep_with_pauses();
	for (unsigned i = 0; i < 3; i++) {
		flows_set_pause(flows, 1, true);
		sweep();
	}
	flows_set_pause(flows, 1, false);
	sweep();
	ck_assert_int_eq(find_host(1)->role, TRIAD_CONGESTION_VICTIM);
}
END_TEST

START_TEST(test_too_many_pairs_leave_an_empty_matrix)
{
	triad_congestion_turns_free(turns);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	free(loads);
	fabric = fat_tree(12); /* 432 hosts: 186,192 pairs */
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	ck_assert_int_eq(triad_congestion_turns_make(layout, NULL, NULL, &turns), 0);
	loads = calloc(fabric->n_ports, sizeof(*loads));
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		loads[i].sent = 0.5f;
	ck_assert_int_eq(triad_congestion_matrix_learn(&matrix, turns, loads), E2BIG);
	ck_assert_uint_eq(matrix.n_pairs, 0);
	ck_assert_ptr_null(matrix.pairs);
}
END_TEST

START_TEST(test_matrix_without_memory_fails_and_loses_nothing)
{
	int error = ENOMEM;
	unsigned n = 0;

	add_two();
	sweep();
	while (error && ++n < MAX_ALLOCATIONS) {
		refuse(n);
		error = triad_congestion_matrix_learn(&matrix, turns, loads);
		ck_assert(refused() == !!error);
		ck_assert(!error || (error == ENOMEM && !matrix.n_pairs));
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 4);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("matrix");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(
		tests, test_victim_is_distinguished_from_contributor_when_they_pause);
	tcase_add_test(tests, test_hosts_that_never_pause_are_undecided);
	tcase_add_test(tests, test_matrix_fits_what_links_carry);
	tcase_add_test(
		tests, test_what_is_learnt_outlasts_sweeps_in_which_a_host_is_silent);
	tcase_add_test(tests, test_too_many_pairs_leave_an_empty_matrix);
	tcase_add_test(tests, test_matrix_without_memory_fails_and_loses_nothing);
	return run_cases(tests);
}
