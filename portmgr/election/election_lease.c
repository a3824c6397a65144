/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lease of the configuration manager: claims and promises.
 *
 * Why two members never hold it at once: the holder's lease ends, by its clock, before
 * asked + lease.  A grant is a promise that lasts, by the voter's clock, until received
 * + lease, and received is not before asked.  Majorities intersect, so a second
 * holder's majority has a voter of the first one, whose promise must have ended.
 * A majority is one of the configured voters, whoever can be reached, so any two have a
 * voter in common.  That voter also knows the highest term and generation that the
 * first holder had, so that the second one can't do without them.
 *
 * A question is repeated with the same number, and counts from its first time, until it
 * has come back to its sender.  So an old question in the queue of a stopped cluster
 * service gives nobody a lease when the service continues. */
#include "portmgr/election/election_parts.h"

/* After this many leases, drop a claim that was not granted, for a while. */
#define CLAIM_LEASES 3u

static uint64_t lease_us(const struct triad_election *e)
{
	return election_us(e->conf.lease_ms);
}

uint32_t lease_votes_needed(const struct triad_election *e)
{
	uint32_t here = e->view.n_members / 2 + 1;

	if (e->is_confirmed_down && here < e->view.n_votes_needed)
		return here;
	return e->view.n_votes_needed;
}

bool lease_is_quorate(const struct triad_election *e)
{
	return e->view.is_connected && (e->view.is_quorate || e->is_confirmed_down);
}

/* --- losing it --- */

/* Ignores further answers to the round.  Still waits for its question to come back
 * before it asks a new one: see the top of the file. */
static void forget_round(struct triad_election *e)
{
	e->round.is_complete = true;
}

void lease_give_up(struct triad_election *e)
{
	bool had = e->is_holder;
	uint64_t until_us = had ? e->lease_until_us : 0;

	e->is_holder = false;
	e->lease_until_us = 0;
	e->yields_until_us = 0;
	e->claim = 0;
	forget_round(e);
	/* Keep the promise to ourselves until the lease would have ended: a Set that
	 * was permitted a moment ago may still be on its way to a port. */
	if (e->promise.holder == e->conf.id)
		e->promise.until_us = until_us > e->now_us ? until_us : e->now_us;
	if (!had)
		return;
	e->first_claimed_us = e->now_us; /* the next claim has its full time */
	e->counts.n_leases_lost++;
	states_update_priority(e);
}

void lease_yield(struct triad_election *e)
{
	if (!e->is_holder || !e->is_sm_master) {
		lease_give_up(e);
		return;
	}
	e->yields_until_us = e->now_us + YIELD_US;
	states_update_priority(e);
}

void lease_run_out(struct triad_election *e)
{
	lease_give_up(e);
	e->has_run_out = true;
}

/* --- asking --- */

static bool may_vote(const struct triad_election *e)
{
	return e->now_us >= e->votes_from_us || !e->conf.has_cluster;
}

static bool has_promised_other(const struct triad_election *e, uint64_t to)
{
	return e->now_us < e->promise.until_us && e->promise.holder != to;
}

static bool wants_lease(struct triad_election *e)
{
	/* Always call this: it also measures how long a candidate has had to get the
	 * lease. */
	uint64_t candidate = members_candidate(e);

	return candidate == e->conf.id && lease_is_quorate(e) &&
		(e->claim || !e->has_disk_trouble) &&
		e->state != TRIAD_ELECTION_ELECTING && !e->conf.is_witness &&
		may_vote(e) && e->now_us >= e->claim_again_us &&
		(e->claim || members_are_heard(e)) &&
		!has_promised_other(e, e->conf.id);
}

static void make_claim(struct triad_election *e)
{
	e->claim = ++e->stored.term;
	e->claimed_us = e->now_us;
	e->was_refused = false;
	e->status_due_us = e->now_us; /* ask at once */
	forget_round(e);
	election_store(e);
}

/* Whether a claim made now continues an earlier one: our last promise was to ourselves,
 * and has not ended or did so a moment ago, so nobody else had time to get it. */
static bool continues_claim(const struct triad_election *e)
{
	return e->promise.holder == e->conf.id &&
		e->now_us < e->promise.until_us + lease_us(e) / 2;
}

/* Makes a claim, or a new one if a member can't grant the old one because it knows a
 * higher term.  A holder keeps the lease of its old term meanwhile. */
static void renew_claim(struct triad_election *e)
{
	bool is_low = e->claim < e->stored.term && (!e->is_holder || e->was_refused);

	/* A master that yields and at once takes over again drops its claim for a
	 * moment.  Count the time from its first claim all the same, or lease_run()
	 * would never call let_go(). */
	if (!e->claim && !continues_claim(e))
		e->first_claimed_us = e->now_us;
	/* A term that is not on disk could be begun twice. */
	if (e->has_disk_trouble)
		return;
	if (!e->claim ||
		(is_low && e->now_us - e->claimed_us >= election_us(e->conf.status_ms)))
		make_claim(e);
}

/* Drops a claim that gets no majority.  Two members that ask at once block each other,
 * because each has promised itself.  Both drop their claims after a while and ask again
 * after different times. */
static void let_go(struct triad_election *e)
{
	uint64_t mixed = (e->conf.id ^ e->claim) * UINT64_C(0x9e3779b97f4a7c15);

	e->claim_again_us = e->now_us + lease_us(e) / 4 * (1 + (mixed >> 60));
	e->first_claimed_us = e->claim_again_us; /* the next claim has its full time */
	lease_give_up(e);
	election_send(e, TRIAD_ELECTION_STATUS, NULL, 0);
}

void lease_ask(struct triad_election *e)
{
	struct round *round = &e->round;

	/* Ask again once the round is complete, or after a quarter of the lease. */
	if (!e->claim || !lease_is_quorate(e) || !round->is_back ||
		(!round->is_complete && e->now_us - round->asked_us < lease_us(e) / 4))
		return;
	*round = (struct round){
		.number = round->number + 1,
		.asked_us = e->now_us,
		.view = e->view.number,
	};
}

/* --- getting it --- */

static void complete(struct triad_election *e)
{
	struct round *round = &e->round;
	uint64_t until_us = round->asked_us + lease_us(e) - lease_us(e) / DRIFT_PARTS;
	bool is_new = !e->is_holder;

	if (!round->is_back || round->is_complete || !lease_is_quorate(e) ||
		round->view != e->view.number ||
		round->n_grants < lease_votes_needed(e))
		return;
	/* The round is over even if its majority came too late: ask in a new one
	 * then. */
	round->is_complete = true;
	if (e->now_us >= until_us || e->now_us < e->not_before_us)
		return;
	e->is_holder = true;
	e->has_run_out = false;
	e->held_term = e->claim;
	if (e->claim > e->newest_held)
		e->newest_held = e->claim;
	e->lease_until_us = until_us;
	e->lease_view = round->view;
	if (!is_new)
		return;
	e->counts.n_leases++;
	/* "Promotes itself to master status because of increased priority." */
	if (e->state != TRIAD_ELECTION_MASTER)
		states_become_master(e);
	else
		states_update_priority(e);
}

static void add_grant(struct triad_election *e, uint64_t from)
{
	struct round *round = &e->round;

	for (uint32_t i = 0; i < round->n_grants; i++)
		if (round->grants[i] == from)
			return;
	if (round->n_grants < TRIAD_CLUSTER_MAX_MEMBERS)
		round->grants[round->n_grants++] = from;
	complete(e);
}

void lease_granted(struct triad_election *e, const struct triad_election_message *m)
{
	if (!e->claim || m->to != e->conf.id || m->answers != e->round.number ||
		!members_in_view(e, m->from))
		return;
	/* A refusal.  If its term is higher, our claim's term is too low. */
	if (m->grant != e->claim) {
		e->was_refused |= m->term > e->claim;
		return;
	}
	add_grant(e, m->from);
}

/* --- promising --- */

bool lease_is_on_disk(const struct triad_election *e, uint64_t to, uint64_t term)
{
	return e->durable.voted_term == term && e->durable.voted_for == to;
}

/* Whether the vote is on disk or can be written.  During disk trouble a request does
 * not cause a write; writes are retried at intervals. */
static bool can_store(const struct triad_election *e, uint64_t to, uint64_t term)
{
	return !e->has_disk_trouble || lease_is_on_disk(e, to, term);
}

/* A promise in memory alone only restricts this member. */
static void promise_in_memory(struct triad_election *e, uint64_t to, uint64_t term)
{
	e->has_run_out &= to == e->conf.id;
	e->promise = (struct promise){
		.holder = to, .term = term, .until_us = e->now_us + lease_us(e)};
}

static void promise(struct triad_election *e, uint64_t to, uint64_t term)
{
	struct triad_election_stored *stored = &e->stored;

	promise_in_memory(e, to, term);
	/* A vote that is on disk needs no write. */
	if (lease_is_on_disk(e, to, term))
		return;
	stored->voted_term = term;
	stored->voted_for = to;
	election_store(e);
}

static bool is_term_new(const struct triad_election *e, uint64_t to, uint64_t term)
{
	return term > e->stored.voted_term ||
		(term == e->stored.voted_term && to == e->stored.voted_for);
}

void lease_back(struct triad_election *e, const struct triad_election_message *m)
{
	if (m->round != e->round.number)
		return;
	e->round.is_back = true;
	if (!e->claim || m->claim != e->claim || e->round.is_complete)
		return;
	if (!may_vote(e) || has_promised_other(e, e->conf.id) ||
		!is_term_new(e, e->conf.id, e->claim) ||
		!can_store(e, e->conf.id, e->claim))
		return;
	promise(e, e->conf.id, e->claim);
	add_grant(e, e->conf.id);
}

/* Whether a vote for the claim would be for a term that begins only once. */
static bool is_claim_new(
	struct triad_election *e, const struct triad_election_message *m)
{
	if (is_term_new(e, m->from, m->claim) && m->claim <= e->stored.term)
		return true;
	/* Our term, which the answer contains, must exceed the claim, so that the sender
	 * uses a higher one. */
	if (e->stored.term == m->claim)
		e->stored.term++;
	e->counts.n_stale++;
	return false;
}

/* Gives a promise and returns its term, or 0.
 *
 * Whoever says that it holds the lease gets the promise of each member that has promised
 * nobody else, in memory at least, even if that member may not vote for it.  For
 * IS_CONF_MANAGER counts only of the sender that has our promise; without one this
 * member would elect against the holder for ever. */
uint64_t lease_vote(struct triad_election *e, const struct triad_election_message *m)
{
	if (!m->claim || !members_in_view(e, m->from) ||
		has_promised_other(e, m->from) || !members_is_able(e, m))
		return 0;
	if (is_claim_new(e, m) && may_vote(e) && members_agrees(e, m) &&
		can_store(e, m->from, m->claim)) {
		promise(e, m->from, m->claim);
		return m->claim;
	}
	if (m->priority & TRIAD_PRIORITY_IS_CONF_MANAGER)
		promise_in_memory(e, m->from, m->claim);
	return 0;
}

void lease_unstored(struct triad_election *e)
{
	bool is_own = e->promise.holder == e->conf.id && e->promise.term == e->claim;

	if (e->claim &&
		(e->durable.term < e->claim ||
			(is_own && !lease_is_on_disk(e, e->conf.id, e->claim))))
		lease_give_up(e);
}

/* --- views and time --- */

void lease_view(struct triad_election *e)
{
	forget_round(e);
	e->round.is_back = true; /* don't wait: messages of the old view may be lost */
	e->status_due_us = e->now_us;
	if (!e->is_holder) {
		e->claim = 0; /* make a new one, which nobody has refused */
		e->first_claimed_us = e->now_us;
	}
}

void lease_run(struct triad_election *e)
{
	if (e->is_holder && e->now_us >= e->lease_until_us)
		lease_run_out(e);
	/* A planned hand-over: give up the lease when OpenSM is no longer master, or
	 * after a time. */
	if (e->yields_until_us && (!e->is_sm_master || e->now_us >= e->yields_until_us))
		lease_give_up(e);
	if (!e->view.number)
		return;
	if (e->claim && !e->is_holder &&
		e->now_us - e->first_claimed_us >= CLAIM_LEASES * lease_us(e))
		let_go(e);
	else if (wants_lease(e))
		renew_claim(e);
	/* A holder that lost the quorum keeps its lease until that runs out, but has no
	 * permission meanwhile.  If the quorum returns before, it goes on as before. */
	else if (e->claim && !e->yields_until_us &&
		!(e->is_holder && !lease_is_quorate(e)))
		lease_give_up(e);
}

uint64_t lease_next_us(const struct triad_election *e)
{
	uint64_t next_us = e->is_holder ? e->lease_until_us : UINT64_MAX;
	uint64_t votes_us = e->votes_from_us, heard_us = e->view_us + lease_us(e);

	if (e->yields_until_us && e->yields_until_us < next_us)
		next_us = e->yields_until_us;
	if (e->now_us < heard_us && heard_us < next_us)
		next_us = heard_us;
	if (e->now_us < votes_us && votes_us < next_us)
		next_us = votes_us;
	if (e->now_us < e->promise.until_us && e->promise.until_us < next_us)
		next_us = e->promise.until_us;
	if (e->now_us < e->claim_again_us && e->claim_again_us < next_us)
		next_us = e->claim_again_us;
	return next_us;
}
