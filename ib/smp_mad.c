/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/smp_mad.h"

#include <errno.h>
#include <string.h>

#include "ib/mad_get.h"
#include "triad/wire.h"

/* In an SMP [IBA 14.2.1.1, 14.2.1.2]. */
enum {
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_M_KEY = 24,
	AT_DATA = 64,
	AT_PATH = 128,
};
#define DIRECTION_BIT 0x8000 /* of the status of an SMP by directed route */
/* In a MAD of a vendor's class with an OUI [IBA 16.5]. */
#define AT_OUI 37

const uint8_t triad_smp_openib_oui[3] = {0x00, 0x14, 0x05};

int triad_smp_add_hop(struct triad_smp_route *route, uint8_t port)
{
	if (route->path.n_hops >= TRIAD_ROUTE_MAX_HOPS)
		return EHOSTUNREACH;
	route->path.ports[++route->path.n_hops] = port;
	return 0;
}

void triad_smp_encode(uint8_t mad[TRIAD_MAD_SIZE], const struct triad_smp_route *route,
	const struct triad_smp_request *request, const uint8_t *data, uint32_t tid)
{
	struct triad_wire w;

	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(&w, 1, TRIAD_SMP_CLASS_DIRECTED);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(
		&w, 1, request->is_set ? TRIAD_MAD_METHOD_SET : TRIAD_MAD_METHOD_GET);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 1, 0);
	triad_wire_put(&w, 1, route->path.n_hops);
	triad_wire_put(&w, 8, tid);
	triad_wire_put(&w, 2, (uint16_t)request->attribute);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4, request->modifier);
	triad_wire_put(&w, 8, route->m_key);
	triad_wire_put(&w, 2, TRIAD_SMP_PERMISSIVE_LID);
	triad_wire_put(&w, 2, TRIAD_SMP_PERMISSIVE_LID);
	memcpy(mad + AT_DATA, data, TRIAD_SMP_DATA_SIZE);
	memcpy(mad + AT_PATH, route->path.ports, (size_t)route->path.n_hops + 1);
}

bool triad_smp_is_answer(const struct triad_mad_reply *reply, uint32_t tid)
{
	return reply->size == TRIAD_MAD_SIZE &&
		triad_pma_tid(reply->mad, reply->size) == tid;
}

int triad_smp_decode(const uint8_t mad[TRIAD_MAD_SIZE], uint8_t *data, uint16_t *status)
{
	*status = (uint16_t)(triad_wire_bits(mad, AT_STATUS * 8, 16) &
		(uint16_t)~DIRECTION_BIT);
	memcpy(data, mad + AT_DATA, TRIAD_SMP_DATA_SIZE);
	return *status ? EPROTO : 0;
}

void triad_smp_encode_get_by_lid(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_smp_attribute attribute, uint32_t modifier, uint64_t m_key,
	uint32_t tid)
{
	struct triad_wire w;

	triad_mad_begin_get(&w, mad, TRIAD_MAD_CLASS_SUBNET_LID, tid);
	triad_wire_put(&w, 2, (uint16_t)attribute);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4, modifier);
	triad_wire_seek(&w, AT_M_KEY);
	triad_wire_put(&w, 8, m_key);
}

/* A generic notice, informational. */
#define NOTICE_TYPE 0x84
#define TRAP_LOCAL_CHANGES 144
#define OTHER_LOCAL_CHANGES 0x01
#define SM_PRIORITY_CHANGED 0x0008

void triad_smp_encode_priority_trap(
	uint8_t mad[TRIAD_MAD_SIZE], const struct triad_sm_trap *trap, uint32_t tid)
{
	struct triad_wire w;

	triad_smp_encode_get_by_lid(mad, TRIAD_SMP_NOTICE, 0, 0, tid);
	mad[AT_METHOD] = TRIAD_MAD_METHOD_TRAP;
	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_seek(&w, AT_DATA);
	triad_wire_put(&w, 1, NOTICE_TYPE);
	triad_wire_put(&w, 3, trap->node_type);
	triad_wire_put(&w, 2, TRAP_LOCAL_CHANGES);
	triad_wire_put(&w, 2, trap->lid);
	triad_wire_put(&w, 2, 0);
	/* The data of trap 144. */
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 2, trap->lid);
	triad_wire_put(&w, 1, 0);
	triad_wire_put(&w, 1, OTHER_LOCAL_CHANGES);
	triad_wire_put(&w, 4, trap->capabilities);
	triad_wire_put(&w, 2, SM_PRIORITY_CHANGED);
}

struct triad_sm_info triad_sm_info_decode(const uint8_t data[TRIAD_SMP_DATA_SIZE])
{
	return (struct triad_sm_info){
		.guid = triad_wire_bits(data, 0, 64),
		.priority = (uint8_t)triad_wire_bits(data, 160, 4),
		.state = (uint8_t)triad_wire_bits(data, 164, 4),
	};
}

uint64_t triad_node_info_port_guid(const uint8_t data[TRIAD_SMP_DATA_SIZE])
{
	return triad_wire_bits(data, 160, 64);
}

void triad_smp_encode_ping(uint8_t mad[TRIAD_MAD_SIZE], uint32_t tid)
{
	struct triad_wire w;

	triad_mad_begin_get(&w, mad, TRIAD_SMP_CLASS_PING, tid);
	memcpy(mad + AT_OUI, triad_smp_openib_oui, sizeof(triad_smp_openib_oui));
}

/* --- counters --- */

/* Counters of a bad link, not of a busy or closed one. */
static const uint32_t link_errors = 1u << TRIAD_SYMBOL_ERROR_COUNTER |
	1u << TRIAD_LINK_ERROR_RECOVERY_COUNTER | 1u << TRIAD_LINK_DOWNED_COUNTER |
	1u << TRIAD_PORT_RCV_ERRORS | 1u << TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS |
	1u << TRIAD_LOCAL_LINK_INTEGRITY_ERRORS |
	1u << TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS;

/* A narrow counter stops at its maximum, so its value is unknown then.  A wide one never gets so
 * far, but a broken agent may say so, and sums must not wrap. */
static uint64_t traffic_of(
	const struct triad_pma_reading *reading, bool is_narrow, unsigned counter)
{
	uint64_t n = reading->raw[counter];

	return n >= (is_narrow ? triad_counter_max(counter) : UINT64_MAX / 8)
		? UINT64_MAX
		: n;
}

void triad_smp_count(struct triad_smp_counts *counts,
	const struct triad_pma_reading *narrow, const struct triad_pma_reading *wide)
{
	uint64_t traffic[4]; /* octets / 4 sent, received; packets sent, received */

	counts->n_errors = 0;
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		uint64_t n = narrow->raw[i];

		if (!(link_errors >> i & 1))
			continue;
		if (wide && wide->has >> i & 1 && wide->raw[i] > n)
			n = wide->raw[i];
		counts->n_errors += n < UINT64_MAX / 8 ? n : UINT64_MAX / 8;
	}
	for (unsigned i = 0; i < 4; i++)
		traffic[i] = traffic_of(
			wide ? wide : narrow, !wide, TRIAD_PORT_XMIT_DATA + i);
	counts->octets = traffic[0] == UINT64_MAX || traffic[1] == UINT64_MAX
		? UINT64_MAX
		: 4 * (traffic[0] + traffic[1]);
	counts->sent = traffic[2];
	counts->received = traffic[3];
	counts->is_wide = wide;
	counts->n_discarded = traffic_of(narrow, true, TRIAD_PORT_XMIT_DISCARDS);
	if (wide && wide->has >> TRIAD_PORT_XMIT_DISCARDS & 1)
		counts->n_discarded = traffic_of(wide, false, TRIAD_PORT_XMIT_DISCARDS);
}
