/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The routes that packets take by the forwarding tables, with QoS tables as they should
 * be.
 *
 * Model: a route goes from an end port out of ports until it arrives [IBA 14.3.2.2]; at
 * each of them some SLs are dead (desired.h), because the SL2VL table of the port it
 * came in by gives them no VL, or one that is never sent.  None is at ports without
 * such tables.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_QOS_ROUTES_H
#define TRIAD_QOS_ROUTES_H

#include "qos/setup/desired.h"

#define TRIAD_SETUP_ROUTE_MAX_HOPS 64 /* switches behind the source, as for OpenSM */

struct triad_setup_route {
	bool arrives;
	uint16_t dead;          /* SLs that are dead somewhere */
	uint16_t dead_by_scope; /* of those, where a scope says so */
};

/* The port by which that node sends on what goes to 'lid', or TRIAD_FABRIC_NONE: not a
 * switch, nowhere, or a port that isn't there. */
uint32_t triad_routes_out_port(
	const struct triad_fabric *fabric, uint32_t node, uint16_t lid);

/* That port of a node, or TRIAD_FABRIC_NONE. */
uint32_t triad_routes_port(
	const struct triad_fabric *fabric, uint32_t node, unsigned number);

/* From out-port 'out', come in by 'in_port', to 'to' by its LID 'lid'. */
struct triad_setup_route triad_routes_follow_from(const struct triad_desired *desired,
	uint32_t out, unsigned in_port, uint32_t to, uint16_t lid);

/* From the end port 'from'. */
struct triad_setup_route triad_routes_follow(
	const struct triad_desired *desired, uint32_t from, uint32_t to, uint16_t lid);

#endif
