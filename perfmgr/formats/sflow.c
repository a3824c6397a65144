/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/sflow.h"

#include <sys/socket.h>

/* Numbers of [sFlow v5 5]; the enterprise is 0 everywhere. */
enum { VERSION = 5 };
enum { ADDRESS_IPV4 = 1, ADDRESS_IPV6 = 2 };
enum { FLOW_SAMPLE = 1, COUNTERS_SAMPLE = 2, FLOW_EXPANDED = 3, COUNTERS_EXPANDED = 4 };
enum { SAMPLED_HEADER = 1 };
enum { IF_COUNTERS = 1 };
enum { FULL_DUPLEX = 1 };
enum { STATUS_ADMIN_UP = 1, STATUS_OPER_UP = 2 };
enum { NOT_PROMISCUOUS = 2 }; /* a TruthValue of SNMP: false */

/* Numbers of [sflow-infiniband 2]. */
enum { HEADER_INFINIBAND = 18 };
enum { EXTENDED_LRH = 1031, EXTENDED_GRH = 1032, EXTENDED_BTH = 1033 };
enum { IB_COUNTERS = 9 };
enum { IF_TYPE_INFINIBAND = 199 };

/* Sizes in octets; a sample and a record begin with a head of format and length. */
enum {
	HEAD = 8,
	IF_COUNTERS_SIZE = 88,
	IB_COUNTERS_SIZE = 64,
	COUNTER_RECORDS_SIZE = HEAD + IF_COUNTERS_SIZE + HEAD + IB_COUNTERS_SIZE,
	LRH_SIZE = 40,
	GRH_SIZE = 48,
	BTH_SIZE = 12,
};

/* --- the counters' places --- */

/* A member of if_counters or ib_counters: the sum of 'counters' (bits of enum
 * triad_counter; none: always 0) times 'times'. */
struct member {
	uint8_t octets;
	uint8_t times;
	uint32_t counters;
};

#define COUNTER(name_) (1u << TRIAD_##name_)
#define N_OF(array_) (sizeof(array_) / sizeof((array_)[0]))

/* [sflow-infiniband 2], the notes on if_counters, in the order of [sFlow v5 5]. Packets
 * of all kinds are counted as unicast.
 *
 * Deviation: the document calls the octets that went out "ifOutOctetsVL15Dropped", a
 * slip of its text: the member is ifOutOctets. */
static const struct member if_members[] = {
	{8, 4, COUNTER(PORT_RCV_DATA)}, /* ifInOctets */
	{4, 1, COUNTER(PORT_RCV_PKTS)}, /* ifInUcastPkts */
	{4, 1, 0},                      /* ifInMulticastPkts */
	{4, 1, 0},                      /* ifInBroadcastPkts */
	/* ifInDiscards */
	{4, 1, COUNTER(VL15_DROPPED) | COUNTER(PORT_RCV_CONSTRAINT_ERRORS)},
	/* ifInErrors */
	{4, 1,
		COUNTER(PORT_RCV_ERRORS) | COUNTER(PORT_RCV_REMOTE_PHYSICAL_ERRORS) |
			COUNTER(PORT_RCV_SWITCH_RELAY_ERRORS)},
	{4, 1, 0},                                    /* ifInUnknownProtos */
	{8, 4, COUNTER(PORT_XMIT_DATA)},              /* ifOutOctets */
	{4, 1, COUNTER(PORT_XMIT_PKTS)},              /* ifOutUcastPkts */
	{4, 1, 0},                                    /* ifOutMulticastPkts */
	{4, 1, 0},                                    /* ifOutBroadcastPkts */
	{4, 1, COUNTER(PORT_XMIT_DISCARDS)},          /* ifOutDiscards */
	{4, 1, COUNTER(PORT_XMIT_CONSTRAINT_ERRORS)}, /* ifOutErrors */
};

/* [sflow-infiniband 2], struct ib_counters. */
static const struct member ib_members[] = {
	{8, 1, COUNTER(PORT_XMIT_PKTS)},
	{8, 1, COUNTER(PORT_RCV_PKTS)},
	{4, 1, COUNTER(SYMBOL_ERROR_COUNTER)},
	{4, 1, COUNTER(LINK_ERROR_RECOVERY_COUNTER)},
	{4, 1, COUNTER(LINK_DOWNED_COUNTER)},
	{4, 1, COUNTER(PORT_RCV_ERRORS)},
	{4, 1, COUNTER(PORT_RCV_REMOTE_PHYSICAL_ERRORS)},
	{4, 1, COUNTER(PORT_RCV_SWITCH_RELAY_ERRORS)},
	{4, 1, COUNTER(PORT_XMIT_DISCARDS)},
	{4, 1, COUNTER(PORT_XMIT_CONSTRAINT_ERRORS)},
	{4, 1, COUNTER(PORT_RCV_CONSTRAINT_ERRORS)},
	{4, 1, COUNTER(LOCAL_LINK_INTEGRITY_ERRORS)},
	{4, 1, COUNTER(EXCESSIVE_BUFFER_OVERRUN_ERRORS)},
	{4, 1, COUNTER(VL15_DROPPED)},
};

static uint64_t value_of(
	const struct member *member, const struct triad_engine_row *row)
{
	uint32_t has = member->counters & row->has;
	uint64_t sum = 0;

	if (member->counters && !has)
		return UINT64_MAX; /* sFlow's value for "unknown" */
	for (; has; has &= has - 1)
		sum += row->total[__builtin_ctz(has)];
	return sum * member->times;
}

static void put_members(struct triad_wire *w, const struct member *members, size_t n,
	const struct triad_engine_row *row)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = value_of(&members[i], row);

		/* Sizes that the compiler knows become one store. */
		if (members[i].octets == 8)
			triad_wire_put(w, 8, value);
		else
			triad_wire_put(w, 4, value);
	}
}

/* --- what both kinds have --- */

static void put32(struct triad_wire *w, uint32_t value)
{
	triad_wire_put(w, 4, value);
}

/* Of a sample or a record. */
static void put_record_head(struct triad_wire *w, uint32_t format, size_t size)
{
	put32(w, format);
	put32(w, (uint32_t)size);
}

static void begin_datagram(struct triad_sflow_datagram *datagram, void *buffer,
	size_t size, const struct triad_sflow_header *header)
{
	struct triad_wire *w = &datagram->wire;
	bool is_ipv4 = header->agent.family == AF_INET;

	triad_wire_init(w, buffer, size);
	put32(w, VERSION);
	put32(w, is_ipv4 ? ADDRESS_IPV4 : ADDRESS_IPV6);
	triad_wire_put_octets(w, header->agent.octets, is_ipv4 ? 4 : 16);
	put32(w, header->sub_agent);
	put32(w, header->sequence);
	put32(w, header->uptime_ms);
	datagram->at_n_samples = w->at;
	put32(w, 0);
	datagram->n_samples = 0;
	datagram->expanded = header->expanded;
}

static size_t size_of(const struct triad_sflow_datagram *datagram)
{
	return datagram->n_samples && !datagram->wire.failed ? datagram->wire.at : 0;
}

static bool has_room(const struct triad_sflow_datagram *datagram, size_t size)
{
	const struct triad_wire *w = &datagram->wire;

	return !w->failed && size <= w->size - w->at;
}

static void count_sample(struct triad_sflow_datagram *datagram)
{
	struct triad_wire *w = &datagram->wire;
	size_t end = w->at;

	/* The number of samples is before them in the datagram. */
	triad_wire_seek(w, datagram->at_n_samples);
	put32(w, ++datagram->n_samples);
	triad_wire_seek(w, end);
}

/* An sFlowDataSource of class 0, ifIndex: one word, or class and index. */
static void put_source(const struct triad_sflow_datagram *datagram,
	struct triad_wire *w, uint32_t index)
{
	if (datagram->expanded)
		put32(w, 0);
	put32(w, datagram->expanded ? index : index & TRIAD_SFLOW_MAX_COMPACT_INDEX);
}

/* An interface of format 0, single: one word, or format and index. */
static void put_interface(const struct triad_sflow_datagram *datagram,
	struct triad_wire *w, uint32_t index)
{
	if (datagram->expanded)
		put32(w, 0);
	put32(w, index & 0x3fffffff);
}

/* --- counter samples --- */

void triad_sflow_counters_begin(struct triad_sflow_counters *counters, void *buffer,
	size_t size, const struct triad_sflow_header *header)
{
	begin_datagram(&counters->datagram, buffer, size, header);
}

size_t triad_sflow_counters_size(const struct triad_sflow_counters *counters)
{
	return size_of(&counters->datagram);
}

static size_t counter_sample_size(bool expanded)
{
	return (expanded ? 16 : 12) + COUNTER_RECORDS_SIZE;
}

size_t triad_sflow_counters_room(size_t size, const struct triad_sflow_header *header)
{
	size_t head = header->agent.family == AF_INET ? 28 : 40;

	return (size - head) / (HEAD + counter_sample_size(header->expanded));
}

/* Only an active port passes data packets. */
static uint32_t status_of(const struct triad_fabric_port *port)
{
	return (port->phys_state == TRIAD_PHYS_DISABLED ? 0 : STATUS_ADMIN_UP) |
		(port->state == TRIAD_PORT_ACTIVE ? STATUS_OPER_UP : 0);
}

static void put_if_counters(
	struct triad_wire *w, const struct triad_sflow_counter_sample *sample)
{
	put_record_head(w, IF_COUNTERS, IF_COUNTERS_SIZE);
	put32(w, sample->if_index);
	put32(w, IF_TYPE_INFINIBAND);
	/* A link that is down has no speed. */
	triad_wire_put(w, 8,
		sample->port->state > TRIAD_PORT_DOWN
			? triad_fabric_port_bps(sample->port)
			: 0);
	put32(w, FULL_DUPLEX);
	put32(w, status_of(sample->port));
	put_members(w, if_members, N_OF(if_members), sample->row);
	put32(w, NOT_PROMISCUOUS);
}

bool triad_sflow_counters_add(struct triad_sflow_counters *counters,
	const struct triad_sflow_counter_sample *sample)
{
	struct triad_sflow_datagram *datagram = &counters->datagram;
	struct triad_wire *w = &datagram->wire;
	size_t size = counter_sample_size(datagram->expanded);

	if (!has_room(datagram, HEAD + size))
		return false;
	put_record_head(
		w, datagram->expanded ? COUNTERS_EXPANDED : COUNTERS_SAMPLE, size);
	put32(w, sample->sequence);
	put_source(datagram, w, sample->if_index);
	put32(w, 2); /* records */
	put_if_counters(w, sample);
	put_record_head(w, IB_COUNTERS, IB_COUNTERS_SIZE);
	put_members(w, ib_members, N_OF(ib_members), sample->row);
	count_sample(datagram);
	return true;
}

/* --- flow samples --- */

void triad_sflow_flows_begin(struct triad_sflow_flows *flows, void *buffer, size_t size,
	const struct triad_sflow_header *header)
{
	begin_datagram(&flows->datagram, buffer, size, header);
}

size_t triad_sflow_flows_size(const struct triad_sflow_flows *flows)
{
	return size_of(&flows->datagram);
}

/* To the next multiple of 4: the padding of XDR. */
static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static void put_sampled_header(
	struct triad_wire *w, const struct triad_sflow_flow_sample *sample)
{
	static const uint8_t padding[3];
	size_t size = padded(sample->header_size);

	put_record_head(w, SAMPLED_HEADER, 16 + size);
	put32(w, HEADER_INFINIBAND);
	put32(w, sample->frame_length);
	put32(w, sample->stripped);
	put32(w, sample->header_size);
	triad_wire_put_octets(w, sample->header, sample->header_size);
	triad_wire_put_octets(w, padding, size - sample->header_size);
}

static void put_lrh_end(struct triad_wire *w, const struct triad_sflow_lrh_end *end)
{
	put32(w, end->vl);
	put32(w, end->sl);
	put32(w, end->dlid);
	put32(w, end->slid);
	put32(w, end->lnh);
}

static void put_lrh(struct triad_wire *w, const struct triad_sflow_lrh *lrh)
{
	put_record_head(w, EXTENDED_LRH, LRH_SIZE);
	put_lrh_end(w, &lrh->src);
	put_lrh_end(w, &lrh->dst);
}

static void put_grh(struct triad_wire *w, const struct triad_sflow_grh *grh)
{
	put_record_head(w, EXTENDED_GRH, GRH_SIZE);
	put32(w, grh->flow_label);
	put32(w, grh->traffic_class);
	triad_wire_put_octets(w, grh->src_gid, sizeof(grh->src_gid));
	triad_wire_put_octets(w, grh->dst_gid, sizeof(grh->dst_gid));
	put32(w, grh->next_header);
	put32(w, grh->length);
}

static void put_bth(struct triad_wire *w, const struct triad_sflow_bth *bth)
{
	put_record_head(w, EXTENDED_BTH, BTH_SIZE);
	put32(w, bth->pkey);
	put32(w, bth->dst_qp);
	put32(w, bth->opcode);
}

/* Octets of a flow sample after its head. */
static size_t flow_size(bool expanded, const struct triad_sflow_flow_sample *sample)
{
	return (expanded ? 44 : 32) + HEAD + 16 + padded(sample->header_size) +
		(sample->lrh ? HEAD + LRH_SIZE : 0) +
		(sample->grh ? HEAD + GRH_SIZE : 0) +
		(sample->bth ? HEAD + BTH_SIZE : 0);
}

bool triad_sflow_flows_add(
	struct triad_sflow_flows *flows, const struct triad_sflow_flow_sample *sample)
{
	struct triad_sflow_datagram *datagram = &flows->datagram;
	struct triad_wire *w = &datagram->wire;
	size_t size = flow_size(datagram->expanded, sample);

	if (!has_room(datagram, HEAD + size))
		return false;
	put_record_head(w, datagram->expanded ? FLOW_EXPANDED : FLOW_SAMPLE, size);
	put32(w, sample->sequence);
	put_source(datagram, w, sample->if_index);
	put32(w, sample->sampling_rate);
	put32(w, sample->sample_pool);
	put32(w, sample->drops);
	put_interface(datagram, w, sample->input);
	put_interface(datagram, w, sample->output);
	put32(w, 1u + !!sample->lrh + !!sample->grh + !!sample->bth);
	put_sampled_header(w, sample);
	if (sample->lrh)
		put_lrh(w, sample->lrh);
	if (sample->grh)
		put_grh(w, sample->grh);
	if (sample->bth)
		put_bth(w, sample->bth);
	count_sample(datagram);
	return true;
}
