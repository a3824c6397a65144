/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/cable_info.h"

#include <string.h>

#include "ib/mad_get.h"
#include "triad/wire.h"

#define I2C_ADDRESS 0x50

enum { AT_STATUS = 4, AT_ATTRIBUTE = 16, AT_DATA = 64, AT_OCTETS = AT_DATA + 16 };

/* The upper half of the status. */
enum {
	STATUS_INVALID_PORT = 1,
	STATUS_UNSUPPORTED_PORT,
	STATUS_NOT_CONNECTED,
	STATUS_NO_EEPROM,
	STATUS_PAGE,
	STATUS_ADDRESS,
	STATUS_I2C_ADDRESS,
	STATUS_QSFP_VIOLATION,
	STATUS_I2C_BUSY,
};

void triad_cable_info_encode(uint8_t mad[TRIAD_MAD_SIZE], uint8_t port,
	const struct triad_cable_address *block_address, uint32_t tid)
{
	struct triad_wire w;

	triad_mad_begin_get(&w, mad, TRIAD_MAD_CLASS_SUBNET_LID, tid);
	triad_wire_put(&w, 2, TRIAD_CABLE_INFO_ATTRIBUTE);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4, port);
	triad_wire_seek(&w, AT_DATA);
	triad_wire_put(&w, 1, I2C_ADDRESS);
	triad_wire_put(&w, 1, block_address->page);
	triad_wire_put(&w, 2, block_address->address);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 2, block_address->size);
}

static enum triad_cable_info_result judge_status(unsigned status)
{
	switch (status >> 8) {
	case STATUS_INVALID_PORT:
	case STATUS_UNSUPPORTED_PORT:
		return TRIAD_CABLE_INFO_NO_CAGE;
	case STATUS_NOT_CONNECTED:
		return TRIAD_CABLE_INFO_EMPTY;
	case STATUS_NO_EEPROM:
		return TRIAD_CABLE_INFO_NO_MEMORY;
	case STATUS_PAGE:
	case STATUS_ADDRESS:
	case STATUS_I2C_ADDRESS:
		return TRIAD_CABLE_INFO_NO_PAGE;
	case STATUS_QSFP_VIOLATION:
	case STATUS_I2C_BUSY:
		return TRIAD_CABLE_INFO_BUSY;
	}
	if (!status)
		return TRIAD_CABLE_INFO_READ;
	/* Busy, with no "invalid field" code [IBA 13.4.7]. */
	return (status & 0x1f) == 1 ? TRIAD_CABLE_INFO_BUSY : TRIAD_CABLE_INFO_REFUSED;
}

enum triad_cable_info_result triad_cable_info_decode(
	const uint8_t mad[TRIAD_MAD_SIZE], const uint8_t **data)
{
	*data = mad + AT_OCTETS;
	if (mad[3] != TRIAD_MAD_METHOD_GET_RESPONSE ||
		triad_wire_bits(mad, AT_ATTRIBUTE * 8, 16) !=
			TRIAD_CABLE_INFO_ATTRIBUTE)
		return TRIAD_CABLE_INFO_REFUSED;
	return judge_status((unsigned)triad_wire_bits(mad, AT_STATUS * 8, 16));
}
