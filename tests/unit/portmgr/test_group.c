/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/group.h"

#include "tests/unit/run.h"

enum { MOST = TRIAD_CLUSTER_MAX_MEMBERS };

static struct triad_group before;
/* 'behind' lies after the group in memory; it must never change. */
static struct {
	struct triad_group group;
	uint64_t behind;
} here;
static struct triad_group *const group = &here.group;

static void begin(void)
{
	triad_group_begin(&before);
	triad_group_begin(group);
	here.behind = 1;
}

START_TEST(test_member_that_stays_keeps_its_id)
{
	triad_group_add(&before, group, 1, 10);
	triad_group_add(&before, group, 2, 20);
	ck_assert(triad_group_name(&before, 2, 20, 0x22));
	triad_group_add(group, &before, 2, 20);
	triad_group_add(group, &before, 2, 21);
	ck_assert_uint_eq(triad_group_find(group, 2, 20)->id, 0x22);
	ck_assert_uint_eq(triad_group_find(group, 2, 21)->id, 0);
	ck_assert_ptr_null(triad_group_find(group, 1, 10));
	ck_assert(!triad_group_name(group, 1, 10, 0x11));
}
END_TEST

START_TEST(test_members_beyond_the_room_are_counted_and_not_kept)
{
	const struct triad_group_ring ring = {.is_known = true};
	struct triad_cluster_view view;

	for (unsigned i = 0; i < MOST + 2; i++)
		triad_group_add(group, &before, i, 1);
	ck_assert_uint_eq(group->n, MOST + 2);
	ck_assert_uint_eq(here.behind, 1);
	for (unsigned i = 0; i < MOST; i++)
		ck_assert(triad_group_name(group, i, 1, i + 1));
	for (unsigned i = MOST; i < MOST + 2; i++)
		ck_assert_ptr_null(triad_group_find(group, i, 1));
	view = triad_group_view(group, &ring, MOST);
	ck_assert_uint_eq(view.n_members, MOST);
	ck_assert(!view.is_quorate);
	for (unsigned i = 0; i < MOST; i++)
		ck_assert_uint_eq(view.members[i], i + 1);
}
END_TEST

START_TEST(test_member_that_is_listed_twice_counts_once)
{
	triad_group_add(&before, &before, 1, 10);
	triad_group_name(&before, 1, 10, 5);
	triad_group_add(group, &before, 1, 10);
	triad_group_add(group, &before, 1, 10);
	ck_assert_uint_eq(group->n, 1);
}
END_TEST

START_TEST(test_id_of_another_is_found)
{
	triad_group_add(group, &before, 1, 10);
	triad_group_add(group, &before, 2, 20);
	triad_group_name(group, 1, 10, 5);
	ck_assert(!triad_group_has_other(group, triad_group_find(group, 1, 10), 5));
	ck_assert(triad_group_has_other(group, triad_group_find(group, 2, 20), 5));
}
END_TEST

START_TEST(test_member_on_a_node_that_the_ring_lacks_is_left_out)
{
	struct triad_group_ring ring = {
		.is_known = true, .n_nodes = 2, .nodes = {1, 3}};
	struct triad_cluster_view view;

	triad_group_add(group, &before, 1, 10);
	triad_group_add(group, &before, 2, 20);
	triad_group_add(group, &before, 3, 30);
	ck_assert(triad_group_name(group, 1, 10, 0x11));
	ck_assert(triad_group_name(group, 3, 30, 0x33));
	view = triad_group_view(group, &ring, 3);
	ck_assert_uint_eq(view.n_members, 2);
	ck_assert_uint_eq(view.members[0], 0x11);
	ck_assert_uint_eq(view.members[1], 0x33);
	ck_assert_uint_eq(view.n_votes_needed, 2);
	ck_assert(view.is_quorate);
	/* Between two rings nobody knows who is left out. */
	ring.is_known = false;
	view = triad_group_view(group, &ring, 3);
	ck_assert_uint_eq(view.n_members, 3);
}
END_TEST

START_TEST(test_majority_is_one_of_the_configured_voters_whoever_is_here)
{
	static const struct {
		uint32_t n_voters, n_here, n_needed;
		bool is_quorate;
	} cases[] = {
		{3, 1, 2, false},
		{3, 2, 2, true},
		{3, 3, 2, true},
		{2, 1, 2, false},
		{4, 2, 3, false},
		{1, 1, 1, true},
		/* Not known how many vote; and more are here than vote. */
		{0, 1, 0, false},
		{3, 4, 3, true},
		{1, 2, 2, true},
	};
	const struct triad_group_ring ring = {.is_known = true};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct triad_cluster_view view;

		triad_group_begin(group);
		for (uint32_t node = 0; node < cases[i].n_here; node++)
			triad_group_add(group, &before, node, 1);
		view = triad_group_view(group, &ring, cases[i].n_voters);
		ck_assert_uint_eq(view.n_votes_needed, cases[i].n_needed);
		ck_assert_int_eq(view.is_quorate, cases[i].is_quorate);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("group");

	tcase_add_checked_fixture(cases, begin, NULL);
	tcase_add_test(cases, test_member_that_stays_keeps_its_id);
	tcase_add_test(cases, test_members_beyond_the_room_are_counted_and_not_kept);
	tcase_add_test(cases, test_member_that_is_listed_twice_counts_once);
	tcase_add_test(cases, test_id_of_another_is_found);
	tcase_add_test(cases, test_member_on_a_node_that_the_ring_lacks_is_left_out);
	tcase_add_test(
		cases, test_majority_is_one_of_the_configured_voters_whoever_is_here);
	return run_cases(cases);
}
