/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Trees of groups that lost links: after each write, packets are followed from each sender by
 * the tables as they are, with the lost links away, and back. */
#include "routes/repair_multicast.h"

#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 600
#define N_MLIDS 4

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct triad_routes_repair_multicast *repair;
static uint16_t masks[ROUTED_SWITCHES][N_MLIDS]; /* ROUTED_PORTS is below 16 */
static uint32_t gone[64];                        /* ports of the fabric */
static unsigned gone_at[64][2], n_gone;          /* switch and port */

static void end(void)
{
	triad_routes_repair_multicast_free(repair);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	repair = NULL;
	layout = NULL;
	fabric = NULL;
}

static void make_fabric(void)
{
	end();
	n_gone = 0;
	fabric = routed_fabric(&routed);
	fabric->mft = malloc(sizeof(masks));
	memcpy(fabric->mft, masks, sizeof(masks));
	for (unsigned sw = 0; sw < routed.n_switches; sw++) {
		struct triad_fabric_node *node = &fabric->nodes[triad_fabric_find_node(
			fabric, 0x1000 + 16 * sw)];

		node->mft = (struct triad_fabric_slice){
			.n = N_MLIDS, .at = (size_t)sw * N_MLIDS};
		node->mft_width = 1;
	}
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
}

static void lose(unsigned sw, unsigned port)
{
	gone_at[n_gone][0] = sw;
	gone_at[n_gone][1] = port;
	gone[n_gone++] = triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x1000 + 16 * sw), port);
}

static void set_gone(bool is_down)
{
	for (unsigned i = 0; i < n_gone; i++)
		routed.far[gone_at[i][0]][gone_at[i][1]].is_down = is_down;
}

static void make_repair(void)
{
	ck_assert_int_eq(
		triad_routes_repair_multicast_make(layout, gone, n_gone, &repair), 0);
	set_gone(true);
}

static unsigned number_of(uint32_t sw)
{
	return (unsigned)(fabric->nodes[layout->switches[sw].node].guid - 0x1000) / 16;
}

static bool is_live(unsigned sw, unsigned port)
{
	const struct routed_far *far = &routed.far[sw][port];

	return far->kind != ROUTED_NOTHING && !far->is_down &&
		(far->kind == ROUTED_HOST || !routed.far[far->to][far->port].is_down);
}

/* --- trees --- */

/* Takes away what leads nowhere, from the leaves on. */
static void prune(unsigned mlid)
{
	for (unsigned round = 0; round < ROUTED_SWITCHES; round++)
		for (unsigned sw = 0; sw < routed.n_switches; sw++)
			for (unsigned p = 1; p < ROUTED_PORTS; p++) {
				const struct routed_far *far = &routed.far[sw][p];

				if (masks[sw][mlid] != 1u << p ||
					far->kind != ROUTED_SWITCH)
					continue;
				masks[sw][mlid] = 0;
				masks[far->to][mlid] &= (uint16_t) ~(1u << far->port);
			}
}

/* A random tree from a random switch on, of which some have members. */
static void make_tree(unsigned mlid, uint64_t *state)
{
	bool seen[ROUTED_SWITCHES] = {false};
	unsigned queue[ROUTED_SWITCHES], n = 0, one_in = 1 + random_below(state, 4);

	queue[n++] = random_below(state, routed.n_switches);
	seen[queue[0]] = true;
	for (unsigned tries = 0; tries < 400; tries++) {
		unsigned sw = queue[random_below(state, n)];
		unsigned p = 1 + random_below(state, ROUTED_PORTS - 1);
		const struct routed_far *far = &routed.far[sw][p];

		if (!is_live(sw, p) || far->kind != ROUTED_SWITCH || seen[far->to])
			continue;
		seen[far->to] = true;
		queue[n++] = far->to;
		masks[sw][mlid] |= (uint16_t)(1u << p);
		masks[far->to][mlid] |= (uint16_t)(1u << far->port);
	}
	for (unsigned sw = 0; sw < routed.n_switches; sw++)
		for (unsigned p = 0; p < ROUTED_PORTS && seen[sw]; p++)
			if ((p ? is_live(sw, p) && routed.far[sw][p].kind == ROUTED_HOST
			       : !random_below(state, 8)) &&
				!random_below(state, one_in))
				masks[sw][mlid] |= (uint16_t)(1u << p);
	if (random_below(state, 4))
		prune(mlid);
}

/* --- the oracle --- */

/* How often a packet that enters there leaves by each port; false: it circles. */
static bool flood(unsigned sw, unsigned in, unsigned mlid,
	unsigned copies[ROUTED_SWITCHES][ROUTED_PORTS])
{
	unsigned queue[1000][2], n = 0;

	memset(copies, 0, ROUTED_SWITCHES * sizeof(*copies));
	queue[n][0] = sw;
	queue[n++][1] = in;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = queue[i][0];

		for (unsigned p = 0; p < ROUTED_PORTS; p++) {
			const struct routed_far *far = &routed.far[at][p];

			if (p == queue[i][1] || !(masks[at][mlid] >> p & 1) ||
				(p && !is_live(at, p)))
				continue;
			copies[at][p]++;
			if (!p || far->kind != ROUTED_SWITCH)
				continue;
			if (n == 1000)
				return false;
			queue[n][0] = far->to;
			queue[n++][1] = far->port;
		}
	}
	return true;
}

/* By senders that are hosts, members or not, of switches that the tree had. */
static void check_floods(
	unsigned mlid, const uint16_t *had, bool must_arrive, unsigned long seed)
{
	unsigned copies[ROUTED_SWITCHES][ROUTED_PORTS];

	for (unsigned i = 0; i < ROUTED_SWITCHES * ROUTED_PORTS; i++) {
		unsigned sw = i / ROUTED_PORTS, in = i % ROUTED_PORTS;

		if (!had[sw] || routed.far[sw][in].kind != ROUTED_HOST ||
			!is_live(sw, in))
			continue;
		ck_assert_msg(flood(sw, in, mlid, copies), "seed %lu: circles", seed);
		for (unsigned k = 0; k < ROUTED_SWITCHES * ROUTED_PORTS; k++) {
			unsigned to = k / ROUTED_PORTS, p = k % ROUTED_PORTS;
			bool is_member = had[to] >> p & 1 &&
				(!p ||
					(routed.far[to][p].kind == ROUTED_HOST &&
						is_live(to, p))) &&
				k != i;

			ck_assert_msg(copies[to][p] <= 1, "seed %lu: twice", seed);
			if (must_arrive && is_member)
				ck_assert_msg(copies[to][p] ==
						(routed_distance(&routed, sw, to) !=
							ROUTED_NONE),
					"seed %lu: %u:%u to %u:%u", seed, sw, in, to,
					p);
		}
	}
}

static void check_now(
	unsigned mlid, const uint16_t *had, bool must_arrive, unsigned long seed)
{
	check_floods(mlid, had, must_arrive, seed);
	set_gone(false);
	check_floods(mlid, had, false, seed);
	set_gone(true);
}

static void apply(const struct triad_routes_multicast_change *change)
{
	uint16_t *mask = &masks[number_of(change->sw)][change->mlid - 0xc000];

	ck_assert_uint_eq(change->before[0], *mask);
	ck_assert_uint_ne(change->before[0], change->after[0]);
	for (unsigned i = 1; i < TRIAD_ROUTES_MULTICAST_POSITIONS; i++)
		ck_assert_uint_eq(change->before[i] | change->after[i], 0);
	/* The first step only takes out, the second only puts in. */
	ck_assert_uint_eq(change->step ? change->before[0] & ~change->after[0]
				       : change->after[0] & ~change->before[0],
		0);
	*mask = change->after[0];
}

/* Each step's in any order. */
static void apply_group(struct triad_routes_multicast_change *changes, unsigned n,
	const uint16_t *had, uint64_t *state, unsigned long seed)
{
	for (unsigned at = 0; at < n;) {
		unsigned n_step = 1;

		while (at + n_step < n && changes[at + n_step].step == changes[at].step)
			n_step++;
		ck_assert_uint_eq(changes[at + n_step - 1].step, changes[at].step);
		for (unsigned i = n_step; i > 0; i--) {
			unsigned chosen = at + random_below(state, i);
			struct triad_routes_multicast_change change = changes[chosen];

			changes[chosen] = changes[at + i - 1];
			changes[at + i - 1] = change;
			apply(&change);
			check_now(change.mlid - 0xc000u, had, false, seed);
		}
		at += n_step;
	}
}

static bool is_host_member(const uint16_t *had, unsigned sw, unsigned p)
{
	return had[sw] >> p & 1 && (!p || routed.far[sw][p].kind == ROUTED_HOST);
}

/* Members apart from the largest set of those that links connect. */
static unsigned count_cut(const uint16_t *had)
{
	unsigned n = 0, most = 0;

	for (unsigned from = 0; from < routed.n_switches; from++) {
		unsigned with = 0;

		for (unsigned k = 0; k < ROUTED_SWITCHES * ROUTED_PORTS; k++) {
			unsigned sw = k / ROUTED_PORTS, p = k % ROUTED_PORTS;

			if (!is_host_member(had, sw, p))
				continue;
			n += !from;
			with += (!p || is_live(sw, p)) &&
				routed_distance(&routed, from, sw) != ROUTED_NONE;
		}
		most = with > most ? with : most;
	}
	return n - most;
}

static bool crosses(const uint16_t *had)
{
	for (unsigned i = 0; i < n_gone; i++) {
		unsigned sw = gone_at[i][0], p = gone_at[i][1];
		const struct routed_far *far = &routed.far[sw][p];

		if (had[sw] >> p & 1 ||
			(far->kind == ROUTED_SWITCH && had[far->to] >> far->port & 1))
			return true;
	}
	return false;
}

/* Links or all links of a switch. */
static void lose_some(uint64_t *state)
{
	unsigned wanted = 1 + random_below(state, 3);
	unsigned sw = random_below(state, routed.n_switches);

	for (unsigned p = 1; p < ROUTED_PORTS && wanted == 3; p++)
		if (is_live(sw, p))
			lose(sw, p);
	for (unsigned tries = 0; tries < 60 && n_gone < wanted; tries++) {
		unsigned p = 1 + random_below(state, ROUTED_PORTS - 1);

		sw = random_below(state, routed.n_switches);
		if (is_live(sw, p) &&
			(n_gone == 0 || gone_at[0][0] != sw || gone_at[0][1] != p))
			lose(sw, p);
	}
}

START_TEST(test_random_groups_get_each_packet_once)
{
	unsigned n_connected = 0, n_cut = 0, n_changed = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		uint64_t state = seed;
		uint16_t had[N_MLIDS][ROUTED_SWITCHES] = {{0}};
		uint32_t at = 0, group = 0;

		routed_random(&routed, &state);
		memset(masks, 0, sizeof(masks));
		for (unsigned mlid = 0; mlid < N_MLIDS; mlid++) {
			make_tree(mlid, &state);
			for (unsigned sw = 0; sw < ROUTED_SWITCHES; sw++)
				had[mlid][sw] = masks[sw][mlid];
		}
		make_fabric();
		lose_some(&state);
		make_repair();
		for (unsigned mlid = 0; mlid < N_MLIDS; mlid++) {
			const struct triad_routes_group_repair *found;
			unsigned cut;

			if (!crosses(had[mlid]))
				continue;
			ck_assert_msg(group < repair->n_groups, "seed %lu", seed);
			found = &repair->groups[group++];
			ck_assert_uint_eq(found->mlid, 0xc000 + mlid);
			for (uint32_t k = at; k < at + found->n_changes; k++)
				ck_assert_uint_eq(repair->changes[k].mlid, found->mlid);
			apply_group(&repair->changes[at], found->n_changes, had[mlid],
				&state, seed);
			at += found->n_changes;
			check_now(mlid, had[mlid], true, seed);
			cut = count_cut(had[mlid]);
			ck_assert_msg(found->n_cut == cut, "seed %lu: %u cut, not %u",
				seed, found->n_cut, cut);
			ck_assert_int_eq(found->state,
				cut ? TRIAD_ROUTES_GROUP_CUT
				    : TRIAD_ROUTES_GROUP_CONNECTED);
			n_cut += cut > 0;
			n_connected += !cut && found->n_changes > 2;
			n_changed += found->n_changes > 0;
		}
		ck_assert_msg(group == repair->n_groups && at == repair->n_changes,
			"seed %lu: others", seed);
		set_gone(false);
	}
	ck_assert_uint_gt(n_connected, N_FABRICS / 10);
	ck_assert_uint_gt(n_cut, N_FABRICS / 10);
	ck_assert_uint_gt(n_changed, n_connected);
}
END_TEST

/* --- known ones --- */

/* Four switches in a ring, each with a host on port 3; the tree leaves out the link between
 * 3 and 0. */
static void make_ring(void)
{
	memset(masks, 0, sizeof(masks));
	routed_init(&routed, 4);
	for (unsigned i = 0; i < 4; i++)
		routed_link(&routed, i, (i + 1) % 4);
	for (unsigned i = 0; i < 4; i++) {
		routed_add_host(&routed, i);
		masks[i][0] = 0xe;
	}
	masks[0][0] = 0xa;
	masks[3][0] = 0xa;
}

START_TEST(test_ring_takes_the_link_that_is_free)
{
	make_ring();
	make_fabric();
	lose(1, 2);
	make_repair();
	ck_assert_uint_eq(repair->n_groups, 1);
	ck_assert_uint_eq(repair->groups[0].n_members, 4);
	/* Out at both ends, in at two others. */
	ck_assert_uint_eq(repair->n_changes, 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(repair->changes[i].step, i / 2);
	set_gone(false);
}
END_TEST

START_TEST(test_tree_that_is_none_is_left_alone)
{
	static const int states[] = {
		TRIAD_ROUTES_GROUP_ASYMMETRIC, TRIAD_ROUTES_GROUP_LOOPS};

	for (unsigned i = 0; i < 2; i++) {
		make_ring();
		/* A second link between 0 and 1 is in the tables of one end, of both. */
		routed_link(&routed, 0, 1);
		masks[0][0] |= 1 << 4;
		masks[1][0] |= (uint16_t)(i << 4);
		make_fabric();
		lose(2, 2);
		make_repair();
		ck_assert_uint_eq(repair->n_groups, 1);
		ck_assert_int_eq(repair->groups[0].state, states[i]);
		ck_assert_uint_eq(repair->n_changes, 0);
		set_gone(false);
	}
}
END_TEST

/* 0 - 2 - 3 - 1 with two links each; hosts are at 0 and 1.  The tree loses the links to 2 and 3,
 * which stay a part without hosts. */
START_TEST(test_way_crosses_a_part_without_hosts_by_its_own_links)
{
	uint16_t had[ROUTED_SWITCHES] = {
		1 << 1 | 1 << 3, 1 << 1 | 1 << 3, 1 << 1 | 1 << 3, 1 << 1 | 1 << 3};
	uint64_t state = 1;

	routed_init(&routed, 4);
	for (unsigned i = 0; i < 2; i++) {
		routed_link(&routed, 0, 2);
		routed_link(&routed, 1, 3);
	}
	routed_link(&routed, 2, 3);
	routed_link(&routed, 2, 3);
	for (unsigned host = 0; host < 2; host++)
		routed_add_host(&routed, host);
	/* Some group tries the other link between 2 and 3 first. */
	for (unsigned i = 0; i < ROUTED_SWITCHES * N_MLIDS; i++)
		masks[i / N_MLIDS][i % N_MLIDS] = had[i / N_MLIDS];
	make_fabric();
	lose(2, 1);
	lose(3, 1);
	make_repair();
	ck_assert_uint_eq(repair->n_groups, N_MLIDS);
	/* Out at two ends of each, in at two. */
	ck_assert_uint_eq(repair->n_changes, N_MLIDS * 8);
	for (unsigned mlid = 0; mlid < N_MLIDS; mlid++) {
		apply_group(&repair->changes[mlid * 8], 8, had, &state, 0);
		check_now(mlid, had, true, 0);
	}
}
END_TEST

START_TEST(test_link_that_was_dead_before_is_taken_out_too)
{
	make_ring();
	masks[0][0] |= 1 << 2;
	masks[3][0] |= 1 << 2;
	routed.far[0][2].is_down = true;
	ck_assert_uint_eq(routed.far[0][2].to, 3);
	make_fabric();
	lose(1, 2);
	make_repair();
	/* At all four ends; and there is no other way. */
	ck_assert_uint_eq(repair->n_changes, 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(repair->changes[i].step, 0);
	ck_assert_int_eq(repair->groups[0].state, TRIAD_ROUTES_GROUP_CUT);
	ck_assert_uint_eq(repair->groups[0].n_cut, 2);
}
END_TEST

START_TEST(test_group_that_is_not_crossed_is_left_alone)
{
	make_ring();
	make_fabric();
	lose(3, 2);
	make_repair();
	ck_assert_uint_eq(repair->n_groups, 0);
	ck_assert_uint_eq(repair->n_changes, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("repair_multicast");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_random_groups_get_each_packet_once);
	tcase_add_test(cases, test_ring_takes_the_link_that_is_free);
	tcase_add_test(cases, test_tree_that_is_none_is_left_alone);
	tcase_add_test(cases, test_way_crosses_a_part_without_hosts_by_its_own_links);
	tcase_add_test(cases, test_link_that_was_dead_before_is_taken_out_too);
	tcase_add_test(cases, test_group_that_is_not_crossed_is_left_alone);
	return run_cases(cases);
}
