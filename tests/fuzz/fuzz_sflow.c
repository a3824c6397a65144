/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tests' decoder of sFlow datagrams, with any octets.  It must refuse all that the
 * encoder would write differently: accepted flow samples must be encoded to the same
 * octets. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "perfmgr/formats/sflow.h"
#include "tests/sim/sflow_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct triad_sflow_header header_of(const struct sflow_datagram *datagram)
{
	struct triad_sflow_header header = {
		.agent.family = datagram->is_ipv6 ? AF_INET6 : AF_INET,
		.sub_agent = datagram->sub_agent,
		.sequence = datagram->sequence,
		.uptime_ms = datagram->uptime_ms,
		.expanded = datagram->expanded,
	};

	memcpy(header.agent.octets, datagram->agent, sizeof(datagram->agent));
	return header;
}

static void add_again(
	struct triad_sflow_flows *flows, const struct sflow_sample *sample)
{
	const struct sflow_flow *flow = &sample->flow;
	struct triad_sflow_lrh lrh;
	struct triad_sflow_grh grh = {.flow_label = flow->flow_label,
		.traffic_class = flow->traffic_class,
		.next_header = flow->next_header,
		.length = flow->length};
	struct triad_sflow_bth bth;
	const struct triad_sflow_flow_sample again = {.if_index = sample->source,
		.sequence = sample->sequence,
		.sampling_rate = flow->sampling_rate,
		.sample_pool = flow->sample_pool,
		.drops = flow->drops,
		.input = flow->input,
		.output = flow->output,
		.frame_length = flow->frame_length,
		.stripped = flow->stripped,
		.header = flow->header,
		.header_size = flow->header_size,
		.lrh = flow->has_lrh ? &lrh : NULL,
		.grh = flow->has_grh ? &grh : NULL,
		.bth = flow->has_bth ? &bth : NULL};

	memcpy(&lrh, flow->lrh, sizeof(lrh));
	memcpy(grh.src_gid, flow->src_gid, sizeof(grh.src_gid));
	memcpy(grh.dst_gid, flow->dst_gid, sizeof(grh.dst_gid));
	memcpy(&bth, flow->bth, sizeof(bth));
	if (!triad_sflow_flows_add(flows, &again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sflow_datagram datagram;
	struct triad_sflow_header header;
	struct triad_sflow_flows flows;
	uint8_t *again;

	if (sflow_decode(data, size, &datagram))
		return 0;
	if (!datagram.n_samples || datagram.n_samples > SFLOW_MAX_SAMPLES)
		abort();
	if (!datagram.has_flows)
		return 0;
	again = malloc(size);
	if (!again)
		return 0;
	header = header_of(&datagram);
	triad_sflow_flows_begin(&flows, again, size, &header);
	for (uint32_t i = 0; i < datagram.n_samples; i++)
		add_again(&flows, &datagram.samples[i]);
	if (triad_sflow_flows_size(&flows) != size || memcmp(again, data, size) != 0)
		abort();
	free(again);
	return 0;
}
