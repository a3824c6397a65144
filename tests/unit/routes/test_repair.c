/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ways around lost links: in trees with known results, and in random fabrics, where at any
 * time no packet may circle, and no links may wait for each other. */
#include "routes/repair.h"

#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 500
#define N_LINKS (ROUTED_SWITCHES * ROUTED_PORTS)

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_check *check;
static struct triad_routes_repair *repair;

static void end(void)
{
	triad_routes_repair_free(repair);
	triad_routes_check_free(check);
	triad_fabric_unref(fabric);
	repair = NULL;
	check = NULL;
	fabric = NULL;
}

static uint32_t switch_port(unsigned sw, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x1000 + 16 * sw), number);
}

static void make_check(void)
{
	static const struct triad_routes_options options = {.sls = {.all = 1}};

	fabric = routed_fabric(&routed);
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
}

static void make_repair(const uint32_t *ports, uint32_t n)
{
	ck_assert_int_eq(triad_routes_repair_make(check, ports, n, &repair), 0);
}

static unsigned number_of(uint32_t sw)
{
	return (unsigned)(fabric->nodes[check->layout->switches[sw].node].guid -
		       0x1000) /
		16;
}

static void apply(const struct triad_routes_change *change)
{
	unsigned sw = number_of(change->sw);

	ck_assert_uint_eq(routed.lft[sw][change->lid], change->from);
	ck_assert_uint_ne(change->from, change->out);
	routed.lft[sw][change->lid] = change->out;
}

/* Leaves 0 to 3, each with two hosts on its last ports, and spines from 4 on. */
static void make_tree(unsigned n_spines)
{
	uint64_t seed = 1;

	routed_init(&routed, 4 + n_spines);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 4 + n_spines; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned host = 0; host < 8; host++)
		routed_add_host(&routed, host / 2);
	routed_route(&routed, &seed);
	make_check();
}

/* --- the oracle --- */

static bool is_live(unsigned host)
{
	return !routed.far[routed.host_switch[host]][routed.host_port[host]].is_down;
}

static struct routed_walk walk(unsigned from, unsigned to)
{
	return routed_walk(&routed, routed.host_switch[from], routed.host_port[from],
		routed_host_lid(to));
}

/* Pairs that arrive; fails when packets circle. */
static unsigned count_arriving(unsigned long seed)
{
	unsigned n = 0;

	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++) {
			struct routed_walk found;

			if (a == b || !is_live(a))
				continue;
			found = walk(a, b);
			ck_assert_msg(found.end != ROUTED_CIRCLES,
				"seed %lu: %u to %u circles", seed, a, b);
			n += found.end == ROUTED_ARRIVES;
		}
	return n;
}

static bool reaches(bool (*depends)[N_LINKS], bool *seen, unsigned from, unsigned to)
{
	for (unsigned i = 0; i < N_LINKS; i++) {
		if (!depends[from][i] || seen[i])
			continue;
		seen[i] = true;
		if (i == to || reaches(depends, seen, i, to))
			return true;
	}
	return false;
}

/* Whether links wait for each other in a circle, whatever their VLs. */
static bool has_circle(void)
{
	static bool depends[N_LINKS][N_LINKS];

	memset(depends, 0, sizeof(depends));
	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++) {
			struct routed_walk found = walk(a, b);

			if (a == b || !is_live(a) || found.end != ROUTED_ARRIVES)
				continue;
			for (unsigned i = 0; i + 2 < found.n; i++)
				depends[found.sw[i] * ROUTED_PORTS + found.out[i]]
				       [found.sw[i + 1] * ROUTED_PORTS +
					       found.out[i + 1]] = true;
		}
	for (unsigned i = 0; i < N_LINKS; i++) {
		bool seen[N_LINKS] = {false};

		if (reaches(depends, seen, i, i))
			return true;
	}
	return false;
}

static bool has_turns(const unsigned *levels)
{
	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++) {
			struct routed_walk found = walk(a, b);

			if (a == b || !is_live(a) || found.end != ROUTED_ARRIVES)
				continue;
			for (unsigned i = 0; i + 2 < found.n; i++)
				if (levels[found.sw[i + 1]] < levels[found.sw[i]] &&
					levels[found.sw[i + 2]] >
						levels[found.sw[i + 1]])
					return true;
		}
	return false;
}

/* --- trees --- */

START_TEST(test_nothing_lost_changes_nothing)
{
	make_tree(2);
	make_repair(NULL, 0);
	ck_assert_uint_eq(repair->n_changes, 0);
	ck_assert_uint_eq(repair->n_steps, 0);
	ck_assert_uint_eq(repair->n_blocks, 0);
	ck_assert(repair->is_proven);
}
END_TEST

START_TEST(test_lost_uplink_is_spread_over_the_others)
{
	uint32_t gone;
	unsigned by[ROUTED_PORTS] = {0};

	make_tree(3);
	gone = switch_port(0, 1);
	make_repair(&gone, 1);
	ck_assert(repair->is_proven);
	ck_assert_uint_eq(repair->n_steps, 1);
	ck_assert_uint_eq(repair->n_lost, 0);
	ck_assert_uint_eq(repair->n_crossing,
		check->pairs[gone] + check->pairs[fabric->ports[gone].remote]);
	for (uint32_t i = 0; i < repair->n_changes; i++) {
		const struct triad_routes_change *change = &repair->changes[i];
		unsigned sw = number_of(change->sw);

		/* Spines do nothing: who sent to one sends to another. */
		ck_assert_uint_lt(sw, 4);
		ck_assert_uint_eq(change->from, 1);
		apply(change);
	}
	/* Evenly: six hosts are at other leaves. */
	for (unsigned host = 2; host < 8; host++)
		by[routed.lft[0][routed_host_lid(host)]]++;
	ck_assert_uint_eq(by[2], 3);
	ck_assert_uint_eq(by[3], 3);
	routed.far[0][1].is_down = true;
	ck_assert_uint_eq(count_arriving(0), 8 * 7);
}
END_TEST

START_TEST(test_host_without_its_link_is_lost)
{
	uint32_t gone;

	make_tree(2);
	gone = switch_port(2, routed.host_port[5]);
	make_repair(&gone, 1);
	ck_assert_uint_eq(repair->n_changes, 0);
	ck_assert_uint_eq(repair->n_lost, repair->n_crossing);
	/* To it and from it. */
	ck_assert_uint_eq(repair->n_lost, 14);
}
END_TEST

START_TEST(test_ring_is_not_proven_nor_is_a_moved_one)
{
	struct triad_routes_check *moved = NULL;
	uint64_t seed = 3;
	uint32_t gone, n_changes;

	/* Without one link, the shortest ways may close a circle with the old ones. */
	routed_init(&routed, 6);
	for (unsigned i = 0; i < 6; i++)
		routed_link(&routed, i, (i + 1) % 6);
	for (unsigned i = 0; i < 12; i++)
		routed_add_host(&routed, i % 6);
	routed_route(&routed, &seed);
	make_check();
	ck_assert(!check->credit.by_links);
	gone = switch_port(0, 1);
	make_repair(&gone, 1);
	ck_assert(!repair->is_proven);
	n_changes = repair->n_changes;
	triad_routes_repair_free(repair);
	ck_assert_int_eq(triad_routes_check_move(check, fabric, &moved), 0);
	triad_routes_check_free(check);
	check = moved;
	make_repair(&gone, 1);
	ck_assert(!repair->is_proven);
	ck_assert_uint_eq(repair->n_changes, n_changes);
}
END_TEST

START_TEST(test_switch_with_hosts_takes_all_their_pairs_along)
{
	uint32_t gone[ROUTED_PORTS], n = 0;

	make_tree(2);
	for (unsigned p = 1; p < ROUTED_PORTS; p++)
		if (routed.far[3][p].kind != ROUTED_NOTHING)
			gone[n++] = switch_port(3, p);
	make_repair(gone, n);
	/* Both of its hosts to 7, and 6 to both. */
	ck_assert_uint_eq(repair->n_crossing, 2 * 7 + 6 * 2);
	ck_assert_uint_eq(repair->n_lost, repair->n_crossing);
	ck_assert_uint_eq(repair->n_changes, 0);
}
END_TEST

START_TEST(test_next_sweep_depends_on_engine)
{
	ck_assert_int_eq(triad_routes_next_sweep("updn"), TRIAD_ROUTES_SWEEP_KEEPS);
	ck_assert_int_eq(triad_routes_next_sweep("ftree"), TRIAD_ROUTES_SWEEP_AFRESH);
	ck_assert_int_eq(triad_routes_next_sweep("file"), TRIAD_ROUTES_SWEEP_OWN);
	ck_assert_int_eq(triad_routes_next_sweep(""), TRIAD_ROUTES_SWEEP_UNKNOWN);
}
END_TEST

/* --- random ones --- */

/* Applies each step's changes in any order, and looks after some of them. */
static void apply_all(uint64_t *state, unsigned long seed)
{
	for (uint32_t at = 0; at < repair->n_changes;) {
		uint32_t n = 1;

		while (at + n < repair->n_changes &&
			repair->changes[at + n].step == repair->changes[at].step)
			n++;
		for (uint32_t i = n; i > 0; i--) {
			uint32_t chosen = at + random_below(state, i);
			struct triad_routes_change change = repair->changes[chosen];

			repair->changes[chosen] = repair->changes[at + i - 1];
			repair->changes[at + i - 1] = change;
			apply(&change);
			if (random_below(state, 4))
				continue;
			count_arriving(seed);
			ck_assert_msg(!repair->is_proven || !has_circle(),
				"seed %lu: links wait for each other", seed);
		}
		at += n;
	}
}

static unsigned lose_links(uint64_t *state, uint32_t *gone)
{
	unsigned n = 0, wanted = 1 + random_below(state, 2);

	for (unsigned tries = 0; tries < 50 && n < wanted; tries++) {
		unsigned sw = random_below(state, routed.n_switches);
		unsigned p = 1 + random_below(state, ROUTED_PORTS - 1);

		if (routed.far[sw][p].kind == ROUTED_NOTHING ||
			routed.far[sw][p].is_down)
			continue;
		gone[n++] = switch_port(sw, p);
		routed.far[sw][p].is_down = true;
	}
	return n;
}

/* Pairs that links which are left connect; each host's first LID. */
static unsigned count_connected(void)
{
	unsigned n = 0;

	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++)
			n += a != b && is_live(a) && is_live(b) &&
				routed_distance(&routed, routed.host_switch[a],
					routed.host_switch[b]) != ROUTED_NONE;
	return n;
}

START_TEST(test_random_fabrics_never_circle_and_arrive)
{
	unsigned n_proven = 0, n_of_several_steps = 0, n_trees = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		uint64_t state = seed;
		unsigned levels[ROUTED_SWITCHES], n, before, lost;
		uint32_t gone[2];
		bool had_turns, is_tree;

		routed_random(&routed, &state);
		routed.lmc = 0;
		routed_route(&routed, &state); /* valid tables */
		end();
		make_check();
		routed_levels(&routed, levels);
		is_tree = routed_is_tree(&routed, levels);
		had_turns = has_turns(levels);
		before = count_arriving(seed);
		n = lose_links(&state, gone);
		make_repair(gone, n);
		lost = before - count_arriving(seed);
		ck_assert_msg(
			repair->n_crossing == lost, "seed %lu: %u cross", seed, lost);
		apply_all(&state, seed);
		ck_assert_msg(before - count_arriving(seed) == repair->n_lost,
			"seed %lu: %u arrived, %u do, not %u", seed, before,
			count_arriving(seed), (unsigned)repair->n_lost);
		/* In a tree some ways turn, and are not taken. */
		ck_assert_msg(is_tree || count_arriving(seed) == count_connected(),
			"seed %lu: %u of %u arrive", seed, count_arriving(seed),
			count_connected());
		/* Nor is it proven when a switch that has no other way sends to one that
		 * goes up then. */
		ck_assert_msg(!is_tree || had_turns || !repair->is_proven ||
				!has_turns(levels),
			"seed %lu: a way turns", seed);
		n_proven += repair->is_proven && repair->n_changes;
		n_of_several_steps += repair->n_steps > 1;
		n_trees += is_tree && repair->n_changes && !repair->n_lost;
	}
	/* All of these were tried. */
	ck_assert_uint_gt(n_proven, N_FABRICS / 10);
	ck_assert_uint_gt(n_of_several_steps, N_FABRICS / 20);
	ck_assert_uint_gt(n_trees, N_FABRICS / 20);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("repair");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_nothing_lost_changes_nothing);
	tcase_add_test(cases, test_lost_uplink_is_spread_over_the_others);
	tcase_add_test(cases, test_host_without_its_link_is_lost);
	tcase_add_test(cases, test_ring_is_not_proven_nor_is_a_moved_one);
	tcase_add_test(cases, test_switch_with_hosts_takes_all_their_pairs_along);
	tcase_add_test(cases, test_next_sweep_depends_on_engine);
	tcase_add_test(cases, test_random_fabrics_never_circle_and_arrive);
	return run_cases(cases);
}
