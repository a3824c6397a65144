/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims_parts.h"

#include <string.h>

#include "lib/search.h"

/* A constant with no pattern: the golden ratio's fraction. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

/* --- which claim wins --- */

uint8_t triad_claims_load(uint32_t n_nodes)
{
	return n_nodes < 16 ? 0 : (uint8_t)(28 - __builtin_clz(n_nodes));
}

uint64_t claims_hash(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * SPREAD) + SPREAD;

	for (unsigned round = 0; round < 3; round++)
		x = (x ^ x >> 31) * SPREAD;
	return x ^ x >> 32;
}

uint64_t claims_tie_break(
	const struct triad_claims *claims, uint32_t node, unsigned agent)
{
	return claims_hash(claims->agents[agent].id, claims->guids[node]);
}

bool claims_is_better(const struct triad_claims *claims, uint32_t i, unsigned a,
	uint8_t hops, uint8_t load)
{
	const struct claims_node *node = &claims->nodes[i];
	const struct claims_agent *claimant = &claims->agents[a], *owner;
	uint64_t tie_break_a, tie_break_owner;

	if (node->owner == CLAIMS_UNOWNED)
		return true;
	owner = &claims->agents[node->owner];
	/* A draining agent loses, then the farther one, then the one with more load. */
	if (claimant->is_draining != owner->is_draining)
		return !claimant->is_draining;
	if (hops != node->hops)
		return hops < node->hops;
	if (load != node->load)
		return load < node->load;
	/* Compare ids if the hashes are equal, so that all agents find the same
	 * winner. */
	tie_break_a = claims_tie_break(claims, i, a);
	tie_break_owner = claims_tie_break(claims, i, node->owner);
	return tie_break_a != tie_break_owner ? tie_break_a < tie_break_owner
					      : claimant->id < owner->id;
}

/* --- when a node is claimed --- */

bool claims_is_claiming(const struct triad_claims *claims)
{
	return claims->params.self && !claims->is_draining && !claims->has_left;
}

static bool wants_node(const struct triad_claims *claims, uint32_t i)
{
	const struct claims_node *node = &claims->nodes[i];

	if (!claims_is_claiming(claims) || node->own_hops == TRIAD_CLAIMS_UNREACHABLE ||
		node->owner == CLAIMS_SELF)
		return false;
	/* Otherwise our claim would lose against the owner's. */
	return node->owner == CLAIMS_UNOWNED ||
		claims->agents[node->owner].is_draining || node->own_hops < node->hops;
}

/* Plans a claim of the node if it is desired; a round that is under way goes on. */
void claims_plan(struct triad_claims *claims, uint32_t i)
{
	struct claims_node *node = &claims->nodes[i];
	uint64_t from_us = claims->now_us;

	if (!wants_node(claims, i)) {
		node->due_us = CLAIMS_NEVER;
		return;
	}
	if (node->due_us != CLAIMS_NEVER)
		return;
	/* After a start, first let the others report what they own. */
	if (from_us < claims->round_us)
		from_us = claims->round_us;
	/* Wait one back-off for each hop, so that the nearest agent is first. */
	node->due_us = from_us + node->own_hops * claims->params.backoff_us;
	node->has_drawn = false;
	if (node->due_us < claims->due_us)
		claims->due_us = node->due_us;
}

void claims_plan_all(struct triad_claims *claims)
{
	for (uint32_t i = 0; i < claims->n; i++)
		claims_plan(claims, i);
}

/* --- nodes and their owners --- */

/* Searches from '*near', the last node, by steps that double: callers mostly look nodes
 * up in ascending order. */
uint32_t claims_find_node(
	const struct triad_claims *claims, uint64_t guid, uint32_t *near)
{
	uint32_t low = *near, high = claims->n, i;

	if (low >= claims->n || claims->guids[low] > guid)
		low = 0;
	for (uint32_t step = 1; step < claims->n - low; step *= 2) {
		if (claims->guids[low + step] >= guid) {
			high = low + step + 1;
			break;
		}
		low += step;
	}
	TRIAD_SEARCH(i, low, high, claims->guids[i] < guid);
	if (i >= claims->n || claims->guids[i] != guid)
		return CLAIMS_NONE;
	*near = i;
	return i;
}

/* Adds the node's claim to its owner's sums, or takes it out. */
static void count_claim(struct triad_claims *claims, uint32_t i, bool comes)
{
	struct claims_node *node = &claims->nodes[i];
	struct claims_agent *owner;

	if (node->owner == CLAIMS_UNOWNED)
		return;
	owner = &claims->agents[node->owner];
	owner->n_nodes += comes ? 1 : UINT32_MAX;
	/* XOR adds and removes a claim alike, in any order. */
	owner->digest ^= claims_hash(claims->guids[i],
		UINT64_C(0x10000) | (unsigned)node->hops << 8 | node->load);
}

void claims_set_owner(struct triad_claims *claims, uint32_t i, unsigned owner,
	uint8_t hops, uint8_t load)
{
	struct claims_node *node = &claims->nodes[i];
	bool is_other = node->owner != owner;

	if (is_other && (node->owner == CLAIMS_SELF || owner == CLAIMS_SELF))
		claims->changes++;
	/* When a claim ends, one that was refused in a list may be accepted: see
	 * is_settled(). */
	if (node->owner != CLAIMS_UNOWNED &&
		(owner == CLAIMS_UNOWNED ||
			(!is_other && (node->hops != hops || node->load != load))))
		claims->n_freed++;
	/* Take the old values out of the sums, then add the new ones. */
	count_claim(claims, i, false);
	node->owner = (uint16_t)owner;
	node->hops = hops;
	node->load = load;
	count_claim(claims, i, true);
	node->is_listed = !is_other && node->is_listed;
	/* A new owner ends the dispute about the former one's claim. */
	if (is_other) {
		claims->n_disputed -= node->is_disputed;
		node->is_disputed = false;
	}
	claims_plan(claims, i);
}

void claims_disown(struct triad_claims *claims, unsigned agent, bool unlisted)
{
	for (uint32_t i = 0; i < claims->n && claims->agents[agent].n_nodes; i++)
		if (claims->nodes[i].owner == agent &&
			!(unlisted && claims->nodes[i].is_listed))
			claims_set_owner(claims, i, CLAIMS_UNOWNED, 0, 0);
}

uint64_t triad_claims_owner(
	const struct triad_claims *claims, uint32_t node, uint8_t *hops)
{
	if (node >= claims->n || claims->nodes[node].owner == CLAIMS_UNOWNED)
		return TRIAD_CLAIMS_NO_AGENT;
	if (hops)
		*hops = claims->nodes[node].hops;
	return claims->agents[claims->nodes[node].owner].id;
}

static bool is_reachable(const struct triad_claims *claims, uint32_t node)
{
	const struct triad_claims_params *params = &claims->params;

	if (params->self && claims->nodes[node].own_hops != TRIAD_CLAIMS_UNREACHABLE)
		return true;
	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++)
		if (claims->agents[i].is_alive &&
			(!params->true_hops ||
				params->true_hops(params->context, claims->agents[i].id,
					node) != TRIAD_CLAIMS_UNREACHABLE))
			return true;
	return false;
}

uint32_t triad_claims_n_unowned(const struct triad_claims *claims)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < claims->n; i++)
		n += claims->nodes[i].owner == CLAIMS_UNOWNED &&
			is_reachable(claims, i);
	return n;
}

/* --- agents --- */

/* The place in 'order' of the first agent whose id is not below 'id'. */
static unsigned place(const struct triad_claims *claims, uint64_t id)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, claims->n_order, claims->agents[claims->order[at]].id < id);
	return at;
}

struct claims_agent *claims_find_agent(struct triad_claims *claims, uint64_t id)
{
	unsigned at = place(claims, id);

	if (at == claims->n_order || claims->agents[claims->order[at]].id != id)
		return NULL;
	return &claims->agents[claims->order[at]];
}

unsigned claims_index(
	const struct triad_claims *claims, const struct claims_agent *agent)
{
	return (unsigned)(agent - claims->agents);
}

/* The agent that has been dead longest; CLAIMS_UNOWNED: all are alive. */
static unsigned dead_place(const struct triad_claims *claims)
{
	unsigned best = CLAIMS_UNOWNED;

	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++)
		if (!claims->agents[i].is_alive &&
			(best == CLAIMS_UNOWNED ||
				claims->agents[i].received_us <
					claims->agents[best].received_us))
			best = i;
	return best;
}

struct claims_agent *claims_add_agent(struct triad_claims *claims, uint64_t id)
{
	unsigned index = claims->n_agents, at;

	if (index == TRIAD_CLAIMS_MAX_AGENTS) {
		index = dead_place(claims);
		if (index == CLAIMS_UNOWNED)
			return NULL;
		/* Also remove it from the order by id. */
		at = place(claims, claims->agents[index].id);
		claims->n_order--;
		memmove(&claims->order[at], &claims->order[at + 1],
			(claims->n_order - at) * sizeof(*claims->order));
	} else {
		claims->n_agents++;
	}
	at = place(claims, id);
	memmove(&claims->order[at + 1], &claims->order[at],
		(claims->n_order - at) * sizeof(*claims->order));
	claims->order[at] = (uint16_t)index;
	claims->n_order++;
	claims->agents[index] = (struct claims_agent){.id = id,
		.behind_us = CLAIMS_NEVER,
		.differs_us = CLAIMS_NEVER,
		.asked_us = CLAIMS_NEVER};
	return &claims->agents[index];
}

bool claims_is_behind(const struct claims_agent *agent)
{
	return agent->is_alive &&
		(agent->needs_list || agent->received != agent->known);
}

void claims_expect_list(struct claims_agent *agent, uint64_t asked_us)
{
	agent->asked_us = asked_us;
	agent->is_expected = true;
	agent->parts = 0;
	agent->as_of = 0;
}

void claims_bury(struct triad_claims *claims, unsigned index)
{
	struct claims_agent *agent = &claims->agents[index];

	claims_disown(claims, index, false);
	agent->is_alive = false;
	agent->is_expected = false;
	agent->needs_list = false;
	agent->behind_us = CLAIMS_NEVER;
	agent->differs_us = CLAIMS_NEVER;
}
