/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Follows the routes of packets by the forwarding tables, with the desired QoS tables.
 *
 * Model: a route leads from an end port through out-ports until it arrives [IBA
 * 14.3.2.2].  At each out-port some SLs are dead (desired.h), because its SL2VL table
 * for the in-port gives them no VL, or one that is never sent.  No SL is dead at a port
 * without such tables.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_QOS_ROUTES_H
#define TRIAD_QOS_ROUTES_H

#include "qos/setup/desired.h"

#define TRIAD_SETUP_ROUTE_MAX_HOPS 64 /* switches after the source, as in OpenSM */

struct triad_setup_route {
	bool arrives;
	uint16_t dead;          /* SLs that are dead somewhere */
	uint16_t dead_by_scope; /* of those, SLs that a scope makes dead */
};

/* The port by which that node forwards packets to 'lid'; TRIAD_FABRIC_NONE: it is not a
 * switch, has no route, or lacks the port. */
uint32_t triad_routes_out_port(
	const struct triad_fabric *fabric, uint32_t node, uint16_t lid);

/* Follows packets that came in by 'in_port' and leave by 'out', to 'to' by its LID
 * 'lid'. */
struct triad_setup_route triad_routes_follow_from(const struct triad_desired *desired,
	uint32_t out, unsigned in_port, uint32_t to, uint16_t lid);

/* Follows packets from the end port 'from'. */
struct triad_setup_route triad_routes_follow(
	const struct triad_desired *desired, uint32_t from, uint32_t to, uint16_t lid);

#endif
