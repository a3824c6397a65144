/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Any tables from a subnet administration: they must give a fabric with consistent
 * indices, or an error.
 *
 * Input: the strides of the three tables (1 octet each), the number of node and of port
 * records (1 octet each), then the tables one after the other; the rest is links. */
#include <stdint.h>
#include <stdlib.h>

#include "ib/sa_topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (port->node >= fabric->n_nodes)
			abort();
		if (port->remote != TRIAD_FABRIC_NONE &&
			(port->remote >= fabric->n_ports ||
				fabric->ports[port->remote].remote != i))
			abort();
	}
}

static struct triad_sa_table take(
	const uint8_t **at, size_t *left, uint8_t stride, size_t n)
{
	size_t size = (size_t)stride * n < *left ? (size_t)stride * n : *left;
	struct triad_sa_table table = {*at, size, stride};

	*at += size;
	*left -= size;
	return table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEAD = 5, PKEY_STRIDE = 72 };
	struct triad_sa_tables tables = {0};
	struct triad_fabric *fabric = NULL, *again = NULL;
	const uint8_t *at = data + HEAD;
	size_t left = size - HEAD;

	if (size < HEAD)
		return 0;
	tables.nodes = take(&at, &left, data[0], data[3]);
	tables.ports = take(&at, &left, data[1], data[4]);
	tables.links = take(&at, &left, data[2], left);
	/* Uses the octets of the links again, so that older inputs keep their
	 * meaning. */
	tables.pkeys = tables.links;
	tables.pkeys.stride = PKEY_STRIDE;
	if (triad_sa_topology_build(&tables, 1, &fabric))
		return 0;
	check(fabric);
	/* Links that the tables don't contain must be kept from the known fabric. */
	tables.links.size = 0;
	tables.known = fabric;
	tables.links_stand = true;
	if (!triad_sa_topology_build(&tables, 1, &again)) {
		check(again);
		triad_fabric_unref(again);
	}
	triad_fabric_unref(fabric);
	return 0;
}
