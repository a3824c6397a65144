/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agents that tell a merge (merge.h) something: of which start their words are,
 * what of them did not come, how their clocks differ from ours, how much they say.
 *
 * Thread-safety: none. */
#ifndef TRIAD_COLLECT_MERGE_AGENTS_H
#define TRIAD_COLLECT_MERGE_AGENTS_H

#include "collect/merge.h"

struct merge_agent {
	struct triad_merge_agent told;
	uint64_t incarnation;
	uint32_t newest;       /* number of the last DATA */
	uint32_t missing_from; /* of the first one that is not there; 0: all are */
	uint32_t missing_to;   /* of the last one */
	uint64_t asked_us;
	uint64_t clock_offset_us; /* what is added to its clock, modulo 2^64 */
	uint64_t clock_us;        /* ours, when that was taken */
	uint64_t sweep_us;
	uint64_t rate_from_us, rate_octets;
};

struct merge_agents {
	unsigned n;
	struct merge_agent of[TRIAD_CLAIMS_MAX_AGENTS];
};

/* NULL: it never told anything. */
struct merge_agent *merge_agents_find(const struct merge_agents *agents, uint64_t id);

/* The agent of 'head', begun anew when it has been started since; when there are too
 * many, it takes the place of the one whose last word is the longest ago.  NULL when
 * the words are from before its start. */
struct merge_agent *merge_agents_need(struct merge_agents *agents,
	const struct triad_collect_head *head, uint64_t now_us);

bool merge_agent_is_silent(const struct merge_agent *agent, uint64_t now_us);

/* A message of so many octets came from it; its sweeps take 'sweep_us'. */
void merge_agent_note_octets(
	struct merge_agent *agent, size_t size, uint64_t sweep_us, uint64_t now_us);

/* It is a DATA with a new number.  Returns how many before it did not come. */
uint32_t merge_agent_hear(struct merge_agent *agent,
	const struct triad_collect_data *data, uint64_t now_us);

/* DATA with these numbers are as good as lost. */
void merge_agent_lack(struct merge_agent *agent, uint32_t from, uint32_t to);

/* The number from which on DATA are to be asked for now; 0: none are. */
uint32_t merge_agent_ask(struct merge_agent *agent, uint64_t now_us);

#endif
