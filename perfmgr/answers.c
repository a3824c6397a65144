/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/answers.h"

#include <string.h>

#include "perfmgr/plan.h"

/* --- answers --- */

static void take_sign_of_life(struct triad_agent *agent)
{
	agent->answered = true;
	agent->was_alive = true;
	agent->failures = 0;
	agent->backoff = (struct triad_backoff){0};
}

void triad_answer_capabilities(
	struct triad_agents *agents, struct triad_agent *agent, uint16_t capabilities)
{
	take_sign_of_life(agent);
	agent->pending &= (uint8_t)~TRIAD_ASK_CAPABILITIES;
	agent->known = true;
	agent->capabilities = capabilities;
	if (!agent->silent)
		triad_plan_agent(agents, agent);
}

/* True when the sums say that nothing happened; 'summary' takes them. */
static bool is_unchanged(
	struct triad_summary *summary, const struct triad_pma_reading *sums)
{
	uint32_t has = sums->has & TRIAD_NARROW_COUNTERS;
	bool unchanged = summary->has == has;

	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		uint64_t raw = sums->raw[i];

		if (!(has & 1u << i))
			continue;
		unchanged &= raw == summary->sum[i] && raw < triad_counter_max(i) &&
			raw >= summary->read[i];
		summary->sum[i] = (uint32_t)raw;
	}
	summary->has = has;
	return unchanged;
}

/* The ports' errors were not summed up: they are read. */
static void read_waiting_ports(struct triad_agents *agents, struct triad_agent *agent)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (!state || !(state->todo & TRIAD_ASK_SUMMARY))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		triad_plan_add(
			agents, agent, agent->first_port + i, TRIAD_ASK_COUNTERS);
	}
}

static void confirm_waiting_ports(
	struct triad_agents *agents, struct triad_agent *agent, uint64_t now_us)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (!state || !(state->todo & TRIAD_ASK_SUMMARY))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		agents->sink->unchanged(
			agents->sink->context, agent->first_port + i, now_us);
		triad_plan_finish_if_through(agents, state);
	}
}

void triad_answer_summary(struct triad_agents *agents, struct triad_agent *agent,
	const struct triad_pma_reading *sums, uint64_t now_us)
{
	struct triad_summary *summary = &agents->summaries[agent->summary];

	take_sign_of_life(agent);
	agent->pending &= (uint8_t)~TRIAD_ASK_SUMMARY;
	if (is_unchanged(summary, sums)) {
		confirm_waiting_ports(agents, agent, now_us);
		return;
	}
	memset(summary->read, 0, sizeof(summary->read));
	read_waiting_ports(agents, agent);
}

static uint32_t near_full(const struct triad_pma_reading *reading)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (reading->has & 1u << i && triad_counters[i].select &&
			triad_counter_is_near_full(i, reading->raw[i]))
			mask |= 1u << i;
	return mask;
}

static void add_to_summary(struct triad_agents *agents, const struct triad_agent *agent,
	const struct triad_pma_reading *reading)
{
	struct triad_summary *summary;

	if (agent->summary == TRIAD_FABRIC_NONE)
		return;
	summary = &agents->summaries[agent->summary];
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		if (reading->has & 1u << i)
			summary->read[i] += reading->raw[i];
}

void triad_answer_reading(struct triad_agents *agents, struct triad_agent *agent,
	uint32_t port, enum triad_question question,
	const struct triad_pma_reading *reading)
{
	struct triad_port_plan *state = &agents->ports[port];

	take_sign_of_life(agent);
	state->pending &= (uint8_t)~question;
	if (question == TRIAD_ASK_COUNTERS) {
		add_to_summary(agents, agent, reading);
		if (agents->params->reset_near_full)
			state->near_full = near_full(reading);
		if (!agent->silent && (state->resets_all || state->near_full))
			triad_plan_add(agents, agent, port, TRIAD_ASK_RESET);
	} else if (state->resets_all && !agent->silent) {
		triad_plan_add(agents, agent, port, TRIAD_ASK_RESET_EXTENDED);
	}
	triad_plan_finish_if_through(agents, state);
}

void triad_answer_reset(
	struct triad_agents *agents, uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	state->pending &= (uint8_t)~question;
	triad_plan_finish_if_through(agents, state);
}

void triad_answer_refusal(struct triad_agents *agents, struct triad_agent *agent,
	uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	take_sign_of_life(agent);
	switch (question) {
	case TRIAD_ASK_CAPABILITIES:
		/* An agent without it has the mandatory counters only. */
		triad_answer_capabilities(agents, agent, 0);
		return;
	case TRIAD_ASK_SUMMARY:
		agent->pending &= (uint8_t)~TRIAD_ASK_SUMMARY;
		agent->capabilities &= (uint16_t)~TRIAD_PMA_ALL_PORT_SELECT;
		read_waiting_ports(agents, agent);
		return;
	case TRIAD_ASK_EXTENDED:
		/* It promised too much; the 32-bit counters will do. */
		agent->capabilities &= (uint16_t) ~(
			TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_EXTENDED_WIDTH_NO_IETF);
		if (!agent->silent)
			triad_plan_add(agents, agent, port, TRIAD_ASK_COUNTERS);
		break;
	case TRIAD_ASK_COUNTERS:
		state->failed = true;
		break;
	default:
		break; /* a reset: the port was read all the same */
	}
	state->pending &= (uint8_t)~question;
	triad_plan_finish_if_through(agents, state);
}

bool triad_answer_redirect(
	struct triad_agent *agent, const struct triad_mad_address *to)
{
	agent->to = *to;
	agent->redirected = true;
	return agent->redirects++ < TRIAD_MAX_REDIRECTS;
}

/* --- silence --- */

static void silence(struct triad_agents *agents, struct triad_agent *agent)
{
	if (agent->silent)
		return;
	agent->silent = true;
	agent->was_alive = false;
	/* When it comes back it may be another one. */
	agent->known = false;
	agent->redirected = false;
	agent->to = triad_agent_own_address(&agents->fabric->ports[agent->first_port]);
	triad_backoff_miss(&agent->backoff);
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (state && !state->finished)
			triad_plan_give_up(agents, state);
	}
}

static void miss_port(struct triad_agents *agents, struct triad_agent *agent,
	struct triad_port_plan *state, enum triad_question question)
{
	state->pending &= (uint8_t)~question;
	if (!(question & TRIAD_ASK_RESETS)) {
		/* Not twice for both attributes. */
		if (!state->failed && !agent->silent)
			triad_backoff_miss(&state->backoff);
		state->failed = true;
		state->todo = 0;
	}
	triad_plan_finish_if_through(agents, state);
}

void triad_answer_silence(struct triad_agents *agents, struct triad_agent *agent,
	uint32_t port, enum triad_question question)
{
	agent->pending &= (uint8_t)~question;
	agent->failures++;
	if (!agent->answered || agent->failures > 1 ||
		question == TRIAD_ASK_CAPABILITIES)
		silence(agents, agent);
	if (question == TRIAD_ASK_SUMMARY)
		read_waiting_ports(agents, agent);
	else if (question != TRIAD_ASK_CAPABILITIES)
		miss_port(agents, agent, &agents->ports[port], question);
}
