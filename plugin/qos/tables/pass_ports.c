/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/physp.h"
#include "plugin/qos/tables/pass_parts.h"

/* Facts of a port; 'port' points to the other members. */
struct facts {
	struct triad_scopes_port port;
	struct triad_physp_pkeys pkeys;
	char name[TRIAD_NODE_NAME_SIZE];
};

static void read_facts(const struct triad_tables_pass *pass, const osm_physp_t *port,
	struct facts *facts)
{
	osm_node_t *node = port->p_node;
	const osm_physp_t *speaker = triad_physp_with_capabilities(port);

	facts->name[0] = 0;
	facts->pkeys.n = 0;
	if (pass->needs.names && node->print_desc)
		triad_fabric_clean_name(facts->name, node->print_desc);
	if (pass->needs.pkeys)
		triad_physp_read_pkeys(speaker, &facts->pkeys);
	facts->port = (struct triad_scopes_port){
		.guid = cl_ntoh64(osm_physp_get_port_guid(speaker)),
		.node_name = facts->name,
		.pkeys = facts->pkeys.keys,
		.n_pkeys = triad_physp_n_used(&facts->pkeys),
		.node_type = osm_node_get_type(node),
		.number = osm_physp_get_port_num(port),
		.is_self = osm_physp_get_port_guid(speaker) ==
			pass->osm->subn.sm_port_guid,
	};
}

/* Finds the memo of 'key'; true: it is filled in for this pass. */
static bool find_memo(struct triad_tables_pass *pass, const void *key,
	struct triad_tables_pass_memo **memo)
{
	uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);

	/* Each key has one slot, where it replaces another key; that one is then looked
	 * up again. */
	*memo = &pass->memo[hash >> 32 & (TRIAD_TABLES_PASS_MEMO_SIZE - 1)];
	if ((*memo)->key == key && (*memo)->pass == pass->number)
		return true;
	**memo = (struct triad_tables_pass_memo){.key = key, .pass = pass->number};
	return false;
}

static uint32_t class_of_port(struct triad_tables_pass *pass, const osm_physp_t *port)
{
	struct triad_tables_pass_memo *memo;
	struct facts facts;

	if (find_memo(pass, port, &memo))
		return memo->class;
	read_facts(pass, port, &facts);
	memo->class = triad_scopes_class(pass->scopes, &facts.port);
	return memo->class;
}

/* The class that all ports of the switch share; the port's own if they may differ. */
static uint32_t class_of_switch(struct triad_tables_pass *pass, const osm_physp_t *port)
{
	struct triad_tables_pass_memo *memo;
	struct facts facts;

	if (!find_memo(pass, port->p_node, &memo)) {
		read_facts(pass, port, &facts);
		memo->is_apart = triad_scopes_ports_differ(pass->scopes, facts.name);
		if (!memo->is_apart)
			memo->class = triad_scopes_class(pass->scopes, &facts.port);
	}
	return memo->is_apart ? class_of_port(pass, port) : memo->class;
}

/* 'port' may be NULL: no port, in no group. */
static uint32_t class_of(struct triad_tables_pass *pass, const osm_physp_t *port)
{
	if (!port || !port->p_node)
		return TRIAD_SCOPES_NO_CLASS;
	return osm_node_get_type(port->p_node) == IB_NODE_TYPE_SWITCH
		? class_of_switch(pass, port)
		: class_of_port(pass, port);
}

struct triad_scopes_end triad_tables_pass_end_of(
	struct triad_tables_pass *pass, const osm_physp_t *port)
{
	return (struct triad_scopes_end){
		.own = class_of(pass, port),
		.remote = pass->needs.links ? class_of(pass, osm_physp_get_remote(port))
					    : TRIAD_SCOPES_NO_CLASS,
		.number = osm_physp_get_port_num(port),
	};
}

void triad_tables_pass_look_at(struct triad_tables_pass *pass, osm_node_t *node)
{
	struct triad_tables_pass_view *view = &pass->view;
	unsigned n = osm_node_get_num_physp(node);

	/* OpenSM asks for all tables of a node in a row, so the last view is kept. */
	if (view->node == node)
		return;
	view->node = node;
	view->out = NULL;
	view->had_turn = false;
	view->n = n < TRIAD_SCOPES_MAX_PORTS ? n : TRIAD_SCOPES_MAX_PORTS;
	view->last_up = 0;
	for (unsigned i = 0; i < view->n; i++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(node, i);

		view->ends[i] = (struct triad_scopes_end){.number = (uint8_t)i};
		if (port && pass->scopes)
			view->ends[i] = triad_tables_pass_end_of(pass, port);
		if (port && osm_physp_get_port_state(port) != IB_LINK_DOWN)
			view->last_up = i;
	}
	if (pass->scopes)
		triad_scopes_sort_ports(
			pass->scopes, view->ends, view->n, &view->kinds);
}

void triad_tables_pass_look_at_out(
	struct triad_tables_pass *pass, const osm_physp_t *out)
{
	struct triad_tables_pass_view *view = &pass->view;

	if (view->out == out)
		return;
	view->out = out;
	triad_scopes_sl2vl_row(pass->scopes, view->ends, &view->kinds,
		&view->ends[osm_physp_get_port_num(out)], view->row);
}

static uint8_t vl_cap(const osm_physp_t *port)
{
	return ib_port_info_get_vl_cap(&port->port_info);
}

uint8_t triad_tables_pass_op_vls(
	const struct triad_tables_pass *pass, const osm_physp_t *port)
{
	const osm_physp_t *remote = osm_physp_get_remote(port);
	uint8_t now = ib_port_info_get_op_vls(&port->port_info), code = now;

	/* Compute as OpenSM sets OperationalVLs: what both ends support, at most
	 * 'max_op_vls'. */
	if (remote)
		code = vl_cap(port) < vl_cap(remote) ? vl_cap(port) : vl_cap(remote);
	if (!code)
		code = 1;
	if (pass->qos.max_op_vls && pass->qos.max_op_vls < code)
		code = pass->qos.max_op_vls;
	/* Some devices use fewer VLs than the SM has set. */
	if (osm_physp_get_port_state(port) == IB_LINK_ACTIVE && now && now < code)
		code = now;
	return code;
}
