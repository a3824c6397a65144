/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/guard_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

/* --- life --- */

static uint32_t *new_numbers(size_t n)
{
	return calloc(n + 1, sizeof(uint32_t));
}

static int allocate_view(struct guard_view *view, size_t n, unsigned need)
{
	view->need = need;
	view->is_stale = true;
	view->enter = new_numbers(n);
	view->leave = new_numbers(n);
	view->low = new_numbers(n);
	view->parent = new_numbers(n);
	view->order = new_numbers(n);
	return view->enter && view->leave && view->low && view->parent && view->order
		? 0
		: ENOMEM;
}

static int allocate(struct triad_guard *guard, uint32_t n_sm_guids)
{
	size_t n_nodes = guard->fabric->n_nodes, n_ports = guard->fabric->n_ports;

	guard->sms = new_numbers(n_sm_guids);
	guard->switch_of = new_numbers(n_nodes);
	guard->node_of = new_numbers(n_nodes);
	guard->first_link = new_numbers(n_nodes + 1);
	guard->links = calloc(n_ports + 1, sizeof(*guard->links));
	guard->link_of = calloc(n_ports + 1, sizeof(*guard->link_of));
	guard->distance = new_numbers(n_nodes);
	guard->stack = new_numbers(n_nodes);
	guard->next = new_numbers(n_nodes);
	if (!guard->sms || !guard->switch_of || !guard->node_of || !guard->first_link ||
		!guard->links || !guard->link_of || !guard->distance || !guard->stack ||
		!guard->next)
		return ENOMEM;
	if (allocate_view(&guard->views[0], n_nodes, GUARD_SMPS))
		return ENOMEM;
	return allocate_view(&guard->views[1], n_nodes, GUARD_DATA);
}

int triad_guard_new(const struct triad_fabric *fabric, const uint64_t *sm_guids,
	uint32_t n_sm_guids, struct triad_guard **made)
{
	struct triad_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return ENOMEM;
	guard->fabric = fabric;
	guard->own =
		fabric->sm_port == NONE ? NONE : fabric->ports[fabric->sm_port].node;
	if (allocate(guard, n_sm_guids)) {
		triad_guard_free(guard);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < n_sm_guids; i++) {
		uint32_t port = triad_fabric_find_alias(fabric, sm_guids[i]);

		if (port != NONE)
			guard->sms[guard->n_sms++] = port;
	}
	guard_make_graph(guard);
	*made = guard;
	return 0;
}

static void free_view(struct guard_view *view)
{
	free(view->enter);
	free(view->leave);
	free(view->low);
	free(view->parent);
	free(view->order);
}

void triad_guard_free(struct triad_guard *guard)
{
	if (!guard)
		return;
	free(guard->sms);
	free(guard->switch_of);
	free(guard->node_of);
	free(guard->first_link);
	free(guard->links);
	free(guard->link_of);
	free(guard->distance);
	free(guard->stack);
	free(guard->next);
	free_view(&guard->views[0]);
	free_view(&guard->views[1]);
	free(guard);
}

/* --- nodes that would be lost --- */

/* The switch that is reached only over this link, or NONE. */
static uint32_t find_cut(
	const struct triad_guard *guard, const struct guard_view *view, uint32_t port)
{
	uint32_t far = guard_far_of(guard, port);
	uint32_t here = guard_switch_at(guard, port),
		 there = guard_switch_at(guard, far);

	/* An unreached switch has the highest number, so both comparisons below
	 * fail. */
	if (!(guard->link_of[port] & view->need))
		return NONE;
	if (view->parent[there] == far && view->low[there] > view->enter[here])
		return there;
	if (view->parent[here] == port && view->low[here] > view->enter[there])
		return here;
	return NONE;
}

static bool is_within(const struct guard_view *view, uint32_t at, uint32_t top)
{
	return at != NONE && view->enter[at] != NONE &&
		view->enter[at] >= view->enter[top] &&
		view->enter[at] < view->leave[top];
}

/* The switch by which a port is reached: its own, or the one that it is linked to; NONE
 * if neither is reached. */
static uint32_t find_access_switch(
	const struct triad_guard *guard, const struct guard_view *view, uint32_t port)
{
	uint32_t at = guard_switch_at(guard, port);

	if (at == NONE && (guard->link_of[port] & view->need))
		at = guard_switch_at(guard, guard_far_of(guard, port));
	return at != NONE && view->enter[at] != NONE ? at : NONE;
}

static void add_lost(
	const struct triad_guard *guard, struct triad_guard_lost *lost, uint32_t node)
{
	if (lost->n < TRIAD_GUARD_MAX_LOST)
		lost->nodes[lost->n] = node;
	lost->n++;
	lost->fingerprint += triad_hash_word(0, guard->fabric->nodes[node].guid);
}

/* Whether the node of 'port', which is no switch, is lost with the subtree: none of its
 * links leads elsewhere.  True only for the first port that leads into the subtree, so
 * that the node counts once. */
static bool is_lost_at(const struct triad_guard *guard, const struct guard_view *view,
	uint32_t port, uint32_t top)
{
	const struct triad_fabric_node *node =
		&guard->fabric->nodes[guard->fabric->ports[port].node];
	bool is_first = true;

	for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
		uint32_t access = find_access_switch(guard, view, p);

		if (access == NONE)
			continue;
		if (!is_within(view, access, top))
			return false;
		is_first &= p >= port;
	}
	return is_first;
}

static void add_lost_hosts(const struct triad_guard *guard,
	const struct guard_view *view, uint32_t at, uint32_t top, uint32_t known,
	struct triad_guard_lost *lost)
{
	const struct triad_fabric_node *node =
		&guard->fabric->nodes[guard->node_of[at]];

	for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
		uint32_t far = guard_far_of(guard, p), host;

		if (!(guard->link_of[p] & view->need))
			continue;
		host = guard->fabric->ports[far].node;
		if (guard->switch_of[host] == NONE && host != guard->own &&
			host != known && is_lost_at(guard, view, far, top))
			add_lost(guard, lost, host);
	}
}

/* Adds all nodes that are lost with the subtree of 'top', except 'known', which the
 * caller has added or spares. */
static void find_lost(const struct triad_guard *guard, const struct guard_view *view,
	uint32_t top, uint32_t known, struct triad_guard_lost *lost)
{
	for (uint32_t i = view->enter[top]; i < view->leave[top]; i++) {
		uint32_t at = view->order[i];

		if (guard->node_of[at] != known)
			add_lost(guard, lost, guard->node_of[at]);
		add_lost_hosts(guard, view, at, top, known, lost);
	}
}

/* --- judging --- */

static enum triad_guard_verdict judge_end(
	const struct triad_guard *guard, uint32_t port, struct triad_guard_lost *lost)
{
	uint32_t far = guard_far_of(guard, port);

	if (far == guard->fabric->sm_port)
		return TRIAD_GUARD_OWN_PATH;
	for (uint32_t i = 0; i < guard->n_sms; i++)
		if (guard->sms[i] == far) {
			add_lost(guard, lost, guard->fabric->ports[far].node);
			return TRIAD_GUARD_SM_PATH;
		}
	return TRIAD_GUARD_FREE;
}

static enum triad_guard_verdict judge_view(struct triad_guard *guard,
	struct guard_view *view, uint32_t port, uint32_t spared,
	struct triad_guard_lost *lost)
{
	uint32_t top, sm = NONE;

	if (view->is_stale)
		guard_walk(guard, view);
	top = find_cut(guard, view, port);
	if (top == NONE)
		return TRIAD_GUARD_FREE;
	for (uint32_t i = 0; i < guard->n_sms && sm == NONE; i++)
		if (is_within(
			    view, find_access_switch(guard, view, guard->sms[i]), top))
			sm = guard->fabric->ports[guard->sms[i]].node;
	/* Put that SM's node first, and spare nothing. */
	if (sm != NONE) {
		add_lost(guard, lost, sm);
		find_lost(guard, view, top, sm, lost);
		return TRIAD_GUARD_SM_PATH;
	}
	find_lost(guard, view, top, spared, lost);
	return lost->n ? TRIAD_GUARD_SPLIT : TRIAD_GUARD_FREE;
}

enum triad_guard_verdict triad_guard_judge(struct triad_guard *guard, uint32_t port,
	uint32_t spared, struct triad_guard_lost *lost)
{
	enum triad_guard_verdict verdict, in_data;
	uint32_t far = guard_far_of(guard, port);
	struct triad_guard_lost without_data = {0};

	*lost = (struct triad_guard_lost){0};
	if (guard->own == NONE)
		return TRIAD_GUARD_UNKNOWN;
	if (far == NONE)
		return TRIAD_GUARD_FREE;
	/* The far end is a host or router: nothing is behind it. */
	if (guard_switch_at(guard, far) == NONE)
		return judge_end(guard, port, lost);
	/* The link is free only in both views.  Otherwise return the worse verdict: one
	 * that cuts off an SM, then the one that loses more nodes. */
	verdict = judge_view(guard, &guard->views[0], port, spared, lost);
	in_data = judge_view(guard, &guard->views[1], port, spared, &without_data);
	if (in_data == TRIAD_GUARD_FREE || verdict == TRIAD_GUARD_SM_PATH ||
		(verdict == in_data && lost->n >= without_data.n))
		return verdict;
	*lost = without_data;
	return in_data;
}

void triad_guard_remove(struct triad_guard *guard, uint32_t port)
{
	uint32_t far = guard_far_of(guard, port);

	guard->link_of[port] = 0;
	if (far == NONE)
		return;
	guard->link_of[far] = 0;
	/* Only a link between switches, or the SM's own, needs a new walk.  A host's
	 * link is not in the graph, and find_access_switch() reads 'link_of' itself. */
	if (guard_switch_at(guard, far) != NONE || far == guard->fabric->sm_port)
		guard->views[0].is_stale = guard->views[1].is_stale = true;
}

uint32_t triad_guard_distance(const struct triad_guard *guard, uint32_t node)
{
	uint32_t at = guard->switch_of[node];

	return at == NONE ? UINT32_MAX : guard->distance[at];
}

bool triad_guard_reaches(struct triad_guard *guard, uint32_t node)
{
	struct guard_view *view = &guard->views[0];
	uint32_t at = guard->switch_of[node];

	if (view->is_stale)
		guard_walk(guard, view);
	return at != NONE && view->enter[at] != NONE;
}

const char *triad_guard_word(enum triad_guard_verdict verdict)
{
	static const char *const words[] = {
		[TRIAD_GUARD_FREE] = "",
		[TRIAD_GUARD_OWN_PATH] = "own_way",
		[TRIAD_GUARD_SM_PATH] = "sm_way",
		[TRIAD_GUARD_SPLIT] = "split",
		[TRIAD_GUARD_UNKNOWN] = "unknown",
	};

	return verdict < TRIAD_GUARD_N_VERDICTS ? words[verdict] : "?";
}
