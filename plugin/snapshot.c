/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/snapshot.h"

#include <errno.h>
#include <opensm/osm_partition.h>
#include <stdio.h>
#include <string.h>

#include "ib/link.h"
#include "ib/rates.h"
#include "plugin/physp.h"
#include "plugin/qos/tables/hooks.h"
#include "triad/clock.h"

#ifndef IB_PORT_CAP2_IS_LINK_SPEED_NDR_SUPPORTED /* from 3.3.24 on */
#define IB_PORT_CAP2_IS_LINK_SPEED_NDR_SUPPORTED CL_HTON16(0x0400)
#endif

#define MAX_MFT_BLOCKS ((int)(TRIAD_FABRIC_MAX_MLIDS / IB_MCAST_BLOCK_SIZE))

struct snapshot {
	struct osm_opensm *osm;
	struct triad_fabric_builder *builder;
	struct triad_fabric_sa sa;
	struct triad_fabric_qos qos;
	struct triad_physp_pkeys ours; /* of the SM's port */
	uint16_t our_lid;
	/* Of the node read last: its key in OpenSM's map; 0: none. */
	uint64_t last_guid;
	bool done;
	bool canceled;
	uint64_t longest_us;
};

/* The SL of MADs to a port in the partition of 'pkey': the partition's, unless the
 * routing engine chooses another, as for a PathRecord. */
static uint8_t choose_sl(const struct snapshot *snapshot, uint16_t pkey, uint16_t lid)
{
	osm_subn_t *subn = &snapshot->osm->subn;
	const struct osm_routing_engine *engine = snapshot->osm->routing_engine_used;
	const osm_prtn_t *partition;
	uint8_t sl = OSM_DEFAULT_SL;

	partition = (const osm_prtn_t *)cl_qmap_get(
		&subn->prtn_pkey_tbl, cl_hton16(pkey & 0x7fff));
	if ((const cl_map_item_t *)partition != cl_qmap_end(&subn->prtn_pkey_tbl))
		sl = partition->sl;
	if (engine && engine->path_sl && lid && snapshot->our_lid)
		sl = engine->path_sl(engine->context, sl, cl_hton16(snapshot->our_lid),
			cl_hton16(lid));
	return sl & 0xf;
}

/* The SL of MADs from the SM's port to this one, in the partition in which they will be
 * sent (ib/partitions.h). */
static uint8_t choose_path_sl(
	const struct snapshot *snapshot, const osm_physp_t *end, uint16_t lid)
{
	struct triad_physp_pkeys theirs;
	int index;

	triad_physp_read_pkeys(end, &theirs);
	index = triad_pkey_match(
		snapshot->ours.keys, snapshot->ours.n, theirs.keys, theirs.n);
	return choose_sl(
		snapshot, index < 0 ? 0xffff : snapshot->ours.keys[index], lid);
}

static void add_sl2vl(const struct snapshot *snapshot, const osm_physp_t *physp)
{
	size_t n = cl_ptr_vector_get_size(&physp->slvl_by_port);

	/* OpenSM reads and writes these tables only with QoS. */
	if (!snapshot->osm->subn.opt.qos)
		return;
	for (size_t in = 0; in < n; in++) {
		const ib_slvl_table_t *table =
			cl_ptr_vector_get(&physp->slvl_by_port, (uint32_t)in);
		struct triad_sl2vl row = {{0}};

		for (unsigned i = 0; table && i < sizeof(row.vl); i++)
			row.vl[i] = table->raw_vl_by_sl[i];
		triad_fabric_builder_add_sl2vl(snapshot->builder, &row);
	}
}

static void add_vlarb(const struct snapshot *snapshot, const osm_physp_t *physp)
{
	const ib_port_info_t *info = &physp->port_info;
	const uint8_t caps[] = {info->vl_arb_low_cap, info->vl_arb_high_cap};
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];

	if (!snapshot->osm->subn.opt.qos)
		return;
	for (unsigned table = 0; table < 2; table++) {
		unsigned n = triad_vlarb_cap(caps[table]);

		for (unsigned i = 0; i < n; i++) {
			const ib_vl_arb_table_t *block = &physp->vl_arb[2 * table +
				i / IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK];
			unsigned at = i % IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK;

			entries[i].vl = block->vl_entry[at].vl;
			entries[i].weight = block->vl_entry[at].weight;
		}
		triad_fabric_builder_add_vlarb(snapshot->builder, entries, n);
	}
}

static bool answers_for_counters(
	const osm_node_t *node, const osm_physp_t *physp, uint16_t lid)
{
	if (!lid)
		return false;
	if (osm_node_get_type(node) != IB_NODE_TYPE_SWITCH)
		return osm_physp_get_port_state(physp) >= IB_LINK_INIT;
	/* Only an enhanced port 0 has counters. */
	return osm_physp_get_port_num(physp) ||
		(node->sw && ib_switch_info_is_enhanced_port0(&node->sw->switch_info));
}

static uint8_t rate_caps(const osm_physp_t *physp)
{
	const ib_port_info_t *info = &triad_physp_with_capabilities(physp)->port_info;
	uint8_t caps = 0;

	if (info->capability_mask & IB_PORT_CAP_HAS_EXT_SPEEDS)
		caps |= TRIAD_RATE_CAP_EXTENDED;
	if (!(info->capability_mask & IB_PORT_CAP_HAS_CAP_MASK2))
		return caps;
	caps |= TRIAD_RATE_CAP_MASK2;
	if (info->capability_mask2 & IB_PORT_CAP2_IS_LINK_WIDTH_2X_SUPPORTED)
		caps |= TRIAD_RATE_CAP_2X;
	if (info->capability_mask2 & IB_PORT_CAP2_IS_LINK_SPEED_HDR_SUPPORTED)
		caps |= TRIAD_RATE_CAP_HDR;
	if (info->capability_mask2 & IB_PORT_CAP2_IS_LINK_SPEED_NDR_SUPPORTED)
		caps |= TRIAD_RATE_CAP_NDR;
	return caps;
}

/* Of a held port, OpenSM's copy of the state is DOWN (plugin/ports/hold.h), while the
 * physical state remains true. */
static bool is_held(const osm_physp_t *physp)
{
	return osm_physp_get_port_state(physp) == IB_LINK_DOWN &&
		ib_port_info_get_port_phys_state(&physp->port_info) ==
		IB_PORT_PHYS_STATE_LINKUP;
}

/* OpenSM takes a speed that it does not know, NDR up to 3.3.23 and XDR, for what
 * LinkSpeedActive says. */
static void set_rate(const ib_port_info_t *info, struct triad_fabric_port *port)
{
	uint8_t rate = triad_rate_of_link(triad_link_rate_active(port));

	port->rate = ib_port_info_compute_rate(
		info, port->rate_caps & TRIAD_RATE_CAP_EXTENDED);
	if (!port->speed_ext || triad_rate_rank(port->rate) >= triad_rate_rank(rate))
		return;
	port->rate = rate;
	port->source_speed = port->speed;
}

static void add_physical_port(const struct snapshot *snapshot, osm_node_t *node,
	osm_physp_t *physp, const struct triad_fabric_port *own)
{
	const ib_port_info_t *info = &physp->port_info;
	const osm_physp_t *remote = osm_physp_get_remote(physp);
	struct triad_fabric_port port = {
		.guid = cl_ntoh64(osm_physp_get_port_guid(physp)),
		.lid = own->lid,
		.sl = own->sl,
		.sm_sl = ib_port_info_get_master_smsl(info),
		.lmc = own->lmc,
		.number = osm_physp_get_port_num(physp),
		.state = is_held(physp) ? TRIAD_PORT_INIT
					: osm_physp_get_port_state(physp),
		.is_held = is_held(physp),
		.phys_state = ib_port_info_get_port_phys_state(info),
		.mtu = ib_port_info_get_neighbor_mtu(info),
		.mtu_cap = ib_port_info_get_mtu_cap(info),
		.rate_caps = rate_caps(physp),
		.needs_m_key = ib_port_info_get_mpb(info) > TRIAD_M_KEY_GUARDS_SETS,
		.has_pma = answers_for_counters(node, physp, own->lid),
		.has_sl2vl = triad_physp_with_capabilities(physp)
				     ->port_info.capability_mask &
			IB_PORT_CAP_HAS_SL_MAP,
		.vl_cap = ib_port_info_get_vl_cap(info),
		.op_vls = ib_port_info_get_op_vls(info),
		.vlarb_low_cap = triad_vlarb_cap(info->vl_arb_low_cap),
		.vlarb_high_cap = triad_vlarb_cap(info->vl_arb_high_cap),
		.high_limit = info->vl_high_limit,
	};
	struct triad_physp_pkeys pkeys;
	uint64_t remote_guid = 0;
	uint8_t remote_number = 0;

	triad_link_read((const uint8_t *)info, &port);
	set_rate(info, &port);
	if (remote && remote->p_node) {
		remote_guid = cl_ntoh64(osm_node_get_node_guid(remote->p_node));
		remote_number = osm_physp_get_port_num(remote);
	}
	triad_fabric_builder_add_port(
		snapshot->builder, &port, remote_guid, remote_number);
	triad_physp_read_pkeys(physp, &pkeys);
	triad_fabric_builder_add_pkeys(
		snapshot->builder, pkeys.keys, triad_physp_n_used(&pkeys));
	add_sl2vl(snapshot, physp);
	add_vlarb(snapshot, physp);
}

/* A block has 32 multicast LIDs and 16 ports; the fabric needs all ports of a multicast
 * LID together. */
static void add_mft(const struct snapshot *snapshot, osm_switch_t *sw)
{
	uint16_t masks[TRIAD_FABRIC_MAX_MLIDS * (IB_MCAST_POSITION_MAX + 1)] = {0};
	unsigned width = sw->num_ports / IB_MCAST_MASK_SIZE + 1u;
	int last = osm_mcast_tbl_get_max_block_in_use(&sw->mcast_tbl);
	bool is_cut = last >= MAX_MFT_BLOCKS;
	unsigned n_blocks = is_cut ? MAX_MFT_BLOCKS : (unsigned)(last + 1);

	if (last < 0 || width > IB_MCAST_POSITION_MAX + 1)
		return;
	for (unsigned block = 0; block < n_blocks; block++)
		for (unsigned position = 0; position < width; position++) {
			ib_net16_t of[IB_MCAST_BLOCK_SIZE];

			if (!osm_mcast_tbl_get_block(&sw->mcast_tbl, (int16_t)block,
				    (uint8_t)position, of))
				continue;
			for (unsigned i = 0; i < IB_MCAST_BLOCK_SIZE; i++)
				masks[(block * IB_MCAST_BLOCK_SIZE + i) * width +
					position] = cl_ntoh16(of[i]);
		}
	triad_fabric_builder_add_mft(snapshot->builder, masks,
		n_blocks * IB_MCAST_BLOCK_SIZE * width, (uint8_t)width, is_cut);
}

static void add_opensm_node(const struct snapshot *snapshot, osm_node_t *node)
{
	const osm_switch_t *sw = node->sw;
	uint32_t lft_size = 0;
	bool is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	struct triad_fabric_node added = {
		.guid = cl_ntoh64(osm_node_get_node_guid(node)),
		.vendor_id = cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info)),
		.device_id = cl_ntoh16(node->node_info.device_id),
		.type = osm_node_get_type(node),
		.enhanced_port0 =
			sw && ib_switch_info_is_enhanced_port0(&sw->switch_info),
		.optimized_sl2vl =
			sw && ib_switch_info_get_opt_sl2vlmapping(&sw->switch_info),
	};
	struct triad_fabric_port own = {0};

	/* Use the table that routing has just computed, as OpenSM's own answers do;
	 * switches confirm it only later. */
	if (sw && sw->new_lft) {
		lft_size = (uint32_t)sw->max_lid_ho + 1;
		if (lft_size > sw->lft_size)
			lft_size = sw->lft_size;
	}
	triad_fabric_builder_add_node(snapshot->builder, &added, node->print_desc,
		sw ? sw->new_lft : NULL, lft_size);
	if (node->sw)
		add_mft(snapshot, node->sw);
	for (uint32_t i = 0; i < osm_node_get_num_physp(node); i++) {
		osm_physp_t *physp = osm_node_get_physp_ptr(node, i);

		if (!physp)
			continue;
		/* A switch has its LID and its P_Keys at port 0. */
		if (i == 0 || !is_switch) {
			own.lid = cl_ntoh16(osm_physp_get_base_lid(physp));
			own.lmc = osm_physp_get_lmc(physp);
			own.sl = choose_path_sl(snapshot, physp, own.lid);
		}
		add_physical_port(snapshot, node, physp, &own);
	}
}

/* Reads nodes for TRIAD_SNAPSHOT_HOLD_US at most. */
static void read_some(struct snapshot *snapshot)
{
	cl_qmap_t *nodes = &snapshot->osm->subn.node_guid_tbl;
	uint64_t begun_us, held_us;
	cl_map_item_t *item;

	cl_plock_acquire(&snapshot->osm->lock);
	begun_us = triad_clock_now_us();
	/* Continue by the key: the node itself may have been removed since the last
	 * piece. */
	item = snapshot->last_guid ? cl_qmap_get_next(nodes, snapshot->last_guid)
				   : cl_qmap_head(nodes);
	do {
		/* OpenSM frees its routing engines, without a lock, some steps after
		 * it has raised this flag; add_opensm_node() may ask one of them. */
		snapshot->canceled = osm_exit_flag;
		if (snapshot->canceled || item == cl_qmap_end(nodes)) {
			snapshot->done = true;
			break;
		}
		add_opensm_node(snapshot, (osm_node_t *)item);
		snapshot->last_guid = cl_qmap_key(item);
		item = cl_qmap_next(item);
	} while (triad_clock_now_us() - begun_us < TRIAD_SNAPSHOT_HOLD_US);
	held_us = triad_clock_now_us() - begun_us;
	cl_plock_release(&snapshot->osm->lock);
	if (held_us > snapshot->longest_us)
		snapshot->longest_us = held_us;
}

static void read_partitions(struct snapshot *snapshot)
{
	cl_qmap_t *partitions = &snapshot->osm->subn.prtn_pkey_tbl;

	for (cl_map_item_t *item = cl_qmap_head(partitions);
		item != cl_qmap_end(partitions); item = cl_qmap_next(item)) {
		const osm_prtn_t *partition = (const osm_prtn_t *)item;
		char name[sizeof(partition->name) + 1] = "";

		memcpy(name, partition->name, sizeof(partition->name));
		triad_fabric_builder_add_partition(snapshot->builder,
			cl_ntoh16(partition->pkey), partition->sl, name);
	}
}

/* OpenSM also lists ports' own GUIDs as aliases; these are known already. */
static void read_aliases(struct snapshot *snapshot)
{
	cl_qmap_t *aliases = &snapshot->osm->subn.alias_port_guid_tbl;

	if (cl_qmap_count(aliases) == cl_qmap_count(&snapshot->osm->subn.port_guid_tbl))
		return;
	for (cl_map_item_t *item = cl_qmap_head(aliases); item != cl_qmap_end(aliases);
		item = cl_qmap_next(item)) {
		const osm_alias_guid_t *alias = (const osm_alias_guid_t *)item;
		ib_net64_t base = osm_port_get_guid(alias->p_base_port);

		if (alias->alias_guid != base)
			triad_fabric_builder_add_alias(snapshot->builder,
				cl_ntoh64(alias->alias_guid), cl_ntoh64(base));
	}
}

/* The highest rate code that OpenSM puts into answers; 0: any. */
static uint8_t rate_limit(const osm_subn_opt_t *opt)
{
#ifdef HAVE_OSM_SUBN_OPT_T_MAX_RATE_ENUM /* from 3.3.24 on */
	return opt->max_rate_enum < SA_RATE_MAX_ENUM ? opt->max_rate_enum : 0;
#else
	(void)opt;
	return 0;
#endif
}

static struct triad_fabric_sa read_sa(const struct osm_opensm *osm)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	const struct osm_routing_engine *engine = osm->routing_engine_used;

	struct triad_fabric_sa sa = {
		.subnet_prefix = cl_ntoh64(opt->subnet_prefix),
		.subnet_timeout = opt->subnet_timeout,
		.lmc = opt->lmc,
		.qos = opt->qos,
		.allow_both_pkeys = opt->allow_both_pkeys,
		.quirks = opt->enable_quirks,
		.original_rates = opt->use_original_extended_sa_rates_only,
		.rate_limit = rate_limit(opt),
	};

	if (!osm_exit_flag && osm->routing_engine_list)
		snprintf(sa.engine_wanted, sizeof(sa.engine_wanted), "%s",
			osm_routing_engine_type_str(osm->routing_engine_list->type));
	if (!osm_exit_flag && engine) {
		sa.engine_has_sl = engine->path_sl;
		snprintf(sa.engine, sizeof(sa.engine), "%s",
			osm_routing_engine_type_str(engine->type));
	}
	return sa;
}

/* Reads what exists once: the SM's own port, partitions and aliases.  These are
 * hundreds at most, so it takes the lock only once. */
static void read_once(struct snapshot *snapshot)
{
	osm_subn_t *subn = &snapshot->osm->subn;
	const osm_port_t *port;

	cl_plock_acquire(&snapshot->osm->lock);
	snapshot->sa = read_sa(snapshot->osm);
	snapshot->qos.engine_has_tables = triad_hooks_has_other(snapshot->osm);
	read_partitions(snapshot);
	read_aliases(snapshot);
	port = osm_get_port_by_guid(subn, subn->sm_port_guid);
	if (port && port->p_physp) {
		triad_physp_read_pkeys(port->p_physp, &snapshot->ours);
		snapshot->our_lid = cl_ntoh16(osm_physp_get_base_lid(port->p_physp));
	}
	cl_plock_release(&snapshot->osm->lock);
}

int triad_snapshot_take(struct osm_opensm *osm, const struct triad_fabric *like,
	const struct triad_fabric_qos *defaults, const atomic_ulong *sweeps_begun,
	struct triad_fabric **fabric)
{
	static atomic_ulong generations;
	struct snapshot snapshot = {.osm = osm, .qos = *defaults};
	unsigned long sweeps_before = atomic_load(sweeps_begun);
	int error;

	snapshot.builder = triad_fabric_builder_new(like);
	if (!snapshot.builder)
		return ENOMEM;
	/* Take the lock once for each piece, and allocate memory outside of it, so that
	 * OpenSM never waits long.  If a sweep begins in between, the copy is not
	 * consistent. */
	read_once(&snapshot);
	while (!snapshot.done) {
		triad_fabric_builder_prepare(snapshot.builder);
		read_some(&snapshot);
	}
	if (snapshot.canceled)
		error = ECANCELED;
	else if (!snapshot.last_guid)
		error = ENODATA;
	else
		error = triad_fabric_build(
			snapshot.builder, cl_ntoh64(osm->subn.sm_port_guid), fabric);
	triad_fabric_builder_free(snapshot.builder);
	if (error)
		return error;
	(*fabric)->generation = atomic_fetch_add(&generations, 1) + 1;
	(*fabric)->taken_us = triad_clock_now_us();
	(*fabric)->lock_us = snapshot.longest_us;
	(*fabric)->sa = snapshot.sa;
	(*fabric)->qos = snapshot.qos;
	(*fabric)->consistent = atomic_load(sweeps_begun) == sweeps_before;
	return 0;
}
