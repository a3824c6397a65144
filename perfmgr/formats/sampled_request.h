/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A request to the SA that was sampled for sFlow, with the packet that carried it.
 *
 * The kernel hands over a MAD and some of its address, but not the packet.  So the
 * packet's headers are rebuilt.  LIDs, SL, both QPs, P_Key, Q_Key, the MAD and the GRH
 * are exact, except that the hop limit is as received.  Unknown values are filled in:
 * the VL (to which the SM's port maps the SL), the PSN (0) and the flags of BTH (0).
 * The CRCs are left out ("stripped") [IBA 7.7, 8.3, 9.2, 9.3].
 *
 * Thread-safety: functions without state.
 * Memory: no allocation. */
#ifndef TRIAD_PERFMGR_SAMPLED_REQUEST_H
#define TRIAD_PERFMGR_SAMPLED_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/formats/sflow.h"

#define TRIAD_SAMPLED_MAD_SIZE 256
/* LRH, GRH, BTH, DETH and the MAD. */
#define TRIAD_SAMPLED_FRAME_SIZE (8 + 40 + 12 + 8 + TRIAD_SAMPLED_MAD_SIZE)
/* Octets from the packet's beginning that a sample carries. */
#define TRIAD_SAMPLED_HEADER_SIZE 192

struct triad_sampled_request {
	uint16_t slid, dlid;
	uint16_t pkey;
	uint8_t sl, vl;
	uint32_t src_qp;
	bool has_grh;
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t src_gid[16], dst_gid[16];
	uint8_t mad[TRIAD_SAMPLED_MAD_SIZE];
};

/* The rebuilt packet, of which a flow sample is made. */
struct triad_sampled_frame {
	uint32_t size; /* of 'octets' in use */
	uint8_t octets[TRIAD_SAMPLED_FRAME_SIZE];
	struct triad_sflow_lrh lrh;
	struct triad_sflow_grh grh; /* when the request has one */
	struct triad_sflow_bth bth;
};

void triad_sampled_request_frame(
	const struct triad_sampled_request *request, struct triad_sampled_frame *frame);

/* Fills in the sample's lengths, header and three structures; these point into
 * 'frame'. */
void triad_sampled_frame_describe(const struct triad_sampled_frame *frame, bool has_grh,
	struct triad_sflow_flow_sample *sample);

#endif
