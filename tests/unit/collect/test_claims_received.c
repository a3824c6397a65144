/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>

#include "tests/unit/collect/claims_fixture.h"
#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"

/* --- missing messages --- */

START_TEST(test_gap_asks_for_the_list_and_not_too_often)
{
	struct fixture fixture;

	set_up(&fixture, 2);
	run(&fixture, LIVENESS);
	forget_reported(&fixture);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	receive_claim(&fixture, OTHER, 3, 1, 1, 0);
	ck_assert_uint_eq(owner_of(&fixture, 1), OTHER);
	ck_assert_uint_eq(fixture.n_asked, 0);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	for (unsigned i = 0; i < 10; i++) {
		receive_alive(&fixture, OTHER, 4);
		run(&fixture, LIVENESS / 40);
	}
	ck_assert_uint_le(fixture.n_asked, 2);
	receive_list(&fixture, OTHER, 4, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	ck_assert_uint_eq(owner_of(&fixture, 1), TRIAD_CLAIMS_NO_AGENT);
	forget_reported(&fixture);
	receive_alive(&fixture, OTHER, 4);
	run(&fixture, LIVENESS / 2);
	ck_assert_uint_eq(fixture.n_asked, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_gap_closed_by_a_late_message_asks_no_agent)
{
	struct fixture fixture;

	set_up(&fixture, 2);
	run(&fixture, LIVENESS);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	receive_alive(&fixture, OTHER, 2);
	ck_assert(look(&fixture, OTHER).is_behind);
	turn(&fixture);
	receive_claim(&fixture, OTHER, 2, 1, 1, 0);
	ck_assert(!look(&fixture, OTHER).is_behind);
	run(&fixture, LIVENESS / 2);
	ck_assert_uint_eq(fixture.n_asked, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_announcement_received_twice_or_late_is_ignored)
{
	struct fixture fixture;

	set_up_as(&fixture, 0, false);
	set_nodes(&fixture, 1, 1);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	receive_claim(&fixture, OTHER, 2, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	ck_assert(!look(&fixture, OTHER).is_behind);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_list_in_parts_counts_when_all_are_here)
{
	struct fixture fixture;

	set_up(&fixture, 6);
	run(&fixture, LIVENESS);
	receive_claim(&fixture, OTHER, 1, 5, 1, 0);
	receive_alive(&fixture, OTHER, 3);
	turn(&fixture);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	receive_list(&fixture, OTHER, 3, 1, 2, 2, 4);
	receive_list(&fixture, OTHER, 3, 1, 2, 2, 4);
	ck_assert(look(&fixture, OTHER).is_behind);
	ck_assert_uint_eq(owner_of(&fixture, 5), OTHER);
	receive_list(&fixture, OTHER, 3, 0, 2, 0, 2);
	ck_assert(!look(&fixture, OTHER).is_behind);
	ck_assert_uint_eq(owner_of(&fixture, 5), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 4);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_list_with_a_missing_part_is_asked_for_again)
{
	struct fixture fixture;

	set_up(&fixture, 6);
	run(&fixture, LIVENESS);
	receive_alive(&fixture, OTHER, 3);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	receive_list(&fixture, OTHER, 3, 0, 2, 0, 2);
	run(&fixture, LIVENESS / 4);
	ck_assert_uint_eq(fixture.n_asked, 2);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_list_not_asked_for_is_ignored)
{
	struct fixture fixture;

	set_up(&fixture, 6);
	run(&fixture, LIVENESS);
	receive_alive(&fixture, OTHER, 0);
	receive_list(&fixture, OTHER, 0, 0, 1, 0, 2);
	receive_list(&fixture, OTHER, 9, 0, 0, 0, 0);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 0);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_list_with_hostile_parts_is_left)
{
	struct fixture fixture;

	set_up(&fixture, 6);
	receive_list(&fixture, OTHER, 0, 2, 2, 0, 2);
	receive_list(&fixture, OTHER, 0, 0, 65, 0, 2);
	receive_list(&fixture, OTHER, 0, 64, 65535, 0, 2);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 0);
	receive_list(&fixture, OTHER, 0, 63, 64, 0, 2);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 2);
	triad_claims_free(fixture.claims);
}
END_TEST

/* The list was in flight when the agent announced more nodes. */
START_TEST(test_list_older_than_an_announcement_is_ignored)
{
	struct fixture fixture;

	set_up(&fixture, 4);
	run(&fixture, LIVENESS);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	receive_claim(&fixture, OTHER, 2, 3, 1, 0);
	receive_alive(&fixture, OTHER, 5);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	receive_list(&fixture, OTHER, 1, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&fixture, 3), OTHER);
	ck_assert(look(&fixture, OTHER).is_behind);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_alive_overtaken_by_an_announcement_is_no_news)
{
	const struct triad_collect_owner draining = {.number = 1, .is_draining = true};
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_from(&fixture, OTHER, &draining, NULL);
	receive_alive(&fixture, OTHER, 0);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_DRAINING);
	receive_alive(&fixture, OTHER, 1);
	ck_assert_int_eq(look(&fixture, OTHER).state, TRIAD_CLAIMS_ALIVE);
	triad_claims_free(fixture.claims);
}
END_TEST

static void receive_digest(
	struct fixture *fixture, uint32_t n_announced, uint64_t digest)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {
		.n_announced = n_announced, .claims = digest};

	triad_claims_receive_alive(fixture->claims, &head, &alive, fixture->now_us);
}

START_TEST(test_digest_that_differs_for_long_asks_for_the_list_once)
{
	struct fixture fixture;

	set_up(&fixture, 2);
	run(&fixture, LIVENESS);
	receive_digest(&fixture, 0, 77);
	run(&fixture, LIVENESS / 4);
	ck_assert_uint_eq(fixture.n_asked, 0);
	receive_digest(&fixture, 0, 77);
	run(&fixture, LIVENESS / 4);
	ck_assert_uint_eq(fixture.n_asked, 1);
	receive_list(&fixture, OTHER, 0, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	for (unsigned i = 0; i < 12; i++) {
		receive_digest(&fixture, 0, 77);
		run(&fixture, LIVENESS / 4);
	}
	ck_assert_uint_eq(fixture.n_asked, 1);
	set_nodes(&fixture, 3, 2);
	for (unsigned i = 0; i < 2; i++) {
		receive_digest(&fixture, 0, 77);
		run(&fixture, LIVENESS / 4);
	}
	ck_assert_uint_eq(fixture.n_asked, 2);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_digest_is_that_of_the_owner)
{
	struct triad_collect_alive alive;
	struct fixture fixture, watcher;

	set_up_owner(&fixture, 3);
	set_up_as(&watcher, 0, false);
	set_nodes(&watcher, 3, 1);
	run(&watcher, LIVENESS);
	for (uint32_t i = 0; i < 3; i++)
		receive_claim(&watcher, OTHER, i + 1, i, 2, 0);
	triad_claims_fill_alive(fixture.claims, &alive);
	ck_assert_uint_ne(alive.claims, 0);
	for (unsigned i = 0; i < 3; i++) {
		receive_digest(&watcher, 3, alive.claims);
		run(&watcher, LIVENESS / 4);
	}
	ck_assert_uint_eq(watcher.n_asked, 0);
	triad_claims_free(fixture.claims);
	triad_claims_free(watcher.claims);
}
END_TEST

/* --- answers --- */

static void ask(struct fixture *fixture, const struct triad_collect_head *head,
	const uint64_t *asked, uint32_t n)
{
	const struct triad_collect_who_owns who = {.wants_list = !n, .n = n};

	triad_claims_receive_who_owns(
		fixture->claims, head, &who, asked, fixture->now_us);
}

/* Row: M9, M10 */
START_TEST(test_who_owns_list_is_given_in_parts)
{
	const struct triad_collect_head head = head_of(OTHER);
	struct fixture fixture;

	set_up_owner(&fixture, 9000);
	ask(&fixture, &head, NULL, 0);
	ck_assert_uint_eq(fixture.n_outgoing, 3);
	ck_assert_uint_eq(fixture.n_entries, 9000);
	for (unsigned i = 0; i < 3; i++) {
		const struct triad_collect_owner *owner = &fixture.outgoing[i].owner;

		ck_assert_uint_eq(fixture.outgoing[i].to, OTHER);
		ck_assert(owner->is_list);
		ck_assert_uint_eq(owner->part, i);
		ck_assert_uint_eq(owner->n_parts, 3);
		ck_assert_uint_eq(owner->n_nodes, 9000);
		ck_assert_uint_eq(owner->as_of, 4);
		ck_assert_uint_eq(owner->load, triad_claims_load(9000));
	}
	ck_assert_uint_eq(fixture.outgoing[2].owner.n, 9000 - 2 * 4096);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Row: M10 */
START_TEST(test_who_owns_nodes_gives_own_ones_alone)
{
	const struct triad_collect_head head = head_of(OTHER);
	const uint64_t asked[] = {1010, 5, 1000, 1020, 9999};
	const uint64_t unknown[] = {1, 2};
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	receive_claim(&fixture, OTHER, 1, 0, 1, 0);
	ask(&fixture, &head, asked, 5);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	ck_assert_uint_eq(fixture.n_entries, 2);
	ck_assert_uint_eq(fixture.outgoing[0].first.node_guid, 1010);
	ck_assert_uint_eq(fixture.outgoing[0].first.hops, 2);
	ck_assert(!fixture.outgoing[0].owner.is_list);
	ask(&fixture, &head, unknown, 2);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_who_owns_of_oneself_or_without_end_is_not_answered)
{
	struct triad_collect_head head = head_of(SELF);
	const uint64_t asked[] = {1000};
	struct fixture fixture;

	set_up_owner(&fixture, 1);
	ask(&fixture, &head, asked, 1);
	ck_assert_uint_eq(fixture.n_outgoing, 0);
	/* The manager on the same host has another incarnation. */
	head.incarnation = 1;
	ask(&fixture, &head, asked, 1);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	head.sender = 0;
	ask(&fixture, &head, asked, 1);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	head.sender = OTHER;
	for (unsigned i = 0; i < 5000; i++) {
		fixture.n_outgoing = 0;
		ask(&fixture, &head, asked, 1);
	}
	ck_assert_uint_eq(fixture.n_entries, 512);
	run(&fixture, LIVENESS / 4);
	ask(&fixture, &head, asked, 1);
	ck_assert_uint_eq(fixture.n_entries, 513);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_answer_to_a_question_is_a_claim_that_does_not_count)
{
	const struct triad_collect_owner answer = {.as_of = 1, .n = 1};
	const struct triad_collect_claim claim = {.node_guid = 1000, .hops = 1};
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_claim(&fixture, OTHER, 1, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	receive_from(&fixture, OTHER, &answer, &claim);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	receive_claim(&fixture, OTHER, 2, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	/* The answer is older than the agent's message that gave up the node. */
	receive_from(&fixture, OTHER, &answer, &claim);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	triad_claims_free(fixture.claims);
}
END_TEST

/* --- fabrics --- */

START_TEST(test_fabric_new_keeps_owners_and_asks_for_what_came)
{
	struct fixture fixture;

	set_up(&fixture, 4);
	receive_claim(&fixture, OTHER, 1, 1, 2, 0);
	run(&fixture, 6 * BACKOFF);
	forget_reported(&fixture);
	set_nodes(&fixture, 7, 2);
	ck_assert_uint_eq(fixture.n_asked_nodes, 3);
	ck_assert_uint_eq(fixture.n_asked_all, 0);
	ck_assert_uint_eq(owner_of(&fixture, 1), OTHER);
	ck_assert_uint_eq(owner_of(&fixture, 3), SELF);
	ck_assert_uint_eq(owner_of(&fixture, 4), TRIAD_CLAIMS_NO_AGENT);
	set_nodes(&fixture, 1, 2);
	ck_assert_uint_eq(look(&fixture, OTHER).n_nodes, 0);
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 1);
	set_nodes(&fixture, 6000, 2);
	ck_assert_uint_eq(fixture.n_asked_all, 1);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_fabric_with_other_distances_has_own_stated_anew)
{
	const uint64_t nodes[] = {1000, 1010, 1020};
	const uint8_t hops[] = {2, 4, TRIAD_CLAIMS_UNREACHABLE};
	struct fixture fixture;
	uint8_t stated;

	set_up_owner(&fixture, 3);
	triad_claims_set_nodes(fixture.claims, nodes, hops, 3, fixture.now_us);
	ck_assert_uint_eq(fixture.n_outgoing, 1);
	ck_assert_uint_eq(fixture.n_entries, 2);
	ck_assert_uint_eq(fixture.outgoing[0].first.node_guid, 1010);
	ck_assert_uint_eq(fixture.outgoing[0].first.hops, 4);
	triad_claims_owner(fixture.claims, 1, &stated);
	ck_assert_uint_eq(stated, 4);
	ck_assert_uint_eq(owner_of(&fixture, 2), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_given_up, 1);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_fabric_for_which_memory_is_short_changes_nothing)
{
	struct fixture fixture;

	set_up_owner(&fixture, 3);
	for (unsigned i = 1;; i++) {
		int error;

		refuse(i);
		error = triad_claims_set_nodes(
			fixture.claims, guids, all_at, 2, fixture.now_us);
		if (!refused())
			break;
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 3);
	}
	ck_assert_uint_eq(look(&fixture, SELF).n_nodes, 2);
	ck_assert_int_eq(triad_claims_set_nodes(fixture.claims, guids, all_at,
				 UINT32_MAX, fixture.now_us),
		ENOMEM);
	triad_claims_free(fixture.claims);
}
END_TEST

/* --- hostile --- */

START_TEST(test_claim_nearer_than_the_fabric_allows_is_refused)
{
	struct fixture fixture;

	set_up_as(&fixture, 0, true);
	fixture.true_hops = 3;
	fixture.unknown = 66;
	set_nodes(&fixture, 1, 2);
	receive_claim(&fixture, OTHER, 1, 0, 2, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	receive_claim(&fixture, 66, 1, 0, 9, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_refused, 2);
	receive_claim(&fixture, OTHER, 2, 0, 3, 0);
	ck_assert_uint_eq(owner_of(&fixture, 0), OTHER);
	triad_claims_free(fixture.claims);
}
END_TEST

/* Perhaps the agent was refused only because of the old fabric. */
START_TEST(test_agent_refused_is_asked_when_the_fabric_is_another)
{
	struct fixture fixture;

	set_up_as(&fixture, SELF, true);
	fixture.true_hops = 3;
	set_nodes(&fixture, 1, 4);
	run(&fixture, LIVENESS);
	receive_claim(&fixture, OTHER, 1, 0, 2, 0);
	fixture.true_hops = 2;
	set_nodes(&fixture, 1, 3);
	run(&fixture, BACKOFF);
	ck_assert_uint_eq(fixture.n_asked, 1);
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_agent_beyond_the_cap_replaces_a_dead_one)
{
	struct triad_claims_agent agent;
	struct fixture fixture;
	unsigned n = 0;

	set_up(&fixture, 1);
	for (uint64_t id = 100; id < 500; id++)
		receive_alive(&fixture, id, 0);
	while (triad_claims_agent(fixture.claims, n, &agent))
		n++;
	ck_assert_uint_eq(n, TRIAD_CLAIMS_MAX_AGENTS);
	ck_assert_uint_eq(triad_claims_counts(fixture.claims).n_refused, 145);
	run(&fixture, LIVENESS - MS);
	for (uint64_t id = 101; id < 300; id++)
		receive_alive(&fixture, id, 0);
	run(&fixture, 2 * MS);
	ck_assert(triad_claims_agent(fixture.claims, 1, &agent));
	ck_assert_uint_eq(agent.id, 100);
	ck_assert_int_eq(agent.state, TRIAD_CLAIMS_DEAD);
	receive_alive(&fixture, 5, 0);
	ck_assert(triad_claims_agent(fixture.claims, 0, &agent));
	ck_assert_uint_eq(agent.id, 5);
	ck_assert_int_ne(agent.state, TRIAD_CLAIMS_DEAD);
	for (unsigned i = 1; triad_claims_agent(fixture.claims, i, &agent); i++) {
		uint64_t before = agent.id;

		if (triad_claims_agent(fixture.claims, i + 1, &agent))
			ck_assert_uint_lt(before, agent.id);
	}
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_own_messages_and_a_managers_are_ignored)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive manager = {.is_manager = true};
	struct triad_claims_agent agent;
	struct fixture fixture;

	set_up(&fixture, 1);
	receive_claim(&fixture, SELF, 1, 0, 0, 0);
	receive_claim(&fixture, 0, 1, 0, 0, 0);
	triad_claims_receive_alive(fixture.claims, &head, &manager, fixture.now_us);
	ck_assert_uint_eq(owner_of(&fixture, 0), TRIAD_CLAIMS_NO_AGENT);
	ck_assert(triad_claims_agent(fixture.claims, 0, &agent));
	ck_assert_uint_eq(agent.id, SELF);
	ck_assert(!triad_claims_agent(fixture.claims, 1, &agent));
	triad_claims_free(fixture.claims);
}
END_TEST

START_TEST(test_claims_octets_are_few)
{
	struct fixture fixture;
	size_t empty;

	set_up_as(&fixture, SELF, false);
	empty = triad_claims_octets(fixture.claims);
	ck_assert_uint_le(empty, 160 * 1024);
	set_nodes(&fixture, 10000, 1);
	ck_assert_uint_le(triad_claims_octets(fixture.claims) - empty, 24 * 10000);
	triad_claims_free(fixture.claims);
}
END_TEST

static void add_messages(TCase *cases)
{
	tcase_add_test(cases, test_gap_asks_for_the_list_and_not_too_often);
	tcase_add_test(cases, test_gap_closed_by_a_late_message_asks_no_agent);
	tcase_add_test(cases, test_announcement_received_twice_or_late_is_ignored);
	tcase_add_test(cases, test_list_in_parts_counts_when_all_are_here);
	tcase_add_test(cases, test_list_with_a_missing_part_is_asked_for_again);
	tcase_add_test(cases, test_list_not_asked_for_is_ignored);
	tcase_add_test(cases, test_list_older_than_an_announcement_is_ignored);
	tcase_add_test(cases, test_alive_overtaken_by_an_announcement_is_no_news);
	tcase_add_test(cases, test_list_with_hostile_parts_is_left);
	tcase_add_test(cases, test_digest_that_differs_for_long_asks_for_the_list_once);
	tcase_add_test(cases, test_digest_is_that_of_the_owner);
	tcase_add_test(cases, test_who_owns_list_is_given_in_parts);
	tcase_add_test(cases, test_who_owns_nodes_gives_own_ones_alone);
	tcase_add_test(cases, test_who_owns_of_oneself_or_without_end_is_not_answered);
	tcase_add_test(cases, test_answer_to_a_question_is_a_claim_that_does_not_count);
}

static void add_fabrics(TCase *cases)
{
	tcase_add_test(cases, test_fabric_new_keeps_owners_and_asks_for_what_came);
	tcase_add_test(cases, test_fabric_with_other_distances_has_own_stated_anew);
	tcase_add_test(cases, test_fabric_for_which_memory_is_short_changes_nothing);
	tcase_add_test(cases, test_claim_nearer_than_the_fabric_allows_is_refused);
	tcase_add_test(cases, test_agent_refused_is_asked_when_the_fabric_is_another);
	tcase_add_test(cases, test_agent_beyond_the_cap_replaces_a_dead_one);
	tcase_add_test(cases, test_own_messages_and_a_managers_are_ignored);
	tcase_add_test(cases, test_claims_octets_are_few);
}

int main(void)
{
	TCase *cases = tcase_create("claims_heard");

	add_messages(cases);
	add_fabrics(cases);
	return run_cases(cases);
}
