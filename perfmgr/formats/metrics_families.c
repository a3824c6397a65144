/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/metrics_families.h"

#include <stdio.h>

const struct triad_metrics_kind triad_metrics_kinds[TRIAD_METRICS_N_KINDS] = {
	{TRIAD_NODE_SWITCH, "switch"},
	{TRIAD_NODE_CA, "hca"},
	{TRIAD_NODE_ROUTER, "router"},
};

static const struct family {
	enum triad_metric_type type;
	const char *name;    /* after "infiniband_hca_" */
	const char *help[2]; /* before and after the kind */
} families[N_FAMILIES] = {
	[RATE] = {TRIAD_METRIC_GAUGE, "rate_bytes_per_second",
		{"Data that the link of a ", " port carries each way."}},
	[RAW_RATE] = {TRIAD_METRIC_GAUGE, "raw_rate_bytes_per_second",
		{"Data and coding that the link of a ", " port carries each way."}},
	[BEST_RATE] = {TRIAD_METRIC_GAUGE, "port_best_rate_bytes_per_second",
		{"Data that both ends of the link of a ", " port could carry."}},
	[STATE] = {TRIAD_METRIC_GAUGE, "port_state",
		{"1 down, 2 init, 3 armed, 4 active; 0: not known, of a ", " port."}},
	[PHYS_STATE] = {TRIAD_METRIC_GAUGE, "port_physical_state",
		{"1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 recovery, of a ",
			" port."}},
	[FLAPS] = {TRIAD_METRIC_COUNTER, "port_flaps",
		{"Times that the link of a ", " port went down, as far as was seen."}},
	[ROUTES] = {TRIAD_METRIC_GAUGE, "port_routes",
		{"Pairs of hosts whose path leaves by a ", " port."}},
	[SILENCED] = {TRIAD_METRIC_GAUGE, "silenced",
		{"1 while alerts about the ", " are silenced; else it is absent."}},
	[PORT_SILENCED] = {TRIAD_METRIC_GAUGE, "port_silenced",
		{"1 while alerts about a ", " port are silenced; else it is absent."}},
	[UP] = {TRIAD_METRIC_GAUGE, "up",
		{"1 while the ", " is in the fabric, 0 after it left."}},
	[INFO] = {TRIAD_METRIC_INFO, "", {"Name and LID of a ", "."}},
	[UPLINK_INFO] = {TRIAD_METRIC_INFO, "uplink",
		{"What a ", " port is connected to."}},
	[TIMEOUT] = {TRIAD_METRIC_GAUGE, "collect_timeout",
		{"1 when a port of the ", " did not answer when it was last asked."}},
};

static const struct triad_metrics_hardware_family
	hardware_families[TRIAD_METRICS_N_HARDWARE] = {
		[HARDWARE_INFO] = {TRIAD_METRIC_INFO, "hardware",
			"Firmware, part and serial number of a "},
		[UPTIME] = {TRIAD_METRIC_GAUGE, "uptime_seconds",
			"Time since the last reset of a "},
		[TEMPERATURE] = {TRIAD_METRIC_GAUGE, "temperature_celsius",
			"Temperature of the chip of a "},
		[FAN_RPM] = {TRIAD_METRIC_GAUGE, "fan_rpm",
			"Speed of the fans, in rounds per minute, of a "},
		[FAN_STATUS] = {TRIAD_METRIC_INFO, "fan_status",
			"Whether all fans turn within their limits, of a "},
		[SUPPLY_STATUS] = {TRIAD_METRIC_INFO, "power_supply_status",
			"Whether power supplies are plugged in, of a "},
		[SUPPLY_DC_STATUS] = {TRIAD_METRIC_INFO, "power_supply_dc_power_status",
			"Whether power supplies give power, of a "},
		[SUPPLY_FAN_STATUS] = {TRIAD_METRIC_INFO, "power_supply_fan_status",
			"Whether the fans of power supplies turn, of a "},
		[SUPPLY_WATTS] = {TRIAD_METRIC_GAUGE, "power_supply_watts",
			"What is taken of power supplies, of a "},
		[CABLE_INFO] = {TRIAD_METRIC_INFO, "port_cable",
			"The cable or module at a port of a "},
		[CABLE_LENGTH] = {TRIAD_METRIC_GAUGE, "port_cable_length_meters",
			"Length of the cable at a port of a "},
		[CABLE_TEMPERATURE] = {TRIAD_METRIC_GAUGE,
			"port_cable_temperature_celsius",
			"Temperature of the cable or module at a port of a "},
		[CABLE_VOLTAGE] = {TRIAD_METRIC_GAUGE, "port_cable_voltage_volts",
			"Supply voltage of the cable or module at a port of a "},
		[CABLE_RX_POWER] = {TRIAD_METRIC_GAUGE, "port_cable_rx_power_dbm",
			"Optical power that a lane receives, at a port of a "},
		[CABLE_TX_POWER] = {TRIAD_METRIC_GAUGE, "port_cable_tx_power_dbm",
			"Optical power that a lane sends, at a port of a "},
		[CABLE_TX_BIAS] = {TRIAD_METRIC_GAUGE, "port_cable_tx_bias_amperes",
			"Current of the laser of a lane, at a port of a "},
};

enum { FIRST_HARDWARE = N_FAMILIES + TRIAD_DETAIL_N_FIELDS };

const unsigned triad_metrics_n_families = FIRST_HARDWARE + TRIAD_METRICS_N_HARDWARE;

bool triad_metrics_is_hardware(unsigned family, unsigned *rank)
{
	*rank = family - FIRST_HARDWARE;
	return family >= FIRST_HARDWARE && family < triad_metrics_n_families;
}

const struct triad_detail_field *triad_metrics_detail(unsigned family)
{
	return family >= N_FAMILIES && family < FIRST_HARDWARE
		? &triad_detail_fields[family - N_FAMILIES]
		: NULL;
}

const struct triad_metrics_hardware_family *triad_metrics_hardware_family(unsigned rank)
{
	return &hardware_families[rank];
}

/* --- the present family --- */

/* The name, and all of a line that does not depend on the port. */
void triad_metrics_begin_family(struct triad_metrics *metrics)
{
	const char *kind = triad_metrics_kinds[metrics->kind].name;
	unsigned family = metrics->family;
	const struct triad_detail_field *detail = triad_metrics_detail(family);
	unsigned rank;

	metrics->port = metrics->gone = 0;
	metrics->has_header = false;
	metrics->prefix_length = 0;
	if (family < TRIAD_N_COUNTERS || detail)
		snprintf(metrics->name, TRIAD_METRICS_NAME_SIZE,
			"infiniband_%s_port_%s", kind,
			detail ? detail->metric : triad_counters[family].metric);
	else if (triad_metrics_is_hardware(family, &rank))
		snprintf(metrics->name, TRIAD_METRICS_NAME_SIZE, "infiniband_%s_%s",
			kind, triad_metrics_hardware_family(rank)->name);
	else if (is_of_switch(metrics) && (family == RATE || family == RAW_RATE))
		snprintf(metrics->name, TRIAD_METRICS_NAME_SIZE,
			"infiniband_%s_port_%s", kind, families[family].name);
	else
		snprintf(metrics->name, TRIAD_METRICS_NAME_SIZE, "infiniband_%s%s%s",
			kind, *families[family].name ? "_" : "", families[family].name);
}

void triad_metrics_put_header(struct triad_metrics *metrics,
	struct triad_exposition *writer, enum triad_metric_type type, const char *help)
{
	if (metrics->has_header)
		return;
	metrics->has_header = true;
	triad_exposition_header(writer, metrics->format, type, metrics->name, help);
}

void triad_metrics_put_family_header(
	struct triad_metrics *metrics, struct triad_exposition *writer)
{
	static const char *const units[] = {
		[TRIAD_UNIT_EVENTS] = "",
		[TRIAD_UNIT_WORDS] = ", in octets",
		[TRIAD_UNIT_PACKETS] = "",
		[TRIAD_UNIT_TICKS] = ", in ticks of the port",
	};
	const char *kind = triad_metrics_kinds[metrics->kind].name;
	const struct triad_detail_field *detail = triad_metrics_detail(metrics->family);
	const struct triad_counter_info *counter;
	char help[160];
	unsigned rank;

	if (metrics->has_header)
		return;
	if (triad_metrics_is_hardware(metrics->family, &rank)) {
		const struct triad_metrics_hardware_family *family =
			triad_metrics_hardware_family(rank);

		snprintf(help, sizeof(help), "%s%s.", family->help, kind);
		triad_metrics_put_header(metrics, writer, family->type, help);
		return;
	}
	if (detail) {
		snprintf(help, sizeof(help), "%s of a %s port%s%s.", detail->name, kind,
			detail->part == TRIAD_PART_LANE ? ", all lanes" : "",
			units[detail->unit]);
		triad_metrics_put_header(metrics, writer, TRIAD_METRIC_COUNTER, help);
		return;
	}
	if (metrics->family < TRIAD_N_COUNTERS) {
		counter = &triad_counters[metrics->family];
		snprintf(help, sizeof(help), "%s of a %s port%s.", counter->name, kind,
			units[counter->unit]);
		triad_metrics_put_header(metrics, writer, TRIAD_METRIC_COUNTER, help);
	} else {
		snprintf(help, sizeof(help), "%s%s%s",
			families[metrics->family].help[0], kind,
			families[metrics->family].help[1]);
		triad_metrics_put_header(
			metrics, writer, families[metrics->family].type, help);
	}
}

void triad_metrics_put_prefix(struct triad_metrics *metrics,
	struct triad_exposition *writer, uint64_t guid, const char *suffix)
{
	if (!metrics->prefix_length || metrics->guid != guid) {
		struct triad_exposition prefix = {.at = metrics->prefix,
			.end = metrics->prefix + sizeof(metrics->prefix)};

		triad_exposition_puts(&prefix, metrics->name);
		triad_exposition_puts(&prefix, suffix);
		triad_exposition_puts(&prefix, "{guid=\"");
		triad_exposition_guid(&prefix, guid);
		triad_exposition_put(&prefix, "\"", 1);
		metrics->prefix_length = (size_t)(prefix.at - metrics->prefix);
		metrics->guid = guid;
	}
	triad_exposition_put(writer, metrics->prefix, metrics->prefix_length);
}
