/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims.h"

#include <stdlib.h>
#include <string.h>

#include "collect/claims_parts.h"
#include "triad/clock.h"

static uint64_t ask_gap_us(const struct triad_claims *claims)
{
	return claims->params.liveness_us / 4;
}

struct triad_claims *triad_claims_new(
	const struct triad_claims_params *params, const struct triad_claims_sink *sink)
{
	struct triad_claims *claims = calloc(1, sizeof(*claims));

	if (!claims)
		return NULL;
	claims->params = *params;
	claims->sink = *sink;
	claims->due_us = CLAIMS_NEVER;
	claims->suspended_us = CLAIMS_NEVER;
	claims->n_agents = 1;
	claims->agents[CLAIMS_SELF] = (struct claims_agent){
		.id = params->self,
		.incarnation = params->incarnation,
		.is_alive = params->self,
		.behind_us = CLAIMS_NEVER,
		.differs_us = CLAIMS_NEVER,
		.asked_us = CLAIMS_NEVER,
	};
	if (params->self)
		claims->order[claims->n_order++] = CLAIMS_SELF;
	return claims;
}

void triad_claims_free(struct triad_claims *claims)
{
	if (!claims)
		return;
	free(claims->guids);
	free(claims->nodes);
	free(claims);
}

/* --- beginnings and ends --- */

/* Begins as if this agent had just started: messages were lost, so the state is
 * invalid. */
static void begin_anew(struct triad_claims *claims)
{
	claims->has_begun = true;
	/* Claim nothing before the others had time to report what they own. */
	claims->round_us = claims->now_us + 2 * claims->params.backoff_us;
	/* Agents that start together must not balance loads at the same moments. */
	claims->balance_us = claims->now_us + claims->params.liveness_us +
		claims->params.seed % (claims->params.liveness_us + 1);
	for (unsigned i = 0; i < claims->n_agents; i++)
		if (i == CLAIMS_SELF)
			claims_disown(claims, i, false);
		else
			claims_bury(claims, i);
	for (uint32_t i = 0; i < claims->n; i++)
		claims->nodes[i].due_us = CLAIMS_NEVER;
	claims_plan_all(claims);
	/* First announce that we own nothing, so that nobody relies on our old
	 * claims. */
	if (claims->params.self)
		claims_send_state(claims, true);
	claims_ask_all(claims);
}

/* Notes the time and detects a stall.  Every public function that changes something
 * calls this first. */
static void note_time(struct triad_claims *claims, uint64_t now_us)
{
	/* A known absence is no stall. */
	bool was_asleep = claims->was_called && claims->suspended_us == CLAIMS_NEVER &&
		now_us > claims->now_us + claims->params.liveness_us;

	claims->now_us = now_us;
	claims->was_called = true;
	if (!was_asleep || !claims->has_begun)
		return;
	claims->counts.n_stalls++;
	begin_anew(claims);
}

void triad_claims_set_suspended(
	struct triad_claims *claims, bool is_suspended, uint64_t now_us)
{
	if (is_suspended == (claims->suspended_us != CLAIMS_NEVER))
		return;
	if (is_suspended) {
		note_time(claims, now_us);
		claims->suspended_us = now_us;
	} else {
		/* If the absence was long enough, the next call takes it as a stall. */
		claims->now_us = claims->suspended_us;
		claims->suspended_us = CLAIMS_NEVER;
	}
}

void triad_claims_drain(struct triad_claims *claims, bool drain, uint64_t now_us)
{
	note_time(claims, now_us);
	if (claims->is_draining == drain || !claims->params.self)
		return;
	claims->is_draining = drain;
	claims->agents[CLAIMS_SELF].is_draining = drain;
	claims_plan_all(claims);
	claims_send_state(claims, false);
}

void triad_claims_leave(struct triad_claims *claims, uint64_t now_us)
{
	note_time(claims, now_us);
	if (claims->has_left || !claims->params.self)
		return;
	claims->has_left = true;
	claims->counts.n_given_up += claims->agents[CLAIMS_SELF].n_nodes;
	/* Give up the nodes, so that the others need not wait until we count as
	 * dead. */
	claims_disown(claims, CLAIMS_SELF, false);
	claims_plan_all(claims);
	claims_send_state(claims, true);
}

/* --- input --- */

int triad_claims_set_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint64_t now_us)
{
	uint32_t n_added;
	int error;

	note_time(claims, now_us);
	error = claims_replace_nodes(claims, guids, hops, n, &n_added);
	if (error)
		return error;
	if (!claims->has_begun && n)
		begin_anew(claims);
	else if (n_added)
		claims_ask_for_added(claims, n_added);
	claims_restate(claims);
	claims_flush(claims);
	return 0;
}

void triad_claims_receive_alive(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t now_us)
{
	note_time(claims, now_us);
	claims_receive_alive(claims, head, alive);
}

void triad_claims_receive_owner(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries, uint64_t now_us)
{
	note_time(claims, now_us);
	claims_receive_owner(claims, head, owner, entries);
}

void triad_claims_receive_who_owns(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_who_owns *who,
	const uint64_t *guids, uint64_t now_us)
{
	note_time(claims, now_us);
	claims_answer(claims, head, who, guids);
}

/* --- time --- */

static uint64_t dies_us(
	const struct triad_claims *claims, const struct claims_agent *agent)
{
	return agent->received_us + claims->params.liveness_us + 1;
}

static uint64_t ask_us(
	const struct triad_claims *claims, const struct claims_agent *agent)
{
	/* Wait a little: the missing message may still arrive. */
	uint64_t at_us = agent->behind_us + claims->params.backoff_us / 2;

	if (agent->asked_us == CLAIMS_NEVER ||
		at_us >= agent->asked_us + ask_gap_us(claims))
		return at_us;
	return agent->asked_us + ask_gap_us(claims);
}

/* When to check the agent again. */
static uint64_t run_agent(struct triad_claims *claims, unsigned index)
{
	struct claims_agent *agent = &claims->agents[index];

	if (!agent->is_alive)
		return CLAIMS_NEVER;
	if (claims->now_us >= dies_us(claims, agent)) {
		claims->counts.n_deaths++;
		claims_bury(claims, index);
		return CLAIMS_NEVER;
	}
	if (!claims_is_behind(agent))
		agent->behind_us = CLAIMS_NEVER;
	else if (agent->behind_us == CLAIMS_NEVER)
		agent->behind_us = claims->now_us;
	if (agent->behind_us == CLAIMS_NEVER)
		return dies_us(claims, agent);
	if (claims->now_us >= ask_us(claims, agent)) {
		claims_expect_list(agent, claims->now_us);
		claims->counts.n_lists++;
		claims->sink.ask_list(claims->sink.context, agent->id);
	}
	return ask_us(claims, agent) < dies_us(claims, agent) ? ask_us(claims, agent)
							      : dies_us(claims, agent);
}

uint64_t triad_claims_step(struct triad_claims *claims, uint64_t now_us)
{
	uint64_t next_us;

	note_time(claims, now_us);
	/* Step often enough: the time between two steps reveals a stall. */
	next_us = now_us + claims->params.liveness_us / 4;
	if (!claims->has_begun)
		return next_us;
	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++)
		next_us = triad_clock_earlier(next_us, run_agent(claims, i));
	claims_run_rounds(claims);
	claims_run_balance(claims);
	claims_run_repeats(claims);
	/* Send all claims of this step in one message. */
	claims_flush(claims);
	next_us = triad_clock_earlier(next_us, claims->due_us);
	next_us = triad_clock_earlier(next_us, claims->balance_us);
	if (claims->n_disputed)
		next_us = triad_clock_earlier(next_us, claims->repeat_us);
	/* Later than now: a round that is due again at once would spin. */
	return next_us > now_us ? next_us : now_us + 1;
}

/* --- state --- */

void triad_claims_fill_alive(
	const struct triad_claims *claims, struct triad_collect_alive *alive)
{
	const struct claims_agent *self = &claims->agents[CLAIMS_SELF];

	alive->n_nodes = self->n_nodes;
	alive->n_announced = claims->number;
	alive->claims = self->digest;
	alive->is_draining = claims->is_draining;
}

uint64_t triad_claims_changes(const struct triad_claims *claims)
{
	return claims->changes;
}

bool triad_claims_agent(
	const struct triad_claims *claims, unsigned i, struct triad_claims_agent *agent)
{
	const struct claims_agent *known;

	if (i >= claims->n_order)
		return false;
	known = &claims->agents[claims->order[i]];
	*agent = (struct triad_claims_agent){
		.id = known->id,
		.incarnation = known->incarnation,
		.state = !known->is_alive    ? TRIAD_CLAIMS_DEAD
			: known->is_draining ? TRIAD_CLAIMS_DRAINING
					     : TRIAD_CLAIMS_ALIVE,
		.received_us = claims->order[i] == CLAIMS_SELF ? claims->now_us
							       : known->received_us,
		.n_nodes = known->n_nodes,
		.is_behind = claims_is_behind(known),
	};
	return true;
}

struct triad_claims_counts triad_claims_counts(const struct triad_claims *claims)
{
	return claims->counts;
}

size_t triad_claims_octets(const struct triad_claims *claims)
{
	return sizeof(*claims) +
		claims->n * (sizeof(*claims->guids) + sizeof(*claims->nodes));
}
