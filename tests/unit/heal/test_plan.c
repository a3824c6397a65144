/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plan for bad links: in trees with known results, and in random ones, where another way of
 * counting paths follows what the plan takes. */
#include "heal/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "routes/without.h"
#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 2000
#define MAX_FINDINGS 24u
#define MAX_OUT 8u

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_check *check;
static struct triad_heal_plan *plan;
static struct triad_heal_finding findings[MAX_FINDINGS];
static struct triad_heal_out out[MAX_OUT];
static struct triad_heal_input input;

static void begin(void)
{
	input = (struct triad_heal_input){.findings = findings,
		.out = out,
		.max_out = 2,
		.min_capacity = 0.5,
		.max_judged = 64,
		.max_counted = 64};
}

static void end(void)
{
	triad_heal_plan_free(plan);
	triad_routes_check_free(check);
	triad_fabric_unref(fabric);
	plan = NULL;
	check = NULL;
	fabric = NULL;
}

static struct triad_damp_ends ends_at(uint32_t port)
{
	struct triad_damp_ends ends;

	ck_assert(triad_damp_ends_at(fabric, port, &ends));
	return ends;
}

static uint64_t switch_guid(unsigned sw)
{
	return 0x1000 + 16 * sw;
}

static uint32_t switch_port(unsigned sw, unsigned number)
{
	return triad_fabric_port_at(fabric, switch_guid(sw), number);
}

static uint32_t host_port(unsigned host)
{
	return triad_fabric_port_at(fabric, 0x100000 + 16 * host, 1);
}

static void make_fabric(void)
{
	static const struct triad_routes_options options = {.sls = {.all = 1}};

	fabric = routed_fabric(&routed);
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
	input.fabric = fabric;
	input.check = check;
}

/* Leaves 0 to 3, with two hosts each, and spines 4 to 6 on ports 1 to 3 of each leaf. */
static void make_tree(void)
{
	uint64_t seed = 1;

	begin();
	routed_init(&routed, 7);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 7; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned host = 0; host < 8; host++)
		routed_add_host(&routed, host / 2);
	routed_route(&routed, &seed);
	make_fabric();
}

static void add_finding(unsigned kind, uint32_t port, bool is_sure, double times)
{
	findings[input.n_findings++] = (struct triad_heal_finding){
		.kind = (uint8_t)kind,
		.port = port,
		.node = fabric->ports[port].node,
		.is_sure = is_sure,
		.times = times,
		.since_us = 1,
	};
}

static void add_bad(uint32_t port)
{
	add_finding(TRIAD_HEAL_BIT_ERRORS, port, true, 10);
}

static void make_plan(void)
{
	triad_heal_plan_free(plan);
	plan = NULL;
	ck_assert_int_eq(triad_heal_plan_make(&input, &plan), 0);
}

static const struct triad_heal_proposal *proposal_at(uint32_t port)
{
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->proposals[i].port == port || plan->proposals[i].far == port)
			return &plan->proposals[i];
	ck_abort_msg("no proposal about port %" PRIu32, port);
	return NULL;
}

static enum triad_heal_why why_at(uint32_t port)
{
	return proposal_at(port)->why;
}

/* --- what is proposed, in which order --- */

START_TEST(test_plan_no_findings_nothing)
{
	make_tree();
	make_plan();
	ck_assert_uint_eq(plan->n, 0);
	ck_assert_uint_eq(plan->n_take, 0);
}
END_TEST

START_TEST(test_plan_both_ends_one_proposal)
{
	uint32_t port;

	make_tree();
	port = switch_port(1, 2);
	add_finding(TRIAD_HEAL_SLOW, port, true, 2);
	add_finding(TRIAD_HEAL_BIT_ERRORS, fabric->ports[port].remote, true, 5);
	make_plan();
	ck_assert_uint_eq(plan->n, 1);
	ck_assert_uint_eq(plan->proposals[0].n, 2);
	/* The end of the worst finding stands first. */
	ck_assert_uint_eq(plan->proposals[0].port, fabric->ports[port].remote);
	ck_assert_uint_eq(plan->proposals[0].far, port);
	ck_assert_uint_eq(
		plan->findings[plan->proposals[0].first].kind, TRIAD_HEAL_BIT_ERRORS);
}
END_TEST

START_TEST(test_plan_order_is_that_of_ranks_then_sure_then_times)
{
	uint32_t ports[7];

	make_tree();
	for (unsigned i = 0; i < 7; i++)
		ports[i] = switch_port(i % 4, 1 + i / 4);
	add_finding(TRIAD_HEAL_SLOW, ports[5], true, 100);
	add_finding(TRIAD_HEAL_SILENT, host_port(3), true, 0);
	add_finding(TRIAD_HEAL_HOT, ports[3], true, 1.1);
	add_finding(TRIAD_HEAL_DARK, ports[4], false, 0);
	add_finding(TRIAD_HEAL_ERRORS, ports[2], false, 1000);
	add_finding(TRIAD_HEAL_FLAPS, ports[1], true, 1);
	add_finding(TRIAD_HEAL_BIT_ERRORS, ports[0], true, 3);
	make_plan();
	ck_assert_uint_eq(plan->n, 7);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(plan->proposals[i].port, ports[i]);
	ck_assert_uint_eq(plan->proposals[6].port, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(plan->proposals[6].node, fabric->ports[host_port(3)].node);
	ck_assert_int_eq(plan->proposals[6].why, TRIAD_HEAL_NODE);
	ck_assert_uint_eq(plan->proposals[6].remedies, 0);
}
END_TEST

START_TEST(test_plan_port_without_link_is_counted)
{
	make_tree();
	add_bad(switch_port(0, 8));
	make_plan();
	ck_assert_uint_eq(plan->n, 0);
	ck_assert_uint_eq(plan->n_unlinked, 1);
}
END_TEST

/* --- cost --- */

START_TEST(test_plan_one_of_three_uplinks_its_cost_is_known)
{
	const struct triad_heal_proposal *proposal;
	uint32_t port;

	make_tree();
	port = switch_port(1, 2);
	add_bad(port);
	make_plan();
	proposal = proposal_at(port);
	ck_assert_int_eq(proposal->why, TRIAD_HEAL_TAKE);
	ck_assert_uint_eq(plan->n_take, 1);
	ck_assert(proposal->cost.is_known);
	ck_assert_uint_eq(proposal->cost.n_moved,
		check->pairs[port] + check->pairs[fabric->ports[port].remote]);
	ck_assert_uint_eq(proposal->cost.n_lost, 0);
	ck_assert_uint_ne(proposal->cost.worst, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(
		proposal->cost.worst_before, check->pairs[proposal->cost.worst]);
	ck_assert_uint_gt(proposal->cost.worst_pairs, proposal->cost.worst_before);
	ck_assert_double_eq_tol(proposal->cost.share, 2.0 / 3, 1e-9);
	ck_assert_uint_eq(
		proposal->cost.at_node, triad_fabric_find_node(fabric, switch_guid(1)));
	ck_assert_uint_eq(proposal->cost.n_hosts_one, 0);
	ck_assert_uint_eq(proposal->tier[0], 1);
	ck_assert_uint_eq(proposal->tier[1], 2);
}
END_TEST

START_TEST(test_plan_second_of_three_uplinks_hosts_have_one_path)
{
	const struct triad_heal_proposal *proposal;

	make_tree();
	input.min_capacity = 0.3;
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(1, 2), true, 20);
	add_bad(switch_port(1, 3));
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 2)), TRIAD_HEAL_TAKE);
	proposal = proposal_at(switch_port(1, 3));
	ck_assert_int_eq(proposal->why, TRIAD_HEAL_TAKE);
	ck_assert_uint_eq(proposal->cost.n_hosts_one, 2);
	ck_assert_double_eq_tol(proposal->cost.share, 1.0 / 3, 1e-9);
	ck_assert_uint_eq(proposal->cost.n_moved,
		check->pairs[switch_port(1, 3)] +
			check->pairs[fabric->ports[switch_port(1, 3)].remote]);
}
END_TEST

START_TEST(test_plan_remedies_slower_only_where_both_ends_can)
{
	uint32_t port, far;

	make_tree();
	port = switch_port(1, 2);
	far = fabric->ports[port].remote;
	add_bad(port);
	add_finding(TRIAD_HEAL_HOT, switch_port(2, 1), true, 1);
	add_finding(TRIAD_HEAL_SLOW, switch_port(3, 1), true, 2);
	fabric->ports[port].width = fabric->ports[far].width = 2;
	fabric->ports[port].width_supported = 3;
	fabric->ports[far].width_supported = 2;
	make_plan();
	ck_assert_uint_eq(proposal_at(port)->remedies,
		1u << TRIAD_HEAL_RETRAIN | 1u << TRIAD_HEAL_OUT |
			1u << TRIAD_HEAL_DISABLE);
	ck_assert_uint_eq(proposal_at(switch_port(2, 1))->remedies,
		1u << TRIAD_HEAL_OUT | 1u << TRIAD_HEAL_DISABLE);
	ck_assert_uint_eq(proposal_at(switch_port(3, 1))->remedies,
		1u << TRIAD_HEAL_RETRAIN | 1u << TRIAD_HEAL_OUT);
	/* What is no width is not less. */
	fabric->ports[port].width_supported = fabric->ports[far].width_supported = 0x42;
	make_plan();
	ck_assert(!(proposal_at(port)->remedies & 1u << TRIAD_HEAL_SLOWER));
	fabric->ports[port].width_supported = fabric->ports[far].width_supported = 3;
	make_plan();
	ck_assert(proposal_at(port)->remedies & 1u << TRIAD_HEAL_SLOWER);
	fabric->ports[far].width_supported = 2;
	fabric->ports[port].speed = fabric->ports[far].speed = 4;
	fabric->ports[port].speed_supported = fabric->ports[far].speed_supported = 7;
	make_plan();
	ck_assert(proposal_at(port)->remedies & 1u << TRIAD_HEAL_SLOWER);
}
END_TEST

/* --- what speaks against it --- */

START_TEST(test_plan_host_and_sm_are_proposed_only)
{
	make_tree();
	add_bad(host_port(0)); /* the SM's */
	add_bad(host_port(5));
	add_bad(host_port(7));
	input.sm_guids = (uint64_t[]){0x100000 + 16 * 7 + 1};
	input.n_sm_guids = 1;
	make_plan();
	ck_assert_int_eq(why_at(host_port(0)), TRIAD_HEAL_WAY_TO_SM);
	ck_assert_int_eq(why_at(host_port(7)), TRIAD_HEAL_WAY_TO_SM);
	ck_assert_int_eq(why_at(host_port(5)), TRIAD_HEAL_LAST_OF_HOST);
	ck_assert_uint_eq(plan->n_take, 0);
	ck_assert_uint_eq(
		proposal_at(host_port(5))->remedies, 1u << TRIAD_HEAL_RETRAIN);
	ck_assert_uint_eq(proposal_at(host_port(5))->cost.n_lost, 2 * 7);
}
END_TEST

START_TEST(test_plan_only_way_is_proposed_only)
{
	uint64_t seed = 1;

	begin();
	routed_init(&routed, 4);
	for (unsigned leaf = 0; leaf < 3; leaf++) {
		routed_link(&routed, leaf, 3);
		if (leaf != 2)
			routed_link(&routed, leaf, 3);
		routed_add_host(&routed, leaf);
	}
	routed_route(&routed, &seed);
	make_fabric();
	input.min_capacity = 0;
	input.max_out = 10;
	add_bad(switch_port(0, 1));
	add_bad(switch_port(0, 2));
	add_bad(switch_port(1, 1));
	add_bad(switch_port(2, 1));
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(2, 1)), TRIAD_HEAL_ONLY_WAY);
	/* One of the two that the first leaf has. */
	ck_assert_int_eq(why_at(switch_port(0, 1)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(0, 2)), TRIAD_HEAL_ONLY_WAY);
}
END_TEST

START_TEST(test_plan_unknown_is_not_taken)
{
	uint32_t port;

	make_tree();
	port = switch_port(1, 2);
	add_bad(port);
	input.check = NULL;
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_NO_ROUTES);
	ck_assert(!proposal_at(port)->cost.is_known);
	ck_assert_uint_eq(proposal_at(port)->tier[1], 2);
	input.check = check;
	fabric->sm_port = TRIAD_FABRIC_NONE;
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_NO_SM);
	fabric->sm_port = host_port(0);
	findings[0].is_sure = false;
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_NOT_SURE);
	/* Another finding of the link is. */
	add_finding(TRIAD_HEAL_SLOW, port, true, 2);
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_TAKE);
}
END_TEST

/* Leaves in a ring, and with a spine. */
START_TEST(test_plan_no_tree_has_no_shares)
{
	uint64_t seed = 1;

	begin();
	routed_init(&routed, 5);
	for (unsigned sw = 0; sw < 4; sw++)
		routed_link(&routed, sw, 4);
	for (unsigned sw = 0; sw < 4; sw++) {
		routed_link(&routed, sw, (sw + 1) % 4);
		routed_add_host(&routed, sw);
	}
	routed_route(&routed, &seed);
	make_fabric();
	add_bad(switch_port(0, 1));
	make_plan();
	ck_assert_uint_eq(proposal_at(switch_port(0, 1))->tier[1], 2);
	ck_assert_int_eq(why_at(switch_port(0, 1)), TRIAD_HEAL_NO_TIERS);
	ck_assert(isnan(proposal_at(switch_port(0, 1))->cost.share));
	ck_assert(proposal_at(switch_port(0, 1))->cost.is_known);
}
END_TEST

START_TEST(test_plan_max_out_of_tier_and_those_out_count)
{
	uint32_t taken, gone;

	make_tree();
	for (unsigned leaf = 1; leaf < 4; leaf++)
		add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(leaf, leaf), true,
			10 - leaf);
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(3, 3)), TRIAD_HEAL_TIER_FULL);
	taken = switch_port(0, 1);
	gone = switch_port(0, 2);
	out[0] = (struct triad_heal_out){ends_at(taken), true};
	input.n_out = 1;
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TIER_FULL);
	/* One that is down by itself does not. */
	out[0] = (struct triad_heal_out){ends_at(gone), false};
	make_plan();
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TAKE);
}
END_TEST

START_TEST(test_plan_capacity_counts_links_that_are_missing)
{
	uint64_t seed = 1;

	make_tree();
	add_bad(switch_port(1, 3));
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 3)), TRIAD_HEAL_TAKE);
	out[0] = (struct triad_heal_out){ends_at(switch_port(1, 1)), false};
	input.n_out = 1;
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 3)), TRIAD_HEAL_CAPACITY);
	ck_assert_double_eq_tol(
		proposal_at(switch_port(1, 3))->cost.share, 1.0 / 3, 1e-9);
	/* The same where the fabric lacks it. */
	end();
	routed.far[routed.far[1][1].to][routed.far[1][1].port].kind = ROUTED_NOTHING;
	routed.far[1][1].kind = ROUTED_NOTHING;
	routed_route(&routed, &seed);
	make_fabric();
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 3)), TRIAD_HEAL_CAPACITY);
	ck_assert_double_eq_tol(
		proposal_at(switch_port(1, 3))->cost.share, 1.0 / 3, 1e-9);
}
END_TEST

START_TEST(test_plan_link_that_is_out_is_not_taken_again)
{
	uint32_t port;

	make_tree();
	port = switch_port(1, 2);
	add_bad(port);
	out[0] = (struct triad_heal_out){ends_at(port), true};
	input.n_out = 1;
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_IS_OUT);
	input.n_out = 0;
	fabric->ports[port].is_held = true;
	make_plan();
	ck_assert_int_eq(why_at(port), TRIAD_HEAL_IS_OUT);
}
END_TEST

START_TEST(test_plan_more_than_may_be_judged_are_not_taken)
{
	make_tree();
	input.max_judged = 1;
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(1, 1), true, 5);
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(2, 2), true, 4);
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_TAKE);
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TOO_MANY);
	ck_assert(!proposal_at(switch_port(2, 2))->cost.is_known);
}
END_TEST

START_TEST(test_plan_only_some_are_counted)
{
	make_tree();
	input.max_counted = 1;
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(1, 1), true, 5);
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(2, 2), true, 4);
	make_plan();
	ck_assert_uint_ne(
		proposal_at(switch_port(1, 1))->cost.worst, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(
		proposal_at(switch_port(2, 2))->cost.worst, TRIAD_FABRIC_NONE);
	ck_assert(proposal_at(switch_port(2, 2))->cost.is_known);
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TAKE);
}
END_TEST

START_TEST(test_plan_whose_costs_nobody_reads_has_pairs_of_those_taken)
{
	make_tree();
	input.max_counted = 0;
	input.max_out = 1;
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(1, 1), true, 5);
	add_finding(TRIAD_HEAL_BIT_ERRORS, switch_port(2, 2), true, 4);
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_TAKE);
	ck_assert(proposal_at(switch_port(1, 1))->cost.is_known);
	ck_assert_int_eq(why_at(switch_port(2, 2)), TRIAD_HEAL_TIER_FULL);
	ck_assert(!proposal_at(switch_port(2, 2))->cost.is_known);
	input.check = NULL;
	make_plan();
	ck_assert_int_eq(why_at(switch_port(1, 1)), TRIAD_HEAL_NO_ROUTES);
}
END_TEST

/* A leaf and a switch above it, and beside them leaves with two tiers above them. */
START_TEST(test_plan_parts_of_different_height_have_shares)
{
	uint64_t seed = 1;

	begin();
	routed_init(&routed, 6);
	for (unsigned leaf = 0; leaf < 2; leaf++) {
		routed_link(&routed, leaf, 2);
		routed_link(&routed, leaf, 3);
		routed_link(&routed, leaf, 4);
		routed_add_host(&routed, leaf);
	}
	routed_link(&routed, 2, 5); /* 3 and 4 have nothing above them */
	routed_route(&routed, &seed);
	make_fabric();
	add_bad(switch_port(1, 2));
	input.min_capacity = 0.7;
	make_plan();
	ck_assert_double_eq_tol(
		proposal_at(switch_port(1, 2))->cost.share, 2.0 / 3, 1e-9);
	ck_assert_int_eq(why_at(switch_port(1, 2)), TRIAD_HEAL_CAPACITY);
}
END_TEST

/* The link with the most pairs of those between switches that have more than in 'before'. */
static uint64_t most_pairs(const struct triad_routes_without *then,
	const struct triad_routes_without *before)
{
	uint64_t most = 0;

	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned n = 1; n <= 3; n++) {
			uint32_t ends[2] = {switch_port(leaf, n)};

			ends[1] = fabric->ports[ends[0]].remote;
			for (unsigned i = 0; i < 2; i++)
				if (then->pairs[ends[i]] > before->pairs[ends[i]] &&
					then->pairs[ends[i]] > most)
					most = then->pairs[ends[i]];
		}
	return most;
}

static void check_worst_of_second(uint32_t first, uint32_t second)
{
	struct triad_routes_without *before, *then;
	const struct triad_heal_cost *cost;

	input.n_findings = 0;
	add_finding(TRIAD_HEAL_BIT_ERRORS, first, true, 5);
	add_finding(TRIAD_HEAL_BIT_ERRORS, second, true, 4);
	make_plan();
	ck_assert_int_eq(why_at(second), TRIAD_HEAL_TAKE);
	cost = &proposal_at(second)->cost;
	ck_assert_int_eq(triad_routes_without_make(check, &first, 1, &before), 0);
	ck_assert_int_eq(
		triad_routes_without_make(check, (uint32_t[]){first, second}, 2, &then),
		0);
	ck_assert_uint_eq(cost->worst_pairs, most_pairs(then, before));
	/* A link that nobody uses is missed nowhere. */
	ck_assert_int_eq(cost->worst == TRIAD_FABRIC_NONE, !cost->worst_pairs);
	if (cost->worst_pairs)
		ck_assert_uint_eq(cost->worst_before, before->pairs[cost->worst]);
	triad_routes_without_free(before);
	triad_routes_without_free(then);
}

START_TEST(test_plan_worst_link_is_one_that_gets_more_by_this_one)
{
	make_tree();
	for (unsigned leaf = 0; leaf < 3; leaf++)
		for (unsigned n = 1; n <= 3; n++)
			for (unsigned other = 1; other <= 3; other++) {
				check_worst_of_second(switch_port(leaf, n),
					switch_port(leaf + 1, other));
				check_worst_of_second(switch_port(leaf + 1, n),
					switch_port(leaf, other));
			}
}
END_TEST

START_TEST(test_plan_every_word_and_text_is_there)
{
	for (unsigned i = 0; i < TRIAD_HEAL_N_KINDS; i++)
		ck_assert_uint_gt(strlen(triad_heal_kind_name(i)), 1);
	for (unsigned i = 0; i < TRIAD_HEAL_N_REMEDIES; i++) {
		ck_assert_uint_gt(strlen(triad_heal_remedy_name(i)), 1);
		ck_assert_uint_gt(strlen(triad_heal_remedy_text(i)), 1);
	}
	for (unsigned i = 0; i < TRIAD_HEAL_N_WHYS; i++) {
		ck_assert_uint_gt(strlen(triad_heal_why_name(i)), 1);
		ck_assert_int_eq(triad_heal_why_text(i) == NULL, i == TRIAD_HEAL_TAKE);
	}
}
END_TEST

/* --- random trees --- */

/* Leaves, perhaps switches above them, and tops; some links are parallel. */
static void make_random_tree(uint64_t *state)
{
	unsigned n_leaves = 2 + random_below(state, 3), n_mids = random_below(state, 4);
	unsigned n_tops = 1 + random_below(state, 3);
	unsigned first_mid = n_leaves, first_top = n_leaves + n_mids;

	routed_init(&routed, first_top + n_tops);
	for (unsigned leaf = 0; leaf < n_leaves; leaf++) {
		for (unsigned i = 0; i < 2; i++)
			routed_add_host(&routed, leaf);
		for (unsigned mid = first_mid; mid < first_top; mid++)
			if (random_below(state, 4))
				routed_link(&routed, leaf, mid);
		for (unsigned top = first_top; !n_mids && top < first_top + n_tops;
			top++)
			for (unsigned i = 1 + random_below(state, 2); i; i--)
				routed_link(&routed, leaf, top);
	}
	for (unsigned mid = first_mid; mid < first_top; mid++)
		for (unsigned top = first_top; top < first_top + n_tops; top++)
			if (random_below(state, 5))
				routed_link(&routed, mid, top);
}

static bool is_link(unsigned sw, unsigned number)
{
	return routed.far[sw][number].kind == ROUTED_SWITCH;
}

static void set_down(unsigned sw, unsigned number, bool is_down)
{
	const struct routed_far *far = &routed.far[sw][number];

	routed.far[sw][number].is_down = is_down;
	routed.far[far->to][far->port].is_down = is_down;
}

/* Walks all ways up from a switch, one by one. */
static unsigned walk_up(unsigned sw, const unsigned *levels, bool all)
{
	unsigned n = 0;
	bool is_top = true;

	for (unsigned p = 1; p < ROUTED_PORTS; p++) {
		if (!is_link(sw, p) || levels[routed.far[sw][p].to] <= levels[sw])
			continue;
		is_top = false;
		if (all || !routed.far[sw][p].is_down)
			n += walk_up(routed.far[sw][p].to, levels, all);
	}
	return is_top ? 1 : n;
}

/* The least share of those that lose paths when the link goes, which is down afterwards. */
static double least_share(unsigned sw, unsigned number, const unsigned *levels)
{
	double share = 1;
	unsigned before[ROUTED_SWITCHES];

	for (unsigned i = 0; i < routed.n_switches; i++)
		before[i] = walk_up(i, levels, false);
	set_down(sw, number, true);
	for (unsigned i = 0; i < routed.n_switches; i++) {
		double left = walk_up(i, levels, false);

		if (left < before[i] && left / walk_up(i, levels, true) < share)
			share = left / walk_up(i, levels, true);
	}
	return share;
}

static uint64_t count_connected(void)
{
	uint64_t n = 0;

	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++)
			n += a != b &&
				routed_distance(&routed, routed.host_switch[a],
					routed.host_switch[b]) != ROUTED_NONE;
	return n;
}

static unsigned lower_level(const unsigned *levels, unsigned sw, unsigned far)
{
	return levels[sw] < levels[far] ? levels[sw] : levels[far];
}

/* Follows the plan with the oracle.  Returns how many links it takes. */
static unsigned follow_plan(unsigned long seed, const unsigned *levels)
{
	uint64_t n_connected = count_connected();
	unsigned n = 0, n_of_tier[8] = {0};

	for (uint32_t i = 0; i < input.n_out; i++)
		if (out[i].is_taken)
			n_of_tier[lower_level(levels,
				(unsigned)(out[i].ends.guid - 0x1000) / 16,
				(unsigned)(out[i].ends.far_guid - 0x1000) / 16)]++;
	for (uint32_t i = 0; i < plan->n; i++) {
		const struct triad_heal_proposal *proposal = &plan->proposals[i];
		const struct triad_fabric_port *port = &fabric->ports[proposal->port];
		unsigned sw = (unsigned)(fabric->nodes[port->node].guid - 0x1000) / 16;
		unsigned far = routed.far[sw][port->number].to;
		unsigned tier = lower_level(levels, sw, far);
		double share;

		if (proposal->why == TRIAD_HEAL_IS_OUT)
			continue;
		share = least_share(sw, port->number, levels);
		ck_assert_msg(fabs(share - proposal->cost.share) < 1e-9,
			"seed %lu: proposal %" PRIu32 " leaves %g, not %g", seed, i,
			share, proposal->cost.share);
		if (proposal->why != TRIAD_HEAL_TAKE) {
			ck_assert_msg(proposal->why != TRIAD_HEAL_CAPACITY ||
					share < input.min_capacity,
				"seed %lu", seed);
			ck_assert_msg(proposal->why != TRIAD_HEAL_TIER_FULL ||
					n_of_tier[tier] >= input.max_out,
				"seed %lu", seed);
			set_down(sw, port->number, false);
			continue;
		}
		ck_assert_msg(share >= input.min_capacity, "seed %lu", seed);
		ck_assert_msg(++n_of_tier[tier] <= input.max_out, "seed %lu", seed);
		ck_assert_msg(count_connected() == n_connected, "seed %lu", seed);
		n++;
	}
	ck_assert_msg(n == plan->n_take, "seed %lu", seed);
	return n;
}

static void add_random(uint64_t *state, unsigned sw, unsigned number)
{
	if (!random_below(state, 8) && input.n_out < MAX_OUT) {
		const struct routed_far *far = &routed.far[sw][number];

		set_down(sw, number, true);
		out[input.n_out++] = (struct triad_heal_out){
			triad_damp_ends_of(switch_guid(sw), (uint8_t)number,
				switch_guid(far->to), (uint8_t)far->port),
			random_below(state, 2)};
	}
}

/* One random fabric.  Returns how many links are taken; 'is_tree' says what it is. */
static unsigned try_random(unsigned long seed, bool *is_tree)
{
	uint64_t state = seed;
	unsigned levels[ROUTED_SWITCHES], top = 0;

	begin();
	input.max_out = 1 + random_below(&state, 4);
	input.min_capacity = random_below(&state, 10) / 10.0;
	make_random_tree(&state);
	routed_levels(&routed, levels);
	*is_tree = routed_is_tree(&routed, levels);
	for (unsigned sw = 0; sw < routed.n_switches; sw++) {
		top = levels[sw] > top ? levels[sw] : top;
		for (unsigned p = 1; p < ROUTED_PORTS; p++)
			if (is_link(sw, p) && routed.far[sw][p].to > sw)
				add_random(&state, sw, p);
	}
	if (*is_tree) { /* with those that are down it may be none, or another one */
		unsigned now[ROUTED_SWITCHES];

		routed_levels(&routed, now);
		*is_tree = routed_is_tree(&routed, now) &&
			!memcmp(now, levels, routed.n_switches * sizeof(*now));
	}
	routed_route(&routed, &state);
	make_fabric();
	for (unsigned sw = 0; sw < routed.n_switches; sw++)
		for (unsigned p = 1; p < ROUTED_PORTS; p++)
			if (is_link(sw, p) && random_below(&state, 3) &&
				input.n_findings < MAX_FINDINGS)
				add_finding(random_below(&state, TRIAD_HEAL_RESTARTS),
					switch_port(sw, p), random_below(&state, 8),
					random_below(&state, 5));
	make_plan();
	return *is_tree && top > 1 ? follow_plan(seed, levels) : plan->n_take;
}

START_TEST(test_plan_random_trees_keep_capacity_and_pairs)
{
	unsigned n_trees = 0, n_taken = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		bool is_tree;
		unsigned n = try_random(seed, &is_tree);

		n_trees += is_tree;
		n_taken += is_tree ? n : 0;
		end();
	}
	ck_assert_uint_gt(n_trees, N_FABRICS / 4);
	ck_assert_uint_gt(n_taken, n_trees / 4);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("plan");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_plan_no_findings_nothing);
	tcase_add_test(cases, test_plan_both_ends_one_proposal);
	tcase_add_test(cases, test_plan_order_is_that_of_ranks_then_sure_then_times);
	tcase_add_test(cases, test_plan_port_without_link_is_counted);
	tcase_add_test(cases, test_plan_one_of_three_uplinks_its_cost_is_known);
	tcase_add_test(cases, test_plan_second_of_three_uplinks_hosts_have_one_path);
	tcase_add_test(cases, test_plan_remedies_slower_only_where_both_ends_can);
	tcase_add_test(cases, test_plan_host_and_sm_are_proposed_only);
	tcase_add_test(cases, test_plan_only_way_is_proposed_only);
	tcase_add_test(cases, test_plan_unknown_is_not_taken);
	tcase_add_test(cases, test_plan_no_tree_has_no_shares);
	tcase_add_test(cases, test_plan_max_out_of_tier_and_those_out_count);
	tcase_add_test(cases, test_plan_capacity_counts_links_that_are_missing);
	tcase_add_test(cases, test_plan_link_that_is_out_is_not_taken_again);
	tcase_add_test(cases, test_plan_more_than_may_be_judged_are_not_taken);
	tcase_add_test(cases, test_plan_only_some_are_counted);
	tcase_add_test(
		cases, test_plan_whose_costs_nobody_reads_has_pairs_of_those_taken);
	tcase_add_test(cases, test_plan_parts_of_different_height_have_shares);
	tcase_add_test(cases, test_plan_worst_link_is_one_that_gets_more_by_this_one);
	tcase_add_test(cases, test_plan_every_word_and_text_is_there);
	tcase_add_test(cases, test_plan_random_trees_keep_capacity_and_pairs);
	return run_cases(cases);
}
