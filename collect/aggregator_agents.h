/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agents that send DATA to an aggregator (aggregator.h): the incarnation of each,
 * which of its messages are missing, its clock's offset, and how much it sends.
 *
 * Thread-safety: none. */
#ifndef TRIAD_COLLECT_AGGREGATOR_AGENTS_H
#define TRIAD_COLLECT_AGGREGATOR_AGENTS_H

#include "collect/aggregator.h"

struct aggregator_agent {
	struct triad_aggregator_agent reported;
	uint64_t incarnation;
	uint32_t newest;       /* number of the last DATA */
	uint32_t missing_from; /* number of the first missing DATA; 0: none is
			        * missing */
	uint32_t missing_to;   /* number of the last missing DATA */
	uint64_t asked_us;
	uint64_t clock_offset_us; /* added to its clock it gives ours, modulo 2^64 */
	uint64_t clock_us;        /* our clock, when the offset was measured */
	uint64_t sweep_us;
	uint64_t rate_from_us, rate_octets;
};

struct aggregator_agents {
	unsigned n;
	struct aggregator_agent of[TRIAD_CLAIMS_MAX_AGENTS];
};

/* NULL: it never sent DATA. */
struct aggregator_agent *aggregator_agents_find(
	const struct aggregator_agents *agents, uint64_t id);

/* The agent that sent 'head'; reset when it has restarted.  When there are too many, it
 * replaces the one that was silent longest.  NULL when the message is from before its
 * last start. */
struct aggregator_agent *aggregator_agents_need(struct aggregator_agents *agents,
	const struct triad_collect_head *head, uint64_t now_us);

bool aggregator_agent_is_silent(const struct aggregator_agent *agent, uint64_t now_us);

/* A message of 'size' octets came from it; its sweeps take 'sweep_us'. */
void aggregator_agent_note_octets(struct aggregator_agent *agent, size_t size,
	uint64_t sweep_us, uint64_t now_us);

/* A DATA message arrived.  Returns how many before it are missing. */
uint32_t aggregator_agent_receive(struct aggregator_agent *agent,
	const struct triad_collect_data *data, uint64_t now_us);

/* DATA with these numbers count as lost. */
void aggregator_agent_note_missing(
	struct aggregator_agent *agent, uint32_t from, uint32_t to);

/* The number from which DATA are to be requested again now; 0: none. */
uint32_t aggregator_agent_ask(struct aggregator_agent *agent, uint64_t now_us);

#endif
