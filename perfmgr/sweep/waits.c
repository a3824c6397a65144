/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/waits.h"

#include <math.h>

#include "perfmgr/sweep/plan.h"

/* Sweeps after which ports of a switch that waits little are read as if it were much. */
#define MOST_LATE 60u
/* A port that stopped is read, reset, and read again. */
#define QUERIES_OF_FULL 3

/* --- asking --- */

/* Reads PortXmitWait of the agent's ports that are behind, and wait for the summary with
 * their other errors; or only of those that waited at the last reading.  Returns how
 * many. */
static unsigned ask_ports(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, bool hot_only)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (!state || !state->wait_behind ||
			!(state->todo & TRIAD_ASK_SUMMARY) ||
			(hot_only && !state->waited))
			continue;
		state->todo &= (uint8_t)~TRIAD_ASK_SUMMARY;
		triad_plan_add(agents, agent, agent->first_port + i,
			triad_agent_ask_errors(agent));
		n++;
	}
	agents->waits->credit -= n;
	agents->waits->n_asked += n;
	return n;
}

static void ask_all(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent)
{
	ask_ports(agents, agent, false);
	agent->waits_late = 0;
	agent->waits_due = false;
	agent->waits_first = 0;
	/* Their errors come with it. */
	if (agent->summary != TRIAD_FABRIC_NONE)
		agents->summaries[agent->summary].n_left = 2 * TRIAD_SUMS_BELIEVED;
}

static void put_off(struct triad_sweep_agent *agent, bool much)
{
	agent->waits_late += agent->waits_late < UINT8_MAX;
	agent->waits_due |= much || agent->waits_late >= MOST_LATE;
}

/* --- a sweep --- */

/* One reading of all ports whose agents sum up. */
static double most_credit(const struct triad_sweep_agents *agents)
{
	double n = 0;

	for (uint32_t i = 0; i < agents->n_agents; i++)
		if (agents->agents[i].summary != TRIAD_FABRIC_NONE)
			n += agents->agents[i].n_ports;
	return n;
}

static bool is_late(const struct triad_sweep_agent *agent)
{
	return agent->waits_late && agent->known && !agent->silent;
}

/* Asks agents in turn, while there is 'least' credit: those that are due, or all that
 * are late. */
static void ask_late(struct triad_waits *waits, struct triad_sweep_agents *agents,
	bool due_only, double least)
{
	uint32_t n = agents->n_agents, at = waits->at;

	for (uint32_t i = 0; i < n && waits->credit >= least; i++) {
		uint32_t next = (at + i) % n;
		struct triad_sweep_agent *agent = &agents->agents[next];

		if (!is_late(agent) || (due_only && !agent->waits_due))
			continue;
		ask_all(agents, agent);
		waits->at = next + 1;
	}
}

/* Asks those that come first, while there is 'least' credit. */
static void ask_first(
	struct triad_waits *waits, struct triad_sweep_agents *agents, double least)
{
	struct triad_sweep_agent *first;

	do {
		first = NULL;
		for (uint32_t i = 0; i < agents->n_agents; i++) {
			struct triad_sweep_agent *agent = &agents->agents[i];

			if (is_late(agent) &&
				agent->waits_first > (first ? first->waits_first : 0))
				first = agent;
		}
		if (first && waits->credit >= least)
			ask_all(agents, first);
	} while (first && waits->credit >= least);
}

double triad_waits_begin(
	struct triad_waits *waits, struct triad_sweep_agents *agents, double credit)
{
	double most = most_credit(agents), rest;

	if (!waits->has_begun)
		waits->credit = most;
	waits->has_begun = true;
	waits->n_asked = 0;
	waits->credit += credit;
	/* Also out of debt, but half of what comes: the rest is for others. */
	waits->hot = fmin(waits->hot, 0) + credit / 2;
	rest = fmax(0, waits->credit - most);
	waits->credit -= rest;
	ask_first(waits, agents, fmax(1, waits->credit / 2));
	/* Half of the savings is kept for what waits much. */
	ask_late(waits, agents, true, 1);
	ask_late(waits, agents, false, fmax(1, most / 2));
	return rest;
}

/* 0: not known. */
static double slowest_words_per_us(
	const struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent)
{
	double slowest = INFINITY;

	for (uint32_t i = 0; i < agent->n_ports; i++) {
		double words_per_us = triad_fabric_port_words_per_us(
			&agents->fabric->ports[agent->first_port + i]);

		if (words_per_us > 0 && words_per_us < slowest)
			slowest = words_per_us;
	}
	return isinf(slowest) ? 0 : slowest;
}

enum triad_sum_of_waits triad_waits_compare(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint64_t raw, uint64_t now_us)
{
	const struct triad_summary *summary = &agents->summaries[agent->summary];
	uint64_t before = summary->sum[TRIAD_PORT_XMIT_WAIT];
	uint64_t grown = raw >= before ? raw - before : raw;
	bool is_wide = triad_pma_has_wide_errors(agent->capabilities);
	bool is_told = (is_wide || raw < triad_counter_max(TRIAD_PORT_XMIT_WAIT)) &&
		raw >= summary->read[TRIAD_PORT_XMIT_WAIT];
	double ticks;

	if (!is_told)
		return TRIAD_SUM_MOVED_MUCH;
	if (raw == before)
		return TRIAD_SUM_SAME;
	ticks = slowest_words_per_us(agents, agent) * (double)(now_us - summary->at_us);
	return (double)grown < agents->params->wait_matters * ticks
		? TRIAD_SUM_MOVED_LITTLE
		: TRIAD_SUM_MOVED_MUCH;
}

void triad_waits_add_sum(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, enum triad_sum_of_waits sum)
{
	bool much = sum == TRIAD_SUM_MOVED_MUCH;
	/* Only such a sum has ports that stopped. */
	bool is_full = agents->summaries[agent->summary].sum[TRIAD_PORT_XMIT_WAIT] >=
		triad_counter_max(TRIAD_PORT_XMIT_WAIT);
	double queries = is_full ? QUERIES_OF_FULL : 1;

	if (sum == TRIAD_SUM_SAME && !agent->waits_late)
		return;
	for (uint32_t i = 0; sum != TRIAD_SUM_SAME && i < agent->n_ports; i++)
		agents->ports[agent->first_port + i].wait_behind = true;
	if (much && agents->waits->credit >= agent->n_ports) {
		ask_all(agents, agent);
		return;
	}
	if (agents->waits->credit >= 1 || agents->waits->hot > 0)
		agents->waits->hot -= queries * ask_ports(agents, agent, true);
	put_off(agent, much);
}

void triad_waits_follow_link(struct triad_sweep_agents *agents, uint32_t port)
{
	uint32_t far = agents->fabric->ports[port].remote;
	struct triad_sweep_agent *agent;

	if (far == TRIAD_FABRIC_NONE || !agents->fabric->ports[far].has_pma)
		return;
	agent = triad_sweep_agents_of(agents, far);
	if (agent->summary != TRIAD_FABRIC_NONE)
		agent->waits_first = ++agents->waits->n_first;
}

/* --- ports that stopped at the maximum --- */

/* The time in which the link fills half of the counter, whatever the port does. */
static double filling_us(const struct triad_sweep_agents *agents, uint32_t port)
{
	return (double)triad_counter_max(TRIAD_PORT_XMIT_WAIT) / 2 /
		triad_fabric_port_words_per_us(&agents->fabric->ports[port]);
}

void triad_waits_hold(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port, uint64_t now_us)
{
	struct triad_waits *waits = agents->waits;
	struct triad_port_plan *state = &agents->ports[port];
	bool may = agents->params->waits_apart && agents->params->most_hold_us &&
		waits->n_held < TRIAD_MOST_HELD;

	if (!may || !state->wait_full || state->resets_all ||
		!(state->near_full & 1u << TRIAD_PORT_XMIT_WAIT))
		return;
	waits->held[waits->n_held++] = (struct triad_held){.due_us = now_us +
			(uint64_t)fmin(filling_us(agents, port),
				(double)agents->params->most_hold_us),
		.agent = (uint32_t)(agent - agents->agents),
		.port = port};
	state->held = true;
	/* As its reset: of an adapter, which each sweep reads, both are the sweep's own. */
	if (agent->summary != TRIAD_FABRIC_NONE) {
		waits->credit--;
		waits->n_asked++;
	}
}

static void read_again(struct triad_sweep_agents *agents, const struct triad_held *held)
{
	struct triad_sweep_agent *agent = &agents->agents[held->agent];
	struct triad_port_plan *state = &agents->ports[held->port];

	state->held = false;
	state->was_held = true;
	if (agent->silent || state->failed) {
		triad_plan_finish_if_through(agents, state);
		return;
	}
	triad_plan_add(agents, agent, held->port, TRIAD_ASK_COUNTERS);
	triad_sweep_agents_make_ready(agents, agent);
}

uint64_t triad_waits_release(struct triad_sweep_agents *agents, uint64_t now_us)
{
	struct triad_waits *waits = agents->waits;
	uint64_t next_us = UINT64_MAX;

	for (unsigned i = waits->n_held; i-- > 0;) {
		const struct triad_held held = waits->held[i];

		if (held.due_us > now_us) {
			next_us = held.due_us < next_us ? held.due_us : next_us;
			continue;
		}
		waits->held[i] = waits->held[--waits->n_held];
		read_again(agents, &held);
	}
	return next_us;
}

void triad_waits_follow(
	struct triad_waits *waits, const uint32_t *agent_map, const uint32_t *port_map)
{
	for (unsigned i = waits->n_held; i-- > 0;) {
		struct triad_held *held = &waits->held[i];

		held->agent = agent_map[held->agent];
		held->port = port_map[held->port];
		if (held->agent == TRIAD_FABRIC_NONE || held->port == TRIAD_FABRIC_NONE)
			*held = waits->held[--waits->n_held];
	}
}
