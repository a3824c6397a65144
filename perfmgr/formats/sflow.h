/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams of sFlow version 5, with the structures for InfiniBand.
 *
 * Model: the caller begins a datagram in its buffer, and adds samples while they fit;
 * one that does not fit belongs in the next datagram.  There are two kinds of
 * datagrams, of counter samples and of flow samples.  Each has its own type, so that
 * they can't be mixed: some collectors drop the rest of a datagram at a header protocol
 * that they don't know, such as INFINIBAND.
 *
 * A counter sample has if_counters and, behind it, ib_counters.  Their values are the
 * engine's totals, which no reset of the hardware takes back; a member of 32 bits
 * carries the total modulo 2^32, as the counters of SNMP do, one of 64 bits modulo
 * 2^64.  PortXmitData and PortRcvData count words of 4 octets, ifInOctets and
 * ifOutOctets octets.  A counter that the port lacks is "unknown", all bits one; a
 * member that is a sum adds the counters that the port has.  A total that happens to be
 * all ones looks unknown until it moves on, which the specification permits.
 *
 * Interfaces: an ifIndex is from 1 to TRIAD_SFLOW_MAX_INDEX. An agent uses the compact
 * encodings until it has an ifIndex of 2^24 or more. Then it must use the expanded ones
 * for all interfaces ('expanded').
 *
 * Thread-safety: none.  Memory: the buffer is borrowed from begin to the last use.
 * Nothing here allocates, logs or looks at a clock.
 * Spec: [sFlow v5 5]: Phaal and Lavine, sFlow Version 5, section 5;
 * [sflow-infiniband 2]: sFlow InfiniBand Structures, June 2013, section 2. */
#ifndef TRIAD_PERFMGR_SFLOW_H
#define TRIAD_PERFMGR_SFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/engine.h"
#include "triad/address.h"
#include "triad/fabric.h"
#include "triad/wire.h"

/* All ones in the 30 bits of an interface mean "none". */
#define TRIAD_SFLOW_MAX_INDEX ((1u << 30) - 2)
#define TRIAD_SFLOW_MAX_COMPACT_INDEX ((1u << 24) - 1)

/* Octets at most of a datagram's header and of a counter sample. */
#define TRIAD_SFLOW_HEADER_SIZE 40
#define TRIAD_SFLOW_COUNTERS_SIZE 192

/* The header of an agent's datagrams. */
struct triad_sflow_header {
	struct triad_address agent; /* its port is not used */
	uint32_t sub_agent;
	uint32_t sequence; /* of the agent's datagrams, of both kinds, from 1 */
	uint32_t uptime_ms;
	bool expanded;
};

/* The common part of both kinds; for sflow.c only. */
struct triad_sflow_datagram {
	struct triad_wire wire;
	size_t at_n_samples;
	uint32_t n_samples;
	bool expanded;
};

struct triad_sflow_counters {
	struct triad_sflow_datagram datagram;
};

struct triad_sflow_flows {
	struct triad_sflow_datagram datagram;
};

/* --- counter samples --- */

struct triad_sflow_counter_sample {
	uint32_t if_index;
	uint32_t sequence; /* of the samples of this interface */
	const struct triad_engine_row *row;
	const struct triad_fabric_port *port;
};

/* The number of samples that fit into a datagram of 'size' octets. */
size_t triad_sflow_counters_room(size_t size, const struct triad_sflow_header *header);

/* 'size' has room for the header and a sample at least. */
void triad_sflow_counters_begin(struct triad_sflow_counters *counters, void *buffer,
	size_t size, const struct triad_sflow_header *header);

/* Adds a sample.  False, with nothing added, when it does not fit. */
bool triad_sflow_counters_add(struct triad_sflow_counters *counters,
	const struct triad_sflow_counter_sample *sample);

/* Octets of the datagram; 0 while it has no sample and may not be sent. */
size_t triad_sflow_counters_size(const struct triad_sflow_counters *counters);

/* --- flow samples --- */

/* The local route header's fields at one end of the path. */
struct triad_sflow_lrh_end {
	uint32_t vl, sl, dlid, slid, lnh;
};

struct triad_sflow_lrh {
	struct triad_sflow_lrh_end src, dst;
};

struct triad_sflow_grh {
	uint32_t flow_label, traffic_class;
	uint8_t src_gid[16], dst_gid[16];
	uint32_t next_header, length;
};

struct triad_sflow_bth {
	uint32_t pkey, dst_qp, opcode;
};

struct triad_sflow_flow_sample {
	uint32_t if_index; /* the source */
	uint32_t sequence; /* of its flow samples */
	uint32_t sampling_rate, sample_pool, drops;
	uint32_t input, output; /* ifIndex; 0: not known */
	/* The packet's beginning, from its LRH on. */
	uint32_t frame_length, stripped;
	const uint8_t *header;
	uint32_t header_size;
	/* NULL: not known. */
	const struct triad_sflow_lrh *lrh;
	const struct triad_sflow_grh *grh;
	const struct triad_sflow_bth *bth;
};

/* As the functions for counter samples. */
void triad_sflow_flows_begin(struct triad_sflow_flows *flows, void *buffer, size_t size,
	const struct triad_sflow_header *header);
bool triad_sflow_flows_add(
	struct triad_sflow_flows *flows, const struct triad_sflow_flow_sample *sample);
size_t triad_sflow_flows_size(const struct triad_sflow_flows *flows);

#endif
