/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/wishes.h"

#include <glib.h>
#include <malloc.h>
#include <opensm/osm_switch.h>
#include <sched.h>
#include <string.h>

#include "plugin/audit/trees.h"
#include "plugin/physp.h"
#include "qos/setup/port_tables.h"
#include "triad/clock.h"

/* How long osm->lock is held. */
#define HOLD_US (2 * TRIAD_US_PER_MS)

/* A port of OpenSM's, and what is wanted of it. */
struct sought {
	const struct triad_wish_source *source;
	const osm_subn_t *subn;
	osm_node_t *node;
	osm_physp_t *physp;
	uint32_t port;
	const struct triad_audit_place *place;
	struct triad_audit_wish *wish;
	uint8_t info[TRIAD_AUDIT_OCTETS]; /* of a port: the last answer to OpenSM */
	uint8_t n_not_taken, n_undecided;
	bool is_left, is_pending; /* OpenSM wants nothing; or has not decided */
};

static bool is_of_switch(const struct sought *sought)
{
	return osm_node_get_type(sought->node) == IB_NODE_TYPE_SWITCH;
}

/* --- PortInfo [osm_lid_mgr.c, osm_link_mgr.c] --- */

static void want_info(struct sought *sought, unsigned field, uint64_t value)
{
	triad_audit_want(sought->wish, TRIAD_AUDIT_PORT_INFO, field, value);
}

/* The same for a setting without which packets pass, too. */
static void want_setting(struct sought *sought, unsigned field, uint64_t value)
{
	if (triad_audit_read(TRIAD_AUDIT_PORT_INFO, field, sought->info) == value)
		want_info(sought, field, value);
	else
		sought->n_not_taken++;
}

/* OpenSM asks an engine that decides on SLs; the others' SL is an option. */
static bool has_sls(const struct osm_opensm *osm)
{
	const struct osm_routing_engine *engine = osm->routing_engine_used;

	return engine && engine->path_sl;
}

static void want_of_end_port(struct sought *sought, bool is_base0)
{
	const osm_subn_opt_t *opt = &sought->subn->opt;
	const osm_port_t *port = osm_get_port_by_guid(
		sought->subn, osm_physp_get_port_guid(sought->physp));

	want_info(sought, TRIAD_AUDIT_M_KEY, cl_ntoh64(opt->m_key));
	want_info(sought, TRIAD_AUDIT_PREFIX, cl_ntoh64(opt->subnet_prefix));
	want_setting(sought, TRIAD_AUDIT_LEASE, cl_ntoh16(opt->m_key_lease_period));
	want_setting(sought, TRIAD_AUDIT_PROTECT, opt->m_key_protect_bits);
	want_setting(sought, TRIAD_AUDIT_TIMEOUT, opt->subnet_timeout);
	want_info(sought, TRIAD_AUDIT_SM_LID, cl_ntoh16(sought->subn->sm_base_lid));
	if (port && port->lid)
		want_info(sought, TRIAD_AUDIT_LID, cl_ntoh16(port->lid));
	if (!has_sls(sought->source->osm))
		want_setting(sought, TRIAD_AUDIT_SM_SL, opt->sm_sl);
	if (!is_base0)
		want_info(sought, TRIAD_AUDIT_LMC,
			!is_of_switch(sought) || opt->lmc_esp0 ? opt->lmc : 0);
}

/* Both ends as one; 0 counts as 1. */
static void want_of_link(struct sought *sought, const osm_physp_t *remote)
{
	const ib_port_info_t *near = &sought->physp->port_info,
			     *far = &remote->port_info;
	uint8_t mtu = MIN(
			ib_port_info_get_mtu_cap(near), ib_port_info_get_mtu_cap(far)),
		vls = MIN(ib_port_info_get_vl_cap(near), ib_port_info_get_vl_cap(far));

	want_info(sought, TRIAD_AUDIT_MTU, mtu ? mtu : 1);
	want_info(sought, TRIAD_AUDIT_OP_VLS,
		MIN(vls ? vls : 1, sought->subn->opt.max_op_vls));
}

static bool is_switch(const osm_physp_t *physp)
{
	return osm_node_get_type(physp->p_node) == IB_NODE_TYPE_SWITCH;
}

static void want_lifetimes(struct sought *sought, const osm_physp_t *remote)
{
	const osm_subn_opt_t *opt = &sought->subn->opt;
	bool is_inner = is_switch(remote);

	if (osm_node_get_type(sought->node) == IB_NODE_TYPE_ROUTER)
		want_setting(sought, TRIAD_AUDIT_HOQ, opt->leaf_head_of_queue_lifetime);
	if (!is_of_switch(sought))
		return;
	want_setting(sought, TRIAD_AUDIT_HOQ,
		is_inner ? opt->head_of_queue_lifetime
			 : opt->leaf_head_of_queue_lifetime);
	want_setting(sought, TRIAD_AUDIT_STALL,
		is_inner ? opt->vl_stall_count : opt->leaf_vl_stall_count);
}

/* Calls 'take' for each P_Key that OpenSM gives a switch's port for the end port behind
 * it, in that order: those of that port, but of two memberships the full one alone. */
static unsigned each_enforced_key(const osm_physp_t *end,
	void (*take)(void *context, unsigned index, uint16_t key), void *context);

static void want_enforcement(struct sought *sought, const osm_physp_t *remote)
{
	static const uint8_t bits[] = {[OSM_PARTITION_ENFORCE_TYPE_BOTH] = 3,
		[OSM_PARTITION_ENFORCE_TYPE_IN] = 2,
		[OSM_PARTITION_ENFORCE_TYPE_OUT] = 1,
		[OSM_PARTITION_ENFORCE_TYPE_OFF] = 0};
	unsigned type = sought->subn->opt.part_enforce_enum;
	uint16_t cap = cl_ntoh16(sought->node->sw->switch_info.enforce_cap);
	uint8_t wanted = 0;

	if (!is_switch(remote)) {
		/* Where keys find no room OpenSM may give it up. */
		if (!cap || type >= sizeof(bits) ||
			each_enforced_key(remote, NULL, NULL) >= cap)
			return;
		wanted = bits[type];
	}
	want_setting(sought, TRIAD_AUDIT_ENFORCE_IN, wanted >> 1);
	want_setting(sought, TRIAD_AUDIT_ENFORCE_OUT, wanted & 1);
}

static void want_port_info(struct sought *sought)
{
	const osm_subn_opt_t *opt = &sought->subn->opt;
	const osm_physp_t *remote = osm_physp_get_remote(sought->physp);
	uint8_t number = osm_physp_get_port_num(sought->physp),
		state = osm_physp_get_port_state(sought->physp);
	bool is_port0 = is_of_switch(sought) && !number;
	bool is_base0 = is_port0 &&
		!ib_switch_info_is_enhanced_port0(&sought->node->sw->switch_info);

	memcpy(sought->info, &sought->physp->port_info,
		sizeof(ib_port_info_t) < sizeof(sought->info) ? sizeof(ib_port_info_t)
							      : sizeof(sought->info));
	if (!is_of_switch(sought) || is_port0)
		want_of_end_port(sought, is_base0);
	/* What follows OpenSM writes where a link is. */
	if (is_base0 || state == IB_LINK_NO_CHANGE || state == IB_LINK_DOWN ||
		(!is_port0 && (!remote || !osm_physp_is_valid(remote))))
		return;
	want_setting(sought, TRIAD_AUDIT_PHY_ERRORS, opt->local_phy_errors_threshold);
	want_setting(sought, TRIAD_AUDIT_OVERRUNS, opt->overrun_errors_threshold);
	if (opt->qos)
		want_setting(
			sought, TRIAD_AUDIT_HIGH_LIMIT, sought->physp->vl_high_limit);
	if (is_port0)
		return;
	want_of_link(sought, remote);
	want_lifetimes(sought, remote);
	if (is_of_switch(sought))
		want_enforcement(sought, remote);
}

/* --- a switch's --- */

/* The highest multicast LID that the switch is to forward; 0: it knows no such top, and
 * forwards all [osm_mcast_mgr.c, mcast_mgr_set_mfttop()]. */
static uint16_t find_mft_top(const struct sought *sought)
{
	const osm_switch_t *sw = sought->node->sw;
	const osm_physp_t *port0 = osm_node_get_physp_ptr(sought->node, 0);
	uint16_t first = sought->source->osm->sm.mlids_init_max;

	if (!port0 || sought->subn->opt.disable_multicast ||
		!sought->subn->opt.use_mfttop ||
		!(port0->port_info.capability_mask & IB_PORT_CAP_HAS_MCAST_FDB_TOP))
		return 0;
	/* That of the first sweep stays until a group changes. */
	if (sought->subn->first_time_master_sweep ||
		cl_ntoh16(sw->switch_info.mcast_top) == first)
		return first;
	return (uint16_t)(TRIAD_AUDIT_FIRST_MLID +
		(sw->mcast_tbl.max_block_in_use + 1) * IB_MCAST_BLOCK_SIZE - 1);
}

static void want_switch_info(struct sought *sought)
{
	const osm_switch_t *sw = sought->node->sw;
	uint16_t mft_top = find_mft_top(sought);

	if (mft_top)
		triad_audit_want(sought->wish, TRIAD_AUDIT_SWITCH_INFO,
			TRIAD_AUDIT_MFT_TOP, mft_top);
	if (sw->new_lft && sw->max_lid_ho)
		triad_audit_want(sought->wish, TRIAD_AUDIT_SWITCH_INFO,
			TRIAD_AUDIT_LFT_TOP, sw->max_lid_ho);
	triad_audit_want(sought->wish, TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_LIFETIME,
		sought->subn->opt.packet_life_time);
	triad_audit_want(
		sought->wish, TRIAD_AUDIT_SWITCH_INFO, TRIAD_AUDIT_STATE_CHANGE, 0);
}

static void want_lft(struct sought *sought)
{
	const osm_switch_t *sw = sought->node->sw;

	sought->is_pending = !sw->new_lft;
	for (uint32_t i = 0; sw->new_lft && i < TRIAD_AUDIT_LFT_BLOCK; i++) {
		uint32_t lid = sought->place->block * TRIAD_AUDIT_LFT_BLOCK + i;

		/* Nothing goes to LID 0. */
		if (lid && lid <= sw->max_lid_ho && lid < sw->lft_size)
			triad_audit_want(
				sought->wish, TRIAD_AUDIT_LFT, i, sw->new_lft[lid]);
	}
}

static void want_tree(struct sought *sought, unsigned mlid, unsigned position)
{
	unsigned entry = mlid % TRIAD_AUDIT_MFT_BLOCK;
	struct triad_trees_row row = triad_trees_row(sought->source->trees,
		sought->source->osm, sought->node, mlid, position);

	if (!row.is_known) {
		sought->n_undecided++;
		return;
	}
	triad_audit_want(sought->wish, TRIAD_AUDIT_MFT, entry, row.wanted);
	sought->wish->no_group |= (uint32_t)row.has_no_group << entry;
	sought->wish->copy_wrong |= (uint32_t)row.is_copy_wrong << entry;
}

static void want_mft(struct sought *sought)
{
	osm_switch_t *sw = sought->node->sw;
	unsigned block = sought->place->block & 0x1ff,
		 position = sought->place->block >> 28,
		 first = TRIAD_AUDIT_FIRST_MLID + block * TRIAD_AUDIT_MFT_BLOCK,
		 cap = TRIAD_AUDIT_FIRST_MLID + sw->mcast_tbl.num_entries,
		 top = find_mft_top(sought);

	if (!osm_switch_supports_mcast(sw) || position > sw->mcast_tbl.max_position ||
		first >= cap)
		return;
	/* Above its top it forwards nothing [IBA 14.2.5.4]. */
	sought->is_left = sought->subn->opt.disable_multicast || (top && first > top);
	for (unsigned mlid = first; !sought->is_left && mlid < cap &&
		mlid <= IB_LID_MCAST_END_HO && mlid < first + TRIAD_AUDIT_MFT_BLOCK;
		mlid++)
		want_tree(sought, mlid, position);
}

/* --- P_Keys [osm_pkey_mgr.c] --- */

static bool has_new_key(const osm_pkey_tbl_t *keys, ib_net16_t key)
{
	size_t n = cl_ptr_vector_get_size(&keys->new_blocks);

	for (size_t block = 0; block < n; block++) {
		const ib_pkey_table_t *of =
			osm_pkey_tbl_new_block_get(keys, (uint16_t)block);

		for (unsigned i = 0; of && i < IB_NUM_PKEY_ELEMENTS_IN_BLOCK; i++)
			if (of->pkey_entry[i] == key)
				return true;
	}
	return false;
}

static unsigned each_enforced_key(const osm_physp_t *end,
	void (*take)(void *context, unsigned index, uint16_t key), void *context)
{
	const osm_pkey_tbl_t *keys = &end->pkeys;
	unsigned n = 0;

	for (uint16_t block = 0; block < keys->used_blocks; block++) {
		const ib_pkey_table_t *of = osm_pkey_tbl_new_block_get(keys, block);

		for (unsigned i = 0; of && i < IB_NUM_PKEY_ELEMENTS_IN_BLOCK; i++) {
			ib_net16_t key = of->pkey_entry[i];

			if (ib_pkey_is_invalid(key) ||
				(!ib_pkey_is_full_member(key) &&
					has_new_key(keys, key | IB_PKEY_TYPE_MASK)))
				continue;
			if (take)
				take(context, n, cl_ntoh16(key));
			n++;
		}
	}
	return n;
}

static void want_enforced_key(void *context, unsigned index, uint16_t key)
{
	struct sought *sought = context;

	if (index / TRIAD_AUDIT_PKEY_BLOCK == sought->place->block)
		triad_audit_want(sought->wish, TRIAD_AUDIT_PKEYS,
			index % TRIAD_AUDIT_PKEY_BLOCK, key);
}

/* At a switch's port, those of the end port behind it, where they are enforced. */
static void want_enforced_keys(struct sought *sought)
{
	const osm_physp_t *end = osm_physp_get_remote(sought->physp);
	unsigned cap = cl_ntoh16(sought->node->sw->switch_info.enforce_cap);
	unsigned first = sought->place->block * TRIAD_AUDIT_PKEY_BLOCK, n;

	sought->is_left = first < cap;
	if (!end || is_switch(end) || !cap ||
		sought->subn->opt.part_enforce_enum == OSM_PARTITION_ENFORCE_TYPE_OFF)
		return;
	n = each_enforced_key(end, want_enforced_key, sought);
	if (n > cap)
		*sought->wish = (struct triad_audit_wish){0};
	/* The last block is filled up with zeros; blocks behind it are left. */
	for (unsigned i = n;
		n <= cap && n > first && i < cap && i < first + TRIAD_AUDIT_PKEY_BLOCK;
		i++)
		triad_audit_want(sought->wish, TRIAD_AUDIT_PKEYS, i - first, 0);
}

static void want_pkeys(struct sought *sought)
{
	const osm_pkey_tbl_t *keys = &sought->physp->pkeys;
	unsigned block = sought->place->block, first = block * TRIAD_AUDIT_PKEY_BLOCK,
		 cap = cl_ntoh16(sought->node->node_info.partition_cap);
	const ib_pkey_table_t *of;

	if (is_of_switch(sought) && osm_physp_get_port_num(sought->physp)) {
		want_enforced_keys(sought);
		return;
	}
	sought->is_left = first < cap && block >= osm_pkey_tbl_get_num_blocks(keys);
	sought->is_pending = first < cap && !cl_ptr_vector_get_size(&keys->new_blocks);
	if (sought->is_left || sought->is_pending)
		return;
	of = osm_pkey_tbl_new_block_get(keys, (uint16_t)block);
	for (unsigned i = 0; i < TRIAD_AUDIT_PKEY_BLOCK && first + i < cap; i++)
		triad_audit_want(sought->wish, TRIAD_AUDIT_PKEYS, i,
			of ? cl_ntoh16(of->pkey_entry[i]) : 0);
}

/* --- QoS tables --- */

static void want_sl2vl(struct sought *sought)
{
	const struct triad_desired *desired = sought->source->desired;
	const struct triad_sl2vl *table;
	unsigned in = sought->place->block;

	if (!desired || !desired->ports[sought->port].is_looked_at ||
		in >= triad_port_tables_n_in_ports(desired, sought->port))
		return;
	table = triad_desired_sl2vl(
		desired, sought->port, triad_desired_row_at(desired, sought->port, in));
	for (unsigned sl = 0; sl < 16; sl++)
		triad_audit_want(sought->wish, TRIAD_AUDIT_SL2VL, sl,
			table->vl[sl / 2] >> (sl % 2 ? 0 : 4) & 0xf);
}

/* Blocks: low, its second half, high, its second half. */
static void want_vlarb(struct sought *sought)
{
	const struct triad_desired *desired = sought->source->desired;
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];
	bool high = sought->place->block > 2;
	unsigned first = (sought->place->block - 1) % 2 *
		IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK,
		 n;

	if (!desired || !desired->ports[sought->port].is_looked_at)
		return;
	n = triad_desired_n_vlarb(desired, sought->port, high);
	if (n)
		(void)triad_desired_vlarb(desired, sought->port, high, entries, n);
	for (unsigned i = first; i < n && i < first + IB_NUM_VL_ARB_ELEMENTS_IN_BLOCK;
		i++)
		/* Four bits are reserved [IBA 14.2.5.9]. */
		triad_audit_want_bits(sought->wish, TRIAD_AUDIT_VLARB, i - first, 0xfff,
			(unsigned)entries[i].vl << 8 | entries[i].weight);
}

/* --- aliases --- */

/* OpenSM knows those that were asked for since it became master, and writes no zeros over
 * others. */
static void want_guids(struct sought *sought)
{
	unsigned first = sought->place->block * TRIAD_AUDIT_GUID_BLOCK,
		 cap = sought->physp->port_info.guid_cap;
	/* OpenSM made room by the GUIDCap of then. */
	size_t room = sought->physp->p_guids
		? malloc_usable_size(sought->physp->p_guids) / sizeof(ib_net64_t)
		: 0;

	sought->is_left = first < cap;
	for (unsigned i = 0;
		i < TRIAD_AUDIT_GUID_BLOCK && first + i < room && first + i < cap;
		i++) {
		ib_net64_t guid = (*sought->physp->p_guids)[first + i];

		if (guid)
			triad_audit_want(
				sought->wish, TRIAD_AUDIT_GUIDS, i, cl_ntoh64(guid));
	}
}

/* --- all --- */

static const struct {
	void (*want)(struct sought *sought);
	bool of_switch; /* only a switch has it */
} kinds[TRIAD_AUDIT_N_KINDS] = {
	[TRIAD_AUDIT_PORT_INFO] = {want_port_info, false},
	[TRIAD_AUDIT_SWITCH_INFO] = {want_switch_info, true},
	[TRIAD_AUDIT_LFT] = {want_lft, true},
	[TRIAD_AUDIT_MFT] = {want_mft, true},
	[TRIAD_AUDIT_PKEYS] = {want_pkeys, false},
	[TRIAD_AUDIT_SL2VL] = {want_sl2vl, false},
	[TRIAD_AUDIT_VLARB] = {want_vlarb, false},
	[TRIAD_AUDIT_GUIDS] = {want_guids, false},
};

static void read_wish(const struct triad_wish_source *source, struct triad_wish *wish)
{
	struct sought sought = {.source = source,
		.subn = &source->osm->subn,
		.physp = triad_physp_find(
			source->osm, wish->place.node_guid, wish->place.port),
		.port = wish->port,
		.place = &wish->place,
		.wish = &wish->wish};

	wish->wish = (struct triad_audit_wish){0};
	wish->is_known = wish->is_left = false;
	if (!sought.physp)
		return;
	sought.node = sought.physp->p_node;
	/* Somebody else may have the LID now. */
	if (cl_ntoh16(osm_physp_get_base_lid(triad_physp_with_capabilities(
		    sought.physp))) != source->fabric->ports[wish->port].lid)
		return;
	if ((kinds[wish->place.kind].of_switch || is_of_switch(&sought)) &&
		!sought.node->sw)
		return;
	kinds[wish->place.kind].want(&sought);
	wish->is_known = !sought.is_pending;
	wish->is_left = sought.is_left && !triad_audit_wants(&wish->wish);
	wish->n_not_taken = sought.n_not_taken;
	wish->n_undecided = sought.n_undecided;
}

static void extend(unsigned *n, unsigned entries, unsigned size)
{
	unsigned blocks = (entries + size - 1) / size;

	*n = blocks > *n ? blocks : *n;
}

static void extend_to_node(struct triad_audit_extent *extent, osm_node_t *node)
{
	extend(&extent->n_pkeys, cl_ntoh16(node->node_info.partition_cap),
		TRIAD_AUDIT_PKEY_BLOCK);
	for (unsigned i = 0; i < osm_node_get_num_physp(node); i++) {
		const osm_physp_t *physp = osm_node_get_physp_ptr(node, i);

		if (physp && (!node->sw || !i))
			extend(&extent->n_guids, physp->port_info.guid_cap,
				TRIAD_AUDIT_GUID_BLOCK);
	}
	if (!node->sw)
		return;
	extend(&extent->n_mft, node->sw->mcast_tbl.num_entries, TRIAD_AUDIT_MFT_BLOCK);
	extend(&extent->n_pkeys, cl_ntoh16(node->sw->switch_info.enforce_cap),
		TRIAD_AUDIT_PKEY_BLOCK);
}

struct triad_audit_extent triad_wishes_extent(struct osm_opensm *osm)
{
	struct triad_audit_extent extent = {0};
	cl_qmap_t *all = &osm->subn.node_guid_tbl;

	cl_plock_acquire(&osm->lock);
	for (cl_map_item_t *item = cl_qmap_head(all);
		!osm_exit_flag && item != cl_qmap_end(all); item = cl_qmap_next(item))
		extend_to_node(&extent, (osm_node_t *)item);
	cl_plock_release(&osm->lock);
	extent.n_mft = MIN(extent.n_mft, TRIAD_AUDIT_MAX_MFT);
	extent.n_pkeys = MIN(extent.n_pkeys, TRIAD_AUDIT_MAX_PKEYS);
	return extent;
}

bool triad_wishes_read(
	const struct triad_wish_source *source, struct triad_wish *wishes, size_t n)
{
	size_t i = 0;

	while (i < n && !osm_exit_flag) {
		uint64_t begun_us;

		cl_plock_acquire(&source->osm->lock);
		begun_us = triad_clock_now_us();
		/* OpenSM frees its engines, without a lock, after it has raised the
		 * flag. */
		while (i < n && !osm_exit_flag &&
			triad_clock_now_us() - begun_us < HOLD_US)
			read_wish(source, &wishes[i++]);
		cl_plock_release(&source->osm->lock);
		sched_yield();
	}
	return i == n && !osm_exit_flag;
}
