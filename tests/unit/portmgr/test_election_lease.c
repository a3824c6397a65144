/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lease: promises that the member under test makes and receives, and its vote on
 * disk. */
#include <errno.h>

#include "tests/unit/portmgr/election_fixture.h"

/* --- promises --- */

static uint64_t grant_to(uint64_t from, uint64_t claim, uint64_t term)
{
	struct triad_election_message message = message_of(TRIAD_ELECTION_STATUS, from,
		TRIAD_ELECTION_MASTER, GOOD_MASTER + 0x100);
	unsigned n_answers;

	message.claim = claim;
	message.term = term;
	forget();
	receive_message(&message);
	n_answers = n_sent[TRIAD_ELECTION_TAKEOVER];
	ck_assert_uint_eq(n_answers, 1);
	return last_sent[TRIAD_ELECTION_TAKEOVER].grant;
}

/* Row: E7 */
START_TEST(test_promise_is_made_after_a_lease_since_the_start)
{
	become_standby_of_better();
	run_to(1400 * MS - 1);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 0);
	run_to(1400 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	ck_assert_uint_eq(n_stored, 1);
	/* The same promise again needs no write to disk. */
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	ck_assert_uint_eq(n_stored, 0);
}
END_TEST

/* Row: X4 */
START_TEST(test_promise_lasts_a_lease_and_then_another_term_may_have_it)
{
	become_standby_of_better();
	run_to(1450 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	run_to(1850 * MS - 1);
	ck_assert_uint_eq(grant_to(WORSE, 2, 2), 0);
	run_to(1850 * MS);
	/* The member promised term 1 to BETTER; term 2 is free. */
	ck_assert_uint_eq(grant_to(WORSE, 1, 2), 0);
	ck_assert_uint_eq(grant_to(WORSE, 2, 2), 2);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	run_to(2300 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 1, 2), 0);
	ck_assert_uint_eq(grant_to(BETTER, 2, 2), 0);
	ck_assert_uint_eq(grant_to(BETTER, 3, 3), 3);
	ck_assert_uint_eq(status().n_stale, 3);
}
END_TEST

/* A holder whose term is older than a vote of this member gets no vote, but is followed: else
 * this member would elect against it, and it against this one, for ever. */
START_TEST(test_holder_of_an_older_term_is_followed_without_a_vote)
{
	struct triad_election_message holder;

	become_standby_of_better();
	run_to(1450 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 3, 3), 3);
	run_to(1850 * MS);
	holder = message_of(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER,
		TRIAD_PRIORITY_IS_CONF_MANAGER); /* with no good port */
	holder.claim = holder.term = 2;
	forget();
	receive_message(&holder);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 0);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 1);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].grant, 0);
	/* So the holder learns of the higher term, and asks for a new one. */
	ck_assert_uint_ge(last_sent[TRIAD_ELECTION_TAKEOVER].term, 3);
}
END_TEST

/* Row: E12 */
START_TEST(test_promise_is_not_made_to_who_is_not_able)
{
	struct triad_election_message message = message_of(
		TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);

	become_standby_of_better();
	triad_election_config(election, 7, 77, now_us);
	collect();
	run_to(1450 * MS);
	message.claim = message.term = 1;
	message.generation = message.newest = 7;
	message.hash = 77;
	if (_i == 0)
		message.flags = 0;
	if (_i == 1)
		message.generation = 6; /* an old configuration */
	if (_i == 2)
		message.hash = 78; /* another of the same generation */
	if (_i == 3)
		ck_assert_int_eq(
			triad_election_blacklist(election, BETTER, true, now_us), 0);
	if (_i == 4) {
		now_us++;
		see(1);
	}
	if (_i == 5)
		message.lease_ms++; /* a promise would not last as long */
	receive_message(&message);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].grant +
			last_sent[TRIAD_ELECTION_CEDE].grant,
		_i == 6 ? 1 : 0);
}
END_TEST

/* --- the lease --- */

static void come_back(void)
{
	struct triad_election_message own = last_sent[TRIAD_ELECTION_STATUS];

	ck_assert_uint_eq(own.from, HERE);
	receive_message(&own);
}

static bool is_holder(void)
{
	struct triad_permission_facts facts;

	triad_election_facts(election, &facts);
	return facts.is_holder;
}

static struct triad_election_message grant_of(uint64_t from)
{
	const struct triad_election_message *asked = &last_sent[TRIAD_ELECTION_STATUS];
	struct triad_election_message answer =
		message_of(TRIAD_ELECTION_TAKEOVER, from, TRIAD_ELECTION_STANDBY, GOOD);

	answer.answers = asked->round;
	answer.term = asked->term;
	answer.grant = asked->claim;
	return answer;
}

static void ask(void)
{
	become_master();
	run_to(1450 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 1);
}

/* Row: X4 */
START_TEST(test_lease_is_held_from_when_it_was_asked_for)
{
	struct triad_permission_facts facts;
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	now_us += 50 * MS;
	come_back();
	ck_assert(!is_holder());
	receive_message(&answer);
	ck_assert(is_holder());
	ck_assert_uint_eq(status().holder, HERE);
	triad_election_facts(election, &facts);
	ck_assert_uint_eq(facts.deadline_us, 1450 * MS + 360 * MS);
	ck_assert_uint_eq(facts.term, 1);
	run_to(1810 * MS - 1);
	ck_assert(is_holder());
	run_to(1810 * MS);
	ck_assert(!is_holder());
	ck_assert_uint_eq(status().n_leases_lost, 1);
}
END_TEST

START_TEST(test_lease_is_not_held_before_the_question_came_back)
{
	struct triad_election_message first, second;

	ask();
	first = grant_of(WORSE);
	second = grant_of(BETTER);
	receive_message(&first);
	receive_message(&second);
	ck_assert(!is_holder());
	ck_assert_uint_eq(status().holder, 0); /* its own promise isn't a majority */
}
END_TEST

START_TEST(test_lease_is_not_held_by_answers_that_do_not_count)
{
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	come_back();
	if (_i == 0)
		answer.answers++;
	if (_i == 1)
		answer.to = BETTER;
	if (_i == 2)
		answer.grant = 0;
	if (_i == 3)
		answer.from = 77; /* not in the view */
	if (_i == 4)
		now_us += 360 * MS; /* too late */
	receive_message(&answer);
	ck_assert_int_eq(is_holder(), _i == 5);
}
END_TEST

START_TEST(test_lease_asked_again_unanswered_counts_from_the_first_time)
{
	struct triad_election_message answer;
	uint64_t round;

	ask();
	round = last_sent[TRIAD_ELECTION_STATUS].round;
	run_to(now_us + 100 * MS);
	run_to(now_us + 100 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].round, round);
	run_to(now_us + 160 * MS);
	come_back();
	answer = grant_of(WORSE);
	receive_message(&answer);
	ck_assert(!is_holder());
}
END_TEST

static void hold(void)
{
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	come_back();
	receive_message(&answer);
	ck_assert(is_holder());
}

START_TEST(test_lease_in_a_new_view_is_unconfirmed)
{
	struct triad_permission_facts facts;

	hold();
	triad_election_facts(election, &facts);
	ck_assert(facts.is_confirmed);
	now_us++;
	see(3);
	triad_election_facts(election, &facts);
	ck_assert(facts.is_holder && !facts.is_confirmed);
}
END_TEST

static void see_alone(void)
{
	struct triad_cluster_view view = {.number = now_us,
		.is_connected = true,
		.n_members = 1,
		.members = {HERE},
		.n_votes_needed = 2};

	triad_election_view(election, &view, now_us);
	collect();
}

START_TEST(test_confirmation_by_hand_counts_in_its_view_alone)
{
	struct triad_permission_facts facts;

	hold();
	ck_assert_int_eq(triad_election_confirm(election, now_us), EINVAL);
	now_us++;
	see_alone();
	triad_election_facts(election, &facts);
	ck_assert(!facts.is_quorate && !facts.by_hand_view && !facts.n_votes_by_hand);
	ck_assert_int_eq(triad_election_confirm(election, now_us), 0);
	triad_election_facts(election, &facts);
	ck_assert(facts.is_quorate);
	ck_assert_uint_eq(facts.by_hand_view, now_us);
	ck_assert_uint_eq(facts.n_votes_by_hand, 1);
	/* The permission names the confirmed view even when it isn't given. */
	ck_assert_uint_eq(triad_permission_judge(&facts, now_us).by_hand_view, now_us);
	now_us++;
	see(2);
	triad_election_facts(election, &facts);
	ck_assert(!facts.by_hand_view && !facts.n_votes_by_hand);
}
END_TEST

static bool has_run_out(void)
{
	struct triad_permission_facts facts;

	triad_election_facts(election, &facts);
	return facts.has_run_out;
}

START_TEST(test_lease_that_ran_out_is_reported_until_there_is_another)
{
	struct triad_permission_facts facts;

	hold();
	ck_assert(!has_run_out());
	triad_election_facts(election, &facts);
	run_to(facts.deadline_us);
	ck_assert(!is_holder() && has_run_out());
	run_to(now_us + LEASE_MS * MS);
	ck_assert_uint_ne(grant_to(BETTER, 8, 8), 0);
	ck_assert(!has_run_out());
}
END_TEST

START_TEST(test_lease_given_up_has_not_run_out)
{
	hold();
	triad_election_check(election, TRIAD_CHECK_NO, now_us);
	collect();
	ck_assert(!is_holder() && !has_run_out());
}
END_TEST

/* BETTER reports itself as a preferred standby while this SM is master, for 600 ms at most;
 * its lease differs by 'longer_ms'. */
static void receive_preferred(uint32_t longer_ms)
{
	const uint32_t preferred = (GOOD & ~(15u << 14)) | 12u << 14;
	uint64_t until_us = now_us + 600 * MS;
	struct triad_election_message answer;

	while (now_us < until_us && state() == TRIAD_ELECTION_MASTER) {
		run_to(now_us + 50 * MS);
		come_back();
		answer = grant_of(BETTER);
		answer.priority = preferred;
		answer.lease_ms += longer_ms;
		receive_message(&answer);
	}
}

static void hand_over(void)
{
	receive_preferred(0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
}

/* BETTER reports that it is master now. */
static void receive_new_master(void)
{
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
}

/* The preferred one would be master and get no vote for the lease. */
START_TEST(test_master_does_not_hand_over_to_who_differs_until_both_agree)
{
	hold();
	triad_election_sm(election, true, true, now_us);
	collect();
	receive_preferred(1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	hand_over();
}
END_TEST

/* Row: N12 */
START_TEST(test_lease_is_kept_in_a_hand_over_until_the_sm_is_master_no_more)
{
	struct triad_election_message answer;

	hold();
	triad_election_sm(election, true, true, now_us);
	collect();
	hand_over();
	ck_assert(is_holder());
	ck_assert_uint_eq(status().priority & TRIAD_PRIORITY_IS_CONF_MANAGER, 0);
	/* Meanwhile the member renews the lease; no message makes it master. */
	for (unsigned i = 0; i < 10; i++) {
		run_to(now_us + 100 * MS);
		receive_new_master();
		come_back();
		answer = grant_of(WORSE);
		receive_message(&answer);
		ck_assert(is_holder());
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	}
	triad_election_sm(election, false, false, now_us);
	collect();
	ck_assert(!is_holder());
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].from, HERE);
}
END_TEST

START_TEST(test_lease_is_given_up_when_the_sm_does_not_hand_over)
{
	uint64_t begun_us;

	hold();
	triad_election_sm(election, true, true, now_us);
	collect();
	hand_over();
	begun_us = now_us;
	while (is_holder() && now_us < begun_us + 20 * 1000 * MS) {
		struct triad_election_message answer;

		run_to(now_us + 100 * MS);
		receive_new_master();
		come_back();
		answer = grant_of(WORSE);
		receive_message(&answer);
	}
	ck_assert_uint_ge(now_us, begun_us + 9900 * MS);
	ck_assert_uint_le(now_us, begun_us + 10100 * MS);
}
END_TEST

/* A Set that was permitted just before may still be in flight to a port. */
START_TEST(test_lease_given_up_promise_to_oneself_lasts_until_its_end)
{
	uint64_t given_up_us;

	hold();
	given_up_us = now_us;
	triad_election_check(election, TRIAD_CHECK_NO, now_us);
	collect();
	ck_assert(!is_holder());
	ck_assert_uint_eq(grant_to(BETTER, 2, 2), 0);
	run_to(given_up_us + LEASE_MS * MS);
	ck_assert_uint_eq(grant_to(BETTER, 2, 3), 2);
}
END_TEST

/* Two masters meet, and both held the lease.  The one that held it first doesn't know
 * of the later holder; the later one knows of both, so it stays.  This doesn't depend
 * on who sends first, nor on the ids. */
START_TEST(test_master_that_held_the_lease_after_another_stays)
{
	const struct {
		uint64_t from, held;
		enum triad_election_state state;
	} cases[] = {
		{BETTER, 0, TRIAD_ELECTION_MASTER}, {WORSE, 7, TRIAD_ELECTION_STANDBY}};
	struct triad_election_message message =
		message_of(TRIAD_ELECTION_CEDE, cases[_i].from, TRIAD_ELECTION_MASTER,
			GOOD_MASTER | TRIAD_PRIORITY_WAS_HOLDER_LAST);

	hold(); /* in term 1 */
	run_to(1810 * MS);
	ck_assert(!is_holder());
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].held, 1);
	ck_assert(last_sent[TRIAD_ELECTION_STATUS].priority &
		TRIAD_PRIORITY_WAS_HOLDER_LAST);
	message.term = 7; /* terms grow without leases, too: only 'held' counts */
	message.held = cases[_i].held;
	receive_message(&message);
	ck_assert_int_eq(state(), cases[_i].state);
	run_to(2000 * MS);
	ck_assert_int_eq(!!(last_sent[TRIAD_ELECTION_STATUS].priority &
				 TRIAD_PRIORITY_WAS_HOLDER_LAST),
		cases[_i].state == TRIAD_ELECTION_MASTER);
}
END_TEST

/* A grant counts even if its sender knows of a later holder. */
START_TEST(test_grant_of_who_knows_a_later_holder_counts)
{
	struct triad_election_message answer;

	hold();
	run_to(1810 * MS);
	come_back();
	run_to(1910 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 2);
	come_back();
	now_us += 120 * MS;
	answer = grant_of(WORSE);
	answer.held = 2;
	receive_message(&answer);
	ck_assert(is_holder());
}
END_TEST

/* A member that reports itself able but never asks can't block the lease for ever. */
START_TEST(test_lease_not_asked_for_by_the_best_is_asked_for_by_the_next)
{
	for (uint64_t ms = 1000; ms < 3000; ms += 100) {
		run_to(ms * MS);
		receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER,
			GOOD_MASTER);
		ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	}
	forget();
	run_to(3000 * MS);
	ck_assert_uint_ge(n_sent[TRIAD_ELECTION_STATUS], 1);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
}
END_TEST

/* --- a claim without a majority --- */

#define CLAIM_US (3 * LEASE_MS * MS)

static void answer_check(enum triad_check check)
{
	triad_election_check(election, check, now_us);
	collect();
}

/* Asks without getting a grant until 'until_us' or until the member drops its claim;
 * returns when that was.  With 'is_interrupted', the member's check fails for a moment
 * every 250 ms, like that of a master that yields and takes over again at once. */
static uint64_t ask_in_vain(uint64_t until_us, bool is_interrupted)
{
	while (now_us < until_us && last_sent[TRIAD_ELECTION_STATUS].claim) {
		for (unsigned i = 0; i < 5; i++) {
			run_to(now_us + 50 * MS);
			come_back();
		}
		if (!last_sent[TRIAD_ELECTION_STATUS].claim || !is_interrupted)
			continue;
		answer_check(TRIAD_CHECK_NO);
		run_to(now_us + 10 * MS);
		answer_check(TRIAD_CHECK_YES);
		run_to(now_us + 100 * MS);
		come_back();
		ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	}
	return now_us;
}

/* While a member asks, it has promised the lease to itself and can't grant it to
 * another. */
START_TEST(test_claim_not_granted_is_dropped_and_another_gets_the_promise)
{
	uint64_t asked_us, term;

	ask();
	asked_us = now_us;
	come_back();
	ask_in_vain(asked_us + 2 * CLAIM_US, _i == 1);
	ck_assert_uint_ge(now_us, asked_us + CLAIM_US);
	ck_assert_uint_le(now_us, asked_us + CLAIM_US + 400 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	term = last_sent[TRIAD_ELECTION_STATUS].term + 1;
	ck_assert_uint_eq(grant_to(BETTER, term, term), term);
}
END_TEST

/* The member pauses for pseudo-random times between claims, some shorter than a
 * lease. */
START_TEST(test_claim_made_again_has_all_its_time)
{
	ask();
	for (unsigned i = 0; i < 40; i++) {
		uint64_t asked_us = now_us;

		come_back();
		ask_in_vain(asked_us + 2 * CLAIM_US, false);
		ck_assert_uint_ge(now_us, asked_us + CLAIM_US - 100 * MS);
		for (unsigned n = 0; n < 100 && !last_sent[TRIAD_ELECTION_STATUS].claim;
			n++)
			run_to(now_us + 50 * MS);
		ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	}
}
END_TEST

START_TEST(test_claim_after_a_pause_of_a_lease_has_all_its_time)
{
	uint64_t asked_us;

	ask();
	come_back();
	ask_in_vain(now_us + CLAIM_US - 300 * MS, false);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	answer_check(TRIAD_CHECK_NO);
	run_to(now_us + LEASE_MS * MS);
	answer_check(TRIAD_CHECK_YES);
	run_to(now_us + 100 * MS);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	asked_us = now_us;
	come_back();
	ck_assert_uint_ge(ask_in_vain(asked_us + 2 * CLAIM_US, false),
		asked_us + CLAIM_US - 100 * MS);
}
END_TEST

START_TEST(test_claim_after_a_lease_that_ran_out_has_all_its_time)
{
	uint64_t lost_us;

	hold();
	run_to(1810 * MS);
	ck_assert(!is_holder());
	lost_us = now_us;
	run_to(now_us + 100 * MS);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	come_back();
	ck_assert_uint_ge(
		ask_in_vain(lost_us + 2 * CLAIM_US, false), lost_us + CLAIM_US);
}
END_TEST

/* --- the disk --- */

/* Row: E12 */
START_TEST(test_vote_not_on_disk_is_not_given)
{
	become_standby_of_better();
	run_to(1450 * MS);
	is_disk_full = true;
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 0);
	ck_assert_uint_eq(n_stored, 1);
	/* A timer repeats the write; a further request doesn't. */
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 0);
	ck_assert_uint_eq(n_stored, 0);
	run_to(1550 * MS - 1);
	ck_assert_uint_eq(n_stored, 0);
	ck_assert_uint_le(triad_election_next_us(election), 1550 * MS);
	run_to(1550 * MS);
	ck_assert_uint_eq(n_stored, 1);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 0);
	is_disk_full = false;
	run_to(1650 * MS);
	/* The stored vote is for BETTER: no other member gets it. */
	ck_assert_uint_eq(grant_to(WORSE, 1, 1), 0);
	receive_from(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	ck_assert_uint_eq(n_stored, 0);
}
END_TEST

START_TEST(test_vote_that_is_on_disk_is_given_again_without_one)
{
	become_standby_of_better();
	run_to(1450 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	is_disk_full = true;
	ck_assert_int_eq(triad_election_blacklist(election, 77, true, now_us), 0);
	collect();
	ck_assert_uint_eq(grant_to(BETTER, 1, 1), 1);
	ck_assert_uint_eq(grant_to(BETTER, 2, 2), 0);
}
END_TEST

START_TEST(test_claim_not_on_disk_is_not_made)
{
	is_disk_full = true;
	become_master();
	run_to(1450 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	run_to(1600 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].flags, 0);
	is_disk_full = false;
	run_to(1750 * MS);
	run_to(1850 * MS);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
}
END_TEST

/* Row: E12 */
START_TEST(test_own_vote_not_on_disk_gives_no_lease)
{
	struct triad_election_message answers[2];

	ask();
	answers[0] = grant_of(WORSE);
	answers[1] = grant_of(BETTER);
	is_disk_full = _i == 0;
	come_back();
	receive_message(&answers[0]);
	receive_message(&answers[1]);
	ck_assert_int_eq(is_holder(), _i == 1);
}
END_TEST

START_TEST(test_holder_keeps_its_lease_without_a_disk)
{
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	come_back();
	receive_message(&answer);
	ck_assert(is_holder());
	is_disk_full = true;
	ck_assert_int_eq(triad_election_blacklist(election, 77, true, now_us), 0);
	collect();
	ck_assert(is_holder());
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 1);
}
END_TEST

static void add_disk(TCase *cases)
{
	tcase_add_test(cases, test_vote_not_on_disk_is_not_given);
	tcase_add_test(cases, test_vote_that_is_on_disk_is_given_again_without_one);
	tcase_add_test(cases, test_claim_not_on_disk_is_not_made);
	tcase_add_loop_test(cases, test_own_vote_not_on_disk_gives_no_lease, 0, 2);
	tcase_add_test(cases, test_holder_keeps_its_lease_without_a_disk);
}

int main(void)
{
	TCase *cases = tcase_create("election_lease");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_promise_is_made_after_a_lease_since_the_start);
	tcase_add_test(
		cases, test_promise_lasts_a_lease_and_then_another_term_may_have_it);
	tcase_add_test(cases, test_holder_of_an_older_term_is_followed_without_a_vote);
	tcase_add_loop_test(cases, test_promise_is_not_made_to_who_is_not_able, 0, 7);
	tcase_add_test(cases, test_lease_is_held_from_when_it_was_asked_for);
	tcase_add_test(
		cases, test_lease_that_ran_out_is_reported_until_there_is_another);
	tcase_add_test(cases, test_lease_given_up_has_not_run_out);
	tcase_add_test(cases, test_lease_is_not_held_before_the_question_came_back);
	tcase_add_loop_test(
		cases, test_lease_is_not_held_by_answers_that_do_not_count, 0, 6);
	tcase_add_test(
		cases, test_lease_asked_again_unanswered_counts_from_the_first_time);
	tcase_add_test(cases, test_lease_in_a_new_view_is_unconfirmed);
	tcase_add_test(cases, test_confirmation_by_hand_counts_in_its_view_alone);
	tcase_add_test(
		cases, test_lease_given_up_promise_to_oneself_lasts_until_its_end);
	tcase_add_loop_test(
		cases, test_master_that_held_the_lease_after_another_stays, 0, 2);
	tcase_add_test(cases,
		test_lease_is_kept_in_a_hand_over_until_the_sm_is_master_no_more);
	tcase_add_test(
		cases, test_master_does_not_hand_over_to_who_differs_until_both_agree);
	tcase_add_test(cases, test_lease_is_given_up_when_the_sm_does_not_hand_over);
	tcase_add_test(cases, test_grant_of_who_knows_a_later_holder_counts);
	tcase_add_test(
		cases, test_lease_not_asked_for_by_the_best_is_asked_for_by_the_next);
	tcase_add_loop_test(cases,
		test_claim_not_granted_is_dropped_and_another_gets_the_promise, 0, 2);
	tcase_add_test(cases, test_claim_made_again_has_all_its_time);
	tcase_add_test(cases, test_claim_after_a_pause_of_a_lease_has_all_its_time);
	tcase_add_test(cases, test_claim_after_a_lease_that_ran_out_has_all_its_time);
	add_disk(cases);
	return run_cases(cases);
}
