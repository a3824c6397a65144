/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A walk from the SM outward. */
struct triad_routes_out {
	const struct triad_fabric *fabric;
	const bool *avoided;
	uint32_t root;
	uint32_t *came_by; /* for each node: its own port by which it was reached */
	uint32_t *queue;
	uint32_t n_queued;
};

/* OpenSM may still show the link of a disabled port, but no packet passes it. */
static bool is_closed(const struct triad_routes_out *walk, uint32_t port)
{
	return walk->fabric->ports[port].phys_state == TRIAD_PHYS_DISABLED ||
		(walk->avoided && walk->avoided[port]);
}

static void visit(struct triad_routes_out *walk, uint32_t port)
{
	const struct triad_fabric *fabric = walk->fabric;
	const struct triad_fabric_port *ports = fabric->ports;
	uint32_t far = ports[port].remote;

	/* Only switches forward SMPs.  At the SM's own node they leave only by its
	 * port. */
	if (fabric->nodes[ports[port].node].type != TRIAD_NODE_SWITCH &&
		port != fabric->sm_port)
		return;
	if (far == TRIAD_FABRIC_NONE || ports[far].node == walk->root ||
		walk->came_by[ports[far].node] != TRIAD_FABRIC_NONE ||
		is_closed(walk, port) || is_closed(walk, far))
		return;
	walk->came_by[ports[far].node] = far;
	walk->queue[walk->n_queued++] = ports[far].node;
}

static void walk_out(struct triad_routes_out *walk)
{
	walk->queue[walk->n_queued++] = walk->root;
	for (uint32_t i = 0; i < walk->n_queued; i++) {
		const struct triad_fabric_node *at =
			&walk->fabric->nodes[walk->queue[i]];

		for (uint32_t p = at->first_port; p < at->first_port + at->n_ports; p++)
			visit(walk, p);
	}
}

struct triad_routes_out *triad_routes_out_new(
	const struct triad_fabric *fabric, const bool *avoided)
{
	struct triad_routes_out *routes =
		fabric->sm_port == TRIAD_FABRIC_NONE ? NULL : malloc(sizeof(*routes));

	if (!routes)
		return NULL;
	*routes = (struct triad_routes_out){.fabric = fabric,
		.avoided = avoided,
		.root = fabric->ports[fabric->sm_port].node,
		.came_by = malloc((fabric->n_nodes + 1) * sizeof(*routes->came_by)),
		.queue = malloc((fabric->n_nodes + 1) * sizeof(*routes->queue))};
	if (!routes->came_by || !routes->queue) {
		triad_routes_out_free(routes);
		return NULL;
	}
	memset(routes->came_by, 0xff, fabric->n_nodes * sizeof(*routes->came_by));
	walk_out(routes);
	return routes;
}

void triad_routes_out_free(struct triad_routes_out *routes)
{
	if (!routes)
		return;
	free(routes->came_by);
	free(routes->queue);
	free(routes);
}

/* Reads the route from its end to its beginning.  Writes the ports from the array's end
 * on, and moves them to its beginning once their number is known. */
int triad_routes_out_read(
	const struct triad_routes_out *routes, uint32_t node, struct triad_route *route)
{
	const struct triad_fabric_port *ports = routes->fabric->ports;
	uint32_t n = 0;

	memset(route, 0, sizeof(*route));
	for (uint32_t at = node; at != routes->root; n++) {
		uint32_t port = routes->came_by[at];

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
	struct triad_routes_out *routes = triad_routes_out_new(fabric, avoided);
	int error;

	memset(route, 0, sizeof(*route));
	if (!routes)
		return fabric->sm_port == TRIAD_FABRIC_NONE ? EHOSTUNREACH : ENOMEM;
	error = triad_routes_out_read(routes, node, route);
	triad_routes_out_free(routes);
	return error;
}
