/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Dead places (ports and in-ports where an SL in use has no VL) and ends cut off from
 * the SM: compared with a simple implementation, and case by case. */
#include "tests/unit/qos/plan_fixture.h"

/* --- walks, simple implementation --- */

#define MAX_PLACES 66

struct places {
	unsigned n;
	struct {
		uint32_t out;
		unsigned in;
	} at[MAX_PLACES];
};

static uint32_t routed(uint32_t node, unsigned lid)
{
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;

	return fabric->nodes[node].type == TRIAD_NODE_SWITCH && lid < lft->n
		? triad_fabric_find_port(fabric, node, fabric->lft[lft->at + lid])
		: TRIAD_FABRIC_NONE;
}

/* Collects the places on the route; false: it doesn't arrive. */
static bool walk(uint32_t from, uint32_t to, unsigned lid, struct places *places)
{
	uint32_t node = fabric->ports[from].node, out = from;
	unsigned in = 0;

	places->n = 0;
	if (fabric->nodes[node].type == TRIAD_NODE_SWITCH)
		out = routed(node, lid);
	while (out != TRIAD_FABRIC_NONE && places->n < MAX_PLACES - 1) {
		uint32_t far = fabric->ports[out].remote;

		places->at[places->n].out = out;
		places->at[places->n++].in = in;
		if (out == to && fabric->ports[out].number == 0)
			return true;
		if (far == to)
			return true;
		if (far == TRIAD_FABRIC_NONE || fabric->ports[out].number == 0)
			return false;
		in = fabric->ports[far].number;
		out = routed(fabric->ports[far].node, lid);
	}
	return false;
}

static uint16_t dead_by_scope_on(const struct places *places)
{
	uint16_t dead = 0;

	for (unsigned i = 0; i < places->n; i++)
		dead |= naive_dead(&naive, places->at[i].out, places->at[i].in, true);
	return dead;
}

static bool is_end(uint32_t port)
{
	return triad_fabric_is_end_port(fabric, port) && fabric->ports[port].lid;
}

/* --- comparison with the plan --- */

static uint16_t sls_in_use(void)
{
	uint16_t sls = 0;

	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		sls |= (uint16_t)(1 << fabric->partitions[i].sl);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (is_end(i))
			sls |= (uint16_t)(1 << fabric->ports[i].sm_sl);
	for (uint32_t i = 0; policy && i < policy->n_levels; i++)
		if (strcmp(policy->levels[i].name, "unused") != 0)
			sls |= (uint16_t)(1 << policy->levels[i].sl);
	return sls;
}

struct seen {
	bool at[4096][PLAN_MAX_PORTS];
	uint64_t n_dead;
};

static void note_places(struct seen *seen, const struct places *places)
{
	for (unsigned i = 0; i < places->n; i++) {
		uint32_t out = places->at[i].out;
		unsigned in = places->at[i].in;

		if (seen->at[out][in])
			continue;
		seen->at[out][in] = true;
		seen->n_dead += (unsigned)__builtin_popcount(
			naive_dead(&naive, out, in, false) & sls_in_use());
	}
}

static void note_paths(struct seen *seen, uint32_t from, uint32_t to)
{
	struct places places;
	unsigned first = fabric->ports[to].lid;

	for (unsigned lid = first; lid < first + (1u << fabric->ports[to].lmc); lid++)
		if (walk(from, to, lid, &places))
			note_places(seen, &places);
}

static void check_dead_places(void)
{
	static struct seen seen;

	memset(&seen, 0, sizeof(seen));
	ck_assert_uint_lt(fabric->n_ports, 4096);
	for (uint32_t from = 0; from < fabric->n_ports; from++)
		for (uint32_t to = 0; to < fabric->n_ports; to++)
			if (from != to && is_end(from) && is_end(to))
				note_paths(&seen, from, to);
	ck_assert_uint_eq(plan->n_dead_places, seen.n_dead);
	ck_assert_int_eq(plan->n_paths > 0, seen.n_dead > 0);
}

/* Checks that the example's route, to one of its end's LIDs, goes through its place,
 * and that its SL has no VL there. */
static void check_example(const struct triad_setup_path *path)
{
	unsigned first = fabric->ports[path->to].lid;
	struct places places;

	ck_assert(is_end(path->from) && is_end(path->to) && path->from != path->to);
	ck_assert_uint_ne(
		naive_dead(&naive, path->port, path->in_port, false) >> path->sl & 1,
		0);
	ck_assert_uint_ne(sls_in_use() >> path->sl & 1, 0);
	for (unsigned lid = first; lid < first + (1u << fabric->ports[path->to].lmc);
		lid++) {
		if (!walk(path->from, path->to, lid, &places))
			continue;
		for (unsigned i = 0; i < places.n; i++)
			if (places.at[i].out == path->port &&
				places.at[i].in == path->in_port)
				return;
	}
	ck_abort_msg("not on that path");
}

static bool loses(uint32_t port)
{
	uint32_t sm_port = fabric->sm_port;
	uint16_t sls = (uint16_t)(1 << fabric->ports[port].sl |
		1 << fabric->ports[port].sm_sl);
	struct places there, back;

	if (!is_end(port) || port == sm_port ||
		!walk(sm_port, port, fabric->ports[port].lid, &there) ||
		!walk(port, sm_port, fabric->ports[sm_port].lid, &back))
		return false;
	return (dead_by_scope_on(&there) | dead_by_scope_on(&back)) & sls;
}

static void check_guard(void)
{
	uint32_t n = 0, first = TRIAD_FABRIC_NONE;

	ck_assert_uint_ne(fabric->sm_port, TRIAD_FABRIC_NONE);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (loses(i) && !n++)
			first = i;
	ck_assert_uint_eq(plan->n_cut_off, n);
	ck_assert_uint_eq(plan->first_cut_off, first);
}

/* Removes VL arbitration from all ports: with random tables, nearly always some port
 * never sends some VL. */
static void take_arbitration_away(void)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].vlarb_low_cap = fabric->ports[i].vlarb_high_cap = 0;
	triad_setup_plan_free(plan);
	plan = NULL;
	ck_assert_int_eq(triad_setup_plan_make(setup, fabric, &plan), 0);
}

START_TEST(test_paths_random_are_as_slow_ones)
{
	unsigned n_dead = 0, n_alive = 0, n_cut = 0;

	printf("# seed %u\n", seed);
	for (unsigned i = 0; i < 60; i++) {
		make_by_chance(seed + i);
		if (i % 2)
			take_arbitration_away();
		check_dead_places();
		check_guard();
		for (uint32_t p = 0; p < plan->n_paths; p++)
			check_example(&plan->paths[p]);
		n_dead += plan->n_dead_places > 0;
		n_alive += plan->n_dead_places == 0;
		n_cut += plan->n_cut_off > 0;
	}
	ck_assert(n_dead && n_alive && n_cut);
	drop_all();
}
END_TEST

/* --- dead places, case by case --- */

#define ALIVE TABLE("0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7")
#define DEAD_3 TABLE("0,1,2,15,4,5,6,7,0,1,2,3,4,5,6,7")
#define LEVEL_3                                                                        \
	"qos-levels\nqos-level\nname: three\nsl: 3\nend-qos-level\nend-qos-levels\n"
#define RULE_3                                                                         \
	"qos-match-rules\nqos-match-rule\nservice-id: 1\nqos-level-name: three\n"      \
	"end-qos-match-rule\nend-qos-match-rules\n"

START_TEST(test_sl_not_in_use_is_no_dead_place)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3));
	ck_assert_uint_gt(plan->n_changes, 0);
	ck_assert_uint_eq(plan->n_dead_places, 0);
	/* A level that nothing refers to isn't in use. */
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3) LEVEL_3);
	ck_assert_uint_eq(plan->n_dead_places, 0);
	drop_all();
}
END_TEST

START_TEST(test_sl_of_rule_without_vl_between_switches_is_dead_place)
{
	sketch_two_switches();
	make(SL2VL(
		"sl2vl-scope\nacross-to: switches\nacross-from: host2\nto: 5\n" DEAD_3)
			LEVEL_3 RULE_3);
	ck_assert_uint_eq(plan->n_dead_places, 1);
	ck_assert_uint_eq(plan->n_paths, 1);
	ck_assert_uint_eq(plan->paths[0].sl, 3);
	ck_assert_uint_eq(plan->paths[0].port, port_of(0, 5));
	ck_assert_uint_eq(plan->paths[0].in_port, 1);
	ck_assert_uint_eq(plan->paths[0].from, port_of(2, 1));
	drop_all();
}
END_TEST

START_TEST(test_sl_of_partition_without_vl_is_dead_place)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 3, "p");
	make(SL2VL("sl2vl-scope\nacross-to: host2\nfrom: 2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_dead_places, 1);
	ck_assert_uint_eq(plan->paths[0].from, port_of(3, 1));
	ck_assert_uint_eq(plan->paths[0].to, port_of(2, 1));
	ck_assert_uint_eq(plan->paths[0].port, port_of(0, 1));
	ck_assert_uint_eq(plan->paths[0].in_port, 2);
	drop_all();
}
END_TEST

START_TEST(test_sl_of_requests_to_sm_without_vl_is_dead_place)
{
	sketch_two_switches();
	plan_port(sketch, 0, 1)->port.sm_sl = 3;
	make(SL2VL("sl2vl-scope\nacross-to: host2\nfrom: 2\n" DEAD_3));
	/* The port isn't an end port, so no requests come from there. */
	ck_assert_uint_eq(plan->n_dead_places, 0);
	plan_port(sketch, 4, 1)->port.sm_sl = 3;
	make(SL2VL("sl2vl-scope\nacross-to: host2\nfrom: 2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_dead_places, 1);
	ck_assert_uint_eq(plan->paths[0].sl, 3);
	plan_port(sketch, 4, 1)->port.lid = 0;
	make(SL2VL("sl2vl-scope\nacross-to: host2\nfrom: 2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	drop_all();
}
END_TEST

START_TEST(test_host_without_vl_is_dead_place)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 3, "p");
	make(SL2VL("sl2vl-scope\ngroup: hosts\n" ALIVE
		   "sl2vl-scope\ngroup: host2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_dead_places, 1);
	ck_assert_uint_eq(plan->paths[0].from, port_of(2, 1));
	ck_assert_uint_eq(plan->paths[0].port, port_of(2, 1));
	ck_assert_uint_eq(plan->paths[0].in_port, 0);
	drop_all();
}
END_TEST

/* No path leaves a switch through the port by which it came in, nor goes from one link
 * between the switches to the other. */
START_TEST(test_place_without_path_is_not_dead)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 3, "p");
	make(SL2VL("sl2vl-scope\ngroup: switches\nfrom: 5,6\nto: 5,6\n" DEAD_3
		   "sl2vl-scope\ngroup: switches\nfrom: 3,4\n" DEAD_3));
	ck_assert_uint_gt(plan->n_changed[TRIAD_SETUP_SL2VL], 0);
	ck_assert_uint_eq(plan->n_dead_places, 0);
	drop_all();
}
END_TEST

START_TEST(test_examples_are_of_many_sls_and_ports)
{
	uint16_t sls = 0;

	sketch_two_switches();
	for (unsigned sl = 0; sl < 16; sl++)
		plan_add_partition(sketch, (uint16_t)(1 + sl), (uint8_t)sl, "p");
	make(SL2VL("sl2vl-scope\ngroup: switches,hosts\n" TABLE(
		"15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15")));
	ck_assert_uint_gt(plan->n_dead_places, TRIAD_SETUP_MAX_PATHS);
	ck_assert_uint_eq(plan->n_paths, TRIAD_SETUP_MAX_PATHS);
	for (uint32_t i = 0; i < plan->n_paths; i++) {
		const struct triad_setup_path *path = &plan->paths[i];

		sls |= (uint16_t)(1 << path->sl);
		for (uint32_t j = 0; j < i; j++)
			ck_assert(plan->paths[j].port != path->port ||
				plan->paths[j].sl != path->sl);
	}
	ck_assert_uint_eq(sls, 0xffff);
	drop_all();
}
END_TEST

START_TEST(test_example_is_one_for_each_port_and_sl)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 3, "p");
	make(SL2VL("sl2vl-scope\ngroup: one\nto: 1\n" DEAD_3));
	/* Packets come from port 0, from the other host, and over both links, as LIDs
	 * are routed over these in turn. */
	ck_assert_uint_gt(plan->n_dead_places, 2);
	ck_assert_uint_eq(plan->n_paths, 1);
	drop_all();
}
END_TEST

#define HALF_SENT                                                                      \
	"vlarb-scope\ngroup: one\nto: 1\n"                                             \
	"vlarb-high: 0:4,1:4,2:4,3:0\nvlarb-low: 4:4,5:4,6:4,7:4\nend-vlarb-scope\n"

START_TEST(test_vl_without_weight_is_dead_place)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 11, "p");
	make(VLARB(HALF_SENT));
	ck_assert_uint_gt(plan->n_dead_places, 0);
	ck_assert_uint_eq(plan->n_paths, 1);
	/* SL 11 has VL 3 there. */
	ck_assert_uint_eq(plan->paths[0].sl, 11);
	ck_assert_uint_eq(plan->paths[0].port, port_of(0, 1));
	/* A weight in one of the tables is enough, even in OpenSM's default. */
	make(VLARB("vlarb-scope\ngroup: one\nvlarb-high: 0:4,3:0\nend-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	make(VLARB("vlarb-scope\ngroup: one\nvlarb-high: 0:4,3:1\nvlarb-low: 0:4\n"
		   "end-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	drop_all();
}
END_TEST

START_TEST(test_port_without_arbitration_sends_all_vls)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 11, "p");
	plan_port(sketch, 0, 1)->port.vlarb_low_cap = 0;
	plan_port(sketch, 0, 1)->port.vlarb_high_cap = 0;
	make(VLARB(HALF_SENT));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	/* With only one table, VLs without weight in it are never sent. */
	plan_port(sketch, 0, 1)->port.vlarb_high_cap = 8;
	make(VLARB(HALF_SENT));
	ck_assert_uint_gt(plan->n_dead_places, 0);
	drop_all();
}
END_TEST

#define ALL_SENT                                                                       \
	"vlarb-scope\ngroup: switches\nto: 1,2\n"                                      \
	"vlarb-high: 0:4,1:4,2:4,3:4\nvlarb-low: 4:4,5:4,6:4,7:4\nend-vlarb-scope\n"

/* The scope's table is too long for the port, and OpenSM's default has no weight for
 * the VL. */
START_TEST(test_vl_without_weight_at_port_with_shorter_table_is_dead_place)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 11, "p");
	make(VLARB(ALL_SENT));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	plan_port(sketch, 0, 2)->port.vlarb_high_cap = 3;
	make(VLARB(ALL_SENT));
	ck_assert_uint_eq(plan->n_paths, 1);
	ck_assert_uint_eq(plan->paths[0].port, port_of(0, 2));
	plan_port(sketch, 0, 2)->port.vlarb_high_cap = 8;
	plan_port(sketch, 0, 2)->port.vlarb_low_cap = 1;
	plan_add_partition(sketch, 6, 4, "q");
	make(VLARB(ALL_SENT));
	ck_assert_uint_eq(plan->n_paths, 1);
	ck_assert_uint_eq(plan->paths[0].sl, 4);
	ck_assert_uint_eq(plan->paths[0].port, port_of(0, 2));
	drop_all();
}
END_TEST

/* --- the SM's own paths --- */

/* Row: X3 */
START_TEST(test_end_without_vl_for_mads_is_cut_off)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 3;
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 5,6\n" DEAD_3));
	/* The SM sends requests to the other ends with SL 0. */
	ck_assert_uint_eq(plan->n_cut_off, 1);
	ck_assert_uint_eq(plan->first_cut_off, port_of(4, 1));
	/* Only the return path has no VL. */
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 1\nfrom: 5,6\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	make(SL2VL("sl2vl-scope\ngroup: hosts\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	ck_assert_uint_eq(plan->first_cut_off, TRIAD_FABRIC_NONE);
	drop_all();
}
END_TEST

/* The end's requests to the SM, and the answers to these, have another SL than the SM's
 * requests to the end. */
START_TEST(test_end_without_vl_for_its_requests_is_cut_off)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sm_sl = 3;
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 1\nfrom: 5,6\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	ck_assert_uint_eq(plan->first_cut_off, port_of(4, 1));
	/* Only the answers have no VL. */
	make(SL2VL("sl2vl-scope\ngroup: host2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	/* The SL of the SM's requests to the end counts, too. */
	plan_port(sketch, 4, 1)->port.sl = 3;
	plan_port(sketch, 4, 1)->port.sm_sl = 0;
	make(SL2VL("sl2vl-scope\ngroup: host2\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	drop_all();
}
END_TEST

/* An end counts also if present tables cut it off already: the policy may be in
 * force. */
START_TEST(test_end_cut_off_already_is_counted)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 3;
	plan_set_sls(plan_port(sketch, 2, 1), 0, 0xfff7);
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	drop_all();
}
END_TEST

START_TEST(test_end_by_vl_without_weight_is_cut_off)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 11;
	make(VLARB("vlarb-scope\ngroup: switches\nto: 5,6\nvlarb-high: 0:4,3:0\n"
		   "vlarb-low: 0:4\nend-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	ck_assert_uint_eq(plan->first_cut_off, port_of(4, 1));
	/* An end that OpenSM's own weights cut off counts only if an SL2VL scope maps
	 * the SL to that VL. */
	for (unsigned i = 0; i < TRIAD_QOS_N_PORT_KINDS; i++)
		sketch->qos.defaults[i].low[3].weight = 0;
	make(NULL);
	ck_assert_uint_eq(plan->n_cut_off, 0);
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 5,6\n" ALIVE));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	drop_all();
}
END_TEST

START_TEST(test_end_cut_off_by_defaults_is_not_counted)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 3;
	for (unsigned i = 0; i < TRIAD_QOS_N_PORT_KINDS; i++)
		sketch->qos.defaults[i].sl2vl.vl[1] |= 0xf;
	make(SL2VL("sl2vl-scope\ngroup: hosts\nto: 9\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	drop_all();
}
END_TEST

START_TEST(test_end_without_route_is_not_counted)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 3;
	sketch->nodes[1].lft[plan_port(sketch, 4, 1)->port.lid] = PLAN_NO_ROUTE;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	/* Nor does it count if the other switch routes the LID to its own port 0. */
	sketch->nodes[1].lft[plan_port(sketch, 4, 1)->port.lid] = 0;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	drop_all();
}
END_TEST

/* The SM port's table is unknown; that of its neighbour must not be used instead. */
START_TEST(test_end_asked_from_port_without_rows_is_counted)
{
	sketch_two_switches();
	plan_port(sketch, 4, 1)->port.sl = 3;
	plan_port(sketch, 2, 1)->n_sl2vl = 0;
	plan_set_sls(plan_port(sketch, 3, 1), 0, 0xfff7);
	make(SL2VL("sl2vl-scope\ngroup: switches\n" DEAD_3));
	ck_assert_uint_eq(plan->n_cut_off, 1);
	drop_all();
}
END_TEST

START_TEST(test_guard_without_sm_port_counts_nothing)
{
	sketch_two_switches();
	sketch->sm_port_guid = 0;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" TABLE(
		"15,15,15,15,15,15,15,15,15,15,15,15,15,15,15,15")));
	ck_assert_uint_eq(plan->n_cut_off, 0);
	drop_all();
}
END_TEST

START_TEST(test_paths_of_routing_loop_end)
{
	sketch_two_switches();
	plan_add_partition(sketch, 5, 3, "p");
	for (unsigned lid = 0; lid < sketch->n_lids; lid++)
		sketch->nodes[0].lft[lid] = sketch->nodes[1].lft[lid] = 5;
	make(SL2VL("sl2vl-scope\ngroup: switches,hosts\n" DEAD_3));
	ck_assert_uint_eq(plan->n_dead_places, 0);
	ck_assert_uint_eq(plan->n_cut_off, 0);
	drop_all();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup paths");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_paths_random_are_as_slow_ones);
	tcase_add_test(cases, test_sl_not_in_use_is_no_dead_place);
	tcase_add_test(
		cases, test_sl_of_rule_without_vl_between_switches_is_dead_place);
	tcase_add_test(cases, test_sl_of_partition_without_vl_is_dead_place);
	tcase_add_test(cases, test_sl_of_requests_to_sm_without_vl_is_dead_place);
	tcase_add_test(cases, test_host_without_vl_is_dead_place);
	tcase_add_test(cases, test_place_without_path_is_not_dead);
	tcase_add_test(cases, test_examples_are_of_many_sls_and_ports);
	tcase_add_test(cases, test_example_is_one_for_each_port_and_sl);
	tcase_add_test(cases, test_vl_without_weight_is_dead_place);
	tcase_add_test(cases, test_port_without_arbitration_sends_all_vls);
	tcase_add_test(
		cases, test_vl_without_weight_at_port_with_shorter_table_is_dead_place);
	tcase_add_test(cases, test_end_without_vl_for_mads_is_cut_off);
	tcase_add_test(cases, test_end_without_vl_for_its_requests_is_cut_off);
	tcase_add_test(cases, test_end_cut_off_already_is_counted);
	tcase_add_test(cases, test_end_by_vl_without_weight_is_cut_off);
	tcase_add_test(cases, test_end_cut_off_by_defaults_is_not_counted);
	tcase_add_test(cases, test_end_without_route_is_not_counted);
	tcase_add_test(cases, test_end_asked_from_port_without_rows_is_counted);
	tcase_add_test(cases, test_guard_without_sm_port_counts_nothing);
	tcase_add_test(cases, test_paths_of_routing_loop_end);
	return run_cases(cases);
}
