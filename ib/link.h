/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Widths and speeds of links: codes in PortInfo, names, data rates [IBA 14.2.5.6].
 *
 * Source: rdma-core, libibmad/fields.c and libibnetdisc/ibnetdisc.c, for XDR.
 * Thread-safety: functions without state. */
#ifndef TRIAD_IB_LINK_H
#define TRIAD_IB_LINK_H

#include <stddef.h>
#include <stdint.h>

struct triad_fabric_port;

/* PortInfo codes the speed in three fields: LinkSpeedActive, LinkSpeedExtActive and,
 * from XDR on, LinkSpeedExtActive2. */
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
/* 1 to 12; 0 for what is no width. */
unsigned triad_link_width_lanes(uint8_t width);
/* "EDR"; "" for TRIAD_SPEED_ANY. */
const char *triad_link_speed_name(enum triad_link_speed speed);
/* Find a width or speed by its name; 0: there is none. */
uint8_t triad_link_width_find(const char *name);
enum triad_link_speed triad_link_speed_find(const char *name);

/* Combine LinkSpeedExtActive and LinkSpeedExtActive2 into one number, as libibnetdisc
 * does: the latter is in the bits from 5 on (XDR is 32); and in the same way the
 * supported speeds.  'ext2_octet' is octet 56 of PortInfo, 0 where that field does not
 * exist. */
#define TRIAD_PORT_INFO_EXT2 56
uint8_t triad_link_speed_ext_active(uint8_t ext, uint8_t ext2_octet);
uint8_t triad_link_speed_ext_supported(uint8_t ext, uint8_t ext2_octet);

/* Convert LinkSpeedActive and that number into a speed, and back; 0 for
 * TRIAD_SPEED_ANY. */
enum triad_link_speed triad_link_speed(uint8_t speed, uint8_t speed_ext);
void triad_link_speed_codes(
	enum triad_link_speed speed, uint8_t *code, uint8_t *code_ext);

/* Reads widths and speeds, active and supported, of a PortInfo into 'port'. */
void triad_link_read(const uint8_t *info, struct triad_fabric_port *port);

struct triad_link_rate {
	uint8_t width;               /* as PortInfo:LinkWidthActive; 0: not known */
	enum triad_link_speed speed; /* TRIAD_SPEED_ANY: not known */
};

/* The present rate of the port's link. */
struct triad_link_rate triad_link_rate_active(const struct triad_fabric_port *port);

/* The best rate that is enabled at a port; one without a width or speed if it is not known. */
struct triad_link_rate triad_link_rate_enabled(const struct triad_fabric_port *port);

/* The best rate of a link between both ports, by their supported widths and speeds;
 * what is unknown for one of them is unknown for the link. */
struct triad_link_rate triad_link_rate_best(
	const struct triad_fabric_port *a, const struct triad_fabric_port *b);

/* Bits per second each way, coding left out, and with it, as on the wire; 0 when width
 * or speed is not known. */
uint64_t triad_link_rate_bps(struct triad_link_rate rate);
uint64_t triad_link_rate_signal_bps(struct triad_link_rate rate);

/* "4x HDR"; "-" when neither is known.  16 octets are enough. */
void triad_link_rate_format(struct triad_link_rate rate, char *text, size_t size);

#endif
