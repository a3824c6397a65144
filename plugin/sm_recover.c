/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sm_recover.h"

static const osm_remote_sm_t *find_sm(const struct osm_opensm *osm, ib_net64_t guid)
{
	const cl_qmap_t *all = &osm->subn.sm_guid_tbl;
	const cl_map_item_t *item = cl_qmap_get(all, guid);

	return item == cl_qmap_end(all) ? NULL : (const osm_remote_sm_t *)item;
}

static bool comes_before(const struct osm_opensm *osm, const osm_remote_sm_t *other)
{
	return osm_sm_is_greater_than(ib_sminfo_get_priority(&other->smi),
		other->smi.guid, osm->subn.opt.sm_priority, osm->subn.sm_port_guid);
}

bool triad_sm_is_higher_master(const struct osm_opensm *osm, uint64_t other)
{
	const osm_remote_sm_t *found = find_sm(osm, cl_hton64(other));

	return found && ib_sminfo_get_state(&found->smi) == IB_SMINFO_STATE_MASTER &&
		comes_before(osm, found);
}

bool triad_sm_end_vain_wait(struct osm_opensm *osm)
{
	const osm_remote_sm_t *other = find_sm(osm, osm->sm.polling_sm_guid);

	if (osm->subn.sm_state != IB_SMINFO_STATE_MASTER || !osm->sm.polling_sm_guid ||
		!other || !comes_before(osm, other))
		return false;
	triad_osm_poke(&osm->sm.polling_sm_guid, 0);
	return true;
}

void triad_sm_sweep(struct osm_opensm *osm)
{
	triad_osm_poke(&osm->subn.force_heavy_sweep, TRUE);
	osm_opensm_sweep(osm);
}

bool triad_sm_sweep_as_master(struct osm_opensm *osm)
{
	if (osm_exit_flag ||
		triad_osm_peek(&osm->subn.sm_state) != IB_SMINFO_STATE_MASTER)
		return false;
	triad_sm_sweep(osm);
	return true;
}

void triad_sm_reroute(struct osm_opensm *osm)
{
	triad_osm_poke(&osm->subn.force_reroute, TRUE);
	osm_opensm_sweep(osm);
}

const char *triad_sm_recover(struct osm_opensm *osm, enum triad_sm_trouble trouble)
{
	bool was_vain;

	if (osm_exit_flag)
		return NULL;
	if (trouble == TRIAD_SM_NO_ANSWERS) {
		/* Wake the sender directly: osm_vl15_poll() does so only if its
		 * counters show free places. */
		cl_event_signal(&osm->vl15.signal);
		return "woke what sends its SMPs";
	}
	if (trouble == TRIAD_SM_SWEEPS_OFTEN)
		return NULL;
	/* Only try, because a sweep may hold the lock for long; OpenSM's own API
	 * can't. */
	if (pthread_rwlock_trywrlock(&osm->lock.lock))
		return NULL;
	was_vain = triad_sm_end_vain_wait(osm);
	pthread_rwlock_unlock(&osm->lock.lock);
	if (!was_vain)
		return NULL;
	triad_sm_sweep(osm);
	return "ended its wait for a hand-over by a master that is the higher one, and has it "
	       "sweep, so that it hands over";
}
