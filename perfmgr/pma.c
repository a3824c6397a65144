/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/pma.h"

#include <errno.h>
#include <string.h>

#include "triad/wire.h"

/* Octets into the MAD. */
enum {
	AT_STATUS = 4,
	AT_TID_LOW = 12,
	AT_ATTRIBUTE = 16,
	AT_DATA = 64, /* [IBA 16.1.1]: the class header has 40 reserved octets */
};

/* Bit of the status field [IBA 13.4.7]. */
#define STATUS_BUSY 0x0001

static const uint16_t attribute_ids[TRIAD_PMA_N_ATTRIBUTES] = {
	[TRIAD_PMA_CLASS_PORT_INFO] = 0x0001,
	[TRIAD_PMA_PORT_COUNTERS] = 0x0012,
	[TRIAD_PMA_PORT_COUNTERS_EXTENDED] = 0x001d,
};

void triad_pma_encode_get(uint8_t mad[TRIAD_MAD_SIZE],
	enum triad_pma_attribute attribute, uint8_t port, uint32_t tid)
{
	struct triad_wire w;

	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(&w, 1, 1); /* BaseVersion */
	triad_wire_put(&w, 1, TRIAD_MAD_CLASS_PERFORMANCE);
	triad_wire_put(&w, 1, 1); /* ClassVersion */
	triad_wire_put(&w, 1, TRIAD_MAD_METHOD_GET);
	triad_wire_seek(&w, AT_TID_LOW);
	triad_wire_put(&w, 4, tid);
	triad_wire_put(&w, 2, attribute_ids[attribute]);
	if (attribute == TRIAD_PMA_CLASS_PORT_INFO)
		return;
	triad_wire_seek(&w, AT_DATA + 1);
	triad_wire_put(&w, 1, port);   /* PortSelect */
	triad_wire_put(&w, 2, 0xffff); /* CounterSelect: all; a Get ignores it */
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
		method != TRIAD_MAD_METHOD_GET_RESPONSE ||
		id != attribute_ids[attribute])
		return EPROTO;
	if (*status & STATUS_BUSY)
		return EBUSY;
	return *status ? EOPNOTSUPP : 0;
}

uint16_t triad_pma_decode_capabilities(const uint8_t *mad)
{
	return (uint16_t)triad_wire_bits(mad + AT_DATA, 16, 16);
}

/* True when 'info' is read from 'attribute' of an agent with 'capabilities'. */
static bool is_read_from(const struct triad_counter_info *info,
	enum triad_pma_attribute attribute, uint16_t capabilities)
{
	if (info->needs && !(info->needs & capabilities))
		return false;
	if (attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED)
		return info->ext_offset;
	/* Data counters come from the 64-bit attribute where there is one. */
	return info->bits &&
		!(info->ext_offset && triad_pma_has_extended(capabilities));
}

int triad_pma_decode_counters(const uint8_t *mad, enum triad_pma_attribute attribute,
	uint8_t port, uint16_t capabilities, struct triad_pma_reading *reading)
{
	const uint8_t *data = mad + AT_DATA;
	bool extended = attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED;

	reading->has = 0;
	if (data[1] != port)
		return EPROTO;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const struct triad_counter_info *info = &triad_counters[i];

		if (!is_read_from(info, attribute, capabilities))
			continue;
		reading->has |= 1u << i;
		reading->raw[i] = extended
			? triad_wire_bits(data, info->ext_offset * 8u, 64)
			: triad_wire_bits(data, info->bit_offset, info->bits);
	}
	return 0;
}
