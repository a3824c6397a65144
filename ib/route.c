/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A walk from the SM outward. */
struct walk {
	const struct triad_fabric *fabric;
	const bool *avoided;
	uint32_t *came_by; /* for each node: its own port by which it was reached */
	uint32_t *queue;
	uint32_t n_queued;
};

/* OpenSM may still show the link of a disabled port, but no packet passes it. */
static bool is_closed(const struct walk *walk, uint32_t port)
{
	return walk->fabric->ports[port].phys_state == TRIAD_PHYS_DISABLED ||
		(walk->avoided && walk->avoided[port]);
}

static void visit(struct walk *walk, uint32_t port, uint32_t root)
{
	const struct triad_fabric *fabric = walk->fabric;
	const struct triad_fabric_port *ports = fabric->ports;
	uint32_t far = ports[port].remote;

	/* Only switches forward SMPs.  At the SM's own node they leave only by its
	 * port. */
	if (fabric->nodes[ports[port].node].type != TRIAD_NODE_SWITCH &&
		port != fabric->sm_port)
		return;
	if (far == TRIAD_FABRIC_NONE || ports[far].node == root ||
		walk->came_by[ports[far].node] != TRIAD_FABRIC_NONE ||
		is_closed(walk, port) || is_closed(walk, far))
		return;
	walk->came_by[ports[far].node] = far;
	walk->queue[walk->n_queued++] = ports[far].node;
}

static void walk_to(struct walk *walk, uint32_t root, uint32_t node)
{
	walk->queue[walk->n_queued++] = root;
	for (uint32_t i = 0; i < walk->n_queued && walk->queue[i] != node; i++) {
		const struct triad_fabric_node *at =
			&walk->fabric->nodes[walk->queue[i]];

		for (uint32_t p = at->first_port; p < at->first_port + at->n_ports; p++)
			visit(walk, p, root);
	}
}

/* Reads the route from its end to its beginning.  Writes the ports from the array's end
 * on, and moves them to its beginning once their number is known. */
static int read_back(const struct walk *walk, uint32_t root, uint32_t node,
	struct triad_route *route)
{
	const struct triad_fabric_port *ports = walk->fabric->ports;
	uint32_t n = 0;

	for (uint32_t at = node; at != root; n++) {
		uint32_t port = walk->came_by[at];

		if (port == TRIAD_FABRIC_NONE || n >= TRIAD_ROUTE_MAX_HOPS)
			return EHOSTUNREACH;
		route->ports[TRIAD_ROUTE_MAX_HOPS - n] =
			ports[ports[port].remote].number;
		at = ports[ports[port].remote].node;
	}
	memmove(&route->ports[1], &route->ports[TRIAD_ROUTE_MAX_HOPS + 1 - n], n);
	route->n_hops = (uint8_t)n;
	return 0;
}

int triad_route_find(const struct triad_fabric *fabric, uint32_t node,
	const bool *avoided, struct triad_route *route)
{
	struct walk walk = {.fabric = fabric, .avoided = avoided};
	int error = ENOMEM;
	uint32_t root;

	memset(route, 0, sizeof(*route));
	if (fabric->sm_port == TRIAD_FABRIC_NONE)
		return EHOSTUNREACH;
	root = fabric->ports[fabric->sm_port].node;
	walk.came_by = malloc((fabric->n_nodes + 1) * sizeof(*walk.came_by));
	walk.queue = malloc((fabric->n_nodes + 1) * sizeof(*walk.queue));
	if (walk.came_by && walk.queue) {
		memset(walk.came_by, 0xff, fabric->n_nodes * sizeof(*walk.came_by));
		walk_to(&walk, root, node);
		error = read_back(&walk, root, node, route);
	}
	free(walk.came_by);
	free(walk.queue);
	return error;
}
