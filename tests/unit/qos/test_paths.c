/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares walks and P_Keys with a simple implementation that reads the fabric
 * itself. */
#include "qos/paths.h"

#include "ib/rates.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/qos/path_fixture.h"

static unsigned seed;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
}

static unsigned dice(unsigned sides)
{
	return (unsigned)rand() % sides;
}

/* --- walks, simple implementation --- */

struct naive_walk {
	enum triad_walk_end end;
	uint16_t sls;
	uint8_t mtu, rank;
	unsigned links, n_hops;
	uint32_t hops[TRIAD_PATH_MAX_HOPS + 2];
};

static bool at_switch(uint32_t port)
{
	return fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH;
}

static uint16_t naive_sls(uint32_t port, unsigned in_port)
{
	const struct triad_fabric_slice *rows = &fabric->ports[port].sl2vl;
	uint16_t sls = 0;

	if (!fabric->sa.qos || in_port >= rows->n)
		return 0xffff;
	for (unsigned sl = 0; sl < 16; sl++) {
		uint8_t octet = fabric->sl2vl[rows->at + in_port].vl[sl / 2];

		if ((octet >> (sl % 2 ? 0 : 4) & 15) != 15)
			sls |= (uint16_t)(1 << sl);
	}
	return sls;
}

static void naive_narrow(struct naive_walk *walk, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	walk->mtu = at->mtu_cap < walk->mtu ? at->mtu_cap : walk->mtu;
	if (triad_rate_rank(at->rate) < walk->rank)
		walk->rank = triad_rate_rank(at->rate);
}

static uint32_t naive_out_port(uint32_t node, unsigned dlid)
{
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;

	return dlid < lft->n
		? triad_fabric_find_port(fabric, node, fabric->lft[lft->at + dlid])
		: TRIAD_FABRIC_NONE;
}

/* Walks from 'from' to 'to'; with 'on' it goes on where no SL has a VL. */
static void naive_go(
	struct naive_walk *walk, uint32_t from, uint32_t to, unsigned dlid, bool on)
{
	uint32_t out = from, node = fabric->ports[from].node;
	unsigned in_port = 0, n_behind = 0;

	for (bool source = true;; source = false) {
		walk->end = TRIAD_WALK_NO_ROUTE;
		if (!source && ++n_behind > 64)
			walk->end = TRIAD_WALK_TOO_LONG;
		if (walk->end == TRIAD_WALK_TOO_LONG)
			return;
		if (!source || at_switch(from))
			out = naive_out_port(node, dlid);
		if (out == TRIAD_FABRIC_NONE)
			return;
		walk->hops[walk->n_hops++] = out;
		walk->sls &= naive_sls(out, in_port);
		if (!source)
			naive_narrow(walk, out);
		walk->end = walk->sls ? TRIAD_WALK_ARRIVED : TRIAD_WALK_NO_SL;
		if (out == to || (!walk->sls && !on))
			return;
		walk->end = TRIAD_WALK_NO_ROUTE;
		if (at_switch(out) && !fabric->ports[out].number)
			return;
		out = fabric->ports[out].remote;
		if (out == TRIAD_FABRIC_NONE)
			return;
		walk->links++;
		naive_narrow(walk, out);
		if (out == to && !at_switch(out))
			walk->end = walk->sls ? TRIAD_WALK_ARRIVED : TRIAD_WALK_NO_SL;
		if (!at_switch(out))
			return;
		node = fabric->ports[out].node;
		in_port = fabric->ports[out].number;
	}
}

static struct naive_walk naive_walk(uint32_t from, uint32_t to, unsigned dlid, bool on)
{
	struct naive_walk walk = {.sls = 0xffff,
		.mtu = fabric->ports[from].mtu_cap,
		.rank = triad_rate_rank(fabric->ports[from].rate)};

	naive_go(&walk, from, to, dlid, on);
	return walk;
}

static void check_hops(const struct triad_walk *walk, const struct naive_walk *naive)
{
	unsigned in_port = 0;

	ck_assert_uint_eq(walk->n_hops, naive->n_hops);
	for (unsigned i = 0; i < walk->n_hops; i++) {
		const struct triad_walk_hop *hop = &walk->hops[i];
		const struct triad_fabric_port *port = &fabric->ports[naive->hops[i]];

		ck_assert_uint_eq(hop->port, naive->hops[i]);
		ck_assert_uint_eq(hop->in_port, in_port);
		ck_assert_uint_eq(hop->mtu, port->mtu_cap);
		ck_assert_uint_eq(hop->rank, triad_rate_rank(port->rate));
		ck_assert_uint_eq(hop->sls, naive_sls(hop->port, in_port));
		in_port = port->remote == TRIAD_FABRIC_NONE
			? 0
			: fabric->ports[port->remote].number;
	}
}

/* Compares both implementations; returns how the walk ended. */
static enum triad_walk_end check_walk(
	uint32_t from, uint32_t to, unsigned dlid, bool record)
{
	struct naive_walk naive = naive_walk(from, to, dlid, record);
	struct triad_walk walk;

	triad_paths_walk(paths, from, to, (uint16_t)dlid, record, &walk);
	ck_assert_msg(walk.end == naive.end, "seed %u: %u to %u by %u: %d, not %d",
		seed, from, to, dlid, walk.end, naive.end);
	if (record)
		check_hops(&walk, &naive);
	if (walk.end != TRIAD_WALK_ARRIVED)
		return walk.end;
	ck_assert_msg(walk.sls == naive.sls && walk.mtu == naive.mtu &&
			walk.rank == naive.rank && walk.links == naive.links,
		"seed %u: %u to %u by %u: SLs %x, MTU %u, rank %u, %u links", seed,
		from, to, dlid, walk.sls, walk.mtu, walk.rank, walk.links);
	return walk.end;
}

static void check_all_walks(bool record, unsigned ends[TRIAD_WALK_MARKED + 1])
{
	for (uint32_t from = 0; from < fabric->n_ports; from++)
		for (uint32_t to = 0; to < fabric->n_ports; to++) {
			const struct triad_path_end *end = &paths->ends[to];

			if (!paths->ends[from].is_end || !end->is_end)
				continue;
			for (unsigned lid = end->lid; lid < end->lid + (1u << end->lmc);
				lid++)
				ends[check_walk(from, to, lid, record)]++;
		}
}

/* Damages forwarding tables: entries lead in rings, nowhere, or to the wrong end, and
 * tables are too short. */
static void spoil_routes(void)
{
	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];

		if (node->node.type != TRIAD_NODE_SWITCH)
			continue;
		for (unsigned n = dice(2 * plan->n_lids); n; n--)
			node->lft[dice(plan->n_lids)] = dice(8)
				? (uint8_t)dice(node->n_numbers + 2)
				: PLAN_NO_ROUTE;
		if (!dice(6))
			node->lft_size = dice(plan->n_lids + 1);
		if (!dice(6))
			node->ports[1 + dice(node->n_numbers - 1)].is_there = false;
	}
}

START_TEST(test_walk_random_trees_as_naive)
{
	unsigned ends[TRIAD_WALK_MARKED + 1] = {0};

	for (unsigned round = 0; round < 12; round++) {
		drop_all();
		plan = plan_random_tree(seed + round);
		build();
		check_all_walks(round % 2, ends);
	}
	ck_assert_uint_gt(ends[TRIAD_WALK_ARRIVED], 1000);
	ck_assert_uint_gt(ends[TRIAD_WALK_NO_SL], 0);
}
END_TEST

START_TEST(test_walk_spoiled_routes_as_naive)
{
	unsigned ends[TRIAD_WALK_MARKED + 1] = {0};

	for (unsigned round = 0; round < 12; round++) {
		drop_all();
		plan = plan_random_tree(seed + round);
		spoil_routes();
		build();
		check_all_walks(round % 2, ends);
	}
	ck_assert_uint_gt(ends[TRIAD_WALK_ARRIVED], 0);
	ck_assert_uint_gt(ends[TRIAD_WALK_TOO_LONG], 0);
	ck_assert_uint_gt(ends[TRIAD_WALK_NO_ROUTE], 0);
}
END_TEST

/* --- walks by hand --- */

START_TEST(test_walk_two_switches_links_counted)
{
	plan_two_switches(0);
	build();
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(3, 1), 4).links, 2);
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(4, 1), 5).links, 3);
	ck_assert_uint_eq(walk_to(port_of(0, 0), port_of(4, 1), 5).links, 2);
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(1, 0), 2).links, 2);
	ck_assert_uint_eq(walk_to(port_of(0, 0), port_of(1, 0), 2).links, 1);
	ck_assert_uint_eq(walk_to(port_of(0, 0), port_of(0, 0), 1).links, 0);
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(2, 1), 3).links, 0);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(2, 1), 3).end, TRIAD_WALK_ARRIVED);
}
END_TEST

START_TEST(test_walk_least_mtu_and_rate_of_each_port_on_the_route)
{
	/* The ports on the route from host 2 to host 4. */
	static const unsigned route[][2] = {
		{2, 1}, {0, 1}, {0, 5}, {1, 5}, {1, 1}, {4, 1}};

	for (unsigned i = 0; i < 6; i++) {
		struct triad_walk walk;

		plan_two_switches(0);
		plan->nodes[0].lft[5] = 5;
		plan_port(plan, route[i][0], route[i][1])->port.mtu_cap = 2;
		plan_port(plan, route[i][0], route[i][1])->port.rate = 11;
		plan_port(plan, 0, 6)->port.mtu_cap = 1;
		plan_port(plan, 0, 0)->port.mtu_cap = 1;
		build();
		walk = walk_to(port_of(2, 1), port_of(4, 1), 5);
		ck_assert_msg(walk.end == TRIAD_WALK_ARRIVED && walk.mtu == 2 &&
				walk.rank == triad_rate_rank(11),
			"port %u: MTU %u, rank %u", i, walk.mtu, walk.rank);
	}
}
END_TEST

START_TEST(test_walk_from_switch_out_port_not_asked)
{
	plan_two_switches(0);
	plan->nodes[0].lft[5] = 5;
	plan_port(plan, 0, 5)->port.mtu_cap = 1;
	plan_port(plan, 0, 0)->port.mtu_cap = 4;
	build();
	ck_assert_uint_eq(walk_to(port_of(0, 0), port_of(4, 1), 5).mtu, 4);
}
END_TEST

START_TEST(test_walk_sls_of_in_port_taken)
{
	plan_two_switches(0);
	plan->sa.qos = true;
	plan_set_sls(plan_port(plan, 2, 1), 0, 0x00ff);
	for (unsigned in = 0; in < 7; in++)
		plan_set_sls(plan_port(plan, 0, 2), in, 0xffff);
	plan_set_sls(plan_port(plan, 0, 2), 1, 0xfff0);
	build();
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(3, 1), 4).sls, 0x00f0);
	ck_assert_uint_eq(walk_to(port_of(4, 1), port_of(3, 1), 4).sls, 0xffff);
	ck_assert_uint_eq(walk_to(port_of(0, 0), port_of(3, 1), 4).sls, 0xffff);
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 2), 1, 3), 15);
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 2), 1, 5), 2);
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 2), 1, 6), 3);
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 2), 7, 6), 6);
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 1), 2, 9), 9);
	fabric->sa.qos = false;
	ck_assert_uint_eq(triad_paths_vl(paths, port_of(0, 2), 1, 3), 3);
}
END_TEST

START_TEST(test_walk_sls_of_last_in_port_alone_differ)
{
	plan_two_switches(0);
	plan->sa.qos = true;
	plan->nodes[1].lft[3] = plan->nodes[0].lft[5] = 6;
	for (unsigned in = 0; in < 6; in++)
		plan_set_sls(plan_port(plan, 0, 1), in, 0xffff);
	plan_set_sls(plan_port(plan, 0, 1), 6, 0x0001);
	build();
	ck_assert_uint_eq(walk_to(port_of(3, 1), port_of(2, 1), 3).sls, 0xffff);
	ck_assert_uint_eq(walk_to(port_of(4, 1), port_of(2, 1), 3).sls, 0x0001);
}
END_TEST

START_TEST(test_walk_without_qos_tables_not_looked_at)
{
	plan_two_switches(0);
	plan_set_sls(plan_port(plan, 2, 1), 0, 0);
	build();
	ck_assert_uint_eq(walk_to(port_of(2, 1), port_of(3, 1), 4).sls, 0xffff);
	plan->sa.qos = true;
	build();
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(3, 1), 4).end, TRIAD_WALK_NO_SL);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(2, 1), 3).end, TRIAD_WALK_NO_SL);
	ck_assert_int_eq(
		walk_to(port_of(3, 1), port_of(2, 1), 3).end, TRIAD_WALK_ARRIVED);
}
END_TEST

/* Row: Q8 */
START_TEST(test_walk_each_hop_has_an_sl_but_none_in_common_refused)
{
	struct triad_walk walk;

	plan_two_switches(0);
	plan->sa.qos = true;
	plan->nodes[0].lft[5] = 5;
	for (unsigned in = 0; in < 7; in++) {
		plan_set_sls(plan_port(plan, 0, 5), in, 0x0f0f);
		plan_set_sls(plan_port(plan, 1, 1), in, 0xf0f0);
	}
	build();
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(4, 1), 5).end, TRIAD_WALK_NO_SL);
	triad_paths_walk(paths, port_of(2, 1), port_of(4, 1), 5, true, &walk);
	ck_assert_int_eq(walk.end, TRIAD_WALK_NO_SL);
	ck_assert_uint_eq(walk.n_hops, 3);
	ck_assert_uint_eq(walk.hops[2].sls, 0xf0f0);
}
END_TEST

/* Plans a row of 'n' switches with a host at each end. */
static void plan_row(unsigned n)
{
	drop_all();
	plan = plan_new();
	for (unsigned i = 0; i < n; i++)
		plan_add_switch(plan, 3);
	for (unsigned i = 1; i < n; i++)
		plan_link(plan, i - 1, 2, i, 1);
	plan_link(plan, plan_add_host(plan, 1), 1, 0, 3);
	plan_link(plan, plan_add_host(plan, 1), 1, n - 1, 3);
	plan_give_lids(plan, 0);
	plan_route(plan);
	build();
}

START_TEST(test_walk_longer_than_64_switches_refused)
{
	unsigned n = 64, lid = 66;

	plan_row(n);
	ck_assert_int_eq(
		walk_to(port_of(n, 1), port_of(n + 1, 1), lid).end, TRIAD_WALK_ARRIVED);
	ck_assert_uint_eq(walk_to(port_of(n, 1), port_of(n + 1, 1), lid).links, 65);
	plan_row(++n);
	lid++;
	ck_assert_int_eq(walk_to(port_of(n, 1), port_of(n + 1, 1), lid).end,
		TRIAD_WALK_TOO_LONG);
	ck_assert_int_eq(
		walk_to(port_of(n, 1), port_of(n - 1, 0), n).end, TRIAD_WALK_TOO_LONG);
	/* A source that is a switch doesn't count as a hop. */
	ck_assert_int_eq(
		walk_to(port_of(0, 0), port_of(n + 1, 1), lid).end, TRIAD_WALK_ARRIVED);
	plan_row(++n);
	ck_assert_int_eq(walk_to(port_of(0, 0), port_of(n + 1, 1), lid + 1).end,
		TRIAD_WALK_TOO_LONG);
}
END_TEST

START_TEST(test_walk_hosts_without_a_switch_arrive)
{
	plan = plan_new();
	plan_add_host(plan, 1);
	plan_add_host(plan, 2);
	plan_link(plan, 0, 1, 1, 2);
	plan_give_lids(plan, 0);
	plan_route(plan);
	plan_port(plan, 1, 2)->port.mtu_cap = 3;
	plan_port(plan, 0, 1)->port.rate = 2;
	build();
	ck_assert_int_eq(
		walk_to(port_of(0, 1), port_of(1, 2), 3).end, TRIAD_WALK_ARRIVED);
	ck_assert_uint_eq(walk_to(port_of(0, 1), port_of(1, 2), 3).mtu, 3);
	ck_assert_uint_eq(walk_to(port_of(1, 2), port_of(0, 1), 1).rank, 1);
	ck_assert_uint_eq(walk_to(port_of(1, 2), port_of(0, 1), 1).links, 1);
	ck_assert_int_eq(
		walk_to(port_of(0, 1), port_of(1, 1), 2).end, TRIAD_WALK_NO_ROUTE);
	ck_assert_int_eq(
		walk_to(port_of(1, 1), port_of(0, 1), 1).end, TRIAD_WALK_NO_ROUTE);
}
END_TEST

START_TEST(test_walk_switch_without_a_table_leads_nowhere)
{
	plan_two_switches(0);
	plan->nodes[0].lft_size = 0;
	build();
	for (unsigned lid = 0; lid < 8; lid++)
		ck_assert_int_eq(walk_to(port_of(2, 1), port_of(3, 1), lid).end,
			TRIAD_WALK_NO_ROUTE);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(3, 1), 65535).end, TRIAD_WALK_NO_ROUTE);
}
END_TEST

/* --- marks --- */

START_TEST(test_mark_port_by_alias_is_that_port_alone)
{
	plan_two_switches(0);
	plan_add_alias(plan, 0xabc, plan_port(plan, 4, 1)->port.guid);
	build();
	triad_paths_mark_port(paths, 0xdead);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		ck_assert(!triad_paths_port_is_marked(paths, i));
	triad_paths_mark_port(paths, 0xabc);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		ck_assert_int_eq(
			triad_paths_port_is_marked(paths, i), i == port_of(4, 1));
	triad_paths_mark_port(paths, plan_port(plan, 2, 1)->port.guid);
	ck_assert(triad_paths_port_is_marked(paths, port_of(2, 1)));
	ck_assert(triad_paths_port_is_marked(paths, port_of(4, 1)));
}
END_TEST

/* LIDs 63 and 64 are in different blocks of 64 LIDs. */
START_TEST(test_mark_route_is_that_block_of_that_switch_alone)
{
	plan_two_switches(0);
	plan_port(plan, 4, 1)->port.lid = 63;
	plan_port(plan, 5, 1)->port.lid = 64;
	plan->n_lids = 65;
	plan_route(plan);
	build();
	triad_paths_mark_route(paths, 0xdead, 0);
	triad_paths_mark_route(paths, plan->nodes[2].node.guid, 0);
	triad_paths_mark_route(paths, plan->nodes[0].node.guid, 768);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(4, 1), 63).end, TRIAD_WALK_ARRIVED);
	triad_paths_mark_route(paths, plan->nodes[1].node.guid, 0);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(4, 1), 63).end, TRIAD_WALK_MARKED);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(5, 1), 64).end, TRIAD_WALK_ARRIVED);
	ck_assert_int_eq(
		walk_to(port_of(2, 1), port_of(3, 1), 4).end, TRIAD_WALK_ARRIVED);
	ck_assert(!triad_paths_port_is_marked(paths, port_of(4, 1)));
	triad_paths_mark_route(paths, plan->nodes[1].node.guid, 1);
	ck_assert_int_eq(
		walk_to(port_of(1, 0), port_of(5, 1), 64).end, TRIAD_WALK_MARKED);
}
END_TEST

START_TEST(test_mark_all_is_every_port)
{
	plan_two_switches(0);
	build();
	triad_paths_mark_all(paths);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		ck_assert(triad_paths_port_is_marked(paths, i));
}
END_TEST

/* --- P_Keys, simple implementation --- */

static unsigned base_of(unsigned pkey)
{
	return pkey & 0x7fff;
}

/* The key by which OpenSM's maps are sorted: the octets on the wire, the last one
 * first. */
static unsigned wire_key(unsigned pkey)
{
	return (pkey & 0xff) << 8 | pkey >> 8;
}

static bool is_full(unsigned pkey)
{
	return pkey & 0x8000;
}

struct naive_pkeys {
	unsigned n, items[PLAN_MAX_PKEYS];
};

/* The port's P_Keys: without invalid ones, and without a limited one whose partition
 * the port is a full member of, unless OpenSM allows both. */
static struct naive_pkeys naive_pkeys(uint32_t port)
{
	const struct triad_fabric_slice *all = &fabric->ports[port].pkeys;
	const uint16_t *table = fabric->pkeys + all->at;
	struct naive_pkeys pkeys = {0};

	for (uint32_t i = 0; i < all->n; i++) {
		bool counts = base_of(table[i]);

		for (uint32_t j = 0; j < all->n; j++)
			if (!fabric->sa.allow_both_pkeys && !is_full(table[i]) &&
				table[j] == (table[i] | 0x8000))
				counts = false;
		if (counts)
			pkeys.items[pkeys.n++] = table[i];
	}
	return pkeys;
}

static bool may_talk(unsigned a, unsigned b)
{
	return base_of(a) == base_of(b) && (is_full(a) || is_full(b));
}

/* The first of all pairs that may communicate.  'kinds' restricts them as in OpenSM's
 * second and third search: 1: ours full and theirs limited; 2: ours limited and theirs
 * full; 0: any. */
static unsigned naive_best_pair(
	const struct naive_pkeys *ours, const struct naive_pkeys *theirs, int kinds)
{
	unsigned best = 0;

	for (unsigned i = 0; i < ours->n; i++)
		for (unsigned j = 0; j < theirs->n; j++) {
			unsigned a = ours->items[i], b = theirs->items[j];

			if (!may_talk(a, b) ||
				(kinds == 1 && (!is_full(a) || is_full(b))) ||
				(kinds == 2 && (is_full(a) || !is_full(b))))
				continue;
			if (!best || wire_key(base_of(a)) < wire_key(base_of(best)))
				best = a;
		}
	return best;
}

/* The first P_Key of the set whose key is at least 'key'; 0: none. */
static unsigned naive_from(const struct naive_pkeys *set, unsigned key)
{
	unsigned best = 0;

	for (unsigned i = 0; i < set->n; i++)
		if (wire_key(set->items[i]) >= key &&
			(!best || wire_key(set->items[i]) < wire_key(best)))
			best = set->items[i];
	return best;
}

/* OpenSM's first search if it allows both memberships: it steps through the keys in
 * order, and compares the next P_Key of ours with the next of theirs. */
static unsigned naive_meeting(
	const struct naive_pkeys *ours, const struct naive_pkeys *theirs)
{
	for (unsigned key = 0; key < 0x10000; key++) {
		unsigned a = naive_from(ours, key), b = naive_from(theirs, key);

		if (!a || !b)
			return 0;
		if (may_talk(a, b))
			return a;
		key = wire_key(a) < wire_key(b) ? wire_key(a) : wire_key(b);
	}
	return 0;
}

static unsigned naive_common(uint32_t from, uint32_t to)
{
	struct naive_pkeys ours = naive_pkeys(from), theirs = naive_pkeys(to);
	unsigned pkey;

	if (!fabric->sa.allow_both_pkeys)
		return naive_best_pair(&ours, &theirs, 0);
	pkey = naive_meeting(&ours, &theirs);
	if (!pkey)
		pkey = naive_best_pair(&ours, &theirs, 1);
	return pkey ? pkey : naive_best_pair(&ours, &theirs, 2);
}

static bool naive_shares(uint32_t a, uint32_t b, unsigned pkey)
{
	struct naive_pkeys ours = naive_pkeys(a), theirs = naive_pkeys(b);

	for (unsigned i = 0; i < ours.n; i++)
		for (unsigned j = 0; j < theirs.n; j++)
			if (base_of(ours.items[i]) == base_of(pkey) &&
				may_talk(ours.items[i], theirs.items[j]))
				return true;
	return false;
}

static void check_pkeys(uint32_t a, uint32_t b)
{
	static const uint16_t some[] = {
		0x7fff, 0xffff, 0x0001, 0x8001, 0x0100, 0x8101, 0x0200, 0x0333, 0x8000};
	unsigned common = naive_common(a, b);

	ck_assert_msg(triad_paths_common_pkey(paths, a, b) == common,
		"seed %u: %u and %u: 0x%x, not 0x%x", seed, a, b,
		triad_paths_common_pkey(paths, a, b), common);
	ck_assert_int_eq(triad_paths_share_pkey(paths, a, b),
		a == b || !naive_pkeys(a).n || !naive_pkeys(b).n || common);
	for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		ck_assert_msg(triad_paths_share_this_pkey(paths, a, b, some[i]) ==
				naive_shares(a, b, some[i]),
			"seed %u: %u and %u in 0x%x", seed, a, b, some[i]);
}

static void check_random_pkeys(bool both)
{
	for (unsigned round = 0; round < 8; round++) {
		drop_all();
		plan = plan_random_tree(seed + round);
		plan->sa.allow_both_pkeys = both;
		build();
		for (uint32_t a = 0; a < fabric->n_ports; a++)
			for (uint32_t b = 0; b < fabric->n_ports; b++)
				if (paths->ends[a].is_end && paths->ends[b].is_end)
					check_pkeys(a, b);
	}
}

START_TEST(test_pkeys_random_tables_as_naive)
{
	check_random_pkeys(false);
}
END_TEST

START_TEST(test_pkeys_with_both_memberships_as_naive)
{
	check_random_pkeys(true);
}
END_TEST

static void set_two_tables(const uint16_t *ours, unsigned n_ours,
	const uint16_t *theirs, unsigned n_theirs)
{
	plan_two_switches(0);
	plan_set_pkeys(plan_port(plan, 2, 1), ours, n_ours);
	plan_set_pkeys(plan_port(plan, 3, 1), theirs, n_theirs);
}

START_TEST(test_pkeys_low_octet_first)
{
	static const uint16_t both[] = {0x8002, 0x8101, 0x8200};

	set_two_tables(both, 3, both, 3);
	build();
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(3, 1)), 0x8200);
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(2, 1)), 0x8200);
}
END_TEST

START_TEST(test_pkeys_two_limited_members_share_none)
{
	static const uint16_t limited[] = {0x0001, 0x0002}, other[] = {0x0001, 0x8003};

	set_two_tables(limited, 2, other, 2);
	build();
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(3, 1)), 0);
	ck_assert(!triad_paths_share_pkey(paths, port_of(2, 1), port_of(3, 1)));
	ck_assert(!triad_paths_share_this_pkey(
		paths, port_of(2, 1), port_of(3, 1), 0x8001));
	/* A port may communicate with itself, but has no P_Key in common with
	 * itself. */
	ck_assert(triad_paths_share_pkey(paths, port_of(2, 1), port_of(2, 1)));
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(2, 1)), 0);
}
END_TEST

START_TEST(test_pkeys_full_member_meets_limited_before_both_full)
{
	static const uint16_t ours[] = {0x8001, 0xffff}, theirs[] = {0x0001, 0xffff};

	set_two_tables(ours, 2, theirs, 2);
	plan->sa.allow_both_pkeys = true;
	build();
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(3, 1)), 0x8001);
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(3, 1), port_of(2, 1)), 0x0001);
}
END_TEST

START_TEST(test_pkeys_table_never_read_lets_pass)
{
	static const uint16_t none[] = {0x0000, 0x8000}, one[] = {0x8001};

	set_two_tables(none, 2, one, 1);
	build();
	ck_assert(triad_paths_share_pkey(paths, port_of(2, 1), port_of(3, 1)));
	ck_assert(triad_paths_share_pkey(paths, port_of(3, 1), port_of(2, 1)));
	ck_assert(!triad_paths_share_pkey(paths, port_of(3, 1), port_of(4, 1)));
	ck_assert_uint_eq(
		triad_paths_common_pkey(paths, port_of(2, 1), port_of(3, 1)), 0);
}
END_TEST

START_TEST(test_partition_sl_unknown_is_0)
{
	plan_two_switches(0);
	plan_add_partition(plan, 0x7fff, 1, "Default");
	plan_add_partition(plan, 0x0001, 7, "one");
	plan_add_partition(plan, 0x0100, 9, "two");
	build();
	ck_assert_uint_eq(triad_paths_partition_sl(paths, 0xffff), 1);
	ck_assert_uint_eq(triad_paths_partition_sl(paths, 0x0001), 7);
	ck_assert_uint_eq(triad_paths_partition_sl(paths, 0x8100), 9);
	ck_assert_uint_eq(triad_paths_partition_sl(paths, 0x0002), 0);
	ck_assert_uint_eq(triad_paths_partition_sl(paths, 0), 0);
}
END_TEST

/* --- ends --- */

START_TEST(test_lids_of_each_end_port_and_no_other_known)
{
	for (unsigned round = 0; round < 10; round++) {
		uint32_t owners[PLAN_MAX_LIDS];

		drop_all();
		plan = plan_random_tree(seed + round);
		build();
		memset(owners, 0xff, sizeof(owners));
		for (uint32_t i = 0; i < fabric->n_ports; i++)
			for (unsigned bits = 0; bits < 1u << fabric->ports[i].lmc;
				bits++)
				if (triad_fabric_is_end_port(fabric, i))
					owners[fabric->ports[i].lid + bits] = i;
		for (unsigned lid = 0; lid < TRIAD_PATH_N_LIDS; lid++)
			ck_assert_uint_eq(paths->port_of_lid[lid],
				lid < PLAN_MAX_LIDS ? owners[lid] : TRIAD_FABRIC_NONE);
	}
}
END_TEST

START_TEST(test_lids_beyond_unicast_left_out)
{
	plan_two_switches(0);
	plan_port(plan, 2, 1)->port.lid = 0xbfff;
	plan_port(plan, 2, 1)->port.lmc = 7;
	plan_port(plan, 3, 1)->port.lid = 0xffff;
	plan_port(plan, 4, 1)->port.lid = 0;
	plan_port(plan, 5, 1)->port.lid = 0x4000;
	plan_port(plan, 5, 1)->port.lmc = 200;
	build();
	ck_assert_uint_eq(paths->port_of_lid[0xbfff], port_of(2, 1));
	ck_assert_uint_eq(paths->port_of_lid[0], TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(paths->port_of_lid[0x407f], port_of(5, 1));
	ck_assert_uint_eq(paths->port_of_lid[0x4080], TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(paths->ends[port_of(5, 1)].lmc, 7);
}
END_TEST

START_TEST(test_aliases_of_a_port_last_octet_first)
{
	const struct triad_path_end *end;

	plan_two_switches(0);
	plan_add_alias(plan, UINT64_C(0x0200000000000001), 0x3001);
	plan_add_alias(plan, UINT64_C(0x0100000000000002), 0x3001);
	plan_add_alias(plan, UINT64_C(0x0000000000000100), 0x3001);
	build();
	end = &paths->ends[port_of(2, 1)];
	ck_assert_uint_eq(end->n_aliases, 4);
	ck_assert_uint_eq(paths->aliases[end->first_alias], 0x100);
	ck_assert_uint_eq(
		paths->aliases[end->first_alias + 1], UINT64_C(0x0200000000000001));
	ck_assert_uint_eq(paths->aliases[end->first_alias + 2], 0x3001);
	ck_assert_uint_eq(
		paths->aliases[end->first_alias + 3], UINT64_C(0x0100000000000002));
	ck_assert_uint_eq(paths->ends[port_of(0, 0)].n_aliases, 1);
	ck_assert_uint_eq(paths->ends[port_of(0, 1)].n_aliases, 0);
}
END_TEST

START_TEST(test_ends_tavor_by_vendor_and_device)
{
	plan_two_switches(0);
	plan->nodes[2].node.device_id = 23108;
	plan->nodes[2].node.vendor_id = 0x0002c9;
	plan->nodes[3].node.device_id = 23108;
	plan->nodes[3].node.vendor_id = 0x123456;
	plan->nodes[4].node.device_id = 23109;
	plan->nodes[4].node.vendor_id = 0x0002c9;
	build();
	ck_assert(paths->ends[port_of(2, 1)].is_tavor);
	ck_assert(!paths->ends[port_of(3, 1)].is_tavor);
	ck_assert(!paths->ends[port_of(4, 1)].is_tavor);
}
END_TEST

START_TEST(test_memory_of_a_large_fabric_small)
{
	fabric = fabric_partitioned(20000, 100, 1);
	ck_assert_int_eq(triad_paths_build(fabric, &paths), 0);
	ck_assert_uint_lt(paths->octets,
		TRIAD_PATH_N_LIDS * sizeof(uint32_t) + 160 * (size_t)fabric->n_ports);
}
END_TEST

START_TEST(test_paths_empty_fabric_built)
{
	plan = plan_new();
	build();
	ck_assert_uint_eq(paths->n_switches, 0);
	triad_paths_mark_port(paths, 1);
	triad_paths_mark_route(paths, 1, 0);
	triad_paths_unref(triad_paths_ref(paths));
	triad_paths_unref(NULL);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("paths");

	tcase_add_checked_fixture(cases, set_up, drop_all);
	tcase_add_test(cases, test_walk_random_trees_as_naive);
	tcase_add_test(cases, test_walk_spoiled_routes_as_naive);
	tcase_add_test(cases, test_walk_two_switches_links_counted);
	tcase_add_test(cases, test_walk_least_mtu_and_rate_of_each_port_on_the_route);
	tcase_add_test(cases, test_walk_from_switch_out_port_not_asked);
	tcase_add_test(cases, test_walk_sls_of_in_port_taken);
	tcase_add_test(cases, test_walk_sls_of_last_in_port_alone_differ);
	tcase_add_test(cases, test_walk_without_qos_tables_not_looked_at);
	tcase_add_test(cases, test_walk_each_hop_has_an_sl_but_none_in_common_refused);
	tcase_add_test(cases, test_walk_longer_than_64_switches_refused);
	tcase_add_test(cases, test_walk_hosts_without_a_switch_arrive);
	tcase_add_test(cases, test_walk_switch_without_a_table_leads_nowhere);
	tcase_add_test(cases, test_mark_port_by_alias_is_that_port_alone);
	tcase_add_test(cases, test_mark_route_is_that_block_of_that_switch_alone);
	tcase_add_test(cases, test_mark_all_is_every_port);
	tcase_add_test(cases, test_pkeys_random_tables_as_naive);
	tcase_add_test(cases, test_pkeys_with_both_memberships_as_naive);
	tcase_add_test(cases, test_pkeys_low_octet_first);
	tcase_add_test(cases, test_pkeys_two_limited_members_share_none);
	tcase_add_test(cases, test_pkeys_full_member_meets_limited_before_both_full);
	tcase_add_test(cases, test_pkeys_table_never_read_lets_pass);
	tcase_add_test(cases, test_partition_sl_unknown_is_0);
	tcase_add_test(cases, test_lids_of_each_end_port_and_no_other_known);
	tcase_add_test(cases, test_lids_beyond_unicast_left_out);
	tcase_add_test(cases, test_aliases_of_a_port_last_octet_first);
	tcase_add_test(cases, test_ends_tavor_by_vendor_and_device);
	tcase_add_test(cases, test_memory_of_a_large_fabric_small);
	tcase_add_test(cases, test_paths_empty_fabric_built);
	return run_cases(cases);
}
