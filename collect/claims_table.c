/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "triad/fabric.h"

/* New nodes that are asked for by name; when there are more, lists are asked for. */
#define MAX_ASKED 4096u
#define ASKED_AT_A_TIME 512u

/* --- nodes and their owners --- */

/* Entries come in ascending order, mostly: the steps from the last one double. */
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
static void count(struct triad_claims *claims, uint32_t i, bool comes)
{
	struct claims_node *node = &claims->nodes[i];
	struct claims_agent *owner;

	if (node->owner == CLAIMS_UNOWNED)
		return;
	owner = &claims->agents[node->owner];
	owner->n_nodes += comes ? 1 : UINT32_MAX;
	/* XOR takes a claim out as it puts it in, in any order. */
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
	/* A claim that goes may let in one of a list that was refused before: see
	 * is_settled(). */
	if (node->owner != CLAIMS_UNOWNED &&
		(owner == CLAIMS_UNOWNED ||
			(!is_other && (node->hops != hops || node->load != load))))
		claims->n_freed++;
	/* Out of the sums with the old values, in with the new ones. */
	count(claims, i, false);
	node->owner = (uint16_t)owner;
	node->hops = hops;
	node->load = load;
	count(claims, i, true);
	node->is_listed = !is_other && node->is_listed;
	/* What was disputed was the claim of the former owner. */
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
		return TRIAD_CLAIMS_NOBODY;
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

/* The place in 'order' of the first whose id is not below. */
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

/* The one that is dead for longest; CLAIMS_UNOWNED: all are alive. */
static unsigned dead_place(const struct triad_claims *claims)
{
	unsigned best = CLAIMS_UNOWNED;

	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++)
		if (!claims->agents[i].is_alive &&
			(best == CLAIMS_UNOWNED ||
				claims->agents[i].heard_us <
					claims->agents[best].heard_us))
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
		/* It also leaves the order by id. */
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

/* --- another fabric --- */

/* What became of the nodes. */
struct change {
	uint64_t *guids;
	struct claims_node *nodes;
	uint32_t n, n_added;
};

static bool make_room(struct change *change, uint32_t n)
{
	change->n = n;
	if (!n)
		return true;
	change->guids = malloc(n * sizeof(*change->guids));
	change->nodes = calloc(n, sizeof(*change->nodes));
	return change->guids && change->nodes;
}

/* Makes the new nodes out of the old ones.  Both lists are in ascending order. */
static void merge_nodes(const struct triad_claims *claims, struct change *change,
	const uint64_t *guids, const uint8_t *hops)
{
	uint32_t old = 0;

	for (uint32_t i = 0; i < change->n; i++) {
		change->guids[i] = guids[i];
		while (old < claims->n && claims->guids[old] < guids[i])
			old++;
		if (old < claims->n && claims->guids[old] == guids[i]) {
			struct claims_node *node = &change->nodes[i];

			*node = claims->nodes[old++];
			/* As far away as before, it keeps its place in a round. */
			if (node->own_hops != hops[i])
				node->due_us = CLAIMS_NEVER;
			node->own_hops = hops[i];
			continue;
		}
		change->nodes[i] = (struct claims_node){.owner = CLAIMS_UNOWNED,
			.own_hops = hops[i],
			.due_us = CLAIMS_NEVER,
			.is_new = true};
		change->n_added++;
	}
}

/* Removes the nodes that are gone from all sums. */
static void drop_removed(struct triad_claims *claims, const uint64_t *guids, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < claims->n; i++) {
		while (at < n && guids[at] < claims->guids[i])
			at++;
		if (at == n || guids[at] != claims->guids[i])
			claims_set_owner(claims, i, CLAIMS_UNOWNED, 0, 0);
	}
}

/* New nodes may have owners already: other agents saw them before. */
static void ask_for_added(struct triad_claims *claims, uint32_t n_added)
{
	/* No claim before the answers can be here. */
	uint64_t answered_us = claims->now_us + claims->params.backoff_us;
	uint64_t guids[ASKED_AT_A_TIME];
	uint32_t n = 0;

	if (claims->round_us < answered_us)
		claims->round_us = answered_us;
	if (!claims->sink.ask_nodes || n_added > MAX_ASKED) {
		claims_ask_all(claims);
		return;
	}
	for (uint32_t i = 0; i < claims->n; i++) {
		if (claims->nodes[i].is_new)
			guids[n++] = claims->guids[i];
		/* Sent when there is no more room, and at the end. */
		if (n < ASKED_AT_A_TIME && !(n && i + 1 == claims->n))
			continue;
		claims->sink.ask_nodes(claims->sink.context, guids, n);
		n = 0;
	}
}

/* Announces own nodes at their new distance, and gives up those out of reach. */
static void restate(struct triad_claims *claims)
{
	for (uint32_t i = 0; i < claims->n; i++) {
		struct claims_node *node = &claims->nodes[i];

		if (node->owner != CLAIMS_SELF || node->hops == node->own_hops)
			continue;
		if (node->own_hops == TRIAD_CLAIMS_UNREACHABLE) {
			claims->counts.n_given_up++;
			claims_set_owner(claims, i, CLAIMS_UNOWNED, 0, 0);
			claims_announce(claims, i, TRIAD_COLLECT_HOPS_GIVEN_UP);
		} else {
			claims_set_owner(
				claims, i, CLAIMS_SELF, node->own_hops, node->load);
			claims_announce(claims, i, node->own_hops);
		}
	}
}

/* Digests and claims that did not fit the old fabric may fit this one. */
static void revalidate_agents(struct triad_claims *claims)
{
	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++) {
		struct claims_agent *agent = &claims->agents[i];

		agent->settled_us = 0;
		if (agent->is_alive && agent->has_refused)
			agent->needs_list = true;
		agent->has_refused = false;
	}
}

int triad_claims_set_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint64_t now_us)
{
	struct change change = {.n = 0};

	if (n > TRIAD_FABRIC_MAX_NODES || !make_room(&change, n)) {
		free(change.guids);
		free(change.nodes);
		return ENOMEM;
	}
	claims_enter(claims, now_us);
	/* First the sums and owners of the old nodes, then the new ones take their
	 * place. */
	drop_removed(claims, guids, n);
	merge_nodes(claims, &change, guids, hops);
	free(claims->guids);
	free(claims->nodes);
	claims->guids = change.guids;
	claims->nodes = change.nodes;
	claims->n = change.n;
	if (!claims->has_begun && n)
		claims_begin(claims);
	else if (change.n_added)
		ask_for_added(claims, change.n_added);
	for (uint32_t i = 0; i < n; i++)
		claims->nodes[i].is_new = false;
	revalidate_agents(claims);
	restate(claims);
	claims_plan_all(claims);
	claims_flush(claims);
	return 0;
}
