/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/ber_target.h"

#include <strings.h>

static const char *const names[TRIAD_BER_N_KINDS] = {
	[TRIAD_BER_RAW] = "raw",
	[TRIAD_BER_EFFECTIVE] = "effective",
	[TRIAD_BER_SYMBOL] = "symbol",
};

const char *triad_ber_kind_name(enum triad_ber_kind kind)
{
	return names[kind];
}

enum triad_ber_kind triad_ber_kind_find(const char *name)
{
	enum triad_ber_kind kind = 0;

	while (kind < TRIAD_BER_N_KINDS && strcasecmp(names[kind], name) != 0)
		kind++;
	return kind;
}

/* Up to FDR: 1e-12, as InfiniBand demands and NVIDIA restates [DGX SuperPOD: Cabling
 * Data Centers, Mixing Widths and Rates, "Bit Error Rate (BER)"].  From EDR to NDR: the
 * normal value; of several lines for a speed the highest, so that no ASIC, cable or FEC
 * is blamed that was sold so [UFM SDK,
 * pdr_deterministic_plugin/build/config/Field_BER_Thresholds.csv, version V06].
 * Exception, symbol errors of NDR: its lines with retransmission (PLR), which are also
 * the long window of [the same, README.md, "NDR Link Validation Procedure"].  XDR has
 * no public figure: NDR's. */
static const double targets[TRIAD_N_SPEEDS][TRIAD_BER_N_KINDS] = {
	[TRIAD_SPEED_SDR] = {1e-12, 1e-12, 1e-12},
	[TRIAD_SPEED_DDR] = {1e-12, 1e-12, 1e-12},
	[TRIAD_SPEED_QDR] = {1e-12, 1e-12, 1e-12},
	[TRIAD_SPEED_FDR] = {1e-12, 1e-12, 1e-12},
	[TRIAD_SPEED_EDR] = {1e-10, 1e-14, 1e-14},
	[TRIAD_SPEED_HDR] = {1e-6, 1e-14, 1e-14},
	[TRIAD_SPEED_NDR] = {1e-6, 1e-12, 1e-15},
	[TRIAD_SPEED_XDR] = {1e-6, 1e-12, 1e-15},
};

double triad_ber_target(enum triad_link_speed speed, enum triad_ber_kind kind)
{
	return targets[speed][kind];
}
