/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims_parts.h"

static struct triad_collect_owner about_self(const struct triad_claims *claims)
{
	uint32_t n_nodes = claims->agents[CLAIMS_SELF].n_nodes;

	return (struct triad_collect_owner){.number = claims->number,
		.as_of = claims->number,
		.load = triad_claims_load(n_nodes),
		.is_draining = claims->is_draining,
		.n_nodes = n_nodes};
}

static void add_claim(struct triad_claims *claims, uint32_t i, uint8_t hops)
{
	claims->outgoing[claims->n_outgoing++] =
		(struct triad_collect_claim){.node_guid = claims->guids[i],
			.hops = hops,
			.load = claims->nodes[i].load};
}

/* --- to all --- */

void claims_flush(struct triad_claims *claims)
{
	struct triad_collect_owner owner;

	if (!claims->n_outgoing)
		return;
	claims->number++;
	owner = about_self(claims);
	owner.n = claims->n_outgoing;
	claims->n_outgoing = 0;
	claims->sink.send_owner(
		claims->sink.context, TRIAD_CLAIMS_NO_AGENT, &owner, claims->outgoing);
}

void claims_announce(struct triad_claims *claims, uint32_t node, uint8_t hops)
{
	add_claim(claims, node, hops);
	/* Fewer of them wait for the next step, which sends them. */
	if (claims->n_outgoing == CLAIMS_MAX_OUTGOING)
		claims_flush(claims);
}

void claims_send_state(struct triad_claims *claims, bool owns_nothing)
{
	struct triad_collect_owner owner;

	/* Earlier announcements must be sent before this state. */
	claims_flush(claims);
	claims->number++;
	owner = about_self(claims);
	owner.is_list = owns_nothing;
	claims->sink.send_owner(
		claims->sink.context, TRIAD_CLAIMS_NO_AGENT, &owner, claims->outgoing);
}

void claims_run_repeats(struct triad_claims *claims)
{
	if (!claims->n_disputed || claims->now_us < claims->repeat_us)
		return;
	for (uint32_t i = 0; i < claims->n; i++) {
		if (!claims->nodes[i].is_disputed)
			continue;
		claims->nodes[i].is_disputed = false;
		claims_announce(claims, i, claims->nodes[i].hops);
	}
	claims->n_disputed = 0;
	/* Repeats have a rate, however many claims come in vain. */
	claims->repeat_us = claims->now_us + claims->params.liveness_us / 4;
}

void claims_ask_all(struct triad_claims *claims)
{
	claims->asked_us = claims->now_us;
	for (unsigned i = CLAIMS_SELF + 1; i < claims->n_agents; i++)
		if (claims->agents[i].is_alive)
			claims_expect_list(&claims->agents[i], claims->now_us);
	claims->counts.n_lists++;
	claims->sink.ask_list(claims->sink.context, TRIAD_CLAIMS_NO_AGENT);
}

/* --- answers --- */

/* Bounds the number of answers in a time, to all askers together. */
static bool is_within_limit(struct triad_claims *claims)
{
	if (claims->now_us >= claims->window_us + claims->params.liveness_us / 4) {
		claims->window_us = claims->now_us;
		claims->n_given = 0;
	}
	return claims->n_given++ < CLAIMS_MAX_LISTS;
}

static void answer(
	struct triad_claims *claims, uint64_t to, struct triad_collect_owner *owner)
{
	owner->n = claims->n_outgoing;
	claims->n_outgoing = 0;
	claims->sink.send_owner(claims->sink.context, to, owner, claims->outgoing);
	owner->part++;
}

static void give_list(struct triad_claims *claims, uint64_t to)
{
	struct triad_collect_owner owner = about_self(claims);

	/* No number: only messages to all agents are numbered. */
	owner.number = 0;
	owner.is_list = true;
	owner.n_parts = (uint16_t)((owner.n_nodes + CLAIMS_MAX_OUTGOING - 1) /
		CLAIMS_MAX_OUTGOING);
	for (uint32_t i = 0; i < claims->n; i++) {
		if (claims->nodes[i].owner != CLAIMS_SELF)
			continue;
		add_claim(claims, i, claims->nodes[i].hops);
		if (claims->n_outgoing == CLAIMS_MAX_OUTGOING)
			answer(claims, to, &owner);
	}
	/* An empty list is an answer, too. */
	if (claims->n_outgoing || !owner.n_parts)
		answer(claims, to, &owner);
}

static void give_nodes(
	struct triad_claims *claims, uint64_t to, const uint64_t *guids, uint32_t n)
{
	struct triad_collect_owner owner = about_self(claims);
	uint32_t near = 0;

	owner.number = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = claims_find_node(claims, guids[i], &near);

		if (node != CLAIMS_NONE && claims->nodes[node].owner == CLAIMS_SELF)
			add_claim(claims, node, claims->nodes[node].hops);
		if (claims->n_outgoing == CLAIMS_MAX_OUTGOING)
			answer(claims, to, &owner);
	}
	if (claims->n_outgoing)
		answer(claims, to, &owner);
}

void claims_answer(struct triad_claims *claims, const struct triad_collect_head *head,
	const struct triad_collect_who_owns *who, const uint64_t *guids)
{
	bool is_own = head->sender == claims->params.self &&
		head->incarnation == claims->params.incarnation;

	if (!head->sender || is_own || !claims->params.self || claims->has_left ||
		!is_within_limit(claims))
		return;
	if (who->wants_list)
		give_list(claims, head->sender);
	else if (who->n <= TRIAD_COLLECT_MAX_NODES)
		give_nodes(claims, head->sender, guids, who->n);
}
