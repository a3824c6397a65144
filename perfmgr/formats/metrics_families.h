/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The families of metrics_lines.c and metrics_devices.c, by number. */
#ifndef TRIAD_PERFMGR_METRICS_FAMILIES_H
#define TRIAD_PERFMGR_METRICS_FAMILIES_H

#include "perfmgr/formats/metrics_parts.h"

/* Of each kind: a family for each counter, then these. */
enum {
	RATE = TRIAD_N_COUNTERS,
	RAW_RATE,
	BEST_RATE,
	STATE,
	PHYS_STATE,
	FLAPS,
	ROUTES,
	SILENCED,
	PORT_SILENCED,
	UP,
	INFO,
	UPLINK_INFO,
	TIMEOUT,
	N_FAMILIES
};

/* Ranks among the families of devices and cables. */
enum {
	HARDWARE_INFO,
	UPTIME,
	TEMPERATURE,
	FAN_RPM,
	FAN_STATUS,
	SUPPLY_STATUS,
	SUPPLY_DC_STATUS,
	SUPPLY_FAN_STATUS,
	SUPPLY_WATTS,
	CABLE_INFO,
	CABLE_LENGTH,
	CABLE_TEMPERATURE,
	CABLE_VOLTAGE,
	CABLE_RX_POWER,
	CABLE_TX_POWER,
	CABLE_TX_BIAS,
};

static inline bool is_of_switch(const struct triad_metrics *metrics)
{
	return triad_metrics_kinds[metrics->kind].type == TRIAD_NODE_SWITCH;
}

#endif
