/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/election_parts.h"

/* How many CEDEs a master of lower priority may ignore. */
#define MAX_OWN_CEDES_IGNORED 5u

/* How long after its start an SM waits for its first connection to the others before it
 * takes them for dead. */
#define FIRST_VIEW_US (60 * TRIAD_US_PER_S)

/* --- priority --- */

/* [election-patent, "computes subnet manager priority"] */
static uint32_t make_priority(const struct triad_election *e)
{
	const struct triad_priority_parts parts = {
		.is_conf_manager = e->is_holder && !e->yields_until_us,
		/* Prefer a running master, also in its first election. */
		.is_master = e->state == TRIAD_ELECTION_MASTER ||
			(e->state == TRIAD_ELECTION_ELECTING && e->is_sm_master),
		.was_holder_last = e->held_term && e->held_term == e->newest_held,
		.n_ports = e->n_ports,
		.n_good = e->n_good,
		.preference = e->preference,
	};

	return e->conf.is_witness ? 0 : triad_priority_make(&parts);
}

static void update_sm_priority(struct triad_election *e)
{
	const struct triad_priority_sm sm = {
		.is_conf_manager = e->is_holder && !e->yields_until_us,
		.is_master = e->state == TRIAD_ELECTION_MASTER,
		.is_quorate = lease_is_quorate(e),
		.ports_ok = triad_priority_ports_ok(e->priority),
		.is_connected = e->view.is_connected,
	};
	uint8_t priority = triad_priority_of_sm(&sm);
	struct triad_election_action *action;

	if (e->conf.is_witness || priority == e->sm_priority)
		return;
	e->sm_priority = priority;
	action = election_act(e, TRIAD_ELECTION_SET_PRIORITY);
	if (action)
		action->sm_priority = priority;
}

/* Sends STATUS when the priority changed [election-patent, "status update
 * required"]. */
void states_update_priority(struct triad_election *e)
{
	uint32_t priority = make_priority(e);
	bool changed = priority != e->priority;

	e->priority = priority;
	if (!e->view.number)
		return;
	update_sm_priority(e);
	if (changed)
		election_send(e, TRIAD_ELECTION_STATUS, NULL, 0);
}

/* --- transitions --- */

static void enter_state(struct triad_election *e, enum triad_election_state state)
{
	bool was_master = e->state == TRIAD_ELECTION_MASTER;

	e->state = state;
	e->hand_over_to = 0;
	e->n_own_cedes_ignored = 0;
	if (was_master && state != TRIAD_ELECTION_MASTER)
		election_act(e, TRIAD_ELECTION_STEP_DOWN);
	states_update_priority(e);
}

/* A witness is a standby that never times out. */
void states_elect(struct triad_election *e)
{
	if (e->conf.is_witness) {
		e->state = TRIAD_ELECTION_STANDBY;
		return;
	}
	e->master = 0;
	e->elected_since_us = e->now_us;
	e->deadline_us = e->now_us + election_us(e->conf.timeout_ms);
	e->n_shorter = e->n_longer = 0;
	e->status_due_us = e->now_us;
	e->counts.n_elections++;
	enter_state(e, TRIAD_ELECTION_ELECTING);
}

void states_become_master(struct triad_election *e)
{
	e->master = e->conf.id;
	e->yields_until_us = 0;
	e->status_due_us = e->now_us;
	e->counts.n_won++;
	enter_state(e, TRIAD_ELECTION_MASTER);
	election_act(e, TRIAD_ELECTION_TAKE_OVER);
}

void states_become_standby(struct triad_election *e, uint64_t master)
{
	e->master = master;
	e->deadline_us = e->now_us + election_us(e->conf.keepalive_ms);
	enter_state(e, TRIAD_ELECTION_STANDBY);
}

/* --- messages --- */

/* "A better candidate shortens its election timeout, a worse one lengthens it, a
 * bounded number of times" [election-patent, "decreases election timeout"]: so ours
 * becomes shorter when the other one is worse. */
static void move_deadline(struct triad_election *e, bool other_is_better)
{
	uint64_t step_us = election_us(e->conf.step_ms);

	if (other_is_better && e->n_longer < e->conf.n_steps) {
		e->n_longer++;
		e->deadline_us += step_us;
	}
	if (!other_is_better && e->n_shorter < e->conf.n_steps) {
		e->n_shorter++;
		e->deadline_us -= step_us < e->deadline_us ? step_us : e->deadline_us;
	}
}

/* Ends the election early: there is a better master, or all others are worse. */
static void decide_early(struct triad_election *e)
{
	uint64_t master = members_better_master(e);

	if (master)
		states_become_standby(e, master);
	else if (e->view.is_connected && members_all_worse(e, e->elected_since_us))
		states_become_master(e);
}

/* How a standby reacts to STATUS of its master, or of another one. */
static void follow_master(
	struct triad_election *e, const struct triad_election_message *m)
{
	const struct received *present = members_find(e, e->master);

	if (m->from == e->master && m->state != TRIAD_ELECTION_MASTER) {
		states_elect(e); /* our master stepped down */
		return;
	}
	if (m->state != TRIAD_ELECTION_MASTER)
		return;
	/* Of two masters follow the better one, while its messages come. */
	if (m->from != e->master && present && members_is_fresh(e, present) &&
		!triad_priority_is_better(members_priority(e, m), m->from,
			members_priority(e, &present->message), e->master))
		return;
	e->master = m->from;
	e->deadline_us = e->now_us + election_us(e->conf.keepalive_ms);
}

void states_status(struct triad_election *e, const struct triad_election_message *m)
{
	uint64_t grant;

	/* Don't answer during an election: it is open who is better.  But vote for a
	 * holder of the lease, because IS_CONF_MANAGER counts only of the sender that
	 * has our promise.  Else a member with better ports than the holder would elect
	 * for ever. */
	if (e->state == TRIAD_ELECTION_ELECTING) {
		if ((m->priority & TRIAD_PRIORITY_IS_CONF_MANAGER) &&
			members_may_answer(e, m->from))
			(void)lease_vote(e, m);
		move_deadline(e, members_is_better(e, m));
		decide_early(e);
		return;
	}
	if (!members_may_answer(e, m->from))
		return;
	grant = lease_vote(e, m);
	if (e->state == TRIAD_ELECTION_STANDBY && !e->conf.is_witness)
		follow_master(e, m);
	if (members_is_better(e, m)) {
		election_send(e, TRIAD_ELECTION_TAKEOVER, m, grant);
		return;
	}
	election_send(e, TRIAD_ELECTION_CEDE, m, grant);
	if (m->state != TRIAD_ELECTION_MASTER || m->from != e->master ||
		e->state != TRIAD_ELECTION_STANDBY)
		return;
	/* Our master has a lower priority, and was told to yield.  If it never does, do
	 * not wait for it. */
	if (++e->n_own_cedes_ignored > MAX_OWN_CEDES_IGNORED &&
		!members_better_master(e))
		states_elect(e);
}

/* "Become master".  Obeys the master that hands over, or anybody if no better SM is
 * known. */
void states_takeover(struct triad_election *e, const struct triad_election_message *m)
{
	if (e->state == TRIAD_ELECTION_MASTER || e->conf.is_witness)
		return;
	/* We have just handed over; the others may not know yet to whom. */
	if (e->yields_until_us)
		return;
	/* The sender of TAKEOVER knows that we are better. */
	if (e->state == TRIAD_ELECTION_ELECTING) {
		move_deadline(e, false);
		decide_early(e);
		return;
	}
	if (m->from != e->master)
		follow_master(e, m);
	if ((m->from == e->master && m->state == TRIAD_ELECTION_MASTER) ||
		(!members_better_master(e) && !members_is_better(e, m)))
		states_become_master(e);
}

/* "Yield mastership". */
void states_cede(struct triad_election *e, const struct triad_election_message *m)
{
	bool is_better = members_is_better(e, m);

	if (e->state == TRIAD_ELECTION_STANDBY && !e->conf.is_witness)
		follow_master(e, m);
	if (e->state == TRIAD_ELECTION_ELECTING) {
		move_deadline(e, is_better);
		decide_early(e);
	}
	if (e->state != TRIAD_ELECTION_MASTER)
		return;
	/* Ignore a CEDE from an SM that is not better: it may be faulty. */
	if (!is_better) {
		e->counts.n_ceded_ignored++;
		return;
	}
	e->counts.n_ceded++;
	if (m->state == TRIAD_ELECTION_MASTER)
		states_become_standby(e, m->from);
	else
		states_elect(e);
}

void states_view(struct triad_election *e)
{
	/* Once connected, start again: members need the time of an election to
	 * answer. */
	bool is_reached = e->view.is_connected && !e->was_connected &&
		e->state == TRIAD_ELECTION_ELECTING;
	bool is_first = e->view.number && (!e->elected_since_us || is_reached);

	if (e->conf.is_witness || is_first ||
		(e->state == TRIAD_ELECTION_STANDBY && !members_in_view(e, e->master)))
		states_elect(e);
	else
		states_update_priority(e);
	if (e->state == TRIAD_ELECTION_ELECTING)
		decide_early(e);
}

/* --- time --- */

static bool is_status_wanted(const struct triad_election *e)
{
	return !e->conf.is_witness &&
		(e->state != TRIAD_ELECTION_STANDBY || e->claim != 0);
}

/* Becomes master, as no better SM is known; after the start, first waits for a
 * connection. */
static void end_election(struct triad_election *e)
{
	if (!e->was_connected && e->now_us < e->begun_us + FIRST_VIEW_US)
		e->deadline_us = e->now_us + election_us(e->conf.timeout_ms);
	else
		states_become_master(e);
}

void states_run(struct triad_election *e)
{
	uint64_t preferred;

	if (!e->view.number || e->conf.is_witness)
		return;
	if (e->state == TRIAD_ELECTION_ELECTING && e->now_us >= e->deadline_us)
		end_election(e);
	else if (e->state == TRIAD_ELECTION_STANDBY && e->now_us >= e->deadline_us)
		states_elect(e);
	preferred = e->state == TRIAD_ELECTION_MASTER ? members_preferred(e) : 0;
	/* A planned hand-over.  The other SM first becomes master, then gets the lease;
	 * in the other order no SM could enforce while OpenSM hands over.  Send
	 * TAKEOVER while still master, because it is obeyed only from a master. */
	if (preferred) {
		struct triad_election_message to = members_find(e, preferred)->message;

		lease_yield(e);
		election_send(e, TRIAD_ELECTION_TAKEOVER, &to, 0);
		states_become_standby(e, preferred);
	}
	if (is_status_wanted(e) && e->now_us >= e->status_due_us)
		election_send(e, TRIAD_ELECTION_STATUS, NULL, 0);
}

uint64_t states_next_us(const struct triad_election *e)
{
	uint64_t next_us = UINT64_MAX;

	if (!e->view.number || e->conf.is_witness)
		return next_us;
	if (e->state != TRIAD_ELECTION_MASTER)
		next_us = e->deadline_us;
	if (is_status_wanted(e) && e->status_due_us < next_us)
		next_us = e->status_due_us;
	return next_us;
}
