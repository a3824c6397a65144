/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The packet that is made of a request to the SA.  For any request, the frame must have
 * the length in its LRH, and the sample for the collectors must describe the frame.
 *
 * Input: a struct triad_sampled_request, field after field. */
#include <sys/socket.h>

#include "perfmgr/formats/sampled_request.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/sflow_decode.h"

static void take_octets(struct triad_wire *w, uint8_t *octets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		octets[i] = triad_wire_get8(w);
}

static struct triad_sampled_request take_request(const uint8_t *data, size_t size)
{
	struct triad_sampled_request request = {0};
	struct triad_wire w;

	triad_wire_init(&w, (uint8_t *)data, size);
	request.has_grh = triad_wire_get8(&w) & 1;
	request.slid = triad_wire_get16(&w);
	request.dlid = triad_wire_get16(&w);
	request.pkey = triad_wire_get16(&w);
	request.sl = triad_wire_get8(&w) & 15;
	request.vl = triad_wire_get8(&w) & 15;
	request.src_qp = triad_wire_get32(&w);
	request.traffic_class = triad_wire_get8(&w);
	request.hop_limit = triad_wire_get8(&w);
	request.flow_label = triad_wire_get32(&w);
	take_octets(&w, request.src_gid, sizeof(request.src_gid));
	take_octets(&w, request.dst_gid, sizeof(request.dst_gid));
	take_octets(&w, request.mad, sizeof(request.mad));
	return request;
}

/* Checks the frame itself [IBA 7.7, 8.3, 9.2, 9.3]. */
static void check_frame(const struct triad_sampled_request *request,
	const struct triad_sampled_frame *frame)
{
	const uint8_t *at = frame->octets;
	const unsigned headers = 8 + (request->has_grh ? 40 : 0) + 12 + 8;

	require(frame->size == headers + TRIAD_SAMPLED_MAD_SIZE, "its size");
	require((triad_wire_bits(at, 37, 11)) * 4 == frame->size + 4, "LRH's length");
	require(triad_wire_bits(at, 0, 4) == request->vl &&
			triad_wire_bits(at, 8, 4) == request->sl &&
			triad_wire_bits(at, 16, 16) == request->dlid &&
			triad_wire_bits(at, 48, 16) == request->slid,
		"LRH");
	require(triad_wire_bits(at, 14, 2) == (request->has_grh ? 3 : 2),
		"what follows");
	if (request->has_grh)
		require(!memcmp(at + 16, request->src_gid, 16) &&
				!memcmp(at + 32, request->dst_gid, 16) &&
				triad_wire_bits(at, 64, 4) == 6,
			"GRH");
	require(triad_wire_bits(at, (headers - 18) * 8, 16) == request->pkey, "P_Key");
	require(triad_wire_bits(at, (headers - 3) * 8, 24) ==
			(request->src_qp & 0xffffff),
		"source QP");
	require(!memcmp(at + headers, request->mad, sizeof(request->mad)), "the MAD");
}

/* Checks the sample that a collector decodes. */
static void check_reported(const struct triad_sampled_request *request,
	const struct triad_sampled_frame *frame, const struct sflow_flow *flow)
{
	const uint32_t header = frame->size < TRIAD_SAMPLED_HEADER_SIZE
		? frame->size
		: TRIAD_SAMPLED_HEADER_SIZE;

	require(flow->has_lrh && flow->has_bth && flow->has_grh == request->has_grh,
		"its parts");
	require(flow->lrh[1] == request->sl && flow->lrh[2] == request->dlid &&
			flow->lrh[3] == request->slid,
		"LRH in the sample");
	require(flow->bth[0] == request->pkey && flow->bth[1] == 1,
		"BTH in the sample");
	require(flow->header_size == header &&
			!memcmp(flow->header, frame->octets, header),
		"the frame's beginning");
	require(flow->frame_length == frame->size + 6 && flow->stripped == 6, "length");
	if (request->has_grh)
		require(!memcmp(flow->src_gid, request->src_gid, 16) &&
				!memcmp(flow->dst_gid, request->dst_gid, 16) &&
				flow->traffic_class == request->traffic_class &&
				flow->flow_label == (request->flow_label & 0xfffff),
			"GRH in the sample");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sflow_datagram datagram;
	const struct triad_sflow_header header = {
		.agent.family = AF_INET, .expanded = true};
	struct triad_sampled_request request = take_request(data, size);
	struct triad_sflow_flow_sample sample = {.if_index = 1, .sampling_rate = 1};
	struct triad_sampled_frame frame;
	struct triad_sflow_flows flows;
	uint8_t octets[2048];

	triad_sampled_request_frame(&request, &frame);
	check_frame(&request, &frame);
	triad_sampled_frame_describe(&frame, request.has_grh, &sample);
	triad_sflow_flows_begin(&flows, octets, sizeof(octets), &header);
	require(triad_sflow_flows_add(&flows, &sample), "there is room");
	require(!sflow_decode(octets, triad_sflow_flows_size(&flows), &datagram),
		"a datagram");
	require(datagram.n_samples == 1 && datagram.has_flows, "with one sample");
	check_reported(&request, &frame, &datagram.samples[0].flow);
	return 0;
}
