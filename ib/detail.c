/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/detail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "triad/wire.h"

/* --- attributes --- */

#define ATTRIBUTE(name_, class_)                                                       \
	{                                                                              \
		.name = name_, .class = TRIAD_DETAIL_##class_, .explains = -1          \
	}

static const struct triad_detail_attribute attributes[TRIAD_PMA_N_ATTRIBUTES] = {
	[TRIAD_PMA_RCV_ERROR_DETAILS] = {.name = "PortRcvErrorDetails",
		.class = TRIAD_DETAIL_ERRORS,
		.explains = TRIAD_PORT_RCV_ERRORS},
	[TRIAD_PMA_XMIT_DISCARD_DETAILS] = {.name = "PortXmitDiscardDetails",
		.class = TRIAD_DETAIL_ERRORS,
		.explains = TRIAD_PORT_XMIT_DISCARDS},
	[TRIAD_PMA_OP_RCV_COUNTERS] = ATTRIBUTE("PortOpRcvCounters", VL),
	[TRIAD_PMA_FLOW_CTL_COUNTERS] = ATTRIBUTE("PortFlowCtlCounters", VL),
	[TRIAD_PMA_VL_OP_PACKETS] = ATTRIBUTE("PortVLOpPackets", VL),
	[TRIAD_PMA_VL_OP_DATA] = ATTRIBUTE("PortVLOpData", VL),
	[TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS] =
		ATTRIBUTE("PortVLXmitFlowCtlUpdateErrors", VL),
	[TRIAD_PMA_VL_XMIT_WAIT] = ATTRIBUTE("PortVLXmitWaitCounters", VL),
	[TRIAD_PMA_EXT_SPEEDS] = ATTRIBUTE("PortExtendedSpeedsCounters", FEC),
	[TRIAD_PMA_EXT_SPEEDS_RSFEC] =
		ATTRIBUTE("PortExtendedSpeedsRSFECCounters", FEC),
	[TRIAD_PMA_SW_PORT_VL_CONGESTION] = {.name = "SwPortVLCongestion",
		.class = TRIAD_DETAIL_VL,
		.is_of_switches = true,
		.explains = -1},
	[TRIAD_PMA_RCV_CON_CTRL] = ATTRIBUTE("PortRcvConCtrl", VL),
	[TRIAD_PMA_SL_RCV_FECN] = ATTRIBUTE("PortSLRcvFECN", VL),
	[TRIAD_PMA_SL_RCV_BECN] = ATTRIBUTE("PortSLRcvBECN", VL),
	[TRIAD_PMA_XMIT_CON_CTRL] = ATTRIBUTE("PortXmitConCtrl", VL),
	[TRIAD_PMA_VL_XMIT_TIME_CONG] = ATTRIBUTE("PortVLXmitTimeCong", VL),
	[TRIAD_PMA_XMIT_DATA_SL] = ATTRIBUTE("PortXmitDataSL", VL),
	[TRIAD_PMA_RCV_DATA_SL] = ATTRIBUTE("PortRcvDataSL", VL),
};

const struct triad_detail_attribute *triad_detail_attribute(
	enum triad_pma_attribute attribute)
{
	return attribute < TRIAD_PMA_N_ATTRIBUTES && attributes[attribute].name
		? &attributes[attribute]
		: NULL;
}

uint32_t triad_detail_attributes(enum triad_detail_class class)
{
	uint32_t set = 0;

	for (unsigned i = TRIAD_PMA_FIRST_DETAIL; i < TRIAD_PMA_N_ATTRIBUTES; i++)
		set |= attributes[i].class == class ? TRIAD_DETAIL_BIT(i) : 0;
	return set;
}

uint32_t triad_detail_explain(uint32_t counters)
{
	uint32_t set = 0;

	for (unsigned i = TRIAD_PMA_FIRST_DETAIL; i < TRIAD_PMA_N_ATTRIBUTES; i++)
		if (attributes[i].explains >= 0 &&
			counters & 1u << attributes[i].explains)
			set |= TRIAD_DETAIL_BIT(i);
	return set;
}

/* --- fields --- */

#define IN(attribute) TRIAD_DETAIL_BIT(TRIAD_PMA_##attribute)
#define FIELD(name_, metric_, in_, part_, unit_, error_, bits_, at_, n_, slot_)        \
	{                                                                              \
		.name = name_, .metric = metric_, .attributes = in_,                   \
		.part = TRIAD_PART_##part_, .unit = TRIAD_UNIT_##unit_,                \
		.is_error = error_, .bits = bits_, .bit_offset = at_, .n = n_,         \
		.slot = slot_                                                          \
	}
/* One counter of 16 bits, the 'slot'th after PortSelect and CounterSelect. */
#define CAUSE(name_, metric_, in_, slot_)                                              \
	FIELD(name_, metric_, IN(in_), PORT, EVENTS, true, 16, 32 + 16 * (slot_), 1,   \
		slot_)
/* One counter of 32 bits, in the same way. */
#define COUNT(name_, metric_, in_, unit_, slot_)                                       \
	FIELD(name_, metric_, IN(in_), PORT, unit_, false, 32, 32 + 32 * (slot_), 1,   \
		slot_)
/* Sixteen counters from there on, for VLs or SLs. */
#define SIXTEEN(name_, metric_, in_, part_, unit_, error_, bits_)                      \
	FIELD(name_, metric_, IN(in_), part_, unit_, error_, bits_, 32, 16, 0)
#define BOTH_SPEEDS (IN(EXT_SPEEDS) | IN(EXT_SPEEDS_RSFEC))

/* Agents' messages have indices of this table (collect/message.h): append new fields at
 * the end.  The first six metrics have the names of treydock's infiniband_exporter. */
const struct triad_detail_field triad_detail_fields[TRIAD_DETAIL_N_FIELDS] = {
	CAUSE("PortLocalPhysicalErrors", "local_physical_errors", RCV_ERROR_DETAILS, 0),
	CAUSE("PortMalformedPktErrors", "malformed_packet_errors", RCV_ERROR_DETAILS,
		1),
	CAUSE("PortBufferOverrunErrors", "buffer_overrun_errors", RCV_ERROR_DETAILS, 2),
	CAUSE("PortDLIDMappingErrors", "dli_mapping_errors", RCV_ERROR_DETAILS, 3),
	CAUSE("PortVLMappingErrors", "vl_mapping_errors", RCV_ERROR_DETAILS, 4),
	CAUSE("PortLoopingErrors", "looping_errors", RCV_ERROR_DETAILS, 5),
	CAUSE("PortInactiveDiscards", "inactive_discards", XMIT_DISCARD_DETAILS, 0),
	CAUSE("PortNeighborMTUDiscards", "neighbor_mtu_discards", XMIT_DISCARD_DETAILS,
		1),
	CAUSE("PortSwLifetimeLimitDiscards", "switch_lifetime_limit_discards",
		XMIT_DISCARD_DETAILS, 2),
	CAUSE("PortSwHOQLifetimeLimitDiscards", "switch_hoq_lifetime_limit_discards",
		XMIT_DISCARD_DETAILS, 3),
	COUNT("PortOpRcvPkts", "op_receive_packets", OP_RCV_COUNTERS, PACKETS, 0),
	COUNT("PortOpRcvData", "op_receive_data_bytes", OP_RCV_COUNTERS, WORDS, 1),
	COUNT("PortXmitFlowPkts", "transmit_flow_packets", FLOW_CTL_COUNTERS, PACKETS,
		0),
	COUNT("PortRcvFlowPkts", "receive_flow_packets", FLOW_CTL_COUNTERS, PACKETS, 1),
	SIXTEEN("PortVLOpPackets", "vl_op_packets", VL_OP_PACKETS, VL, PACKETS, false,
		16),
	SIXTEEN("PortVLOpData", "vl_op_data_bytes", VL_OP_DATA, VL, WORDS, false, 32),
	SIXTEEN("PortVLXmitFlowCtlUpdateErrors",
		"vl_transmit_flow_control_update_errors",
		VL_XMIT_FLOW_CTL_UPDATE_ERRORS, VL, EVENTS, true, 2),
	SIXTEEN("PortVLXmitWait", "vl_transmit_wait", VL_XMIT_WAIT, VL, TICKS, false,
		16),
	FIELD("SyncHeaderErrorCounter", "sync_header_errors", BOTH_SPEEDS, PORT, EVENTS,
		true, 16, 128, 1, 0),
	FIELD("UnknownBlockCounter", "unknown_blocks", BOTH_SPEEDS, PORT, EVENTS, true,
		16, 144, 1, 1),
	FIELD("ErrorDetectionCounterLane", "lane_error_detections", IN(EXT_SPEEDS),
		LANE, EVENTS, true, 16, 160, 12, 2),
	FIELD("FECCorrectableBlockCtrLane", "lane_fec_correctable_blocks",
		IN(EXT_SPEEDS), LANE, EVENTS, false, 32, 352, 12, 14),
	FIELD("FECUncorrectableBlockCtrLane", "lane_fec_uncorrectable_blocks",
		IN(EXT_SPEEDS), LANE, EVENTS, true, 32, 736, 12, 26),
	FIELD("FECCorrectableSymbolCtrLane", "lane_fec_correctable_symbols",
		IN(EXT_SPEEDS_RSFEC), LANE, EVENTS, false, 32, 352, 12, 2),
	FIELD("PortFECCorrectableBlockCtr", "fec_correctable_blocks",
		IN(EXT_SPEEDS_RSFEC), PORT, EVENTS, false, 32, 1120, 1, 14),
	FIELD("PortFECUncorrectableBlockCtr", "fec_uncorrectable_blocks",
		IN(EXT_SPEEDS_RSFEC), PORT, EVENTS, true, 32, 1152, 1, 15),
	FIELD("PortFECCorrectedSymbolCtr", "fec_corrected_symbols",
		IN(EXT_SPEEDS_RSFEC), PORT, EVENTS, false, 32, 1184, 1, 16),
	SIXTEEN("SWPortVLCongestion", "vl_congestion", SW_PORT_VL_CONGESTION, VL,
		EVENTS, false, 16),
	COUNT("PortPktRcvFECN", "receive_fecn_packets", RCV_CON_CTRL, PACKETS, 0),
	COUNT("PortPktRcvBECN", "receive_becn_packets", RCV_CON_CTRL, PACKETS, 1),
	SIXTEEN("PortSLRcvFECN", "sl_receive_fecn_packets", SL_RCV_FECN, SL, PACKETS,
		false, 32),
	SIXTEEN("PortSLRcvBECN", "sl_receive_becn_packets", SL_RCV_BECN, SL, PACKETS,
		false, 32),
	COUNT("PortXmitTimeCong", "transmit_time_congested", XMIT_CON_CTRL, TICKS, 0),
	/* VL15 has none. */
	FIELD("PortVLXmitTimeCong", "vl_transmit_time_congested", IN(VL_XMIT_TIME_CONG),
		VL, TICKS, false, 32, 32, 15, 0),
	SIXTEEN("XmtDataSL", "sl_transmit_data_bytes", XMIT_DATA_SL, SL, WORDS, false,
		32),
	SIXTEEN("RcvDataSL", "sl_receive_data_bytes", RCV_DATA_SL, SL, WORDS, false,
		32),
};

unsigned triad_detail_n_slots(enum triad_pma_attribute attribute)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		if (triad_detail_fields[i].attributes & TRIAD_DETAIL_BIT(attribute))
			n += triad_detail_fields[i].n;
	return n;
}

const struct triad_detail_field *triad_detail_field(
	enum triad_pma_attribute attribute, unsigned slot)
{
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++) {
		const struct triad_detail_field *field = &triad_detail_fields[i];

		if (field->attributes & TRIAD_DETAIL_BIT(attribute) &&
			slot >= field->slot && slot < field->slot + field->n)
			return field;
	}
	return NULL;
}

int triad_detail_field_find(const char *name)
{
	for (int i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		if (!strcasecmp(triad_detail_fields[i].name, name))
			return i;
	return -1;
}

const char *triad_detail_part_name(enum triad_detail_part part)
{
	static const char *const names[] = {"", "vl", "sl", "lane"};

	return names[part];
}

void triad_detail_format_name(
	const struct triad_detail_field *field, unsigned slot, char *text, size_t size)
{
	if (field->n == 1)
		snprintf(text, size, "%s", field->name);
	else
		snprintf(text, size, "%s%u", field->name, slot - field->slot);
}

bool triad_detail_is_near_full(
	enum triad_pma_attribute attribute, const struct triad_detail_reading *reading)
{
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++) {
		const struct triad_detail_field *field = &triad_detail_fields[i];
		uint32_t most = triad_detail_max(field);

		if (!(field->attributes & TRIAD_DETAIL_BIT(attribute)))
			continue;
		for (unsigned k = 0; k < field->n; k++)
			if (reading->raw[field->slot + k] > most - most / 4 - 1)
				return true;
	}
	return false;
}

/* --- MADs --- */

void triad_detail_encode_reset(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t tid)
{
	triad_pma_encode_get(mad, attribute, port, tid);
	triad_pma_make_set(mad);
	/* PortExtendedSpeedsCounters has a CounterSelect of 64 bits, after the place
	 * where others have theirs. */
	if (TRIAD_DETAIL_BIT(attribute) & BOTH_SPEEDS)
		memset(triad_pma_data(mad) + 8, 0xff, 8);
}

int triad_detail_decode(const uint8_t *mad, enum triad_pma_attribute attribute,
	uint8_t port, struct triad_detail_reading *reading)
{
	const uint8_t *data = triad_pma_data((uint8_t *)mad);

	if (triad_pma_port_select(mad) != port)
		return EPROTO;
	memset(reading, 0, sizeof(*reading));
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++) {
		const struct triad_detail_field *field = &triad_detail_fields[i];

		if (!(field->attributes & TRIAD_DETAIL_BIT(attribute)))
			continue;
		for (unsigned k = 0; k < field->n; k++)
			reading->raw[field->slot + k] = (uint32_t)triad_wire_bits(
				data, field->bit_offset + k * field->bits, field->bits);
	}
	return 0;
}
