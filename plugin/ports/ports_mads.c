/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <stdlib.h>

#include "plugin/ports/ports_parts.h"

int ports_find_route(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	struct triad_smp_route *route)
{
	const struct triad_fabric *fabric = ports->fabric;
	uint32_t port = number && fabric
		? triad_fabric_port_at(fabric, node_guid, number)
		: TRIAD_FABRIC_NONE;
	bool *avoided = NULL;
	int error;

	if (port != TRIAD_FABRIC_NONE) {
		avoided = calloc(fabric->n_ports, sizeof(*avoided));
		if (!avoided)
			return ENOMEM;
		avoided[port] = true;
	}
	ports_begin_wait(ports);
	error = triad_smp_find_route(ports->osm, fabric, node_guid, avoided, route);
	ports_end_wait(ports);
	free(avoided);
	return error;
}

int ports_ask(struct triad_ports *ports, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status)
{
	int error;

	ports_begin_wait(ports);
	error = triad_smp_ask(ports->smp, route, request, data, status);
	ports_end_wait(ports);
	return error;
}

int ports_read_counters(struct triad_ports *ports, uint16_t lid, uint8_t sl,
	uint8_t number, unsigned timeout_ms, struct triad_smp_counts *counts)
{
	int error;

	ports_begin_wait(ports);
	error = triad_smp_read_counters(
		ports->smp, lid, sl, number, timeout_ms, counts);
	ports_end_wait(ports);
	return error;
}

int ports_ping(struct triad_ports *ports, uint16_t lid, uint8_t sl, unsigned timeout_ms)
{
	int error;

	ports_begin_wait(ports);
	error = triad_smp_ping(ports->smp, lid, sl, timeout_ms);
	ports_end_wait(ports);
	return error;
}
