/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/guard_parts.h"

#include <string.h>

/* --- the graph --- */

static unsigned judge_link(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *near = &fabric->ports[port], *far;

	if (near->remote == NONE)
		return 0;
	far = &fabric->ports[near->remote];
	if (!triad_fabric_port_passes_smps(near) || !triad_fabric_port_passes_smps(far))
		return 0;
	return near->state >= TRIAD_PORT_ARMED && far->state >= TRIAD_PORT_ARMED
		? GUARD_SMPS | GUARD_DATA
		: GUARD_SMPS;
}

static void add_links(struct triad_guard *guard, uint32_t at, uint32_t *n_links)
{
	const struct triad_fabric_node *node =
		&guard->fabric->nodes[guard->node_of[at]];

	guard->first_link[at] = *n_links;
	for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
		uint32_t to;

		guard->link_of[p] = (uint8_t)judge_link(guard->fabric, p);
		if (!guard->link_of[p])
			continue;
		/* This loop visits switches only, so set the host's end here, too. */
		guard->link_of[guard_far_of(guard, p)] = guard->link_of[p];
		to = guard_switch_at(guard, guard_far_of(guard, p));
		if (to != NONE)
			guard->links[(*n_links)++] = (struct guard_link){to, p};
	}
}

/* The switch where all paths from the SM begin, or NONE. */
static uint32_t find_root(const struct triad_guard *guard)
{
	uint32_t port = guard->fabric->sm_port;

	if (port == NONE)
		return NONE;
	if (guard->switch_of[guard->own] != NONE)
		return guard->switch_of[guard->own];
	/* Use this SM's link even if it is not active yet. */
	return guard->link_of[port] ? guard_switch_at(guard, guard_far_of(guard, port))
				    : NONE;
}

static void measure_distances(struct triad_guard *guard)
{
	uint32_t root = find_root(guard), n = 0;

	memset(guard->distance, 0xff, guard->n_switches * sizeof(*guard->distance));
	if (root == NONE)
		return;
	/* Breadth first; the memory of the stack serves as the queue.  Count the SM's
	 * own link if the SM is on a host. */
	guard->distance[root] = guard->switch_of[guard->own] == NONE;
	guard->stack[n++] = root;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = guard->stack[i];

		for (uint32_t l = guard->first_link[at]; l < guard->first_link[at + 1];
			l++) {
			uint32_t to = guard->links[l].to;

			if (guard->distance[to] != UINT32_MAX)
				continue;
			guard->distance[to] = guard->distance[at] + 1;
			guard->stack[n++] = to;
		}
	}
}

void guard_make_graph(struct triad_guard *guard)
{
	const struct triad_fabric *fabric = guard->fabric;
	uint32_t n_links = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		bool is_switch = fabric->nodes[i].type == TRIAD_NODE_SWITCH;

		guard->switch_of[i] = is_switch ? guard->n_switches : NONE;
		if (is_switch)
			guard->node_of[guard->n_switches++] = i;
	}
	for (uint32_t i = 0; i < guard->n_switches; i++)
		add_links(guard, i, &n_links);
	guard->first_link[guard->n_switches] = n_links;
	measure_distances(guard);
}

/* --- walks --- */

static void enter_switch(struct triad_guard *guard, struct guard_view *view,
	uint32_t at, uint32_t parent, uint32_t number)
{
	view->enter[at] = number;
	view->low[at] = number;
	view->parent[at] = parent;
	view->order[number] = at;
	guard->next[at] = guard->first_link[at];
}

/* Follows the next link of 'at'.  Returns the switch if it was not entered before, else
 * NONE. */
static uint32_t follow_next_link(
	struct triad_guard *guard, struct guard_view *view, uint32_t at)
{
	const struct guard_link *link = &guard->links[guard->next[at]++];

	if (!(guard->link_of[link->port] & view->need) ||
		link->port == view->parent[at])
		return NONE;
	if (view->enter[link->to] == NONE)
		return link->to;
	if (view->enter[link->to] < view->low[at])
		view->low[at] = view->enter[link->to];
	return NONE;
}

void guard_walk(struct triad_guard *guard, struct guard_view *view)
{
	uint32_t root = find_root(guard), depth = 0, n_entered = 0;

	view->is_stale = false;
	memset(view->enter, 0xff, guard->n_switches * sizeof(*view->enter));
	if (root == NONE)
		return;
	/* Use a stack, not recursion: a chain of switches makes the walk as deep. */
	enter_switch(guard, view, root, NONE, n_entered++);
	guard->stack[depth++] = root;
	while (depth) {
		uint32_t at = guard->stack[depth - 1], to;

		if (guard->next[at] < guard->first_link[at + 1]) {
			to = follow_next_link(guard, view, at);
			if (to == NONE)
				continue;
			enter_switch(guard, view, to,
				guard_far_of(
					guard, guard->links[guard->next[at] - 1].port),
				n_entered++);
			guard->stack[depth++] = to;
			continue;
		}
		/* The subtree is done: its parent reaches what it reaches. */
		view->leave[at] = n_entered;
		depth--;
		to = depth ? guard->stack[depth - 1] : at;
		if (view->low[at] < view->low[to])
			view->low[to] = view->low[at];
	}
}
