/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/other_sms.h"

#include <opensm/osm_remote_sm.h>

void triad_audit_sms_add(struct triad_audit_sms *sms, const struct triad_audit_sm *sm)
{
	for (uint32_t i = 0; i < sms->n; i++)
		if (sms->of[i].port_guid == sm->port_guid)
			return;
	if (sms->n < TRIAD_AUDIT_MAX_SMS)
		sms->of[sms->n++] = *sm;
}

void triad_audit_sms_read(struct triad_audit_sms *sms, struct osm_opensm *osm)
{
	cl_qmap_t *all = &osm->subn.sm_guid_tbl;

	cl_plock_acquire(&osm->lock);
	for (cl_map_item_t *item = cl_qmap_head(all);
		!osm_exit_flag && item != cl_qmap_end(all); item = cl_qmap_next(item)) {
		const ib_sm_info_t *info = &((const osm_remote_sm_t *)item)->smi;

		triad_audit_sms_add(sms,
			&(struct triad_audit_sm){.port_guid = cl_ntoh64(info->guid),
				.is_known = true,
				.state = ib_sminfo_get_state(info),
				.priority = ib_sminfo_get_priority(info)});
	}
	cl_plock_release(&osm->lock);
}
