/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ways around lost links: in trees with known results, and in random fabrics, where at any
 * time no packet may circle, and no links may wait for each other that did not before. */
#include "routes/repair.h"

#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 800
#define N_VLS 3u /* that tests/sim/routed.h has */
#define N_SLS 4u
#define N_CHANNELS (ROUTED_SWITCHES * ROUTED_PORTS * N_VLS)
#define N_WORDS ((N_CHANNELS + 63) / 64)
#define NO_CHANNEL N_CHANNELS

/* Of each channel those that wait for it, a bit each. */
struct depends {
	uint64_t words[N_CHANNELS][N_WORDS];
};

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

/* --- which channels (of a link, a VL) wait for which --- */

static bool depends(const struct depends *set, unsigned from, unsigned to)
{
	return set->words[from][to / 64] >> to % 64 & 1;
}

static unsigned sl_between(unsigned from, unsigned to)
{
	return (from + to) % N_SLS;
}

/* By packets that pass these switches, as if none were dropped (VL15); nothing by links that
 * are down. */
static void depend_by(struct depends *set, const struct routed_walk *found, unsigned sl)
{
	unsigned before = NO_CHANNEL;

	for (unsigned i = 0; i + 1 < found->n; i++) {
		unsigned sw = found->sw[i], out = found->out[i];
		unsigned vl = routed.vl[sw][found->in[i]][out][sl] % N_VLS;
		unsigned channel = (sw * ROUTED_PORTS + out) * N_VLS + vl;
		const struct routed_far *far = &routed.far[sw][out];

		if (far->is_down || routed.far[far->to][far->port].is_down)
			channel = NO_CHANNEL;
		if (before != NO_CHANNEL && channel != NO_CHANNEL)
			set->words[before][channel / 64] |= UINT64_C(1) << channel % 64;
		before = channel;
	}
}

/* From each host to each other, by the tables as they are. */
static void walk_all(struct routed_walk *walks)
{
	for (unsigned k = 0; k < ROUTED_HOSTS * ROUTED_HOSTS; k++) {
		unsigned a = k / ROUTED_HOSTS, b = k % ROUTED_HOSTS;

		walks[k].end = ROUTED_NO_ROUTE;
		if (a != b && a < routed.n_hosts && b < routed.n_hosts && is_live(a))
			walks[k] = walk(a, b);
	}
}

static void depend_by_walks(struct depends *set, const struct routed_walk *walks)
{
	for (unsigned k = 0; k < ROUTED_HOSTS * ROUTED_HOSTS; k++)
		if (walks[k].end == ROUTED_ARRIVES)
			depend_by(set, &walks[k],
				sl_between(k / ROUTED_HOSTS, k % ROUTED_HOSTS));
}

/* The last of the first 'n' switches of an old path, and behind it as the new tables have it. */
static bool walk_on(const struct routed_walk *old, unsigned n, unsigned lid,
	struct routed_walk *both)
{
	struct routed_walk rest = routed_walk(&routed, old->sw[n], old->in[n], lid);

	*both = (struct routed_walk){.n = 0};
	for (unsigned i = n ? n - 1 : 0; i < n + rest.n; i++, both->n++) {
		const struct routed_walk *from = i < n ? old : &rest;
		unsigned at = i < n ? i : i - n;

		ck_assert_uint_lt(both->n, ROUTED_SWITCHES + 2);
		both->sw[both->n] = from->sw[at];
		both->in[both->n] = from->in[at];
		both->out[both->n] = from->out[at];
	}
	return rest.end == ROUTED_ARRIVES;
}

/* By packets that took the old tables' path up to some switch, and the new ones' behind it. */
static void depend_by_both(struct depends *set, const struct routed_walk *old)
{
	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++) {
			const struct routed_walk *was = &old[a * ROUTED_HOSTS + b];
			struct routed_walk both;

			for (unsigned n = 0;
				was->end == ROUTED_ARRIVES && is_live(a) && n < was->n;
				n++)
				if (walk_on(was, n, routed_host_lid(b), &both))
					depend_by(set, &both, sl_between(a, b));
		}
}

/* What each one reaches. */
static void close_over(struct depends *set)
{
	for (unsigned k = 0; k < N_CHANNELS; k++)
		for (unsigned i = 0; i < N_CHANNELS; i++)
			for (unsigned w = 0; depends(set, i, k) && w < N_WORDS; w++)
				set->words[i][w] |= set->words[k][w];
}

static void find_circles(const struct depends *old, const struct depends *added,
	bool *by_old, bool *by_added)
{
	static struct depends all;

	for (unsigned i = 0; i < N_CHANNELS; i++)
		for (unsigned w = 0; w < N_WORDS; w++)
			all.words[i][w] = old->words[i][w] | added->words[i][w];
	close_over(&all);
	*by_old = *by_added = false;
	for (unsigned i = 0; i < N_CHANNELS; i++)
		for (unsigned k = 0; k < N_CHANNELS; k++) {
			*by_old |= depends(old, i, k) && depends(&all, k, i);
			*by_added |= depends(added, i, k) && !depends(old, i, k) &&
				depends(&all, k, i);
		}
}

static unsigned link_of(uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return (unsigned)(fabric->nodes[at->node].guid - 0x1000) / 16 * ROUTED_PORTS +
		at->number;
}

/* On any VLs. */
static bool links_depend(const struct depends *set, unsigned from, unsigned to)
{
	for (unsigned i = 0; i < N_VLS * N_VLS; i++)
		if (depends(set, from * N_VLS + i / N_VLS, to * N_VLS + i % N_VLS))
			return true;
	return false;
}

/* Whether the circle that is shown is one, by a dependency that is added. */
static void check_circle(
	const struct depends *old, const struct depends *added, unsigned long seed)
{
	uint32_t n = repair->circle.n_links;

	ck_assert_msg(n > 0 && repair->circle.n_shown == n, "seed %lu: shown", seed);
	for (uint32_t i = 0; i < n; i++) {
		unsigned from = link_of(repair->circle.ports[i]);
		unsigned to = link_of(repair->circle.ports[(i + 1) % n]);
		bool is_old = links_depend(old, from, to);
		bool is_added = links_depend(added, from, to);

		ck_assert_msg(i + 1 == n ? is_added && (routed.qos || !is_old)
					 : is_added || is_old,
			"seed %lu: %u of %u", seed, i, n);
	}
}

/* --- trees --- */

START_TEST(test_nothing_lost_changes_nothing)
{
	make_tree(2);
	make_repair(NULL, 0);
	ck_assert_uint_eq(repair->n_changes, 0);
	ck_assert_uint_eq(repair->n_steps, 0);
	ck_assert_uint_eq(repair->n_blocks, 0);
	ck_assert_int_eq(repair->proof, TRIAD_ROUTES_NO_CIRCLE);
}
END_TEST

START_TEST(test_lost_uplink_is_spread_over_the_others)
{
	uint32_t gone;
	unsigned by[ROUTED_PORTS] = {0};

	make_tree(3);
	gone = switch_port(0, 1);
	make_repair(&gone, 1);
	ck_assert_int_eq(repair->proof, TRIAD_ROUTES_NO_CIRCLE);
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

static unsigned count_reaching_switch(unsigned sw)
{
	unsigned n = 0;

	for (unsigned host = 0; host < routed.n_hosts; host++)
		n += routed_walk(&routed, routed.host_switch[host],
			     routed.host_port[host], routed_switch_lid(sw))
				.end == ROUTED_ARRIVES;
	return n;
}

START_TEST(test_sm_on_a_switch_is_reached_by_all_hosts)
{
	struct routed before;
	unsigned n_without = 0;

	make_tree(3);
	fabric->sm_port = switch_port(0, 0);
	before = routed;
	for (unsigned number = 1; number <= 3; number++) {
		uint32_t gone = switch_port(0, number);

		make_repair(&gone, 1);
		ck_assert_int_eq(repair->proof, TRIAD_ROUTES_NO_CIRCLE);
		ck_assert_uint_eq(repair->n_lost, 0);
		ck_assert_uint_eq(repair->n_crossing,
			check->pairs[gone] + check->pairs[fabric->ports[gone].remote]);
		routed.far[0][number].is_down = true;
		routed.far[3 + number][1].is_down = true;
		n_without += routed.n_hosts - count_reaching_switch(0);
		for (uint32_t i = 0; i < repair->n_changes; i++)
			apply(&repair->changes[i]);
		ck_assert_uint_eq(count_reaching_switch(0), routed.n_hosts);
		ck_assert_uint_eq(count_arriving(0), 8 * 7);
		routed = before;
		triad_routes_repair_free(repair);
		repair = NULL;
	}
	ck_assert_uint_gt(n_without, 0);
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
	ck_assert_int_eq(repair->proof, TRIAD_ROUTES_MAY_CLOSE);
	n_changes = repair->n_changes;
	triad_routes_repair_free(repair);
	ck_assert_int_eq(triad_routes_check_move(check, fabric, &moved), 0);
	triad_routes_check_free(check);
	check = moved;
	make_repair(&gone, 1);
	ck_assert_int_eq(repair->proof, TRIAD_ROUTES_MAY_CLOSE);
	ck_assert_uint_eq(repair->n_changes, n_changes);
}
END_TEST

/* All packets go round a ring one way, those from and to switch 4 by one of its two links. */
static void make_round(bool qos)
{
	static const uint8_t onward[] = {1, 2, 2, 2, 1};

	end();
	routed_init(&routed, 5);
	routed.qos = qos;
	for (unsigned i = 0; i < 4; i++)
		routed_link(&routed, i, (i + 1) % 4);
	routed_link(&routed, 4, 0);
	routed_link(&routed, 4, 0);
	for (unsigned host = 0; host < 5; host++)
		routed_add_host(&routed, host);
	for (unsigned k = 0; k < 25; k++)
		routed.lft[k / 5][routed_host_lid(k % 5)] = k / 5 == k % 5
			? (uint8_t)routed.host_port[k % 5]
			: onward[k / 5];
	routed.lft[0][routed_host_lid(4)] = 3;
	make_check();
}

START_TEST(test_circle_that_is_there_does_not_hinder_without_vls)
{
	for (unsigned qos = 0; qos < 2; qos++) {
		uint32_t gone;

		make_round(qos);
		ck_assert(!check->credit.by_links);
		gone = switch_port(4, 1);
		make_repair(&gone, 1);
		ck_assert_uint_gt(repair->n_changes, 4);
		/* Others passed the ring before, perhaps not on the VL of those that move. */
		ck_assert_int_eq(repair->proof,
			qos ? TRIAD_ROUTES_MAY_CLOSE : TRIAD_ROUTES_NONE_ADDED);
		ck_assert_uint_eq(repair->circle.n_links, qos ? 4 : 0);
	}
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
static void apply_all(uint64_t *state, struct depends *added, unsigned long seed)
{
	static struct routed_walk now[ROUTED_HOSTS * ROUTED_HOSTS];

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
			walk_all(now);
			depend_by_walks(added, now);
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

/* A ring, whose links may wait for each other already, and a tree at one of its switches. */
static void make_ring_with_tree(uint64_t *state)
{
	bool qos = routed.qos;

	routed_init(&routed, 8);
	for (unsigned i = 0; i < 4; i++) {
		routed_link(&routed, i, (i + 1) % 4);
		routed_link(&routed, 4 + i / 2, 6 + i % 2);
	}
	routed_link(&routed, 0, 4);
	for (unsigned i = 0; i < 16; i++)
		routed_add_host(&routed, random_below(state, 6));
	/* SLs have VLs of their own, or all have one. */
	routed.qos = qos;
	for (unsigned i = 0; qos && i < ROUTED_SWITCHES * ROUTED_PORTS * ROUTED_PORTS;
		i++)
		for (unsigned sl = 0; sl < 16; sl++)
			routed.vl[i / ROUTED_PORTS / ROUTED_PORTS][i / ROUTED_PORTS %
				ROUTED_PORTS][i % ROUTED_PORTS][sl] = sl % N_VLS;
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
	static struct routed_walk walks[ROUTED_HOSTS * ROUTED_HOSTS];
	static struct depends old, added;
	unsigned n_of[2][3] = {{0}}, n_of_several_steps = 0, n_trees = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		uint64_t state = seed;
		unsigned levels[ROUTED_SWITCHES], n, before, lost;
		uint32_t gone[2];
		bool is_tree, by_old, by_added;

		memset(&old, 0, sizeof(old));
		memset(&added, 0, sizeof(added));
		routed_random(&routed, &state);
		if (!random_below(&state, 3))
			make_ring_with_tree(&state);
		routed.lmc = 0;
		routed_route(&routed, &state); /* valid tables */
		end();
		make_check();
		routed_levels(&routed, levels);
		is_tree = routed_is_tree(&routed, levels);
		before = count_arriving(seed);
		walk_all(walks);
		n = lose_links(&state, gone);
		depend_by_walks(&old, walks);
		make_repair(gone, n);
		lost = before - count_arriving(seed);
		ck_assert_msg(
			repair->n_crossing == lost, "seed %lu: %u cross", seed, lost);
		apply_all(&state, &added, seed);
		depend_by_both(&added, walks);
		find_circles(&old, &added, &by_old, &by_added);
		ck_assert_msg(repair->proof == TRIAD_ROUTES_MAY_CLOSE || !by_added,
			"seed %lu: the repair closes a circle", seed);
		ck_assert_msg(repair->proof != TRIAD_ROUTES_NO_CIRCLE || !by_old,
			"seed %lu: there is a circle", seed);
		if (repair->proof == TRIAD_ROUTES_MAY_CLOSE)
			check_circle(&old, &added, seed);
		ck_assert_msg(before - count_arriving(seed) == repair->n_lost,
			"seed %lu: %u arrived, %u do, not %u", seed, before,
			count_arriving(seed), (unsigned)repair->n_lost);
		/* In a tree some ways turn, and are not taken. */
		ck_assert_msg(is_tree || count_arriving(seed) == count_connected(),
			"seed %lu: %u of %u arrive", seed, count_arriving(seed),
			count_connected());
		n_of[routed.qos][repair->proof] += repair->n_changes > 0;
		n_of_several_steps += repair->n_steps > 1;
		n_trees += is_tree && repair->n_changes && !repair->n_lost;
	}
	/* All of these were tried. */
	for (unsigned i = 0; i < 6; i++)
		ck_assert_msg(n_of[i / 3][i % 3] > 0, "%u, VLs: %u", i % 3, i / 3);
	ck_assert_uint_gt(n_of_several_steps, N_FABRICS / 20);
	ck_assert_uint_gt(n_trees, N_FABRICS / 40);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("repair");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_nothing_lost_changes_nothing);
	tcase_add_test(cases, test_lost_uplink_is_spread_over_the_others);
	tcase_add_test(cases, test_host_without_its_link_is_lost);
	tcase_add_test(cases, test_sm_on_a_switch_is_reached_by_all_hosts);
	tcase_add_test(cases, test_ring_is_not_proven_nor_is_a_moved_one);
	tcase_add_test(cases, test_circle_that_is_there_does_not_hinder_without_vls);
	tcase_add_test(cases, test_switch_with_hosts_takes_all_their_pairs_along);
	tcase_add_test(cases, test_next_sweep_depends_on_engine);
	tcase_add_test(cases, test_random_fabrics_never_circle_and_arrive);
	return run_cases(cases);
}
