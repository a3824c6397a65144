/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <string.h>

#include "plugin/qos/tables/pass_parts.h"

/* Bits in the modifier of SL2VL SMPs, for switches that support them [IBA 14.2.5.8]. */
#define ALL_OUT 0x10000u
#define ALL_IN 0x20000u

#define LOOKED_AHEAD 8 /* ports of the subnet */

/* --- passing over --- */

static bool has_arbitration(const osm_physp_t *port)
{
	const ib_port_info_t *info = &port->port_info;

	return ib_port_info_get_vl_cap(info) > 1 &&
		(info->vl_arb_low_cap || info->vl_arb_high_cap);
}

static bool is_up(const osm_physp_t *port)
{
	return port && osm_physp_get_port_state(port) != IB_LINK_DOWN;
}

/* A base port 0 has no tables of its own. */
static bool has_port0(const osm_node_t *node)
{
	return ib_switch_info_is_enhanced_port0(&node->sw->switch_info);
}

/* True when OpenSM will ask about the arbitration of the port 0 itself. */
static bool asks_about_port0(osm_node_t *node)
{
	return has_port0(node) && has_arbitration(osm_node_get_physp_ptr(node, 0));
}

static bool asks_about(const osm_port_t *port)
{
	osm_node_t *node = port->p_node;

	if (!node->sw)
		return has_arbitration(port->p_physp);
	for (unsigned i = 1; i < osm_node_get_num_physp(node); i++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(node, i);

		if (is_up(physp) && has_arbitration(physp))
			return true;
	}
	return asks_about_port0(node);
}

/* Whether OpenSM will certainly call a hook again in this pass after the SL2VL tables
 * of the switch's outer ports.  OpenSM walks in the order of port GUIDs. */
static bool asks_again(const struct triad_tables_pass *pass, osm_node_t *node)
{
	cl_qmap_t *ports = &pass->osm->subn.port_guid_tbl;
	const osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);
	const cl_map_item_t *item = cl_qmap_get(ports, osm_physp_get_port_guid(port0));

	if (asks_about_port0(node))
		return true;
	for (unsigned i = 0; i < LOOKED_AHEAD && item != cl_qmap_end(ports); i++) {
		item = cl_qmap_next(item);
		if (item != cl_qmap_end(ports) && asks_about((const osm_port_t *)item))
			return true;
	}
	return false;
}

void triad_tables_pass_put_back(struct triad_tables_pass *pass)
{
	osm_physp_t *port0;

	if (!pass->hidden)
		return;
	port0 = osm_node_get_physp_ptr(pass->hidden, 0);
	port0->port_info.capability_mask |= IB_PORT_CAP_HAS_SL_MAP;
	pass->hidden = NULL;
}

/* --- tables --- */

struct triad_sl2vl triad_tables_pass_cut(
	const osm_physp_t *port, const struct triad_sl2vl *table)
{
	uint8_t mask = triad_tables_pass_vl_mask(port);
	struct triad_sl2vl cut;

	for (unsigned i = 0; i < sizeof(cut.vl); i++) {
		uint8_t high = table->vl[i] >> 4, low = table->vl[i] & 0xf;

		/* Keep VL 15, which means "drop" here. */
		high = high == 15 ? 15 : high & mask;
		low = low == 15 ? 15 : low & mask;
		cut.vl[i] = (uint8_t)(high << 4 | low);
	}
	return cut;
}

/* The desired tables of one out-port, one for each kind of in-port.  'own': from
 * in-port 0 to an enhanced port 0. */
struct desired {
	unsigned n;
	struct triad_sl2vl tables[TRIAD_SCOPES_MAX_PORTS];
	struct triad_sl2vl own;
};

static const struct triad_sl2vl *desired_sl2vl(const struct triad_tables_pass *pass,
	unsigned kind, uint8_t op_vls, enum triad_qos_port_kind port_kind)
{
	uint16_t scope = pass->scopes ? pass->view.row[kind] : TRIAD_SCOPE_NONE;

	return scope == TRIAD_SCOPE_NONE
		? &pass->qos.defaults[port_kind].sl2vl
		: triad_setup_sl2vl(pass->setup, scope, op_vls);
}

static void find_desired(
	struct triad_tables_pass *pass, const osm_physp_t *out, struct desired *desired)
{
	const struct triad_tables_pass_view *view = &pass->view;
	uint8_t op_vls = triad_tables_pass_op_vls(pass, out);

	if (pass->scopes)
		triad_tables_pass_look_at_out(pass, out);
	desired->n = pass->scopes ? view->kinds.n_kinds : 1;
	for (unsigned kind = 0; kind < desired->n; kind++)
		desired->tables[kind] = triad_tables_pass_cut(
			out, desired_sl2vl(pass, kind, op_vls, TRIAD_QOS_PORT_SWITCH));
	if (!osm_physp_get_port_num(out))
		desired->own = triad_tables_pass_cut(out,
			desired_sl2vl(pass, pass->scopes ? view->kinds.kind[0] : 0,
				op_vls, TRIAD_QOS_PORT_SWITCH0));
}

static const struct triad_sl2vl *desired_of(const struct triad_tables_pass *pass,
	const struct desired *desired, const osm_physp_t *out, unsigned in)
{
	if (!in && !osm_physp_get_port_num(out))
		return &desired->own;
	return &desired->tables[pass->scopes ? pass->view.kinds.kind[in] : 0];
}

static ib_slvl_table_t *known(const osm_physp_t *out, unsigned in)
{
	return osm_physp_get_slvl_tbl(out, (uint8_t)in);
}

static bool is_right(const struct triad_tables_pass *pass,
	const struct desired *desired, const osm_physp_t *out)
{
	for (unsigned in = 0; in < pass->view.n; in++)
		if (memcmp(known(out, in)->raw_vl_by_sl,
			    desired_of(pass, desired, out, in)->vl,
			    sizeof(desired->own.vl)))
			return false;
	return true;
}

static unsigned first_out(const osm_node_t *node)
{
	return has_port0(node) ? 0 : 1;
}

/* OpenSM writes all tables of such a port anew. */
static bool is_forced(const struct triad_tables_pass *pass, const osm_physp_t *port)
{
	return pass->osm->subn.need_update || port->need_update;
}

static bool switch_is_right(struct triad_tables_pass *pass, osm_node_t *node)
{
	struct desired desired;

	for (unsigned i = first_out(node); i < pass->view.n; i++) {
		const osm_physp_t *out = osm_node_get_physp_ptr(node, i);

		if (!is_up(out))
			continue;
		if (is_forced(pass, out))
			return false;
		find_desired(pass, out, &desired);
		if (!is_right(pass, &desired, out))
			return false;
	}
	return true;
}

/* --- few SMPs --- */

static void send_smp(struct triad_tables_pass *pass, osm_node_t *node,
	const osm_physp_t *out, uint32_t modifier, const struct triad_sl2vl *table)
{
	osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);
	osm_madw_context_t context = {0};

	context.slvl_context.node_guid = osm_node_get_node_guid(node);
	context.slvl_context.port_guid = osm_physp_get_port_guid(port0);
	context.slvl_context.set_method = TRUE;
	if (osm_req_set(&pass->osm->sm, osm_physp_get_dr_path_ptr(out), table->vl,
		    sizeof(table->vl), IB_MAD_ATTR_SLVL_TABLE, cl_hton32(modifier),
		    FALSE, ib_port_info_get_m_key(&port0->port_info),
		    pass->osm->subn.opt.long_transaction_timeout, CL_DISP_MSGID_NONE,
		    &context) == IB_SUCCESS)
		pass->counts.n_smps++;
}

/* Sends a table for all in-ports, with the other bits of 'modifier'.  "All" excludes a
 * base port 0 [IBA 14.2.5.8; osm_slvl_rcv_process()]: its tables, for packets of the
 * switch itself, need another SMP. */
static void send_for_all_in(struct triad_tables_pass *pass, osm_node_t *node,
	const osm_physp_t *out, uint32_t modifier, const struct triad_sl2vl *table)
{
	send_smp(pass, node, out, ALL_IN | modifier, table);
	if (!has_port0(node))
		send_smp(pass, node, out, modifier, table);
}

/* Clears OpenSM's copy of a table that was sent; the answer fills it in.  Without an
 * answer it differs in the next sweep, which sends it again. */
static void forget_table(const osm_physp_t *out, unsigned in)
{
	memset(known(out, in), 0, sizeof(ib_slvl_table_t));
}

/* The desired table that all in-ports of 'out' share, or NULL. */
static const struct triad_sl2vl *common_of(
	const struct desired *desired, const osm_physp_t *out)
{
	for (unsigned kind = 1; kind < desired->n; kind++)
		if (memcmp(&desired->tables[kind], &desired->tables[0],
			    sizeof(desired->tables[0])))
			return NULL;
	if (!osm_physp_get_port_num(out) &&
		memcmp(&desired->own, &desired->tables[0], sizeof(desired->own)))
		return NULL;
	return &desired->tables[0];
}

/* Finds the desired table of the whole switch; false: there are several. */
static bool find_common(
	struct triad_tables_pass *pass, osm_node_t *node, struct triad_sl2vl *common)
{
	bool found = false;
	struct desired desired;

	for (unsigned i = first_out(node); i < pass->view.n; i++) {
		const osm_physp_t *out = osm_node_get_physp_ptr(node, i);
		const struct triad_sl2vl *table;

		if (!is_up(out))
			continue;
		find_desired(pass, out, &desired);
		table = common_of(&desired, out);
		if (!table || (found && memcmp(table, common, sizeof(*common))))
			return false;
		*common = *table;
		found = true;
	}
	return found;
}

static void forget_all(struct triad_tables_pass *pass, osm_node_t *node)
{
	for (unsigned i = first_out(node); i < pass->view.n; i++) {
		const osm_physp_t *out = osm_node_get_physp_ptr(node, i);

		for (unsigned in = 0; is_up(out) && in < pass->view.n; in++)
			forget_table(out, in);
	}
}

static void send_out(struct triad_tables_pass *pass, osm_node_t *node,
	const osm_physp_t *out, const struct desired *desired, bool forced)
{
	const struct triad_sl2vl *common = common_of(desired, out);
	uint32_t number = osm_physp_get_port_num(out);

	if (common)
		send_for_all_in(pass, node, out, number, common);
	for (unsigned in = 0; in < pass->view.n; in++) {
		const struct triad_sl2vl *table = desired_of(pass, desired, out, in);

		if (!common && !forced &&
			!memcmp(known(out, in)->raw_vl_by_sl, table->vl,
				sizeof(table->vl)))
			continue;
		if (!common)
			send_smp(pass, node, out, in << 8 | number, table);
		forget_table(out, in);
	}
}

static void send_few(struct triad_tables_pass *pass, osm_node_t *node)
{
	struct triad_sl2vl common;
	struct desired desired;

	/* Send one SMP for the whole switch; or one for each out-port whose in-ports
	 * are alike, and one for each other table that differs. */
	if (find_common(pass, node, &common)) {
		send_for_all_in(pass, node,
			osm_node_get_physp_ptr(node, pass->view.last_up), ALL_OUT,
			&common);
		forget_all(pass, node);
		return;
	}
	for (unsigned i = first_out(node); i < pass->view.n; i++) {
		const osm_physp_t *out = osm_node_get_physp_ptr(node, i);

		if (!is_up(out))
			continue;
		find_desired(pass, out, &desired);
		if (is_forced(pass, out) || !is_right(pass, &desired, out))
			send_out(pass, node, out, &desired, is_forced(pass, out));
	}
}

/* --- the turn --- */

/* With 255 outer ports OpenSM's walk through "all", in octets, would not end. */
static bool takes_few(const struct triad_tables_pass *pass, const osm_node_t *node)
{
	return pass->qos.optimized && pass->view.n < TRIAD_SCOPES_MAX_PORTS &&
		ib_switch_info_get_opt_sl2vlmapping(&node->sw->switch_info);
}

void triad_tables_pass_step(struct triad_tables_pass *pass, osm_node_t *node)
{
	osm_physp_t *port0 = osm_node_get_physp_ptr(node, 0);

	/* Do it once: OpenSM asks for each block of arbitration of the last port. */
	if (pass->view.had_turn)
		return;
	pass->view.had_turn = true;
	/* Don't skip tables that the routing engine has to decide about one by one. */
	if (!port0 || pass->keeps || pass->engine.sl2vl || pass->engine.vlarb ||
		!(port0->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP) ||
		!asks_again(pass, node))
		return;
	if (!switch_is_right(pass, node)) {
		if (!takes_few(pass, node))
			return; /* OpenSM sends the tables */
		send_few(pass, node);
	}
	/* OpenSM sees a switch without SL2VL tables, until put_back(). */
	port0->port_info.capability_mask &= ~IB_PORT_CAP_HAS_SL_MAP;
	pass->hidden = node;
}
