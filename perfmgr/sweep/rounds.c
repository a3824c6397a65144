/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/rounds.h"

#include "ib/link.h"
#include "perfmgr/sweep/answers.h"
#include "perfmgr/sweep/plan.h"
#include "perfmgr/sweep/waits.h"

/* The part of the share that waits may use. */
#define WAITS_PART 0.75

/* --- attributes of a port --- */

/* PortExtendedSpeedsCounters, in the layout that the link has; 0 for a link too slow
 * to have it.
 *
 * Deviation: PortInfoExtended tells whether RS-FEC is active at EDR, but an SM need not
 * have read it.  We assume RS-FEC where the agent has counters for it. */
static uint32_t speeds_attribute(
	const struct triad_fabric_port *port, uint32_t capabilities)
{
	enum triad_link_speed speed = triad_link_rate_active(port).speed;

	if (speed < TRIAD_SPEED_FDR)
		return 0;
	if (speed >= TRIAD_SPEED_EDR && capabilities & TRIAD_PMA_RSFEC)
		return TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS_RSFEC);
	return TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS);
}

static uint32_t possible_details(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port)
{
	const struct triad_fabric_port *at = &agents->fabric->ports[port];
	const struct triad_fabric_node *node = &agents->fabric->nodes[at->node];
	uint32_t speeds = triad_detail_attributes(TRIAD_DETAIL_FEC);
	uint32_t set = ~agent->refused;

	set &= ~speeds | speeds_attribute(at, agent->capabilities);
	if (node->type != TRIAD_NODE_SWITCH || !at->number)
		set &= ~TRIAD_DETAIL_BIT(TRIAD_PMA_SW_PORT_VL_CONGESTION);
	return set;
}

unsigned triad_details_want(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, uint32_t attributes)
{
	struct triad_port_plan *state = &agents->ports[port];

	attributes &= possible_details(agents, agent, port);
	attributes &= ~(state->details | state->details_pending);
	if (!attributes || agent->silent || state->failed)
		return 0;
	state->details |= attributes;
	triad_plan_add(agents, agent, port, 0);
	triad_sweep_agents_make_ready(agents, agent);
	return (unsigned)__builtin_popcount(attributes);
}

/* --- rounds --- */

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* About 0.618 of the ports, so that successive steps are far apart; without a common
 * divisor, so that they reach each port. */
static uint32_t choose_stride(uint32_t n_ports)
{
	uint32_t stride = (uint32_t)(0.618 * n_ports);

	while (stride > 1 && greatest_common_divisor(stride, n_ports) != 1)
		stride--;
	return stride ? stride : 1;
}

/* Asks the round's next port.  Returns how many queries that adds. */
static unsigned ask_next(struct triad_rounds *rounds, struct triad_sweep_agents *agents,
	enum triad_round round)
{
	uint32_t port = rounds->at[round];
	struct triad_port_plan *state = &agents->ports[port];
	struct triad_sweep_agent *agent;

	rounds->at[round] =
		(uint32_t)(((uint64_t)port + rounds->stride) % rounds->n_ports);
	agent = triad_sweep_agents_of(agents, port);
	if (!agents->fabric->ports[port].has_pma || !agent->known || agent->silent ||
		state->finished)
		return 0;
	return triad_details_want(
		agents, agent, port, triad_detail_attributes((unsigned)round));
}

static void adopt_fabric(struct triad_rounds *rounds, uint32_t n_ports)
{
	if (rounds->n_ports == n_ports)
		return;
	rounds->n_ports = n_ports;
	rounds->stride = choose_stride(n_ports);
	for (unsigned i = 0; i < TRIAD_N_ROUNDS; i++) {
		rounds->at[i] = n_ports ? rounds->at[i] % n_ports : 0;
		if (rounds->want[i] > n_ports)
			rounds->want[i] = n_ports;
	}
}

/* Adds this sweep's share of queries; saves up no more than two shares. */
static void add_credit(
	struct triad_rounds *rounds, struct triad_sweep_agents *agents, double n_sent)
{
	double share = agents->params->round_share * n_sent;
	double of_waits = agents->params->waits_apart ? WAITS_PART * share : 0;

	rounds->credit +=
		share - of_waits + triad_waits_begin(agents->waits, agents, of_waits);
	if (rounds->credit > 2 * share + 1)
		rounds->credit = 2 * share + 1;
}

void triad_rounds_begin(
	struct triad_rounds *rounds, struct triad_sweep_agents *agents, uint64_t n_sent)
{
	uint32_t n_ports = agents->fabric ? agents->fabric->n_ports : 0;
	uint64_t n_added = rounds->n_asked + agents->waits->n_asked;
	bool any;

	adopt_fabric(rounds, n_ports);
	/* Without what the share itself added, which must not raise it. */
	add_credit(rounds, agents, n_sent > n_added ? (double)(n_sent - n_added) : 0);
	rounds->n_asked = 0;
	for (unsigned i = 0; i < TRIAD_N_ROUNDS; i++) {
		rounds->want[i] += agents->params->round_part[i] * n_ports;
		if (rounds->want[i] > n_ports)
			rounds->want[i] = n_ports;
	}
	/* One port of each kind in turn, so that the kinds share the credit. */
	do {
		any = false;
		for (unsigned i = 0; i < TRIAD_N_ROUNDS && rounds->credit >= 1; i++) {
			unsigned n_asked;

			if (rounds->want[i] < 1)
				continue;
			n_asked = ask_next(rounds, agents, i);
			rounds->want[i] -= 1;
			rounds->credit -= n_asked;
			rounds->n_asked += n_asked;
			any = true;
		}
	} while (any);
}

/* --- answers --- */

/* Ends the trial of an attribute, for which the agent's other ports waited. */
static void end_trial(struct triad_sweep_agent *agent, uint32_t bit)
{
	if (!(agent->trying & bit))
		return;
	agent->trying &= ~bit;
	/* Restart the walk over the ports: it has passed those that waited. */
	agent->next_port = 0;
}

/* Drops the attribute from the plans of the agent's ports. */
static void drop_details(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t bit)
{
	for (uint32_t i = 0; i < agent->n_ports; i++) {
		struct triad_port_plan *state = triad_plan_of(agents, agent, i);

		if (!state || !(state->details & bit))
			continue;
		state->details &= ~bit;
		triad_plan_finish_if_through(agents, state);
	}
}

static void end_question(struct triad_sweep_agents *agents, uint32_t port,
	enum triad_pma_attribute attribute)
{
	struct triad_port_plan *state = &agents->ports[port];

	state->details_pending &= ~TRIAD_DETAIL_BIT(attribute);
	triad_plan_finish_if_through(agents, state);
}

void triad_details_answer(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute, bool is_near_full, bool after_reset)
{
	struct triad_port_plan *state = &agents->ports[port];
	uint32_t bit = TRIAD_DETAIL_BIT(attribute);
	bool wants_reset =
		state->resets_all || (is_near_full && agents->params->reset_near_full);

	triad_answer_note_life(agent);
	end_trial(agent, bit);
	agent->reported |= bit;
	agent->missed &= ~bit;
	if (wants_reset && !after_reset && !agent->silent) {
		state->details_to_reset |= bit;
		triad_plan_add(agents, agent, port, 0);
	}
	end_question(agents, port, attribute);
}

void triad_details_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute)
{
	uint32_t bit = TRIAD_DETAIL_BIT(attribute);

	triad_answer_note_life(agent);
	end_trial(agent, bit);
	/* It may have it for other ports alone. */
	if (!(agent->reported & bit)) {
		agent->refused |= bit;
		drop_details(agents, agent, bit);
	}
	end_question(agents, port, attribute);
}

void triad_details_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute)
{
	uint32_t bit = TRIAD_DETAIL_BIT(attribute);

	end_trial(agent, bit);
	if (agent->answered && !(agent->reported & bit)) {
		agent->refused |= agent->missed & bit;
		agent->missed |= bit;
		drop_details(agents, agent, bit);
	}
	end_question(agents, port, attribute);
}
