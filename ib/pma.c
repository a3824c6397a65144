/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/pma.h"

#include <errno.h>
#include <string.h>

#include "triad/wire.h"

/* Octets into the MAD. */
enum {
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_TID_LOW = 12,
	AT_ATTRIBUTE = 16,
	AT_DATA = 64, /* [IBA 16.1.1]: the class header has 40 reserved octets */
};

/* Octets into PortCounters and PortCountersExtended. */
enum { AT_PORT_SELECT = 1, AT_EXTENDED_SELECT_2 = 4, AT_COUNTER_SELECT_2 = 18 };

/* Octets into ClassPortInfo [IBA 13.4.8.1]. */
enum {
	AT_REDIRECT_GID = 8,
	AT_REDIRECT_TC_SL_FL = 24,
	AT_REDIRECT_LID = 28,
	AT_REDIRECT_PKEY = 30,
	AT_REDIRECT_QP = 32,
	AT_REDIRECT_QKEY = 36,
};

/* Bits of the status field [IBA 13.4.7]. */
#define STATUS_BUSY 0x0001
#define STATUS_REDIRECT 0x0002

static const uint16_t attribute_ids[TRIAD_PMA_N_ATTRIBUTES] = {
	[TRIAD_PMA_CLASS_PORT_INFO] = 0x0001,
	[TRIAD_PMA_PORT_COUNTERS] = 0x0012,
	[TRIAD_PMA_PORT_COUNTERS_EXTENDED] = 0x001d,
	[TRIAD_PMA_RCV_ERROR_DETAILS] = 0x0015,
	[TRIAD_PMA_XMIT_DISCARD_DETAILS] = 0x0016,
	[TRIAD_PMA_OP_RCV_COUNTERS] = 0x0017,
	[TRIAD_PMA_FLOW_CTL_COUNTERS] = 0x0018,
	[TRIAD_PMA_VL_OP_PACKETS] = 0x0019,
	[TRIAD_PMA_VL_OP_DATA] = 0x001a,
	[TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS] = 0x001b,
	[TRIAD_PMA_VL_XMIT_WAIT] = 0x001c,
	[TRIAD_PMA_EXT_SPEEDS] = 0x001f,
	[TRIAD_PMA_EXT_SPEEDS_RSFEC] = 0x001f,
	[TRIAD_PMA_SW_PORT_VL_CONGESTION] = 0x0030,
	[TRIAD_PMA_RCV_CON_CTRL] = 0x0031,
	[TRIAD_PMA_SL_RCV_FECN] = 0x0032,
	[TRIAD_PMA_SL_RCV_BECN] = 0x0033,
	[TRIAD_PMA_XMIT_CON_CTRL] = 0x0034,
	[TRIAD_PMA_VL_XMIT_TIME_CONG] = 0x0035,
	[TRIAD_PMA_XMIT_DATA_SL] = 0x0036,
	[TRIAD_PMA_RCV_DATA_SL] = 0x0037,
};

static void encode_header(struct triad_wire *w, uint8_t *mad, uint8_t method,
	enum triad_pma_attribute attribute, uint32_t tid)
{
	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(w, 1, 1); /* BaseVersion */
	triad_wire_put(w, 1, TRIAD_MAD_CLASS_PERFORMANCE);
	triad_wire_put(w, 1, 1); /* ClassVersion */
	triad_wire_put(w, 1, method);
	triad_wire_seek(w, AT_TID_LOW);
	triad_wire_put(w, 4, tid);
	triad_wire_put(w, 2, attribute_ids[attribute]);
}

void triad_pma_encode_get(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t tid)
{
	struct triad_wire w;

	encode_header(&w, mad, TRIAD_MAD_METHOD_GET, attribute, tid);
	if (attribute == TRIAD_PMA_CLASS_PORT_INFO)
		return;
	triad_wire_seek(&w, AT_DATA + AT_PORT_SELECT);
	triad_wire_put(&w, 1, port);
	triad_wire_put(&w, 2, 0xffff); /* CounterSelect: all; a Get ignores it */
}

void triad_pma_make_set(uint8_t mad[TRIAD_MAD_SIZE])
{
	mad[AT_METHOD] = TRIAD_MAD_METHOD_SET;
}

void triad_pma_encode_reset(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t mask, uint32_t tid)
{
	uint32_t select = 0;
	struct triad_wire w;

	encode_header(&w, mad, TRIAD_MAD_METHOD_SET, attribute, tid);
	triad_wire_seek(&w, AT_DATA + AT_PORT_SELECT);
	triad_wire_put(&w, 1, port);
	if (attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED) {
		triad_wire_put(&w, 2, mask >> TRIAD_FIRST_WIDE_COUNTER);
		for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
			if (mask & 1u << i)
				select |= triad_counters[i].wide_select;
		triad_wire_seek(&w, AT_DATA + AT_EXTENDED_SELECT_2);
		triad_wire_put(&w, 4, select);
		return;
	}
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (mask & 1u << i)
			select |= triad_counters[i].select;
	triad_wire_put(&w, 2, select & 0xffff);
	triad_wire_seek(&w, AT_DATA + AT_COUNTER_SELECT_2);
	triad_wire_put(&w, 1, select >> 16);
}

uint32_t triad_pma_tid(const uint8_t *mad, size_t size)
{
	struct triad_wire w;

	triad_wire_init(&w, (void *)mad, size);
	triad_wire_seek(&w, AT_TID_LOW);
	return triad_wire_get32(&w);
}

int triad_pma_check(const uint8_t *mad, size_t size, enum triad_pma_attribute attribute,
	uint16_t *status)
{
	struct triad_wire w;
	uint8_t class, method;
	uint16_t id;

	*status = 0;
	if (size < TRIAD_MAD_SIZE)
		return EPROTO;
	triad_wire_init(&w, (void *)mad, size);
	triad_wire_seek(&w, 1);
	class = triad_wire_get8(&w);
	triad_wire_seek(&w, 3);
	method = triad_wire_get8(&w);
	*status = triad_wire_get16(&w);
	triad_wire_seek(&w, AT_ATTRIBUTE);
	id = triad_wire_get16(&w);
	if (class != TRIAD_MAD_CLASS_PERFORMANCE ||
		method != TRIAD_MAD_METHOD_GET_RESPONSE)
		return EPROTO;
	/* A redirection comes as ClassPortInfo, for any requested attribute. */
	if (*status & STATUS_REDIRECT && id == attribute_ids[TRIAD_PMA_CLASS_PORT_INFO])
		return EREMOTE;
	if (id != attribute_ids[attribute])
		return EPROTO;
	if (*status & STATUS_BUSY)
		return EBUSY;
	return *status ? EOPNOTSUPP : 0;
}

uint8_t *triad_pma_data(uint8_t *mad)
{
	return mad + AT_DATA;
}

uint8_t triad_pma_port_select(const uint8_t *mad)
{
	return mad[AT_DATA + AT_PORT_SELECT];
}

uint32_t triad_pma_decode_capabilities(const uint8_t *mad)
{
	const uint8_t *data = mad + AT_DATA;

	return (uint32_t)(triad_wire_bits(data, 16, 16) |
		triad_wire_bits(data, 32 + 11, 16) << 16);
}

bool triad_pma_decode_redirect(
	const uint8_t *mad, struct triad_pma_redirect *redirect, bool *behind_router)
{
	const uint8_t *data = mad + AT_DATA;

	redirect->lid = (uint16_t)triad_wire_bits(data, AT_REDIRECT_LID * 8, 16);
	redirect->pkey = (uint16_t)triad_wire_bits(data, AT_REDIRECT_PKEY * 8, 16);
	redirect->qpn = (uint32_t)triad_wire_bits(data, AT_REDIRECT_QP * 8 + 8, 24);
	redirect->qkey = (uint32_t)triad_wire_bits(data, AT_REDIRECT_QKEY * 8, 32);
	redirect->sl = (uint8_t)triad_wire_bits(data, AT_REDIRECT_TC_SL_FL * 8 + 8, 4);
	*behind_router = !redirect->lid &&
		(triad_wire_bits(data, AT_REDIRECT_GID * 8, 64) ||
			triad_wire_bits(data, AT_REDIRECT_GID * 8 + 64, 64));
	return redirect->lid;
}

/* True when 'info' is read from 'attribute' of an agent with 'capabilities'. */
static bool is_read_from(const struct triad_counter_info *info,
	enum triad_pma_attribute attribute, uint32_t capabilities)
{
	bool is_wide = info->wide_offset && triad_pma_has_wide_errors(capabilities);
	/* That PortXmitWait is in PortCounters says its own bit, in the other attribute
	 * the one of all. */
	uint16_t needs =
		is_wide ? info->needs & (uint16_t)~TRIAD_PMA_XMIT_WAIT : info->needs;

	if (needs && !(needs & capabilities))
		return false;
	if (is_wide)
		return attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED;
	if (attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED)
		return info->ext_offset;
	/* Data counters come from the 64-bit attribute where there is one. */
	return info->bits &&
		!(info->ext_offset && triad_pma_has_extended(capabilities));
}

uint32_t triad_pma_counters(enum triad_pma_attribute attribute, uint32_t capabilities)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (is_read_from(&triad_counters[i], attribute, capabilities))
			mask |= 1u << i;
	return mask;
}

int triad_pma_decode_counters(const uint8_t *mad, enum triad_pma_attribute attribute,
	uint8_t port, uint32_t capabilities, struct triad_pma_reading *reading)
{
	const uint8_t *data = mad + AT_DATA;
	bool extended = attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED;

	/* An answer about another port must not count for this one. */
	reading->has = 0;
	if (triad_pma_port_select(mad) != port)
		return EPROTO;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const struct triad_counter_info *info = &triad_counters[i];

		if (!is_read_from(info, attribute, capabilities))
			continue;
		reading->has |= 1u << i;
		reading->raw[i] = extended
			? triad_wire_bits(data,
				  8u *
					  (info->ext_offset ? info->ext_offset
							    : info->wide_offset),
				  64)
			: triad_wire_bits(data, info->bit_offset, info->bits);
	}
	return 0;
}
