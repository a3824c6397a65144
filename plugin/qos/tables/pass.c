/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/tables/pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/qos/partitions.h"
#include "plugin/qos/tables/osm_defaults.h"
#include "plugin/qos/tables/pass_parts.h"

/* --- life --- */

struct triad_tables_pass *triad_tables_pass_new(struct osm_opensm *osm)
{
	struct triad_tables_pass *pass = calloc(1, sizeof(*pass));

	if (pass)
		pass->osm = osm;
	return pass;
}

static void drop_setup(struct triad_tables_pass *pass)
{
	triad_scopes_free(pass->scopes);
	triad_setup_unref(pass->setup);
	pass->scopes = NULL;
	pass->setup = NULL;
}

void triad_tables_pass_free(struct triad_tables_pass *pass)
{
	if (!pass)
		return;
	drop_setup(pass);
	free(pass);
}

/* --- begin and end --- */

static int use_setup(struct triad_tables_pass *pass, struct triad_setup *setup)
{
	struct triad_fabric_partition *partitions;
	uint32_t n;
	int error;

	if (setup != pass->setup) {
		drop_setup(pass);
		pass->scopes = setup ? triad_scopes_new(setup) : NULL;
		if (pass->scopes)
			pass->setup = triad_setup_ref(setup);
	}
	if (!setup)
		return 0;
	if (!pass->scopes)
		return ENOMEM;
	/* The setup is the same, but partitions may have changed since the last
	 * pass. */
	error = triad_partitions_read(pass->osm, &partitions, &n);
	if (error)
		return error;
	error = triad_scopes_set_partitions(pass->scopes, partitions, n);
	free(partitions);
	return error;
}

int triad_tables_pass_begin(struct triad_tables_pass *pass, struct triad_setup *setup)
{
	int error;

	/* A new number invalidates the caches of the last pass: ports and P_Keys may
	 * have changed. */
	pass->number = (pass->number + 1) & INT32_MAX;
	pass->view.node = NULL;
	pass->vlarb_port = NULL;
	pass->counts = (struct triad_tables_pass_counts){0};
	triad_osm_defaults_read(pass->osm, &pass->qos);
	pass->engine = triad_hooks_of_engine(pass->osm);
	error = use_setup(pass, setup);
	pass->keeps = error;
	if (error)
		drop_setup(pass);
	if (pass->scopes)
		pass->needs = triad_scopes_needs(pass->scopes);
	pass->counts.error = error;
	return error;
}

struct triad_tables_pass_counts triad_tables_pass_end(struct triad_tables_pass *pass)
{
	if (pass->hidden) {
		cl_plock_excl_acquire(&pass->osm->lock);
		triad_tables_pass_put_back(pass);
		cl_plock_release(&pass->osm->lock);
	}
	if (pass->scopes && !pass->counts.error)
		pass->counts.error = triad_scopes_error(pass->scopes);
	return pass->counts;
}

/* --- hooks --- */

/* Whether ports keep their tables because memory is short.  OpenSM's tables in this
 * sweep and the policy's in the next would change traffic twice. */
static bool keeps(struct triad_tables_pass *pass)
{
	if (!pass->keeps && pass->scopes)
		pass->keeps = triad_scopes_error(pass->scopes);
	return pass->keeps;
}

static bool is_known_table(const void *table, size_t size)
{
	static const uint8_t nothing[sizeof(ib_vl_arb_table_t)];

	return memcmp(table, nothing, size) != 0;
}

/* Writes the port's present table.  If that is unknown, leaves OpenSM's, so that the
 * port gets one at all. */
static void keep_sl2vl(const osm_physp_t *port, uint8_t in, ib_slvl_table_t *table)
{
	const ib_slvl_table_t *known = osm_physp_get_slvl_tbl(port, in);

	if (is_known_table(known, sizeof(*known)))
		*table = *known;
}

static void keep_vlarb(
	osm_physp_t *port, ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	size_t size = length * sizeof(block->vl_entry[0]);

	port->vl_high_limit = port->port_info.vl_high_limit;
	if (is_known_table(&port->vl_arb[index], size))
		memcpy(block, &port->vl_arb[index], size);
}

static uint16_t sl2vl_scope(
	struct triad_tables_pass *pass, osm_physp_t *port, uint8_t in)
{
	struct triad_scopes_end end;

	if (!port->p_node->sw) {
		end = triad_tables_pass_end_of(pass, port);
		return triad_scopes_endport_sl2vl(pass->scopes, &end);
	}
	triad_tables_pass_look_at(pass, port->p_node);
	triad_tables_pass_look_at_out(pass, port);
	return in < pass->view.n ? pass->view.row[pass->view.kinds.kind[in]]
				 : TRIAD_SCOPE_NONE;
}

void triad_tables_pass_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
	ib_slvl_table_t *table)
{
	struct triad_tables_pass *pass = context;
	uint16_t scope = TRIAD_SCOPE_NONE;
	struct triad_sl2vl desired, cut;

	/* OpenSM has passed the switch whose tables it had to skip: show it again. */
	triad_tables_pass_put_back(pass);
	if (pass->scopes)
		scope = sl2vl_scope(pass, port, in);
	if (keeps(pass)) {
		keep_sl2vl(port, in, table);
		return;
	}
	if (scope != TRIAD_SCOPE_NONE)
		memcpy(table->raw_vl_by_sl,
			triad_setup_sl2vl(pass->setup, scope,
				triad_tables_pass_op_vls(pass, port)),
			sizeof(table->raw_vl_by_sl));
	/* The engine decides, because it may need its VLs against deadlocks. */
	memcpy(desired.vl, table->raw_vl_by_sl, sizeof(desired.vl));
	if (pass->engine.sl2vl)
		pass->engine.sl2vl(pass->engine.context, port, in, out, table);
	if (scope != TRIAD_SCOPE_NONE &&
		memcmp(desired.vl, table->raw_vl_by_sl, sizeof(desired.vl)))
		pass->counts.n_overridden++;
	/* Compare as OpenSM does: with the table cut to the port's VLs. */
	memcpy(desired.vl, table->raw_vl_by_sl, sizeof(desired.vl));
	cut = triad_tables_pass_cut(port, &desired);
	pass->counts.n_tables++;
	if (memcmp(osm_physp_get_slvl_tbl(port, in)->raw_vl_by_sl, cut.vl,
		    sizeof(cut.vl)))
		pass->counts.n_differing++;
}

static uint16_t vlarb_scope(struct triad_tables_pass *pass, osm_physp_t *port)
{
	struct triad_scopes_end end;

	/* OpenSM asks for the blocks of a port one after the other. */
	if (pass->vlarb_port == port)
		return pass->vlarb_scope;
	if (port->p_node->sw) {
		triad_tables_pass_look_at(pass, port->p_node);
		end = pass->view.ends[osm_physp_get_port_num(port)];
	} else {
		end = triad_tables_pass_end_of(pass, port);
	}
	pass->vlarb_port = port;
	pass->vlarb_scope = triad_scopes_vlarb(pass->scopes, &end);
	return pass->vlarb_scope;
}

/* Writes the scope's entries into the block.  Blocks 0 and 1 are the low-priority
 * table, 2 and 3 the high-priority one. */
static void apply_vlarb(struct triad_tables_pass *pass, uint16_t scope,
	osm_physp_t *port, ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	bool high = index >= 2;
	const ib_port_info_t *info = &port->port_info;
	uint8_t cap =
		triad_vlarb_cap(high ? info->vl_arb_high_cap : info->vl_arb_low_cap);
	unsigned first = index % 2 * IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK;
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX] = {{0}};

	(void)triad_setup_high_limit(pass->setup, scope, &port->vl_high_limit);
	if (!triad_setup_vlarb(pass->setup, scope, high,
		    triad_tables_pass_op_vls(pass, port), cap, entries))
		return;
	for (unsigned i = 0; i < length && first + i < TRIAD_VLARB_MAX; i++) {
		block->vl_entry[i].vl = entries[first + i].vl;
		block->vl_entry[i].weight = entries[first + i].weight;
	}
}

/* Whether OpenSM will send the block, compared after VLs are cut to those of the
 * port. */
static bool block_differs(const osm_physp_t *port, const ib_vl_arb_table_t *block,
	unsigned length, unsigned index)
{
	const ib_vl_arb_table_t *known = &port->vl_arb[index];
	uint8_t mask;

	/* Mostly there is nothing to be cut. */
	if (!memcmp(block, known, length * sizeof(block->vl_entry[0])))
		return false;
	mask = triad_tables_pass_vl_mask(port);
	for (unsigned i = 0; i < length; i++)
		if ((block->vl_entry[i].vl & mask) != known->vl_entry[i].vl ||
			block->vl_entry[i].weight != known->vl_entry[i].weight)
			return true;
	return false;
}

static void answer_vlarb(struct triad_tables_pass *pass, osm_physp_t *port,
	uint8_t number, ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	uint16_t scope = TRIAD_SCOPE_NONE;

	if (pass->scopes && pass->needs.vlarb)
		scope = vlarb_scope(pass, port);
	if (keeps(pass)) {
		keep_vlarb(port, block, length, index);
		return;
	}
	if (scope != TRIAD_SCOPE_NONE)
		apply_vlarb(pass, scope, port, block, length, index);
	/* As with SL2VL tables, the routing engine decides. */
	if (pass->engine.vlarb) {
		ib_vl_arb_table_t desired = *block;

		pass->engine.vlarb(
			pass->engine.context, port, number, block, length, index);
		if (scope != TRIAD_SCOPE_NONE &&
			memcmp(&desired, block, length * sizeof(desired.vl_entry[0])))
			pass->counts.n_overridden++;
	}
	pass->counts.n_tables++;
	if (block_differs(port, block, length, index))
		pass->counts.n_differing++;
}

void triad_tables_pass_vlarb(void *context, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	struct triad_tables_pass *pass = context;
	osm_node_t *node = port->p_node;
	bool is_last;

	/* After the arbitration of its last port OpenSM continues with the switch's
	 * SL2VL tables, so handle them now (pass_switch.c).  That port may have more
	 * blocks: while OpenSM asks for these, the switch stays hidden. */
	if (node->sw)
		triad_tables_pass_look_at(pass, node);
	is_last = node->sw && number && number == pass->view.last_up;
	if (pass->hidden && !(is_last && pass->hidden == node))
		triad_tables_pass_put_back(pass);
	answer_vlarb(pass, port, number, block, length, index);
	if (is_last)
		triad_tables_pass_step(pass, node);
}
