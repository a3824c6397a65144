/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/wanted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* SLs whose VL isn't among those that are sent. */
static uint16_t dead_of(const struct triad_sl2vl *table, uint16_t sent)
{
	unsigned alive = sent & ~(1u << TRIAD_WANTED_NO_VL), dead = 0;

	for (unsigned i = 0; i < sizeof(table->vl); i++) {
		dead |= (~alive >> (table->vl[i] >> 4) & 1) << 2 * i;
		dead |= (~alive >> (table->vl[i] & 0xf) & 1) << (2 * i + 1);
	}
	return (uint16_t)dead;
}

/* --- OpenSM's defaults --- */

static uint8_t mask_vl(unsigned vl, unsigned mask)
{
	return (uint8_t)(vl == TRIAD_WANTED_NO_VL ? vl : vl & mask);
}

static void mask_default(struct triad_qos_defaults *defaults, unsigned mask)
{
	for (unsigned i = 0; i < sizeof(defaults->sl2vl.vl); i++) {
		unsigned octet = defaults->sl2vl.vl[i];

		defaults->sl2vl.vl[i] = (uint8_t)(mask_vl(octet >> 4, mask) << 4 |
			mask_vl(octet & 0xf, mask));
	}
	/* VL 15 is no exception here; the configuration can't have it. */
	for (unsigned i = 0; i < TRIAD_VLARB_MAX; i++) {
		defaults->high[i].vl &= (uint8_t)mask;
		defaults->low[i].vl &= (uint8_t)mask;
	}
}

static void fill_defaults(struct triad_wanted *wanted)
{
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++)
		for (unsigned code = 0; code < TRIAD_WANTED_N_CODES; code++) {
			wanted->defaults[kind][code] =
				wanted->fabric->qos.defaults[kind];
			mask_default(&wanted->defaults[kind][code],
				code ? (1u << (code - 1)) - 1 : 0);
		}
}

static const struct triad_qos_defaults *default_of(
	const struct triad_wanted *wanted, enum triad_qos_port_kind kind, uint8_t code)
{
	return &wanted->defaults[kind][code < TRIAD_WANTED_N_CODES
			? code
			: TRIAD_WANTED_N_CODES - 1];
}

/* --- contents --- */

const struct triad_sl2vl *triad_wanted_sl2vl(
	const struct triad_wanted *wanted, uint32_t port, unsigned at)
{
	const struct triad_wanted_port *is = &wanted->ports[port];
	uint16_t scope = wanted->rows[is->first_row + at].scope;
	enum triad_qos_port_kind kind = is->kind;

	if (scope != TRIAD_SCOPE_NONE)
		return triad_setup_sl2vl(wanted->setup, scope, is->op_vls);
	if (kind == TRIAD_QOS_PORT_SWITCH0 &&
		at < wanted->nodes[wanted->fabric->ports[port].node].n_kinds)
		kind = TRIAD_QOS_PORT_SWITCH;
	return &default_of(wanted, kind, is->op_vls)->sl2vl;
}

uint16_t triad_wanted_vlarb(const struct triad_wanted *wanted, uint32_t port, bool high,
	struct triad_vlarb_entry *entries, unsigned n)
{
	const struct triad_wanted_port *is = &wanted->ports[port];
	const struct triad_qos_defaults *defaults;

	if (is->vlarb != TRIAD_SCOPE_NONE &&
		triad_setup_vlarb(wanted->setup, is->vlarb, high, is->op_vls,
			(uint8_t)n, entries))
		return is->vlarb;
	defaults = default_of(wanted, is->kind, is->op_vls);
	memcpy(entries, high ? defaults->high : defaults->low, n * sizeof(*entries));
	return TRIAD_SCOPE_NONE;
}

uint16_t triad_wanted_high_limit(
	const struct triad_wanted *wanted, uint32_t port, uint8_t *limit)
{
	const struct triad_wanted_port *is = &wanted->ports[port];

	if (is->vlarb != TRIAD_SCOPE_NONE &&
		triad_setup_high_limit(wanted->setup, is->vlarb, limit))
		return is->vlarb;
	*limit = default_of(wanted, is->kind, is->op_vls)->high_limit;
	return TRIAD_SCOPE_NONE;
}

/* --- classes --- */

/* What the groups see of the node's ports: GUID and P_Keys are filled in by
 * classify_port(), a switch's once. */
static void classify_port(
	struct triad_wanted *wanted, uint32_t node, uint32_t port, uint32_t facts_from)
{
	const struct triad_fabric *fabric = wanted->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	struct triad_scopes_port facts = {
		.guid = fabric->nodes[node].guid,
		.node_name = fabric->nodes[node].name,
		.node_type = fabric->nodes[node].type,
		.number = at->number,
		.is_self = fabric->sm_port != TRIAD_FABRIC_NONE &&
			facts_from == fabric->sm_port,
	};

	if (facts_from != TRIAD_FABRIC_NONE) {
		const struct triad_fabric_port *from = &fabric->ports[facts_from];

		facts.guid = from->guid;
		facts.pkeys = fabric->pkeys + from->pkeys.at;
		facts.n_pkeys = from->pkeys.n;
	}
	wanted->classes[port] = triad_scopes_class(wanted->scopes, &facts);
}

static void classify_node(struct triad_wanted *wanted, uint32_t node)
{
	const struct triad_fabric_node *at = &wanted->fabric->nodes[node];
	bool is_switch = at->type == TRIAD_NODE_SWITCH;
	uint32_t port0 = is_switch ? triad_fabric_find_port(wanted->fabric, node, 0)
				   : TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < at->n_ports; i++) {
		uint32_t port = at->first_port + i;

		classify_port(wanted, node, port, is_switch ? port0 : port);
	}
}

static int classify(struct triad_wanted *wanted)
{
	const struct triad_fabric *fabric = wanted->fabric;
	int error;

	wanted->scopes = triad_scopes_new(wanted->setup);
	if (!wanted->scopes)
		return ENOMEM;
	error = triad_scopes_set_partitions(
		wanted->scopes, fabric->partitions, fabric->n_partitions);
	for (uint32_t i = 0; !error && i < fabric->n_nodes; i++)
		classify_node(wanted, i);
	return error ? error : triad_scopes_error(wanted->scopes);
}

static struct triad_scopes_end end_of(const struct triad_wanted *wanted, uint32_t port)
{
	const struct triad_fabric_port *at = &wanted->fabric->ports[port];

	return (struct triad_scopes_end){.own = wanted->classes[port],
		.remote = at->remote == TRIAD_FABRIC_NONE ? TRIAD_SCOPES_NO_CLASS
							  : wanted->classes[at->remote],
		.number = at->number};
}

/* --- rows --- */

static int add_rows(struct triad_wanted *wanted, uint32_t port, unsigned n)
{
	uint32_t room = wanted->n_rows_allocated;
	struct triad_wanted_row *rows;

	wanted->ports[port].first_row = wanted->n_rows;
	wanted->n_rows += n;
	if (wanted->n_rows <= room)
		return 0;
	if (wanted->n_rows > TRIAD_WANTED_MAX_ROWS)
		return EOVERFLOW;
	while (room < wanted->n_rows)
		room = room ? 2 * room : 1024;
	rows = realloc(wanted->rows, room * sizeof(*rows));
	if (!rows)
		return ENOMEM;
	wanted->rows = rows;
	wanted->n_rows_allocated = room;
	return 0;
}

/* 'scopes' has one for each kind of in-port. */
static int fill_rows(struct triad_wanted *wanted, uint32_t port, unsigned kind_of_0,
	const uint16_t *scopes)
{
	unsigned n = triad_wanted_n_rows(wanted, port);
	unsigned n_kinds = wanted->nodes[wanted->fabric->ports[port].node].n_kinds;
	int error = add_rows(wanted, port, n);

	for (unsigned i = 0; !error && i < n; i++) {
		struct triad_wanted_row *row =
			&wanted->rows[wanted->ports[port].first_row + i];

		row->scope = scopes[i < n_kinds ? i : kind_of_0];
		row->dead = dead_of(
			triad_wanted_sl2vl(wanted, port, i), wanted->ports[port].sent);
		wanted->dead |= row->dead;
	}
	return error;
}

static int fill_endport(struct triad_wanted *wanted, uint32_t port)
{
	uint16_t scope = TRIAD_SCOPE_NONE;

	if (!wanted->fabric->ports[port].has_sl2vl)
		return 0;
	if (wanted->scopes) {
		struct triad_scopes_end end = end_of(wanted, port);

		scope = triad_scopes_endport_sl2vl(wanted->scopes, &end);
	}
	return fill_rows(wanted, port, 0, &scope);
}

/* --- arbitration --- */

static uint16_t weighed_in(
	const struct triad_wanted *wanted, uint32_t port, bool high, unsigned n)
{
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];
	uint16_t vls = 0;

	(void)triad_wanted_vlarb(wanted, port, high, entries, n);
	for (unsigned i = 0; i < n; i++)
		if (entries[i].weight)
			vls |= (uint16_t)(1u << (entries[i].vl & 0xf));
	return vls;
}

static uint16_t sent_by(struct triad_wanted *wanted, uint32_t port)
{
	const struct triad_wanted_port *is = &wanted->ports[port];
	struct triad_wanted_last_sent *last = &wanted->last_sent;
	unsigned n_low = triad_wanted_n_vlarb(wanted, port, false);
	unsigned n_high = triad_wanted_n_vlarb(wanted, port, true);

	if (!n_low && !n_high)
		return UINT16_MAX;
	if (last->is_known && last->scope == is->vlarb && last->op_vls == is->op_vls &&
		last->kind == is->kind && last->n_low == n_low &&
		last->n_high == n_high)
		return last->sent;
	*last = (struct triad_wanted_last_sent){.is_known = true,
		.scope = is->vlarb,
		.op_vls = is->op_vls,
		.kind = is->kind,
		.n_low = n_low,
		.n_high = n_high};
	last->sent = weighed_in(wanted, port, false, n_low) |
		weighed_in(wanted, port, true, n_high);
	return last->sent;
}

/* --- ports --- */

static void look_at(struct triad_wanted *wanted, uint32_t port)
{
	const struct triad_fabric_port *at = &wanted->fabric->ports[port];
	struct triad_wanted_port *is = &wanted->ports[port];

	is->kind = (uint8_t)triad_fabric_qos_kind(wanted->fabric, port);
	is->first_row = TRIAD_FABRIC_NONE;
	is->vlarb = TRIAD_SCOPE_NONE;
	is->is_looked_at = at->state > TRIAD_PORT_DOWN &&
		(is->kind != TRIAD_QOS_PORT_SWITCH0 ||
			wanted->fabric->nodes[at->node].enhanced_port0);
	if (!is->is_looked_at)
		return;
	is->op_vls = triad_fabric_op_vls(wanted->fabric, port);
	is->has_vlarb = at->vl_cap > 1;
	if (is->has_vlarb && wanted->scopes) {
		struct triad_scopes_end end = end_of(wanted, port);

		is->vlarb = triad_scopes_vlarb(wanted->scopes, &end);
	}
	is->sent = sent_by(wanted, port);
}

/* --- switches --- */

/* The ports of a switch by number, and their kinds as in-ports. */
struct sorted {
	struct triad_scopes_end ends[TRIAD_SCOPES_MAX_PORTS];
	struct triad_scopes_switch kinds;
};

static void sort_ports(
	struct triad_wanted *wanted, uint32_t node, struct sorted *sorted)
{
	const struct triad_fabric_node *from = &wanted->fabric->nodes[node];
	struct triad_wanted_node *to = &wanted->nodes[node];

	for (unsigned i = 0; i < to->n_numbers; i++)
		sorted->ends[i] =
			(struct triad_scopes_end){.own = TRIAD_SCOPES_NO_CLASS,
				.remote = TRIAD_SCOPES_NO_CLASS,
				.number = (uint8_t)i};
	for (uint32_t i = 0; i < from->n_ports; i++)
		sorted->ends[wanted->fabric->ports[from->first_port + i].number] =
			end_of(wanted, from->first_port + i);
	triad_scopes_sort_ports(
		wanted->scopes, sorted->ends, to->n_numbers, &sorted->kinds);
	to->n_kinds = (uint16_t)sorted->kinds.n_kinds;
	memcpy(wanted->kinds + to->first_kind, sorted->kinds.kind, to->n_numbers);
}

static int fill_switch(struct triad_wanted *wanted, uint32_t node)
{
	const struct triad_fabric_node *from = &wanted->fabric->nodes[node];
	const uint8_t *kinds = wanted->kinds + wanted->nodes[node].first_kind;
	uint16_t scopes[TRIAD_SCOPES_MAX_PORTS] = {TRIAD_SCOPE_NONE};
	struct sorted sorted;
	int error = 0;

	if (wanted->scopes)
		sort_ports(wanted, node, &sorted);
	for (uint32_t i = 0; !error && i < from->n_ports; i++) {
		uint32_t port = from->first_port + i;

		if (!wanted->ports[port].is_looked_at)
			continue;
		if (wanted->scopes)
			triad_scopes_sl2vl_row(wanted->scopes, sorted.ends,
				&sorted.kinds,
				&sorted.ends[wanted->fabric->ports[port].number],
				scopes);
		error = fill_rows(wanted, port, kinds[0], scopes);
	}
	return error;
}

static int fill_node(struct triad_wanted *wanted, uint32_t node)
{
	const struct triad_fabric_node *from = &wanted->fabric->nodes[node];
	int error = 0;

	for (uint32_t i = 0; i < from->n_ports; i++)
		look_at(wanted, from->first_port + i);
	if (from->type == TRIAD_NODE_SWITCH)
		return wanted->nodes[node].has_sl2vl ? fill_switch(wanted, node) : 0;
	for (uint32_t i = 0; !error && i < from->n_ports; i++)
		if (wanted->ports[from->first_port + i].is_looked_at)
			error = fill_endport(wanted, from->first_port + i);
	return error;
}

/* --- the whole --- */

/* Returns how many in-ports the node has. */
static unsigned size_node(struct triad_wanted *wanted, uint32_t node, size_t first_kind)
{
	const struct triad_fabric *fabric = wanted->fabric;
	const struct triad_fabric_node *from = &fabric->nodes[node];
	struct triad_wanted_node *to = &wanted->nodes[node];
	bool is_switch = from->type == TRIAD_NODE_SWITCH;
	uint32_t port0 =
		is_switch ? triad_fabric_find_port(fabric, node, 0) : TRIAD_FABRIC_NONE;

	*to = (struct triad_wanted_node){.first_kind = first_kind, .n_kinds = 1};
	if (from->n_ports)
		to->n_numbers =
			(uint16_t)(fabric->ports[from->first_port + from->n_ports - 1]
					   .number +
				1u);
	to->has_sl2vl = port0 != TRIAD_FABRIC_NONE && fabric->ports[port0].has_sl2vl;
	/* A CA's or router's port has one in-port, so to speak. */
	return is_switch ? to->n_numbers : 1;
}

static int prepare(struct triad_wanted *wanted)
{
	const struct triad_fabric *fabric = wanted->fabric;
	size_t n = 0;

	wanted->classes = calloc(fabric->n_ports + 1, sizeof(*wanted->classes));
	wanted->ports = calloc(fabric->n_ports + 1, sizeof(*wanted->ports));
	wanted->nodes = calloc(fabric->n_nodes + 1, sizeof(*wanted->nodes));
	if (!wanted->classes || !wanted->ports || !wanted->nodes)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		n += size_node(wanted, i, n);
	wanted->kinds = calloc(n + 1, sizeof(*wanted->kinds));
	return wanted->kinds ? 0 : ENOMEM;
}

int triad_wanted_resolve(struct triad_wanted *wanted, struct triad_setup *setup,
	const struct triad_fabric *fabric)
{
	int error;

	*wanted = (struct triad_wanted){.setup = setup, .fabric = fabric};
	fill_defaults(wanted);
	error = prepare(wanted);
	if (!error && setup)
		error = classify(wanted);
	for (uint32_t i = 0; !error && i < fabric->n_nodes; i++)
		error = fill_node(wanted, i);
	if (!error && wanted->scopes)
		error = triad_scopes_error(wanted->scopes);
	if (error)
		triad_wanted_clear(wanted);
	return error;
}

void triad_wanted_clear(struct triad_wanted *wanted)
{
	triad_scopes_free(wanted->scopes);
	free(wanted->classes);
	free(wanted->ports);
	free(wanted->nodes);
	free(wanted->kinds);
	free(wanted->rows);
	*wanted = (struct triad_wanted){0};
}
