/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs flows (flows.h) on a fabric that is read from standard input, such as a lab's
 * with the tables that its OpenSM made, and prints what ports would count.
 *
 *     switch NAME N_PORTS
 *     host NAME LID                    one port
 *     link NAME PORT NAME PORT         all nodes come before
 *     route SWITCH LID PORT
 *     drain HOST RATE                  shares of a link's rate
 *     flow HOST HOST RATE
 *
 * The answer has a line for each port that sent or waited: "NAME PORT SENT WAITED", the
 * shares of its rate and of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/flows.h"

#define MAX_NODES 4096u
#define MAX_PORTS 64u
#define MAX_FLOWS 4096u
#define MAX_LIDS 4096u
#define N_BEFORE 2000u
#define N_SLOTS 4000u

struct node {
	char name[64];
	unsigned n_ports, lid; /* of a host */
	struct {
		unsigned node, port; /* 0: no link */
	} far[MAX_PORTS];
	uint8_t lft[MAX_LIDS];
};

struct flow_request {
	unsigned from, to;
	double rate;
};

static struct node *nodes;
static unsigned n_nodes;
static struct flow_request requested_flows[MAX_FLOWS], requested_drains[MAX_FLOWS];
static unsigned n_flows, n_drains;

static void fail(const char *what)
{
	fprintf(stderr, "flows_run: %s\n", what);
	exit(1);
}

static unsigned find(const char *name)
{
	for (unsigned i = 0; i < n_nodes; i++)
		if (strcmp(nodes[i].name, name) == 0)
			return i;
	fprintf(stderr, "flows_run: no node '%s'\n", name);
	exit(1);
}

static void add_node(const char *name, unsigned n_ports, unsigned lid)
{
	struct node *node = &nodes[n_nodes];

	if (n_nodes++ == MAX_NODES || n_ports >= MAX_PORTS || lid >= MAX_LIDS)
		fail("the fabric is too large");
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->n_ports = n_ports;
	node->lid = lid;
	memset(node->lft, 255, sizeof(node->lft));
}

static void add_link(unsigned a, unsigned port_a, unsigned b, unsigned port_b)
{
	if (port_a >= MAX_PORTS || port_b >= MAX_PORTS)
		fail("no such port");
	nodes[a].far[port_a].node = b;
	nodes[a].far[port_a].port = port_b;
	nodes[b].far[port_b].node = a;
	nodes[b].far[port_b].port = port_a;
}

static void read_line(const char *line)
{
	char a[64], b[64];
	unsigned n, m;
	double rate;

	if (sscanf(line, "switch %63s %u", a, &n) == 2) {
		add_node(a, n, 0);
	} else if (sscanf(line, "host %63s %u", a, &n) == 2) {
		add_node(a, 1, n);
	} else if (sscanf(line, "link %63s %u %63s %u", a, &n, b, &m) == 4) {
		add_link(find(a), n, find(b), m);
	} else if (sscanf(line, "route %63s %u %u", a, &n, &m) == 3) {
		if (n < MAX_LIDS)
			nodes[find(a)].lft[n] = (uint8_t)m;
	} else if (sscanf(line, "drain %63s %lf", a, &rate) == 2) {
		requested_drains[n_drains++] = (struct flow_request){find(a), 0, rate};
	} else if (sscanf(line, "flow %63s %63s %lf", a, b, &rate) == 3) {
		requested_flows[n_flows++] =
			(struct flow_request){find(a), find(b), rate};
	} else {
		fprintf(stderr, "flows_run: not a line of the language: %s", line);
		exit(1);
	}
	if (n_flows == MAX_FLOWS || n_drains == MAX_FLOWS)
		fail("too many flows");
}

static uint64_t guid_of(unsigned node)
{
	return 0x1000 + 16 * (uint64_t)node;
}

static void build_ports(struct triad_fabric_builder *builder, unsigned i)
{
	const struct node *node = &nodes[i];
	bool is_switch = !node->lid;

	for (unsigned number = !is_switch; number <= node->n_ports; number++) {
		struct triad_fabric_port port = {.guid = guid_of(i) + !is_switch,
			/* Switches' are behind those of hosts; nobody sends there. */
			.lid = (uint16_t)(is_switch ? MAX_LIDS + i : node->lid),
			.number = (uint8_t)number,
			.state = TRIAD_PORT_ACTIVE,
			.has_pma = number > 0};
		bool has_link = number && node->far[number].port;

		if (!has_link && number)
			port.state = TRIAD_PORT_DOWN;
		triad_fabric_builder_add_port(builder, &port,
			has_link ? guid_of(node->far[number].node) : 0,
			(uint8_t)node->far[number].port);
	}
}

static struct triad_fabric *build(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;
	uint64_t sm_guid = 0;

	for (unsigned i = 0; i < n_nodes; i++) {
		bool is_switch = !nodes[i].lid;
		struct triad_fabric_node node = {.guid = guid_of(i),
			.type = is_switch ? TRIAD_NODE_SWITCH : TRIAD_NODE_CA};

		triad_fabric_builder_add_node(builder, &node, nodes[i].name,
			is_switch ? nodes[i].lft : NULL, MAX_LIDS);
		build_ports(builder, i);
		if (!is_switch)
			sm_guid = guid_of(i) + 1;
	}
	if (triad_fabric_build(builder, sm_guid, &fabric))
		fail("the fabric can't be built");
	triad_fabric_builder_free(builder);
	return fabric;
}

static uint32_t host_of(const struct triad_routes_layout *layout, unsigned node)
{
	uint32_t at = triad_fabric_find_node(layout->fabric, guid_of(node));
	uint32_t port = triad_fabric_find_port(layout->fabric, at, 1);

	if (port == TRIAD_FABRIC_NONE ||
		layout->host_of_port[port] == TRIAD_FABRIC_NONE)
		fail("a host without a link");
	return layout->host_of_port[port];
}

int main(void)
{
	struct triad_routes_layout *layout;
	struct triad_fabric *fabric;
	struct flows *flows;
	char line[256];

	nodes = calloc(MAX_NODES, sizeof(*nodes));
	if (!nodes)
		fail("not enough memory");
	while (fgets(line, sizeof(line), stdin))
		read_line(line);
	fabric = build();
	if (triad_routes_layout_make(fabric, &layout))
		fail("not enough memory");
	flows = flows_new(layout, 16, 1, 1);
	for (unsigned i = 0; i < n_drains; i++)
		flows_set_drain(flows, host_of(layout, requested_drains[i].from),
			requested_drains[i].rate);
	for (unsigned i = 0; i < n_flows; i++)
		if (flows_add(flows, host_of(layout, requested_flows[i].from),
			    host_of(layout, requested_flows[i].to),
			    requested_flows[i].rate) == UINT32_MAX)
			fail("a flow without a path");
	flows_run(flows, N_BEFORE, N_SLOTS);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		double sent = flows_sent(flows, i), waited = flows_wait(flows, i);

		if (sent > 0 || waited > 0)
			printf("%s %u %.4f %.4f\n",
				fabric->nodes[fabric->ports[i].node].name,
				fabric->ports[i].number, sent, waited);
	}
	flows_free(flows);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	free(nodes);
	return 0;
}
