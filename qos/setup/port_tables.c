/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/port_tables.h"

#include <string.h>

unsigned triad_port_tables_n_in_ports(
	const struct triad_desired *desired, uint32_t port)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];

	if (desired->ports[port].first_row == TRIAD_FABRIC_NONE)
		return 0;
	return desired->fabric->nodes[at->node].type == TRIAD_NODE_SWITCH
		? desired->nodes[at->node].n_numbers
		: 1;
}

static void give_sl2vl(const struct triad_desired *desired, uint32_t port,
	triad_port_tables_take *take, void *context)
{
	const struct triad_fabric *fabric = desired->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];

	for (unsigned in = 0; in < triad_port_tables_n_in_ports(desired, port); in++) {
		struct triad_port_table table = {.table = TRIAD_SETUP_SL2VL,
			.in_first = (uint8_t)in,
			.in_last = (uint8_t)in};

		table.policy.sl2vl = *triad_desired_sl2vl(
			desired, port, triad_desired_row_at(desired, port, in));
		if (in < at->sl2vl.n)
			table.sm.sl2vl = fabric->sl2vl[at->sl2vl.at + in];
		take(context, port, &table);
	}
}

static void give_vlarb(const struct triad_desired *desired, uint32_t port, bool high,
	triad_port_tables_take *take, void *context)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];
	uint32_t first = high ? at->vlarb_low_cap : 0, n_known;
	struct triad_port_table table = {
		.table = high ? TRIAD_SETUP_VLARB_HIGH : TRIAD_SETUP_VLARB_LOW,
		.n = (uint8_t)triad_desired_n_vlarb(desired, port, high)};

	if (!table.n)
		return;
	(void)triad_desired_vlarb(desired, port, high, table.policy.vlarb, table.n);
	n_known = at->vlarb.n > first ? at->vlarb.n - first : 0;
	n_known = n_known < table.n ? n_known : table.n;
	/* Unknown entries are zeros. */
	if (n_known)
		memcpy(table.sm.vlarb, &desired->fabric->vlarb[at->vlarb.at + first],
			n_known * sizeof(table.sm.vlarb[0]));
	take(context, port, &table);
}

static void give_high_limit(const struct triad_desired *desired, uint32_t port,
	triad_port_tables_take *take, void *context)
{
	struct triad_port_table table = {.table = TRIAD_SETUP_HIGH_LIMIT};

	if (!triad_desired_has_high_limit(desired, port))
		return;
	(void)triad_desired_high_limit(desired, port, &table.policy.high_limit);
	table.sm.high_limit = desired->fabric->ports[port].high_limit;
	take(context, port, &table);
}

void triad_port_tables_each(const struct triad_desired *desired, uint32_t port,
	triad_port_tables_take *take, void *context)
{
	if (!desired->ports[port].is_looked_at)
		return;
	give_sl2vl(desired, port, take, context);
	give_vlarb(desired, port, false, take, context);
	give_vlarb(desired, port, true, take, context);
	give_high_limit(desired, port, take, context);
}

bool triad_port_table_is_same(enum triad_setup_table table, unsigned n,
	const union triad_setup_value *a, const union triad_setup_value *b)
{
	switch (table) {
	case TRIAD_SETUP_SL2VL:
		return !memcmp(&a->sl2vl, &b->sl2vl, sizeof(a->sl2vl));
	case TRIAD_SETUP_HIGH_LIMIT:
		return a->high_limit == b->high_limit;
	default:
		return !memcmp(a->vlarb, b->vlarb, n * sizeof(a->vlarb[0]));
	}
}
