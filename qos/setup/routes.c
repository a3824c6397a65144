/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/routes.h"

static bool is_switch(const struct triad_fabric *fabric, uint32_t node)
{
	return fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

uint32_t triad_routes_out_port(
	const struct triad_fabric *fabric, uint32_t node, uint16_t lid)
{
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;

	if (!is_switch(fabric, node) || lid >= lft->n)
		return TRIAD_FABRIC_NONE;
	return triad_fabric_find_port(fabric, node, fabric->lft[lft->at + lid]);
}

struct triad_setup_route triad_routes_follow_from(const struct triad_desired *desired,
	uint32_t out, unsigned in_port, uint32_t to, uint16_t lid)
{
	const struct triad_fabric *fabric = desired->fabric;
	struct triad_setup_route route = {0};

	/* The limit ends paths through tables that lead in a circle. */
	for (unsigned n = 0; n <= TRIAD_SETUP_ROUTE_MAX_HOPS; n++) {
		const struct triad_fabric_port *port = &fabric->ports[out];
		uint32_t node;

		route.dead |= triad_desired_dead(desired, out, in_port);
		route.dead_by_scope |=
			triad_desired_dead_by_scope(desired, out, in_port);
		/* Port 0 is the switch itself. */
		route.arrives = is_switch(fabric, port->node) && !port->number
			? out == to
			: port->remote == to;
		if (route.arrives || port->remote == TRIAD_FABRIC_NONE)
			return route;
		in_port = fabric->ports[port->remote].number;
		node = fabric->ports[port->remote].node;
		out = triad_routes_out_port(fabric, node, lid);
		if (out == TRIAD_FABRIC_NONE)
			return route;
	}
	return route;
}

struct triad_setup_route triad_routes_follow(
	const struct triad_desired *desired, uint32_t from, uint32_t to, uint16_t lid)
{
	uint32_t node = desired->fabric->ports[from].node, out = from;

	/* A switch's own packets leave by the port that its table gives. */
	if (is_switch(desired->fabric, node))
		out = triad_routes_out_port(desired->fabric, node, lid);
	if (out == TRIAD_FABRIC_NONE)
		return (struct triad_setup_route){0};
	return triad_routes_follow_from(desired, out, 0, to, lid);
}
