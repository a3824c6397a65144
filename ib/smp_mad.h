/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Encodes requests to one port, and decodes its answers: SMPs by directed route,
 * counters, a ping.
 *
 * Thread-safety: no state.
 * Spec: IBA volume 1, 14.2.1.1 (SMPs by LID), 14.2.1.2 (by directed route), 14.2.5.3
 * (NodeInfo), 14.2.5.13 (SMInfo), 13.4.8.2 and 14.2.5.1 (notices), 16.5 (a vendor's
 * class with an OUI). */
#ifndef TRIAD_IB_SMP_MAD_H
#define TRIAD_IB_SMP_MAD_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/pma.h"
#include "ib/route.h"
#include "triad/mad.h"

#define TRIAD_SMP_CLASS_DIRECTED 0x81
#define TRIAD_SMP_CLASS_PING 0x32 /* OpenIB's, as in infiniband-diags */
#define TRIAD_SMP_PERMISSIVE_LID 0xffff
extern const uint8_t triad_smp_openib_oui[3];

#define TRIAD_SMP_DATA_SIZE 64

struct triad_smp_route {
	struct triad_route path;
	uint64_t m_key;
	uint16_t lid; /* of the node there */
	uint8_t sl;
};

enum triad_smp_attribute {
	TRIAD_SMP_NOTICE = 0x02,
	TRIAD_SMP_NODE_DESCRIPTION = 0x10,
	TRIAD_SMP_NODE_INFO = 0x11,
	TRIAD_SMP_SWITCH_INFO = 0x12,
	TRIAD_SMP_PORT_INFO = 0x15,
	TRIAD_SMP_LINEAR_FORWARDING_TABLE = 0x19,
	TRIAD_SMP_MULTICAST_FORWARDING_TABLE = 0x1b,
	TRIAD_SMP_SM_INFO = 0x20,
};

struct triad_smp_request {
	bool is_set;
	enum triad_smp_attribute attribute;
	uint32_t modifier;
	unsigned timeout_ms;
};

/* Appends a hop, out of 'port'.  Returns 0 or EHOSTUNREACH (64 hops). */
int triad_smp_add_hop(struct triad_smp_route *route, uint8_t port);

/* A request; 'data' has TRIAD_SMP_DATA_SIZE octets of the attribute. */
void triad_smp_encode(uint8_t mad[TRIAD_MAD_SIZE], const struct triad_smp_route *route,
	const struct triad_smp_request *request, const uint8_t *data, uint32_t tid);

/* A Get by LID. */
void triad_smp_encode_get_by_lid(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_smp_attribute attribute, uint32_t modifier, uint64_t m_key,
	uint32_t tid);

/* SMSupportExtendedSpeeds, in the modifier of PortInfo: some devices tell their extended
 * speeds only to who sets it [IBA 14.2.5.6]. */
#define TRIAD_SMP_EXTENDED_SPEEDS (1u << 31)

/* A Trap 144 by LID, which tells a master that this SM's priority has changed. */
struct triad_sm_trap {
	uint16_t lid; /* of the SM's port */
	uint8_t node_type;
	uint32_t capabilities; /* PortInfo:CapabilityMask */
};
void triad_smp_encode_priority_trap(
	uint8_t mad[TRIAD_MAD_SIZE], const struct triad_sm_trap *trap, uint32_t tid);

/* Whether it is a complete answer to request 'tid'. */
bool triad_smp_is_answer(const struct triad_mad_reply *reply, uint32_t tid);

/* Reads the attribute of an answer, and its status without the direction bit.  Returns
 * 0, or EPROTO when the status is not 0. */
int triad_smp_decode(
	const uint8_t mad[TRIAD_MAD_SIZE], uint8_t *data, uint16_t *status);

/* What an SM says about itself. */
struct triad_sm_info {
	uint64_t guid;           /* of its port */
	uint8_t priority, state; /* TRIAD_SM_STATE_* */
};

enum {
	TRIAD_SM_STATE_NOT_ACTIVE = 0,
	TRIAD_SM_STATE_DISCOVERING = 1,
	TRIAD_SM_STATE_STANDBY = 2,
	TRIAD_SM_STATE_MASTER = 3,
};

struct triad_sm_info triad_sm_info_decode(const uint8_t data[TRIAD_SMP_DATA_SIZE]);

/* The GUID of the port that a NodeInfo came from. */
uint64_t triad_node_info_port_guid(const uint8_t data[TRIAD_SMP_DATA_SIZE]);

/* A request to an ibping server. */
void triad_smp_encode_ping(uint8_t mad[TRIAD_MAD_SIZE], uint32_t tid);

/* What a port's PMA has counted, both ways. */
struct triad_smp_counts {
	uint64_t n_errors; /* of all kinds together */
	uint64_t octets;   /* sent and received; UINT64_MAX: not known, as after 16 GiB
	                    * where the agent has no 64-bit counters */
	uint64_t sent, received; /* packets; UINT64_MAX: not known */
	uint64_t
		n_discarded; /* packets that the port was to send; UINT64_MAX: not known */
	bool is_wide;        /* traffic is by PortCountersExtended */
};

/* Sums up readings of PortCounters and PortCountersExtended; NULL where the agent lacks
 * the attribute.  Of an error that is in both, the greater value counts: PortCounters
 * stop at their maximum, and an agent may promise the other ones and answer zeros. */
void triad_smp_count(struct triad_smp_counts *counts,
	const struct triad_pma_reading *narrow, const struct triad_pma_reading *wide);

#endif
