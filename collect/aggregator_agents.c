/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/aggregator_agents.h"

#include "collect/incarnation.h"
#include "triad/clock.h"

/* How often to request missing messages again. */
#define ASK_AGAIN_US (2 * TRIAD_US_PER_S)
/* A message is never under way for so long: the sender's clock must have stood
 * still. */
#define LATE_US (10 * (int64_t)TRIAD_US_PER_S)
/* Clocks of two machines drift apart by at most a ten-thousandth. */
#define DRIFT_PART 10000
#define RATE_US (10 * TRIAD_US_PER_S)

/* --- which --- */

struct aggregator_agent *aggregator_agents_find(
	const struct aggregator_agents *agents, uint64_t id)
{
	for (unsigned i = 0; i < agents->n; i++)
		if (agents->of[i].reported.id == id)
			return (struct aggregator_agent *)&agents->of[i];
	return NULL;
}

static uint64_t longest_silence_us(const struct aggregator_agent *agent)
{
	return 2 * agent->sweep_us + TRIAD_AGGREGATOR_LATE_US;
}

bool aggregator_agent_is_silent(const struct aggregator_agent *agent, uint64_t now_us)
{
	return now_us - agent->reported.received_us > longest_silence_us(agent);
}

struct aggregator_agent *aggregator_agents_need(struct aggregator_agents *agents,
	const struct triad_collect_head *head, uint64_t now_us)
{
	struct aggregator_agent *agent = aggregator_agents_find(agents, head->sender);
	enum triad_incarnation incarnation = TRIAD_INCARNATION_NEW;

	if (agent)
		incarnation = triad_incarnation_judge(head->incarnation,
			agent->incarnation, agent->reported.received_us,
			longest_silence_us(agent), now_us);
	else if (agents->n < TRIAD_CLAIMS_MAX_AGENTS)
		agent = &agents->of[agents->n++];
	else {
		/* There are too many: replace the one that has been silent longest. */
		agent = &agents->of[0];
		for (unsigned i = 1; i < agents->n; i++)
			if (agents->of[i].reported.received_us <
				agent->reported.received_us)
				agent = &agents->of[i];
	}
	if (incarnation != TRIAD_INCARNATION_NEW)
		return incarnation == TRIAD_INCARNATION_KNOWN ? agent : NULL;
	*agent = (struct aggregator_agent){
		.reported.id = head->sender, .incarnation = head->incarnation};
	return agent;
}

/* --- its messages --- */

void aggregator_agent_note_octets(
	struct aggregator_agent *agent, size_t size, uint64_t sweep_us, uint64_t now_us)
{
	uint64_t took_us;

	agent->sweep_us = sweep_us;
	agent->reported.n_octets += size;
	agent->rate_octets += size;
	if (!agent->rate_from_us)
		agent->rate_from_us = now_us;
	took_us = now_us - agent->rate_from_us;
	/* Measure over two sweeps at least: an agent sends all its rows after a
	 * sweep. */
	if (took_us < RATE_US || took_us < 2 * agent->sweep_us)
		return;
	agent->reported.octets_per_s =
		(double)agent->rate_octets * 1e6 / (double)took_us;
	agent->rate_octets = 0;
	agent->rate_from_us = now_us;
}

/* Measures the offset of the clocks.  A message's delay adds to the difference, so
 * keeps the smallest one, increased by the possible drift since then. */
static void compare_clocks(
	struct aggregator_agent *agent, uint64_t their_us, uint64_t now_us)
{
	uint64_t differ_us = now_us - their_us;
	uint64_t drift_us = (now_us - agent->clock_us) / DRIFT_PART;
	/* Compute modulo 2^64: no clock can overflow it. */
	int64_t more_us = (int64_t)(differ_us - agent->clock_offset_us - drift_us);

	if (!agent->clock_us || more_us < 0 || more_us > LATE_US)
		agent->clock_offset_us = differ_us;
	else
		agent->clock_offset_us += drift_us;
	agent->clock_us = now_us;
}

/* An agent repeats missing rows in messages with new numbers, and says from which
 * number on. These messages may get lost, too. */
static void note_sent_again(
	struct aggregator_agent *agent, const struct triad_collect_data *data)
{
	if (agent->missing_from && data->again_from <= agent->missing_from &&
		data->again_since > agent->missing_from)
		agent->missing_from =
			agent->missing_to >= data->again_since ? data->again_since : 0;
}

uint32_t aggregator_agent_receive(struct aggregator_agent *agent,
	const struct triad_collect_data *data, uint64_t now_us)
{
	uint32_t next = agent->newest + 1;

	if (data->number > next)
		aggregator_agent_note_missing(agent, next, data->number - 1);
	note_sent_again(agent, data);
	agent->newest = data->number;
	compare_clocks(agent, data->clock_us, now_us);
	agent->reported.received_us = now_us;
	agent->reported.n_sweeps = data->n_sweeps;
	agent->reported.n_ports = data->n_ports;
	agent->reported.n_silent = data->n_silent;
	agent->reported.n_unknown = 0;
	return data->number - next;
}

/* --- missing messages --- */

void aggregator_agent_note_missing(
	struct aggregator_agent *agent, uint32_t from, uint32_t to)
{
	if (!agent->missing_from)
		agent->missing_from = from;
	agent->missing_to = to;
}

uint32_t aggregator_agent_ask(struct aggregator_agent *agent, uint64_t now_us)
{
	if (!agent->missing_from || now_us - agent->asked_us < ASK_AGAIN_US)
		return 0;
	agent->asked_us = now_us;
	return agent->missing_from;
}
