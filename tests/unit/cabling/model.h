/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A model of ports and cables, which refuses what a technician could not do; fabrics and plans
 * made of it; items carried out on it. */
#ifndef TESTS_UNIT_CABLING_MODEL_H
#define TESTS_UNIT_CABLING_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "cabling/describe.h"
#include "tests/random.h"
#include "tests/unit/run.h"

#define GUID UINT64_C(0x1000)
#define MAX_NODES 64
#define MAX_PORTS 16
#define ALL (MAX_NODES * MAX_PORTS)
#define FREE UINT32_MAX

/* Ports of a model: node * MAX_PORTS + number - 1. */
struct model {
	unsigned n_nodes, n_ports[MAX_NODES];
	uint32_t far[ALL];
	uint8_t phys_state[ALL]; /* of a port without a far end; 0: it polls */
	char names[MAX_NODES][TRIAD_NODE_NAME_SIZE];
	bool is_host[MAX_NODES];
	bool is_lost[MAX_NODES]; /* the fabric does not have it */
};

static struct model model, planned;
static struct triad_cabling_plan *plan;
static struct triad_fabric *fabric;
static struct triad_cabling_result *result;
static struct triad_diags diags;
static uint64_t seed;

static inline void set_up(void)
{
	model = (struct model){0};
	memset(model.far, 0xff, sizeof(model.far));
	plan = triad_cabling_plan_new();
	plan->judges_all = true;
	triad_diags_init(&diags, "plan");
}

static inline void clear_result(void)
{
	triad_fabric_unref(fabric);
	triad_cabling_result_free(result);
	fabric = NULL;
	result = NULL;
}

static inline void tear_down(void)
{
	clear_result();
	triad_cabling_plan_free(plan);
}

/* --- the model --------------------------------------------------------- */

static inline unsigned add_node(const char *name, unsigned n_ports, bool is_host)
{
	unsigned node = model.n_nodes++;

	snprintf(model.names[node], sizeof(model.names[node]), "%s", name);
	model.n_ports[node] = n_ports;
	model.is_host[node] = is_host;
	return node;
}

static inline uint32_t at(unsigned node, unsigned number)
{
	return node * MAX_PORTS + number - 1;
}

static inline void connect(uint32_t a, uint32_t b)
{
	ck_assert_uint_eq(model.far[a], FREE);
	ck_assert_uint_eq(model.far[b], FREE);
	model.far[a] = b;
	model.far[b] = a;
}

static inline void disconnect(uint32_t port)
{
	ck_assert_uint_ne(model.far[port], FREE);
	model.far[model.far[port]] = FREE;
	model.far[port] = FREE;
}

static inline void move_end(uint32_t from, uint32_t to)
{
	uint32_t other = model.far[from];

	disconnect(from);
	connect(to, other);
}

static inline void swap_ends(uint32_t a, uint32_t b)
{
	uint32_t far_a = model.far[a], far_b = model.far[b];

	disconnect(a);
	disconnect(b);
	connect(a, far_b);
	connect(b, far_a);
}

static inline void add_model_port(
	struct triad_fabric_builder *builder, unsigned node, unsigned number)
{
	uint32_t far = model.far[at(node, number)];
	uint8_t phys = model.phys_state[at(node, number)];
	bool is_up = far != FREE && !model.is_lost[far / MAX_PORTS];
	struct triad_fabric_port port = {.number = (uint8_t)number,
		.guid = GUID + node,
		.state = is_up || phys == TRIAD_PHYS_LINK_UP ? TRIAD_PORT_ACTIVE
							     : TRIAD_PORT_DOWN,
		.phys_state = is_up ? TRIAD_PHYS_LINK_UP
			: phys      ? phys
				    : TRIAD_PHYS_POLLING,
		.width = 2,
		.speed = 4,
		.speed_ext = 2};

	if (is_up || !model.is_host[node])
		triad_fabric_builder_add_port(builder, &port,
			is_up ? GUID + far / MAX_PORTS : 0,
			(uint8_t)(is_up ? far % MAX_PORTS + 1 : 0));
}

static inline void build_fabric(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < model.n_nodes; i++) {
		struct triad_fabric_node node = {.guid = GUID + i,
			.type = model.is_host[i] ? TRIAD_NODE_CA : TRIAD_NODE_SWITCH};

		if (model.is_lost[i])
			continue;
		triad_fabric_builder_add_node(builder, &node, model.names[i], NULL, 0);
		for (unsigned port = 1; port <= model.n_ports[i]; port++)
			add_model_port(builder, i, port);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
}

/* --- the plan ---------------------------------------------------------- */

static inline struct triad_cabling_end end_by_guid(uint32_t port)
{
	return (struct triad_cabling_end){
		GUID + port / MAX_PORTS, 0, (uint8_t)(port % MAX_PORTS + 1)};
}

static inline struct triad_cabling_end end_by_name(uint32_t port)
{
	return (struct triad_cabling_end){0,
		triad_cabling_plan_keep(plan, model.names[port / MAX_PORTS]),
		(uint8_t)(port % MAX_PORTS + 1)};
}

static inline struct triad_cabling_link *plan_link(uint32_t a, uint32_t b)
{
	struct triad_cabling_link link = {
		.ends = {end_by_name(a), end_by_guid(b)}, .line = plan->n_links + 1};

	triad_cabling_plan_add_link(plan, &link);
	return &plan->links[plan->n_links - 1];
}

/* Plans what the model has; half of the links from both ends. */
static inline void plan_model(void)
{
	planned = model;
	plan->n_links = 0;
	plan->text_size = 1;
	for (uint32_t i = 0; i < ALL; i++)
		if (model.far[i] != FREE &&
			(i < model.far[i] || random_below(&seed, 2)))
			plan_link(i, model.far[i]);
}

/* --- carrying out ------------------------------------------------------ */

static inline int compare(void)
{
	clear_result();
	build_fabric();
	return triad_cabling_compare(plan, fabric, NULL, &diags, &result);
}

static inline uint32_t port_at(struct triad_cabling_port port)
{
	return (uint32_t)(fabric->nodes[port.node].guid - GUID) * MAX_PORTS +
		port.number - 1;
}

static inline void carry_out_ring(const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *steps = &result->steps[item->first_step];
	uint32_t held = model.far[port_at(steps[0])];

	ck_assert_uint_gt(item->n_steps, 2);
	disconnect(port_at(steps[0]));
	for (uint32_t i = 1; i < item->n_steps; i++)
		move_end(port_at(steps[i]), port_at(steps[i - 1]));
	connect(port_at(steps[item->n_steps - 1]), held);
}

static inline void carry_out(const struct triad_cabling_item *item)
{
	uint32_t ports[4] = {0};

	for (unsigned i = 0; i < item->n_ports; i++)
		ports[i] = port_at(item->ports[i]);
	switch (item->kind) {
	case TRIAD_CABLING_MOVE:
		ck_assert_uint_eq(model.far[ports[0]], ports[2]);
		move_end(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_SWAP:
		ck_assert_uint_eq(model.far[ports[0]], ports[2]);
		ck_assert_uint_eq(model.far[ports[1]], ports[3]);
		swap_ends(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_RING:
		carry_out_ring(item);
		break;
	case TRIAD_CABLING_PUT:
		connect(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_TAKE_OUT:
		ck_assert_uint_eq(model.far[ports[0]], ports[1]);
		disconnect(ports[0]);
		break;
	default:
		ck_abort_msg("an item of kind %s", triad_cabling_kind_name(item->kind));
	}
}

/* How many single moves, swaps, puts and take-outs the items are. */
static inline unsigned carry_out_all(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < result->n_items; i++) {
		const struct triad_cabling_item *item = &result->items[i];

		carry_out(item);
		n += item->kind == TRIAD_CABLING_RING ? item->n_steps - 1 : 1;
	}
	ck_assert(!memcmp(model.far, planned.far, sizeof(model.far)));
	return n;
}

/* --- random trees ------------------------------------------------------ */

static inline uint32_t random_port(void)
{
	unsigned node = random_below(&seed, model.n_nodes);

	return at(node, 1 + random_below(&seed, model.n_ports[node]));
}

/* A random port that is free, or that is not; FREE if none was found. */
static inline uint32_t find_port(bool is_free)
{
	for (unsigned i = 0; i < 200; i++) {
		uint32_t port = random_port();

		if ((model.far[port] == FREE) == is_free)
			return port;
	}
	return FREE;
}

/* A tree of switches, with hosts, and some more cables. */
static inline void build_tree(void)
{
	unsigned n_switches = 2 + random_below(&seed, 10);
	unsigned n_more = random_below(&seed, 20);
	char name[32];

	for (unsigned i = 0; i < n_switches; i++) {
		snprintf(name, sizeof(name), "switch-%u", i);
		add_node(name, 4 + random_below(&seed, MAX_PORTS - 3), false);
		if (i)
			connect(at(i, 1), at((i - 1) / 2, 2 + (i - 1) % 2));
	}
	/* Each has a cable: the plan would not have a node without one. */
	for (unsigned i = 0; i < 20; i++) {
		uint32_t a = find_port(true);

		snprintf(name, sizeof(name), "host-%u HCA-1", i);
		if (a != FREE)
			connect(a,
				at(add_node(name, 1 + random_below(&seed, 2), true),
					1));
	}
	for (unsigned i = 0; i < n_more; i++) {
		uint32_t a = find_port(true), b = find_port(true);

		if (a != FREE && b != FREE && a != b)
			connect(a, b);
	}
}

/* One fault; false if the ports that it needs were not found. */
static inline bool miscable(void)
{
	uint32_t a = find_port(false), b = find_port(random_below(&seed, 2));

	switch (random_below(&seed, 4)) {
	case 0:
		if (a == FREE || b == FREE || a == b || model.far[a] == b)
			return false;
		if (model.far[b] == FREE)
			move_end(a, b);
		else
			swap_ends(a, b);
		return true;
	case 1:
		if (a == FREE)
			return false;
		disconnect(a);
		return true;
	case 2:
		a = find_port(true);
		if (a == FREE || b == FREE || a == b || model.far[b] != FREE)
			return false;
		connect(a, b);
		return true;
	default: /* crossed, and once more */
		if (a == FREE || b == FREE || a == b || model.far[a] == b ||
			model.far[b] == FREE)
			return false;
		swap_ends(a, b);
		return true;
	}
}

#endif
