/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/collectors_parts.h"

/* How many steps of load two agents at the same distance may differ: balancing ends at
 * one, views differ by another, and nodes taken over since then are not yet balanced.
 * */
#define LOAD_STEPS 3u

/* --- by what they believe of themselves --- */

static bool is_own(const struct agent *agent, uint32_t node)
{
	uint32_t place = agent->sight ? agent->sight->places[node] : UINT32_MAX;

	return place != UINT32_MAX &&
		triad_claims_owner(agent->claims, place, NULL) ==
		UINT64_C(0x0002c90300000001) + agent->number;
}

static uint8_t hops_of(const struct collectors *s, unsigned agent, uint32_t node)
{
	uint32_t place = s->sight->places[node];

	if (place == UINT32_MAX)
		return TRIAD_CLAIMS_UNREACHABLE;
	return s->sight->hops[(size_t)agent * s->sight->n + place];
}

static void note_violation(
	struct collectors *s, const char *what, unsigned group, uint32_t node)
{
	if (!*s->violation)
		snprintf(s->violation, sizeof(s->violation),
			"node %" PRIu32 " %s in group %u at %.3f s", node, what, group,
			(double)s->now_us / 1e6);
}

static void note_since(struct collectors *s, uint64_t *since_us, bool is_so,
	uint64_t longest_us, const char *what, unsigned group, uint32_t node)
{
	if (!is_so)
		*since_us = 0;
	else if (!*since_us)
		*since_us = s->now_us;
	else if (s->now_us - *since_us > longest_us)
		note_violation(s, what, group, node);
}

void collectors_take_note(struct collectors *s)
{
	for (uint32_t node = 0; node < s->graph.n; node++) {
		unsigned n_owners[COLLECTORS_MAX_GROUPS] = {0};
		bool is_reached[COLLECTORS_MAX_GROUPS] = {false};

		for (unsigned i = 0; i < s->n_agents; i++) {
			const struct agent *agent = &s->agents[i];

			if (!collectors_is_running(s, i))
				continue;
			n_owners[agent->group] += is_own(agent, node);
			is_reached[agent->group] |= !agent->is_draining &&
				hops_of(s, i, node) != TRIAD_CLAIMS_UNREACHABLE;
		}
		for (unsigned g = 0; g < COLLECTORS_MAX_GROUPS; g++) {
			note_since(s, &s->two_since_us[g * s->graph.n + node],
				n_owners[g] > 1, COLLECTORS_LIVENESS_US,
				"has two owners for long", g, node);
			note_since(s, &s->none_since_us[g * s->graph.n + node],
				is_reached[g] && !n_owners[g],
				2 * COLLECTORS_LIVENESS_US, "has no owner for long", g,
				node);
		}
	}
}

void collectors_watch(struct collectors *s, bool is_watching)
{
	size_t size = COLLECTORS_MAX_GROUPS * s->graph.n * sizeof(uint64_t);

	s->is_watching = is_watching;
	memset(s->two_since_us, 0, size);
	memset(s->none_since_us, 0, size);
}

const char *collectors_violation(const struct collectors *s)
{
	return *s->violation ? s->violation : NULL;
}

/* --- after a quiet while --- */

static const char *complain(
	struct collectors *s, const char *what, uint32_t node, unsigned a, unsigned b)
{
	snprintf(s->wrong, sizeof(s->wrong),
		"%s: node %" PRIu32 ", agents %u and %u, at %.3f s", what, node, a, b,
		(double)s->now_us / 1e6);
	return s->wrong;
}

void collectors_describe(struct collectors *s)
{
	for (unsigned i = 0; i <= s->n_agents; i++) {
		struct triad_claims_agent agent;

		if (!s->agents[i].claims)
			continue;
		fprintf(stderr, "  %u (group %u)%s%s:", i, s->agents[i].group,
			s->agents[i].is_draining ? ", draining" : "",
			s->agents[i].is_paused ? ", paused" : "");
		for (unsigned j = 0; triad_claims_agent(s->agents[i].claims, j, &agent);
			j++)
			if (agent.state != TRIAD_CLAIMS_DEAD)
				fprintf(stderr, " %u has %" PRIu32 "%s%s",
					(unsigned)(agent.id & 0xff) - 1, agent.n_nodes,
					agent.is_behind ? " (behind)" : "",
					agent.state == TRIAD_CLAIMS_DRAINING
						? " (draining)"
						: "");
		fputc('\n', stderr);
	}
}

static uint64_t seen_owner(const struct agent *agent, uint32_t node)
{
	if (!agent->sight || agent->sight->places[node] == UINT32_MAX)
		return TRIAD_CLAIMS_NO_AGENT;
	return triad_claims_owner(agent->claims, agent->sight->places[node], NULL);
}

static uint8_t load_of(const struct agent *agent)
{
	struct triad_collect_alive alive;

	triad_claims_fill_alive(agent->claims, &alive);
	return triad_claims_load(alive.n_nodes);
}

/* Compares 'owner' with another agent of its group. */
static const char *compare(
	struct collectors *s, uint32_t node, unsigned owner, unsigned other)
{
	const struct agent *a = &s->agents[owner], *b = &s->agents[other];
	uint8_t hops_a = hops_of(s, owner, node), hops_b = hops_of(s, other, node);

	if (b->is_draining || hops_b == TRIAD_CLAIMS_UNREACHABLE)
		return NULL;
	if (a->is_draining)
		return complain(s, "the owner drains", node, owner, other);
	if (hops_b < hops_a)
		return complain(s, "the owner is not nearest", node, owner, other);
	if (s->has_loads && hops_a == hops_b && load_of(a) > load_of(b) + LOAD_STEPS)
		return complain(s, "the owner has much more load", node, owner, other);
	return NULL;
}

static const char *check_owner(
	struct collectors *s, unsigned group, uint32_t node, unsigned owner)
{
	const char *wrong = NULL;

	for (unsigned i = 0; i <= s->n_agents && !wrong; i++) {
		if (!collectors_is_running(s, i) || s->agents[i].group != group)
			continue;
		if (seen_owner(&s->agents[i], node) !=
			UINT64_C(0x0002c90300000001) + owner)
			return complain(s, "seen otherwise", node, owner, i);
		if (i < s->n_agents)
			wrong = compare(s, node, owner, i);
	}
	return wrong;
}

static const char *check_node(struct collectors *s, unsigned group, uint32_t node)
{
	unsigned owner = UINT32_MAX, reaches = UINT32_MAX;

	for (unsigned i = 0; i < s->n_agents; i++) {
		const struct agent *agent = &s->agents[i];

		if (!collectors_is_running(s, i) || agent->group != group)
			continue;
		if (is_own(agent, node) && owner != UINT32_MAX)
			return complain(s, "two owners", node, owner, i);
		if (is_own(agent, node))
			owner = i;
		if (!agent->is_draining &&
			hops_of(s, i, node) != TRIAD_CLAIMS_UNREACHABLE)
			reaches = i;
	}
	if (owner != UINT32_MAX)
		return check_owner(s, group, node, owner);
	if (reaches != UINT32_MAX)
		return complain(s, "no owner", node, reaches, reaches);
	return NULL;
}

const char *collectors_check(struct collectors *s, bool with_loads)
{
	const char *wrong = NULL;

	s->has_loads = with_loads;
	for (unsigned group = 0; group < COLLECTORS_MAX_GROUPS; group++)
		for (uint32_t node = 0; node < s->graph.n && !wrong; node++)
			if (s->graph.is_up[node])
				wrong = check_node(s, group, node);
	return wrong;
}
