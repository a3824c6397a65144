/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims_parts.h"

/* The agents that may claim the same node: all that are alive and don't drain. */
struct rivals {
	unsigned n;
	uint16_t agents[TRIAD_CLAIMS_MAX_AGENTS];
	bool is_heavy; /* our load is at least two steps above that of one of them */
};

/* --- when --- */

static void gather(const struct triad_claims *claims, struct rivals *rivals)
{
	uint8_t own = triad_claims_load(claims->agents[CLAIMS_SELF].n_nodes);

	rivals->n = 0;
	rivals->is_heavy = false;
	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++) {
		const struct claims_agent *agent = &claims->agents[i];

		if (!agent->is_alive || agent->is_draining)
			continue;
		rivals->agents[rivals->n++] = (uint16_t)i;
		/* Loads are steps of a logarithmic scale, so two are a large
		 * difference. */
		rivals->is_heavy |= own >= triad_claims_load(agent->n_nodes) + 2;
	}
}

/* How many agents at the same distance have a better tie-break. */
static unsigned rank(
	const struct triad_claims *claims, const struct rivals *rivals, uint32_t i)
{
	const struct triad_claims_params *params = &claims->params;
	uint64_t own = claims_tie_break(claims, i, CLAIMS_SELF);
	unsigned n = 0;

	for (unsigned r = 0; r < rivals->n; r++) {
		unsigned agent = rivals->agents[r];

		if (claims_tie_break(claims, i, agent) < own &&
			(!params->true_hops ||
				params->true_hops(params->context,
					claims->agents[agent].id,
					i) == claims->nodes[i].own_hops))
			n++;
	}
	return n;
}

/* The wait before a claim.  The winner of the tie-break claims at once, the others one
 * after the other, each a quarter of a back-off later.  An agent that owns much more
 * than another waits half a back-off longer. */
static uint64_t wait_us(
	const struct triad_claims *claims, const struct rivals *rivals, uint32_t i)
{
	uint64_t quarter_us = claims->params.backoff_us / 4;
	unsigned before = rank(claims, rivals, i);
	uint64_t us = 0;

	if (before)
		us = quarter_us + quarter_us * before / (rivals->n + 1);
	if (rivals->is_heavy)
		us += 2 * quarter_us;
	return us;
}

static void claim(struct triad_claims *claims, uint32_t i)
{
	uint8_t own_hops = claims->nodes[i].own_hops;

	claims->counts.n_claimed++;
	claims_set_owner(claims, i, CLAIMS_SELF, own_hops,
		triad_claims_load(claims->agents[CLAIMS_SELF].n_nodes));
	claims_announce(claims, i, own_hops);
}

/* Whether this agent owns max_nodes.  It looks at further nodes later: it may own fewer
 * then. */
static bool is_full(const struct triad_claims *claims)
{
	uint32_t most = claims->params.max_nodes;

	return most && claims->agents[CLAIMS_SELF].n_nodes >= most;
}

static void run_node(
	struct triad_claims *claims, const struct rivals *rivals, uint32_t i)
{
	struct claims_node *node = &claims->nodes[i];

	if (is_full(claims)) {
		node->due_us = claims->now_us + claims->params.liveness_us;
		return;
	}
	/* The back-offs for the distance are over.  Now add the wait that depends on
	 * the agents that may claim the node at this moment. */
	if (!node->has_drawn) {
		node->has_drawn = true;
		node->due_us = claims->now_us + wait_us(claims, rivals, i);
	}
	if (node->due_us <= claims->now_us)
		claim(claims, i);
}

void claims_run_rounds(struct triad_claims *claims)
{
	struct rivals rivals;

	if (claims->now_us < claims->due_us)
		return;
	gather(claims, &rivals);
	claims->due_us = CLAIMS_NEVER;
	for (uint32_t i = 0; i < claims->n; i++) {
		if (claims->nodes[i].due_us <= claims->now_us)
			run_node(claims, &rivals, i);
		/* run_node() may have postponed the node. */
		if (claims->nodes[i].due_us < claims->due_us)
			claims->due_us = claims->nodes[i].due_us;
	}
}

/* --- loads --- */

/* How many nodes to take: a quarter of what a fair share lacks, because other agents
 * may take nodes at the same time. */
static uint32_t quota(const struct triad_claims *claims, const struct rivals *rivals)
{
	uint32_t own = claims->agents[CLAIMS_SELF].n_nodes;
	uint64_t sum = own;

	for (unsigned r = 0; r < rivals->n; r++)
		sum += claims->agents[rivals->agents[r]].n_nodes;
	sum /= rivals->n + 1;
	return sum > own ? (uint32_t)(sum - own + 3) / 4 : 1;
}

static bool can_be_taken(
	const struct triad_claims *claims, const struct claims_node *node, uint8_t load)
{
	return node->owner != CLAIMS_UNOWNED && node->owner != CLAIMS_SELF &&
		node->hops == node->own_hops && node->load > load &&
		triad_claims_load(claims->agents[node->owner].n_nodes) >= load + 2;
}

static void take_over_some(struct triad_claims *claims, uint32_t n)
{
	/* Begin at a node that differs by agent, or all would claim the same ones. */
	uint32_t first =
		(uint32_t)(claims_hash(claims->params.seed ^ claims->params.self,
				   claims->n_balances) %
			claims->n);

	for (uint32_t step = 0; step < claims->n && n && !is_full(claims); step++) {
		uint32_t i = (uint32_t)(((uint64_t)first + step) % claims->n);

		/* Compute our load anew: it grows with each node. */
		if (!can_be_taken(claims, &claims->nodes[i],
			    triad_claims_load(claims->agents[CLAIMS_SELF].n_nodes)))
			continue;
		claim(claims, i);
		n--;
	}
}

void claims_run_balance(struct triad_claims *claims)
{
	uint8_t load = triad_claims_load(claims->agents[CLAIMS_SELF].n_nodes);
	struct rivals rivals;
	bool is_uneven = false;

	if (claims->now_us < claims->balance_us)
		return;
	claims->balance_us = claims->now_us + claims->params.liveness_us / 2;
	claims->n_balances++;
	/* Before the rounds begin, the others may not have announced what they own. */
	if (!claims_is_claiming(claims) || !claims->n ||
		claims->now_us < claims->round_us)
		return;
	gather(claims, &rivals);
	for (unsigned r = 0; r < rivals.n; r++)
		is_uneven |=
			triad_claims_load(claims->agents[rivals.agents[r]].n_nodes) >=
			load + 2;
	if (is_uneven)
		take_over_some(claims, quota(claims, &rivals));
}
