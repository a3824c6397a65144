/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/answers.h"

#include <string.h>

#include "perfmgr/sweep/plan.h"
#include "perfmgr/sweep/waits.h"

/* --- answers --- */

void triad_answer_note_life(struct triad_sweep_agent *agent)
{
	agent->answered = true;
	agent->was_alive = true;
	agent->failures = 0;
	agent->backoff = (struct triad_backoff){0};
}

void triad_answer_capabilities(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t capabilities)
{
	triad_answer_note_life(agent);
	agent->pending &= (uint8_t)~TRIAD_ASK_CAPABILITIES;
	agent->known = true;
	agent->capabilities = capabilities;
	for (uint32_t i = 0; i < agent->n_ports; i++)
		agents->ports[agent->first_port + i].proven = 0;
	if (!agent->silent)
		triad_plan_agent(agents, agent);
}

/* True when the sum of a counter shows that nothing happened; stores the sum in
 * 'summary'.  A sum at its maximum would hide a change.  One below the ports' own
 * readings is not their sum. */
static bool is_same_sum(
	struct triad_summary *summary, unsigned counter, bool is_wide, uint64_t raw)
{
	bool same = raw == summary->sum[counter] &&
		(is_wide || raw < triad_counter_max(counter)) &&
		raw >= summary->read[counter];

	summary->sum[counter] = raw;
	return same;
}

/* True for a port, or the sums of an agent, that sent or received something. */
static bool has_data(const struct triad_pma_reading *reading)
{
	bool has = false;

	for (unsigned i = TRIAD_PORT_XMIT_DATA; i <= TRIAD_PORT_RCV_PKTS; i++)
		has |= reading->has & 1u << i && reading->raw[i];
	return has;
}

/* True when the sums show no new errors; stores them in 'summary'.  With 'waits_apart'
 * PortXmitWait does not count as an error, because it moves wherever there is
 * traffic. */
static bool is_unchanged(struct triad_summary *summary,
	const struct triad_pma_reading *sums, bool is_wide, bool waits_apart,
	uint64_t now_us)
{
	uint32_t has = sums->has & TRIAD_NARROW_COUNTERS;
	bool unchanged = has && summary->has == has;

	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		bool same = !(has & 1u << i) ||
			is_same_sum(summary, i, is_wide, sums->raw[i]);

		unchanged &= same || (i == TRIAD_PORT_XMIT_WAIT && waits_apart);
	}
	for (unsigned i = TRIAD_FIRST_WIDE_COUNTER; is_wide && i < TRIAD_N_COUNTERS;
		i++)
		if (sums->has & 1u << i)
			unchanged &= sums->raw[i] >= summary->read[i];
	summary->has = has;
	summary->at_us = now_us;
	return unchanged;
}

static enum triad_wait_news wait_news(struct triad_port_plan *state)
{
	state->wait_told |= !state->wait_behind;
	if (!state->wait_behind)
		return TRIAD_WAIT_SAME;
	return state->wait_told ? TRIAD_WAIT_UNKNOWN : TRIAD_WAIT_OLD;
}

/* Ends the ports' wait for the summary.  Ports with known, unchanged errors are done
 * with them; the others are read. */
static void settle_waiting_ports(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint64_t now_us)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);
		uint32_t port = agent->first_port + i;

		if (!state || !(state->todo & TRIAD_ASK_SUMMARY))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		if (!state->errors_known) {
			triad_plan_add(
				agents, agent, port, triad_agent_ask_errors(agent));
			continue;
		}
		agents->sink->unchanged(
			agents->sink->context, port, wait_news(state), now_us);
		triad_plan_finish_if_through(agents, state);
	}
}

/* The errors of each port must be read: the sums changed, or there are none. */
static void forget_errors(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	for (uint32_t i = 0; i < agent->n_ports; i++)
		agents->ports[agent->first_port + i].errors_known = false;
}

/* True when the ports are to be read although their sum is unchanged.  Agents take turns.  It
 * comes out of the share of waits, which these readings serve, too; once that was short for as
 * long again it is done all the same. */
static bool is_confirmation_due(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, struct triad_summary *summary)
{
	struct triad_waits *waits = agents->waits;
	uint32_t turn = (uint32_t)(agent - agents->agents) % TRIAD_SUMS_BELIEVED;
	bool may_wait;

	if (!summary->n_left)
		summary->n_left = (uint16_t)(2 * TRIAD_SUMS_BELIEVED + turn + 1);
	summary->n_left--;
	may_wait = agents->params->waits_apart && waits->credit < agent->n_ports &&
		summary->n_left > 1;
	if (summary->n_left > TRIAD_SUMS_BELIEVED || may_wait)
		return false;
	summary->n_left = 2 * TRIAD_SUMS_BELIEVED;
	if (agents->params->waits_apart) {
		waits->credit -= agent->n_ports;
		waits->n_asked += agent->n_ports;
	}
	return true;
}

void triad_answer_summary(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, const struct triad_pma_reading *sums,
	uint64_t now_us)
{
	/* A new fabric may have left the agent one port, and no summary, since the
	 * question was sent. */
	struct triad_summary *summary = agent->summary == TRIAD_FABRIC_NONE
		? NULL
		: &agents->summaries[agent->summary];
	bool waits_apart = agents->params->waits_apart;
	bool is_wide = triad_pma_has_wide_errors(agent->capabilities);
	enum triad_sum_of_waits waits = TRIAD_SUM_SAME;

	triad_answer_note_life(agent);
	agent->pending &= (uint8_t)~TRIAD_ASK_SUMMARY;
	if (summary && waits_apart && sums->has & 1u << TRIAD_PORT_XMIT_WAIT)
		waits = triad_waits_compare(
			agents, agent, sums->raw[TRIAD_PORT_XMIT_WAIT], now_us);
	if (!summary || !is_unchanged(summary, sums, is_wide, waits_apart, now_us) ||
		(agent->had_data && !has_data(sums)) ||
		is_confirmation_due(agents, agent, summary)) {
		forget_errors(agents, agent);
		if (summary)
			memset(summary->read, 0, sizeof(summary->read));
	} else if (waits_apart) {
		triad_waits_add_sum(agents, agent, waits);
	}
	settle_waiting_ports(agents, agent, now_us);
}

/* The counters that a port's reading shows to be near their maximum. */
static uint32_t near_full(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_pma_reading *reading)
{
	const uint32_t wait = 1u << TRIAD_PORT_XMIT_WAIT;
	uint64_t most_wait = triad_counter_max(TRIAD_PORT_XMIT_WAIT);
	uint32_t mask = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (reading->has & 1u << i && triad_counters[i].select &&
			triad_counter_is_near_full(i, reading->raw[i]))
			mask |= 1u << i;
	/* A sum at its maximum says nothing: reset a port that makes it large. */
	if (agents->params->waits_apart && agent->summary != TRIAD_FABRIC_NONE &&
		agents->summaries[agent->summary].sum[TRIAD_PORT_XMIT_WAIT] ==
			most_wait &&
		reading->has & wait &&
		reading->raw[TRIAD_PORT_XMIT_WAIT] > most_wait / 8)
		mask |= wait;
	return mask;
}

static void add_to_summary(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_pma_reading *reading)
{
	struct triad_summary *summary;

	if (agent->summary == TRIAD_FABRIC_NONE)
		return;
	summary = &agents->summaries[agent->summary];
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (reading->has & 1u << i)
			summary->read[i] += reading->raw[i];
}

/* Plans resets of a port once all of it is read: an agent may keep one register for
 * what it shows in both attributes. */
static void plan_resets(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port)
{
	struct triad_port_plan *state = &agents->ports[port];
	const uint8_t reads = TRIAD_ASK_COUNTERS | TRIAD_ASK_EXTENDED;
	uint8_t resets = TRIAD_ASK_RESET;

	if ((state->todo | state->pending) & reads || state->reset_tried ||
		!(state->resets_all || state->near_full))
		return;
	/* Once a sweep, whether it succeeds or not. */
	state->reset_tried = true;
	if (state->resets_all && triad_pma_has_extended(agent->capabilities))
		resets |= TRIAD_ASK_RESET_EXTENDED;
	triad_plan_add(agents, agent, port, resets);
}

static void note_wait(struct triad_sweep_agents *agents, uint32_t port,
	const struct triad_pma_reading *reading, uint32_t moved)
{
	struct triad_port_plan *state = &agents->ports[port];

	if (moved & TRIAD_SWEEP_WAITS && !state->waits)
		triad_waits_follow_link(agents, port);
	state->wait_behind = state->wait_told = false;
	state->waited = moved & 1u << TRIAD_PORT_XMIT_WAIT;
	/* A counter that stopped does not tell. */
	if (moved & TRIAD_SWEEP_WAITS || !state->waited)
		state->waits = moved & TRIAD_SWEEP_WAITS;
	state->wait_full = reading->has & 1u << TRIAD_PORT_XMIT_WAIT &&
		reading->raw[TRIAD_PORT_XMIT_WAIT] ==
			triad_counter_max(TRIAD_PORT_XMIT_WAIT);
}

void triad_answer_reading(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question,
	const struct triad_pma_reading *reading, uint32_t moved)
{
	struct triad_port_plan *state = &agents->ports[port];
	bool is_held = question == TRIAD_ASK_COUNTERS && state->was_held;

	triad_answer_note_life(agent);
	state->pending &= (uint8_t)~question;
	if (question == TRIAD_ASK_EXTENDED) {
		agent->has_answered_extended = true;
		agent->has_data |= has_data(reading);
	}
	if (is_held) {
		note_wait(agents, port, reading, moved);
	} else if (question == triad_agent_ask_errors(agent)) {
		/* A second reading of a port is already part of the sum. */
		if (!state->errors_known)
			add_to_summary(agents, agent, reading);
		state->errors_known = true;
		note_wait(agents, port, reading, moved);
		/* Wide ones have no maximum. */
		if (agents->params->reset_near_full && question == TRIAD_ASK_COUNTERS)
			state->near_full = near_full(agents, agent, reading);
	}
	if (!agent->silent) {
		/* The other attribute waited for this one, to be compared, until its
		 * agent was not believed. */
		if (state->todo)
			triad_plan_add(agents, agent, port, 0);
		plan_resets(agents, agent, port);
	}
	triad_plan_finish_if_through(agents, state);
}

void triad_answer_comparison(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, bool is_believed)
{
	agents->ports[port].proven =
		(uint8_t)(TRIAD_WIDE_BELIEVED + port % TRIAD_WIDE_BELIEVED);
	if (is_believed)
		return;
	agent->capabilities &= ~(uint32_t)TRIAD_PMA_WIDE_ERRORS;
	/* Sums of the other attribute may be equal, and say nothing of this one. */
	forget_errors(agents, agent);
	/* What these ports are asked for has no errors now. */
	for (uint32_t i = 0; i < agent->n_ports && !agent->silent; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);
		uint8_t asked = state ? state->todo | state->pending : 0;

		if (asked & TRIAD_ASK_EXTENDED && !(asked & TRIAD_ASK_COUNTERS) &&
			!state->failed)
			triad_plan_add(agents, agent, agent->first_port + i,
				TRIAD_ASK_COUNTERS);
	}
}

void triad_answer_reset(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port,
	enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];
	bool of_wait_alone = agents->params->waits_apart &&
		state->near_full == 1u << TRIAD_PORT_XMIT_WAIT && !state->resets_all;

	/* The reset changed the sums, or by chance did not. */
	if (!of_wait_alone) {
		state->errors_known = false;
	} else if (agent->summary != TRIAD_FABRIC_NONE) {
		agents->summaries[agent->summary].sum[TRIAD_PORT_XMIT_WAIT] = 0;
		agents->summaries[agent->summary].read[TRIAD_PORT_XMIT_WAIT] = 0;
		agents->waits->credit--;
		agents->waits->n_asked++;
	}
	state->near_full = 0;
	state->pending &= (uint8_t)~question;
	triad_plan_finish_if_through(agents, state);
}

/* Asks for no summary any more. */
static void drop_summary(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	agent->capabilities &= ~(uint32_t)TRIAD_PMA_ALL_PORT_SELECT;
	forget_errors(agents, agent);
	settle_waiting_ports(agents, agent, 0);
}

void triad_answer_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	triad_answer_note_life(agent);
	switch (question) {
	case TRIAD_ASK_CAPABILITIES:
		/* An agent that refuses ClassPortInfo has only the mandatory
		 * counters. */
		triad_answer_capabilities(agents, agent, 0);
		return;
	case TRIAD_ASK_SUMMARY:
		agent->pending &= (uint8_t)~TRIAD_ASK_SUMMARY;
		drop_summary(agents, agent);
		return;
	case TRIAD_ASK_EXTENDED:
		if (agent->has_answered_extended) {
			state->failed = true; /* it has the attribute, but not for this
			                       * port */
			break;
		}
		/* Its ClassPortInfo promised too much; the 32-bit counters will do. */
		agent->capabilities &= ~(uint32_t)(TRIAD_PMA_EXTENDED_WIDTH |
			TRIAD_PMA_EXTENDED_WIDTH_NO_IETF);
		if (!agent->silent && !(state->pending & TRIAD_ASK_COUNTERS))
			triad_plan_add(agents, agent, port, TRIAD_ASK_COUNTERS);
		break;
	case TRIAD_ASK_COUNTERS:
		/* Wide errors are read all the same. */
		if (triad_pma_has_wide_errors(agent->capabilities) && !agent->silent)
			triad_plan_add(agents, agent, port, TRIAD_ASK_EXTENDED);
		else
			state->failed = true;
		break;
	default:
		/* A reset: the counters may have changed in spite of the refusal. */
		state->errors_known = false;
		break;
	}
	state->pending &= (uint8_t)~question;
	triad_plan_finish_if_through(agents, state);
}

static bool is_same_place(
	const struct triad_mad_address *a, const struct triad_mad_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn;
}

bool triad_answer_redirect(struct triad_sweep_agent *agent,
	const struct triad_mad_address *from, const struct triad_mad_address *to)
{
	if (is_same_place(from, to))
		return false;
	/* Another query was already redirected there. */
	if (is_same_place(&agent->to, to))
		return true;
	agent->to = *to;
	agent->redirected = true;
	return agent->redirects++ < TRIAD_MAX_REDIRECTS;
}

/* --- silence --- */

/* Asks the agent nothing more in this sweep. */
static void silence(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	if (agent->silent)
		return;
	agent->silent = true;
	if (!agent->answered) {
		/* It may come back as another device, with other capabilities. */
		agent->was_alive = false;
		agent->known = false;
		agent->refused = agent->missed = agent->reported = 0;
		agent->redirected = false;
		agent->to = triad_agent_own_address(agents, agent);
		triad_backoff_miss(&agent->backoff);
	}
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (state && !state->finished)
			triad_plan_give_up(agents, state);
	}
}

static void miss_port(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	state->pending &= (uint8_t)~question;
	state->errors_known = false;
	if (question & TRIAD_ASK_RESETS) {
		/* The reset may have been done.  Read once more: otherwise what the
		 * port counts from now on could be taken for earlier counts. */
		if (!agent->silent)
			triad_plan_add(agents, agent, port,
				question == TRIAD_ASK_RESET ? TRIAD_ASK_COUNTERS
							    : TRIAD_ASK_EXTENDED);
	} else {
		/* Only one miss is noted when both attributes stay unanswered. */
		if (!state->failed && !agent->silent)
			triad_backoff_miss(&state->backoff);
		state->failed = true;
		state->todo = 0;
		state->details = state->details_to_reset = 0;
	}
	triad_plan_finish_if_through(agents, state);
}

void triad_answer_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question)
{
	bool is_of_agent = question <= TRIAD_ASK_SUMMARY;

	agent->pending &= (uint8_t)~question;
	/* It may not know sums of that attribute, and ignore what it does not know. */
	if (question == TRIAD_ASK_SUMMARY && agent->was_alive &&
		triad_pma_has_wide_errors(agent->capabilities)) {
		drop_summary(agents, agent);
		return;
	}
	/* Count a port's first failure only: more say nothing new about the agent. */
	if (is_of_agent || !agents->ports[port].failed)
		agent->failures++;
	/* Failures since its last answer.  Up to a window of them may be queries that
	 * were in flight together. */
	if (!agent->answered || agent->failures > agents->params->node_window ||
		question == TRIAD_ASK_CAPABILITIES)
		silence(agents, agent);
	if (!is_of_agent) {
		miss_port(agents, agent, port, question);
	} else if (question == TRIAD_ASK_SUMMARY) {
		forget_errors(agents, agent);
		settle_waiting_ports(agents, agent, 0);
	}
}
