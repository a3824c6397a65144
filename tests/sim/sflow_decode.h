/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decodes sFlow datagrams more strictly than a collector: it refuses, with a reason,
 * each octet that differs from the specifications.  Written from them; it shares no
 * code with the encoder (perfmgr/formats/sflow.h).
 *
 * Memory: a decoded datagram's 'header' pointers point into the octets given. */
#ifndef TRIAD_TESTS_SIM_SFLOW_DECODE_H
#define TRIAD_TESTS_SIM_SFLOW_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many as 65,507 octets can hold. */
#define SFLOW_MAX_SAMPLES 1024

struct sflow_if_counters {
	uint32_t index, type;
	uint64_t speed;
	uint32_t direction, status;
	uint64_t in_octets;
	uint32_t in_unicast, in_multicast, in_broadcast;
	uint32_t in_discards, in_errors, in_unknown_protocols;
	uint64_t out_octets;
	uint32_t out_unicast, out_multicast, out_broadcast;
	uint32_t out_discards, out_errors, promiscuous;
};

struct sflow_ib_counters {
	uint64_t xmit_pkts, rcv_pkts;
	uint32_t symbol_error, link_error_recovery, link_downed;
	uint32_t rcv_errors, rcv_remote_physical_errors, rcv_switch_relay_errors;
	uint32_t xmit_discards, xmit_constraint_errors, rcv_constraint_errors;
	uint32_t local_link_integrity, buffer_overrun, vl15_dropped;
};

struct sflow_flow {
	uint32_t sampling_rate, sample_pool, drops, input, output;
	uint32_t frame_length, stripped, header_size;
	const uint8_t *header;
	bool has_lrh, has_grh, has_bth;
	uint32_t lrh[10]; /* in the order of the document */
	uint32_t flow_label, traffic_class, next_header, length;
	uint8_t src_gid[16], dst_gid[16];
	uint32_t bth[3];
};

struct sflow_sample {
	uint32_t sequence, source;
	union {
		struct {
			struct sflow_if_counters if_counters;
			struct sflow_ib_counters ib_counters;
		};
		struct sflow_flow flow;
	};
};

struct sflow_datagram {
	bool is_ipv6;
	uint8_t agent[16];
	uint32_t sub_agent, sequence, uptime_ms, n_samples;
	bool expanded, has_flows; /* else counters */
	struct sflow_sample samples[SFLOW_MAX_SAMPLES];
};

/* NULL when the datagram is right, else what is wrong.  'datagram' is then
 * undefined. */
const char *sflow_decode(
	const uint8_t *octets, size_t size, struct sflow_datagram *datagram);

#endif
