/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/path.h"

#include <errno.h>
#include <stdlib.h>

/* --- one path --- */

static struct triad_routes_hop hop_of(const struct triad_fabric *fabric, uint32_t node,
	uint8_t number, uint8_t in_port, uint8_t sl)
{
	struct triad_routes_hop hop = {
		.port = triad_fabric_find_port(fabric, node, number),
		.node = node,
		.number = number,
		.in_port = in_port};

	if (hop.port != TRIAD_FABRIC_NONE)
		hop.vl = triad_routes_fabric_vl(fabric, hop.port, in_port, sl);
	return hop;
}

void triad_routes_path_find(const struct triad_routes_layout *layout, uint32_t from,
	uint32_t to, uint16_t lid, uint8_t sl, struct triad_routes_path *path)
{
	const struct triad_fabric *fabric = layout->fabric;
	const struct triad_fabric_port *begin = &fabric->ports[from];
	uint32_t sw = layout->switch_of_node[begin->node];
	uint8_t in_port = 0;

	path->n_hops = 0;
	path->end = TRIAD_ROUTES_DEAD_PORT;
	if (sw == TRIAD_FABRIC_NONE) {
		uint32_t host = layout->host_of_port[from];

		path->hops[path->n_hops++] =
			hop_of(fabric, begin->node, begin->number, 0, sl);
		if (host == TRIAD_FABRIC_NONE)
			return;
		sw = layout->hosts[host].sw;
		in_port = layout->hosts[host].in_port;
	}
	while (path->n_hops < TRIAD_ROUTES_MAX_HOPS) {
		uint8_t out = triad_routes_out(layout, sw, lid);
		const struct triad_routes_link *link =
			triad_routes_link(layout, sw, out);

		path->hops[path->n_hops++] =
			hop_of(fabric, layout->switches[sw].node, out, in_port, sl);
		if (link && link->kind == TRIAD_ROUTES_TO_SWITCH) {
			sw = link->to;
			in_port = link->in_port;
			continue;
		}
		if (out == 255)
			path->end = TRIAD_ROUTES_NO_ROUTE;
		else if (link && link->kind == TRIAD_ROUTES_TO_END)
			path->end = link->to == to ? TRIAD_ROUTES_ARRIVES
						   : TRIAD_ROUTES_ELSEWHERE;
		else if (link && link->kind == TRIAD_ROUTES_ITSELF)
			path->end = fabric->ports[to].node == layout->switches[sw].node
				? TRIAD_ROUTES_ARRIVES
				: TRIAD_ROUTES_ELSEWHERE;
		return;
	}
	path->end = TRIAD_ROUTES_CIRCLES;
}

/* --- all over a link --- */

struct over {
	const struct triad_routes_layout *layout;
	uint32_t sw, host; /* the port's owner; the other one is TRIAD_FABRIC_NONE */
	uint8_t number;
	struct triad_routes_tree tree;
	uint8_t *column;
	bool *passes; /* packets from each switch pass the link */
	bool (*take)(void *context, uint32_t from, uint32_t to, uint16_t lid);
	void *context;
};

static bool take_hosts_of(
	struct over *over, uint32_t sw, const struct triad_routes_goal *goal)
{
	const struct triad_routes_switch *at = &over->layout->switches[sw];

	for (uint32_t i = at->first_host; i < at->first_host + at->n_hosts; i++)
		if (i != goal->host &&
			(over->host == TRIAD_FABRIC_NONE || over->host == i) &&
			!over->take(over->context, over->layout->hosts[i].port,
				goal->port, goal->lid))
			return false;
	return true;
}

/* Goes from the root to the leaves: if the next switch's path crosses the link, this
 * one's does, too. */
static bool take_goal(struct over *over, const struct triad_routes_goal *goal)
{
	struct triad_routes_tree *tree = &over->tree;

	triad_routes_tree_grow(tree, over->layout, goal, over->column);
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];

		over->passes[sw] = tree->ends[sw] == TRIAD_ROUTES_ARRIVES &&
			(sw == over->sw ||
				(next != TRIAD_FABRIC_NONE && over->passes[next]));
		if (over->passes[sw] && !take_hosts_of(over, sw, goal))
			return false;
	}
	return true;
}

static void take_all(struct over *over)
{
	const struct triad_routes_layout *layout = over->layout;
	bool goes_on = true;

	for (uint32_t i = 0; i < layout->n_goals && goes_on; i++) {
		const struct triad_routes_goal *goal = &layout->goals[i];

		if (goal->host == TRIAD_FABRIC_NONE ||
			(over->host == TRIAD_FABRIC_NONE &&
				triad_routes_out(layout, over->sw, goal->lid) !=
					over->number))
			continue;
		triad_routes_columns(layout, i, 1, over->column);
		goes_on = take_goal(over, goal);
	}
}

int triad_routes_over(const struct triad_routes_layout *layout, uint32_t port,
	bool (*take)(void *context, uint32_t from, uint32_t to, uint16_t lid),
	void *context)
{
	const struct triad_fabric_port *at = &layout->fabric->ports[port];
	struct over over = {.layout = layout,
		.sw = layout->switch_of_node[at->node],
		.host = layout->host_of_port[port],
		.number = at->number,
		.take = take,
		.context = context};
	int error = triad_routes_tree_init(&over.tree, layout->n_switches);

	over.column = malloc(layout->n_switches + 1u);
	over.passes = calloc(layout->n_switches + 1u, sizeof(*over.passes));
	if (!over.column || !over.passes)
		error = ENOMEM;
	/* A host's packets all pass its own link and its switch. */
	if (over.host != TRIAD_FABRIC_NONE)
		over.sw = layout->hosts[over.host].sw;
	if (!error && over.sw != TRIAD_FABRIC_NONE)
		take_all(&over);
	triad_routes_tree_clear(&over.tree);
	free(over.column);
	free(over.passes);
	return error;
}
