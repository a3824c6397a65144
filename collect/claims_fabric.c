/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>

#include "collect/claims_parts.h"
#include "triad/fabric.h"

/* The most new nodes to ask for by name; for more, ask all agents for their lists. */
#define MAX_ASKED 4096u
#define ASKED_AT_A_TIME 512u

/* The new nodes while they are made. */
struct change {
	uint64_t *guids;
	struct claims_node *nodes;
	uint32_t n, n_added;
};

static bool allocate_nodes(struct change *change, uint32_t n)
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
			/* A node at the same distance keeps its place in a round. */
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

/* Takes the nodes that are gone out of all sums. */
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

int claims_replace_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint32_t *n_added)
{
	struct change change = {.n = 0};

	if (n > TRIAD_FABRIC_MAX_NODES || !allocate_nodes(&change, n)) {
		free(change.guids);
		free(change.nodes);
		return ENOMEM;
	}
	/* Update sums and owners while the old nodes are there, then replace the
	 * nodes. */
	drop_removed(claims, guids, n);
	merge_nodes(claims, &change, guids, hops);
	free(claims->guids);
	free(claims->nodes);
	claims->guids = change.guids;
	claims->nodes = change.nodes;
	claims->n = change.n;
	*n_added = change.n_added;
	return 0;
}

/* Asks who owns the new nodes: other agents may have seen them before. */
void claims_ask_for_added(struct triad_claims *claims, uint32_t n_added)
{
	/* Claim nothing before the answers can be here. */
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
		/* Send when the array is full, and at the end. */
		if (n < ASKED_AT_A_TIME && !(n && i + 1 == claims->n))
			continue;
		claims->sink.ask_nodes(claims->sink.context, guids, n);
		n = 0;
	}
}

/* Announces own nodes at their new distance, and gives up those out of reach. */
static void restate_own(struct triad_claims *claims)
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

/* Checks again what did not fit the old fabric: digests and claims may fit this one. */
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

void claims_restate(struct triad_claims *claims)
{
	for (uint32_t i = 0; i < claims->n; i++)
		claims->nodes[i].is_new = false;
	revalidate_agents(claims);
	restate_own(claims);
	claims_plan_all(claims);
}
