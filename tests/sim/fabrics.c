/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/fabrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

static void add_switch(
	struct triad_fabric_builder *builder, unsigned i, unsigned n, unsigned n_hosts)
{
	struct triad_fabric_node node = {.guid = 0x200 + i, .type = TRIAD_NODE_SWITCH};
	char name[32];

	snprintf(name, sizeof(name), "switch-%u", i);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	for (unsigned p = 0; p <= n_hosts + 2; p++) {
		struct triad_fabric_port port = {.guid = node.guid,
			.lid = (uint16_t)(1 + i),
			.number = (uint8_t)p,
			.state = TRIAD_PORT_ACTIVE,
			.has_pma = p > 0};
		uint64_t far_guid = 0;
		unsigned far_number = 1;

		if (p >= 1 && p <= n_hosts)
			far_guid = 0x10000 + i * 256 + p;
		if (p == n_hosts + 1 && i + 1 < n) {
			far_guid = node.guid + 1;
			far_number = n_hosts + 2;
		}
		if (p == n_hosts + 2 && i > 0) {
			far_guid = node.guid - 1;
			far_number = n_hosts + 1;
		}
		if (p && !far_guid)
			port.state = TRIAD_PORT_DOWN;
		triad_fabric_builder_add_port(
			builder, &port, far_guid, (uint8_t)far_number);
	}
}

static void add_host(struct triad_fabric_builder *builder, unsigned i, unsigned j,
	unsigned lid_shift)
{
	static const uint16_t pkeys[] = {0xffff, 0x8001};
	struct triad_fabric_node node = {
		.guid = 0x10000 + i * 256 + j, .type = TRIAD_NODE_CA};
	struct triad_fabric_port port = {.guid = node.guid + 1,
		.lid = (uint16_t)(1000 + lid_shift + i * 256 + j),
		.number = 1,
		.state = TRIAD_PORT_ACTIVE,
		.has_pma = true};
	char name[32];

	snprintf(name, sizeof(name), "host-%u-%u", i, j);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0x200 + i, (uint8_t)j);
	triad_fabric_builder_add_pkeys(builder, pkeys, 2);
}

struct triad_fabric *fabric_row(unsigned n_switches, unsigned n_hosts)
{
	return fabric_row_moved(n_switches, n_hosts, 0);
}

unsigned fabric_row_guids(
	unsigned first, unsigned end, unsigned n_hosts, uint64_t *guids)
{
	unsigned n = 0;

	for (unsigned i = first; i < end; i++) {
		guids[n++] = 0x200 + i;
		for (unsigned j = 1; j <= n_hosts; j++)
			guids[n++] = 0x10000 + i * 256 + j;
	}
	return n;
}

struct triad_fabric *fabric_row_moved(
	unsigned n_switches, unsigned n_hosts, unsigned lid_shift)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; i < n_switches; i++)
		add_switch(builder, i, n_switches, n_hosts);
	for (unsigned i = 0; i < n_switches; i++)
		for (unsigned j = 1; j <= n_hosts; j++)
			add_host(builder, i, j, lid_shift);
	if (triad_fabric_build(builder, 0x10000 + 1 + 1, &fabric))
		abort();
	triad_fabric_builder_free(builder);
	return fabric;
}

static bool is_cut(const struct triad_fabric *fabric, uint32_t port, uint64_t guid,
	unsigned number)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return fabric->nodes[at->node].guid == guid && at->number == number;
}

struct triad_fabric *fabric_without(const struct triad_fabric *fabric,
	const uint64_t *gone, unsigned n_gone, uint64_t cut_guid, unsigned cut_port)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *made = NULL;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];
		bool is_gone = false;

		for (unsigned g = 0; g < n_gone; g++)
			is_gone |= gone[g] == node->guid;
		if (is_gone)
			continue;
		triad_fabric_builder_add_node(builder, node, node->name, NULL, 0);
		for (uint32_t p = node->first_port;
			p < node->first_port + node->n_ports; p++) {
			struct triad_fabric_port port = fabric->ports[p];
			uint32_t far = port.remote;
			bool has_far = far != TRIAD_FABRIC_NONE &&
				!is_cut(fabric, p, cut_guid, cut_port) &&
				!is_cut(fabric, far, cut_guid, cut_port);

			triad_fabric_builder_add_port(builder, &port,
				has_far ? fabric->nodes[fabric->ports[far].node].guid
					: 0,
				has_far ? fabric->ports[far].number : 0);
		}
	}
	if (triad_fabric_build(builder, fabric->sm_port_guid, &made))
		abort();
	triad_fabric_builder_free(builder);
	return made;
}

struct triad_fabric *fabric_of_ports(unsigned n)
{
	const unsigned each = 40;
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; builder && i < n; i++) {
		struct triad_fabric_node node = {
			.guid = 1 + i / each, .type = TRIAD_NODE_SWITCH};
		struct triad_fabric_port port = {.number = (uint8_t)(1 + i % each),
			.state = TRIAD_PORT_ACTIVE,
			.phys_state = 5,
			.width = 2,
			.speed_ext = 4,
			.has_pma = true};

		if (i % each == 0)
			triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
	if (builder && triad_fabric_build(builder, 0, &fabric))
		fabric = NULL;
	triad_fabric_builder_free(builder);
	return fabric;
}

/* --- partitions --- */

static void add_partitioned_port(struct triad_fabric_builder *builder, uint64_t guid,
	unsigned number, unsigned n_partitions, uint64_t *seed)
{
	struct triad_fabric_port port = {
		.guid = guid, .number = (uint8_t)number, .state = TRIAD_PORT_ACTIVE};
	uint16_t pkeys[6] = {0xffff, 0};
	unsigned n = 2, more = random_below(seed, 5);

	for (unsigned i = 0; n_partitions && i < more; i++) {
		uint64_t membership = random_next(seed) & 0x8000;

		pkeys[n++] =
			(uint16_t)(membership | (1 + random_below(seed, n_partitions)));
	}
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	triad_fabric_builder_add_pkeys(builder, pkeys, n);
}

static void name_node(char *name, size_t size, unsigned i, uint64_t *seed)
{
	switch (random_below(seed, 4)) {
	case 0:
		snprintf(name, size, "node-%u", i);
		break;
	case 1:
		snprintf(name, size, "node-%u HCA-1", i);
		break;
	case 2:
		snprintf(name, size, "node-%u HCA-2 mlx5_0", i / 2);
		break;
	default:
		snprintf(name, size, "node-%u  HCA-1 mlx5_0", i / 2);
	}
}

struct triad_fabric *fabric_partitioned(
	unsigned n_hosts, unsigned n_partitions, uint64_t seed)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;
	unsigned n_nodes = n_hosts + (n_hosts + 19) / 20;
	char name[32];

	for (unsigned i = 0; i < n_nodes; i++) {
		bool is_switch = i % 21 == 0;
		uint64_t rack_seed = ~(uint64_t)(i / 40);
		struct triad_fabric_node node = {.guid = FABRIC_PARTITIONED_GUID(i),
			.type = is_switch ? TRIAD_NODE_SWITCH
				: i % 32  ? TRIAD_NODE_CA
					  : TRIAD_NODE_ROUTER};
		unsigned last = is_switch ? 40 : i % 16 ? 1 : 2;

		name_node(name, sizeof(name), i, &seed);
		triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
		for (unsigned p = is_switch ? 0 : 1; p <= last; p++)
			add_partitioned_port(builder, node.guid + (is_switch ? 0 : p),
				p, n_partitions,
				random_below(&seed, 16) ? &rack_seed : &seed);
	}
	for (unsigned i = 0; i < n_partitions; i++) {
		snprintf(name, sizeof(name), "part-%u", i);
		triad_fabric_builder_add_partition(builder, (uint16_t)(1 + i), 0, name);
	}
	if (triad_fabric_build(builder,
		    FABRIC_PARTITIONED_GUID(n_nodes - 1) + ((n_nodes - 1) % 21 != 0),
		    &fabric))
		abort();
	triad_fabric_builder_free(builder);
	return fabric;
}
