/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the route of an SMP from this SM to a switch, port by port, that avoids a
 * certain link: requests that take that link down, and their answers, must not pass it
 * themselves.  It also avoids links with a disabled end.
 *
 * Thread-safety: no state.
 * Memory: some octets for each node, for the call. */
#ifndef TRIAD_IB_ROUTE_H
#define TRIAD_IB_ROUTE_H

#include "triad/fabric.h"

#define TRIAD_ROUTE_MAX_HOPS 63u

struct triad_route {
	uint8_t n_hops;
	uint8_t ports[TRIAD_ROUTE_MAX_HOPS + 1]; /* to leave by, from element 1 on */
};

/* Finds one of the shortest routes.  'without' is a port at either end of the link to
 * avoid (TRIAD_FABRIC_NONE: none).  Returns 0, EHOSTUNREACH or ENOMEM. */
int triad_route_find(const struct triad_fabric *fabric, uint32_t node, uint32_t without,
	struct triad_route *route);

#endif
