/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/ways.h"

static bool is_switch(const struct triad_fabric *fabric, uint32_t node)
{
	return fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

uint32_t triad_ways_port(
	const struct triad_fabric *fabric, uint32_t node, unsigned number)
{
	const struct triad_fabric_node *at = &fabric->nodes[node];

	/* A switch nearly always has all of its ports, port 0 first. */
	if (number < at->n_ports &&
		fabric->ports[at->first_port + number].number == number)
		return at->first_port + number;
	return triad_fabric_find_port(fabric, node, number);
}

uint32_t triad_ways_route(
	const struct triad_fabric *fabric, uint32_t node, uint16_t lid)
{
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;

	if (!is_switch(fabric, node) || lid >= lft->n)
		return TRIAD_FABRIC_NONE;
	return triad_ways_port(fabric, node, fabric->lft[lft->at + lid]);
}

struct triad_way triad_ways_go_on(const struct triad_wanted *wanted, uint32_t out,
	unsigned in_port, uint32_t to, uint16_t lid)
{
	const struct triad_fabric *fabric = wanted->fabric;
	struct triad_way way = {0};

	for (unsigned n = 0; n <= TRIAD_WAY_MAX_HOPS; n++) {
		const struct triad_fabric_port *port = &fabric->ports[out];
		uint32_t node;

		way.dead |= triad_wanted_dead(wanted, out, in_port);
		way.dead_by_scope |= triad_wanted_dead_by_scope(wanted, out, in_port);
		/* Port 0 is the switch itself. */
		way.arrives = is_switch(fabric, port->node) && !port->number
			? out == to
			: port->remote == to;
		if (way.arrives || port->remote == TRIAD_FABRIC_NONE)
			return way;
		in_port = fabric->ports[port->remote].number;
		node = fabric->ports[port->remote].node;
		out = triad_ways_route(fabric, node, lid);
		if (out == TRIAD_FABRIC_NONE)
			return way;
	}
	return way;
}

struct triad_way triad_ways_go(
	const struct triad_wanted *wanted, uint32_t from, uint32_t to, uint16_t lid)
{
	uint32_t node = wanted->fabric->ports[from].node, out = from;

	if (is_switch(wanted->fabric, node))
		out = triad_ways_route(wanted->fabric, node, lid);
	if (out == TRIAD_FABRIC_NONE)
		return (struct triad_way){0};
	return triad_ways_go_on(wanted, out, 0, to, lid);
}
