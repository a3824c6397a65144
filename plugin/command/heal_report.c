/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'heal report': links that were taken out of routing, with what a technician needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/commands.h"
#include "plugin/damp/damper.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/report.h"
#include "service/devices.h"
#include "triad/clock.h"
#include "triad/control.h"

#define DEFAULT_US (UINT64_C(30) * 24 * 3600 * TRIAD_US_PER_S)

/* A link by the end that records name.  Times are of the wall clock. */
struct link {
	uint64_t guid, far_guid; /* 0: not known */
	uint8_t port, far_port;
	uint64_t far_switch; /* when it was taken, by its port GUID; 0: not known */
	bool is_linked;      /* the fabric has it */
	bool is_up;          /* or will, as its port is up */
	uint32_t n_taken;
	uint64_t out_us;            /* together */
	uint64_t taken_us;          /* since when it is out; 0: it is not */
	uint64_t first_us, last_us; /* of its takings */
	char why[TRIAD_RECORD_TEXT_SIZE];
};

struct links {
	struct link *all;
	uint32_t n;
};

static struct link *find_link(struct links *links, const struct triad_record *record)
{
	for (uint32_t i = 0; i < links->n; i++)
		if (links->all[i].guid == record->node_guid &&
			links->all[i].port == record->port)
			return &links->all[i];
	links->all[links->n] =
		(struct link){.guid = record->node_guid, .port = record->port};
	return &links->all[links->n++];
}

static void end_time_out(struct link *link, uint64_t at_us)
{
	/* Clocks of two SMs may differ. */
	if (link->taken_us && at_us > link->taken_us)
		link->out_us += at_us - link->taken_us;
	link->taken_us = 0;
}

/* Takes the records, the oldest first. */
static void add_record(struct links *links, const struct triad_record *record)
{
	struct link *link;

	if (record->outcome != TRIAD_OUTCOME_DONE)
		return;
	if (record->action == TRIAD_ACTION_TAKE &&
		record->reason == TRIAD_REASON_HEAL) {
		link = find_link(links, record);
		end_time_out(link, record->at_us);
		if (!link->n_taken++)
			link->first_us = record->at_us;
		link->taken_us = link->last_us = record->at_us;
		link->far_switch = record->remote_guid;
		snprintf(link->why, sizeof(link->why), "%s", record->text);
	} else if (record->action == TRIAD_ACTION_RETURN ||
		record->action == TRIAD_ACTION_RELEASE) {
		for (uint32_t i = 0; i < links->n; i++)
			if (links->all[i].guid == record->node_guid &&
				links->all[i].port == record->port)
				end_time_out(&links->all[i], record->at_us);
	}
}

static int compare_links(const void *a, const void *b)
{
	const struct link *first = a, *second = b;

	return (first->out_us < second->out_us) - (first->out_us > second->out_us);
}

static uint32_t find_switch(const struct triad_fabric *fabric, uint64_t port_guid)
{
	for (uint32_t i = 0; port_guid && i < fabric->n_nodes; i++) {
		uint32_t port = triad_fabric_port_at(fabric, fabric->nodes[i].guid, 0);

		if (port != TRIAD_FABRIC_NONE && fabric->ports[port].guid == port_guid)
			return i;
	}
	return TRIAD_FABRIC_NONE;
}

/* Of the fabric, unless another cable is there by now. */
static void find_linked_end(struct link *link, const struct triad_fabric *fabric)
{
	uint32_t port = triad_fabric_port_at(fabric, link->guid, link->port),
		 far = port == TRIAD_FABRIC_NONE ? port : fabric->ports[port].remote,
		 taken = find_switch(fabric, link->far_switch);

	if (taken != TRIAD_FABRIC_NONE)
		link->far_guid = fabric->nodes[taken].guid;
	link->is_up = port != TRIAD_FABRIC_NONE && far == TRIAD_FABRIC_NONE &&
		fabric->ports[port].phys_state == TRIAD_PHYS_LINK_UP;
	if (far == TRIAD_FABRIC_NONE ||
		(link->far_switch && fabric->ports[far].node != taken))
		return;
	link->is_linked = true;
	link->far_guid = fabric->nodes[fabric->ports[far].node].guid;
	link->far_port = fabric->ports[far].number;
}

/* The far end: of the fabric, or of a link that is out. */
static void find_far_end(struct link *link, const struct triad_fabric *fabric,
	const struct triad_damp_ends *held, size_t n_held)
{
	if (fabric)
		find_linked_end(link, fabric);
	for (size_t i = 0; i < n_held; i++)
		if (held[i].guid == link->guid && held[i].number == link->port) {
			link->far_guid = held[i].far_guid;
			link->far_port = held[i].far_number;
		}
}

/* NULL: it is not known, or a sweep is to show it first. */
static const char *now_of(const struct triad_fabric *fabric, const struct link *link)
{
	if (link->taken_us)
		return "out";
	if (!fabric || link->is_up)
		return NULL;
	return link->is_linked ? "routed" : "down";
}

/* --- the list --- */

/* Of the end that knows its cable. */
static const struct triad_cable *find_cable(struct triad_plugin *plugin,
	const struct link *link, struct triad_cable_known *known)
{
	struct triad_device_reader *devices = plugin->service.devices;
	bool is_known = (triad_device_reader_read_port(
				 devices, link->guid, link->port, known) &&
				known->module == TRIAD_MODULE_KNOWN) ||
		(triad_device_reader_read_port(
			 devices, link->far_guid, link->far_port, known) &&
			known->module == TRIAD_MODULE_KNOWN);

	return is_known ? &known->cable : NULL;
}

static void put_link(struct triad_list *list, struct triad_plugin *plugin,
	const struct triad_fabric *fabric, const struct link *link)
{
	struct triad_cable_known known;
	const struct triad_cable *cable = find_cable(plugin, link, &known);

	triad_list_row(list);
	triad_list_end(list, false, link->guid,
		triad_fabric_node_by_guid(fabric, link->guid), link->port);
	triad_list_blank(list);
	triad_list_uint(list, "taken", "taken", 5, link->n_taken);
	triad_list_real(list, "out_h", "hours", 7, (double)link->out_us / 3.6e9, "%.1f",
		(double)link->out_us / 3.6e9);
	triad_list_blank(list);
	triad_list_text(list, "now", "now", -7, now_of(fabric, link));
	triad_list_end(list, true, link->far_guid,
		triad_fabric_node_by_guid(fabric, link->far_guid), link->far_port);
	triad_list_wall_time(list, "first", NULL, link->first_us);
	triad_list_wall_time(list, "last", "last taken", link->last_us);
	triad_list_text(list, "part", "part", -16, cable ? cable->part : NULL);
	triad_list_text(list, "serial", "serial", -13, cable ? cable->serial : NULL);
	triad_list_text(list, "why", "why", TRIAD_LIST_LONG, link->why);
	triad_list_row_end(list);
}

static void put_links(struct triad_plugin *plugin, const struct triad_command *command,
	struct links *links, uint64_t since_us, struct triad_output *output)
{
	struct triad_damp_ends held[256];
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	size_t n_held = triad_damper_held(plugin->damper, held, 256);
	uint64_t now_us = triad_clock_wall_us();
	char since[TRIAD_CLOCK_TEXT_SIZE];

	for (uint32_t i = 0; i < links->n; i++) {
		struct link *link = &links->all[i];

		if (link->taken_us && now_us > link->taken_us)
			link->out_us += now_us - link->taken_us;
		find_far_end(link, fabric, held, n_held);
	}
	qsort(links->all, links->n, sizeof(*links->all), compare_links);
	triad_report_array(&report, NULL);
	if (links->n || command->json)
		put_link(&list, plugin, NULL, &(struct link){0});
	for (uint32_t i = 0; i < links->n && i < command->limit; i++)
		put_link(&list, plugin, fabric, &links->all[i]);
	triad_report_array_end(&report);
	if (!links->n && !command->json)
		triad_output_printf(output,
			"no link was taken out of routing since %s\n",
			triad_clock_format_s(since_us, since));
	triad_fabric_unref(fabric);
}

int triad_command_run_heal_report(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	uint64_t since_us = command->since[0]
		? triad_moment_time(command->since_us, command->since_length_us)
		: triad_clock_wall_us() - DEFAULT_US;
	struct triad_record *records = NULL;
	struct links links = {0};
	uint32_t n = 0;
	int error = triad_ports_history(plugin->ports, 0, -1, UINT32_MAX, &records, &n);

	links.all = error ? NULL : calloc((size_t)n + 1, sizeof(*links.all));
	if (!links.all) {
		free(records);
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"heal report: not enough memory; try again\n");
		return TRIAD_CONTROL_UNKNOWN;
	}
	while (n--)
		if (records[n].at_us >= since_us)
			add_record(&links, &records[n]);
	put_links(plugin, command, &links, since_us, output);
	free(links.all);
	free(records);
	return TRIAD_CONTROL_DONE;
}
