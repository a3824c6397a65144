/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small fabrics with links, expected ports and a history of actions, for tests of the
 * guard and the plan: a test adds nodes and links, then calls fixture_build().
 *
 * The port GUID of a switch's ports is the node GUID; that of a CA's port is the node
 * GUID plus the port number.  All links are active until a test calls set_state(). */
#ifndef TRIAD_TESTS_UNIT_PORTMGR_PLAN_FIXTURE_H
#define TRIAD_TESTS_UNIT_PORTMGR_PLAN_FIXTURE_H

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "portmgr/plan/plan.h"
#include "tests/unit/run.h"

#define FIXTURE_MAX_NODES 2048
#define FIXTURE_MAX_LINKS 1024

#define PHYS_POLLING 2
#define PHYS_DISABLED 3
#define PHYS_LINK_UP 5

struct fixture_node {
	uint64_t guid;
	const char *name;
	uint8_t type;
	unsigned n_ports;
};

struct fixture_link {
	uint64_t guid[2];
	uint8_t port[2];
};

static struct fixture_node fixture_nodes[FIXTURE_MAX_NODES];
static struct fixture_link fixture_links[FIXTURE_MAX_LINKS];
static unsigned fixture_n_nodes, fixture_n_links;
static struct triad_fabric *fabric;

static void fixture_begin(void)
{
	fixture_n_nodes = 0;
	fixture_n_links = 0;
	fabric = NULL;
}

static void fixture_add(uint64_t guid, uint8_t type, const char *name, unsigned n_ports)
{
	ck_assert_uint_lt(fixture_n_nodes, FIXTURE_MAX_NODES);
	fixture_nodes[fixture_n_nodes++] =
		(struct fixture_node){guid, name, type, n_ports};
}

static inline void fixture_link(uint64_t a, uint8_t port_a, uint64_t b, uint8_t port_b)
{
	ck_assert_uint_lt(fixture_n_links, FIXTURE_MAX_LINKS);
	fixture_links[fixture_n_links++] =
		(struct fixture_link){.guid = {a, b}, .port = {port_a, port_b}};
}

static void fixture_add_port(struct triad_fabric_builder *builder,
	const struct fixture_node *node, uint8_t number)
{
	bool is_switch = node->type == TRIAD_NODE_SWITCH;
	struct triad_fabric_port port = {.guid = node->guid + (is_switch ? 0 : number),
		.number = number,
		.state = is_switch && !number ? TRIAD_PORT_ACTIVE : TRIAD_PORT_DOWN,
		.phys_state = PHYS_POLLING};
	uint64_t remote = 0;
	uint8_t far = 0;

	for (unsigned i = 0; i < 2 * fixture_n_links; i++) {
		const struct fixture_link *link = &fixture_links[i / 2];

		if (link->guid[i % 2] != node->guid || link->port[i % 2] != number)
			continue;
		remote = link->guid[!(i % 2)];
		far = link->port[!(i % 2)];
		port.state = TRIAD_PORT_ACTIVE;
		port.phys_state = PHYS_LINK_UP;
		port.width = 2;
		port.speed_ext = 2;
	}
	triad_fabric_builder_add_port(builder, &port, remote, far);
}

static void fixture_build(uint64_t sm_port_guid)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < fixture_n_nodes; i++) {
		const struct fixture_node *fixture = &fixture_nodes[i];
		struct triad_fabric_node node = {.guid = fixture->guid,
			.type = fixture->type,
			.vendor_id = 0x2c9};

		triad_fabric_builder_add_node(builder, &node, fixture->name, NULL, 0);
		for (unsigned n = fixture->type != TRIAD_NODE_SWITCH;
			n <= fixture->n_ports; n++)
			fixture_add_port(builder, fixture, (uint8_t)n);
	}
	ck_assert_int_eq(triad_fabric_build(builder, sm_port_guid, &fabric), 0);
	triad_fabric_builder_free(builder);
}

static inline uint32_t node_at(uint64_t guid)
{
	uint32_t node = triad_fabric_find_node(fabric, guid);

	ck_assert_uint_ne(node, TRIAD_FABRIC_NONE);
	return node;
}

static inline uint32_t port_at(uint64_t guid, unsigned number)
{
	uint32_t port = triad_fabric_find_port(fabric, node_at(guid), number);

	ck_assert_uint_ne(port, TRIAD_FABRIC_NONE);
	return port;
}

/* Sets the state of both ends of the port's link. */
static inline void set_state(uint64_t guid, unsigned number, uint8_t state)
{
	struct triad_fabric_port *port = &fabric->ports[port_at(guid, number)];

	port->state = state;
	if (port->remote != TRIAD_FABRIC_NONE)
		fabric->ports[port->remote].state = state;
}

#endif
