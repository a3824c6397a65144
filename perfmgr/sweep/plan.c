/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/plan.h"

#include "lib/backoff.h"
#include "perfmgr/sweep/rounds.h"

/* --- back-off --- */

void triad_backoff_miss(struct triad_backoff *backoff)
{
	backoff->misses += backoff->misses < UINT8_MAX;
	/* One answer may be lost. */
	backoff->wait =
		(uint8_t)triad_backoff(backoff->misses - 1u, 1, TRIAD_BACKOFF_MOST);
}

/* True when the agent or port is left out of this sweep. */
static bool is_left_out(struct triad_backoff *backoff, bool ask_anyway)
{
	if (ask_anyway)
		backoff->wait = 0;
	if (!backoff->wait)
		return false;
	backoff->wait--;
	return true;
}

/* --- a port's questions --- */

struct triad_port_plan *triad_plan_of(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t offset)
{
	uint32_t port = agent->first_port + offset;

	return agents->fabric->ports[port].has_pma ? &agents->ports[port] : NULL;
}

static void finish(struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	bool answered = !state->failed;

	state->finished = true;
	agents->progress->n_answered += answered;
	agents->progress->n_unanswered += !answered;
	agents->sink->done(
		agents->sink->context, (uint32_t)(state - agents->ports), answered);
}

void triad_plan_finish_if_through(
	struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	if (state->todo || state->pending || state->held || state->finished ||
		state->details || state->details_pending || state->details_to_reset)
		return;
	if (!state->failed)
		state->backoff = (struct triad_backoff){0};
	finish(agents, state);
}

void triad_plan_leave_out(
	struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	state->failed = true;
	state->left_out = true;
	agents->progress->n_left_out++;
	finish(agents, state);
}

/* Gives up on a port, except for what is pending. */
void triad_plan_give_up(
	struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	state->failed = true;
	state->todo = 0;
	state->held = false;
	state->details = state->details_to_reset = 0;
	triad_plan_finish_if_through(agents, state);
}

void triad_plan_add(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent,
	uint32_t port, uint8_t todo)
{
	uint32_t offset = port - agent->first_port;

	agents->ports[port].todo |= todo;
	/* The walk over the agent's ports may be past this one. */
	if (offset < agent->next_port)
		agent->next_port = offset;
}

/* --- the plan for an agent whose capabilities are known --- */

uint8_t triad_plan_questions(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_port_plan *state)
{
	enum triad_sweep_mode mode = agents->params->mode;
	bool extended = triad_pma_has_extended(agent->capabilities);
	bool wide = triad_pma_has_wide_errors(agent->capabilities);
	bool all = mode == TRIAD_SWEEP_FULL || state->resets_all;
	/* An unchanged sum shows a port's errors only if they were known before. */
	bool can_wait = agent->todo & TRIAD_ASK_SUMMARY && !all &&
		state->errors_known && !agents->params->is_requested;
	uint8_t questions =
		(uint8_t)(can_wait ? TRIAD_ASK_SUMMARY : triad_agent_ask_errors(agent));

	if (extended && (all || mode == TRIAD_SWEEP_TRIAD))
		questions |= TRIAD_ASK_EXTENDED;
	if (wide && !state->proven)
		questions = TRIAD_ASK_COUNTERS | TRIAD_ASK_EXTENDED;
	return questions;
}

/* A summary saves nothing where each port is read for its data in the attribute that has
 * the errors. */
static bool wants_summary(
	const struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent)
{
	if (agents->params->mode == TRIAD_SWEEP_FULL ||
		agent->summary == TRIAD_FABRIC_NONE ||
		!(agent->capabilities & TRIAD_PMA_ALL_PORT_SELECT))
		return false;
	return agents->params->mode == TRIAD_SWEEP_ERRORS ||
		(triad_pma_has_extended(agent->capabilities) &&
			!triad_pma_has_wide_errors(agent->capabilities));
}

void triad_plan_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	if (wants_summary(agents, agent))
		agent->todo |= TRIAD_ASK_SUMMARY;
	else if (agent->summary != TRIAD_FABRIC_NONE)
		/* A later sweep must not compare its sums with older ones. */
		agents->summaries[agent->summary].has = 0;
	agent->next_port = 0;
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);
		bool ask_anyway;

		if (!state || state->finished)
			continue;
		/* Try a requested reset even at a port in back-off. */
		ask_anyway = agents->params->is_requested || state->resets_all;
		if (is_left_out(&state->backoff, ask_anyway))
			triad_plan_leave_out(agents, state);
		else
			state->todo = triad_plan_questions(agents, agent, state);
		/* Reset details that the agent has, too; they are read first. */
		if (state->resets_all)
			triad_details_want(
				agents, agent, agent->first_port + i, agent->reported);
	}
}

static bool wants_reset(
	struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		const struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (state && state->reset_wanted)
			return true;
	}
	return false;
}

bool triad_plan_want(struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	const struct triad_sweep_sink *sink = agents->sink;
	uint32_t port = (uint32_t)(state - agents->ports);

	state->passed = sink->wants && !sink->wants(sink->context, port);
	state->finished = state->passed;
	return !state->passed;
}

/* Returns whether the sink wants the port.  If not, a requested reset stays for a later
 * sweep. */
static bool begin_port(struct triad_sweep_agents *agents, struct triad_port_plan *state)
{
	state->todo = 0;
	state->pending = 0;
	state->details = state->details_pending = state->details_to_reset = 0;
	state->near_full = 0;
	state->reset_tried = false;
	state->held = state->was_held = false;
	state->resets_all = false;
	state->failed = false;
	state->left_out = false;
	if (!triad_plan_want(agents, state))
		return false;
	state->resets_all = state->reset_wanted;
	state->reset_wanted = false;
	state->proven -= state->proven > 0;
	agents->progress->n_ports++;
	return true;
}

static void leave_out_ports(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (state && !state->finished)
			triad_plan_leave_out(agents, state);
	}
}

void triad_plan_begin_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	bool ask_anyway = agents->params->is_requested || wants_reset(agents, agent);
	uint32_t n_wanted = 0;

	agent->todo = 0;
	agent->pending = 0;
	agent->had_data = agent->has_data;
	agent->has_data = false;
	agent->answered = false;
	agent->queued = false;
	agent->failures = 0;
	agent->redirects = 0;
	agent->in_flight = 0;
	agent->trying = 0;
	agent->silent = false;
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		n_wanted += state && begin_port(agents, state);
	}
	/* Without a port in this sweep the agent's back-off does not change. */
	if (!n_wanted)
		return;
	agent->silent = is_left_out(&agent->backoff, ask_anyway);
	if (agent->silent) {
		leave_out_ports(agents, agent);
		return;
	}
	if (agent->known)
		triad_plan_agent(agents, agent);
	else
		agent->todo = TRIAD_ASK_CAPABILITIES;
	triad_sweep_agents_make_ready(agents, agent);
}

void triad_plan_begin(struct triad_sweep_agents *agents)
{
	agents->ready_first = 0;
	agents->n_ready = 0;
	*agents->progress = (struct triad_sweep_progress){0};
	for (uint32_t i = 0; i < agents->n_agents; i++)
		triad_plan_begin_agent(agents, &agents->agents[i]);
}

void triad_plan_cut(struct triad_sweep_agents *agents)
{
	for (uint32_t i = 0; i < agents->fabric->n_ports; i++) {
		struct triad_port_plan *state = &agents->ports[i];

		if (!agents->fabric->ports[i].has_pma || state->finished)
			continue;
		state->pending = 0;
		state->details_pending = 0;
		state->errors_known = false;
		triad_plan_give_up(agents, state);
	}
}

/* --- asking --- */

static enum triad_question lowest(uint8_t questions)
{
	return (enum triad_question)(questions & -questions);
}

static enum triad_pma_attribute attribute_of(
	const struct triad_sweep_agent *agent, enum triad_question question)
{
	switch (question) {
	case TRIAD_ASK_CAPABILITIES:
		return TRIAD_PMA_CLASS_PORT_INFO;
	case TRIAD_ASK_SUMMARY:
		return triad_pma_has_wide_errors(agent->capabilities)
			? TRIAD_PMA_PORT_COUNTERS_EXTENDED
			: TRIAD_PMA_PORT_COUNTERS;
	case TRIAD_ASK_EXTENDED:
	case TRIAD_ASK_RESET_EXTENDED:
		return TRIAD_PMA_PORT_COUNTERS_EXTENDED;
	default:
		return TRIAD_PMA_PORT_COUNTERS;
	}
}

/* Takes the next question of a port, now pending: counters first, then details, then
 * resets of details.  0: there is none. */
static enum triad_question take_question(struct triad_sweep_agent *agent,
	struct triad_port_plan *state, enum triad_pma_attribute *attribute)
{
	uint8_t todo = state->todo & (uint8_t)~TRIAD_ASK_SUMMARY;
	bool proves = state->pending & TRIAD_ASK_COUNTERS &&
		triad_pma_has_wide_errors(agent->capabilities);
	/* An attribute that another port tries for the first time has to wait. */
	uint32_t details = state->details & ~agent->trying, bit;

	/* What is compared with PortCounters is asked when these are known. */
	if (proves)
		todo &= (uint8_t)~TRIAD_ASK_EXTENDED;
	if (todo) {
		todo = lowest(todo);
		state->todo &= (uint8_t)~todo;
		state->pending |= todo;
		*attribute = attribute_of(agent, todo);
		return todo;
	}
	if (!details && !state->details_to_reset)
		return 0;
	*attribute = (enum triad_pma_attribute)__builtin_ctz(
		details ? details : state->details_to_reset);
	bit = TRIAD_DETAIL_BIT(*attribute);
	state->details_pending |= bit;
	if (!details) {
		state->details_to_reset &= ~bit;
		return TRIAD_ASK_RESET_DETAIL;
	}
	state->details &= ~bit;
	agent->trying |= bit & ~agent->reported;
	return TRIAD_ASK_DETAIL;
}

enum triad_question triad_plan_ask(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t *port,
	enum triad_pma_attribute *attribute)
{
	/* An agent that was silent gets one query until it answers. */
	bool is_probe = agent->backoff.misses && !agent->answered;
	enum triad_question question;

	if (agent->silent || agent->in_flight >= agents->params->node_window ||
		(is_probe && agent->in_flight))
		return 0;
	*port = agent->first_port;
	/* Questions to the agent itself go first: those about its ports may depend on
	 * them. */
	if (agent->todo) {
		question = lowest(agent->todo);
		agent->todo &= (uint8_t)~question;
		agent->pending |= (uint8_t)question;
		*attribute = attribute_of(agent, question);
		return question;
	}
	for (; agent->next_port < agent->n_ports; agent->next_port++) {
		struct triad_port_plan *state =
			triad_plan_of(agents, agent, agent->next_port);

		question = state ? take_question(agent, state, attribute) : 0;
		if (!question)
			continue;
		*port = agent->first_port + agent->next_port;
		return question;
	}
	return 0;
}

uint32_t triad_plan_reset_mask(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port,
	enum triad_question question)
{
	const struct triad_port_plan *state = &agents->ports[port];
	uint32_t mask = 0;

	if (question == TRIAD_ASK_RESET_EXTENDED)
		return triad_pma_counters(
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, agent->capabilities);
	if (!state->resets_all)
		return state->near_full;
	/* Include the data counters, in whichever attribute they are read. */
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].select &&
			!(triad_counters[i].needs & ~agent->capabilities))
			mask |= 1u << i;
	return mask;
}
