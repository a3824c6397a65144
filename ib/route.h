/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The way of an SMP from this SM to a switch, port by port, that does not lead over a
 * certain link: what is sent to take that link down, and the answer, must not go over
 * it themselves.  Nor does it lead over links an end of which is disabled.
 *
 * Thread-safety: no state.  Memory: some octets for each node, for the call. */
#ifndef TRIAD_IB_ROUTE_H
#define TRIAD_IB_ROUTE_H

#include "triad/fabric.h"

#define TRIAD_ROUTE_MAX_HOPS 63u

struct triad_route {
	uint8_t n_hops;
	uint8_t ports[TRIAD_ROUTE_MAX_HOPS + 1]; /* to leave by, from 1 on */
};

/* One of the shortest.  'without': a port, one end of the link (TRIAD_FABRIC_NONE:
 * none).  Returns 0, EHOSTUNREACH or ENOMEM. */
int triad_route_find(const struct triad_fabric *fabric, uint32_t node, uint32_t without,
	struct triad_route *route);

#endif
