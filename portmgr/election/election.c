/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/election.h"

#include <errno.h>
#include <stdlib.h>

#include "portmgr/election/election_parts.h"
#include "portmgr/election/priority.h"

#define DEFAULT_PREFERENCE 8

/* --- life --- */

struct triad_election *triad_election_new(const struct triad_election_conf *conf,
	const struct triad_election_stored *stored, uint64_t now_us)
{
	struct triad_election *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->conf = *conf;
	e->stored = *stored;
	e->durable = *stored;
	e->now_us = e->begun_us = now_us;
	/* Wait until promises from before the start have ended, which may be longer. */
	if (e->stored.lease_ms > conf->lease_ms)
		e->votes_from_us = now_us + election_us(e->stored.lease_ms);
	else
		e->votes_from_us = now_us + election_us(conf->lease_ms);
	e->stored.lease_ms = conf->lease_ms;
	e->preference = DEFAULT_PREFERENCE;
	e->state = TRIAD_ELECTION_ELECTING;
	e->sm_priority = UINT8_MAX; /* none was set */
	return e;
}

void triad_election_free(struct triad_election *election)
{
	free(election);
}

/* --- out --- */

struct triad_election_action *election_act(
	struct triad_election *e, enum triad_election_action_kind kind)
{
	struct triad_election_action *action;

	if (e->n_actions == MAX_ACTIONS)
		return NULL;
	action = &e->actions[e->n_actions++];
	action->kind = kind;
	return action;
}

void election_store(struct triad_election *e)
{
	struct triad_election_action *action = NULL;

	/* Keep one STORE in the queue and put all changes into it, because the actions
	 * that are queued after it depend on them. */
	for (uint32_t i = 0; i < e->n_actions && !action; i++)
		if (e->actions[i].kind == TRIAD_ELECTION_STORE)
			action = &e->actions[i];
	if (!action)
		action = election_act(e, TRIAD_ELECTION_STORE);
	if (action)
		action->stored = e->stored;
}

void election_store_again(struct triad_election *e)
{
	if (e->has_disk_trouble && e->now_us >= e->store_again_us)
		election_store(e);
}

void triad_election_store_failed(struct triad_election *election)
{
	struct triad_election *e = election;

	e->durable = e->previous;
	e->has_disk_trouble = true;
	e->store_again_us = e->now_us + election_us(e->conf.status_ms);
	lease_unstored(e);
	/* Remove what was not stored from the messages that are queued after it. */
	for (uint32_t i = 0; i < e->n_actions; i++) {
		struct triad_election_message *m = &e->actions[i].message;

		if (e->actions[i].kind != TRIAD_ELECTION_SEND)
			continue;
		if (!lease_is_on_disk(e, m->to, m->grant))
			m->grant = 0;
		m->claim = e->claim;
		m->round = e->claim ? m->round : 0;
	}
}

static uint8_t own_flags(const struct triad_election *e)
{
	struct triad_permission_facts facts;
	uint8_t flags = 0;

	triad_election_facts(e, &facts);
	/* Without a disk this member can't claim: the others need not wait for it. */
	if (triad_permission_is_able(&facts) && (e->claim || !e->has_disk_trouble))
		flags |= TRIAD_ELECTION_IS_ABLE;
	if (e->conf.is_witness)
		flags |= TRIAD_ELECTION_IS_WITNESS;
	if (e->is_sm_master)
		flags |= TRIAD_ELECTION_SM_IS_MASTER;
	return flags;
}

void election_send(struct triad_election *e, enum triad_election_kind kind,
	const struct triad_election_message *to, uint64_t grant)
{
	struct triad_election_action *action;

	/* STATUS goes to all members, so it also asks for the lease. */
	if (!to) {
		lease_ask(e);
		e->status_due_us = e->now_us + election_us(e->conf.status_ms);
	}
	action = election_act(e, TRIAD_ELECTION_SEND);
	if (!action)
		return;
	action->message = (struct triad_election_message){
		.kind = kind,
		.state = e->state,
		.flags = own_flags(e),
		.from = e->conf.id,
		.to = to ? to->from : 0,
		.priority = e->priority,
		.round = e->claim ? e->round.number : 0,
		.answers = to ? to->round : 0,
		.term = e->stored.term,
		.claim = e->claim,
		.grant = grant,
		.generation = e->generation,
		.hash = e->hash,
		.newest = e->stored.generation,
		.lease_ms = e->conf.lease_ms,
		.held = e->newest_held,
		.blacklist = e->stored.blacklist,
	};
}

bool triad_election_take_action(
	struct triad_election *election, struct triad_election_action *action)
{
	if (!election->n_actions)
		return false;
	*action = election->actions[0];
	/* Keep one previous state: the caller reports a failure before it takes the
	 * next action. */
	if (action->kind == TRIAD_ELECTION_STORE) {
		election->previous = election->durable;
		election->durable = action->stored;
		election->has_disk_trouble =
			false; /* until the caller reports a failure */
	}
	election->n_actions--;
	for (uint32_t i = 0; i < election->n_actions; i++)
		election->actions[i] = election->actions[i + 1];
	return true;
}

/* --- input --- */

static void set_now(struct triad_election *e, uint64_t now_us)
{
	if (now_us > e->now_us)
		e->now_us = now_us;
	/* Do this first, so that nothing is sent or answered as the holder of a lease
	 * that has ended. */
	if (e->is_holder && e->now_us >= e->lease_until_us)
		lease_run_out(e);
}

/* Runs after every input. */
static void settle_election(struct triad_election *e)
{
	election_store_again(e);
	lease_run(e);
	states_update_priority(e);
	states_run(e);
}

void triad_election_view(struct triad_election *election,
	const struct triad_cluster_view *view, uint64_t now_us)
{
	set_now(election, now_us);
	if (view->number == election->view.number)
		return;
	/* The operator's confirmation counts only for the old view. */
	election->view = *view;
	election->view_us = election->now_us;
	election->is_confirmed_down = false;
	members_keep_view(election);
	lease_view(election);
	states_view(election);
	election->was_connected |= view->is_connected;
	settle_election(election);
}

/* Merges facts that all members finally agree on. */
static void learn(struct triad_election *e, const struct triad_election_message *m)
{
	bool changed = triad_blacklist_merge(&e->stored.blacklist, &m->blacklist);

	if (m->newest > e->stored.generation) {
		e->stored.generation = m->newest;
		changed = true;
	}
	if (m->term > e->stored.term && m->term - e->stored.term < MAX_TERM_JUMP) {
		e->stored.term = m->term;
		changed = true;
	}
	if (m->held > e->newest_held && m->held <= e->stored.term)
		e->newest_held = m->held;
	if (changed)
		election_store(e);
}

static void handle(struct triad_election *e, const struct triad_election_message *m)
{
	if (m->from == e->conf.id) {
		if (m->kind == TRIAD_ELECTION_STATUS)
			lease_back(e, m);
		return;
	}
	/* Note the sender's state even from an answer to another member, but don't
	 * react to that. */
	learn(e, m);
	members_note(e, m);
	if (m->to && m->to != e->conf.id)
		return;
	lease_granted(e, m);
	/* The reaction depends on our priority, which a granted lease raises.  Update
	 * it only after lease_granted(): a new priority sends STATUS, which may ask a
	 * new question, but the grant answers the old one. */
	states_update_priority(e);
	if (m->kind == TRIAD_ELECTION_STATUS)
		states_status(e, m);
	else if (m->kind == TRIAD_ELECTION_TAKEOVER)
		states_takeover(e, m);
	else
		states_cede(e, m);
}

void triad_election_payload(struct triad_election *election, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us)
{
	struct triad_election_message message;
	int error = triad_election_message_decode(&message, payload, size);

	set_now(election, now_us);
	if (error == EPROTONOSUPPORT) {
		election->counts.n_versions++;
		return;
	}
	if (error || message.from != sender) {
		election->counts.n_malformed++;
		return;
	}
	/* Ignore messages before the first view: no members are known. */
	if (!election->view.number)
		return;
	handle(election, &message);
	settle_election(election);
}

void triad_election_ports(struct triad_election *election,
	const struct triad_port_health *health, uint64_t now_us)
{
	set_now(election, now_us);
	election->n_ports = health->n_ports;
	election->n_good = health->n_good;
	election->has_port = health->is_up;
	settle_election(election);
}

void triad_election_sm(
	struct triad_election *election, bool is_master, bool is_up, uint64_t now_us)
{
	set_now(election, now_us);
	election->is_sm_master = is_master;
	election->is_subnet_up = is_master && is_up;
	settle_election(election);
}

void triad_election_check(
	struct triad_election *election, enum triad_check check, uint64_t now_us)
{
	set_now(election, now_us);
	election->check = check;
	settle_election(election);
}

void triad_election_config(struct triad_election *election, uint64_t generation,
	uint64_t hash, uint64_t now_us)
{
	set_now(election, now_us);
	election->generation = generation;
	election->hash = hash;
	if (generation > election->stored.generation) {
		election->stored.generation = generation;
		election_store(election);
	}
	settle_election(election);
}

void triad_election_prefer(
	struct triad_election *election, uint8_t preference, uint64_t now_us)
{
	set_now(election, now_us);
	election->preference = preference;
	settle_election(election);
}

int triad_election_blacklist(
	struct triad_election *election, uint64_t id, bool is_listed, uint64_t now_us)
{
	int error = triad_blacklist_set(&election->stored.blacklist, id, is_listed);

	set_now(election, now_us);
	if (error)
		return error;
	election_store(election);
	settle_election(election);
	if (election->view.number)
		election_send(election, TRIAD_ELECTION_STATUS, NULL, 0);
	return 0;
}

int triad_election_confirm(struct triad_election *election, uint64_t now_us)
{
	set_now(election, now_us);
	if (!election->view.is_connected ||
		election->view.n_members >= election->view.n_votes_needed)
		return EINVAL;
	election->is_confirmed_down = true;
	/* A missing member may hold the lease until then. */
	election->not_before_us =
		election->now_us + election_us(election->conf.lease_ms);
	settle_election(election);
	return 0;
}

void triad_election_resign(struct triad_election *election, uint64_t now_us)
{
	set_now(election, now_us);
	lease_give_up(election);
	if (election->state != TRIAD_ELECTION_STANDBY)
		states_become_standby(election, 0);
	/* Go on as a witness, which votes and answers but never claims or leads. */
	election->conf.is_witness = true;
	if (election->view.number)
		election_send(election, TRIAD_ELECTION_STATUS, NULL, 0);
}

void triad_election_run(struct triad_election *election, uint64_t now_us)
{
	set_now(election, now_us);
	settle_election(election);
}

uint64_t triad_election_next_us(const struct triad_election *election)
{
	uint64_t states_us = states_next_us(election);
	uint64_t lease_us = lease_next_us(election);
	uint64_t next_us = states_us < lease_us ? states_us : lease_us;

	if (election->has_disk_trouble && election->store_again_us < next_us)
		next_us = election->store_again_us;
	return next_us;
}

/* --- queries --- */

void triad_election_facts(
	const struct triad_election *election, struct triad_permission_facts *facts)
{
	const struct triad_election *e = election;

	*facts = (struct triad_permission_facts){
		.is_on = true,
		.is_witness = e->conf.is_witness,
		.is_connected = e->view.is_connected,
		.is_quorate = lease_is_quorate(e),
		.is_blacklisted = triad_blacklist_has(&e->stored.blacklist, e->conf.id),
		.check = e->check,
		.has_old_config = e->stored.generation > e->generation,
		.has_other_config = members_has_other_config(e),
		.has_good_port = e->has_port,
		.is_holder = e->is_holder,
		.has_run_out = e->has_run_out,
		.is_confirmed = e->is_holder && e->lease_view == e->view.number,
		.deadline_us = e->lease_until_us,
		.is_sm_master = e->is_sm_master,
		.is_subnet_up = e->is_subnet_up,
		.term = e->is_holder ? e->held_term : 0,
		.by_hand_view = e->is_confirmed_down ? e->view.number : 0,
		.n_votes_by_hand = e->is_confirmed_down ? lease_votes_needed(e) : 0,
	};
}

static void describe_self(
	const struct triad_election *e, struct triad_election_member *member)
{
	*member = (struct triad_election_member){
		.id = e->conf.id,
		.state = e->state,
		.priority = e->priority,
		.term = e->stored.term,
		.claim = e->claim,
		.generation = e->generation,
		.hash = e->hash,
		.received_us = e->now_us,
		.is_able = own_flags(e) & TRIAD_ELECTION_IS_ABLE,
		.is_witness = e->conf.is_witness,
		.is_blacklisted = triad_blacklist_has(&e->stored.blacklist, e->conf.id),
		.is_self = true,
		.is_sm_master = e->is_sm_master,
	};
}

static void describe_member(const struct triad_election *e,
	const struct received *received, uint64_t now_us,
	struct triad_election_member *member)
{
	const struct triad_election_message *m = &received->message;
	bool is_fresh = now_us < received->at_us + election_us(e->conf.keepalive_ms);

	*member = (struct triad_election_member){
		.id = m->from,
		.state = m->state,
		.priority = m->priority,
		.term = m->term,
		.claim = m->claim,
		.generation = m->generation,
		.hash = m->hash,
		.received_us = received->at_us,
		.lease_ms = m->lease_ms,
		.is_able = m->flags & TRIAD_ELECTION_IS_ABLE,
		.is_witness = m->flags & TRIAD_ELECTION_IS_WITNESS,
		.is_blacklisted = triad_blacklist_has(&e->stored.blacklist, m->from),
		.is_sm_master = is_fresh && (m->flags & TRIAD_ELECTION_SM_IS_MASTER),
	};
	for (uint32_t i = 0; i < e->round.n_grants; i++)
		member->has_granted |= e->round.grants[i] == m->from;
}

/* Finds the holder by its own messages, so that members that gave it no promise know
 * it, too. */
static const struct received *find_holder(const struct triad_election *e)
{
	for (uint32_t i = 0; i < e->n_received; i++)
		if (e->received[i].message.priority & TRIAD_PRIORITY_IS_CONF_MANAGER &&
			members_is_fresh(e, &e->received[i]))
			return &e->received[i];
	return NULL;
}

/* Fills in holder and term of the lease, as far as this member knows. */
static void describe_lease(const struct triad_election *e, uint64_t now_us,
	struct triad_election_status *status)
{
	/* A promise to ourselves is no lease unless a majority gave it, too. */
	bool has_promised = now_us < e->promise.until_us;
	bool knows_holder = has_promised && e->promise.holder != e->conf.id;
	const struct received *received = find_holder(e);

	status->term = has_promised ? e->promise.term : e->stored.term;
	if (e->is_holder) {
		status->holder = e->conf.id;
		status->term = e->held_term;
	} else if (knows_holder) {
		status->holder = e->promise.holder;
	} else if (received) {
		status->holder = received->message.from;
		status->term = received->message.claim;
	}
}

void triad_election_status(const struct triad_election *election, uint64_t now_us,
	struct triad_election_status *status)
{
	const struct triad_election *e = election;

	*status = e->counts;
	status->state = e->state;
	/* A witness follows no master, but shows the one that it knows. */
	status->master = e->conf.is_witness ? members_better_master(e) : e->master;
	status->elected_us = e->elected_since_us;
	describe_lease(e, now_us, status);
	status->priority = e->priority;
	status->sm_priority = e->sm_priority;
	status->view = e->view;
	status->blacklist = e->stored.blacklist;
	describe_self(e, &status->members[status->n_members++]);
	for (uint32_t i = 0; i < e->n_received; i++)
		if (status->n_members < TRIAD_CLUSTER_MAX_MEMBERS)
			describe_member(e, &e->received[i], now_us,
				&status->members[status->n_members++]);
}
