/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/class_port_info.h"

#include <string.h>

static void fill_info(const struct osm_subn *subn, ib_class_port_info_t *info)
{
	uint16_t mask = OSM_CAP_IS_SUBN_GET_SET_NOTICE_SUP |
		OSM_CAP_IS_PORT_INFO_CAPMASK_MATCH_SUPPORTED | OSM_CAP_IS_MULTIPATH_SUP;
	uint32_t mask2 = OSM_CAP2_IS_QOS_SUPPORTED |
		OSM_CAP2_IS_FULL_PORTINFO_REC_SUPPORTED |
		OSM_CAP2_IS_EXTENDED_SPEEDS_SUPPORTED |
		OSM_CAP2_IS_ALIAS_GUIDS_SUPPORTED |
		OSM_CAP2_IS_MULTICAST_SERVICE_RECS_SUPPORTED |
		OSM_CAP2_IS_PORT_INFO_CAPMASK2_MATCH_SUPPORTED |
		OSM_CAP2_IS_SEND_ONLY_FULL_MEMBER_SUPPORTED |
		OSM_CAP2_IS_LINK_WIDTH_2X_SUPPORTED |
		OSM_CAP2_IS_LINK_SPEED_HDR_SUPPORTED;
	/* RespTimeValue n: 4.096 us * 2^n, at least OpenSM's time-out [IBA 13.4.8.1].
	 * It begins at n = 8, one millisecond, as in OpenSM. */
	uint8_t time = 8;

	while (time < 31 &&
		(UINT64_C(4096) << time) / 1000000 < subn->opt.transaction_timeout)
		time++;
	if (subn->opt.use_mfttop)
		mask2 |= OSM_CAP2_IS_MCAST_TOP_SUPPORTED;
	if (!subn->opt.disable_multicast)
		mask |= OSM_CAP_IS_UD_MCAST_SUP;
	memset(info, 0, sizeof(*info));
	info->base_ver = 1;
	info->class_ver = 2;
	info->cap_mask = cl_hton16(mask);
	ib_class_set_resp_time_val(info, time);
	ib_class_set_cap_mask2(info, mask2);
	info->redir_qp = cl_hton32(1);
	info->redir_qkey = IB_QP1_WELL_KNOWN_Q_KEY;
	info->trap_qkey = IB_QP1_WELL_KNOWN_Q_KEY;
}

void triad_class_port_info_answer(struct osm_opensm *osm, struct osm_madw *madw)
{
	osm_madw_t *answer = osm_mad_pool_get(
		&osm->mad_pool, madw->h_bind, MAD_BLOCK_SIZE, &madw->mad_addr);
	ib_sa_mad_t *mad;

	if (!answer)
		return; /* the client asks again */
	mad = osm_madw_get_sa_mad_ptr(answer);
	memcpy(mad, osm_madw_get_sa_mad_ptr(madw), IB_SA_MAD_HDR_SIZE);
	mad->method |= IB_MAD_METHOD_RESP_MASK;
	mad->sm_key = 0; /* [IBA 15.2.1.1] */
	fill_info(&osm->subn, (ib_class_port_info_t *)ib_sa_mad_get_payload_ptr(mad));
	osm_sa_send(&osm->sa, answer, FALSE);
}
