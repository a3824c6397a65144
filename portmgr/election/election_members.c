/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/election_parts.h"

/* How many leases' time a candidate has to get the lease. */
#define CANDIDATE_LEASES 5u
/* For how many leases it is skipped if it did not get it. */
#define PASSED_LEASES 10u

const struct received *members_find(const struct triad_election *e, uint64_t id)
{
	for (uint32_t i = 0; i < e->n_received; i++)
		if (e->received[i].message.from == id)
			return &e->received[i];
	return NULL;
}

bool members_in_view(const struct triad_election *e, uint64_t id)
{
	for (uint32_t i = 0; i < e->view.n_members; i++)
		if (e->view.members[i] == id)
			return true;
	return false;
}

void members_note(
	struct triad_election *e, const struct triad_election_message *message)
{
	struct received *received = NULL;

	for (uint32_t i = 0; i < e->n_received; i++)
		if (e->received[i].message.from == message->from)
			received = &e->received[i];
	if (!received && e->n_received < TRIAD_CLUSTER_MAX_MEMBERS) {
		received = &e->received[e->n_received++];
		*received = (struct received){.n_answers = 0};
	}
	if (!received)
		return;
	received->message = *message;
	received->at_us = e->now_us;
}

bool members_may_answer(struct triad_election *e, uint64_t id)
{
	for (uint32_t i = 0; i < e->n_received; i++) {
		struct received *received = &e->received[i];

		if (received->message.from != id)
			continue;
		/* Limit the answers to a member that floods us. */
		if (e->now_us - received->window_us >= election_us(e->conf.status_ms)) {
			received->window_us = e->now_us;
			received->n_answers = 0;
		}
		return received->n_answers++ < MAX_ANSWERS;
	}
	return false;
}

void members_keep_view(struct triad_election *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_received; i++)
		if (members_in_view(e, e->received[i].message.from))
			e->received[n++] = e->received[i];
	e->n_received = n;
}

bool members_is_fresh(const struct triad_election *e, const struct received *received)
{
	return received &&
		e->now_us - received->at_us <= election_us(e->conf.keepalive_ms);
}

/* --- comparing --- */

uint32_t members_priority(
	const struct triad_election *e, const struct triad_election_message *message)
{
	bool is_holder =
		message->from == e->promise.holder && e->now_us < e->promise.until_us;
	uint32_t priority = message->priority;

	if (!is_holder)
		priority &= ~TRIAD_PRIORITY_IS_CONF_MANAGER;
	if (message->held < e->newest_held)
		priority &= ~TRIAD_PRIORITY_WAS_HOLDER_LAST;
	return priority;
}

bool members_is_better(
	const struct triad_election *e, const struct triad_election_message *message)
{
	if (message->flags & TRIAD_ELECTION_IS_WITNESS)
		return false;
	if (e->conf.is_witness)
		return true;
	return triad_priority_is_better(
		members_priority(e, message), message->from, e->priority, e->conf.id);
}

uint64_t members_better_master(const struct triad_election *e)
{
	for (uint32_t i = 0; i < e->n_received; i++) {
		const struct received *received = &e->received[i];

		if (received->message.state == TRIAD_ELECTION_MASTER &&
			members_is_fresh(e, received) &&
			members_is_better(e, &received->message))
			return received->message.from;
	}
	return 0;
}

bool members_all_worse(const struct triad_election *e, uint64_t since_us)
{
	for (uint32_t i = 0; i < e->view.n_members; i++) {
		uint64_t id = e->view.members[i];
		const struct received *received = members_find(e, id);

		if (id == e->conf.id)
			continue;
		if (!received || received->at_us < since_us ||
			members_is_better(e, &received->message))
			return false;
	}
	return true;
}

/* Only all of them know who had the lease last, and who is best now. */
bool members_are_heard(const struct triad_election *e)
{
	bool are_all = true;

	for (uint32_t i = 0; i < e->view.n_members; i++) {
		const struct received *received = members_find(e, e->view.members[i]);

		are_all &= e->view.members[i] == e->conf.id ||
			(received && received->at_us >= e->view_us);
	}
	return are_all || e->now_us >= e->view_us + election_us(e->conf.lease_ms);
}

/* --- candidates --- */

bool members_is_able(
	const struct triad_election *e, const struct triad_election_message *message)
{
	return (message->flags & TRIAD_ELECTION_IS_ABLE) &&
		!(message->flags & TRIAD_ELECTION_IS_WITNESS) &&
		message->generation >= e->stored.generation &&
		!triad_blacklist_has(&e->stored.blacklist, message->from);
}

/* Of two configurations with the same generation, nobody knows which one is right. */
static bool has_other_config(
	const struct triad_election *e, const struct triad_election_message *message)
{
	return e->generation && message->generation == e->generation &&
		message->hash != e->hash;
}

bool members_agrees(
	const struct triad_election *e, const struct triad_election_message *message)
{
	return message->lease_ms == e->conf.lease_ms && !has_other_config(e, message);
}

bool members_has_other_config(const struct triad_election *e)
{
	for (uint32_t i = 0; i < e->n_received; i++) {
		const struct triad_election_message *theirs = &e->received[i].message;

		if (!(theirs->flags & TRIAD_ELECTION_IS_WITNESS) &&
			has_other_config(e, theirs))
			return true;
	}
	return false;
}

/* Skips a candidate when the lease has been free for too long.  Otherwise a member that
 * claims to be able, but never asks for the lease, would block all others. */
static bool is_hopeless(struct triad_election *e, uint64_t candidate)
{
	uint64_t lease_us = election_us(e->conf.lease_ms);
	struct passed_over *passed = &e->passed;

	if (!lease_is_quorate(e) || !passed->since_us)
		passed->since_us = e->now_us;
	/* Don't count the time in which our vote belongs to another member. */
	if (passed->since_us < e->promise.until_us)
		passed->since_us = e->promise.until_us;
	if (candidate == e->conf.id ||
		e->now_us < passed->since_us + CANDIDATE_LEASES * lease_us)
		return false;
	passed->since_us = e->now_us;
	passed->excluded = candidate;
	passed->until_us = e->now_us + PASSED_LEASES * lease_us;
	return true;
}

/* Whether the member may become the holder with our vote.  With a hand-over to another
 * one, the lease would be without a holder. */
static bool is_candidate(
	const struct triad_election *e, const struct received *received)
{
	uint64_t id = received->message.from;

	return id != e->conf.id && members_in_view(e, id) &&
		members_is_fresh(e, received) &&
		members_is_able(e, &received->message) &&
		members_agrees(e, &received->message) &&
		!(id == e->passed.excluded && e->now_us < e->passed.until_us);
}

static uint64_t best_candidate(const struct triad_election *e)
{
	struct triad_permission_facts facts;
	uint64_t best = 0;
	uint32_t priority = 0;

	triad_election_facts(e, &facts);
	if (triad_permission_is_able(&facts)) {
		best = e->conf.id;
		priority = e->priority;
	}
	for (uint32_t i = 0; i < e->n_received; i++) {
		const struct triad_election_message *theirs = &e->received[i].message;
		uint32_t theirs_priority = members_priority(e, theirs);

		if (!is_candidate(e, &e->received[i]))
			continue;
		if (!best ||
			triad_priority_is_better(
				theirs_priority, theirs->from, priority, best)) {
			best = theirs->from;
			priority = theirs_priority;
		}
	}
	return best;
}

uint64_t members_candidate(struct triad_election *e)
{
	uint64_t best = best_candidate(e);

	/* is_hopeless() has excluded 'best', so this finds the next best. */
	if (best && is_hopeless(e, best))
		best = best_candidate(e);
	return best;
}

/* --- the operator's preference --- */

static uint64_t more_preferred(const struct triad_election *e)
{
	uint64_t best = 0;
	uint8_t preference = e->preference;

	for (uint32_t i = 0; i < e->n_received; i++) {
		const struct triad_election_message *theirs = &e->received[i].message;
		unsigned health = triad_priority_health(theirs->priority);

		/* Skip a member that is less healthy: we would get mastership back at
		 * once, and a member whose ports flap would get it again and again. */
		if (!is_candidate(e, &e->received[i]) ||
			theirs->state != TRIAD_ELECTION_STANDBY || !health ||
			health < triad_priority_health(e->priority) ||
			triad_priority_preference(theirs->priority) <= preference)
			continue;
		best = theirs->from;
		preference = triad_priority_preference(theirs->priority);
	}
	return best;
}

uint64_t members_preferred(struct triad_election *e)
{
	uint64_t best = more_preferred(e);

	/* Wait a while, so that mastership does not follow every message. */
	if (best != e->hand_over_to) {
		e->hand_over_to = best;
		e->hand_over_since_us = e->now_us;
	}
	if (e->now_us - e->hand_over_since_us < election_us(e->conf.keepalive_ms))
		return 0;
	return best;
}
