/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The highest multicast LID that switches forward (SwitchInfo:MulticastFDBTop [IBA 14.2.5.4]),
 * raised where a group gets its first entries there.
 *
 * OpenSM sets it below all groups at switches that no tree used.  What a switch has above it is
 * not known, so these blocks are written before, and it is raised last. */
#include "plugin/reroute/reroute_parts.h"

#include <string.h>

#define AT_TOP offsetof(ib_switch_info_t, mcast_top)

/* But for the top: OpenSM's discovery may read it between our Set and its answer.
 * PortStateChange is cleared by a 1, so that of OpenSM's copy is not sent. */
static bool read_info(const osm_switch_t *sw, uint32_t number, uint8_t *octets)
{
	ib_switch_info_t info = sw->switch_info;

	(void)number;
	info.mcast_top = 0;
	ib_switch_info_clear_state_change(&info);
	memset(octets, 0, REROUTE_BLOCK_SIZE);
	memcpy(octets, &info, sizeof(info));
	return true;
}

static void put_top(osm_switch_t *sw, uint32_t number, const uint8_t *octets)
{
	(void)number;
	memcpy(&sw->switch_info.mcast_top, octets + AT_TOP, sizeof(ib_net16_t));
}

/* OpenSM reads it in its next sweep. */
static void make_void(osm_switch_t *sw, uint32_t number)
{
	(void)sw;
	(void)number;
}

static bool change_top(const void *plan, const osm_switch_t *sw,
	const struct reroute_entry *entry, uint8_t *octets)
{
	const struct reroute_raise *raises = plan;
	ib_net16_t top = cl_hton16(raises[entry->change].last);

	(void)sw;
	memcpy(octets + AT_TOP, &top, sizeof(top));
	return true;
}

/* It answers with what else has changed, too. */
static bool is_top_taken(const uint8_t *answer, const uint8_t *wanted)
{
	return memcmp(answer + AT_TOP, wanted + AT_TOP, sizeof(ib_net16_t)) == 0;
}

const struct reroute_table reroute_tops = {
	.attribute = TRIAD_SMP_SWITCH_INFO,
	.forbids = reroute_forbids_mft,
	.read = read_info,
	.put = put_top,
	.make_void = make_void,
	.change = change_top,
	.is_taken = is_top_taken,
};

void reroute_raise_for(
	struct reroute_raise *raise, const osm_switch_t *sw, uint16_t mlid)
{
	const osm_physp_t *port0 = osm_node_get_physp_ptr(sw->p_node, 0);
	uint16_t top = cl_ntoh16(sw->switch_info.mcast_top);

	if (!port0 ||
		!(port0->port_info.capability_mask & IB_PORT_CAP_HAS_MCAST_FDB_TOP) ||
		!top || mlid <= top || mlid <= raise->last)
		return;
	raise->top = top < IB_LID_MCAST_START_HO ? IB_LID_MCAST_START_HO - 1 : top;
	raise->last = mlid | (IB_MCAST_BLOCK_SIZE - 1);
	raise->n_positions = (uint8_t)(sw->mcast_tbl.max_position + 1);
}
