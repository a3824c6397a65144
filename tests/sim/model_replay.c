/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Repeats with the code what a run of tests/model/election.pml did, and compares:
 *
 *     spin -T -n7 -u9000 -DPRINTS election.pml | model_replay
 *
 * The three elections begin as the model's members did.  Each step of the model is one
 * input of one of them: the oldest message in its inbox, or its timers.  Afterwards both
 * must agree on state, master, priority, claim, lease, term, vote and promise, and on
 * how many messages wait in each inbox.
 *
 * A tick of the model is TICK_US; within one each step takes 1 us, and all intervals are
 * a little shorter than a whole number of ticks, so that they have ended then.
 *
 * Two things that the model lacks are kept out: no candidate is passed over, and the
 * time after which a claim is made again is the model's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/election/election_parts.h"

#define N 3
#define NONE 3u
#define TICK_US (100 * TRIAD_US_PER_MS)
#define LESS_MS 1u
#define LEASE_TICKS 4u
#define MOMENT_TICKS (LEASE_TICKS / 2)
#define MAX_INBOX 32u

static const char *const states[] = {"", "ELECTING", "STANDBY", "MASTER"};

struct inbox {
	unsigned n;
	struct triad_election_message messages[MAX_INBOX];
};

static struct triad_election *members[N];
static struct inbox inboxes[N];
static bool has_no_disk[N];
static uint64_t now_us = 1000 * TICK_US, tick_us = 1000 * TICK_US;
static uint64_t base; /* the model counts terms from here */
static unsigned n_steps;

static void fail(const char *what, unsigned i, const char *line)
{
	printf("step %u: member %u of the code has another %s than the model's: %s",
		n_steps, i, what, line);
	exit(1);
}

static uint64_t id_of(unsigned i)
{
	return i < N ? i + 1 : 0;
}

static unsigned number_of(uint64_t id)
{
	return id ? (unsigned)id - 1 : NONE;
}

/* When something ends that has so many ticks left. */
static uint64_t end_of(unsigned ticks)
{
	return ticks ? tick_us + ticks * TICK_US - LESS_MS * TRIAD_US_PER_MS : now_us;
}

static enum triad_election_state state_of(const char *name)
{
	for (unsigned i = 1; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(states[i], name) == 0)
			return (enum triad_election_state)i;
	abort();
}

/* --- messages --- */

static void put_message(unsigned to, const struct triad_election_message *message)
{
	struct inbox *inbox = &inboxes[to];

	if (inbox->n == MAX_INBOX)
		abort();
	inbox->messages[inbox->n++] = *message;
}

/* The model leaves out who receives its own message without a question. */
static void send_message(unsigned from, const struct triad_election_message *message)
{
	for (unsigned i = 0; i < N; i++)
		if (i != from ||
			(message->kind == TRIAD_ELECTION_STATUS && message->claim))
			put_message(i, message);
}

static void carry_out(unsigned i)
{
	struct triad_election_action action;

	while (triad_election_take_action(members[i], &action)) {
		if (action.kind == TRIAD_ELECTION_SEND)
			send_message(i, &action.message);
		if (action.kind == TRIAD_ELECTION_STORE && has_no_disk[i])
			triad_election_store_failed(members[i]);
	}
}

static void take_message(unsigned i)
{
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	struct inbox *inbox = &inboxes[i];
	struct triad_election_message message = inbox->messages[0];
	size_t size = triad_election_message_encode(&message, octets);

	inbox->n--;
	memmove(inbox->messages, inbox->messages + 1,
		inbox->n * sizeof(inbox->messages[0]));
	triad_election_payload(members[i], message.from, octets, size, now_us);
}

/* --- the start --- */

static struct triad_election *new_member(unsigned i, unsigned odd)
{
	const struct triad_election_conf conf = {.id = id_of(i),
		.status_ms = 100 - LESS_MS,
		.keepalive_ms = 500 - LESS_MS,
		.timeout_ms = 200 - LESS_MS,
		.lease_ms = LEASE_TICKS * 100 - LESS_MS - odd,
		.has_cluster = true};
	const struct triad_election_stored stored = {.term = 0};
	struct triad_election *e = triad_election_new(&conf, &stored, now_us);

	if (!e)
		abort();
	e->view = (struct triad_cluster_view){.number = 1,
		.is_connected = true,
		.is_quorate = true,
		.n_members = N,
		.members = {id_of(0), id_of(1), id_of(2)},
		.n_votes_needed = 2};
	e->was_connected = true;
	e->elected_since_us = now_us;
	e->status_due_us = now_us;
	e->round.is_back = e->round.is_complete = true;
	return e;
}

static void begin_member(const char *line)
{
	unsigned i, health, disk, odd, master, deadline, votes_in, heard_in;
	struct triad_election *e;
	char state[16];

	if (sscanf(line,
		    "start %u health %u disk %u odd %u state %15s master %u "
		    "deadline %u votes_in %u heard_in %u",
		    &i, &health, &disk, &odd, state, &master, &deadline, &votes_in,
		    &heard_in) != 9)
		abort();
	e = members[i] = new_member(i, odd);
	e->n_ports = 3;
	e->n_good = health;
	e->has_port = true;
	e->has_disk_trouble = has_no_disk[i] = !disk;
	e->state = state_of(state);
	e->master = id_of(master);
	e->deadline_us = end_of(deadline);
	e->votes_from_us = end_of(votes_in);
	/* So that the time of a lease after it ends then. */
	e->view_us = end_of(heard_in) - election_us(e->conf.lease_ms);
}

static void begin_lease(const char *line)
{
	unsigned i, promise_to, promise_left, claim, age, term, voted, voted_for, held,
		newest, left;
	struct triad_election *e;

	if (sscanf(line,
		    "lease %u promise_to %u left %u claim %u age %u term %u voted %u "
		    "for %u held %u newest %u left %u",
		    &i, &promise_to, &promise_left, &claim, &age, &term, &voted,
		    &voted_for, &held, &newest, &left) != 11)
		abort();
	e = members[i];
	e->promise = (struct promise){.holder = id_of(promise_to),
		.term = voted,
		.until_us = tick_us + promise_left * TICK_US - MOMENT_TICKS * TICK_US -
			LESS_MS * TRIAD_US_PER_MS};
	e->claim = claim;
	e->first_claimed_us = e->claimed_us = tick_us - age * TICK_US;
	e->stored.term = term;
	e->stored.voted_term = voted;
	e->stored.voted_for = id_of(voted_for);
	e->durable = e->previous = e->stored;
	e->held_term = held;
	e->newest_held = newest;
	e->is_holder = left > 0;
	e->lease_until_us = left > 1 ? end_of(left - 1) : now_us;
	e->lease_view = 1;
	/* The present priority was sent before: without a view none is sent. */
	e->view.number = 0;
	states_update_priority(e);
	e->view.number = 1;
}

/* --- steps --- */

/* In the model's numbers. */
static unsigned priority_of(const struct triad_election *e)
{
	uint32_t priority = e->priority;

	return !!(priority & TRIAD_PRIORITY_IS_CONF_MANAGER) * 128 + e->n_good * 16 +
		!!(priority & TRIAD_PRIORITY_IS_MASTER) * 8 +
		!!(priority & TRIAD_PRIORITY_WAS_HOLDER_LAST);
}

static uint64_t model_term(uint64_t term)
{
	return term > base ? term - base : 0;
}

struct expected {
	char state[16];
	unsigned master, priority, claim, holder, term, voted, voted_for, promise_to,
		again_in, n[N];
};

static void compare_lease(const struct triad_election *e, unsigned i,
	const struct expected *expected, const char *line)
{
	bool promises = now_us < e->promise.until_us;

	if (model_term(e->claim) != expected->claim)
		fail("claim", i, line);
	if (e->is_holder != expected->holder)
		fail("lease", i, line);
	if (model_term(e->stored.term) != expected->term)
		fail("term", i, line);
	if (model_term(e->stored.voted_term) != expected->voted ||
		(expected->voted &&
			number_of(e->stored.voted_for) != expected->voted_for))
		fail("vote", i, line);
	if ((promises ? number_of(e->promise.holder) : NONE) != expected->promise_to)
		fail("promise", i, line);
	if ((now_us < e->claim_again_us) != !!expected->again_in)
		fail("wait for a new claim", i, line);
}

static void compare(const struct triad_election *e, unsigned i,
	const struct expected *expected, const char *line)
{
	if (strcmp(states[e->state], expected->state) != 0)
		fail("state", i, line);
	if (number_of(e->master) != expected->master)
		fail("master", i, line);
	if (priority_of(e) != expected->priority)
		fail("priority", i, line);
	compare_lease(e, i, expected, line);
	for (unsigned k = 0; k < N; k++)
		if (inboxes[k].n != expected->n[k])
			fail("number of messages sent", i, line);
}

static void step(const char *line)
{
	struct expected expected;
	unsigned i, is_message;
	struct triad_election *e;

	if (sscanf(line,
		    "step %u message %u state %15s master %u priority %u claim %u "
		    "holder %u term %u voted %u for %u promise_to %u again_in %u "
		    "inboxes %u %u %u",
		    &i, &is_message, expected.state, &expected.master,
		    &expected.priority, &expected.claim, &expected.holder,
		    &expected.term, &expected.voted, &expected.voted_for,
		    &expected.promise_to, &expected.again_in, &expected.n[0],
		    &expected.n[1], &expected.n[2]) != 15)
		return; /* cut off */
	e = members[i];
	e->passed.since_us = now_us;
	now_us++;
	n_steps++;
	if (is_message && !inboxes[i].n)
		fail("inbox", i, line);
	else if (is_message)
		take_message(i);
	else
		triad_election_run(e, now_us);
	carry_out(i);
	compare(e, i, &expected, line);
	if (expected.again_in)
		e->claim_again_us = end_of(expected.again_in);
	if (expected.again_in && e->first_claimed_us > now_us)
		e->first_claimed_us = e->claim_again_us;
}

int main(void)
{
	char line[400];
	unsigned low, n_ticks = 0;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "start ", 6) == 0) {
			begin_member(line);
		} else if (strncmp(line, "lease ", 6) == 0) {
			begin_lease(line);
		} else if (strncmp(line, "step ", 5) == 0) {
			step(line);
		} else if (sscanf(line, "tick %u", &low) == 1) {
			base += low;
			tick_us += TICK_US;
			now_us = tick_us;
			n_ticks++;
		}
	}
	for (unsigned i = 0; i < N; i++)
		triad_election_free(members[i]);
	printf("%u steps, %u ticks\n", n_steps, n_ticks);
	return n_steps ? 0 : 1;
}
