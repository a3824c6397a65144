/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion in scenarios of the simulator, whose traffic is known. */
#include "congestion/roots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ib/link.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/flows.h"
#include "tests/unit/run.h"

#define RADIX 4u /* 16 hosts, 2 at each edge, 4 in each pod */

static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct flows *flows;
static struct triad_congestion_turns *turns;
static struct triad_congestion_load *loads;
static struct triad_congestion *found;
static const struct triad_congestion_by_vl *by_vl; /* NULL: ports don't count VLs */
static struct triad_congestion_planes planes;
static struct triad_congestion_vl_waits *vl_waits;

static void begin(void)
{
	fabric = fat_tree(RADIX);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].width = triad_link_width_find("4x");
		fabric->ports[i].width_supported = fabric->ports[i].width;
		fabric->ports[i].speed = 4;
		fabric->ports[i].speed_ext = 2;
	}
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	flows = flows_new(layout, 8, 1, 1);
	loads = calloc(fabric->n_ports, sizeof(*loads));
}

static void end(void)
{
	triad_congestion_free(found);
	found = NULL;
	by_vl = NULL;
	triad_congestion_planes_clear(&planes);
	free(vl_waits);
	vl_waits = NULL;
	triad_congestion_turns_free(turns);
	turns = NULL;
	flows_free(flows);
	free(loads);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
}

/* --- helpers --- */

static uint32_t port_of(const char *name, unsigned number)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (strcmp(fabric->nodes[i].name, name) == 0)
			return triad_fabric_find_port(fabric, i, number);
	return TRIAD_FABRIC_NONE;
}

static uint32_t host(unsigned n)
{
	char name[16];

	snprintf(name, sizeof(name), "host-%u", n);
	return layout->host_of_port[port_of(name, 1)];
}

static void add(unsigned from, unsigned to, double rate)
{
	ck_assert_uint_ne(flows_add(flows, host(from), host(to), rate), UINT32_MAX);
}

static void find_in_loads(void)
{
	static const struct triad_congestion_limits limits = {0.1f, 0.9f};

	if (!turns)
		ck_assert_int_eq(
			triad_congestion_turns_make(layout, NULL, NULL, &turns), 0);
	ck_assert_int_eq(
		triad_congestion_find(turns, loads, &limits, by_vl, NULL, &found), 0);
}

static void run_flows(void)
{
	flows_run(flows, 1000, 4000);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		loads[i] = (struct triad_congestion_load){
			.wait = (float)flows_wait(flows, i),
			.sent = (float)flows_sent(flows, i)};
	find_in_loads();
}

/* Finds the root at a port, on any VL. */
static uint32_t find_root(uint32_t port)
{
	for (uint32_t i = 0; i < found->n_roots; i++)
		if (found->roots[i].port == port)
			return i;
	return TRIAD_FABRIC_NONE;
}

static void assert_root(uint32_t port, enum triad_congestion_kind kind)
{
	uint32_t i = find_root(port);

	ck_assert_uint_ne(i, TRIAD_FABRIC_NONE);
	ck_assert_str_eq(triad_congestion_kind_name(found->roots[i].kind),
		triad_congestion_kind_name(kind));
}

static const struct triad_congestion_host *find_host(uint32_t root, unsigned n)
{
	uint32_t port = layout->hosts[host(n)].port;
	const struct triad_congestion_root *at = &found->roots[find_root(root)];

	for (uint32_t i = 0; i < at->n_hosts; i++)
		if (at->hosts[i].port == port)
			return &at->hosts[i];
	return NULL;
}

static bool stops(void *context)
{
	(void)context;
	return true;
}

static uint32_t pairs_of_port(uint32_t port)
{
	uint32_t sw = layout->switch_of_node[fabric->ports[port].node], sum = 0;

	for (uint32_t in = 0; in < layout->switches[sw].n_links; in++)
		sum += triad_congestion_turn(turns, sw, in, fabric->ports[port].number);
	return sum;
}

/* --- turns --- */

START_TEST(test_turns_to_hosts_are_all_pairs)
{
	find_in_loads();
	for (uint32_t i = 0; i < layout->n_hosts; i++)
		ck_assert_uint_eq(
			pairs_of_port(fabric->ports[layout->hosts[i].port].remote), 15);
	/* The pairs from an edge's 2 hosts to the 14 others leave through 2 ports. */
	ck_assert_uint_eq(pairs_of_port(port_of("edge-0-0", 3)) +
			pairs_of_port(port_of("edge-0-0", 4)),
		28);
}
END_TEST

START_TEST(test_turns_that_are_stopped_are_cancelled)
{
	ck_assert_int_eq(
		triad_congestion_turns_make(layout, stops, NULL, &turns), ECANCELED);
	ck_assert_ptr_null(turns);
}
END_TEST

/* --- one root --- */

START_TEST(test_quiet_fabric_has_no_root)
{
	add(0, 5, 0.5);
	add(6, 1, 0.4);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 0);
	ck_assert_uint_eq(found->n_waiting, 0);
}
END_TEST

START_TEST(test_link_filled_by_one_flow_is_no_root)
{
	add(0, 5, 1);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 0);
}
END_TEST

START_TEST(test_slow_host_is_root_and_its_sender_contributes)
{
	flows_set_drain(flows, host(5), 0.3);
	add(0, 5, 0.9);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port_of("edge-1-0", 2), TRIAD_CONGESTION_SLOW_HOST);
	ck_assert_uint_eq(found->roots[0].n_hosts, 1);
	ck_assert_int_eq(found->roots[0].hosts[0].role, TRIAD_CONGESTION_CONTRIBUTOR);
	/* The waiting ports are those of the host, edge, aggregation, core,
	 * aggregation. */
	ck_assert_uint_eq(found->roots[0].n_waiting, 5);
	/* 4x EDR carries 100 Gb/s of data, of which 70 % wait. */
	ck_assert_double_eq_tol(found->roots[0].loss_bps / 1e9, 70, 7);
}
END_TEST

START_TEST(test_hosts_of_one_edge_are_undecided)
{
	flows_set_drain(flows, host(5), 0.2);
	add(0, 5, 0.9);
	/* This flow uses the same port of edge-0-0, but goes to another pod. */
	add(1, 13, 0.9);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	ck_assert_uint_eq(found->roots[0].n_roles[TRIAD_CONGESTION_UNDECIDED], 2);
	ck_assert_ptr_nonnull(find_host(found->roots[0].port, 0));
	ck_assert_ptr_nonnull(find_host(found->roots[0].port, 1));
}
END_TEST

START_TEST(test_many_to_one_is_incast)
{
	/* One sender per pod: flows from one pod to one LID would share an uplink. */
	add(1, 0, 0.6);
	add(4, 0, 0.6);
	add(8, 0, 0.6);
	add(12, 0, 0.6);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port_of("edge-0-0", 1), TRIAD_CONGESTION_INCAST);
	ck_assert_uint_eq(found->roots[0].n_hosts, 4);
}
END_TEST

/* The flows fill the port at which their routes meet, and all ports after it. */
START_TEST(test_many_of_one_pod_to_one_is_incast_at_its_end)
{
	for (unsigned i = 0; i < 4; i++)
		add(8 + i, 0, 0.8);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port_of("edge-0-0", 1), TRIAD_CONGESTION_INCAST);
	ck_assert_uint_eq(found->roots[0].n_hosts, 4);
	ck_assert_uint_eq(found->roots[0].n_roles[TRIAD_CONGESTION_VICTIM], 0);
}
END_TEST

START_TEST(test_link_of_half_width_is_weak)
{
	uint32_t port = port_of("edge-0-0", 2), far = fabric->ports[port].remote;

	fabric->ports[port].width = fabric->ports[far].width =
		triad_link_width_find("2x");
	flows_set_rate(flows, port, 0.5);
	flows_set_rate(flows, far, 0.5);
	add(9, 1, 0.8);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port, TRIAD_CONGESTION_WEAK_LINK);
}
END_TEST

/* All ports support a larger width than they use. */
START_TEST(test_link_as_wide_as_its_peers_is_not_weak)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].width_supported |= triad_link_width_find("12x");
	add(1, 0, 0.6);
	add(4, 0, 0.6);
	add(8, 0, 0.6);
	add(12, 0, 0.6);
	run_flows();
	assert_root(port_of("edge-0-0", 1), TRIAD_CONGESTION_INCAST);
}
END_TEST

START_TEST(test_all_up_by_one_port_is_imbalance)
{
	uint32_t port = port_of("edge-2-1", 4);
	const struct triad_fabric_slice *lft =
		&fabric->nodes[fabric->ports[port].node].lft;

	for (uint32_t lid = 1; lid < lft->n; lid++)
		if (fabric->lft[lft->at + lid] == 3)
			fabric->lft[lft->at + lid] = 4;
	add(10, 0, 0.9);
	add(11, 5, 0.9);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port, TRIAD_CONGESTION_IMBALANCE);
	ck_assert_uint_eq(found->roots[0].n_roles[TRIAD_CONGESTION_CONTRIBUTOR], 2);
}
END_TEST

/* --- several --- */

/* Row: N8 */
START_TEST(test_two_roots_are_distinguished)
{
	flows_set_drain(flows, host(5), 0.3);
	add(0, 5, 0.9);
	add(12, 10, 0.6);
	add(3, 10, 0.6);
	add(8, 10, 0.6);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 2);
	assert_root(port_of("edge-1-0", 2), TRIAD_CONGESTION_SLOW_HOST);
	assert_root(port_of("edge-2-1", 1), TRIAD_CONGESTION_INCAST);
	ck_assert_uint_eq(found->roots[0].n_hosts + found->roots[1].n_hosts, 4);
	ck_assert_uint_eq(found->n_unexplained, 0);
}
END_TEST

/* --- VLs --- */

/* Maps SL 1 to VL1 everywhere, like the simulator's flows of VL 1. */
static void give_tables(void)
{
	uint32_t n_rows = 0;

	fabric->sa.qos = true;
	free(fabric->sl2vl);
	fabric->sl2vl = calloc(fabric->n_ports * RADIX * 2, sizeof(*fabric->sl2vl));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].sl2vl =
			(struct triad_fabric_slice){.at = n_rows, .n = RADIX + 1};
		for (unsigned k = 0; k <= RADIX; k++)
			fabric->sl2vl[n_rows++].vl[0] = 0x01;
	}
	ck_assert_int_eq(triad_congestion_planes_make(&planes, layout, 0x3), 0);
	ck_assert_uint_eq(planes.n, 2);
}

/* Runs the flows; 'counts' selects ports that count waits of VLs, NULL: all. */
static void run_flows_by_vl(bool (*counts)(uint32_t port))
{
	static struct triad_congestion_by_vl known;

	run_flows();
	triad_congestion_free(found);
	vl_waits = calloc(fabric->n_ports, sizeof(*vl_waits));
	known = (struct triad_congestion_by_vl){.planes = &planes, .waits = vl_waits};
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (counts && !counts(i))
			continue;
		vl_waits[known.n].port = i;
		for (unsigned vl = 0; vl < FLOWS_N_VLS; vl++)
			vl_waits[known.n].wait[vl] = (float)flows_vl_wait(flows, i, vl);
		known.n++;
	}
	by_vl = &known;
	find_in_loads();
}

static void add_on(unsigned from, unsigned to, double rate, uint8_t vl)
{
	add(from, to, rate);
	flows_set_vl(flows, flows_n(flows) - 1, vl);
}

/* Two hosts of one switch send over the same links, each to another slow host. */
static void begin_two_trees(void)
{
	give_tables();
	flows_set_drain(flows, host(8), 0.2);
	flows_set_drain(flows, host(12), 0.2);
	add_on(0, 8, 0.45, 0);
	add_on(1, 12, 0.45, 1);
}

/* Row: N8 */
START_TEST(test_trees_on_two_vls_of_the_same_links_are_two_roots)
{
	uint32_t first, second;

	begin_two_trees();
	run_flows_by_vl(NULL);
	first = find_root(port_of("edge-2-0", 1));
	second = find_root(port_of("edge-3-0", 1));
	ck_assert_uint_eq(found->n_roots, 2);
	ck_assert_uint_ne(first, TRIAD_FABRIC_NONE);
	ck_assert_uint_ne(second, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(found->roots[first].vl, 0);
	ck_assert_uint_eq(found->roots[second].vl, 1);
	ck_assert_uint_eq(found->roots[first].n_hosts, 1);
	ck_assert_uint_eq(found->roots[second].n_hosts, 1);
	ck_assert_ptr_nonnull(find_host(port_of("edge-2-0", 1), 0));
	ck_assert_ptr_nonnull(find_host(port_of("edge-3-0", 1), 1));
}
END_TEST

/* Without counters of VLs the same waits are one tree with two roots. */
START_TEST(test_trees_without_counters_of_vls_have_no_vl)
{
	begin_two_trees();
	run_flows();
	ck_assert_uint_eq(found->n_roots, 2);
	ck_assert_uint_eq(found->roots[0].vl, TRIAD_CONGESTION_NO_VL);
	ck_assert_uint_gt(found->roots[0].n_hosts + found->roots[1].n_hosts, 2);
}
END_TEST

static bool is_a_hosts(uint32_t port)
{
	return layout->host_of_port[port] != TRIAD_FABRIC_NONE;
}

/* Switches don't count waits of VLs: only hosts' counters distinguish the trees. */
START_TEST(test_ports_without_counters_wait_in_each_plane)
{
	begin_two_trees();
	run_flows_by_vl(is_a_hosts);
	ck_assert_uint_ge(found->n_roots, 2);
	for (uint32_t i = 0; i < found->n_roots; i++)
		ck_assert_uint_le(found->roots[i].n_hosts, 1);
}
END_TEST

/* A flow on another VL of the same links isn't a victim. */
START_TEST(test_host_on_another_vl_is_no_victim)
{
	give_tables();
	flows_set_drain(flows, host(8), 0.2);
	add_on(0, 8, 0.9, 0);
	add_on(1, 12, 0.3, 1);
	run_flows_by_vl(NULL);
	ck_assert_uint_eq(found->n_roots, 1);
	ck_assert_uint_eq(found->roots[0].vl, 0);
	ck_assert_ptr_null(find_host(port_of("edge-2-0", 1), 1));
}
END_TEST

/* A link that all its VLs fill is a root on each of them. */
START_TEST(test_busy_link_is_root_on_each_vl)
{
	give_tables();
	add_on(0, 8, 0.9, 0);
	add_on(4, 8, 0.9, 0);
	add_on(12, 8, 0.9, 1);
	run_flows_by_vl(NULL);
	ck_assert_uint_ge(found->n_roots, 1);
	for (uint32_t i = 0; i < found->n_roots; i++)
		ck_assert_uint_eq(found->roots[i].port, port_of("edge-2-0", 1));
	ck_assert_uint_ne(triad_congestion_find_root(found, port_of("edge-2-0", 1), 0),
		TRIAD_FABRIC_NONE);
}
END_TEST

/* A port's VLs take turns, and its counters may show that as waiting. */
START_TEST(test_busy_port_whose_vls_take_turns_waits_for_no_port)
{
	uint32_t root = port_of("edge-2-0", 1);

	give_tables();
	add_on(0, 8, 0.9, 0);
	add_on(4, 8, 0.9, 1);
	run_flows_by_vl(NULL);
	triad_congestion_free(found);
	for (uint32_t i = 0; i < by_vl->n; i++)
		for (unsigned vl = 0; vl < 2 && vl_waits[i].port == root; vl++)
			vl_waits[i].wait[vl] = 0.5f;
	find_in_loads();
	ck_assert_uint_eq(found->n_roots, 2);
	assert_root(root, TRIAD_CONGESTION_INCAST);
}
END_TEST

/* SLs that take the same VLs are one plane. */
START_TEST(test_sls_of_the_same_vls_are_one_plane)
{
	give_tables();
	triad_congestion_planes_clear(&planes);
	ck_assert_int_eq(triad_congestion_planes_make(&planes, layout, 0xf), 0);
	ck_assert_uint_eq(planes.n, 2);
	triad_congestion_planes_clear(&planes);
	ck_assert_int_eq(triad_congestion_planes_make(&planes, layout, 0), 0);
	ck_assert_uint_eq(planes.n, 0);
}
END_TEST

/* Host 0 waits in the tree, but its own route to the root doesn't lead through the
 * tree. */
START_TEST(test_host_without_waiting_route_is_victim)
{
	uint16_t lid = fabric->ports[port_of("host-5", 1)].lid;
	uint32_t sw = layout->hosts[host(0)].sw;
	uint8_t *entry =
		&fabric->lft[fabric->nodes[layout->switches[sw].node].lft.at + lid];

	*entry = *entry == 3 ? 4 : 3;
	flows_set_drain(flows, host(5), 0.2);
	add(2, 5, 0.9);
	/* This flow uses the same aggregation and core, but goes to another pod. */
	add(0, 13, 0.9);
	run_flows();
	ck_assert_uint_eq(found->n_roots, 1);
	ck_assert_ptr_nonnull(find_host(found->roots[0].port, 0));
	ck_assert_int_eq(
		find_host(found->roots[0].port, 0)->role, TRIAD_CONGESTION_VICTIM);
	ck_assert_int_ne(
		find_host(found->roots[0].port, 2)->role, TRIAD_CONGESTION_VICTIM);
}
END_TEST

/* --- made-up loads that the simulator can't produce --- */

START_TEST(test_unknown_loads_count_as_nothing)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		loads[i] = (struct triad_congestion_load){.wait = NAN, .sent = NAN};
	find_in_loads();
	ck_assert_uint_eq(found->n_roots, 0);
	ck_assert_uint_eq(found->n_waiting, 0);
	ck_assert_uint_eq(found->n_known, 0);
	ck_assert_uint_gt(found->n_links, 0);
}
END_TEST

/* Has the counters of ports that wait stopped at a lower bound, as on fast links, where
 * they do after seconds.  Returns how many. */
static unsigned stop_waits(float bound)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		loads[i].at_least = loads[i].wait >= 0.1f;
		if (loads[i].at_least)
			loads[i].wait = bound;
		n += loads[i].at_least;
	}
	triad_congestion_free(found);
	find_in_loads();
	return n;
}

START_TEST(test_small_lower_bounds_are_not_known)
{
	unsigned n;

	flows_set_drain(flows, host(5), 0.3);
	add(0, 5, 0.9);
	run_flows();
	n = stop_waits(0.09f);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(found->n_roots, 0);
	ck_assert_uint_eq(found->n_waiting, 0);
	ck_assert_uint_eq(found->n_unexplained, 0);
	ck_assert_uint_eq(found->n_open, n);
	ck_assert_uint_eq(found->n_known, found->n_links - n);
}
END_TEST

START_TEST(test_large_lower_bounds_count_as_waiting)
{
	flows_set_drain(flows, host(5), 0.3);
	add(0, 5, 0.9);
	run_flows();
	ck_assert_uint_gt(stop_waits(0.11f), 0);
	ck_assert_uint_eq(found->n_roots, 1);
	assert_root(port_of("edge-1-0", 2), TRIAD_CONGESTION_SLOW_HOST);
	ck_assert_uint_eq(found->roots[0].n_waiting, 5);
	ck_assert_uint_eq(found->n_known, found->n_links);
	ck_assert_uint_eq(found->n_open, 0);
	ck_assert(found->roots[0].at_least && found->roots[0].hosts[0].at_least);
	/* It may have waited all the time. */
	ck_assert_double_eq_tol(found->roots[0].loss_bps / 1e9, 100, 7);
}
END_TEST

START_TEST(test_roots_beyond_what_is_kept_are_counted)
{
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	free(loads);
	fabric = fat_tree(8);
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	loads = calloc(fabric->n_ports, sizeof(*loads));
	for (uint32_t i = 0; i < layout->n_hosts; i++)
		loads[fabric->ports[layout->hosts[i].port].remote].wait =
			(float)(i + 100) / 1000;
	find_in_loads();
	ck_assert_uint_eq(found->n_roots, TRIAD_CONGESTION_MAX_ROOTS);
	ck_assert_uint_eq(found->n_more, layout->n_hosts - TRIAD_CONGESTION_MAX_ROOTS);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("roots");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, test_turns_to_hosts_are_all_pairs);
	tcase_add_test(tests, test_turns_that_are_stopped_are_cancelled);
	tcase_add_test(tests, test_quiet_fabric_has_no_root);
	tcase_add_test(tests, test_link_filled_by_one_flow_is_no_root);
	tcase_add_test(tests, test_slow_host_is_root_and_its_sender_contributes);
	tcase_add_test(tests, test_hosts_of_one_edge_are_undecided);
	tcase_add_test(tests, test_many_to_one_is_incast);
	tcase_add_test(tests, test_many_of_one_pod_to_one_is_incast_at_its_end);
	tcase_add_test(tests, test_link_of_half_width_is_weak);
	tcase_add_test(tests, test_link_as_wide_as_its_peers_is_not_weak);
	tcase_add_test(tests, test_all_up_by_one_port_is_imbalance);
	tcase_add_test(tests, test_two_roots_are_distinguished);
	tcase_add_test(tests, test_trees_on_two_vls_of_the_same_links_are_two_roots);
	tcase_add_test(tests, test_trees_without_counters_of_vls_have_no_vl);
	tcase_add_test(tests, test_ports_without_counters_wait_in_each_plane);
	tcase_add_test(tests, test_host_on_another_vl_is_no_victim);
	tcase_add_test(tests, test_busy_link_is_root_on_each_vl);
	tcase_add_test(tests, test_busy_port_whose_vls_take_turns_waits_for_no_port);
	tcase_add_test(tests, test_sls_of_the_same_vls_are_one_plane);
	tcase_add_test(tests, test_host_without_waiting_route_is_victim);
	tcase_add_test(tests, test_unknown_loads_count_as_nothing);
	tcase_add_test(tests, test_small_lower_bounds_are_not_known);
	tcase_add_test(tests, test_large_lower_bounds_count_as_waiting);
	tcase_add_test(tests, test_roots_beyond_what_is_kept_are_counted);
	return run_cases(tests);
}
