/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/unit/collect/claims_fixture.h"
#include "tests/unit/run.h"

/* --- rounds --- */

START_TEST(test_load_of_nodes_doubles_each_step)
{
	ck_assert_uint_eq(triad_claims_load(0), 0);
	ck_assert_uint_eq(triad_claims_load(15), 0);
	ck_assert_uint_eq(triad_claims_load(16), 1);
	ck_assert_uint_eq(triad_claims_load(31), 1);
	ck_assert_uint_eq(triad_claims_load(32), 2);
	ck_assert_uint_eq(triad_claims_load(512), 6);
	ck_assert_uint_eq(triad_claims_load(1024), 7);
	ck_assert_uint_eq(triad_claims_load(UINT32_MAX), 28);
}
END_TEST

START_TEST(test_start_asks_all_and_sends_an_empty_list)
{
	struct fixture fixture;

	set_up(&fixture, 3);
	ck_assert_uint_eq(fixture.n_asked_all, 1);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	ck_assert_uint_eq(fixture.outgoing[0].owner.number, 1);
	ck_assert(fixture.outgoing[0].owner.is_list);
	ck_assert_uint_eq(fixture.outgoing[0].owner.n_parts, 0);
	ck_assert_uint_eq(fixture.outgoing[0].owner.n, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Row: M15 */
START_TEST(test_wave_alone_claims_hop_by_hop)
{
	const uint64_t nodes[] = {1000, 1010, 1020, 1030};
	const uint8_t hops[] = {3, 0, TRIAD_CLAIMS_UNREACHABLE, 1};
	struct fixture fixture;
	uint8_t stated = 99;

	set_up_as(&fixture, SELF, false);
	triad_claims_set_nodes(fixture.claims, nodes, hops, 4, fixture.now_us);
	run(&fixture, 2 * BACKOFF - 1);
	ck_assert_uint_eq(owner_of(&fixture, 1), TRIAD_CLAIMS_NO_AGENT);
	run(&fixture, 1);
	ck_assert_uint_eq(owner_of(&fixture, 1), SELF);
	run(&fixture, BACKOFF - 1);
	ck_assert_uint_eq(owner_of(&fixture, 3), TRIAD_CLAIMS_NO_AGENT);
	run(&fixture, 1);
	ck_assert_uint_eq(owner_of(&fixture, 3), SELF);
	run(&fixture, 2 * BACKOFF - 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	run(&fixture, 1);
	ck_assert_uint_eq(triad_claims_owner(fixture.claims, 0, &stated), SELF);
	ck_assert_uint_eq(stated, 3);
	run(&fixture, 10 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 2), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(triad_claims_n_unowned(fixture.claims), 0);
	ck_assert_uint_eq(fixture.n_entries, 3);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_claimed, 3);
	ck_assert_uint_eq(triad_claims_changes(fixture.claims), 3);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_wave_stops_at_the_most_that_may_be_owned)
{
	struct fixture fixture;

	fixture_max_nodes = 3;
	set_up(&fixture, 5);
	run(&fixture, 4 * BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 3);
	ck_assert_uint_eq(triad_claims_n_unowned(fixture.claims), 2);
	/* Another agent takes over one of its nodes, so it may claim one more. */
	receive_alive(&fixture, OTHER, 0);
	for (uint32_t i = 0; i < 5; i++)
		if (owner_of(&fixture, i) == SELF) {
			receive_claim(&fixture, OTHER, 1, i, 1, 0);
			break;
		}
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 2);
	for (unsigned i = 0; i < 8; i++) {
		run(&fixture, LIVENESS / 4);
		receive_alive(&fixture, OTHER, 1);
	}
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 3);
	triad_claims_free(fixture.claims);
	fixture_max_nodes = 0;
}
END_TEST

/* Row: M15 */
START_TEST(test_wave_stops_where_another_agent_claimed)
{
	struct fixture fixture;

	set_up(&fixture, 2);
	receive_claim(&fixture, OTHER, 1, 0, 2, 0);
	run(&fixture, 4 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	ck_assert_uint_eq(owner_of(&fixture, 1), SELF);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 1);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Of two agents at equal distance, one claims at once, the other a quarter of a
 * back-off later.  The first is the one that would win a conflict. */
START_TEST(test_round_of_equals_goes_by_tie_break)
{
	struct fixture fixture;
	unsigned n_first = 0;

	set_up(&fixture, 1000);
	receive_alive(&fixture, OTHER, 0);
	run(&fixture, 4 * BACKOFF);
	for (uint32_t i = 0; i < 1000; i++)
		n_first += owner_of(&fixture, i) == SELF;
	ck_assert_uint_gt(n_first, 430);
	ck_assert_uint_lt(n_first, 570);
	for (uint32_t i = 0; i < 1000; i++)
		if (owner_of(&fixture, i) == TRIAD_CLAIMS_NO_AGENT)
			receive_claim(&fixture, OTHER, i + 1, i, 2, 0);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, n_first);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Row: M15 */
START_TEST(test_wave_nearer_takes_over)
{
	struct fixture fixture;

	set_up(&fixture, 2);
	receive_claim(&fixture, OTHER, 1, 0, 3, 0);
	receive_claim(&fixture, OTHER, 2, 1, 1, 0);
	run(&fixture, 5 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 0), SELF);
	ck_assert_uint_eq(owner_of(&fixture, 1), OTHER);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Agents claim a node even if new fabrics keep arriving. */
START_TEST(test_wave_goes_on_while_the_fabric_changes)
{
	struct fixture fixture;

	set_up(&fixture, 4);
	for (unsigned i = 0; i < 10; i++) {
		run(&fixture, BACKOFF / 2);
		set_nodes(&fixture, 4 + i % 2, 2);
	}
	turn(&fixture);
	ck_assert_uint_eq(owner_of(&fixture, 3), SELF);
	triad_claims_free(fixture.claims);
}
END_TEST

/* --- conflicts --- */

static const struct {
	bool is_draining; /* the claimant drains */
	uint8_t hops, load;
	bool wins; /* against a claim of 2 hops with load 3 */
} claims_for_lower_load[] = {
	{false, 1, 9, true},
	{false, 3, 0, false},
	{false, 2, 2, true},
	{false, 2, 4, false},
	{true, 1, 0, false},
	{true, 2, 0, false},
};

START_TEST(test_claim_against_one_that_stands_wins_by_rule)
{
	struct triad_collect_owner owner = {.number = 1,
		.n = 1,
		.is_draining = claims_for_lower_load[_i].is_draining};
	const struct triad_collect_claim claim = {.node_guid = 1000,
		.hops = claims_for_lower_load[_i].hops,
		.load = claims_for_lower_load[_i].load};
	struct fixture fixture;

	set_up_as(&fixture, 0, false);
	set_nodes(&fixture, 1, TRIAD_CLAIMS_UNREACHABLE);
	receive_claim(&fixture, OTHER, 1, 0, 2, 3);
	receive_from(&fixture, OTHER + 1, &owner, &claim);
	ck_assert_uint_eq(
		owner_of(&fixture, 0), OTHER + claims_for_lower_load[_i].wins);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_conflicts,
		!claims_for_lower_load[_i].wins);
	triad_claims_free(fixture.claims);
}
END_TEST

/* The winner doesn't depend on the order of the claims, and each agent wins some
 * nodes. */
START_TEST(test_claim_of_equals_has_one_winner_in_any_order)
{
	struct fixture one, two;
	unsigned n_other = 0;

	set_up_as(&one, 0, false);
	set_nodes(&one, 100, 1);
	set_up_as(&two, 0, false);
	set_nodes(&two, 100, 1);
	for (uint32_t i = 0; i < 100; i++) {
		receive_claim(&one, OTHER, i + 1, i, 2, 0);
		receive_claim(&one, OTHER + 1, i + 1, i, 2, 0);
		receive_claim(&two, OTHER + 1, i + 1, i, 2, 0);
		receive_claim(&two, OTHER, i + 1, i, 2, 0);
		ck_assert_uint_eq(owner_of(&one, i), owner_of(&two, i));
		n_other += owner_of(&one, i) == OTHER;
	}
	ck_assert_uint_gt(n_other, 25);
	ck_assert_uint_lt(n_other, 75);
	triad_claims_free(one.claims);
	triad_claims_free(two.claims);
}
END_TEST

START_TEST(test_claim_stated_anew_replaces_the_old_one)
{
	struct fixture fixture;
	uint8_t hops;

	set_up_as(&fixture, 0, false);
	set_nodes(&fixture, 1, 1);
	receive_claim(&fixture, OTHER, 1, 0, 2, 0);
	receive_claim(&fixture, OTHER, 2, 0, 5, 0);
	ck_assert_uint_eq(triad_claims_owner(fixture.claims, 0, &hops), OTHER);
	ck_assert_uint_eq(hops, 5);
	receive_claim(&fixture, OTHER + 1, 1, 0, 4, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER + 1);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_claim_worse_than_own_has_own_repeated_seldom)
{
	struct fixture fixture;
	uint32_t number = 0;

	set_up_owner(&fixture, 3);
	for (unsigned i = 0; i < 100; i++) {
		receive_claim(&fixture, OTHER, ++number, 1, 3, 0);
		run(&fixture, LIVENESS / 100);
	}
	ck_assert_uint_ge(fixture.n_entries, 3);
	ck_assert_uint_le(fixture.n_entries, 5);
	ck_assert_uint_eq(fixture.outgoing[0].first.node_guid, 1010);
	ck_assert_uint_eq(owner_of(&fixture, 1), SELF);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_claim_better_than_own_is_accepted)
{
	struct fixture fixture;
	struct triad_collect_alive alive;

	set_up_owner(&fixture, 3);
	receive_claim(&fixture, OTHER, 1, 1, 1, 0);
	run(&fixture, LIVENESS / 2);
	ck_assert_uint_eq(owner_of(&fixture, 1), OTHER);
	ck_assert_uint_eq(fixture.n_outgoing, 0);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_lost, 1);
	triad_claims_fill_alive(fixture.claims, &alive);
	ck_assert_uint_eq(alive.n_nodes, 2);
	ck_assert_uint_eq(alive.n_announced, 2);
	triad_claims_free(fixture.claims);
}
END_TEST

/* --- loads --- */

START_TEST(test_balance_takes_some_of_who_owns_much_more)
{
	struct triad_collect_claim entries[200];
	const struct triad_collect_owner owner = {.number = 1, .n = 200};
	struct fixture fixture;
	uint32_t n_before;

	for (unsigned i = 0; i < 200; i++)
		entries[i] = (struct triad_collect_claim){.node_guid = 1000 + 10 * i,
			.hops = 2,
			.load = triad_claims_load(i)};
	set_up(&fixture, 200);
	receive_from(&fixture, OTHER, &owner, entries);
	run(&fixture, 4 * BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 0);
	for (unsigned i = 0; i < 40; i++) {
		n_before = look(&fixture, SELF).n_nodes;
		receive_alive(&fixture, OTHER, 1);
		run(&fixture, LIVENESS / 4);
		ck_assert_uint_le(look(&fixture, SELF).n_nodes, n_before + 30);
	}
	/* Loads may differ by one step. */
	ck_assert_uint_ge(look(&fixture, SELF).n_nodes, 60);
	ck_assert_uint_le(look(&fixture, SELF).n_nodes, 100);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_balance_leaves_those_nearer_to_their_owner)
{
	struct fixture fixture;

	set_up(&fixture, 100);
	for (uint32_t i = 0; i < 100; i++)
		receive_claim(&fixture, OTHER, i + 1, i, 1, 9);
	for (unsigned i = 0; i < 10; i++) {
		receive_alive(&fixture, OTHER, 100);
		run(&fixture, LIVENESS / 4);
	}
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 100);
	triad_claims_free(fixture.claims);
}
END_TEST

/* --- life and death --- */

/* Row: M17 */
START_TEST(test_agent_silent_for_a_liveness_time_is_dead_and_inherited)
{
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	run(&fixture, LIVENESS);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	ck_assert_int_ne(look(&fixture, OTHER).state, TRIAD_CLAIMS_DEAD);
	run(&fixture, 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(triad_claims_n_unowned(fixture.claims), 1);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_DEAD);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_deaths, 1);
	run(&fixture, 2 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 0), SELF);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Meanwhile this machine treated the agent's nodes as unowned, so it needs a new
 * list. */
START_TEST(test_agent_that_comes_back_is_asked_for_its_list)
{
	struct fixture fixture;

	set_up(&fixture, 1);
	run(&fixture, LIVENESS);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	run(&fixture, LIVENESS + 1);
	forget_reported(&fixture);
	receive_alive(&fixture, OTHER, 1);
	ck_assert(look(&fixture, OTHER).is_behind);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	ck_assert_uint_eq(fixture.asked, OTHER);
	receive_list(&fixture, OTHER, 1, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	ck_assert(!look(&fixture, OTHER).is_behind);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_incarnation_old_is_ignored_and_new_owns_nothing)
{
	struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {.n_nodes = 0};
	const struct triad_collect_owner owner = {.number = 1, .n = 1};
	const struct triad_collect_claim claim = {.node_guid = 1000, .hops = 1};
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	head.incarnation = 8;
	triad_claims_receive_alive(fixture.claims, &head, &alive, fixture.now_us);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(look(&fixture, OTHER).incarnation, 8);
	receive_claim(&fixture, OTHER, 2, 0, 1, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	triad_claims_receive_owner(
		fixture.claims, &head, &owner, &claim, fixture.now_us);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	triad_claims_free(fixture.claims);
}
END_TEST

static void wake_by_turn(struct fixture *fixture)
{
	turn(fixture);
}

static void wake_by_alive(struct fixture *fixture)
{
	receive_alive(fixture, OTHER, 0);
}

static void wake_by_question(struct fixture *fixture)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_who_owns who = {.wants_list = true};

	triad_claims_receive_who_owns(
		fixture->claims, &head, &who, NULL, fixture->now_us);
}

static void wake_by_fabric(struct fixture *fixture)
{
	set_nodes(fixture, 4, 3);
}

static void wake_by_drain(struct fixture *fixture)
{
	triad_claims_drain(fixture->claims, true, fixture->now_us);
}

static void (*const wakes[])(struct fixture *) = {
	wake_by_turn, wake_by_alive, wake_by_question, wake_by_fabric, wake_by_drain};

/* The agent's clock was ahead, and was corrected before the agent started again. */
START_TEST(test_incarnation_old_is_accepted_when_the_last_one_is_long_gone)
{
	struct triad_collect_head head = {.sender = OTHER, .incarnation = 9};
	const struct triad_collect_alive alive = {.n_announced = 0};
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	triad_claims_receive_alive(fixture.claims, &head, &alive, fixture.now_us);
	head.incarnation = 8;
	run(&fixture, 2 * LIVENESS);
	triad_claims_receive_alive(fixture.claims, &head, &alive, fixture.now_us);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_DEAD);
	run(&fixture, 3 * LIVENESS);
	triad_claims_receive_alive(fixture.claims, &head, &alive, fixture.now_us);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_ALIVE);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Whatever wakes the machine (_i), it sends nothing about the nodes that it owned. */
START_TEST(test_nap_longer_than_liveness_begins_as_if_just_started)
{
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	fixture.now_us += LIVENESS + 1;
	wakes[_i](&fixture);
	turn(&fixture);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_stalls, 1);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 0);
	ck_assert_uint_eq(fixture.n_entries, 0);
	ck_assert_uint_eq(fixture.n_asked_all, 1);
	ck_assert_uint_ge(fixture.n_outgoing, 1);
	ck_assert(fixture.outgoing[0].owner.is_list);
	ck_assert_uint_eq(fixture.outgoing[0].owner.number, 3);
	ck_assert_uint_eq(fixture.outgoing[0].owner.n_nodes, 0);
	triad_claims_drain(fixture.claims, false, fixture.now_us);
	run(&fixture, 6 * BACKOFF);
	ck_assert_uint_ge(look(&fixture, SELF).n_nodes, 3);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_nap_as_long_as_liveness_is_none)
{
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	fixture.now_us += LIVENESS;
	turn(&fixture);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_stalls, 0);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 3);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Without this, agents would stop reading at the first change of the fabric while the
 * broker is down. */
START_TEST(test_away_keeps_what_is_owned_whatever_the_fabric_becomes)
{
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	triad_claims_set_suspended(fixture.claims, true, fixture.now_us);
	fixture.now_us += 10 * LIVENESS;
	set_nodes(&fixture, 4, 2);
	fixture.now_us += 10 * LIVENESS;
	set_nodes(&fixture, 2, 2);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_stalls, 0);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 2);
	fixture.now_us += MS;
	triad_claims_set_suspended(fixture.claims, false, fixture.now_us);
	turn(&fixture);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_stalls, 1);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_drain_keeps_until_others_take_and_claims_nothing)
{
	struct fixture fixture;

	set_up_owner(&fixture, 2);
	triad_claims_drain(fixture.claims, true, fixture.now_us);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	ck_assert(fixture.outgoing[0].owner.is_draining);
	ck_assert(!fixture.outgoing[0].owner.is_list);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 2);
	receive_claim(&fixture, OTHER, 1, 0, 9, 9);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	set_nodes(&fixture, 3, 2);
	run(&fixture, 6 * BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 1);
	ck_assert_uint_eq(owner_of(&fixture, 2), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_int_eq(look(&fixture, SELF).state, TRIAD_CLAIMS_DRAINING);
	triad_claims_drain(fixture.claims, false, fixture.now_us);
	run(&fixture, 3 * BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 3);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_drain_of_another_lets_its_nodes_be_claimed)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {
		.is_draining = true, .n_announced = 1};
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	run(&fixture, 6 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	triad_claims_receive_alive(fixture.claims, &head, &alive, fixture.now_us);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_DRAINING);
	run(&fixture, 3 * BACKOFF);
	ck_assert_uint_eq(owner_of(&fixture, 0), SELF);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_leave_sends_an_empty_list)
{
	struct fixture fixture;

	set_up_owner(&fixture, 2);
	triad_claims_leave(fixture.claims, fixture.now_us);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	ck_assert(fixture.outgoing[0].owner.is_list);
	ck_assert_uint_eq(fixture.outgoing[0].owner.n_nodes, 0);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_given_up, 2);
	run(&fixture, 10 * BACKOFF);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_leave_of_another_frees_all_that_it_owned)
{
	const struct triad_collect_owner nothing = {.number = 3, .is_list = true};
	struct fixture fixture;

	set_up_as(&fixture, 0, false);
	set_nodes(&fixture, 2, 1);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	receive_claim(&fixture, OTHER, 2, 1, 1, 0);
	receive_from(&fixture, OTHER, &nothing, NULL);
	ck_assert_uint_eq(triad_claims_n_unowned(fixture.claims), 2);
	ck_assert(!look(&fixture, OTHER).is_behind);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_observer_claims_nothing_and_sees_all)
{
	struct fixture fixture;

	set_up_as(&fixture, 0, false);
	set_nodes(&fixture, 2, 0);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	run(&fixture, LIVENESS);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	ck_assert_uint_eq(owner_of(&fixture, 1), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(fixture.n_outgoing, 0);
	ck_assert_uint_eq(fixture.n_asked_all, 1);
	run(&fixture, 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	triad_claims_free(fixture.claims);
}
END_TEST

static void add_rounds(TCase *cases)
{
	tcase_add_test(cases, test_load_of_nodes_doubles_each_step);
	tcase_add_test(cases, test_start_asks_all_and_sends_an_empty_list);
	tcase_add_test(cases, test_wave_alone_claims_hop_by_hop);
	tcase_add_test(cases, test_wave_stops_at_the_most_that_may_be_owned);
	tcase_add_test(cases, test_wave_stops_where_another_agent_claimed);
	tcase_add_test(cases, test_round_of_equals_goes_by_tie_break);
	tcase_add_test(cases, test_wave_nearer_takes_over);
	tcase_add_test(cases, test_wave_goes_on_while_the_fabric_changes);
	tcase_add_loop_test(cases, test_claim_against_one_that_stands_wins_by_rule, 0,
		sizeof(claims_for_lower_load) / sizeof(*claims_for_lower_load));
	tcase_add_test(cases, test_claim_of_equals_has_one_winner_in_any_order);
	tcase_add_test(cases, test_claim_stated_anew_replaces_the_old_one);
	tcase_add_test(cases, test_claim_worse_than_own_has_own_repeated_seldom);
	tcase_add_test(cases, test_claim_better_than_own_is_accepted);
	tcase_add_test(cases, test_balance_takes_some_of_who_owns_much_more);
	tcase_add_test(cases, test_balance_leaves_those_nearer_to_their_owner);
}

static void add_lives(TCase *cases)
{
	tcase_add_test(
		cases, test_agent_silent_for_a_liveness_time_is_dead_and_inherited);
	tcase_add_test(cases, test_agent_that_comes_back_is_asked_for_its_list);
	tcase_add_test(cases, test_incarnation_old_is_ignored_and_new_owns_nothing);
	tcase_add_loop_test(cases,
		test_nap_longer_than_liveness_begins_as_if_just_started, 0,
		sizeof(wakes) / sizeof(*wakes));
	tcase_add_test(cases, test_nap_as_long_as_liveness_is_none);
	tcase_add_test(
		cases, test_away_keeps_what_is_owned_whatever_the_fabric_becomes);
	tcase_add_test(
		cases, test_incarnation_old_is_accepted_when_the_last_one_is_long_gone);
	tcase_add_test(cases, test_drain_keeps_until_others_take_and_claims_nothing);
	tcase_add_test(cases, test_drain_of_another_lets_its_nodes_be_claimed);
	tcase_add_test(cases, test_leave_sends_an_empty_list);
	tcase_add_test(cases, test_leave_of_another_frees_all_that_it_owned);
	tcase_add_test(cases, test_observer_claims_nothing_and_sees_all);
}

int main(void)
{
	TCase *cases = tcase_create("claims");

	add_rounds(cases);
	add_lives(cases);
	return run_cases(cases);
}
