/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Encodes requests to performance management agents, and decodes their answers.
 *
 * Model: a request is a MAD of the performance class, method Get, that names a port of
 * the answering node by PortSelect.  An answer becomes a reading: for each counter of
 * the table, whether this agent has it, and its raw value.
 *
 * An agent's ClassPortInfo tells which counters it has: PortXmitWait, QP1Dropped and
 * the extended attribute are optional.  Counters that an agent lacks are absent from
 * its readings, never 0.
 *
 * Thread-safety: functions without state.
 * Spec: IBA volume 1, 16.1 (performance management), 13.4.8.1 (ClassPortInfo). */
#ifndef TRIAD_IB_PMA_H
#define TRIAD_IB_PMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/counter.h"
#include "triad/mad.h"

/* ClassPortInfo:CapabilityMask of the performance class [IBA 16.1.3.1]. */
enum {
	TRIAD_PMA_ALL_PORT_SELECT = 1 << 8,
	TRIAD_PMA_EXTENDED_WIDTH = 1 << 9,
	TRIAD_PMA_EXTENDED_WIDTH_NO_IETF = 1 << 10, /* without unicast, multicast */
	TRIAD_PMA_XMIT_WAIT = 1 << 12,
	TRIAD_PMA_RSFEC = 1 << 14, /* PortExtendedSpeedsCounters has RS-FEC's layout */
	TRIAD_PMA_QP1_DROPPED = 1 << 15,
	/* ClassPortInfo:CapabilityMask2, from bit 16 on:
	 * IsAdditionalPortCountersExtendedSupported. */
	TRIAD_PMA_WIDE_ERRORS = 1 << 17,
};

enum triad_pma_attribute {
	TRIAD_PMA_CLASS_PORT_INFO,
	TRIAD_PMA_PORT_COUNTERS,
	TRIAD_PMA_PORT_COUNTERS_EXTENDED,
	TRIAD_PMA_N_COUNTER_ATTRIBUTES, /* those above: ClassPortInfo, and counters of
	                                 * ib/counter.h */
	/* Details (ib/detail.h).  Agents' messages have these numbers: append new ones
	 * at the end (collect/detail_message.h). */
	TRIAD_PMA_FIRST_DETAIL = TRIAD_PMA_N_COUNTER_ATTRIBUTES,
	TRIAD_PMA_RCV_ERROR_DETAILS = TRIAD_PMA_FIRST_DETAIL,
	TRIAD_PMA_XMIT_DISCARD_DETAILS,
	TRIAD_PMA_OP_RCV_COUNTERS,
	TRIAD_PMA_FLOW_CTL_COUNTERS,
	TRIAD_PMA_VL_OP_PACKETS,
	TRIAD_PMA_VL_OP_DATA,
	TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS,
	TRIAD_PMA_VL_XMIT_WAIT,
	TRIAD_PMA_EXT_SPEEDS,
	TRIAD_PMA_EXT_SPEEDS_RSFEC,
	TRIAD_PMA_SW_PORT_VL_CONGESTION,
	TRIAD_PMA_RCV_CON_CTRL,
	TRIAD_PMA_SL_RCV_FECN,
	TRIAD_PMA_SL_RCV_BECN,
	TRIAD_PMA_XMIT_CON_CTRL,
	TRIAD_PMA_VL_XMIT_TIME_CONG,
	TRIAD_PMA_XMIT_DATA_SL,
	TRIAD_PMA_RCV_DATA_SL,
	TRIAD_PMA_N_ATTRIBUTES
};

/* Why an agent's counters can't be read. */
enum triad_pma_trouble_kind {
	TRIAD_PMA_SILENT,    /* it does not answer, or nobody said more */
	TRIAD_PMA_BUSY,      /* it answers that it is busy */
	TRIAD_PMA_WRONG,     /* it answers another question, or for another port */
	TRIAD_PMA_ELSEWHERE, /* its answers come from another LID than was asked */
	TRIAD_PMA_REFUSES,   /* it refuses PortCounters */
};

struct triad_pma_trouble {
	uint8_t kind; /* enum triad_pma_trouble_kind */
	uint16_t lid; /* of TRIAD_PMA_ELSEWHERE: where its answers come from */
};

struct triad_pma_reading {
	uint32_t has; /* bit i: counter i of the table was read */
	uint64_t raw[TRIAD_N_COUNTERS];
};

/* PortSelect of a summary: the attribute summed up over all ports of the node, each sum
 * of PortCounters stopping at the counter's maximum [IBA 16.1.3.5]. */
#define TRIAD_PMA_ALL_PORTS 0xff

/* The place to which an agent redirects requests [IBA 13.5.2]. */
struct triad_pma_redirect {
	uint16_t lid;
	uint16_t pkey;
	uint32_t qpn;
	uint32_t qkey;
	uint8_t sl;
};

/* Makes a Get of 'attribute' for 'port' of the node it is sent to. */
void triad_pma_encode_get(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t tid);

/* Turns a Get whose CounterSelect names all counters into a Set. */
void triad_pma_make_set(uint8_t mad[TRIAD_MAD_SIZE]);

/* Makes a Set that resets those counters in 'mask' (bit i: counter i) that 'attribute'
 * can reset. */
void triad_pma_encode_reset(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t mask, uint32_t tid);

/* The low 32 bits of the transaction ID; 0 if 'mad' is shorter than a header. */
uint32_t triad_pma_tid(const uint8_t *mad, size_t size);

/* Checks that 'mad' answers a Get or Set of 'attribute'.  Returns 0; EPROTO (not the
 * answer: another class, method or attribute, or too short); EBUSY (the agent dropped
 * the request: ask again); EREMOTE (the answer is a ClassPortInfo that redirects); or
 * EOPNOTSUPP (it refused; '*status' is the MAD's status field, for the log). */
int triad_pma_check(const uint8_t *mad, size_t size, enum triad_pma_attribute attribute,
	uint16_t *status);

/* The attribute in a MAD of the performance class. */
uint8_t *triad_pma_data(uint8_t *mad);

/* The port that a MAD with a counter attribute is about. */
uint8_t triad_pma_port_select(const uint8_t *mad);

/* Reads the capability mask out of a checked ClassPortInfo, and the second one from bit
 * 16 on. */
uint32_t triad_pma_decode_capabilities(const uint8_t *mad);

/* Reads the redirection of a checked ClassPortInfo.  Returns false when it has no LID:
 * then the agent is where it answered, or behind a router, as '*behind_router' says. */
bool triad_pma_decode_redirect(
	const uint8_t *mad, struct triad_pma_redirect *redirect, bool *behind_router);

/* The counters (bit i: counter i) to read from 'attribute' of an agent with
 * 'capabilities'. */
uint32_t triad_pma_counters(enum triad_pma_attribute attribute, uint32_t capabilities);

/* Reads the counters out of a checked answer of one of the counter attributes.
 * 'capabilities' decides which of them the agent has.  Returns 0, or EPROTO when the
 * answer is about another port than 'port'. */
int triad_pma_decode_counters(const uint8_t *mad, enum triad_pma_attribute attribute,
	uint8_t port, uint32_t capabilities, struct triad_pma_reading *reading);

/* True when the agent has the extended attribute. */
static inline bool triad_pma_has_extended(uint32_t capabilities)
{
	return capabilities &
		(TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_EXTENDED_WIDTH_NO_IETF);
}

/* True when the agent's errors and PortXmitWait are read from the extended attribute. */
static inline bool triad_pma_has_wide_errors(uint32_t capabilities)
{
	return triad_pma_has_extended(capabilities) &&
		capabilities & TRIAD_PMA_WIDE_ERRORS;
}

#endif
