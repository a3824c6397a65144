/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Single transitions of one member among two others, told what they say. */
#include "portmgr/election/election.h"

#include <string.h>

#include "portmgr/election/priority.h"
#include "tests/unit/run.h"

#define MS UINT64_C(1000)
#define HERE 5u
#define LEASE_MS 400u
/* Of equal priorities the lower id wins. */
#define BETTER 3u
#define WORSE 9u
#define GOOD (TRIAD_PRIORITY_PORTS_OK | 8u << 14 | 2u << 8)
#define GOOD_MASTER (GOOD | TRIAD_PRIORITY_IS_MASTER)

static struct triad_election *election;
static uint64_t now_us;
static unsigned n_sent[4], n_take_over, n_step_down, n_stored;
static struct triad_election_message last_sent[4];
static bool is_disk_full;

static void forget(void)
{
	memset(n_sent, 0, sizeof(n_sent));
	n_take_over = n_step_down = n_stored = 0;
}

static void collect(void)
{
	struct triad_election_action action;

	while (triad_election_take_action(election, &action)) {
		if (action.kind == TRIAD_ELECTION_SEND) {
			n_sent[action.message.kind]++;
			last_sent[action.message.kind] = action.message;
		}
		n_take_over += action.kind == TRIAD_ELECTION_TAKE_OVER;
		n_step_down += action.kind == TRIAD_ELECTION_STEP_DOWN;
		n_stored += action.kind == TRIAD_ELECTION_STORE;
		if (action.kind == TRIAD_ELECTION_STORE && is_disk_full)
			triad_election_store_failed(election);
	}
}

static void see(unsigned n_members)
{
	struct triad_cluster_view view = {.number = now_us,
		.is_connected = true,
		.is_quorate = true,
		.n_members = n_members,
		.members = {HERE, BETTER, WORSE},
		.n_votes_needed = 2,
		.has_fixed_voters = true};

	triad_election_view(election, &view, now_us);
	collect();
}

static void set_up(void)
{
	const struct triad_election_conf conf = {.id = HERE,
		.status_ms = 100,
		.keepalive_ms = 500,
		.timeout_ms = 200,
		.step_ms = 50,
		.n_steps = 3,
		.lease_ms = LEASE_MS,
		.has_cluster = true};
	const struct triad_election_stored stored = {.term = 0};

	now_us = 1000 * MS;
	is_disk_full = false;
	election = triad_election_new(&conf, &stored, now_us);
	ck_assert_ptr_nonnull(election);
	triad_election_ports(election, 2, 2, now_us);
	see(3);
	forget();
}

static void tear_down(void)
{
	triad_election_free(election);
}

static struct triad_election_message message_of(enum triad_election_kind kind,
	uint64_t from, enum triad_election_state state, uint32_t priority)
{
	return (struct triad_election_message){.kind = kind,
		.state = state,
		.flags = TRIAD_ELECTION_IS_ABLE,
		.from = from,
		.to = kind == TRIAD_ELECTION_STATUS ? 0 : HERE,
		.lease_ms = LEASE_MS,
		.priority = priority};
}

static void hear_message(const struct triad_election_message *message)
{
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size = triad_election_message_encode(message, octets);

	triad_election_payload(election, message->from, octets, size, now_us);
	collect();
}

static void hear(enum triad_election_kind kind, uint64_t from,
	enum triad_election_state state, uint32_t priority)
{
	struct triad_election_message message = message_of(kind, from, state, priority);

	hear_message(&message);
}

static void run_to(uint64_t us)
{
	now_us = us;
	triad_election_run(election, now_us);
	collect();
}

static struct triad_election_status status(void)
{
	struct triad_election_status now;

	triad_election_status(election, now_us, &now);
	return now;
}

static enum triad_election_state state(void)
{
	return status().state;
}

/* The time until it becomes master, with nothing heard. */
static void check_election_ends_at(uint64_t us)
{
	run_to(us - 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	run_to(us);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 1);
}

static void become_standby_of_better(void)
{
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
	forget();
}

static void become_master(void)
{
	run_to(1200 * MS);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	forget();
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
		hear(i % 3 ? TRIAD_ELECTION_STATUS : TRIAD_ELECTION_CEDE, WORSE,
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
		hear(i % 2 ? TRIAD_ELECTION_STATUS : TRIAD_ELECTION_CEDE, BETTER,
			TRIAD_ELECTION_ELECTING, GOOD);
	check_election_ends_at((1200 + 50 * (uint64_t)(_i < 3 ? _i : 3)) * MS);
}
END_TEST

/* TAKEOVER to who elects says that it is the better one. */
START_TEST(test_electing_told_to_take_over_is_sooner)
{
	hear(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	check_election_ends_at(1150 * MS);
}
END_TEST

START_TEST(test_electing_that_hears_all_and_none_better_is_master_at_once)
{
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
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
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER,
		TRIAD_PRIORITY_IS_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

/* What was heard before this election may have changed since. */
START_TEST(test_electing_that_heard_all_in_another_election_waits)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	run_to(now_us + 1);
	for (unsigned i = 0; i < 2; i++) {
		hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, 0);
		ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	}
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

/* --- STANDBY --- */

/* Row: E4 */
START_TEST(test_standby_answers_status_by_its_own_priority)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_CEDE].to, WORSE);
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD + 0x100);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 1);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].to, WORSE);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	/* Equal: the lower id. */
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 2);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_TAKEOVER].to, BETTER);
}
END_TEST

/* Row: E3, E13 */
START_TEST(test_standby_that_hears_no_master_for_keepalive_elects)
{
	become_standby_of_better();
	run_to(1499 * MS);
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
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
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_STANDBY, GOOD);
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
START_TEST(test_standby_told_to_take_over_by_its_master_does)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_TAKEOVER, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(n_take_over, 1);
}
END_TEST

START_TEST(test_standby_of_better_master_told_to_take_over_by_another_does_not)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(n_take_over, 0);
}
END_TEST

START_TEST(test_standby_of_worse_master_told_to_take_over_by_worse_does)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	hear(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD + 0x100);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	hear(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

START_TEST(test_standby_told_to_cede_stays)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
	hear(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
}
END_TEST

START_TEST(test_standby_that_hears_better_master_changes_to_it_and_not_to_worse)
{
	become_standby_of_better();
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_uint_eq(status().master, BETTER);
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_MASTER, GOOD_MASTER + 0x100);
	ck_assert_uint_eq(status().master, WORSE);
}
END_TEST

START_TEST(test_standby_of_master_that_does_not_yield_elects)
{
	become_standby_of_better();
	for (unsigned i = 0; i < 5; i++) {
		run_to(now_us + 100 * MS);
		hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
		ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	}
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 5);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, 0);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
}
END_TEST

/* --- MASTER --- */

/* Row: E3 */
START_TEST(test_master_says_status_every_status_time)
{
	become_master();
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
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
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 1);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_TAKEOVER], 1);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
}
END_TEST

START_TEST(test_master_answers_one_that_shouts_eight_times_a_status_time)
{
	become_master();
	for (unsigned i = 0; i < 100; i++)
		hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 8);
	run_to(now_us + 100 * MS);
	hear(TRIAD_ELECTION_STATUS, WORSE, TRIAD_ELECTION_ELECTING, GOOD);
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_CEDE], 9);
}
END_TEST

/* Row: E4 */
START_TEST(test_master_told_to_cede_by_better_master_follows_it)
{
	become_master();
	hear(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_STANDBY);
	ck_assert_uint_eq(status().master, BETTER);
	ck_assert_uint_eq(n_step_down, 1);
}
END_TEST

START_TEST(test_master_told_to_cede_by_better_standby_elects)
{
	become_master();
	hear(TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_STANDBY, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_ELECTING);
	ck_assert_uint_eq(n_step_down, 1);
}
END_TEST

/* Row: E4 */
START_TEST(test_master_told_to_cede_by_worse_stays_and_counts)
{
	become_master();
	hear(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded_ignored, 1);
	ck_assert_uint_eq(status().n_ceded, 0);
}
END_TEST

/* IS_CONF_MANAGER counts of whom we promised the lease to, and of nobody else. */
START_TEST(test_master_told_to_cede_by_manager_without_promise_stays)
{
	become_master();
	hear(TRIAD_ELECTION_CEDE, WORSE, TRIAD_ELECTION_MASTER,
		UINT32_MAX >> 7 & ~(UINT32_C(1) << 23));
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded_ignored, 1);
}
END_TEST

START_TEST(test_master_overhears_another_told_to_cede_stays)
{
	struct triad_election_message message = message_of(
		TRIAD_ELECTION_CEDE, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);

	become_master();
	message.to = WORSE;
	hear_message(&message);
	ck_assert_int_eq(state(), TRIAD_ELECTION_MASTER);
	ck_assert_uint_eq(status().n_ceded, 0);
}
END_TEST

START_TEST(test_master_told_to_take_over_stays)
{
	become_master();
	hear(TRIAD_ELECTION_TAKEOVER, WORSE, TRIAD_ELECTION_STANDBY, GOOD);
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
	triad_election_ports(election, 2, 1, now_us);
	collect();
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_STATUS], 1);
	ck_assert(!triad_priority_ports_ok(last_sent[TRIAD_ELECTION_STATUS].priority));
	triad_election_ports(election, 2, 1, now_us);
	collect();
	ck_assert_uint_eq(n_sent[TRIAD_ELECTION_STATUS], 1);
}
END_TEST

/* --- promises --- */

static uint64_t grant_to(uint64_t from, uint64_t claim, uint64_t term)
{
	struct triad_election_message message = message_of(TRIAD_ELECTION_STATUS, from,
		TRIAD_ELECTION_MASTER, GOOD_MASTER + 0x100);
	unsigned n_answers;

	message.claim = claim;
	message.term = term;
	forget();
	hear_message(&message);
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
	/* A promise made again is no news. */
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
	/* That term was promised to another; the one above was not. */
	ck_assert_uint_eq(grant_to(WORSE, 1, 2), 0);
	ck_assert_uint_eq(grant_to(WORSE, 2, 2), 2);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
	run_to(2300 * MS);
	ck_assert_uint_eq(grant_to(BETTER, 1, 2), 0);
	ck_assert_uint_eq(grant_to(BETTER, 2, 2), 0);
	ck_assert_uint_eq(grant_to(BETTER, 3, 3), 3);
	ck_assert_uint_eq(status().n_stale, 3);
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
		message.generation = 6; /* an old one */
	if (_i == 2)
		message.hash = 78; /* another with the same number */
	if (_i == 3)
		ck_assert_int_eq(
			triad_election_blacklist(election, BETTER, true, now_us), 0);
	if (_i == 4) {
		now_us++;
		see(1);
	}
	if (_i == 5)
		message.lease_ms++; /* a promise would not last as long */
	hear_message(&message);
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
	hear_message(&own);
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
	hear_message(&answer);
	ck_assert(is_holder());
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
	hear_message(&first);
	hear_message(&second);
	ck_assert(!is_holder());
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
	hear_message(&answer);
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
	hear_message(&answer);
	ck_assert(!is_holder());
}
END_TEST

static void hold(void)
{
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	come_back();
	hear_message(&answer);
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

static bool has_run_out(void)
{
	struct triad_permission_facts facts;

	triad_election_facts(election, &facts);
	return facts.has_run_out;
}

START_TEST(test_lease_that_ran_out_is_told_until_there_is_another)
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

/* What was permitted a moment ago may still be on its way to a port. */
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

/* Two masters meet that both held the lease: who had it first does not know, the other
 * does, whoever is heard first, and whatever their ids are. */
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
	message.term = 7; /* the later view's: that says nothing of leases */
	message.held = cases[_i].held;
	hear_message(&message);
	ck_assert_int_eq(state(), cases[_i].state);
	run_to(2000 * MS);
	ck_assert_int_eq(!!(last_sent[TRIAD_ELECTION_STATUS].priority &
				 TRIAD_PRIORITY_WAS_HOLDER_LAST),
		cases[_i].state == TRIAD_ELECTION_MASTER);
}
END_TEST

/* Whoever loses the first place on the way asks anew; the answer counts all the same.
 */
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
	hear_message(&answer);
	ck_assert(is_holder());
}
END_TEST

/* A member that says it is able and never asks keeps nobody from the lease for ever. */
START_TEST(test_lease_not_asked_for_by_the_best_is_asked_for_by_the_next)
{
	for (uint64_t ms = 1000; ms < 3000; ms += 100) {
		run_to(ms * MS);
		hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
		ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
	}
	forget();
	run_to(3000 * MS);
	ck_assert_uint_ge(n_sent[TRIAD_ELECTION_STATUS], 1);
	ck_assert_uint_ne(last_sent[TRIAD_ELECTION_STATUS].claim, 0);
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
	hear_message(&message);
	ck_assert_uint_eq(status().term, 0);
	run_to(now_us + 100 * MS);
	ck_assert_uint_eq(last_sent[TRIAD_ELECTION_STATUS].held, 0);
	message.held = 0;
	message.term--;
	hear_message(&message);
	ck_assert_uint_eq(status().term, (UINT64_C(1) << 32) - 1);
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
	/* Tried again by time, not by who asks. */
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
	/* Nobody else has it meanwhile. */
	ck_assert_uint_eq(grant_to(WORSE, 1, 1), 0);
	hear(TRIAD_ELECTION_STATUS, BETTER, TRIAD_ELECTION_MASTER, GOOD_MASTER);
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
	hear_message(&answers[0]);
	hear_message(&answers[1]);
	ck_assert_int_eq(is_holder(), _i == 1);
}
END_TEST

START_TEST(test_holder_keeps_its_lease_without_a_disk)
{
	struct triad_election_message answer;

	ask();
	answer = grant_of(WORSE);
	come_back();
	hear_message(&answer);
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

static void add_states(TCase *cases)
{
	tcase_add_test(cases, test_standby_answers_status_by_its_own_priority);
	tcase_add_test(cases, test_standby_that_hears_no_master_for_keepalive_elects);
	tcase_add_test(cases, test_standby_whose_master_steps_down_elects);
	tcase_add_test(cases, test_standby_whose_master_leaves_the_view_elects);
	tcase_add_test(cases, test_standby_told_to_take_over_by_its_master_does);
	tcase_add_test(cases,
		test_standby_of_better_master_told_to_take_over_by_another_does_not);
	tcase_add_test(
		cases, test_standby_of_worse_master_told_to_take_over_by_worse_does);
	tcase_add_test(cases, test_standby_told_to_cede_stays);
	tcase_add_test(cases,
		test_standby_that_hears_better_master_changes_to_it_and_not_to_worse);
	tcase_add_test(cases, test_standby_of_master_that_does_not_yield_elects);
	tcase_add_test(cases, test_master_says_status_every_status_time);
	tcase_add_test(cases, test_master_answers_status_by_its_own_priority);
	tcase_add_test(
		cases, test_master_answers_one_that_shouts_eight_times_a_status_time);
	tcase_add_test(cases, test_master_told_to_cede_by_better_master_follows_it);
	tcase_add_test(cases, test_master_told_to_cede_by_better_standby_elects);
	tcase_add_test(cases, test_master_told_to_cede_by_worse_stays_and_counts);
	tcase_add_test(
		cases, test_master_told_to_cede_by_manager_without_promise_stays);
	tcase_add_test(cases, test_master_overhears_another_told_to_cede_stays);
	tcase_add_test(cases, test_master_told_to_take_over_stays);
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
	tcase_add_test(cases, test_electing_told_to_take_over_is_sooner);
	tcase_add_test(
		cases, test_electing_that_hears_all_and_none_better_is_master_at_once);
	tcase_add_test(cases, test_electing_that_hears_better_master_follows_it);
	tcase_add_test(cases, test_electing_that_hears_worse_master_does_not_follow);
	tcase_add_test(cases, test_electing_that_heard_all_in_another_election_waits);
	add_states(cases);
	add_disk(cases);
	tcase_add_test(cases, test_promise_is_made_after_a_lease_since_the_start);
	tcase_add_test(
		cases, test_promise_lasts_a_lease_and_then_another_term_may_have_it);
	tcase_add_loop_test(cases, test_promise_is_not_made_to_who_is_not_able, 0, 7);
	tcase_add_test(cases, test_lease_is_held_from_when_it_was_asked_for);
	tcase_add_test(cases, test_lease_that_ran_out_is_told_until_there_is_another);
	tcase_add_test(cases, test_lease_given_up_has_not_run_out);
	tcase_add_test(cases, test_lease_is_not_held_before_the_question_came_back);
	tcase_add_loop_test(
		cases, test_lease_is_not_held_by_answers_that_do_not_count, 0, 6);
	tcase_add_test(
		cases, test_lease_asked_again_unanswered_counts_from_the_first_time);
	tcase_add_test(cases, test_lease_in_a_new_view_is_unconfirmed);
	tcase_add_test(
		cases, test_lease_given_up_promise_to_oneself_lasts_until_its_end);
	tcase_add_loop_test(
		cases, test_master_that_held_the_lease_after_another_stays, 0, 2);
	tcase_add_test(cases, test_grant_of_who_knows_a_later_holder_counts);
	tcase_add_test(
		cases, test_lease_not_asked_for_by_the_best_is_asked_for_by_the_next);
	tcase_add_test(cases, test_subnet_is_up_by_a_master_only);
	tcase_add_test(cases, test_electing_whose_sm_is_master_says_so);
	tcase_add_test(cases, test_payload_in_the_name_of_another_is_not_heard);
	tcase_add_test(cases, test_term_far_above_all_is_not_learnt);
	return run_cases(cases);
}
