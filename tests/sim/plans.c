/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct plan *plan_new(void)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	require(plan);
	plan->n_lids = 1;
	plan->sa = (struct triad_fabric_sa){
		.subnet_prefix = UINT64_C(0xfe80000000000000), .subnet_timeout = 18};
	return plan;
}

void plan_free(struct plan *plan)
{
	free(plan);
}

/* --- nodes and links --- */

static unsigned add_node(struct plan *plan, unsigned type, const char *name,
	unsigned first, unsigned n_numbers)
{
	unsigned i = plan->n_nodes++;
	struct plan_node *node = &plan->nodes[i];

	require(i < PLAN_MAX_NODES && n_numbers <= PLAN_MAX_PORTS);
	node->node.guid = UINT64_C(0x1000) * (1 + i);
	node->node.type = (uint8_t)type;
	node->n_numbers = n_numbers;
	snprintf(node->name, sizeof(node->name), "%s-%u", name, i);
	for (unsigned number = first; number < n_numbers; number++)
		node->ports[number] = (struct plan_port){.is_there = true,
			.port = {.guid = node->node.guid + (first ? number : 0),
				.number = (uint8_t)number,
				.state = TRIAD_PORT_ACTIVE,
				.mtu = 5,
				.mtu_cap = 5,
				.rate = 16},
			.n_pkeys = 1,
			.pkeys = {0xffff}};
	return i;
}

unsigned plan_add_switch(struct plan *plan, unsigned n_ports)
{
	return add_node(plan, TRIAD_NODE_SWITCH, "switch", 0, n_ports + 1);
}

unsigned plan_add_host(struct plan *plan, unsigned n_ports)
{
	return add_node(plan, TRIAD_NODE_CA, "host", 1, n_ports + 1);
}

struct plan_port *plan_port(struct plan *plan, unsigned node, unsigned number)
{
	struct plan_port *port = &plan->nodes[node].ports[number];

	require(node < plan->n_nodes && port->is_there);
	return port;
}

void plan_link(
	struct plan *plan, unsigned a, unsigned a_number, unsigned b, unsigned b_number)
{
	struct plan_port *one = plan_port(plan, a, a_number);
	struct plan_port *other = plan_port(plan, b, b_number);

	one->far_node = b;
	one->far_number = b_number;
	other->far_node = a;
	other->far_number = a_number;
}

void plan_set_pkeys(struct plan_port *port, const uint16_t *pkeys, unsigned n)
{
	require(n <= PLAN_MAX_PKEYS);
	memcpy(port->pkeys, pkeys, n * sizeof(*pkeys));
	port->n_pkeys = n;
}

void plan_add_alias(struct plan *plan, uint64_t guid, uint64_t of)
{
	require(plan->n_aliases < 64);
	plan->aliases[plan->n_aliases].guid = guid;
	plan->aliases[plan->n_aliases++].of = of;
}

void plan_add_partition(struct plan *plan, uint16_t pkey, uint8_t sl, const char *name)
{
	require(plan->n_partitions < 16);
	plan->partitions[plan->n_partitions].pkey = pkey;
	plan->partitions[plan->n_partitions].sl = sl;
	plan->partitions[plan->n_partitions++].name = name;
}

void plan_set_sls(struct plan_port *port, unsigned in_port, uint16_t sls)
{
	struct triad_sl2vl *row = &port->sl2vl[in_port];

	require(in_port < PLAN_MAX_PORTS);
	if (port->n_sl2vl <= in_port)
		port->n_sl2vl = in_port + 1;
	for (unsigned i = 0; i < 8; i++)
		row->vl[i] = (uint8_t)((sls >> 2 * i & 1 ? i : 15) << 4 |
			(sls >> (2 * i + 1) & 1 ? i : 15));
}

/* --- LIDs and tables --- */

static bool is_switch(const struct plan_node *node)
{
	return node->node.type == TRIAD_NODE_SWITCH;
}

void plan_give_lids(struct plan *plan, unsigned lmc)
{
	unsigned next = 1;

	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];
		unsigned n = is_switch(node) ? 1 : 1u << lmc;

		for (unsigned number = 0; number < node->n_numbers; number++) {
			struct plan_port *port = &node->ports[number];

			if (!port->is_there)
				continue;
			if (is_switch(node) && number) {
				port->port.lid = node->ports[0].port.lid;
				continue;
			}
			next = (next + n - 1) / n * n;
			port->port.lid = (uint16_t)next;
			port->port.lmc = is_switch(node) ? 0 : (uint8_t)lmc;
			next += n;
		}
	}
	require(next <= PLAN_MAX_LIDS);
	plan->n_lids = next;
	plan->sa.lmc = (uint8_t)lmc;
}

/* Links from each switch to the node; by rounds, which is enough for small ones. */
static void measure(const struct plan *plan, unsigned goal, unsigned *distances)
{
	bool changed = true;

	for (unsigned i = 0; i < plan->n_nodes; i++)
		distances[i] = i == goal ? 0 : 1000;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < plan->n_nodes; i++)
			for (unsigned p = 1; p < plan->nodes[i].n_numbers; p++) {
				const struct plan_port *port = &plan->nodes[i].ports[p];
				unsigned far = port->far_node;

				if (!port->far_number ||
					(!is_switch(&plan->nodes[far]) && far != goal))
					continue;
				if (distances[far] + 1 < distances[i]) {
					distances[i] = distances[far] + 1;
					changed = true;
				}
			}
	}
}

/* The 'choice'-th of the ports of switch 'at' that lead there, or PLAN_NO_ROUTE. */
static uint8_t choose_port(const struct plan *plan, unsigned at, unsigned goal,
	unsigned goal_number, const unsigned *distances, unsigned choice)
{
	uint8_t ports[PLAN_MAX_PORTS];
	unsigned n = 0;

	if (at == goal)
		return 0;
	for (unsigned p = 1; p < plan->nodes[at].n_numbers; p++) {
		const struct plan_port *port = &plan->nodes[at].ports[p];
		unsigned far = port->far_node;

		if (!port->far_number || distances[far] + 1 != distances[at])
			continue;
		if (far == goal ? is_switch(&plan->nodes[far]) ||
					port->far_number == goal_number
				: is_switch(&plan->nodes[far]))
			ports[n++] = (uint8_t)p;
	}
	return n ? ports[choice % n] : PLAN_NO_ROUTE;
}

static void route_to(struct plan *plan, unsigned goal, unsigned number)
{
	const struct triad_fabric_port *port = &plan->nodes[goal].ports[number].port;
	unsigned distances[PLAN_MAX_NODES];

	measure(plan, goal, distances);
	for (unsigned i = 0; i < plan->n_nodes; i++)
		for (unsigned bits = 0; bits < 1u << port->lmc; bits++)
			plan->nodes[i].lft[port->lid + bits] = choose_port(
				plan, i, goal, number, distances, port->lid + bits);
}

void plan_route(struct plan *plan)
{
	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];

		memset(node->lft, PLAN_NO_ROUTE, sizeof(node->lft));
		node->lft_size = is_switch(node) ? plan->n_lids : 0;
	}
	for (unsigned i = 0; i < plan->n_nodes; i++)
		for (unsigned p = 0; p < plan->nodes[i].n_numbers; p++)
			if (plan->nodes[i].ports[p].is_there &&
				(!is_switch(&plan->nodes[i]) || !p))
				route_to(plan, i, p);
}

/* --- building --- */

static void add_port(struct triad_fabric_builder *builder, const struct plan *plan,
	const struct plan_port *port)
{
	triad_fabric_builder_add_port(builder, &port->port,
		port->far_number ? plan->nodes[port->far_node].node.guid : 0,
		(uint8_t)port->far_number);
	triad_fabric_builder_add_pkeys(builder, port->pkeys, port->n_pkeys);
	for (unsigned i = 0; i < port->n_sl2vl; i++)
		triad_fabric_builder_add_sl2vl(builder, &port->sl2vl[i]);
	triad_fabric_builder_add_vlarb(builder, port->vlarb, port->n_vlarb);
}

struct triad_fabric *plan_build(const struct plan *plan)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; i < plan->n_nodes; i++) {
		const struct plan_node *node = &plan->nodes[i];

		triad_fabric_builder_add_node(builder, &node->node, node->name,
			node->lft_size ? node->lft : NULL, node->lft_size);
		for (unsigned p = 0; p < node->n_numbers; p++)
			if (node->ports[p].is_there)
				add_port(builder, plan, &node->ports[p]);
	}
	for (unsigned i = 0; i < plan->n_aliases; i++)
		triad_fabric_builder_add_alias(
			builder, plan->aliases[i].guid, plan->aliases[i].of);
	for (unsigned i = 0; i < plan->n_partitions; i++)
		triad_fabric_builder_add_partition(builder, plan->partitions[i].pkey,
			plan->partitions[i].sl, plan->partitions[i].name);
	require(!triad_fabric_build(builder, plan->sm_port_guid, &fabric));
	triad_fabric_builder_free(builder);
	fabric->sa = plan->sa;
	fabric->qos = plan->qos;
	return fabric;
}

uint32_t plan_index(const struct triad_fabric *fabric, const struct plan *plan,
	unsigned node, unsigned number)
{
	uint32_t port = triad_fabric_find_port(fabric,
		triad_fabric_find_node(fabric, plan->nodes[node].node.guid), number);

	require(port != TRIAD_FABRIC_NONE);
	return port;
}

/* --- random --- */

static void vary_pkeys(struct plan_port *port, uint64_t *seed)
{
	/* Their order by octets on the wire is not their order as numbers. */
	static const uint16_t some[] = {0x7fff, 0x0001, 0x0100, 0x0101, 0x0002, 0x0200};

	port->n_pkeys = random_below(seed, 6);
	for (unsigned i = 0; i < port->n_pkeys; i++)
		port->pkeys[i] = (uint16_t)(some[random_below(seed, 6)] |
			(random_below(seed, 2) ? 0x8000 : 0));
	if (!random_below(seed, 4))
		port->pkeys[port->n_pkeys++] = random_below(seed, 2) ? 0 : 0x8000;
}

static void vary_port(
	const struct plan_node *node, struct plan_port *port, uint64_t *seed)
{
	static const uint8_t rates[] = {2, 3, 7, 11, 12, 14, 15, 16, 17, 20, 22};
	static const uint16_t sls[] = {0xffff, 0xffff, 0x00ff, 0xfffe, 0x0001, 0x7ff1};

	port->port.mtu_cap = (uint8_t)(1 + random_below(seed, 5));
	port->port.rate = rates[random_below(seed, sizeof(rates))];
	port->port.rate_caps = (uint8_t)random_below(seed, 8);
	vary_pkeys(port, seed);
	if (!random_below(seed, 6))
		return; /* no tables at all */
	if (!is_switch(node)) {
		plan_set_sls(port, 0, sls[random_below(seed, 6)]);
	} else if (random_below(seed, 2)) {
		uint16_t alike = sls[random_below(seed, 6)];

		for (unsigned in = 0; in < node->n_numbers; in++)
			plan_set_sls(port, in, alike);
	} else {
		for (unsigned in = 0; in < node->n_numbers; in++)
			plan_set_sls(port, in, sls[random_below(seed, 6)]);
	}
}

static void vary(struct plan *plan, uint64_t *seed)
{
	uint8_t sm_sl = (uint8_t)random_below(seed, 16);

	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];

		for (unsigned p = 0; p < node->n_numbers; p++) {
			if (!node->ports[p].is_there)
				continue;
			vary_port(node, &node->ports[p], seed);
			node->ports[p].port.sm_sl = random_below(seed, 2) ? sm_sl : 0;
			if (!random_below(seed, 6))
				node->ports[p].keeps_vls =
					(uint8_t)(1 + random_below(seed, 3));
		}
	}
	plan->sa.qos = random_below(seed, 4);
	plan->sa.allow_both_pkeys = random_below(seed, 2);
}

static void add_hosts(struct plan *plan, unsigned leaf, unsigned first, unsigned end)
{
	for (unsigned p = first; p < end; p++) {
		unsigned host = plan_add_host(plan, p % 2 + 1);

		plan_link(plan, leaf, p, host, 1);
		if (p % 2 && p + 1 < end)
			plan_link(plan, leaf, ++p, host, 2);
		if (host % 3 == 0)
			plan_add_alias(plan, UINT64_C(0xa000000000000000) + host * 7919,
				plan_port(plan, host, 1)->port.guid);
	}
}

struct plan *plan_random_tree(uint64_t seed)
{
	struct plan *plan = plan_new();
	unsigned n_spines, n_leaves, a, b;

	n_spines = 1 + random_below(&seed, 3);
	n_leaves = 1 + random_below(&seed, 5);
	for (unsigned i = 0; i < n_spines; i++)
		plan_add_switch(plan, 12);
	for (unsigned i = 0; i < n_leaves; i++) {
		unsigned leaf = plan_add_switch(plan, 10);

		for (unsigned j = 0; j < n_spines; j++) {
			plan_link(plan, leaf, 1 + 2 * j, j, 1 + 2 * i);
			if (random_below(&seed, 2))
				plan_link(plan, leaf, 2 + 2 * j, j, 2 + 2 * i);
		}
		add_hosts(plan, leaf, 1 + 2 * n_spines, 11);
	}
	a = plan_add_host(plan, 1);
	b = plan_add_host(plan, 2);
	plan_link(plan, a, 1, b, 2);
	plan_give_lids(plan, random_below(&seed, 4));
	plan_route(plan);
	vary(plan, &seed);
	return plan;
}
