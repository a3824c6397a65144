/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'cables': the cables and modules at ports; see ib/cable.h. */
#include "service/command/commands.h"

#include <math.h>
#include <stdio.h>

#include "service/command/format.h"
#include "service/command/hardware.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

struct cables {
	const struct triad_command *command;
	struct triad_moment moment;
	struct triad_node_choice choice;
	struct triad_list list;
	uint32_t n_rows, n_empty; /* lines; ports without a cable, which have none */
};

struct shown {
	const struct triad_fabric *fabric;
	uint32_t port;
	struct triad_cable_known known;
};

/* --- JSON --- */

static void put_known(
	struct triad_json *json, const char *name, bool has_limits, double value)
{
	triad_json_double(json, name, has_limits ? value : NAN);
}

static void put_lanes(struct triad_json *json, const struct triad_cable *cable)
{
	triad_json_array_begin(json, "lanes");
	for (unsigned i = 0; triad_cable_has_lanes(cable) && i < cable->n_lanes; i++) {
		uint16_t rx = cable->rx[i], tx = cable->tx[i];

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "lane", i + 1);
		put_known(
			json, "rx_mw", cable->has_rx_power, triad_cable_milliwatts(rx));
		put_known(json, "rx_dbm", cable->has_rx_power, triad_cable_dbm(rx));
		put_known(
			json, "tx_mw", cable->has_tx_power, triad_cable_milliwatts(tx));
		put_known(json, "tx_dbm", cable->has_tx_power, triad_cable_dbm(tx));
		put_known(json, "tx_bias_ma", cable->has_bias,
			triad_cable_milliamperes(cable, cable->bias[i]));
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

/* Writes limits, converted by 'convert'; none if there is no high alarm. */
static void put_limits(struct triad_json *json, const char *name,
	const struct triad_cable_limits *limits, double (*convert)(uint16_t raw))
{
	bool has_limits = limits->high_alarm;

	triad_json_object_begin(json, name);
	put_known(json, "high_alarm", has_limits, convert(limits->high_alarm));
	put_known(json, "high_warning", has_limits, convert(limits->high_warning));
	put_known(json, "low_warning", has_limits, convert(limits->low_warning));
	put_known(json, "low_alarm", has_limits, convert(limits->low_alarm));
	triad_json_object_end(json);
}

static void put_cable_json(struct triad_json *json, const struct triad_cable *cable)
{
	char oui[16];

	snprintf(oui, sizeof(oui), "0x%06x", cable->oui & 0xffffff);
	triad_json_string(json, "identifier", triad_cable_identifier(cable));
	triad_json_string(json, "technology", triad_cable_technology(cable));
	triad_json_string(json, "vendor_oui", oui);
	triad_json_string(json, "revision", cable->revision);
	triad_json_string(json, "date", cable->date);
	put_known(json, "voltage_v", triad_cable_has_state(cable),
		triad_cable_volts(cable->voltage));
	put_lanes(json, cable);
	put_limits(json, "temperature_limits_c", &cable->temperature_limits,
		triad_cable_celsius);
	put_limits(json, "voltage_limits_v", &cable->voltage_limits, triad_cable_volts);
	put_limits(json, "rx_limits_dbm", &cable->rx_limits, triad_cable_dbm);
	put_limits(json, "tx_limits_dbm", &cable->tx_limits, triad_cable_dbm);
}

/* --- a row --- */

static void put_cable_end(struct triad_list *list, const char *title,
	const struct triad_fabric *fabric, uint32_t port)
{
	if (port == TRIAD_FABRIC_NONE)
		triad_list_text(list, NULL, title, TRIAD_LIST_LONG, NULL);
	else
		triad_list_text(list, NULL, title, TRIAD_LIST_LONG,
			triad_port_label(fabric, port).text);
}

/* The received power of the lane with the least light. */
static double least_dbm(const struct triad_cable *cable)
{
	double least = NAN;

	for (unsigned i = 0; cable->has_rx_power && triad_cable_has_lanes(cable) &&
		i < cable->n_lanes;
		i++)
		if (!(triad_cable_dbm(cable->rx[i]) >= least))
			least = triad_cable_dbm(cable->rx[i]);
	return least;
}

static void put_tenths(struct triad_list *list, const char *name, const char *title,
	int width, double value)
{
	triad_list_real(list, name, title, width, value, "%.1f", value);
}

static void put_places(struct triad_list *list, const struct shown *shown)
{
	const struct triad_fabric *fabric = shown->fabric;
	const struct triad_fabric_port *port = &fabric->ports[shown->port];
	struct triad_json *json = triad_list_json(list);

	triad_list_guid(list, "node_guid", NULL, fabric->nodes[port->node].guid);
	triad_list_text(list, "node_name", NULL, 0, fabric->nodes[port->node].name);
	triad_list_uint(list, "port", NULL, 0, port->number);
	put_cable_end(list, "end", fabric, shown->port);
	put_cable_end(list, "far end", fabric, port->remote);
	if (!json || port->remote == TRIAD_FABRIC_NONE)
		return;
	port = &fabric->ports[port->remote];
	triad_json_string(json, "remote_node_name", fabric->nodes[port->node].name);
	triad_json_uint(json, "remote_port", port->number);
}

static void put_cable(struct triad_list *list, const struct shown *shown)
{
	static const char *const modules[] = {
		"unread", "empty", "no memory", "internal port", "known"};
	const struct triad_cable *cable = &shown->known.cable;
	bool is_known = shown->known.module == TRIAD_MODULE_KNOWN;
	double length_m = cable->length_dm ? cable->length_dm / 10.0 : NAN;
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_list_row(list);
	put_places(list, shown);
	triad_list_text(list, "module", NULL, 0, modules[shown->known.module]);
	list->next.is_spare = true;
	triad_list_text(list, "vendor", "vendor", -9, is_known ? cable->vendor : NULL);
	triad_list_text(list, "part", "part", -16,
		is_known ? cable->part : modules[shown->known.module]);
	triad_list_text(list, "serial", "serial", -13, is_known ? cable->serial : NULL);
	put_tenths(list, "length_m", "m", 5, length_m);
	put_tenths(list, "temperature_c", "C", 5,
		triad_cable_has_state(cable) ? cable->temperature / 256.0 : NAN);
	put_tenths(list, "least_rx_dbm", "rx dBm", 6, least_dbm(cable));
	triad_list_text(list, "last_read", NULL, 0,
		triad_command_format_time(shown->known.read_us, text));
	if (is_known && triad_list_json(list))
		put_cable_json(triad_list_json(list), cable);
	triad_list_row_end(list);
}

/* --- ports --- */

static void put_port_cable(struct cables *cables, uint32_t port)
{
	const struct triad_fabric *fabric = cables->moment.view->fabric;
	struct shown shown = {.fabric = fabric, .port = port};
	bool is_shown;

	if (!triad_moment_read_cable(&cables->moment,
		    fabric->nodes[fabric->ports[port].node].guid,
		    fabric->ports[port].number, &shown.known) ||
		shown.known.module == TRIAD_MODULE_UNREAD)
		return;
	is_shown = cables->command->json || shown.known.module == TRIAD_MODULE_KNOWN ||
		shown.known.module == TRIAD_MODULE_NO_MEMORY;
	cables->n_empty += !is_shown;
	if (is_shown && cables->n_rows++ < cables->command->limit)
		put_cable(&cables->list, &shown);
}

static void put_end_of_list(const struct cables *cables, struct triad_output *output)
{
	if (cables->n_rows > cables->command->limit)
		triad_command_put_left_out(output,
			cables->n_rows - (uint32_t)cables->command->limit,
			cables->n_rows, "more");
	if (cables->n_empty)
		triad_output_printf(output,
			"%u port%s without a cable; '--json' has them, too\n",
			cables->n_empty, cables->n_empty == 1 ? "" : "s");
	if (!cables->n_rows && !cables->n_empty)
		triad_command_no_devices(&cables->moment, output);
}

static int show_cables(struct cables *cables, struct triad_output *output)
{
	struct triad_report report = {
		.output = output, .as_json = cables->command->json};
	uint32_t n_wanted = 0;

	cables->list = (struct triad_list){.report = &report};
	triad_report_array(&report, NULL);
	for (uint32_t i = 0;
		i < cables->moment.view->fabric->n_ports && !output->failed; i++)
		if (triad_node_choice_has_port(
			    &cables->choice, cables->moment.view->fabric, i)) {
			n_wanted++;
			put_port_cable(cables, i);
		}
	triad_report_array_end(&report);
	if (!n_wanted)
		return triad_command_no_port(
			"cables", cables->moment.view->fabric, &cables->choice, output);
	if (!cables->command->json)
		put_end_of_list(cables, output);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_cables(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct cables cables = {.command = command};
	int status = TRIAD_CONTROL_FAILED;

	if (!triad_moment_open(&cables.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	if (triad_command_has_devices(&cables.moment, TRIAD_EXTRA_CABLE, output) &&
		triad_command_choose_there(command, cables.moment.view->fabric,
			"cables", &cables.choice, output))
		status = show_cables(&cables, output);
	triad_moment_close(&cables.moment);
	return status;
}
