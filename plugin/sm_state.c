/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sm_state.h"

#include <unistd.h>

/* That of Debian's and others' OpenSM. */
#define DEFAULT_NODE_NAME_MAP "/etc/opensm/ib-node-name-map"

const char *triad_sm_state(const struct osm_opensm *osm)
{
	switch (triad_osm_peek(&osm->subn.sm_state)) {
	case IB_SMINFO_STATE_NOTACTIVE:
		return "not-active";
	case IB_SMINFO_STATE_DISCOVERING:
		return "discovering";
	case IB_SMINFO_STATE_STANDBY:
		return "standby";
	case IB_SMINFO_STATE_MASTER:
		return "master";
	default:
		return "starting";
	}
}

bool triad_sm_is_in_first_sweep(const struct osm_opensm *osm)
{
	const osm_subn_t *subn = &osm->subn;

	/* OpenSM sets the second flag before it clears the first, so one is always
	 * set. */
	return triad_osm_peek(&subn->sm_state) == IB_SMINFO_STATE_MASTER &&
		(triad_osm_peek(&subn->force_first_time_master_sweep) ||
			triad_osm_peek(&subn->first_time_master_sweep));
}

bool triad_sm_is_standby(const struct osm_opensm *osm)
{
	uint8_t state = triad_osm_peek(&osm->subn.sm_state);

	return state == IB_SMINFO_STATE_STANDBY || state == IB_SMINFO_STATE_NOTACTIVE;
}

bool triad_sm_other_master(struct osm_opensm *osm, uint64_t *guid, bool *waits)
{
	cl_qmap_t *all = &osm->subn.sm_guid_tbl;
	cl_map_item_t *item;

	/* Only try, because a sweep may hold the lock for long; OpenSM's own API
	 * can't. */
	if (osm_exit_flag || pthread_rwlock_tryrdlock(&osm->lock.lock))
		return false;
	*guid = 0;
	*waits = false;
	for (item = cl_qmap_head(all); item != cl_qmap_end(all);
		item = cl_qmap_next(item)) {
		const ib_sm_info_t *info = &((const osm_remote_sm_t *)item)->smi;

		if (ib_sminfo_get_state(info) != IB_SMINFO_STATE_MASTER)
			continue;
		*guid = cl_ntoh64(info->guid);
		*waits = osm->sm.polling_sm_guid == info->guid;
	}
	pthread_rwlock_unlock(&osm->lock.lock);
	return true;
}

void triad_sm_smps(
	const struct osm_opensm *osm, uint32_t *n_outstanding, uint32_t *n_moved)
{
	const osm_stats_t *stats = &osm->stats;

	*n_outstanding = (uint32_t)triad_osm_peek(&stats->qp0_mads_outstanding);
	*n_moved = (uint32_t)triad_osm_peek(&stats->qp0_mads_sent) +
		(uint32_t)triad_osm_peek(&stats->qp0_mads_rcvd);
}

uint64_t triad_sm_sa_key(const struct osm_opensm *osm)
{
	return cl_ntoh64(osm->subn.opt.sa_key);
}

bool triad_sm_routes_by_file(const struct osm_opensm *osm)
{
	/* OpenSM frees its engines before it ends its plugins. */
	const struct osm_routing_engine *engine = NULL;

	if (!osm_exit_flag)
		engine = osm->routing_engine_used ? osm->routing_engine_used
						  : osm->routing_engine_list;
	return engine && engine->type == OSM_ROUTING_ENGINE_TYPE_FILE;
}

const char *triad_sm_node_name_map(const struct osm_opensm *osm)
{
	const char *path = osm->subn.opt.node_name_map_name;

	if (path && path[0])
		return path;
	return access(DEFAULT_NODE_NAME_MAP, R_OK) ? NULL : DEFAULT_NODE_NAME_MAP;
}
