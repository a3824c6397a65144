/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/osm_lookup.h"

bool triad_osm_lookup_is_same(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *was;
	const osm_port_t *is;
	bool same;

	if (port == TRIAD_FABRIC_NONE)
		return false;
	was = &fabric->ports[port];
	/* OpenSM has no call that tries its lock. */
	if (pthread_rwlock_tryrdlock(&osm->lock.lock))
		return true;
	is = osm_get_port_by_guid(&osm->subn, cl_hton64(was->guid));
	same = is && is->p_physp &&
		cl_ntoh16(osm_physp_get_base_lid(is->p_physp)) == was->lid &&
		osm_physp_get_lmc(is->p_physp) == was->lmc;
	pthread_rwlock_unlock(&osm->lock.lock);
	return same;
}

bool triad_osm_lookup_has_alias(struct osm_opensm *osm,
	const struct triad_fabric *fabric, uint32_t port, uint64_t guid)
{
	const osm_alias_guid_t *alias;
	bool same;

	if (pthread_rwlock_tryrdlock(&osm->lock.lock))
		return true;
	alias = osm_get_alias_guid_by_guid(&osm->subn, cl_hton64(guid));
	same = alias && alias->p_base_port &&
		cl_ntoh64(osm_port_get_guid(alias->p_base_port)) ==
			fabric->ports[port].guid;
	pthread_rwlock_unlock(&osm->lock.lock);
	return same;
}

uint32_t triad_osm_lookup_find_alias(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint64_t guid)
{
	const osm_alias_guid_t *alias;
	uint64_t base = 0;

	if (pthread_rwlock_tryrdlock(&osm->lock.lock))
		return TRIAD_FABRIC_NONE;
	alias = osm_get_alias_guid_by_guid(&osm->subn, cl_hton64(guid));
	if (alias && alias->p_base_port)
		base = cl_ntoh64(osm_port_get_guid(alias->p_base_port));
	pthread_rwlock_unlock(&osm->lock.lock);
	return base ? triad_fabric_find_alias(fabric, base) : TRIAD_FABRIC_NONE;
}

uint32_t triad_osm_lookup_n_aliases(struct osm_opensm *osm)
{
	uint32_t n;

	if (pthread_rwlock_tryrdlock(&osm->lock.lock))
		return 0;
	/* The table also has each port's own GUID; subtract these, so that only aliases
	 * count. */
	n = (uint32_t)(cl_qmap_count(&osm->subn.alias_port_guid_tbl) -
		    cl_qmap_count(&osm->subn.port_guid_tbl)) +
		1;
	pthread_rwlock_unlock(&osm->lock.lock);
	return n;
}

static uint8_t engine_sl(void *context, uint8_t sl, uint16_t slid, uint16_t dlid)
{
	const struct osm_routing_engine *engine = context;

	/* OpenSM frees its engines without a lock.  Check for each path, as a request
	 * may have thousands. */
	if (osm_exit_flag)
		return sl;
	return engine->path_sl(engine->context, sl, cl_hton16(slid), cl_hton16(dlid));
}

struct triad_path_engine triad_osm_lookup_engine(struct osm_opensm *osm)
{
	struct osm_routing_engine *engine = osm->routing_engine_used;

	/* OpenSM frees its engines some time after it sets osm_exit_flag. */
	if (osm_exit_flag || !engine || !engine->path_sl)
		return (struct triad_path_engine){0};
	return (struct triad_path_engine){.sl = engine_sl, .context = engine};
}
