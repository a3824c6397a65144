/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the list --- */

/* Ports of one node with one LID have one agent. */
static uint32_t list_agents(const struct triad_fabric *fabric, struct triad_agent *list)
{
	const struct triad_fabric_port *ports = fabric->ports;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_agent *last = n ? &list[n - 1] : NULL;

		if (!ports[i].has_pma)
			continue;
		if (last && ports[last->first_port].node == ports[i].node &&
			ports[last->first_port].lid == ports[i].lid)
			last->n_ports = i - last->first_port + 1;
		else
			list[n++] = (struct triad_agent){.first_port = i, .n_ports = 1};
	}
	return n;
}

static struct triad_mad_address own_address(const struct triad_fabric_port *port)
{
	return (struct triad_mad_address){
		.lid = port->lid,
		.pkey_index = port->pkey_index,
		.sl = port->sl,
		.qpn = 1,
		.qkey = TRIAD_MAD_GSI_QKEY,
	};
}

static void prepare_agents(struct triad_agents *agents)
{
	for (uint32_t i = 0; i < agents->n_agents; i++) {
		struct triad_agent *agent = &agents->agents[i];

		agent->to = own_address(&agents->fabric->ports[agent->first_port]);
		agent->summary =
			agent->n_ports > 1 ? agents->n_summaries++ : TRIAD_FABRIC_NONE;
	}
}

int triad_agents_init(struct triad_agents *agents, struct triad_fabric *fabric,
	const struct triad_agents *like)
{
	size_t n = fabric->n_ports ? fabric->n_ports : 1;

	*agents = (struct triad_agents){.sink = like->sink,
		.params = like->params,
		.progress = like->progress,
		.fabric = triad_fabric_ref(fabric)};
	agents->agents = calloc(n, sizeof(*agents->agents));
	agents->ports = calloc(n, sizeof(*agents->ports));
	if (agents->agents && agents->ports) {
		agents->n_agents = list_agents(fabric, agents->agents);
		prepare_agents(agents);
		n = agents->n_agents ? agents->n_agents : 1;
		agents->ready = calloc(n, sizeof(*agents->ready));
		n = agents->n_summaries ? agents->n_summaries : 1;
		agents->summaries = calloc(n, sizeof(*agents->summaries));
	}
	if (agents->ready && agents->summaries)
		return 0;
	triad_agents_clear(agents);
	return ENOMEM;
}

void triad_agents_clear(struct triad_agents *agents)
{
	triad_fabric_unref(agents->fabric);
	free(agents->agents);
	free(agents->ports);
	free(agents->ready);
	free(agents->summaries);
	agents->fabric = NULL;
	agents->agents = NULL;
	agents->ports = NULL;
	agents->ready = NULL;
	agents->summaries = NULL;
	agents->n_agents = 0;
}

void triad_agents_make_ready(struct triad_agents *agents, struct triad_agent *agent)
{
	uint32_t at = (agents->ready_first + agents->n_ready) % agents->n_agents;

	if (agent->queued)
		return;
	agent->queued = true;
	agents->ready[at] = (uint32_t)(agent - agents->agents);
	agents->n_ready++;
}

struct triad_agent *triad_agents_take_ready(struct triad_agents *agents)
{
	struct triad_agent *agent;

	if (!agents->n_ready)
		return NULL;
	agent = &agents->agents[agents->ready[agents->ready_first]];
	agents->ready_first = (agents->ready_first + 1) % agents->n_agents;
	agents->n_ready--;
	agent->queued = false;
	return agent;
}

void triad_agents_put_back(
	struct triad_agents *agents, struct triad_agent *agent, uint32_t port)
{
	if (agents->ports[port].todo & (uint8_t)~TRIAD_ASK_SUMMARY && !agent->todo) {
		agents->ready_first += agents->ready_first ? 0 : agents->n_agents;
		agents->ready_first--;
		agents->ready[agents->ready_first] = (uint32_t)(agent - agents->agents);
		agents->n_ready++;
		agent->queued = true;
		return;
	}
	triad_agents_make_ready(agents, agent);
}

/* --- back-off --- */

static void miss(struct triad_backoff *backoff)
{
	unsigned wait = TRIAD_BACKOFF_MOST;

	if (backoff->misses < UINT8_MAX)
		backoff->misses++;
	if (backoff->misses < 7)
		wait = backoff->misses < 2 ? 0 : 1u << (backoff->misses - 2);
	backoff->wait = (uint8_t)wait;
}

/* True when it is left out of this sweep. */
static bool is_left_out(struct triad_backoff *backoff, bool ask_silent)
{
	if (ask_silent)
		backoff->wait = 0;
	if (!backoff->wait)
		return false;
	backoff->wait--;
	return true;
}

/* --- a port's questions --- */

static struct triad_port_plan *port_of(
	struct triad_agents *agents, const struct triad_agent *agent, uint32_t offset)
{
	uint32_t port = agent->first_port + offset;

	return agents->fabric->ports[port].has_pma ? &agents->ports[port] : NULL;
}

static void finish(struct triad_agents *agents, struct triad_port_plan *state)
{
	bool answered = !state->failed;

	state->finished = true;
	agents->progress->n_answered += answered;
	agents->progress->n_unanswered += !answered;
	agents->sink->done(
		agents->sink->context, (uint32_t)(state - agents->ports), answered);
}

static void finish_if_through(
	struct triad_agents *agents, struct triad_port_plan *state)
{
	if (state->todo || state->pending || state->finished)
		return;
	if (!state->failed)
		state->backoff = (struct triad_backoff){0};
	finish(agents, state);
}

static void leave_out(struct triad_agents *agents, struct triad_port_plan *state)
{
	state->failed = true;
	agents->progress->n_left_out++;
	finish(agents, state);
}

/* Gives up on a port, except for what is pending. */
static void give_up(struct triad_agents *agents, struct triad_port_plan *state)
{
	state->failed = true;
	state->todo = 0;
	finish_if_through(agents, state);
}

static void add_todo(struct triad_agents *agents, struct triad_agent *agent,
	uint32_t port, uint8_t todo)
{
	uint32_t offset = port - agent->first_port;

	agents->ports[port].todo |= todo;
	if (offset < agent->next_port)
		agent->next_port = offset;
}

/* --- the plan for an agent whose capabilities are known --- */

static uint8_t port_questions(const struct triad_agents *agents,
	const struct triad_agent *agent, const struct triad_port_plan *state)
{
	enum triad_sweep_mode mode = agents->params->mode;
	bool extended = triad_pma_has_extended(agent->capabilities);
	bool all = mode == TRIAD_SWEEP_FULL || state->resets_all;
	uint8_t errors = agent->todo & TRIAD_ASK_SUMMARY && !all ? TRIAD_ASK_SUMMARY
								 : TRIAD_ASK_COUNTERS;

	if (extended && (all || mode == TRIAD_SWEEP_TRIAD))
		errors |= TRIAD_ASK_EXTENDED;
	return errors;
}

/* Without the extended attribute, each port is read anyway for its data. */
static bool wants_summary(
	const struct triad_agents *agents, const struct triad_agent *agent)
{
	if (agents->params->mode == TRIAD_SWEEP_FULL ||
		agent->summary == TRIAD_FABRIC_NONE ||
		!(agent->capabilities & TRIAD_PMA_ALL_PORT_SELECT))
		return false;
	return agents->params->mode == TRIAD_SWEEP_ERRORS ||
		triad_pma_has_extended(agent->capabilities);
}

static void plan_port(struct triad_agents *agents, struct triad_agent *agent,
	struct triad_port_plan *state)
{
	bool ask_silent = agents->params->ask_silent || state->resets_all;

	if (is_left_out(&state->backoff, ask_silent))
		leave_out(agents, state);
	else
		state->todo = port_questions(agents, agent, state);
}

static void plan(struct triad_agents *agents, struct triad_agent *agent)
{
	if (wants_summary(agents, agent))
		agent->todo |= TRIAD_ASK_SUMMARY;
	agent->next_port = 0;
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = port_of(agents, agent, i);

		if (state && !state->finished)
			plan_port(agents, agent, state);
	}
}

static bool wants_reset(struct triad_agents *agents, const struct triad_agent *agent)
{
	for (uint32_t i = 0; i < agent->n_ports; i++)
		if (agents->ports[agent->first_port + i].reset_wanted)
			return true;
	return false;
}

static void begin_agent(struct triad_agents *agents, struct triad_agent *agent)
{
	bool ask_silent = agents->params->ask_silent || wants_reset(agents, agent);

	agent->todo = 0;
	agent->pending = 0;
	agent->answered = false;
	agent->queued = false;
	agent->failures = 0;
	agent->redirects = 0;
	agent->in_flight = 0;
	agent->silent = is_left_out(&agent->backoff, ask_silent);
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = port_of(agents, agent, i);

		if (!state)
			continue;
		state->todo = 0;
		state->pending = 0;
		state->near_full = 0;
		state->resets_all = state->reset_wanted;
		state->reset_wanted = false;
		state->failed = false;
		state->finished = false;
		agents->progress->n_ports++;
		if (agent->silent)
			leave_out(agents, state);
	}
	if (agent->silent)
		return;
	if (agent->known)
		plan(agents, agent);
	else
		agent->todo = TRIAD_ASK_CAPABILITIES;
	triad_agents_make_ready(agents, agent);
}

void triad_agents_begin(struct triad_agents *agents)
{
	agents->ready_first = 0;
	agents->n_ready = 0;
	*agents->progress = (struct triad_sweep_progress){0};
	for (uint32_t i = 0; i < agents->n_agents; i++)
		begin_agent(agents, &agents->agents[i]);
}

/* --- asking --- */

static enum triad_question lowest(uint8_t questions)
{
	return (enum triad_question)(questions & -questions);
}

static enum triad_question ask_agent(struct triad_agent *agent)
{
	enum triad_question question = lowest(agent->todo);

	agent->todo &= (uint8_t)~question;
	agent->pending |= (uint8_t)question;
	return question;
}

enum triad_question triad_agents_ask(
	struct triad_agents *agents, struct triad_agent *agent, uint32_t *port)
{
	bool is_probe = agent->backoff.misses && !agent->answered;

	if (agent->silent || agent->in_flight >= agents->params->node_window ||
		(is_probe && agent->in_flight))
		return 0;
	*port = agent->first_port;
	if (agent->todo)
		return ask_agent(agent);
	for (; agent->next_port < agent->n_ports; agent->next_port++) {
		struct triad_port_plan *state =
			port_of(agents, agent, agent->next_port);
		uint8_t todo = state ? state->todo & (uint8_t)~TRIAD_ASK_SUMMARY : 0;

		if (!todo)
			continue;
		*port = agent->first_port + agent->next_port;
		todo = lowest(todo);
		state->todo &= (uint8_t)~todo;
		state->pending |= todo;
		return todo;
	}
	return 0;
}

/* --- answers --- */

static void take_sign_of_life(struct triad_agent *agent)
{
	agent->answered = true;
	agent->was_alive = true;
	agent->failures = 0;
	agent->backoff = (struct triad_backoff){0};
}

void triad_agents_take_capabilities(
	struct triad_agents *agents, struct triad_agent *agent, uint16_t capabilities)
{
	take_sign_of_life(agent);
	agent->pending &= (uint8_t)~TRIAD_ASK_CAPABILITIES;
	agent->known = true;
	agent->capabilities = capabilities;
	if (!agent->silent)
		plan(agents, agent);
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
		struct triad_port_plan *state = port_of(agents, agent, i);

		if (!state || !(state->todo & TRIAD_ASK_SUMMARY))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		add_todo(agents, agent, agent->first_port + i, TRIAD_ASK_COUNTERS);
	}
}

static void confirm_waiting_ports(
	struct triad_agents *agents, struct triad_agent *agent, uint64_t now_us)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = port_of(agents, agent, i);

		if (!state || !(state->todo & TRIAD_ASK_SUMMARY))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		agents->sink->unchanged(
			agents->sink->context, agent->first_port + i, now_us);
		finish_if_through(agents, state);
	}
}

void triad_agents_take_summary(struct triad_agents *agents, struct triad_agent *agent,
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

void triad_agents_take_reading(struct triad_agents *agents, struct triad_agent *agent,
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
			add_todo(agents, agent, port, TRIAD_ASK_RESET);
	} else if (state->resets_all && !agent->silent) {
		add_todo(agents, agent, port, TRIAD_ASK_RESET_EXTENDED);
	}
	finish_if_through(agents, state);
}

void triad_agents_take_reset(
	struct triad_agents *agents, uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	state->pending &= (uint8_t)~question;
	finish_if_through(agents, state);
}

uint32_t triad_agents_reset_mask(const struct triad_agents *agents,
	const struct triad_agent *agent, uint32_t port, enum triad_question question)
{
	const struct triad_port_plan *state = &agents->ports[port];
	uint32_t mask = 0;

	if (question == TRIAD_ASK_RESET_EXTENDED)
		return triad_pma_counters(
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, agent->capabilities);
	if (!state->resets_all)
		return state->near_full;
	/* The data counters are here too, whoever reads them from where. */
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].select &&
			!(triad_counters[i].needs & ~agent->capabilities))
			mask |= 1u << i;
	return mask;
}

void triad_agents_take_refusal(struct triad_agents *agents, struct triad_agent *agent,
	uint32_t port, enum triad_question question)
{
	struct triad_port_plan *state = &agents->ports[port];

	take_sign_of_life(agent);
	switch (question) {
	case TRIAD_ASK_CAPABILITIES:
		/* An agent without it has the mandatory counters only. */
		triad_agents_take_capabilities(agents, agent, 0);
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
			add_todo(agents, agent, port, TRIAD_ASK_COUNTERS);
		break;
	case TRIAD_ASK_COUNTERS:
		state->failed = true;
		break;
	default:
		break; /* a reset: the port was read all the same */
	}
	state->pending &= (uint8_t)~question;
	finish_if_through(agents, state);
}

bool triad_agents_take_redirect(
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
	agent->to = own_address(&agents->fabric->ports[agent->first_port]);
	miss(&agent->backoff);
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = port_of(agents, agent, i);

		if (state && !state->finished)
			give_up(agents, state);
	}
}

static void miss_port(struct triad_agents *agents, struct triad_agent *agent,
	struct triad_port_plan *state, enum triad_question question)
{
	state->pending &= (uint8_t)~question;
	if (!(question & TRIAD_ASK_RESETS)) {
		/* Not twice for both attributes. */
		if (!state->failed && !agent->silent)
			miss(&state->backoff);
		state->failed = true;
		state->todo = 0;
	}
	finish_if_through(agents, state);
}

void triad_agents_take_silence(struct triad_agents *agents, struct triad_agent *agent,
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

/* --- another fabric --- */

static uint64_t agent_guid(const struct triad_agents *agents, uint32_t agent)
{
	const struct triad_fabric *fabric = agents->fabric;

	return fabric->nodes[fabric->ports[agents->agents[agent].first_port].node].guid;
}

static const struct triad_fabric_port *agent_port(
	const struct triad_agents *agents, uint32_t agent)
{
	return &agents->fabric->ports[agents->agents[agent].first_port];
}

/* <0, 0, >0: 'a' comes before, is, or comes after 'b'.  A switch has one agent, CAs
 * one a port. */
static int compare(const struct triad_agents *agents_a, uint32_t a,
	const struct triad_agents *agents_b, uint32_t b)
{
	uint64_t guid_a = agent_guid(agents_a, a), guid_b = agent_guid(agents_b, b);
	const struct triad_fabric_port *port = agent_port(agents_a, a);

	if (guid_a != guid_b)
		return guid_a < guid_b ? -1 : 1;
	if (agents_a->fabric->nodes[port->node].type == TRIAD_NODE_SWITCH)
		return 0;
	return (int)port->number - (int)agent_port(agents_b, b)->number;
}

static void inherit_agent(struct triad_agent *agent, const struct triad_agent *was)
{
	struct triad_agent own = *agent;

	*agent = *was;
	agent->first_port = own.first_port;
	agent->n_ports = own.n_ports;
	agent->summary = own.summary;
	agent->next_port = 0;
	agent->queued = false;
	if (!agent->redirected)
		agent->to = own.to;
}

/* The ports of one agent; those that are new to it are asked in a sweep that runs. */
static void inherit_ports(struct triad_agents *agents, struct triad_agent *agent,
	const struct triad_agents *old, const struct triad_agent *was, bool running,
	uint32_t *port_map)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < agent->n_ports; i++) {
		uint32_t port = agent->first_port + i, old_port;
		struct triad_port_plan *state = port_of(agents, agent, i);
		uint8_t number = agents->fabric->ports[port].number;

		if (!state)
			continue;
		while (from < was->n_ports &&
			old->fabric->ports[was->first_port + from].number < number)
			from++;
		old_port = was->first_port + from;
		if (from < was->n_ports && old->fabric->ports[old_port].has_pma &&
			old->fabric->ports[old_port].number == number) {
			*state = old->ports[old_port];
			port_map[old_port] = port;
		} else if (running && agent->silent) {
			state->failed = true;
			state->finished = true;
		} else if (running && agent->known) {
			state->todo = port_questions(agents, agent, state);
		}
	}
}

static void inherit_progress(struct triad_agents *agents)
{
	uint32_t n_left_out = agents->progress->n_left_out;

	*agents->progress = (struct triad_sweep_progress){.n_left_out = n_left_out};
	for (uint32_t i = 0; i < agents->fabric->n_ports; i++) {
		const struct triad_port_plan *state = &agents->ports[i];

		agents->progress->n_ports += agents->fabric->ports[i].has_pma;
		agents->progress->n_answered += state->finished && !state->failed;
		agents->progress->n_unanswered += state->finished && state->failed;
	}
}

void triad_agents_inherit(struct triad_agents *agents, const struct triad_agents *old,
	bool running, uint32_t *agent_map, uint32_t *port_map)
{
	uint32_t from = 0;

	for (uint32_t i = 0; old->fabric && i < old->fabric->n_ports; i++)
		port_map[i] = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < old->n_agents; i++)
		agent_map[i] = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < agents->n_agents; i++) {
		struct triad_agent *agent = &agents->agents[i];
		const struct triad_agent *was;

		while (from < old->n_agents && compare(old, from, agents, i) < 0)
			from++;
		was = &old->agents[from];
		if (from < old->n_agents && compare(old, from, agents, i) == 0 &&
			agent_port(old, from)->lid == agent_port(agents, i)->lid) {
			agent_map[from] = i;
			inherit_agent(agent, was);
			if (agent->summary != TRIAD_FABRIC_NONE &&
				was->summary != TRIAD_FABRIC_NONE)
				agents->summaries[agent->summary] =
					old->summaries[was->summary];
			inherit_ports(agents, agent, old, was, running, port_map);
			if (running && !agent->silent)
				triad_agents_make_ready(agents, agent);
		} else if (running) {
			begin_agent(agents, agent);
		}
	}
	if (running)
		inherit_progress(agents);
}
