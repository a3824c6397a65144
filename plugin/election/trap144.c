/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/trap144.h"

#include <string.h>

#define IS_GENERIC 0x80
#define TYPE_INFORMATIONAL 4

static void put_notice(ib_mad_notice_attr_t *notice, const osm_port_t *from)
{
	const ib_port_info_t *info = &from->p_physp->port_info;

	notice->generic_type = IS_GENERIC | TYPE_INFORMATIONAL;
	ib_notice_set_prod_type_ho(notice, osm_node_get_type(from->p_node));
	notice->g_or_v.generic.trap_num = cl_hton16(SM_LOCAL_CHANGES_TRAP);
	notice->issuer_lid = info->base_lid;
	notice->data_details.ntc_144.lid = info->base_lid;
	notice->data_details.ntc_144.local_changes = TRAP_144_MASK_OTHER_LOCAL_CHANGES;
	notice->data_details.ntc_144.new_cap_mask = info->capability_mask;
	notice->data_details.ntc_144.change_flgs = TRAP_144_MASK_SM_PRIORITY_CHANGE;
}

static ib_net64_t next_tid(osm_sm_t *sm)
{
	uint32_t tid;

	/* 0 would be no transaction. */
	do
		tid = (uint32_t)cl_atomic_inc(&sm->sm_trans_id);
	while (!tid);
	return cl_hton64(tid);
}

void triad_trap144_send(struct osm_sm *sm)
{
	const osm_port_t *from =
		osm_get_port_by_guid(sm->p_subn, sm->p_subn->sm_port_guid);
	const osm_port_t *to = osm_get_port_by_guid(sm->p_subn, sm->master_sm_guid);
	osm_madw_t *madw = NULL;
	ib_smp_t *smp;

	if (from && to)
		madw = osm_mad_pool_get(sm->p_mad_pool,
			osm_sm_mad_ctrl_get_bind_handle(&sm->mad_ctrl), MAD_BLOCK_SIZE,
			NULL);
	if (!madw)
		return;
	madw->mad_addr.dest_lid = osm_port_get_base_lid(to);
	madw->mad_addr.addr_type.smi.source_lid = osm_port_get_base_lid(from);
	madw->resp_expected = FALSE;
	madw->fail_msg = CL_DISP_MSGID_NONE;
	smp = osm_madw_get_smp_ptr(madw);
	memset(smp, 0, sizeof(*smp));
	smp->base_ver = 1;
	smp->mgmt_class = IB_MCLASS_SUBN_LID;
	smp->class_ver = 1;
	smp->method = IB_MAD_METHOD_TRAP;
	smp->trans_id = next_tid(sm);
	smp->attr_id = IB_MAD_ATTR_NOTICE;
	put_notice((ib_mad_notice_attr_t *)smp->data, from);
	osm_vl15_post(sm->p_vl15, madw);
}
