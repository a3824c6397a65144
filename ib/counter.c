/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/counter.h"

#include <stddef.h>
#include <strings.h>

#include "ib/pma.h"

/* The 64-bit errors are in the order of their bits in CounterSelect2. */
#define WIDE(select_) .wide_offset = 72 + 8 * (select_), .wide_select = 1u << (select_)
#define EVENTS(name_, heading_, metric_, bits_, at_, select_)                          \
	{                                                                              \
		.name = name_, .heading = heading_, .metric = metric_,                 \
		.unit = TRIAD_UNIT_EVENTS, .is_error = true, .bits = bits_,            \
		.bit_offset = at_, .select = 1u << (select_), WIDE(select_)            \
	}
#define DATA(name_, heading_, metric_, unit_, at_, ext_, select_)                      \
	{                                                                              \
		.name = name_, .heading = heading_, .metric = metric_, .unit = unit_,  \
		.bits = 32, .bit_offset = at_, .ext_offset = ext_,                     \
		.select = 1u << (select_)                                              \
	}
#define EXTENDED(name_, heading_, metric_, ext_)                                       \
	{                                                                              \
		.name = name_, .heading = heading_, .metric = metric_,                 \
		.unit = TRIAD_UNIT_PACKETS, .ext_offset = ext_,                        \
		.needs = TRIAD_PMA_EXTENDED_WIDTH                                      \
	}

/* Offsets are those of IBA volume 1, tables of 16.1.3.5 and 16.1.4.11. */
const struct triad_counter_info triad_counters[TRIAD_N_COUNTERS] = {
	[TRIAD_SYMBOL_ERROR_COUNTER] =
		EVENTS("SymbolErrorCounter", "SymErr", "symbol_error", 16, 32, 0),
	[TRIAD_LINK_ERROR_RECOVERY_COUNTER] = EVENTS(
		"LinkErrorRecoveryCounter", "LinkRec", "link_error_recovery", 8, 48, 1),
	[TRIAD_LINK_DOWNED_COUNTER] =
		EVENTS("LinkDownedCounter", "LinkDown", "link_downed", 8, 56, 2),
	[TRIAD_PORT_RCV_ERRORS] =
		EVENTS("PortRcvErrors", "RcvErr", "receive_errors", 16, 64, 3),
	[TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS] = EVENTS("PortRcvRemotePhysicalErrors",
		"RcvRemPhy", "receive_remote_physical_errors", 16, 80, 4),
	[TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS] = EVENTS("PortRcvSwitchRelayErrors",
		"RcvSwRel", "receive_switch_relay_errors", 16, 96, 5),
	[TRIAD_PORT_XMIT_DISCARDS] =
		EVENTS("PortXmitDiscards", "XmtDisc", "transmit_discards", 16, 112, 6),
	[TRIAD_PORT_XMIT_CONSTRAINT_ERRORS] = EVENTS("PortXmitConstraintErrors",
		"XmtConstr", "transmit_constraint_errors", 8, 128, 7),
	[TRIAD_PORT_RCV_CONSTRAINT_ERRORS] = EVENTS("PortRcvConstraintErrors",
		"RcvConstr", "receive_constraint_errors", 8, 136, 8),
	[TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] = EVENTS("LocalLinkIntegrityErrors",
		"LinkInteg", "local_link_integrity_errors", 4, 152, 9),
	[TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = EVENTS("ExcessiveBufferOverrunErrors",
		"BufOver", "excessive_buffer_overrun_errors", 4, 156, 10),
	[TRIAD_QP1_DROPPED] = {.name = "QP1Dropped",
		.heading = "QP1Drop",
		.metric = "qp1_dropped",
		.unit = TRIAD_UNIT_EVENTS,
		.is_error = true,
		.bits = 16,
		.bit_offset = 160,
		.needs = TRIAD_PMA_QP1_DROPPED,
		WIDE(13)},
	[TRIAD_VL15_DROPPED] =
		EVENTS("VL15Dropped", "VL15Drop", "vl15_dropped", 16, 176, 11),
	[TRIAD_PORT_XMIT_WAIT] = {.name = "PortXmitWait",
		.heading = "XmtWait",
		.metric = "transmit_wait",
		.unit = TRIAD_UNIT_TICKS,
		.bits = 32,
		.bit_offset = 320,
		.needs = TRIAD_PMA_XMIT_WAIT,
		.select = 1u << 16,
		WIDE(12)},
	[TRIAD_PORT_XMIT_DATA] = DATA("PortXmitData", "XmtData", "transmit_data_bytes",
		TRIAD_UNIT_WORDS, 192, 8, 12),
	[TRIAD_PORT_RCV_DATA] = DATA("PortRcvData", "RcvData", "receive_data_bytes",
		TRIAD_UNIT_WORDS, 224, 16, 13),
	[TRIAD_PORT_XMIT_PKTS] = DATA("PortXmitPkts", "XmtPkts", "transmit_packets",
		TRIAD_UNIT_PACKETS, 256, 24, 14),
	[TRIAD_PORT_RCV_PKTS] = DATA("PortRcvPkts", "RcvPkts", "receive_packets",
		TRIAD_UNIT_PACKETS, 288, 32, 15),
	[TRIAD_PORT_UNICAST_XMIT_PKTS] = EXTENDED(
		"PortUnicastXmitPkts", "UcXmtPkts", "unicast_transmit_packets", 40),
	[TRIAD_PORT_UNICAST_RCV_PKTS] = EXTENDED(
		"PortUnicastRcvPkts", "UcRcvPkts", "unicast_receive_packets", 48),
	[TRIAD_PORT_MULTICAST_XMIT_PKTS] = EXTENDED(
		"PortMulticastXmitPkts", "McXmtPkts", "multicast_transmit_packets", 56),
	[TRIAD_PORT_MULTICAST_RCV_PKTS] = EXTENDED(
		"PortMulticastRcvPkts", "McRcvPkts", "multicast_receive_packets", 64),
};

int triad_counter_find(const char *name)
{
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		if (strcasecmp(triad_counters[i].name, name) == 0)
			return i;
	return -1;
}
