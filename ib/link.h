/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Widths and speeds of links: their codes in PortInfo, their names, what they carry
 * [IBA 14.2.5.6].
 *
 * Source: rdma-core, libibmad/fields.c and libibnetdisc/ibnetdisc.c, for XDR.
 * Thread-safety: functions without state. */
#ifndef TRIAD_IB_LINK_H
#define TRIAD_IB_LINK_H

#include <stddef.h>
#include <stdint.h>

struct triad_fabric_port;

/* PortInfo has it in three fields: LinkSpeedActive, LinkSpeedExtActive and, from XDR on,
 * LinkSpeedExtActive2. */
enum triad_link_speed {
	TRIAD_SPEED_ANY,
	TRIAD_SPEED_SDR,
	TRIAD_SPEED_DDR,
	TRIAD_SPEED_QDR,
	TRIAD_SPEED_FDR,
	TRIAD_SPEED_EDR,
	TRIAD_SPEED_HDR,
	TRIAD_SPEED_NDR,
	TRIAD_SPEED_XDR,
	TRIAD_N_SPEEDS
};

/* "4x"; "" for 0 or what is no width.  'width' is as PortInfo:LinkWidthActive. */
const char *triad_link_width_name(unsigned width);
/* "EDR"; "" for TRIAD_SPEED_ANY. */
const char *triad_link_speed_name(enum triad_link_speed speed);
/* By their names; 0 for what is none. */
uint8_t triad_link_width_find(const char *name);
enum triad_link_speed triad_link_speed_find(const char *name);

/* LinkSpeedExtActive and LinkSpeedExtActive2 as one number, of which the latter is in the
 * bits from 5 on (XDR is 32), as libibnetdisc has it; and the same of what is supported.
 * 'ext2_octet' is octet 56 of PortInfo, which is 0 where there is no such field. */
#define TRIAD_PORT_INFO_EXT2 56
uint8_t triad_link_speed_ext_active(uint8_t ext, uint8_t ext2_octet);
uint8_t triad_link_speed_ext_supported(uint8_t ext, uint8_t ext2_octet);

/* Of LinkSpeedActive and that number, and these of it; 0 for TRIAD_SPEED_ANY. */
enum triad_link_speed triad_link_speed(uint8_t speed, uint8_t speed_ext);
void triad_link_speed_codes(
	enum triad_link_speed speed, uint8_t *code, uint8_t *code_ext);

struct triad_link_rate {
	uint8_t width;               /* as PortInfo:LinkWidthActive; 0: not known */
	enum triad_link_speed speed; /* TRIAD_SPEED_ANY: not known */
};

/* What the port's link runs at. */
struct triad_link_rate triad_link_rate_active(const struct triad_fabric_port *port);

/* The most that both ports could run a link at, by the widths and speeds that they
 * support; what is not known of one of them is not known of the link. */
struct triad_link_rate triad_link_rate_best(
	const struct triad_fabric_port *a, const struct triad_fabric_port *b);

/* Bits per second each way, coding left out, and with it, as on the wire; 0 when width
 * or speed is not known. */
uint64_t triad_link_rate_bps(struct triad_link_rate rate);
uint64_t triad_link_rate_signal_bps(struct triad_link_rate rate);

/* "4x HDR"; "-" when neither is known.  16 octets are enough. */
void triad_link_rate_format(struct triad_link_rate rate, char *text, size_t size);

#endif
