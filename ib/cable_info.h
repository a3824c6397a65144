/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a cable's or module's memory through its port, by SMP: the vendor attribute
 * CableInfo (0xff60) of Mellanox and NVIDIA devices.
 *
 * Model: one MAD reads up to 48 octets of one page.  The attribute's modifier is the
 * port.  The 64 octets of data are
 *
 *      0  I2C address, 0x50          1  page
 *      2  first octet (16 bits)      4  reserved
 *      6  octets wanted (16 bits)    8  reserved (a password, for those who write)
 *     16  what was read
 *
 * Octets 0 to 127 are the same on each page, 128 to 255 are the page's own.  When
 * nothing can be read, the upper half of the MAD's status says why.
 *
 * Only Get is ever sent.  M_Key is 0: a port that protects its attributes against
 * reading (M_KeyProtectBits above 1) does not answer [IBA 14.2.4.1].
 *
 * Thread-safety: functions without state.
 * Source: Linux, drivers/net/ethernet/mellanox/mlx4/port.c (layout and status);
 * mstflint, register MCIA, whose fields are the same; ibdiagnet, which gives the port
 * as modifier. */
#ifndef TRIAD_IB_CABLE_INFO_H
#define TRIAD_IB_CABLE_INFO_H

#include "triad/mad.h"

#define TRIAD_CABLE_INFO_ATTRIBUTE 0xff60
#define TRIAD_CABLE_INFO_MOST 48 /* octets */

/* A place in a module's memory. */
struct triad_cable_address {
	uint8_t page, address, size; /* 'size' at most TRIAD_CABLE_INFO_MOST */
};

enum triad_cable_info_result {
	TRIAD_CABLE_INFO_READ,
	TRIAD_CABLE_INFO_BUSY,      /* not now */
	TRIAD_CABLE_INFO_EMPTY,     /* nothing is plugged in */
	TRIAD_CABLE_INFO_NO_MEMORY, /* a cable without memory: passive copper */
	TRIAD_CABLE_INFO_NO_PAGE,   /* the module lacks the page */
	TRIAD_CABLE_INFO_NO_CAGE,   /* the port is internal, or none */
	TRIAD_CABLE_INFO_REFUSED,   /* the device does not have the attribute */
};

/* Makes an SMP by LID that reads octets of what is plugged in at 'port'. */
void triad_cable_info_encode(uint8_t mad[TRIAD_MAD_SIZE], uint8_t port,
	const struct triad_cable_address *block_address, uint32_t tid);

/* Decodes the answer; '*data' points into 'mad' when the octets were read. */
enum triad_cable_info_result triad_cable_info_decode(
	const uint8_t mad[TRIAD_MAD_SIZE], const uint8_t **data);

#endif
