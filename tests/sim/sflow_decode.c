/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/sflow_decode.h"

#include <string.h>

/* The rest of the input.  Keeps the first error; reads return 0 after it. */
struct reader {
	const uint8_t *at;
	size_t left;
	const char *wrong;
};

static void expect(struct reader *r, bool right, const char *wrong)
{
	if (!right && !r->wrong)
		r->wrong = wrong;
}

static const uint8_t *take(struct reader *r, size_t n)
{
	const uint8_t *here = r->at;

	expect(r, n <= r->left, "it ends too early");
	if (r->wrong)
		return NULL;
	r->at += n;
	r->left -= n;
	return here;
}

static uint32_t get32(struct reader *r)
{
	const uint8_t *p = take(r, 4);

	return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
			p[3]
		 : 0;
}

static uint64_t get64(struct reader *r)
{
	uint64_t high = get32(r);

	return high << 32 | get32(r);
}

static void get_octets(struct reader *r, uint8_t *to, size_t n)
{
	const uint8_t *p = take(r, n);

	if (p)
		memcpy(to, p, n);
}

/* An opaque<> of the outer one: its length, which must be a multiple of 4 here. */
static struct reader get_part(struct reader *r)
{
	uint32_t size = get32(r);
	struct reader part;

	expect(r, size % 4 == 0, "a length is no multiple of 4");
	part = (struct reader){.at = take(r, size), .left = size, .wrong = r->wrong};
	if (part.wrong)
		part.left = 0;
	return part;
}

/* The part has been read in full. */
static void end_part(struct reader *r, const struct reader *part)
{
	expect(r, !part->wrong, part->wrong);
	expect(r, !part->left, "a length is greater than its contents");
}

static struct reader get_record(struct reader *r, uint32_t format, const char *missing)
{
	expect(r, get32(r) == format, missing);
	return get_part(r);
}

/* --- counter samples --- */

static void get_if_counters(struct reader *r, struct sflow_sample *sample)
{
	struct reader part = get_record(r, 1, "if_counters is not the first record");
	struct sflow_if_counters *c = &sample->if_counters;

	c->index = get32(&part);
	c->type = get32(&part);
	c->speed = get64(&part);
	c->direction = get32(&part);
	c->status = get32(&part);
	c->in_octets = get64(&part);
	c->in_unicast = get32(&part);
	c->in_multicast = get32(&part);
	c->in_broadcast = get32(&part);
	c->in_discards = get32(&part);
	c->in_errors = get32(&part);
	c->in_unknown_protocols = get32(&part);
	c->out_octets = get64(&part);
	c->out_unicast = get32(&part);
	c->out_multicast = get32(&part);
	c->out_broadcast = get32(&part);
	c->out_discards = get32(&part);
	c->out_errors = get32(&part);
	c->promiscuous = get32(&part);
	expect(&part, c->type == 199, "ifType is not 199");
	expect(&part, c->index == sample->source, "ifIndex is not the source's");
	expect(&part, c->direction == 1, "ifDirection is not full-duplex");
	expect(&part, c->status <= 3, "ifStatus has bits that mean nothing");
	expect(&part, c->promiscuous == 2, "ifPromiscuousMode is not false");
	expect(&part,
		!c->in_multicast && !c->in_broadcast && !c->in_unknown_protocols &&
			!c->out_multicast && !c->out_broadcast,
		"a counter is not 0 that must be");
	end_part(r, &part);
}

static void get_ib_counters(struct reader *r, struct sflow_sample *sample)
{
	struct reader part = get_record(r, 9, "ib_counters is not the second record");
	struct sflow_ib_counters *c = &sample->ib_counters;

	c->xmit_pkts = get64(&part);
	c->rcv_pkts = get64(&part);
	c->symbol_error = get32(&part);
	c->link_error_recovery = get32(&part);
	c->link_downed = get32(&part);
	c->rcv_errors = get32(&part);
	c->rcv_remote_physical_errors = get32(&part);
	c->rcv_switch_relay_errors = get32(&part);
	c->xmit_discards = get32(&part);
	c->xmit_constraint_errors = get32(&part);
	c->rcv_constraint_errors = get32(&part);
	c->local_link_integrity = get32(&part);
	c->buffer_overrun = get32(&part);
	c->vl15_dropped = get32(&part);
	expect(&part,
		(uint32_t)c->xmit_pkts == sample->if_counters.out_unicast &&
			(uint32_t)c->rcv_pkts == sample->if_counters.in_unicast,
		"packets differ between if_counters and ib_counters");
	expect(&part, c->xmit_discards == sample->if_counters.out_discards,
		"ifOutDiscards is not PortXmitDiscards");
	expect(&part, c->xmit_constraint_errors == sample->if_counters.out_errors,
		"ifOutErrors is not PortXmitConstraintErrors");
	end_part(r, &part);
}

static void get_counters(struct reader *r, struct sflow_sample *sample)
{
	expect(r, get32(r) == 2, "not two records of counters");
	get_if_counters(r, sample);
	get_ib_counters(r, sample);
}

/* --- flow samples --- */

static uint32_t get_interface(struct reader *r, bool expanded)
{
	uint32_t format = expanded ? get32(r) : 0, value = get32(r);

	expect(r, format == 0 && value < 1u << 30, "an interface is not a single one");
	return value;
}

static void get_header(struct reader *r, struct sflow_flow *flow)
{
	struct reader part = get_record(r, 1, "sampled_header is not the first record");
	const uint8_t *padding;
	uint32_t n;

	expect(&part, get32(&part) == 18, "the header protocol is not INFINIBAND");
	flow->frame_length = get32(&part);
	flow->stripped = get32(&part);
	flow->header_size = get32(&part);
	flow->header = take(&part, flow->header_size);
	n = -flow->header_size % 4;
	padding = take(&part, n);
	for (uint32_t i = 0; padding && i < n; i++)
		expect(&part, !padding[i], "padding is not 0");
	end_part(r, &part);
}

static void get_lrh(struct reader *part, struct sflow_flow *flow)
{
	for (unsigned i = 0; i < 10; i++)
		flow->lrh[i] = get32(part);
	flow->has_lrh = true;
}

static void get_grh(struct reader *part, struct sflow_flow *flow)
{
	flow->flow_label = get32(part);
	flow->traffic_class = get32(part);
	get_octets(part, flow->src_gid, 16);
	get_octets(part, flow->dst_gid, 16);
	flow->next_header = get32(part);
	flow->length = get32(part);
	flow->has_grh = true;
}

static void get_bth(struct reader *part, struct sflow_flow *flow)
{
	for (unsigned i = 0; i < 3; i++)
		flow->bth[i] = get32(part);
	flow->has_bth = true;
}

static void get_flow(struct reader *r, struct sflow_flow *flow, bool expanded)
{
	uint32_t n, last = 0;

	flow->sampling_rate = get32(r);
	flow->sample_pool = get32(r);
	flow->drops = get32(r);
	flow->input = get_interface(r, expanded);
	flow->output = get_interface(r, expanded);
	n = get32(r);
	expect(r, n >= 1 && n <= 4, "not one to four records of a flow");
	get_header(r, flow);
	for (uint32_t i = 1; i < n && !r->wrong; i++) {
		uint32_t format = get32(r);
		struct reader part = get_part(r);

		expect(r, format > last, "records are out of order");
		last = format;
		if (format == 1031)
			get_lrh(&part, flow);
		else if (format == 1032)
			get_grh(&part, flow);
		else if (format == 1033)
			get_bth(&part, flow);
		else
			expect(r, false, "a record of a flow is none of InfiniBand's");
		end_part(r, &part);
	}
}

/* --- datagrams --- */

static uint32_t get_source(struct reader *r, bool expanded)
{
	uint32_t class = expanded ? get32(r) : 0, index = get32(r);

	if (!expanded) {
		class = index >> 24;
		index &= 0xffffff;
	}
	expect(r, class == 0, "the source is no ifIndex");
	expect(r, index >= 1 && index <= (1u << 30) - 2, "the ifIndex can't be one");
	return index;
}

static void get_sample(struct reader *r, struct sflow_datagram *datagram, uint32_t i)
{
	struct sflow_sample *sample = &datagram->samples[i];
	uint32_t format = get32(r);
	struct reader part = get_part(r);
	bool is_flow = format == 1 || format == 3, expanded = format >= 3;

	*sample = (struct sflow_sample){0};
	expect(r, format >= 1 && format <= 4, "the sample's format is unknown");
	if (i == 0) {
		datagram->has_flows = is_flow;
		datagram->expanded = expanded;
	}
	expect(r, is_flow == datagram->has_flows, "flows and counters are mixed");
	expect(r, expanded == datagram->expanded, "compact and expanded are mixed");
	sample->sequence = get32(&part);
	sample->source = get_source(&part, expanded);
	if (is_flow)
		get_flow(&part, &sample->flow, expanded);
	else
		get_counters(&part, sample);
	end_part(r, &part);
}

const char *sflow_decode(
	const uint8_t *octets, size_t size, struct sflow_datagram *datagram)
{
	struct reader r = {.at = octets, .left = size};
	uint32_t type;

	expect(&r, get32(&r) == 5, "the version is not 5");
	type = get32(&r);
	expect(&r, type == 1 || type == 2, "the agent's address is of no known type");
	datagram->is_ipv6 = type == 2;
	memset(datagram->agent, 0, sizeof(datagram->agent));
	get_octets(&r, datagram->agent, type == 2 ? 16 : 4);
	datagram->sub_agent = get32(&r);
	datagram->sequence = get32(&r);
	datagram->uptime_ms = get32(&r);
	datagram->n_samples = get32(&r);
	expect(&r, datagram->n_samples >= 1, "there is no sample");
	expect(&r, datagram->n_samples <= SFLOW_MAX_SAMPLES, "too many samples");
	for (uint32_t i = 0; i < datagram->n_samples && !r.wrong; i++)
		get_sample(&r, datagram, i);
	expect(&r, !r.left, "there are octets behind the last sample");
	return r.wrong;
}
