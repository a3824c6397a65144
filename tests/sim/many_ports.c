/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/many_ports.h"

#include <stdio.h>

#define SWITCHES 24u /* in a group */
#define LINKS 8u     /* of a switch to groups ahead; as many come from behind */
#define HOST_PORT 1u
#define FIRST_MESH 2u
#define FIRST_AHEAD (FIRST_MESH + SWITCHES - 1)
#define FIRST_BEHIND (FIRST_AHEAD + LINKS)

static uint64_t switch_guid(unsigned group, unsigned i)
{
	return 0x1000000 + 16 * (uint64_t)(group * SWITCHES + i);
}

static void add_port(struct triad_fabric_builder *builder, uint64_t guid, uint16_t lid,
	unsigned number, uint64_t far_guid, unsigned far_number)
{
	const struct triad_fabric_port port = {
		.guid = guid,
		.number = (uint8_t)number,
		.lid = lid,
		.state = TRIAD_PORT_ACTIVE,
		.width = 2,
		.speed_ext = 2,
		.has_pma = true,
	};

	triad_fabric_builder_add_port(builder, &port, far_guid, (uint8_t)far_number);
}

/* Its index among the others of a group, as another one counts. */
static unsigned mesh_port(unsigned of, unsigned to)
{
	return FIRST_MESH + (to < of ? to : to - 1);
}

static void add_switch(struct triad_fabric_builder *builder, unsigned n_groups,
	unsigned group, unsigned i)
{
	const struct triad_fabric_node node = {
		.guid = switch_guid(group, i), .type = TRIAD_NODE_SWITCH};
	uint16_t lid = (uint16_t)(1 + group * SWITCHES + i);
	uint64_t host = MANY_PORTS_HOST_GUID(group * SWITCHES + i);
	char name[32];

	snprintf(name, sizeof(name), "switch-%u-%u", group, i);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	add_port(builder, node.guid, lid, HOST_PORT, host, 1);
	for (unsigned j = 0; j < SWITCHES; j++)
		if (j != i)
			add_port(builder, node.guid, lid, mesh_port(i, j),
				switch_guid(group, j), mesh_port(j, i));
	for (unsigned j = 0; j < LINKS; j++) {
		unsigned ahead = (group + 1 + i * LINKS + j) % n_groups;

		add_port(builder, node.guid, lid, FIRST_AHEAD + j,
			switch_guid(ahead, i), FIRST_BEHIND + j);
	}
	for (unsigned j = 0; j < LINKS; j++) {
		unsigned behind = (group + n_groups - 1 - i * LINKS - j) % n_groups;

		add_port(builder, node.guid, lid, FIRST_BEHIND + j,
			switch_guid(behind, i), FIRST_AHEAD + j);
	}
}

static void add_host(struct triad_fabric_builder *builder, unsigned n_groups,
	unsigned group, unsigned i)
{
	unsigned number = group * SWITCHES + i;
	const struct triad_fabric_node node = {
		.guid = MANY_PORTS_HOST_GUID(number), .type = TRIAD_NODE_CA};
	char name[32];

	snprintf(name, sizeof(name), "host-%u", number);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	add_port(builder, node.guid + 1, (uint16_t)(1 + n_groups * SWITCHES + number),
		1, switch_guid(group, i), HOST_PORT);
}

struct triad_fabric *many_ports(unsigned n_groups)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	if (!builder)
		return NULL;
	for (unsigned i = 0; i < n_groups * SWITCHES; i++)
		add_switch(builder, n_groups, i / SWITCHES, i % SWITCHES);
	for (unsigned i = 0; i < n_groups * SWITCHES; i++)
		add_host(builder, n_groups, i / SWITCHES, i % SWITCHES);
	if (triad_fabric_build(builder, MANY_PORTS_HOST_GUID(0) + 1, &fabric))
		fabric = NULL;
	triad_fabric_builder_free(builder);
	return fabric;
}
