/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counters of a port: one table, one row each.
 *
 * Decoding, totals, display, JSON, sorting and help loop over this table and know no
 * counter by name.  HACKING.md lists what a new counter of PortCounters or
 * PortCountersExtended needs besides.  The engine's rows (perfmgr/rows.h) and the
 * causes of alerts (perfmgr/watch/alerts.h) are full, agents' messages (collect/data.h)
 * nearly: static assertions check all three.
 *
 * Two attributes carry them: PortCounters, whose counters stop at their maximum
 * ("sticky"), and PortCountersExtended, whose 64-bit counters wrap.  The four data
 * counters are in both; if a port answers the extended attribute, that one counts.  So
 * such a counter has one row with both places.  Some agents have errors and PortXmitWait
 * in the extended attribute, too, with 64 bits ("wide"); all of them are then read there,
 * and nothing of such a port in PortCounters.
 *
 * Thread-safety: constant data.
 * Spec: IBA volume 1, 16.1.3.5 PortCounters, 16.1.4.11 PortCountersExtended. */
#ifndef TRIAD_IB_COUNTER_H
#define TRIAD_IB_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

enum triad_counter {
	TRIAD_SYMBOL_ERROR_COUNTER,
	TRIAD_LINK_ERROR_RECOVERY_COUNTER,
	TRIAD_LINK_DOWNED_COUNTER,
	TRIAD_PORT_RCV_ERRORS,
	TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS,
	TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS,
	TRIAD_PORT_XMIT_DISCARDS,
	TRIAD_PORT_XMIT_CONSTRAINT_ERRORS,
	TRIAD_PORT_RCV_CONSTRAINT_ERRORS,
	TRIAD_LOCAL_LINK_INTEGRITY_ERRORS,
	TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS,
	TRIAD_QP1_DROPPED,
	TRIAD_VL15_DROPPED,
	TRIAD_PORT_XMIT_WAIT,
	TRIAD_PORT_XMIT_DATA,
	TRIAD_PORT_RCV_DATA,
	TRIAD_PORT_XMIT_PKTS,
	TRIAD_PORT_RCV_PKTS,
	TRIAD_PORT_UNICAST_XMIT_PKTS,
	TRIAD_PORT_UNICAST_RCV_PKTS,
	TRIAD_PORT_MULTICAST_XMIT_PKTS,
	TRIAD_PORT_MULTICAST_RCV_PKTS,
	TRIAD_N_COUNTERS,
	/* Counters from here on are in every PortCountersExtended. */
	TRIAD_FIRST_WIDE_COUNTER = TRIAD_PORT_XMIT_DATA
};

/* Errors and PortXmitWait, which all agents have in PortCounters, and some in
 * PortCountersExtended, too. */
#define TRIAD_NARROW_COUNTERS ((1u << TRIAD_FIRST_WIDE_COUNTER) - 1)

enum triad_counter_unit {
	TRIAD_UNIT_EVENTS,
	TRIAD_UNIT_WORDS, /* 4 octets */
	TRIAD_UNIT_PACKETS,
	TRIAD_UNIT_TICKS, /* of the port's own clock */
};

struct triad_counter_info {
	const char *name;    /* IBA name, as in tables, command line and JSON */
	const char *heading; /* short, for a table's column */
	const char *metric;  /* for Prometheus: infiniband_switch_port_METRIC_total */
	enum triad_counter_unit unit;
	bool is_error;
	uint8_t bits;         /* width in PortCounters; 0: not there */
	uint16_t bit_offset;  /* from the attribute's first bit */
	uint16_t ext_offset;  /* octets into PortCountersExtended; 0: not there */
	uint16_t wide_offset; /* the same, of agents that have TRIAD_PMA_WIDE_ERRORS; 0:
	                       * it has an 'ext_offset' */
	uint16_t needs;       /* a bit of ClassPortInfo:CapabilityMask, or 0 */
	uint32_t select;      /* its bit in PortCounters:CounterSelect; 0: none.
	                      * CounterSelect2 is from bit 16 on */
	uint32_t wide_select; /* of 'wide_offset': its bit in
			       * PortCountersExtended:CounterSelect2 */
};

extern const struct triad_counter_info triad_counters[TRIAD_N_COUNTERS];

/* The counter of that IBA name (case ignored), or -1. */
int triad_counter_find(const char *name);

/* The greatest value of a counter of PortCounters; there it stops. */
static inline uint64_t triad_counter_max(unsigned counter)
{
	return (UINT64_C(1) << triad_counters[counter].bits) - 1;
}

/* True when a counter of PortCounters is past three quarters of its range.  The last
 * quarter is left for the time until the next reading and the reset. */
static inline bool triad_counter_is_near_full(unsigned counter, uint64_t raw)
{
	uint64_t most = triad_counter_max(counter);

	return most && raw > most - most / 4 - 1;
}

#endif
