/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the route of an SMP from this SM to a node, port by port, that avoids certain
 * links: requests that take a link down, and their answers, must not pass it themselves,
 * nor may any pass a link that goes down and up.  Links with a disabled end are avoided, too.
 *
 * Thread-safety: no state.
 * Memory: some octets for each node, for the call. */
#ifndef TRIAD_IB_ROUTE_H
#define TRIAD_IB_ROUTE_H

#include "triad/fabric.h"

struct triad_routes_out;

#define TRIAD_ROUTE_MAX_HOPS 63u

struct triad_route {
	uint8_t n_hops;
	uint8_t ports[TRIAD_ROUTE_MAX_HOPS + 1]; /* to leave by, from element 1 on */
};

/* Routes to all nodes.  NULL: there is no memory, or 'fabric' has no SM's port.  Borrows the
 * fabric; 'avoided' only for the call. */
struct triad_routes_out *triad_routes_out_new(
	const struct triad_fabric *fabric, const bool *avoided);
void triad_routes_out_free(struct triad_routes_out *routes); /* accepts NULL */
/* One of the shortest routes to the node.  Returns 0 or EHOSTUNREACH. */
int triad_routes_out_read(const struct triad_routes_out *routes, uint32_t node,
	struct triad_route *route);

/* Finds one of the shortest routes.  'avoided' says of each of the fabric's ports whether its
 * link is avoided; either end may say so (NULL: none is).  Returns 0, EHOSTUNREACH or ENOMEM. */
int triad_route_find(const struct triad_fabric *fabric, uint32_t node,
	const bool *avoided, struct triad_route *route);

#endif
