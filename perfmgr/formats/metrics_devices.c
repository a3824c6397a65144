/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Families of devices and of what is plugged in at their ports. */
#include <stdio.h>

#include "perfmgr/formats/metrics_families.h"

/* --- lines --- */

/* One line of the present family. */
struct line {
	struct triad_metrics *metrics;
	struct triad_exposition *writer;
	uint64_t guid; /* of the port */
	unsigned rank; /* of the family */
};

static void begin_line(const struct line *line)
{
	triad_metrics_put_family_header(line->metrics, line->writer);
	triad_metrics_put_prefix(line->metrics, line->writer, line->guid,
		triad_exposition_suffix(
			triad_metrics_hardware_family(line->rank)->type));
}

static void put_text_label(const struct line *line, const char *name, const char *text)
{
	triad_exposition_put(line->writer, ",", 1);
	triad_exposition_puts(line->writer, name);
	triad_exposition_puts(line->writer, "=\"");
	triad_exposition_value(line->writer, text, strlen(text));
	triad_exposition_put(line->writer, "\"", 1);
}

static void put_number_label(const struct line *line, const char *name, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	put_text_label(line, name, text);
}

static void end_line(const struct line *line, double value)
{
	triad_exposition_puts(line->writer, "} ");
	triad_exposition_double(line->writer, value);
	triad_exposition_put(line->writer, "\n", 1);
}

/* --- devices --- */

/* As ibswinfo prints it. */
static const char *status_of(uint8_t state)
{
	return state == TRIAD_SUPPLY_OK ? "OK" : "ERROR";
}

static void put_fan_status(
	const struct line *line, const struct triad_device_info *info)
{
	if (!(info->reported >> TRIAD_DEVICE_FORE & 1))
		return;
	begin_line(line);
	put_text_label(
		line, "status", info->fans_slow || info->fans_fast ? "ERROR" : "OK");
	end_line(line, 1);
}

static void put_supply(const struct line *line, unsigned number,
	const struct triad_device_supply *supply)
{
	bool is_there = supply->state != TRIAD_SUPPLY_ABSENT;
	const char *status = NULL;

	if (line->rank == SUPPLY_STATUS)
		status = is_there ? "OK" : "ERROR";
	else if (line->rank == SUPPLY_DC_STATUS && is_there)
		status = status_of(supply->state);
	else if (line->rank == SUPPLY_FAN_STATUS && is_there &&
		supply->fan != TRIAD_SUPPLY_UNKNOWN)
		status = status_of(supply->fan);
	if (!status && !(line->rank == SUPPLY_WATTS && supply->watts))
		return;
	begin_line(line);
	put_number_label(line, "psu", number);
	if (status)
		put_text_label(line, "status", status);
	end_line(line, status ? 1 : supply->watts);
}

static void put_hardware_info(
	const struct line *line, const struct triad_device_info *info, const char *name)
{
	char firmware[40];

	snprintf(firmware, sizeof(firmware), "%u.%04u.%04u", info->firmware[0],
		info->firmware[1], info->firmware[2]);
	begin_line(line);
	put_text_label(line, "firmware_version", firmware);
	put_text_label(line, "psid", info->psid);
	put_text_label(line, "part_number", info->part);
	put_text_label(line, "serial_number", info->serial);
	put_text_label(line, triad_metrics_kinds[line->metrics->kind].name, name);
	end_line(line, 1);
}

static void put_device(
	const struct line *line, const struct triad_device_info *info, const char *name)
{
	bool is_known = info->reported >> TRIAD_DEVICE_GENERAL & 1;

	if (line->rank == HARDWARE_INFO && is_known) {
		put_hardware_info(line, info, name);
	} else if (line->rank == UPTIME && is_known) {
		begin_line(line);
		end_line(line, info->uptime_s);
	} else if (line->rank == TEMPERATURE && info->n_sensors) {
		begin_line(line);
		end_line(line, info->sensors[0].now / 8.0);
	} else if (line->rank == FAN_RPM) {
		for (unsigned i = 0; i < info->n_fans; i++) {
			begin_line(line);
			put_number_label(line, "fan", info->fans[i].index);
			end_line(line, info->fans[i].rpm);
		}
	} else if (line->rank == FAN_STATUS) {
		put_fan_status(line, info);
	} else {
		for (unsigned i = 0; i < info->n_supplies; i++)
			put_supply(line, i, &info->supplies[i]);
	}
}

/* --- cables --- */

static void put_port_value(const struct line *line, unsigned port, double value)
{
	begin_line(line);
	put_number_label(line, "port", port);
	end_line(line, value);
}

static void put_cable_info(
	const struct line *line, unsigned port, const struct triad_cable *cable)
{
	begin_line(line);
	put_number_label(line, "port", port);
	put_text_label(line, "identifier", triad_cable_identifier(cable));
	put_text_label(line, "technology", triad_cable_technology(cable));
	put_text_label(line, "vendor", cable->vendor);
	put_text_label(line, "part", cable->part);
	put_text_label(line, "serial", cable->serial);
	put_text_label(line, "revision", cable->revision);
	end_line(line, 1);
}

static void put_lanes(
	const struct line *line, unsigned port, const struct triad_cable *cable)
{
	bool is_rx = line->rank == CABLE_RX_POWER, is_tx = line->rank == CABLE_TX_POWER;

	if (!triad_cable_has_lanes(cable) ||
		!(is_rx                 ? cable->has_rx_power
				: is_tx ? cable->has_tx_power
					: cable->has_bias))
		return;
	for (unsigned i = 0; i < cable->n_lanes; i++) {
		begin_line(line);
		put_number_label(line, "port", port);
		put_number_label(line, "lane", i + 1);
		end_line(line,
			is_rx ? triad_cable_dbm(cable->rx[i])
				: is_tx
				? triad_cable_dbm(cable->tx[i])
				: triad_cable_milliamperes(cable, cable->bias[i]) /
					1000);
	}
}

static void put_cable(
	const struct line *line, unsigned port, const struct triad_cable *cable)
{
	if (line->rank == CABLE_INFO)
		put_cable_info(line, port, cable);
	else if (line->rank == CABLE_LENGTH && cable->length_dm)
		put_port_value(line, port, cable->length_dm / 10.0);
	else if (line->rank == CABLE_TEMPERATURE && triad_cable_has_state(cable))
		put_port_value(line, port, cable->temperature / 256.0);
	else if (line->rank == CABLE_VOLTAGE && triad_cable_has_state(cable))
		put_port_value(line, port, triad_cable_volts(cable->voltage));
	else if (line->rank >= CABLE_RX_POWER)
		put_lanes(line, port, cable);
}

void triad_metrics_put_hardware(struct triad_metrics *metrics,
	struct triad_exposition *writer, unsigned rank, uint32_t index)
{
	const struct triad_metrics_hardware *hardware = &metrics->hardware;
	const struct triad_fabric *fabric = metrics->view->fabric;
	const struct triad_fabric_port *port = &fabric->ports[index];
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	const struct line line = {
		.metrics = metrics, .writer = writer, .guid = port->guid, .rank = rank};
	struct triad_device_known device;
	struct triad_cable_known cable;

	if (rank >= CABLE_INFO) {
		if (hardware->read_port(
			    hardware->context, node->guid, port->number, &cable) &&
			cable.module == TRIAD_MODULE_KNOWN)
			put_cable(&line, port->number, &cable.cable);
	} else if (index == node->first_port &&
		hardware->read(hardware->context, node->guid, &device)) {
		put_device(&line, &device.info, node->name);
	}
}
