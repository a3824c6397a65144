/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/sweep_agents.h"

#include <errno.h>
#include <stdlib.h>

#include "perfmgr/sweep/plan.h"

/* --- the list --- */

/* Ports of one node with one LID have one agent. */
static uint32_t list_agents(
	const struct triad_fabric *fabric, struct triad_sweep_agent *list)
{
	const struct triad_fabric_port *ports = fabric->ports;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_sweep_agent *last = n ? &list[n - 1] : NULL;

		if (!ports[i].has_pma)
			continue;
		if (last && ports[last->first_port].node == ports[i].node &&
			ports[last->first_port].lid == ports[i].lid)
			last->n_ports = i - last->first_port + 1;
		else
			list[n++] = (struct triad_sweep_agent){
				.first_port = i, .n_ports = 1};
	}
	return n;
}

struct triad_mad_address triad_agent_own_address(
	const struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent)
{
	const struct triad_fabric_port *port =
		&agents->fabric->ports[agent->first_port];
	const struct triad_sweep_sink *sink = agents->sink;

	return (struct triad_mad_address){
		.lid = port->lid,
		.pkey_index = sink->pkey_index
			? sink->pkey_index(sink->context, agent->first_port)
			: 0,
		.sl = port->sl,
		.qpn = 1,
		.qkey = TRIAD_MAD_GSI_QKEY,
	};
}

int triad_sweep_agents_init(struct triad_sweep_agents *agents,
	struct triad_fabric *fabric, const struct triad_sweep_agents *like)
{
	size_t n = fabric->n_ports ? fabric->n_ports : 1;

	*agents = (struct triad_sweep_agents){.sink = like->sink,
		.params = like->params,
		.progress = like->progress,
		.waits = like->waits,
		.fabric = triad_fabric_ref(fabric)};
	agents->agents = calloc(n, sizeof(*agents->agents));
	agents->ports = calloc(n, sizeof(*agents->ports));
	if (agents->agents && agents->ports) {
		agents->n_agents = list_agents(fabric, agents->agents);
		for (uint32_t i = 0; i < agents->n_agents; i++) {
			struct triad_sweep_agent *agent = &agents->agents[i];

			agent->to = triad_agent_own_address(agents, agent);
			/* A sum over one port would save nothing. */
			agent->summary = agent->n_ports > 1 ? agents->n_summaries++
							    : TRIAD_FABRIC_NONE;
		}
		n = agents->n_agents ? agents->n_agents : 1;
		agents->ready = calloc(n, sizeof(*agents->ready));
		n = agents->n_summaries ? agents->n_summaries : 1;
		agents->summaries = calloc(n, sizeof(*agents->summaries));
	}
	if (agents->ready && agents->summaries)
		return 0;
	triad_sweep_agents_clear(agents);
	return ENOMEM;
}

void triad_sweep_agents_clear(struct triad_sweep_agents *agents)
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

void triad_sweep_agents_make_ready(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	uint32_t at = (agents->ready_first + agents->n_ready) % agents->n_agents;

	if (agent->queued)
		return;
	agent->queued = true;
	agents->ready[at] = (uint32_t)(agent - agents->agents);
	agents->n_ready++;
}

struct triad_sweep_agent *triad_sweep_agents_next_ready(
	struct triad_sweep_agents *agents)
{
	struct triad_sweep_agent *agent;

	if (!agents->n_ready)
		return NULL;
	agent = &agents->agents[agents->ready[agents->ready_first]];
	agents->ready_first = (agents->ready_first + 1) % agents->n_agents;
	agents->n_ready--;
	agent->queued = false;
	return agent;
}

void triad_sweep_agents_put_back(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port)
{
	if (agents->ports[port].todo & (uint8_t)~TRIAD_ASK_SUMMARY && !agent->todo) {
		/* To the front: the answers about one port come together. */
		agents->ready_first += agents->ready_first ? 0 : agents->n_agents;
		agents->ready_first--;
		agents->ready[agents->ready_first] = (uint32_t)(agent - agents->agents);
		agents->n_ready++;
		agent->queued = true;
		return;
	}
	triad_sweep_agents_make_ready(agents, agent);
}

/* --- another fabric --- */

struct triad_sweep_agent *triad_sweep_agents_of(
	struct triad_sweep_agents *agents, uint32_t port)
{
	uint32_t from = 0, to = agents->n_agents;

	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (agents->agents[middle].first_port <= port)
			from = middle;
		else
			to = middle;
	}
	return &agents->agents[from];
}

static uint64_t agent_guid(const struct triad_sweep_agents *agents, uint32_t agent)
{
	const struct triad_fabric *fabric = agents->fabric;

	return fabric->nodes[fabric->ports[agents->agents[agent].first_port].node].guid;
}

static const struct triad_fabric_port *agent_port(
	const struct triad_sweep_agents *agents, uint32_t agent)
{
	return &agents->fabric->ports[agents->agents[agent].first_port];
}

/* Order of two agents, as of strcmp().  A switch has one agent, a CA one for each
 * port. */
static int compare_agents(const struct triad_sweep_agents *agents_a, uint32_t a,
	const struct triad_sweep_agents *agents_b, uint32_t b)
{
	uint64_t guid_a = agent_guid(agents_a, a), guid_b = agent_guid(agents_b, b);
	const struct triad_fabric_port *port = agent_port(agents_a, a);

	if (guid_a != guid_b)
		return guid_a < guid_b ? -1 : 1;
	if (agents_a->fabric->nodes[port->node].type == TRIAD_NODE_SWITCH)
		return 0;
	return (int)port->number - (int)agent_port(agents_b, b)->number;
}

static void inherit_agent(
	struct triad_sweep_agent *agent, const struct triad_sweep_agent *was)
{
	struct triad_sweep_agent own = *agent;

	*agent = *was;
	agent->first_port = own.first_port;
	agent->n_ports = own.n_ports;
	agent->summary = own.summary;
	agent->next_port = 0;
	/* The new queue has no agents yet. */
	agent->queued = false;
	if (agent->redirected)
		return;
	agent->to = own.to;
	/* An agent that was silent in another partition may answer in this one. */
	if (was->to.pkey_index != own.to.pkey_index)
		agent->backoff = (struct triad_backoff){0};
}

/* Takes over the ports of one agent; plans new ports for a running sweep. */
static void inherit_ports(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, const struct triad_sweep_agents *old,
	const struct triad_sweep_agent *was, bool running, uint32_t *port_map)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < agent->n_ports; i++) {
		uint32_t port = agent->first_port + i, old_port;
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);
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
		} else if (running && !triad_plan_want(agents, state)) {
			continue;
		} else if (running && agent->silent) {
			triad_plan_leave_out(agents, state);
		} else if (running && agent->known) {
			state->todo = triad_plan_questions(agents, agent, state);
		} else if (running && !(agent->pending & TRIAD_ASK_CAPABILITIES)) {
			/* The sink wanted none of its other ports in this sweep. */
			agent->todo |= TRIAD_ASK_CAPABILITIES;
		}
	}
}

/* The agent has another LID, so its state is lost.  Keeps requested resets of its
 * ports. */
static void inherit_requests(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_sweep_agents *old,
	const struct triad_sweep_agent *was, bool running)
{
	for (uint32_t i = 0; i < was->n_ports; i++) {
		uint32_t old_port = was->first_port + i;
		const struct triad_port_plan *state = &old->ports[old_port];
		uint8_t number = old->fabric->ports[old_port].number;

		if (!state->reset_wanted &&
			!(running && state->resets_all && !state->finished))
			continue;
		for (uint32_t j = 0; j < agent->n_ports; j++)
			if (agents->fabric->ports[agent->first_port + j].number ==
				number)
				agents->ports[agent->first_port + j].reset_wanted =
					true;
	}
}

static void inherit_progress(struct triad_sweep_agents *agents)
{
	*agents->progress = (struct triad_sweep_progress){0};
	for (uint32_t i = 0; i < agents->fabric->n_ports; i++) {
		const struct triad_port_plan *state = &agents->ports[i];

		if (state->passed)
			continue;
		agents->progress->n_ports += agents->fabric->ports[i].has_pma;
		agents->progress->n_answered += state->finished && !state->failed;
		agents->progress->n_unanswered += state->finished && state->failed;
		agents->progress->n_left_out += state->finished && state->left_out;
	}
}

void triad_sweep_agents_inherit(struct triad_sweep_agents *agents,
	const struct triad_sweep_agents *old, bool running, uint32_t *agent_map,
	uint32_t *port_map)
{
	uint32_t from = 0;

	for (uint32_t i = 0; old->fabric && i < old->fabric->n_ports; i++)
		port_map[i] = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < old->n_agents; i++)
		agent_map[i] = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < agents->n_agents; i++) {
		struct triad_sweep_agent *agent = &agents->agents[i];
		const struct triad_sweep_agent *was = NULL;

		/* Both lists have the same order: one walk over the two. */
		while (from < old->n_agents && compare_agents(old, from, agents, i) < 0)
			from++;
		if (from < old->n_agents && compare_agents(old, from, agents, i) == 0)
			was = &old->agents[from];
		if (was && agent_port(old, from)->lid == agent_port(agents, i)->lid) {
			agent_map[from] = i;
			inherit_agent(agent, was);
			if (agent->summary != TRIAD_FABRIC_NONE &&
				was->summary != TRIAD_FABRIC_NONE)
				agents->summaries[agent->summary] =
					old->summaries[was->summary];
			inherit_ports(agents, agent, old, was, running, port_map);
			if (running && !agent->silent)
				triad_sweep_agents_make_ready(agents, agent);
			continue;
		}
		if (running)
			triad_plan_begin_agent(agents, agent);
		if (was)
			inherit_requests(agents, agent, old, was, running);
	}
	if (running)
		inherit_progress(agents);
}
