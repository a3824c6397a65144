/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/sampled_request.h"

#include <string.h>

#define LNH_BTH 2            /* IBA, within the subnet */
#define LNH_GRH 3            /* IBA, with a global route */
#define NEXT_HEADER_BTH 0x1b /* in a GRH */
#define UD_SEND_ONLY 0x64
#define GSI_QP 1
#define GSI_QKEY 0x80010000
#define CHECKS 6 /* ICRC and VCRC */

/* The packet's length in its LRH is in words, without VCRC. */
static void put_lrh(struct triad_wire *w, const struct triad_sampled_request *request,
	uint32_t size)
{
	triad_wire_put(w, 1, (uint8_t)(request->vl << 4));
	triad_wire_put(w, 1,
		(uint8_t)(request->sl << 4 | (request->has_grh ? LNH_GRH : LNH_BTH)));
	triad_wire_put(w, 2, request->dlid);
	triad_wire_put(w, 2, (size + 4) / 4);
	triad_wire_put(w, 2, request->slid);
}

static void put_grh(struct triad_wire *w, const struct triad_sampled_request *request,
	uint32_t length)
{
	triad_wire_put(w, 4,
		UINT32_C(6) << 28 | (uint32_t)request->traffic_class << 20 |
			(request->flow_label & 0xfffff));
	triad_wire_put(w, 2, length);
	triad_wire_put(w, 1, NEXT_HEADER_BTH);
	triad_wire_put(w, 1, request->hop_limit);
	triad_wire_put_octets(w, request->src_gid, sizeof(request->src_gid));
	triad_wire_put_octets(w, request->dst_gid, sizeof(request->dst_gid));
}

static void put_bth_and_deth(
	struct triad_wire *w, const struct triad_sampled_request *request)
{
	triad_wire_put(w, 1, UD_SEND_ONLY);
	triad_wire_put(w, 1, 0);
	triad_wire_put(w, 2, request->pkey);
	triad_wire_put(w, 4, GSI_QP);
	triad_wire_put(w, 4, 0);
	triad_wire_put(w, 4, GSI_QKEY);
	triad_wire_put(w, 4, request->src_qp & 0xffffff);
}

void triad_sampled_request_frame(
	const struct triad_sampled_request *request, struct triad_sampled_frame *frame)
{
	const uint32_t behind_grh = 12 + 8 + TRIAD_SAMPLED_MAD_SIZE;
	const uint32_t length = behind_grh + 4; /* and the ICRC */
	struct triad_sflow_lrh_end end = {.vl = request->vl,
		.sl = request->sl,
		.dlid = request->dlid,
		.slid = request->slid,
		.lnh = request->has_grh ? LNH_GRH : LNH_BTH};
	struct triad_wire w;

	frame->size = 8 + (request->has_grh ? 40 : 0) + behind_grh;
	triad_wire_init(&w, frame->octets, frame->size);
	put_lrh(&w, request, frame->size);
	if (request->has_grh)
		put_grh(&w, request, length);
	put_bth_and_deth(&w, request);
	triad_wire_put_octets(&w, request->mad, sizeof(request->mad));
	/* One subnet: the packet arrives as it left. */
	frame->lrh = (struct triad_sflow_lrh){.src = end, .dst = end};
	frame->grh =
		(struct triad_sflow_grh){.flow_label = request->flow_label & 0xfffff,
			.traffic_class = request->traffic_class,
			.next_header = NEXT_HEADER_BTH,
			.length = length};
	memcpy(frame->grh.src_gid, request->src_gid, sizeof(frame->grh.src_gid));
	memcpy(frame->grh.dst_gid, request->dst_gid, sizeof(frame->grh.dst_gid));
	frame->bth = (struct triad_sflow_bth){
		.pkey = request->pkey, .dst_qp = GSI_QP, .opcode = UD_SEND_ONLY};
}

void triad_sampled_frame_describe(const struct triad_sampled_frame *frame, bool has_grh,
	struct triad_sflow_flow_sample *sample)
{
	sample->frame_length = frame->size + CHECKS;
	sample->stripped = CHECKS;
	sample->header = frame->octets;
	sample->header_size = frame->size < TRIAD_SAMPLED_HEADER_SIZE
		? frame->size
		: TRIAD_SAMPLED_HEADER_SIZE;
	sample->lrh = &frame->lrh;
	sample->grh = has_grh ? &frame->grh : NULL;
	sample->bth = &frame->bth;
}
