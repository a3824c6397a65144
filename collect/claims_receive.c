/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims_parts.h"
#include "collect/incarnation.h"

/* How many liveness times to wait before asking again for a list that left the digests
 * different. */
#define SETTLED_FOR 8u

/* --- senders --- */

static void revive(struct triad_claims *claims, struct claims_agent *agent)
{
	agent->is_alive = true;
	/* If all agents were just asked, its list may be under way. */
	if (claims->asked_us &&
		claims->now_us < claims->asked_us + claims->params.liveness_us / 4)
		claims_expect_list(agent, claims->asked_us);
}

static void begin_anew(
	struct triad_claims *claims, struct claims_agent *agent, uint64_t incarnation)
{
	uint64_t id = agent->id;

	if (agent->is_alive) {
		claims->counts.n_deaths++;
		claims_bury(claims, claims_index(claims, agent));
	}
	*agent = (struct claims_agent){.id = id,
		.incarnation = incarnation,
		.behind_us = CLAIMS_NEVER,
		.differs_us = CLAIMS_NEVER,
		.asked_us = CLAIMS_NEVER};
	revive(claims, agent);
}

static void note_refused_claim(
	struct triad_claims *claims, uint64_t agent, uint64_t node)
{
	claims->counts.n_refused++;
	claims->counts.refused_agent = agent;
	claims->counts.refused_node = node;
}

/* The sender; NULL when there is no room, or if its incarnation is an earlier one. */
static struct claims_agent *find_sender(
	struct triad_claims *claims, const struct triad_collect_head *head)
{
	struct claims_agent *agent = claims_find_agent(claims, head->sender);
	enum triad_incarnation incarnation = TRIAD_INCARNATION_NEW;

	if (agent)
		incarnation = triad_incarnation_judge(head->incarnation,
			agent->incarnation, agent->received_us,
			TRIAD_COLLECT_PAST_LIVES * claims->params.liveness_us,
			claims->now_us);
	else
		agent = claims_add_agent(claims, head->sender);
	if (!agent)
		note_refused_claim(claims, head->sender, 0);
	else if (incarnation == TRIAD_INCARNATION_NEW)
		begin_anew(claims, agent, head->incarnation);
	return incarnation == TRIAD_INCARNATION_PAST ? NULL : agent;
}

/* The sender; NULL if its messages are to be ignored. */
static struct claims_agent *listen(
	struct triad_claims *claims, const struct triad_collect_head *head)
{
	struct claims_agent *agent;

	if (!head->sender || head->sender == claims->params.self)
		return NULL;
	agent = find_sender(claims, head);
	if (!agent)
		return NULL;
	agent->received_us = claims->now_us;
	if (!agent->is_alive) {
		/* Its nodes were given up when it died: ask for its list. */
		agent->needs_list = true;
		revive(claims, agent);
	}
	return agent;
}

static void set_draining(
	struct triad_claims *claims, struct claims_agent *agent, bool is_draining)
{
	if (agent->is_draining == is_draining)
		return;
	agent->is_draining = is_draining;
	claims_plan_all(claims);
}

/* --- ALIVE --- */

static bool is_settled(
	const struct triad_claims *claims, const struct claims_agent *agent)
{
	return agent->settled_us && agent->logged_settled == agent->announced_digest &&
		agent->settled_digest == agent->digest &&
		agent->settled_n_freed == claims->n_freed &&
		claims->now_us <
		agent->settled_us + SETTLED_FOR * claims->params.liveness_us;
}

/* Asks for a list if digests differ for a while; once may be due to a message under
 * way. */
static void compare_digests(struct triad_claims *claims, struct claims_agent *agent)
{
	if (agent->digest == agent->announced_digest || is_settled(claims, agent))
		agent->differs_us = CLAIMS_NEVER;
	else if (agent->differs_us == CLAIMS_NEVER)
		agent->differs_us = claims->now_us;
	else if (claims->now_us - agent->differs_us >= claims->params.liveness_us / 8)
		agent->needs_list = true;
}

void claims_receive_alive(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive)
{
	struct claims_agent *agent;

	if (alive->is_manager)
		return;
	agent = listen(claims, head);
	if (!agent || alive->n_announced < agent->known)
		return; /* an announcement has overtaken it */
	agent->known = alive->n_announced;
	agent->announced_digest = alive->claims;
	set_draining(claims, agent, alive->is_draining);
	/* A missing message explains a difference: don't compare then. */
	if (!claims_is_behind(agent))
		compare_digests(claims, agent);
}

/* --- claims --- */

static bool is_possible(const struct triad_claims *claims,
	const struct claims_agent *agent, uint32_t node, uint8_t hops)
{
	const struct triad_claims_params *params = &claims->params;

	return !params->true_hops ||
		hops >= params->true_hops(params->context, agent->id, node);
}

static void receive_worse(struct triad_claims *claims, uint32_t i)
{
	struct claims_node *node = &claims->nodes[i];
	uint64_t soon_us = claims->now_us + claims->params.backoff_us;

	claims->counts.n_conflicts++;
	if (node->owner != CLAIMS_SELF || node->is_disputed)
		return;
	/* Repeat our claim soon: the claimant may not have received it. */
	if (!claims->n_disputed && claims->repeat_us < soon_us)
		claims->repeat_us = soon_us;
	node->is_disputed = true;
	claims->n_disputed++;
}

static void receive_claim(struct triad_claims *claims, struct claims_agent *agent,
	const struct triad_collect_claim *claim, uint32_t *near)
{
	unsigned index = claims_index(claims, agent);
	uint32_t i = claims_find_node(claims, claim->node_guid, near);
	struct claims_node *node;

	if (i == CLAIMS_NONE)
		return;
	node = &claims->nodes[i];
	if (claim->hops == TRIAD_COLLECT_HOPS_GIVEN_UP) {
		/* If the node has another owner by now, keep that one. */
		if (claims->nodes[i].owner == index)
			claims_set_owner(claims, i, CLAIMS_UNOWNED, 0, 0);
		return;
	}
	if (!is_possible(claims, agent, i, claim->hops)) {
		note_refused_claim(claims, agent->id, claim->node_guid);
		agent->has_refused = true;
		return;
	}
	if (node->owner != index &&
		!claims_is_better(claims, i, index, claim->hops, claim->load)) {
		receive_worse(claims, i);
		return;
	}
	/* If we lose, we give up the node without a message. */
	claims->counts.n_lost += node->owner == CLAIMS_SELF;
	claims_set_owner(claims, i, index, claim->hops, claim->load);
	node->is_listed = true;
}

static void receive_claims(struct triad_claims *claims, struct claims_agent *agent,
	const struct triad_collect_claim *entries, uint32_t n)
{
	uint32_t near = 0;

	for (uint32_t i = 0; i < n; i++)
		receive_claim(claims, agent, &entries[i], &near);
}

/* --- lists --- */

/* Takes the nodes that the list lacked from the agent. */
static void end_list(
	struct triad_claims *claims, struct claims_agent *agent, uint32_t as_of)
{
	claims_disown(claims, claims_index(claims, agent), true);
	agent->is_expected = false;
	agent->needs_list = false;
	agent->differs_us = CLAIMS_NEVER;
	if (agent->received < as_of)
		agent->received = as_of;
	if (agent->known < agent->received)
		agent->known = agent->received;
	/* Remember the digests: if they differ even now, the same list would come again
	 * (is_settled()). */
	agent->settled_us = claims->now_us;
	agent->logged_settled = agent->announced_digest;
	agent->settled_digest = agent->digest;
	agent->settled_n_freed = claims->n_freed;
}

static void begin_list(
	struct triad_claims *claims, struct claims_agent *agent, uint32_t as_of)
{
	unsigned index = claims_index(claims, agent);

	agent->parts = 0;
	agent->as_of = as_of;
	for (uint32_t i = 0; agent->n_nodes && i < claims->n; i++)
		if (claims->nodes[i].owner == index)
			claims->nodes[i].is_listed = false;
}

static void receive_list(struct triad_claims *claims, struct claims_agent *agent,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries)
{
	uint64_t all;

	if (!agent->is_expected || owner->n_parts > CLAIMS_MAX_PARTS ||
		(owner->n_parts && owner->part >= owner->n_parts) ||
		owner->as_of < agent->as_of || owner->as_of < agent->received)
		return;
	/* A newer list replaces the parts of an older one. */
	if (!agent->parts || owner->as_of != agent->as_of)
		begin_list(claims, agent, owner->as_of);
	receive_claims(claims, agent, entries, owner->n);
	if (owner->n_parts)
		agent->parts |= UINT64_C(1) << owner->part;
	all = owner->n_parts ? UINT64_MAX >> (64 - owner->n_parts) : 0;
	if (agent->parts == all)
		end_list(claims, agent, owner->as_of);
}

/* --- OWNER --- */

static void receive_announcement(struct triad_claims *claims,
	struct claims_agent *agent, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries)
{
	if (owner->number <= agent->received)
		return; /* received twice, or a list had it before */
	if (owner->number >= agent->known) {
		agent->known = owner->number;
		set_draining(claims, agent, owner->is_draining);
	}
	/* After a gap keep the old number, until a list fills the gap. */
	if (owner->number == agent->received + 1)
		agent->received = owner->number;
	if (owner->is_list && !owner->n_parts) {
		/* A list without parts: the agent owns nothing. */
		begin_list(claims, agent, owner->number);
		end_list(claims, agent, owner->number);
		agent->settled_us = 0;
		return;
	}
	receive_claims(claims, agent, entries, owner->n);
}

void claims_receive_owner(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries)
{
	struct claims_agent *agent;

	if (owner->n > TRIAD_COLLECT_MAX_NODES)
		return;
	agent = listen(claims, head);
	if (!agent)
		return;
	/* Announcements have a number.  Answers have none: a list, or the nodes that we
	 * asked for by name. */
	if (owner->number)
		receive_announcement(claims, agent, owner, entries);
	else if (owner->is_list)
		receive_list(claims, agent, owner, entries);
	else if (owner->as_of >= agent->received)
		receive_claims(claims, agent, entries, owner->n);
}
