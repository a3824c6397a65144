/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/desired.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

/* The SLs whose VL is not among the VLs that are sent. */
static uint16_t dead_of(const struct triad_sl2vl *table, uint16_t sent)
{
	unsigned alive = sent & ~(1u << TRIAD_DESIRED_NO_VL), dead = 0;

	/* An octet has the VLs of two SLs; the lower SL is in its upper half. */
	for (unsigned i = 0; i < sizeof(table->vl); i++) {
		dead |= (~alive >> (table->vl[i] >> 4) & 1) << 2 * i;
		dead |= (~alive >> (table->vl[i] & 0xf) & 1) << (2 * i + 1);
	}
	return (uint16_t)dead;
}

/* --- OpenSM's defaults --- */

static uint8_t mask_vl(unsigned vl, unsigned mask)
{
	return (uint8_t)(vl == TRIAD_DESIRED_NO_VL ? vl : vl & mask);
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

static const struct triad_qos_defaults *default_of(const struct triad_desired *desired,
	enum triad_qos_port_kind kind, uint8_t code)
{
	return &desired->defaults[kind][code < TRIAD_DESIRED_N_CODES
			? code
			: TRIAD_DESIRED_N_CODES - 1];
}

/* --- contents --- */

const struct triad_sl2vl *triad_desired_sl2vl(
	const struct triad_desired *desired, uint32_t port, unsigned at)
{
	const struct triad_desired_port *is = &desired->ports[port];
	uint16_t scope = desired->rows[is->first_row + at].scope;
	enum triad_qos_port_kind kind = is->kind;

	if (scope != TRIAD_SCOPE_NONE)
		return triad_setup_sl2vl(desired->setup, scope, is->op_vls);
	/* Of an enhanced port 0, only the last row, for packets from port 0 itself, has
	 * the defaults of port 0. */
	if (kind == TRIAD_QOS_PORT_SWITCH0 &&
		at < desired->nodes[desired->fabric->ports[port].node].n_kinds)
		kind = TRIAD_QOS_PORT_SWITCH;
	return &default_of(desired, kind, is->op_vls)->sl2vl;
}

uint16_t triad_desired_vlarb(const struct triad_desired *desired, uint32_t port,
	bool high, struct triad_vlarb_entry *entries, unsigned n)
{
	const struct triad_desired_port *is = &desired->ports[port];
	const struct triad_qos_defaults *defaults;

	if (is->vlarb != TRIAD_SCOPE_NONE &&
		triad_setup_vlarb(desired->setup, is->vlarb, high, is->op_vls,
			(uint8_t)n, entries))
		return is->vlarb;
	defaults = default_of(desired, is->kind, is->op_vls);
	memcpy(entries, high ? defaults->high : defaults->low, n * sizeof(*entries));
	return TRIAD_SCOPE_NONE;
}

uint16_t triad_desired_high_limit(
	const struct triad_desired *desired, uint32_t port, uint8_t *limit)
{
	const struct triad_desired_port *is = &desired->ports[port];

	if (is->vlarb != TRIAD_SCOPE_NONE &&
		triad_setup_high_limit(desired->setup, is->vlarb, limit))
		return is->vlarb;
	*limit = default_of(desired, is->kind, is->op_vls)->high_limit;
	return TRIAD_SCOPE_NONE;
}

/* --- classes --- */

/* Finds the class of 'port'.  'facts_from' is the port that gives GUID and P_Keys: port
 * 0 of a switch (NONE if the fabric lacks it), else the port itself. */
static void classify_port(struct triad_desired *desired, uint32_t node, uint32_t port,
	uint32_t facts_from)
{
	const struct triad_fabric *fabric = desired->fabric;
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
		facts.pkeys = from->pkeys.n ? fabric->pkeys + from->pkeys.at : NULL;
		facts.n_pkeys = from->pkeys.n;
	}
	desired->classes[port] = triad_scopes_class(desired->scopes, &facts);
}

static void classify_node(struct triad_desired *desired, uint32_t node)
{
	const struct triad_fabric_node *at = &desired->fabric->nodes[node];
	bool is_switch = at->type == TRIAD_NODE_SWITCH;
	uint32_t port0 = is_switch ? triad_fabric_find_port(desired->fabric, node, 0)
				   : TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < at->n_ports; i++) {
		uint32_t port = at->first_port + i;

		classify_port(desired, node, port, is_switch ? port0 : port);
	}
}

static int classify(struct triad_desired *desired)
{
	const struct triad_fabric *fabric = desired->fabric;
	int error;

	desired->scopes = triad_scopes_new(desired->setup);
	if (!desired->scopes)
		return ENOMEM;
	error = triad_scopes_set_partitions(
		desired->scopes, fabric->partitions, fabric->n_partitions);
	for (uint32_t i = 0; !error && i < fabric->n_nodes; i++)
		classify_node(desired, i);
	return error ? error : triad_scopes_error(desired->scopes);
}

static struct triad_scopes_end scopes_end_of(
	const struct triad_desired *desired, uint32_t port)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];

	return (struct triad_scopes_end){.own = desired->classes[port],
		.remote = at->remote == TRIAD_FABRIC_NONE
			? TRIAD_SCOPES_NO_CLASS
			: desired->classes[at->remote],
		.number = at->number};
}

/* --- rows --- */

/* Adds the rows of 'port'.  'scopes' has a scope for each kind of in-port.  An enhanced
 * port 0 has one more row, for in-port 0 itself, of kind 'kind_of_0'. */
static int fill_rows(struct triad_desired *desired, uint32_t port, unsigned kind_of_0,
	const uint16_t *scopes)
{
	unsigned n = triad_desired_n_rows(desired, port);
	unsigned n_kinds = desired->nodes[desired->fabric->ports[port].node].n_kinds;

	desired->ports[port].first_row = desired->n_rows;
	desired->n_rows += n;
	if (desired->n_rows > TRIAD_DESIRED_MAX_ROWS)
		return EOVERFLOW;
	if (triad_grow(&desired->rows, &desired->rows_room, desired->n_rows,
		    sizeof(*desired->rows), 1024))
		return ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct triad_desired_row *row =
			&desired->rows[desired->ports[port].first_row + i];

		row->scope = scopes[i < n_kinds ? i : kind_of_0];
		row->dead = dead_of(triad_desired_sl2vl(desired, port, i),
			desired->ports[port].sent);
		desired->dead |= row->dead;
	}
	return 0;
}

static int fill_endport(struct triad_desired *desired, uint32_t port)
{
	uint16_t scope = TRIAD_SCOPE_NONE;

	if (!desired->fabric->ports[port].has_sl2vl)
		return 0;
	if (desired->scopes) {
		struct triad_scopes_end end = scopes_end_of(desired, port);

		scope = triad_scopes_endport_sl2vl(desired->scopes, &end);
	}
	return fill_rows(desired, port, 0, &scope);
}

/* --- arbitration --- */

static uint16_t weighed_in(
	const struct triad_desired *desired, uint32_t port, bool high, unsigned n)
{
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];
	uint16_t vls = 0;

	(void)triad_desired_vlarb(desired, port, high, entries, n);
	for (unsigned i = 0; i < n; i++)
		if (entries[i].weight)
			vls |= (uint16_t)(1u << (entries[i].vl & 0xf));
	return vls;
}

static uint16_t sent_by(struct triad_desired *desired, uint32_t port)
{
	const struct triad_desired_port *is = &desired->ports[port];
	struct triad_desired_last_sent *last = &desired->last_sent;
	unsigned n_low = triad_desired_n_vlarb(desired, port, false);
	unsigned n_high = triad_desired_n_vlarb(desired, port, true);

	/* A port without arbitration tables sends all VLs. */
	if (!n_low && !n_high)
		return UINT16_MAX;
	if (last->is_known && last->scope == is->vlarb && last->op_vls == is->op_vls &&
		last->kind == is->kind && last->n_low == n_low &&
		last->n_high == n_high)
		return last->sent;
	*last = (struct triad_desired_last_sent){.is_known = true,
		.scope = is->vlarb,
		.op_vls = is->op_vls,
		.kind = is->kind,
		.n_low = n_low,
		.n_high = n_high};
	last->sent = weighed_in(desired, port, false, n_low) |
		weighed_in(desired, port, true, n_high);
	return last->sent;
}

/* --- ports --- */

static void resolve_port(struct triad_desired *desired, uint32_t port)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];
	struct triad_desired_port *is = &desired->ports[port];

	is->kind = (uint8_t)triad_fabric_qos_kind(desired->fabric, port);
	is->first_row = TRIAD_FABRIC_NONE;
	is->vlarb = TRIAD_SCOPE_NONE;
	is->is_looked_at = at->state > TRIAD_PORT_DOWN && !at->is_held &&
		(is->kind != TRIAD_QOS_PORT_SWITCH0 ||
			desired->fabric->nodes[at->node].enhanced_port0);
	if (!is->is_looked_at)
		return;
	/* A port with one VL has nothing to arbitrate. */
	is->op_vls = triad_fabric_op_vls(desired->fabric, port);
	is->has_vlarb = at->vl_cap > 1;
	if (is->has_vlarb && desired->scopes) {
		struct triad_scopes_end end = scopes_end_of(desired, port);

		is->vlarb = triad_scopes_vlarb(desired->scopes, &end);
	}
	is->sent = sent_by(desired, port);
}

/* --- switches --- */

/* The ports of a switch by number, and their kinds as in-ports. */
struct sorted {
	struct triad_scopes_end ends[TRIAD_SCOPES_MAX_PORTS];
	struct triad_scopes_switch kinds;
};

static void sort_ports(
	struct triad_desired *desired, uint32_t node, struct sorted *sorted)
{
	const struct triad_fabric_node *from = &desired->fabric->nodes[node];
	struct triad_desired_node *to = &desired->nodes[node];

	/* Numbers without a port count as in-ports: OpenSM sends tables for them. */
	for (unsigned i = 0; i < to->n_numbers; i++)
		sorted->ends[i] =
			(struct triad_scopes_end){.own = TRIAD_SCOPES_NO_CLASS,
				.remote = TRIAD_SCOPES_NO_CLASS,
				.number = (uint8_t)i};
	for (uint32_t i = 0; i < from->n_ports; i++)
		sorted->ends[desired->fabric->ports[from->first_port + i].number] =
			scopes_end_of(desired, from->first_port + i);
	triad_scopes_sort_ports(
		desired->scopes, sorted->ends, to->n_numbers, &sorted->kinds);
	to->n_kinds = (uint16_t)sorted->kinds.n_kinds;
	memcpy(desired->kinds + to->first_kind, sorted->kinds.kind, to->n_numbers);
}

static int fill_switch(struct triad_desired *desired, uint32_t node)
{
	const struct triad_fabric_node *from = &desired->fabric->nodes[node];
	const uint8_t *kinds = desired->kinds + desired->nodes[node].first_kind;
	/* Without a setup there is one kind of in-port, and no scope for it. */
	uint16_t scopes[TRIAD_SCOPES_MAX_PORTS] = {TRIAD_SCOPE_NONE};
	struct sorted sorted;
	int error = 0;

	if (desired->scopes)
		sort_ports(desired, node, &sorted);
	for (uint32_t i = 0; !error && i < from->n_ports; i++) {
		uint32_t port = from->first_port + i;

		if (!desired->ports[port].is_looked_at)
			continue;
		if (desired->scopes)
			triad_scopes_sl2vl_row(desired->scopes, sorted.ends,
				&sorted.kinds,
				&sorted.ends[desired->fabric->ports[port].number],
				scopes);
		error = fill_rows(desired, port, kinds[0], scopes);
	}
	return error;
}

static int fill_node(struct triad_desired *desired, uint32_t node)
{
	const struct triad_fabric_node *from = &desired->fabric->nodes[node];
	int error = 0;

	/* Find the VLs that a port sends before its rows: an SL whose VL is not sent is
	 * dead there. */
	for (uint32_t i = 0; i < from->n_ports; i++)
		resolve_port(desired, from->first_port + i);
	if (from->type == TRIAD_NODE_SWITCH)
		return desired->nodes[node].has_sl2vl ? fill_switch(desired, node) : 0;
	for (uint32_t i = 0; !error && i < from->n_ports; i++)
		if (desired->ports[from->first_port + i].is_looked_at)
			error = fill_endport(desired, from->first_port + i);
	return error;
}

/* --- the whole --- */

/* Initializes the node; returns the number of its in-ports. */
static unsigned size_node(
	struct triad_desired *desired, uint32_t node, size_t first_kind)
{
	const struct triad_fabric *fabric = desired->fabric;
	const struct triad_fabric_node *from = &fabric->nodes[node];
	struct triad_desired_node *to = &desired->nodes[node];
	bool is_switch = from->type == TRIAD_NODE_SWITCH;
	uint32_t port0 =
		is_switch ? triad_fabric_find_port(fabric, node, 0) : TRIAD_FABRIC_NONE;

	*to = (struct triad_desired_node){.first_kind = first_kind, .n_kinds = 1};
	if (from->n_ports)
		to->n_numbers =
			(uint16_t)(fabric->ports[from->first_port + from->n_ports - 1]
					   .number +
				1u);
	to->has_sl2vl = port0 != TRIAD_FABRIC_NONE && fabric->ports[port0].has_sl2vl;
	/* The port of a CA or router counts as having one in-port. */
	return is_switch ? to->n_numbers : 1;
}

static int allocate_desired(struct triad_desired *desired)
{
	const struct triad_fabric *fabric = desired->fabric;
	size_t n = 0;

	desired->classes = calloc(fabric->n_ports + 1, sizeof(*desired->classes));
	desired->ports = calloc(fabric->n_ports + 1, sizeof(*desired->ports));
	desired->nodes = calloc(fabric->n_nodes + 1, sizeof(*desired->nodes));
	if (!desired->classes || !desired->ports || !desired->nodes)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		n += size_node(desired, i, n);
	desired->kinds = calloc(n + 1, sizeof(*desired->kinds));
	return desired->kinds ? 0 : ENOMEM;
}

int triad_desired_resolve(struct triad_desired *desired, struct triad_setup *setup,
	const struct triad_fabric *fabric)
{
	int error;

	*desired = (struct triad_desired){.setup = setup, .fabric = fabric};
	/* OpenSM's defaults, cut to each number of VLs that a port can have. */
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++)
		for (unsigned code = 0; code < TRIAD_DESIRED_N_CODES; code++) {
			desired->defaults[kind][code] = fabric->qos.defaults[kind];
			mask_default(&desired->defaults[kind][code],
				code ? (1u << (code - 1)) - 1 : 0);
		}
	/* Find the classes of all ports before any table: the scope also depends on the
	 * class at the other end of a link. */
	error = allocate_desired(desired);
	if (!error && setup)
		error = classify(desired);
	for (uint32_t i = 0; !error && i < fabric->n_nodes; i++)
		error = fill_node(desired, i);
	if (!error && desired->scopes)
		error = triad_scopes_error(desired->scopes);
	if (error)
		triad_desired_clear(desired);
	return error;
}

void triad_desired_clear(struct triad_desired *desired)
{
	triad_scopes_free(desired->scopes);
	free(desired->classes);
	free(desired->ports);
	free(desired->nodes);
	free(desired->kinds);
	free(desired->rows);
	*desired = (struct triad_desired){0};
}
