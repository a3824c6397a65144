/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/link.h"

#include <stdio.h>
#include <string.h>

#include "triad/fabric.h"

static const struct {
	uint8_t width; /* PortInfo:LinkWidthActive; a bit of LinkWidthSupported */
	uint8_t n_lanes;
	const char *name;
} widths[] = {{1, 1, "1x"}, {16, 2, "2x"}, {2, 4, "4x"}, {4, 8, "8x"}, {8, 12, "12x"}};

#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))

/* The rates of one lane.  Data are 8 of 10 bits up to QDR, 64 of 66 in FDR; from EDR on
 * the signal is faster by the overhead of its coding. */
static const struct {
	uint8_t speed, speed_ext; /* one of PortInfo's fields has it */
	const char *name;
	uint32_t data_mbps, signal_kbps;
} speeds[TRIAD_N_SPEEDS] = {
	[TRIAD_SPEED_ANY] = {0, 0, "", 0, 0},
	[TRIAD_SPEED_SDR] = {1, 0, "SDR", 2000, 2500000},
	[TRIAD_SPEED_DDR] = {2, 0, "DDR", 4000, 5000000},
	[TRIAD_SPEED_QDR] = {4, 0, "QDR", 8000, 10000000},
	[TRIAD_SPEED_FDR] = {0, 1, "FDR", 13636, 14062500},
	[TRIAD_SPEED_EDR] = {0, 2, "EDR", 25000, 25781250},
	[TRIAD_SPEED_HDR] = {0, 4, "HDR", 50000, 53125000},
	[TRIAD_SPEED_NDR] = {0, 8, "NDR", 100000, 106250000},
	[TRIAD_SPEED_XDR] = {0, 32, "XDR", 200000, 212500000},
};

/* --- names and codes --- */

const char *triad_link_width_name(unsigned width)
{
	for (size_t i = 0; i < N_WIDTHS; i++)
		if (widths[i].width == width)
			return widths[i].name;
	return "";
}

uint8_t triad_link_width_find(const char *name)
{
	for (size_t i = 0; i < N_WIDTHS; i++)
		if (!strcmp(widths[i].name, name))
			return widths[i].width;
	return 0;
}

const char *triad_link_speed_name(enum triad_link_speed speed)
{
	return (unsigned)speed < TRIAD_N_SPEEDS ? speeds[speed].name : "";
}

enum triad_link_speed triad_link_speed_find(const char *name)
{
	for (unsigned i = TRIAD_SPEED_SDR; i < TRIAD_N_SPEEDS; i++)
		if (!strcmp(speeds[i].name, name))
			return (enum triad_link_speed)i;
	return TRIAD_SPEED_ANY;
}

enum triad_link_speed triad_link_speed(uint8_t speed, uint8_t speed_ext)
{
	for (unsigned i = TRIAD_SPEED_SDR; i < TRIAD_N_SPEEDS; i++)
		if (speed_ext ? speeds[i].speed_ext == speed_ext
			      : speeds[i].speed && speeds[i].speed == speed)
			return (enum triad_link_speed)i;
	return TRIAD_SPEED_ANY;
}

void triad_link_speed_codes(
	enum triad_link_speed speed, uint8_t *code, uint8_t *code_ext)
{
	*code = speeds[speed].speed;
	*code_ext = speeds[speed].speed_ext;
}

/* The octet has a reserved bit, then two bits of active, two of supported, three of
 * enabled. */
uint8_t triad_link_speed_ext_active(uint8_t ext, uint8_t ext2_octet)
{
	uint8_t ext2 = ext2_octet >> 5 & 3;

	return ext2 ? (uint8_t)(ext2 << 5) : ext;
}

uint8_t triad_link_speed_ext_supported(uint8_t ext, uint8_t ext2_octet)
{
	return (uint8_t)(ext | (ext2_octet >> 3 & 3) << 5);
}

/* Codes of LinkSpeedExtEnabled that are no sets of speeds. */
enum { EXT_ENABLED_NONE = 30, EXT_ENABLED_SUPPORTED = 31 };

static uint8_t speed_ext_enabled(const uint8_t *info, uint8_t supported)
{
	uint8_t ext = info[63] & 0x1f, ext2 = info[TRIAD_PORT_INFO_EXT2] & 3;

	if (ext == EXT_ENABLED_SUPPORTED)
		return supported;
	return (uint8_t)((ext == EXT_ENABLED_NONE ? 0 : ext) | ext2 << 5);
}

void triad_link_read(const uint8_t *info, struct triad_fabric_port *port)
{
	port->width = info[31];
	port->speed = info[35] >> 4;
	port->speed_ext =
		triad_link_speed_ext_active(info[62] >> 4, info[TRIAD_PORT_INFO_EXT2]);
	port->width_supported = info[30];
	port->speed_supported = info[32] >> 4;
	port->speed_ext_supported = triad_link_speed_ext_supported(
		info[62] & 0xf, info[TRIAD_PORT_INFO_EXT2]);
	port->width_enabled = info[29];
	port->speed_enabled = info[35] & 0xf;
	port->speed_ext_enabled = speed_ext_enabled(info, port->speed_ext_supported);
}

/* --- rates --- */

struct triad_link_rate triad_link_rate_active(const struct triad_fabric_port *port)
{
	return (struct triad_link_rate){
		port->width, triad_link_speed(port->speed, port->speed_ext)};
}

/* The fastest of these sets. */
static struct triad_link_rate fastest(uint8_t width, uint8_t speed, uint8_t speed_ext)
{
	struct triad_link_rate rate = {0};

	/* Both tables ascend. */
	for (size_t i = 0; i < N_WIDTHS; i++)
		if (widths[i].width & width)
			rate.width = widths[i].width;
	for (unsigned i = TRIAD_SPEED_SDR; i < TRIAD_N_SPEEDS; i++)
		if (speeds[i].speed & speed || speeds[i].speed_ext & speed_ext)
			rate.speed = (enum triad_link_speed)i;
	return rate;
}

struct triad_link_rate triad_link_rate_best(
	const struct triad_fabric_port *a, const struct triad_fabric_port *b)
{
	return fastest(a->width_supported & b->width_supported,
		a->speed_supported & b->speed_supported,
		a->speed_ext_supported & b->speed_ext_supported);
}

struct triad_link_rate triad_link_rate_enabled(const struct triad_fabric_port *port)
{
	return fastest(
		port->width_enabled, port->speed_enabled, port->speed_ext_enabled);
}

unsigned triad_link_width_lanes(uint8_t width)
{
	for (size_t i = 0; i < N_WIDTHS; i++)
		if (widths[i].width == width)
			return widths[i].n_lanes;
	return 0;
}

uint64_t triad_link_rate_bps(struct triad_link_rate rate)
{
	return UINT64_C(1000000) * speeds[rate.speed].data_mbps *
		triad_link_width_lanes(rate.width);
}

uint64_t triad_link_rate_signal_bps(struct triad_link_rate rate)
{
	return UINT64_C(1000) * speeds[rate.speed].signal_kbps *
		triad_link_width_lanes(rate.width);
}

void triad_link_rate_format(struct triad_link_rate rate, char *text, size_t size)
{
	const char *width = triad_link_width_name(rate.width);
	const char *speed = triad_link_speed_name(rate.speed);

	if (*width || *speed)
		snprintf(text, size, "%s %s", *width ? width : "?",
			*speed ? speed : "?");
	else
		snprintf(text, size, "-");
}
