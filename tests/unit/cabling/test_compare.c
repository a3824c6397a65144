/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Comparisons of cabling, of the model in model.h. */
#include <errno.h>
#include <inttypes.h>

#include "ib/link.h"
#include "tests/unit/cabling/model.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"

/* --- against all shortest lists ---------------------------------------- */

#define N_SMALL 6
#define MAX_MATCHINGS 76

static uint32_t matchings[MAX_MATCHINGS][N_SMALL];
static unsigned n_matchings, distances[MAX_MATCHINGS];

static unsigned find_matching(const uint32_t *far)
{
	unsigned i = 0;

	while (memcmp(matchings[i], far, sizeof(matchings[i])) != 0)
		i++;
	return i;
}

static void list_matchings(uint32_t *far, unsigned from)
{
	while (from < N_SMALL && far[from] != FREE)
		from++;
	if (from == N_SMALL) {
		memcpy(matchings[n_matchings++], far, sizeof(matchings[0]));
		return;
	}
	far[from] = from; /* it stays free */
	for (unsigned i = from + 1; i < N_SMALL; i++)
		if (far[i] == FREE) {
			far[from] = i;
			far[i] = from;
			list_matchings(far, from + 1);
			far[i] = FREE;
			far[from] = from;
		}
	list_matchings(far, from + 1);
	far[from] = FREE;
}

static void reach(const uint32_t *far, unsigned distance, unsigned *queue, unsigned *n)
{
	unsigned found = find_matching(far);

	if (distances[found] != UINT32_MAX)
		return;
	distances[found] = distance;
	queue[(*n)++] = found;
}

/* All that one move, swap, put or take-out makes of a matching: two ports exchange what
 * is in them, or a pair is joined or parted. */
static void reach_from(unsigned from, unsigned *queue, unsigned *n)
{
	for (unsigned a = 0; a < N_SMALL; a++)
		for (unsigned b = a + 1; b < N_SMALL; b++) {
			uint32_t far[N_SMALL];
			uint32_t far_a = matchings[from][a], far_b = matchings[from][b];

			memcpy(far, matchings[from], sizeof(far));
			if (far_a == b || (far_a == a && far_b == b)) {
				far[a] = far_a == b ? a : b;
				far[b] = far_a == b ? b : a;
			} else {
				far[a] = far_b == b ? a : far_b;
				far[b] = far_a == a ? b : far_a;
				far[far[a]] = a;
				far[far[b]] = b;
			}
			reach(far, distances[from] + 1, queue, n);
		}
}

static void find_distances(unsigned from)
{
	unsigned queue[MAX_MATCHINGS], n = 0;

	memset(distances, 0xff, sizeof(distances));
	reach(matchings[from], 0, queue, &n);
	for (unsigned i = 0; i < n; i++)
		reach_from(queue[i], queue, &n);
	ck_assert_uint_eq(n, n_matchings);
}

static void take_matching(unsigned matching)
{
	for (unsigned i = 0; i < N_SMALL; i++)
		model.far[i] =
			matchings[matching][i] == i ? FREE : matchings[matching][i];
}

START_TEST(test_compare_all_small_fabrics_gives_shortest_lists)
{
	uint32_t far[N_SMALL];

	memset(far, 0xff, sizeof(far));
	list_matchings(far, 0);
	ck_assert_uint_eq(n_matchings, MAX_MATCHINGS);
	add_node("switch", N_SMALL, false);
	for (unsigned to = 0; to < n_matchings; to++) {
		take_matching(to);
		plan_model();
		find_distances(to);
		for (unsigned from = 0; from < n_matchings; from++) {
			take_matching(from);
			/* An empty plan has no node: all is outside. */
			if (!plan->n_links)
				continue;
			ck_assert_int_eq(compare(), 0);
			ck_assert_uint_eq(carry_out_all(), distances[from]);
		}
	}
}
END_TEST

/* --- random trees ------------------------------------------------------ */

static void run_tree(uint64_t run)
{
	unsigned n_faults = 0, n_tries;

	seed = run;
	build_tree();
	plan_model();
	n_tries = random_below(&seed, 12);
	for (unsigned i = 0; i < n_tries; i++)
		n_faults += miscable();
	ck_assert_msg(!compare(), "run %" PRIu64, run);
	ck_assert_uint_eq(result->n_items, result->n_deviations);
	ck_assert_msg(
		carry_out_all() <= n_faults, "run %" PRIu64 ": more than faults", run);
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	ck_assert_uint_eq(result->n_right, result->n_planned);
}

START_TEST(test_compare_random_trees_are_mended_by_no_more_items_than_faults)
{
	for (uint64_t run = 1; run <= 5000; run++) {
		run_tree(run);
		tear_down();
		set_up();
	}
}
END_TEST

/* --- one at a time ----------------------------------------------------- */

static void expect(uint32_t i, enum triad_cabling_kind kind, uint32_t n)
{
	ck_assert_uint_lt(i, result->n_items);
	ck_assert_str_eq(triad_cabling_kind_name(result->items[i].kind),
		triad_cabling_kind_name(kind));
	ck_assert_uint_eq(result->items[i].n, n);
}

static void build_pair(void)
{
	add_node("leaf", 8, false);
	add_node("spine", 8, false);
	for (unsigned port = 1; port <= 4; port++)
		connect(at(0, port), at(1, port));
	plan_model();
}

START_TEST(test_compare_crossed_cables_gives_one_swap)
{
	build_pair();
	swap_ends(at(0, 1), at(0, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_SWAP, 2);
	ck_assert_uint_eq(
		result->items[0].ports[0].node, result->items[0].ports[1].node);
}
END_TEST

START_TEST(test_compare_node_that_is_lost_gives_one_item)
{
	build_pair();
	plan->n_links = 0;
	for (unsigned port = 1; port <= 4; port++) {
		plan_link(at(0, port), at(1, port));
		/* The same from the other end. */
		plan_link(at(1, port), at(0, port))->ends[0] = end_by_guid(at(1, port));
	}
	model.is_lost[1] = true;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 4);
	ck_assert_uint_eq(result->n_deviations, 0);
	/* Where its first cable is planned. */
	ck_assert_uint_eq(result->items[0].n_ports, 1);
	ck_assert_uint_eq(port_at(result->items[0].ports[0]), at(0, 1));
	ck_assert_uint_eq(result->items[0].link, 0);
}
END_TEST

/* A host may have another name than planned, for a while: nothing is to be taken out. */
START_TEST(test_compare_node_of_another_name_is_not_extra)
{
	add_node("leaf", 4, false);
	add_node("host-1", 1, true);
	plan_link(at(0, 1), at(1, 1))->ends[1] = end_by_name(at(1, 1));
	snprintf(model.names[1], sizeof(model.names[1]), "localhost");
	connect(at(0, 1), at(1, 1));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 1);
}
END_TEST

START_TEST(test_compare_name_of_several_nodes_is_not_guessed)
{
	add_node("leaf", 4, false);
	add_node("Quantum", 4, false);
	add_node("Quantum", 4, false);
	for (unsigned port = 1; port <= 2; port++)
		plan_link(at(0, port), at(1, port))->ends[1] = end_by_name(at(1, port));
	connect(at(0, 1), at(1, 1));
	connect(at(0, 2), at(2, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NAME_SHARED, 2);
	/* The end of the GUID says which one. */
	snprintf(model.names[3], sizeof(model.names[3]), "Quantum#001001");
	plan->links[0].ends[1].name = triad_cabling_plan_keep(plan, model.names[3]);
	plan->links[1].ends[1].name = plan->links[0].ends[1].name;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_MOVE, 1);
}
END_TEST

/* Of two hosts of one name, one is gone. */
START_TEST(test_compare_guid_that_is_gone_is_not_taken_by_name)
{
	add_node("leaf", 4, false);
	add_node("factory", 1, true);
	add_node("factory", 1, true);
	for (unsigned i = 1; i <= 2; i++) {
		struct triad_cabling_link *link = plan_link(at(0, i), at(i, 1));

		link->ends[1].name = triad_cabling_plan_keep(plan, "factory");
		connect(at(0, i), at(i, 1));
	}
	model.is_lost[1] = true;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 1);
	ck_assert_uint_eq(result->n_right, 1);
}
END_TEST

START_TEST(test_compare_port_that_was_not_read_is_unknown)
{
	static const uint8_t states[] = {TRIAD_PHYS_DISABLED, TRIAD_PHYS_LINK_UP,
		TRIAD_PHYS_TRAINING, TRIAD_PHYS_SLEEP};

	build_pair();
	disconnect(at(0, 1));
	for (unsigned i = 0; i < sizeof(states); i++) {
		model.phys_state[at(1, 1)] = states[i];
		ck_assert_int_eq(compare(), 0);
		ck_assert_uint_eq(result->n_items, 1);
		expect(0, TRIAD_CABLING_PORT_UNKNOWN, 1);
		ck_assert_uint_eq(result->n_right, 3);
	}
	model.phys_state[at(1, 1)] = 0;
	ck_assert_int_eq(compare(), 0);
	expect(0, TRIAD_CABLING_PUT, 1);
}
END_TEST

START_TEST(test_compare_port_that_switch_lacks_is_absent)
{
	build_pair();
	plan_link(at(0, 9), at(1, 6));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_PORT_ABSENT, 1);
}
END_TEST

START_TEST(test_compare_other_rate_is_to_be_replaced)
{
	build_pair();
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].speed = TRIAD_SPEED_EDR;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_right, 4);
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].speed = TRIAD_SPEED_HDR;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_right, 0);
	ck_assert_uint_eq(result->n_deviations, 4);
	expect(0, TRIAD_CABLING_REPLACE, 1);
	ck_assert_uint_eq(result->items[0].what, TRIAD_CABLING_RATE);
}
END_TEST

START_TEST(test_compare_length_that_was_not_read_is_unknown)
{
	static struct triad_cabling_cable cables[2 * 8];

	build_pair();
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].length_dm = 30;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_LENGTH_UNKNOWN, 4);
	ck_assert_uint_eq(result->n_deviations, 0);
	for (unsigned i = 0; i < 16; i++)
		cables[i] = (struct triad_cabling_cable){true, i == 8 ? 50 : 30};
	cables[0].length_dm = 0; /* the other end tells of it */
	triad_cabling_result_free(result);
	ck_assert_int_eq(
		triad_cabling_compare(plan, fabric, cables, &diags, &result), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_REPLACE, 1);
	ck_assert_uint_eq(result->items[0].what, TRIAD_CABLING_LENGTH);
}
END_TEST

START_TEST(test_compare_contradictions_have_lines)
{
	build_pair();
	plan_link(at(0, 1), at(1, 7))->line = 77;
	plan_link(at(0, 7), at(0, 7))->line = 88;
	plan_link(at(0, 6), at(1, 2))->line = 99;
	ck_assert_int_eq(compare(), EINVAL);
	ck_assert_uint_eq(diags.n, 3);
	ck_assert_uint_eq(diags.entries[0].line, 77);
	ck_assert_uint_eq(diags.entries[1].line, 88);
	ck_assert_uint_eq(diags.entries[2].line, 99);
	assert_mentions(diags.entries[0].text, "leaf:1");
}
END_TEST

START_TEST(test_compare_silence_of_a_part_of_a_plan_is_no_extra)
{
	struct triad_cabling_port_plan port = {.is_free = true};

	build_pair();
	connect(at(0, 8), at(1, 8));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_TAKE_OUT, 1);
	plan->judges_all = false;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	port.end = end_by_name(at(1, 8));
	triad_cabling_plan_add_port(plan, &port);
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	plan->judges_all = true;
	plan->ports[0].is_free = false; /* any far end will do */
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
}
END_TEST

START_TEST(test_compare_nodes_outside_of_the_plan_are_counted)
{
	build_pair();
	add_node("new", 4, false);
	connect(at(2, 1), at(2, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	ck_assert_uint_eq(result->n_outside, 1);
}
END_TEST

/* With and without each allocation. */
START_TEST(test_compare_short_of_memory_says_so)
{
	int error = ENOMEM;
	unsigned n = 0;

	build_pair();
	plan_link(at(0, 7), at(1, 7))->ends[0].port = 77;
	plan_link(at(0, 8), at(1, 8))->ends[0].guid = 0xabc;
	swap_ends(at(0, 1), at(0, 2));
	swap_ends(at(0, 3), at(0, 4));
	swap_ends(at(0, 2), at(0, 3));
	build_fabric();
	while (error) {
		refuse(++n);
		error = triad_cabling_compare(plan, fabric, NULL, &diags, &result);
		ck_assert_int_eq(error, refused() ? ENOMEM : 0);
	}
	ck_assert_uint_gt(n, 10);
	expect(0, TRIAD_CABLING_RING, 4);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("compare");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_compare_all_small_fabrics_gives_shortest_lists);
	tcase_add_test(cases,
		test_compare_random_trees_are_mended_by_no_more_items_than_faults);
	tcase_add_test(cases, test_compare_crossed_cables_gives_one_swap);
	tcase_add_test(cases, test_compare_node_that_is_lost_gives_one_item);
	tcase_add_test(cases, test_compare_node_of_another_name_is_not_extra);
	tcase_add_test(cases, test_compare_name_of_several_nodes_is_not_guessed);
	tcase_add_test(cases, test_compare_guid_that_is_gone_is_not_taken_by_name);
	tcase_add_test(cases, test_compare_port_that_was_not_read_is_unknown);
	tcase_add_test(cases, test_compare_port_that_switch_lacks_is_absent);
	tcase_add_test(cases, test_compare_other_rate_is_to_be_replaced);
	tcase_add_test(cases, test_compare_length_that_was_not_read_is_unknown);
	tcase_add_test(cases, test_compare_contradictions_have_lines);
	tcase_add_test(cases, test_compare_silence_of_a_part_of_a_plan_is_no_extra);
	tcase_add_test(cases, test_compare_nodes_outside_of_the_plan_are_counted);
	tcase_add_test(cases, test_compare_short_of_memory_says_so);
	return run_cases(cases);
}
