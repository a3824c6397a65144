/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of a plan of QoS tables: a fabric, a policy with scopes, and the
 * plan; also random fabrics and policies. */
#ifndef TRIAD_TESTS_UNIT_QOS_PLAN_FIXTURE_H
#define TRIAD_TESTS_UNIT_QOS_PLAN_FIXTURE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "qos/setup/setup_plan.h"
#include "tests/sim/naive_setup.h"
#include "tests/sim/plans.h"
#include "tests/unit/run.h"

static struct plan *sketch; /* of the fabric */
static struct triad_fabric *fabric;
static struct triad_policy *policy;
static struct triad_setup *setup;
static struct triad_setup_plan *plan;
static struct naive naive;
static unsigned seed;

static inline void drop_built(void)
{
	triad_setup_plan_free(plan);
	plan = NULL;
	triad_setup_unref(setup);
	setup = NULL;
	triad_policy_unref(policy);
	policy = NULL;
	triad_fabric_unref(fabric);
	fabric = NULL;
}

static inline void drop_all(void)
{
	drop_built();
	plan_free(sketch);
	sketch = NULL;
}

static inline void set_up(void)
{
	seed = (unsigned)time(NULL);
}

static inline void use_policy(const char *text)
{
	static struct triad_diags diags;
	char message[2 * TRIAD_DIAG_TEXT_SIZE] = "";
	int error = triad_policy_parse(text, strlen(text), "p", NULL, &policy, &diags);

	if (error)
		triad_diags_format(&diags, 0, message, sizeof(message));
	ck_assert_msg(!error, "%s\n%s", message, text);
	ck_assert_int_eq(triad_setup_compile(policy, &setup), 0);
}

/* Makes the plan from the present sketch; 'text' NULL: no policy. */
static inline void make(const char *text)
{
	drop_built();
	fabric = plan_build(sketch);
	if (text)
		use_policy(text);
	naive = (struct naive){.policy = policy, .fabric = fabric};
	ck_assert_int_eq(triad_setup_plan_make(setup, fabric, &plan), 0);
}

static inline uint32_t port_of(unsigned node, unsigned number)
{
	return plan_index(fabric, sketch, node, number);
}

/* Hosts 2 and 3 are at switch 0, hosts 4 and 5 at switch 1, two links between the
 * switches; ports 3 and 4 of the switches are down:
 *
 *     host 2 --1           5-----5           1-- host 4
 *               switch 0            switch 1
 *     host 3 --2           6-----6           2-- host 5
 *
 * 8 data VLs, 8 entries of each arbitration table; all as OpenSM has it.  The SM is at
 * host 2. */
static inline void sketch_two_switches(void)
{
	drop_all();
	sketch = plan_new();
	plan_add_switch(sketch, 6);
	plan_add_switch(sketch, 6);
	for (unsigned i = 0; i < 4; i++)
		plan_link(sketch, i / 2, 1 + i % 2, plan_add_host(sketch, 1), 1);
	plan_link(sketch, 0, 5, 1, 5);
	plan_link(sketch, 0, 6, 1, 6);
	plan_give_lids(sketch, 0);
	plan_route(sketch);
	plan_use_qos(sketch, 4, 8);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned number = 3; number < 5; number++)
			plan_port(sketch, i, number)->port.state = TRIAD_PORT_DOWN;
	sketch->sm_port_guid = plan_port(sketch, 2, 1)->port.guid;
}

#define LEVELS "qos-ulps\ndefault: 0\nend-qos-ulps\n"
#define GROUPS                                                                         \
	"port-groups\n"                                                                \
	"port-group\nname: hosts\nnode-type: CA\nend-port-group\n"                     \
	"port-group\nname: switches\nnode-type: SWITCH\nend-port-group\n"              \
	"port-group\nname: one\nport-name: switch-0/P1\nend-port-group\n"              \
	"port-group\nname: host2\nport-name: host-2/P1\nend-port-group\n"              \
	"port-group\nname: nobody\nport-guid: 0x1\nend-port-group\n"                   \
	"end-port-groups\n"
#define TABLE(list) "sl2vl-table: " list "\nend-sl2vl-scope\n"
#define SL2VL(scopes)                                                                  \
	LEVELS GROUPS "qos-setup\nsl2vl-tables\n" scopes                               \
		      "end-sl2vl-tables\nend-qos-setup\n"
#define VLARB(scopes)                                                                  \
	LEVELS GROUPS "qos-setup\nvlarb-tables\n" scopes                               \
		      "end-vlarb-tables\nend-qos-setup\n"

/* --- random fabrics and policies --- */

static inline unsigned dice(unsigned sides)
{
	return (unsigned)rand() % sides;
}

struct script {
	char text[16384];
	size_t n;
};

static inline void append(struct script *script, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void append(struct script *script, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	script->n += (size_t)vsnprintf(script->text + script->n,
		sizeof(script->text) - script->n, format, list);
	va_end(list);
	ck_assert_uint_lt(script->n, sizeof(script->text));
}

#define N_GROUPS 5

static inline void say_group(struct script *script, unsigned index)
{
	static const char *const types[] = {"CA", "SWITCH", "ROUTER", "ALL", "SELF"};
	unsigned node = dice(sketch->n_nodes);

	append(script, "port-group\nname: g%u\n", index);
	switch (dice(5)) {
	case 0:
		append(script, "node-type: %s\n", types[dice(5)]);
		break;
	case 1:
		append(script, "pkey: %#x\n", 1 + dice(2));
		break;
	case 2:
		append(script, "partition: part-%u\n", dice(3));
		break;
	case 3:
		append(script, "port-name: %s/P%u\n", sketch->nodes[node].name,
			dice(4));
		break;
	default:
		append(script, "port-guid: %#x-%#x\n", 0x1000 * (1 + node),
			0x1000 * (2 + node + dice(4)));
	}
	append(script, "end-port-group\n");
}

static inline void say_groups(struct script *script, const char *key)
{
	if (dice(4))
		return;
	append(script, "%s: g%u", key, dice(N_GROUPS));
	append(script, dice(2) ? "\n" : ",g%u\n", dice(N_GROUPS));
}

static inline void say_ports(struct script *script, const char *key)
{
	unsigned first = dice(12);

	switch (dice(4)) {
	case 0:
		append(script, "%s: *\n", key);
		break;
	case 1:
		append(script, "%s: %u-%u\n", key, first, first + dice(20));
		break;
	case 2:
		append(script, "%s: %u,%u\n", key, first, dice(6));
		break;
	default:
		break;
	}
}

static inline void describe_sl2vl(struct script *script)
{
	unsigned n_vls = 1 + dice(16);

	append(script, "sl2vl-scope\n%s: g%u\n",
		dice(3)           ? "group"
			: dice(2) ? "across-from"
				  : "across-to",
		dice(N_GROUPS));
	say_groups(script, "across");
	say_groups(script, "across-from");
	say_ports(script, "from");
	say_ports(script, "to");
	append(script, "sl2vl-table: ");
	for (unsigned i = 0; i < 16; i++)
		append(script, "%u%s", dice(8) ? dice(n_vls) : 15, i < 15 ? "," : "\n");
	append(script, "end-sl2vl-scope\n");
}

static inline bool say_entries(struct script *script, const char *key)
{
	unsigned n = 1 + (dice(3) ? dice(10) : dice(64)), n_vls = 1 + dice(15);

	if (!dice(3))
		return false;
	append(script, "%s: ", key);
	for (unsigned i = 0; i < n; i++)
		append(script, "%u:%u%s", dice(n_vls), dice(256),
			i + 1 < n ? "," : "\n");
	return true;
}

static inline void say_vlarb(struct script *script)
{
	bool has_table;

	append(script, "vlarb-scope\n%s: g%u\n", dice(2) ? "group" : "across",
		dice(N_GROUPS));
	say_ports(script, "to");
	has_table = say_entries(script, "vlarb-high");
	has_table |= say_entries(script, "vlarb-low");
	if (!has_table || dice(2))
		append(script, "vl-high-limit: %u\n", dice(4));
	append(script, "end-vlarb-scope\n");
}

static inline void say_policy(struct script *script)
{
	unsigned n_sl2vl = dice(6), n_vlarb = dice(5);

	append(script, "port-groups\n");
	for (unsigned i = 0; i < N_GROUPS; i++)
		say_group(script, i);
	append(script, "end-port-groups\nqos-setup\nsl2vl-tables\n");
	while (n_sl2vl--)
		describe_sl2vl(script);
	append(script, "end-sl2vl-tables\nvlarb-tables\n");
	while (n_vlarb--)
		say_vlarb(script);
	append(script, "end-vlarb-tables\nend-qos-setup\nqos-levels\n");
	append(script, "qos-level\nname: DEFAULT\nsl: %u\nend-qos-level\n", dice(16));
	append(script, "qos-level\nname: unused\nsl: %u\nend-qos-level\n", dice(16));
	append(script, "qos-level\nname: used\nsl: %u\nend-qos-level\n", dice(16));
	append(script,
		"end-qos-levels\nqos-match-rules\nqos-match-rule\nservice-id: 1\n"
		"qos-level-name: used\nend-qos-match-rule\nend-qos-match-rules\n");
}

static inline void spoil_tables(struct plan_port *port)
{
	for (unsigned i = 0; i < port->n_sl2vl; i++)
		if (dice(2))
			port->sl2vl[i].vl[dice(8)] = (uint8_t)dice(256);
	if (!dice(3))
		port->n_sl2vl = dice(port->n_sl2vl + 1);
	if (port->n_vlarb)
		port->vlarb[dice(port->n_vlarb)].weight = (uint8_t)dice(256);
	if (!dice(3))
		port->n_vlarb = dice(port->n_vlarb + 1);
	port->port.high_limit = (uint8_t)dice(4);
}

static inline void vary_port(struct plan_node *node, unsigned number)
{
	static const uint8_t caps[] = {0, 4, 8, 15, 32, 33, 64};
	static const uint8_t vl_caps[] = {4, 4, 4, 4, 5, 3, 2, 1, 0};
	struct plan_port *port = &node->ports[number];

	if (number && !port->far_number && node->node.type == TRIAD_NODE_SWITCH &&
		!dice(4))
		port->is_there = false;
	port->port.vl_cap = vl_caps[dice(sizeof(vl_caps))];
	port->port.op_vls = port->port.vl_cap ? port->port.vl_cap : 1;
	port->port.has_sl2vl = dice(8) > 0;
	port->port.vlarb_low_cap = caps[dice(sizeof(caps))];
	port->port.vlarb_high_cap = caps[dice(sizeof(caps))];
	port->port.state = (uint8_t)(dice(8) ? 2 + dice(3) : dice(2));
	port->port.sl = (uint8_t)dice(16);
}

static inline void vary_defaults(void)
{
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++) {
		struct triad_qos_defaults *defaults = &sketch->qos.defaults[kind];

		if (dice(2))
			defaults->sl2vl.vl[dice(8)] = (uint8_t)dice(256);
		if (dice(2))
			defaults->high[dice(64)].weight = (uint8_t)dice(256);
		defaults->high_limit = (uint8_t)dice(3);
	}
	sketch->qos.max_op_vls = (uint8_t)(dice(3) ? 0 : dice(6));
	sketch->qos.optimized = dice(3) > 0;
	sketch->qos.engine_has_tables = !dice(6);
}

/* Sketches a random fabric.  'is_plain': all tables are OpenSM's. */
static inline void sketch_by_chance(unsigned number, bool is_plain)
{
	drop_all();
	sketch = plan_random_tree(number);
	plan_use_qos(sketch, 4, 8);
	vary_defaults();
	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = {"part-0", "part-1", "part-2"};

		plan_add_partition(
			sketch, (uint16_t)(1 + i), (uint8_t)dice(16), names[i]);
	}
	for (unsigned i = 0; i < sketch->n_nodes; i++) {
		sketch->nodes[i].node.enhanced_port0 = dice(2);
		sketch->nodes[i].node.optimized_sl2vl = dice(2);
		for (unsigned p = 0; p < sketch->nodes[i].n_numbers; p++)
			if (sketch->nodes[i].ports[p].is_there)
				vary_port(&sketch->nodes[i], p);
	}
	plan_program_defaults(sketch);
	for (unsigned i = 0; !is_plain && i < sketch->n_nodes; i++)
		for (unsigned p = 0; dice(2) && p < sketch->nodes[i].n_numbers; p++)
			if (!dice(3))
				spoil_tables(&sketch->nodes[i].ports[p]);
	sketch->sm_port_guid = UINT64_C(0x1000) * (1 + dice(sketch->n_nodes));
	if (sketch->nodes[sketch->sm_port_guid / 0x1000 - 1].node.type !=
		TRIAD_NODE_SWITCH)
		sketch->sm_port_guid++;
}

static inline void make_by_chance(unsigned number)
{
	struct script script = {.n = 0};

	srand(number);
	sketch_by_chance(number, false);
	say_policy(&script);
	make(dice(12) ? script.text : NULL);
}

#endif
