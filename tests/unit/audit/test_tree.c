/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "audit/tree.h"

#include <inttypes.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define MAX_SWITCHES 12u
#define MAX_LINKS 32u

static struct triad_tree_switch switches[MAX_SWITCHES];
static struct triad_tree_link links[MAX_LINKS];
static unsigned n_switches, n_links;

static bool is_used(unsigned link, bool of_all)
{
	return links[link].is_mutual || of_all;
}

/* Goes over links from one switch, by no link twice in a row: a switch that is come to again is in a
 * circle. */
static bool walk(unsigned at, unsigned by, bool of_all, bool *seen)
{
	bool is_tree = !seen[at];

	seen[at] = true;
	for (unsigned i = 0; is_tree && i < n_links; i++) {
		if (i == by || !is_used(i, of_all))
			continue;
		if (links[i].from == at)
			is_tree = walk(links[i].to, i, of_all, seen);
		else if (links[i].to == at)
			is_tree = walk(links[i].from, i, of_all, seen);
	}
	return is_tree;
}

static bool is_wanted(unsigned sw, bool of_all)
{
	bool is_wanted = switches[sw].has_members;

	for (unsigned i = 0; i < n_links; i++)
		is_wanted |= is_used(i, of_all) &&
			(links[i].from == sw || links[i].to == sw);
	return is_wanted;
}

static bool is_tree_by_walking(bool of_all)
{
	bool seen[MAX_SWITCHES] = {false}, is_tree = true;
	unsigned first = 0;

	while (first < n_switches && !is_wanted(first, of_all))
		first++;
	if (first < n_switches)
		is_tree = walk(first, MAX_LINKS, of_all, seen);
	for (unsigned i = 0; i < n_switches; i++)
		is_tree &= seen[i] || !is_wanted(i, of_all);
	return is_tree;
}

static enum triad_tree judge_by_walking(void)
{
	if (is_tree_by_walking(false))
		return TRIAD_TREE_OF_MUTUAL_LINKS;
	return is_tree_by_walking(true) ? TRIAD_TREE_OF_ALL_LINKS : TRIAD_TREE_NONE;
}

static void add_link(unsigned from, unsigned to, bool is_mutual)
{
	links[n_links++] = (struct triad_tree_link){from, to, is_mutual};
}

/* A tree, from which some is taken and to which some is added. */
static void make_case(uint64_t *dice)
{
	n_switches = 1 + random_below(dice, MAX_SWITCHES);
	n_links = 0;
	for (unsigned i = 0; i < n_switches; i++)
		switches[i].has_members = !random_below(dice, 3);
	for (unsigned i = 1; i < n_switches; i++)
		if (random_below(dice, 12))
			add_link(i, random_below(dice, i), random_below(dice, 8));
	for (unsigned i = random_below(dice, 3); i; i--)
		add_link(random_below(dice, n_switches), random_below(dice, n_switches),
			random_below(dice, 2));
}

START_TEST(test_random_links_are_judged_as_by_walking)
{
	unsigned n_of[3] = {0};

	for (uint64_t seed = 1; seed <= 20000; seed++) {
		uint64_t dice = seed;
		enum triad_tree expected, tree;

		make_case(&dice);
		expected = judge_by_walking();
		tree = triad_tree_judge(links, n_links, switches, n_switches);
		ck_assert_msg(tree == expected, "seed %" PRIu64 ": %d, not %d", seed,
			(int)tree, (int)expected);
		n_of[tree]++;
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_gt(n_of[i], 1000);
}
END_TEST

START_TEST(test_no_links_make_a_tree_of_one_switch_alone)
{
	memset(switches, 0, sizeof(switches));
	ck_assert_int_eq(
		triad_tree_judge(NULL, 0, NULL, 0), TRIAD_TREE_OF_MUTUAL_LINKS);
	switches[3].has_members = true;
	ck_assert_int_eq(triad_tree_judge(links, 0, switches, MAX_SWITCHES),
		TRIAD_TREE_OF_MUTUAL_LINKS);
	switches[5].has_members = true;
	ck_assert_int_eq(
		triad_tree_judge(links, 0, switches, MAX_SWITCHES), TRIAD_TREE_NONE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("tree");

	tcase_add_test(cases, test_random_links_are_judged_as_by_walking);
	tcase_add_test(cases, test_no_links_make_a_tree_of_one_switch_alone);
	return run_cases(cases);
}
