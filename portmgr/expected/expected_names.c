/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <string.h>

#include "portmgr/expected/expected_parts.h"

static const struct {
	uint8_t width; /* PortInfo:LinkWidthActive [IBA 14.2.5.6] */
	const char *name;
} widths[] = {{1, "1x"}, {16, "2x"}, {2, "4x"}, {4, "8x"}, {8, "12x"}};

#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))

/* Whichever of PortInfo's fields has it. */
static const struct {
	uint8_t speed, speed_ext;
	const char *name;
} speeds[TRIAD_N_SPEEDS] = {
	[TRIAD_SPEED_ANY] = {0, 0, ""},
	[TRIAD_SPEED_SDR] = {1, 0, "SDR"},
	[TRIAD_SPEED_DDR] = {2, 0, "DDR"},
	[TRIAD_SPEED_QDR] = {4, 0, "QDR"},
	[TRIAD_SPEED_FDR] = {0, 1, "FDR"},
	[TRIAD_SPEED_EDR] = {0, 2, "EDR"},
	[TRIAD_SPEED_HDR] = {0, 4, "HDR"},
	[TRIAD_SPEED_NDR] = {0, 8, "NDR"},
};

const char *triad_expected_state_name(unsigned state)
{
	static const char *const names[] = {
		[TRIAD_EXPECTED_ENABLED] = "enabled",
		[TRIAD_EXPECTED_DISABLED] = "disabled",
		[TRIAD_EXPECTED_TEST] = "test",
	};

	return state <= TRIAD_EXPECTED_TEST ? names[state] : "";
}

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
