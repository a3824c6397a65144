/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS tables as OpenSM writes them, for plans. */
#include "tests/sim/plans.h"

static void set_vlarb(struct triad_vlarb_entry *entries, unsigned first, unsigned rest)
{
	for (unsigned i = 0; i < 15; i++)
		entries[i] = (struct triad_vlarb_entry){
			(uint8_t)i, (uint8_t)(i ? rest : first)};
}

void plan_use_qos(struct plan *plan, unsigned vl_cap, unsigned n_entries)
{
	plan->sa.qos = true;
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++) {
		struct triad_qos_defaults *defaults = &plan->qos.defaults[kind];

		for (unsigned i = 0; i < 8; i++)
			defaults->sl2vl.vl[i] =
				(uint8_t)(i < 7 ? i << 5 | (2 * i + 1) : 0xe7);
		set_vlarb(defaults->high, 4, 0);
		set_vlarb(defaults->low, 0, 4);
	}
	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];

		node->node.enhanced_port0 = node->node.type == TRIAD_NODE_SWITCH;
		for (unsigned p = 0; p < node->n_numbers; p++) {
			struct triad_fabric_port *port = &node->ports[p].port;

			port->vl_cap = port->op_vls = (uint8_t)vl_cap;
			port->has_sl2vl = true;
			port->vlarb_low_cap = port->vlarb_high_cap = (uint8_t)n_entries;
		}
	}
	plan_program_defaults(plan);
}

/* VLs that both ends have, as a mask. */
static unsigned vl_mask(const struct plan *plan, const struct plan_port *port)
{
	static const unsigned masks[] = {0, 0, 1, 3, 7, 15};
	unsigned code = port->port.op_vls;

	if (port->far_number) {
		code = plan->nodes[port->far_node].ports[port->far_number].port.vl_cap;
		if (port->port.vl_cap < code)
			code = port->port.vl_cap;
	}
	if (plan->qos.max_op_vls && plan->qos.max_op_vls < code)
		code = plan->qos.max_op_vls;
	if (port->port.state == TRIAD_PORT_ACTIVE && port->port.op_vls < code)
		code = port->port.op_vls;
	return masks[code <= 5 ? code : 5];
}

static struct triad_sl2vl mask_sl2vl(const struct triad_sl2vl *table, unsigned mask)
{
	struct triad_sl2vl masked;

	for (unsigned i = 0; i < 8; i++) {
		unsigned a = table->vl[i] >> 4, b = table->vl[i] & 15;

		masked.vl[i] = (uint8_t)((a == 15 ? a : a & mask) << 4 |
			(b == 15 ? b : b & mask));
	}
	return masked;
}

static void program_port(struct plan *plan, struct plan_node *node, unsigned number)
{
	struct plan_port *port = &node->ports[number];
	const struct triad_qos_defaults *defaults = plan->qos.defaults;
	unsigned mask, low = port->port.vlarb_low_cap;
	bool is_switch = node->node.type == TRIAD_NODE_SWITCH;
	enum triad_qos_port_kind kind = is_switch
		? number ? TRIAD_QOS_PORT_SWITCH : TRIAD_QOS_PORT_SWITCH0
		: node->node.type == TRIAD_NODE_ROUTER ? TRIAD_QOS_PORT_ROUTER
						       : TRIAD_QOS_PORT_CA;

	if (port->keeps_vls && port->keeps_vls < port->port.op_vls)
		port->port.op_vls = port->keeps_vls;
	mask = vl_mask(plan, port);
	port->n_sl2vl = is_switch ? node->n_numbers : 1;
	for (unsigned in = 0; in < port->n_sl2vl; in++)
		port->sl2vl[in] = mask_sl2vl(
			&defaults[is_switch && in ? TRIAD_QOS_PORT_SWITCH : kind].sl2vl,
			mask);
	port->n_vlarb = low + port->port.vlarb_high_cap;
	for (unsigned i = 0; i < port->n_vlarb; i++) {
		port->vlarb[i] =
			i < low ? defaults[kind].low[i] : defaults[kind].high[i - low];
		port->vlarb[i].vl &= (uint8_t)mask;
	}
	port->port.high_limit =
		port->port.vl_cap > 1 && port->n_vlarb && (port->far_number || !number)
		? defaults[kind].high_limit
		: 0;
}

void plan_program_defaults(struct plan *plan)
{
	for (unsigned i = 0; i < plan->n_nodes; i++)
		for (unsigned p = 0; p < plan->nodes[i].n_numbers; p++)
			if (plan->nodes[i].ports[p].is_there)
				program_port(plan, &plan->nodes[i], p);
}
