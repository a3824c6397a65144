/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The states of one member: single transitions. */
#include "tests/unit/portmgr/election_fixture.h"

/* The time until it becomes master, with nothing heard. */
static void check_election_ends_at(uint64_t us)
{
	run_to(us - 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	run_to(us);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 1);
}

/* --- ELECTING --- */

/* Row: E3 */
START_TEST(test_electing_that_hears_nobody_is_master_after_the_timeout)
{
	check_election_ends_at(1200 * MS);
}
END_TEST

/* "Decrease of timeout can be limited to a predefined number of times". */
/* Row: E5 */
START_TEST(test_electing_that_hears_worse_is_sooner_three_times_at_most)
{
	for (int i = 0; i < _i; i++)
		receive_from(i % 3 ? TRIAD_ELECTION_STATUS : TRIAD_ELECTION_CEDE, WORSE,
			TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(
		n_sent[TRIAD_ELECTION_CEDE] + n_sent[TRIAD_ELECTION_TAKEOVER], 0);
	check_election_ends_at((1200 - 50 * (uint64_t)(_i < 3 ? _i : 3)) * MS);
}
END_TEST

/* Row: E5 */
START_TEST(test_electing_that_hears_better_is_later_three_times_at_most)
{
	for (int i = 0; i < _i; i++)
		receive_from(i % 2 ? TRIAD_ELECTION_STATUS : TRIAD_ELECTION_CEDE,
			BETTER, TRIAD_ELECTION_ELECTING, GOOD);
	check_election_ends_at((1200 + 50 * (uint64_t)(_i < 3 ? _i : 3)) * MS);
}
END_TEST

/* TAKEOVER to who elects says that it is the better one. */
START_TEST(test_electing_asked_to_take_over_is_sooner)
{
	receive_from(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	check_election_ends_at(1150 * MS);
}
END_TEST

START_TEST(test_electing_that_hears_all_and_none_better_is_master_at_once)
{
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

static void begin_cut_off(void)
{
	struct triad_cluster_view view = {
		.number = 1, .n_members = 1, .members = {HERE}, .n_votes_needed = 2};

	triad_election_free(election);
	begin();
	triad_election_view(election, &view, now_us);
	collect();
	forget();
}

/* Others are there, and take a while to be reached. */
START_TEST(test_sm_that_begins_takes_nobody_for_dead_before_it_can_hear)
{
	begin_cut_off();
	run_to(6000 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	see(3);
	run_to(6199 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	become_standby_of_better();
	ck_assert_uint_eq(n_take_over, 0);
}
END_TEST

START_TEST(test_sm_that_begins_and_reaches_nobody_is_master_in_the_end)
{
	begin_cut_off();
	run_to(60999 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	run_to(61200 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 1);
}
END_TEST

START_TEST(test_electing_that_hears_better_master_follows_it)
{
	become_standby_of_better();
	ck_assert_uint_eq(n_take_over, 0);
}
END_TEST

START_TEST(test_electing_that_hears_worse_master_does_not_follow)
{
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER,
		TRIAD_PRIORITY_IS_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

/* The holder's priority is lower than ours without the lease. */
static struct triad_election_message status_of_holder(void)
{
	return message_of(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER,
		TRIAD_PRIORITY_IS_MASTER | TRIAD_PRIORITY_IS_CONF_MANAGER);
}

/* A standby that is better makes this master elect. */
static void elect_again(void)
{
	run_to(1450 * MS);
	receive_from(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_STANDBY,
		GOOD_MASTER + 0x100);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	forget();
}

/* Others told this member to elect, and do
 * not become master themselves, because they follow the holder. */
START_TEST(test_electing_that_hears_the_holder_of_the_lease_follows_it)
{
	struct triad_election_message message = status_of_holder();

	triad_election_check(
		election, TRIAD_CHECK_NO, now_us); /* so it claims nothing */
	become_master();
	elect_again();
	message.claim = message.term = _i == 0 ? 9 : 0;
	receive_message(&message);
	ck_assert_int_eq(
		state(), _i == 0 ? TRIAD_ELECTION_STANDBY : TRIAD_ELECTION_ELECTING);
	ck_assert_uint_eq(n_stored, _i == 0 ? 1 : 0);
}
END_TEST

/* It can't store its vote, so it gives none; but nor does it elect for ever. */
START_TEST(test_electing_with_a_full_disk_follows_the_holder_of_the_lease)
{
	struct triad_election_message message = status_of_holder();

	become_master();
	is_disk_full = true;
	elect_again();
	message.claim = message.term = 9;
	receive_message(&message);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	for (unsigned i = 0; i < 20; i++) {
		run_to(now_us + 100 * MS);
		receive_message(&message);
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
		ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].grant, 0);
	}
	ck_assert_uint_eq(n_take_over, 0);
	is_disk_full = false;
	run_to(now_us + 100 * MS);
	receive_message(&message);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].grant, 9);
}
END_TEST

/* It gives no vote to a holder that differs; but nor does it elect for ever, or lead without
 * a vote of the others. */
START_TEST(test_electing_that_differs_from_the_holder_of_the_lease_follows_it)
{
	struct triad_election_message message = status_of_holder();

	triad_election_config(election, 7, 77, now_us);
	become_master();
	elect_again();
	message.claim = message.term = 9;
	message.generation = message.newest = 7;
	message.hash = _i == 0 ? 78 : 77;
	message.lease_ms += _i == 1;
	for (unsigned i = 0; i < 20; i++) {
		receive_message(&message);
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
		run_to(now_us + 100 * MS);
	}
	ck_assert_uint_eq(n_take_over, 0);
	ck_assert_uint_gt(n_sent[TRIAD_ELECTION_TAKEOVER], 0);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].grant, 0);
}
END_TEST

/* It may not vote yet; the holder's STATUS comes less often than its clock looks. */
START_TEST(test_who_starts_beside_the_holder_of_the_lease_claims_nothing)
{
	struct triad_election_message message = status_of_holder();

	message.claim = message.term = 9;
	message.lease_ms += _i;
	while (now_us < 1000 * MS + 4 * LEASE_MS * MS) {
		receive_message(&message);
		for (unsigned i = 0; i < 100; i++)
			run_to(now_us + MS);
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
		ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
		ck_assert_uint_eq(status().term, 9);
	}
}
END_TEST

/* What was heard before this election may have changed since. */
START_TEST(test_electing_that_heard_all_in_another_election_waits)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	run_to(now_us + 1);
	for (unsigned i = 0; i < 2; i++) {
		receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, 0);
		ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	}
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

/* --- STANDBY --- */

/* Row: E4 */
START_TEST(test_standby_answers_status_by_its_own_priority)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_CEDE].to, WORSE);
	receive_from(
		TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD + 0x100);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 1);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].to, WORSE);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	/* Equal: the lower id. */
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 2);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].to, BETTER);
}
END_TEST

/* Row: E3, E13 */
START_TEST(test_standby_that_hears_no_master_for_keepalive_elects)
{
	become_standby_of_better();
	run_to(1499 * MS);
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	run_to(1999 * MS - 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	run_to(1999 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	ck_assert_uint_eq(status().master, 0);
}
END_TEST

/* Row: E13 */
START_TEST(test_standby_whose_master_steps_down_elects)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

START_TEST(test_standby_whose_master_leaves_the_view_elects)
{
	become_standby_of_better();
	now_us++;
	see(1);
	ck_assert_int_ne(state(), TRIAD_ELECTION_STANDBY);
}
END_TEST

/* Row: E4 */
START_TEST(test_standby_asked_to_take_over_by_its_master_does)
{
	become_standby_of_better();
	receive_from(
		TRIAD_ELECTION_TAKEOVER, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 1);
}
END_TEST

START_TEST(test_standby_of_better_master_asked_to_take_over_by_another_does_not)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(n_take_over, 0);
}
END_TEST

START_TEST(test_standby_of_worse_master_asked_to_take_over_by_worse_does)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	receive_from(
		TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD + 0x100);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	receive_from(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

START_TEST(test_standby_asked_to_cede_stays)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	receive_from(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
}
END_TEST

START_TEST(test_standby_that_hears_better_master_changes_to_it_and_not_to_worse)
{
	become_standby_of_better();
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_uint_eq(status().master, BETTER);
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER,
		GOOD_MASTER + 0x100);
	ck_assert_uint_eq(status().master, WORSE);
}
END_TEST

START_TEST(test_standby_of_master_that_does_not_yield_elects)
{
	become_standby_of_better();
	for (unsigned i = 0; i < 5; i++) {
		run_to(now_us + 100 * MS);
		receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	}
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 5);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

/* --- MASTER --- */

/* Row: E3 */
START_TEST(test_master_says_status_every_status_time)
{
	become_master();
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	for (unsigned i = 1; i <= 10; i++) {
		forget();
		run_to((1200 + 100 * i) * MS - 1);
		ck_assert_uint_eq(n_sent[TRIAD_ELECTION_STATUS], 0);
		run_to((1200 + 100 * i) * MS);
		ck_assert_uint_ge(n_sent[TRIAD_ELECTION_STATUS], 1);
		ck_assert_int_eq(
			last_sent[TRIAD_ELECTION_STATUS].state, TRIAD_ELECTION_MASTER);
		ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].to, 0);
	}
}
END_TEST

/* Row: E4 */
START_TEST(test_master_answers_status_by_its_own_priority)
{
	become_master();
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

START_TEST(test_master_answers_one_that_shouts_eight_times_a_status_time)
{
	become_master();
	for (unsigned i = 0; i < 100; i++)
		receive_from(
			TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 8);
	run_to(now_us + 100 * MS);
	receive_from(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 9);
}
END_TEST

/* Row: E4 */
START_TEST(test_master_asked_to_cede_by_better_master_follows_it)
{
	become_master();
	receive_from(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
	ck_assert_uint_eq(n_step_down, 1);
}
END_TEST

START_TEST(test_master_asked_to_cede_by_better_standby_elects)
{
	become_master();
	receive_from(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_STANDBY, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	ck_assert_uint_eq(n_step_down, 1);
}
END_TEST

/* Row: E4 */
START_TEST(test_master_asked_to_cede_by_worse_stays_and_counts)
{
	become_master();
	receive_from(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded_ignored, 1);
	ck_assert_uint_eq(status().n_ceded, 0);
}
END_TEST

/* IS_CONF_MANAGER counts of whom we promised the lease to, and of nobody else. */
START_TEST(test_master_asked_to_cede_by_manager_without_promise_stays)
{
	become_master();
	receive_from(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_MASTER,
		UINT32_MAX >> 7 & ~(UINT32_C(1) << 23));
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded_ignored, 1);
}
END_TEST

START_TEST(test_master_overhears_another_asked_to_cede_stays)
{
	struct triad_election_message message = message_of(
		TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);

	become_master();
	message.to = WORSE;
	receive_message(&message);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded, 0);
}
END_TEST

START_TEST(test_master_asked_to_take_over_stays)
{
	become_master();
	receive_from(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 0);
}
END_TEST

/* "If compute priority function changes priority, status update is required." */
/* Row: E13 */
START_TEST(test_master_whose_ports_change_says_so_at_once)
{
	become_master();
	now_us++;
	triad_election_ports(election,
		&(struct triad_port_health){.n_ports = 2, .n_good = 1, .is_up = true},
		now_us);
	collect();
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_STATUS], 1);
	ck_assert(!triad_priority_ports_ok(last_sent[TRIAD_ELECTION_STATUS].priority));
	triad_election_ports(election,
		&(struct triad_port_health){.n_ports = 2, .n_good = 1, .is_up = true},
		now_us);
	collect();
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_STATUS], 1);
}
END_TEST

/* --- what is told here --- */

/* Row: E7 */
START_TEST(test_subnet_is_up_by_a_master_only)
{
	struct triad_permission_facts facts;

	triad_election_sm(election, false, true, now_us);
	triad_election_facts(election, &facts);
	ck_assert(!facts.is_sm_master && !facts.is_subnet_up);
	triad_election_sm(election, true, true, now_us);
	triad_election_facts(election, &facts);
	ck_assert(facts.is_sm_master && facts.is_subnet_up);
}
END_TEST

/* "A running master is preferred", although the election has only just begun. */
/* Row: E8 */
START_TEST(test_electing_whose_sm_is_master_says_so)
{
	triad_election_sm(election, true, true, now_us);
	collect();
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].priority, GOOD_MASTER);
}
END_TEST

/* --- what is malformed --- */

START_TEST(test_payload_in_the_name_of_another_is_not_heard)
{
	struct triad_election_message message = message_of(
		TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(&message, octets);

	triad_election_payload(election, WORSE, octets, size, now_us);
	ck_assert_uint_eq(status().n_malformed, 1);
	octets[4] = 1;
	triad_election_payload(election, BETTER, octets, size, now_us);
	ck_assert_uint_eq(status().n_versions, 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

START_TEST(test_term_far_above_all_is_not_learnt)
{
	struct triad_election_message message =
		message_of(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);

	message.term = message.held = UINT64_C(1) << 32;
	receive_message(&message);
	ck_assert_uint_eq(status().term, 0);
	run_to(now_us + 100 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].held, 0);
	message.held = 0;
	message.term--;
	receive_message(&message);
	ck_assert_uint_eq(status().term, (UINT64_C(1) << 32) - 1);
}
END_TEST

static void add_states(TCase *cases)
{
	tcase_add_test(cases, test_standby_answers_status_by_its_own_priority);
	tcase_add_test(cases, test_standby_that_hears_no_master_for_keepalive_elects);
	tcase_add_test(cases, test_standby_whose_master_steps_down_elects);
	tcase_add_test(cases, test_standby_whose_master_leaves_the_view_elects);
	tcase_add_test(cases, test_standby_asked_to_take_over_by_its_master_does);
	tcase_add_test(cases,
		test_standby_of_better_master_asked_to_take_over_by_another_does_not);
	tcase_add_test(
		cases, test_standby_of_worse_master_asked_to_take_over_by_worse_does);
	tcase_add_test(cases, test_standby_asked_to_cede_stays);
	tcase_add_test(cases,
		test_standby_that_hears_better_master_changes_to_it_and_not_to_worse);
	tcase_add_test(cases, test_standby_of_master_that_does_not_yield_elects);
	tcase_add_test(cases, test_master_says_status_every_status_time);
	tcase_add_test(cases, test_master_answers_status_by_its_own_priority);
	tcase_add_test(
		cases, test_master_answers_one_that_shouts_eight_times_a_status_time);
	tcase_add_test(cases, test_master_asked_to_cede_by_better_master_follows_it);
	tcase_add_test(cases, test_master_asked_to_cede_by_better_standby_elects);
	tcase_add_test(cases, test_master_asked_to_cede_by_worse_stays_and_counts);
	tcase_add_test(
		cases, test_master_asked_to_cede_by_manager_without_promise_stays);
	tcase_add_test(cases, test_master_overhears_another_asked_to_cede_stays);
	tcase_add_test(cases, test_master_asked_to_take_over_stays);
	tcase_add_test(cases, test_master_whose_ports_change_says_so_at_once);
}

int main(void)
{
	TCase *cases = tcase_create("election");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(
		cases, test_electing_that_hears_nobody_is_master_after_the_timeout);
	tcase_add_loop_test(cases,
		test_electing_that_hears_worse_is_sooner_three_times_at_most, 1, 6);
	tcase_add_loop_test(cases,
		test_electing_that_hears_better_is_later_three_times_at_most, 1, 6);
	tcase_add_test(cases, test_electing_asked_to_take_over_is_sooner);
	tcase_add_test(
		cases, test_electing_that_hears_all_and_none_better_is_master_at_once);
	tcase_add_test(
		cases, test_sm_that_begins_takes_nobody_for_dead_before_it_can_hear);
	tcase_add_test(
		cases, test_sm_that_begins_and_reaches_nobody_is_master_in_the_end);
	tcase_add_test(cases, test_electing_that_hears_better_master_follows_it);
	tcase_add_test(cases, test_electing_that_hears_worse_master_does_not_follow);
	tcase_add_loop_test(cases,
		test_electing_that_hears_the_holder_of_the_lease_follows_it, 0, 2);
	tcase_add_test(
		cases, test_electing_with_a_full_disk_follows_the_holder_of_the_lease);
	tcase_add_loop_test(cases,
		test_electing_that_differs_from_the_holder_of_the_lease_follows_it, 0,
		2);
	tcase_add_loop_test(cases,
		test_who_starts_beside_the_holder_of_the_lease_claims_nothing, 0, 2);
	tcase_add_test(cases, test_electing_that_heard_all_in_another_election_waits);
	add_states(cases);
	tcase_add_test(cases, test_subnet_is_up_by_a_master_only);
	tcase_add_test(cases, test_electing_whose_sm_is_master_says_so);
	tcase_add_test(cases, test_payload_in_the_name_of_another_is_not_heard);
	tcase_add_test(cases, test_term_far_above_all_is_not_learnt);
	return run_cases(cases);
}
