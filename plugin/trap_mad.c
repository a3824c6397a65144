/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/trap_mad.h"

#include "damp/traps.h"
#include "plugin/sm_state.h"

bool triad_trap_read(
	struct osm_opensm *osm, const osm_madw_t *madw, struct triad_trap_mad *trap)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
	const ib_mad_notice_attr_t *notice = (const ib_mad_notice_attr_t *)smp->data;

	if (osm_exit_flag ||
		triad_osm_peek(&osm->subn.sm_state) != IB_SMINFO_STATE_MASTER ||
		madw->mad_size < MAD_BLOCK_SIZE ||
		smp->mgmt_class != IB_MCLASS_SUBN_LID ||
		smp->method != IB_MAD_METHOD_TRAP || smp->attr_id != IB_MAD_ATTR_NOTICE)
		return false;
	trap->lid = cl_ntoh16(madw->mad_addr.addr_type.smi.source_lid);
	/* The switch that the SM runs on sends without one. */
	if (!trap->lid)
		trap->lid = cl_ntoh16(triad_osm_peek(&osm->subn.sm_base_lid));
	trap->kind = ib_notice_is_generic(notice)
		? cl_ntoh16(notice->g_or_v.generic.trap_num)
		: TRIAD_TRAPS_OF_VENDORS;
	return true;
}
