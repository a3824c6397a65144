/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/sample.h"

#include <string.h>

/* The packet came to one of the port's GIDs.  It is not known which: use the first. */
static void put_gids(const struct triad_fabric *fabric, uint32_t port,
	const ib_grh_t *grh, struct triad_sampled_request *request)
{
	uint64_t prefix = cl_hton64(fabric->sa.subnet_prefix);
	uint64_t guid = cl_hton64(fabric->ports[port].guid);

	/* OpenSM stores the sender's GID as the destination of the answer. */
	memcpy(request->src_gid, &grh->dest_gid, sizeof(request->src_gid));
	memcpy(request->dst_gid, &prefix, sizeof(prefix));
	memcpy(request->dst_gid + 8, &guid, sizeof(guid));
}

bool triad_sample_describe(const struct osm_madw *madw, const struct triad_paths *paths,
	struct triad_sampled_request *request)
{
	const osm_mad_addr_t *from = &madw->mad_addr;
	const struct triad_fabric *fabric = paths->fabric;
	uint32_t port = fabric->sm_port;
	uint8_t sl = from->addr_type.gsi.service_level & 0xf;
	uint16_t index = from->addr_type.gsi.pkey_ix;
	struct triad_fabric_slice pkeys;

	if (port == TRIAD_FABRIC_NONE)
		return false;
	pkeys = fabric->ports[port].pkeys;
	*request = (struct triad_sampled_request){
		.slid = cl_ntoh16(from->dest_lid),
		.dlid = (uint16_t)(fabric->ports[port].lid | from->path_bits),
		/* The fabric may be older than the port's table: use 0 beyond its
		 * end. */
		.pkey = index < pkeys.n ? fabric->pkeys[pkeys.at + index] : 0,
		.sl = sl,
		.vl = triad_paths_vl(paths, port, 0, sl),
		.src_qp = cl_ntoh32(from->addr_type.gsi.remote_qp),
		.has_grh = from->addr_type.gsi.global_route,
	};
	if (request->has_grh) {
		const ib_grh_t *grh = &from->addr_type.gsi.grh_info;

		ib_grh_get_ver_class_flow(grh->ver_class_flow, NULL,
			&request->traffic_class, &request->flow_label);
		request->hop_limit = grh->hop_limit;
		put_gids(fabric, port, grh, request);
	}
	memcpy(request->mad, osm_madw_get_mad_ptr((osm_madw_t *)madw),
		sizeof(request->mad));
	return true;
}
