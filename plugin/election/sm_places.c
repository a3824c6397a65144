/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/sm_places.h"

/* The caller holds OpenSM's lock. */
static size_t list_sms(struct osm_opensm *osm, uint64_t *ids, size_t max)
{
	const cl_qmap_t *all = &osm->subn.sm_guid_tbl;
	size_t n = 0;

	for (const cl_map_item_t *item = cl_qmap_head(all);
		n < max && item != cl_qmap_end(all); item = cl_qmap_next(item))
		ids[n++] = cl_ntoh64(((const osm_remote_sm_t *)item)->smi.guid);
	return n;
}

bool triad_sm_list(struct osm_opensm *osm, uint64_t *ids, size_t max, size_t *n)
{
	if (osm_exit_flag || pthread_rwlock_tryrdlock(&osm->lock.lock))
		return false;
	*n = list_sms(osm, ids, max);
	pthread_rwlock_unlock(&osm->lock.lock);
	return true;
}

bool triad_sm_places_read(
	struct osm_opensm *osm, struct triad_sm_tables *places, size_t n)
{
	if (osm_exit_flag || pthread_rwlock_tryrdlock(&osm->lock.lock))
		return false;
	for (size_t i = 0; i < n; i++) {
		const osm_port_t *port =
			osm_get_port_by_guid(&osm->subn, cl_hton64(places[i].id));

		if (!port || !port->p_physp)
			continue;
		places[i].lid = cl_ntoh16(osm_port_get_base_lid(port));
		places[i].m_key =
			cl_ntoh64(ib_port_info_get_m_key(&port->p_physp->port_info));
	}
	pthread_rwlock_unlock(&osm->lock.lock);
	return true;
}
