/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'damp', 'damp traps', 'damp release', 'damp pin', and what 'status' says of held links. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/port_node.h"
#include "plugin/damp/damper.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/sm_state.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "triad/clock.h"
#include "triad/control.h"

/* --- status --- */

static const char *damp_state(
	struct triad_plugin *plugin, const struct triad_damper_status *status)
{
	if (status->mode == TRIAD_DAMP_OFF)
		return "off";
	if (status->error)
		return triad_damper_explain(status->error);
	if (!status->is_installed)
		return "waiting for OpenSM";
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0)
		return "not the master: no traps come here; what the master holds is known";
	return status->mode == TRIAD_DAMP_ACT
		? "links that go down again and again are held out of routing"
		: "such links are found, and none is held";
}

void triad_command_report_damp(struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_damper_status status = triad_damper_status(plugin->damper);

	triad_report_section(report, "damp", "Links that go down again and again");
	triad_report_text(report, "state", "state", damp_state(plugin, &status));
	if (status.mode != TRIAD_DAMP_OFF || report->as_json)
		triad_report_facts(report, triad_damp_facts, &status);
	triad_report_section_end(report);
}

/* --- links --- */

static const char *link_state(const struct triad_damp_link *link, bool acts)
{
	if (!link->is_held)
		return link->refused ? "may not be held" : "routed";
	if (!acts)
		return "would be held";
	return link->is_by_heal   ? "held by 'heal'"
		: link->is_pinned ? "held until released"
		: link->is_up     ? "held, up"
				  : "held, down";
}

/* When it returns, or why it is not held. */
static const char *link_outlook(
	const struct triad_damp_link *link, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	uint64_t at_us = triad_damp_link_returns_us(link);

	if (link->refused && !link->is_held)
		return link->refused;
	if (at_us == UINT64_MAX)
		return NULL;
	return triad_clock_format_s(triad_clock_to_wall_us(at_us), text);
}

static void put_link(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_damp_link *link, bool acts)
{
	const struct triad_damp_ends *ends = &link->ends;
	char outlook[TRIAD_CLOCK_TEXT_SIZE];

	triad_list_row(list);
	triad_list_end(list, false, ends->guid,
		triad_fabric_node_by_guid(fabric, ends->guid), ends->number);
	triad_list_blank(list);
	triad_list_text(list, "state", "state", -15, link_state(link, acts));
	triad_list_uint(list, "bounces", "times", 5, link->n_bounces);
	triad_list_blank(list);
	triad_list_end(list, true, ends->far_guid,
		triad_fabric_node_by_guid(fabric, ends->far_guid), ends->far_number);
	triad_list_blank(list);
	triad_list_time(list, "last", "last", link->bounced_us);
	triad_list_uint(list, "penalty", "penalty", 7, (uint64_t)link->penalty);
	triad_list_blank(list);
	triad_list_time(list, "since", "held since", link->is_held ? link->held_us : 0);
	triad_list_text(
		list, "until", "until", TRIAD_LIST_LONG, link_outlook(link, outlook));
	triad_list_row_end(list);
}

static int run_links(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_damp_link *links = calloc(command->limit, sizeof(*links));
	struct triad_damper_status status = triad_damper_status(plugin->damper);
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	bool acts = status.mode == TRIAD_DAMP_ACT;
	size_t n =
		links ? triad_damper_links(plugin->damper, links, command->limit) : 0;

	triad_report_array(&report, NULL);
	if (n || command->json)
		put_link(&list, NULL, &(struct triad_damp_link){0}, acts);
	for (size_t i = 0; i < n; i++)
		put_link(&list, fabric, &links[i], acts);
	triad_report_array_end(&report);
	if (!n && !command->json)
		triad_output_printf(output, "%s\n",
			status.mode == TRIAD_DAMP_OFF
				? "damping is off, so nobody looks at traps: 'triadctl set "
				  "damp.mode watch' begins"
				: "no link went down lately");
	triad_fabric_unref(fabric);
	free(links);
	return links ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* --- traps --- */

static void put_sender(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_trap_sender *sender)
{
	uint32_t port =
		fabric ? triad_fabric_find_lid(fabric, sender->lid) : TRIAD_FABRIC_NONE;
	const struct triad_fabric_node *node = port == TRIAD_FABRIC_NONE
		? NULL
		: &fabric->nodes[fabric->ports[port].node];
	char kind[16];

	snprintf(kind, sizeof(kind), "%u", sender->kind);
	triad_list_row(list);
	triad_list_uint(list, "lid", "LID", 5, sender->lid);
	triad_list_blank(list);
	triad_list_guid(list, "node_guid", NULL, node ? node->guid : 0);
	triad_list_node(list, "node_name", "node", 24, node);
	triad_list_text(list, "trap", "trap", -8,
		sender->kind == TRIAD_TRAPS_OF_VENDORS ? "vendor's" : kind);
	triad_list_uint(list, "received", "received", 10, sender->n_heard);
	triad_list_uint(list, "kept", "kept", 10, sender->n_kept);
	triad_list_row_end(list);
}

static int run_traps(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_trap_sender *senders = calloc(TRIAD_TRAPS_N, sizeof(*senders));
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	size_t n = senders ? triad_damper_senders(plugin->damper, senders) : 0;

	triad_report_array(&report, NULL);
	if (n || command->json)
		put_sender(&list, NULL, &(struct triad_trap_sender){0});
	for (size_t i = 0; i < n && i < command->limit; i++)
		put_sender(&list, fabric, &senders[i]);
	triad_report_array_end(&report);
	if (!n && !command->json)
		triad_output_printf(output,
			"no trap came that changes nothing, or damp.mode is off\n");
	triad_fabric_unref(fabric);
	free(senders);
	return senders ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* --- by hand --- */

static int run_release(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	enum triad_ports_answer answer;
	struct triad_command_switch found;

	if (triad_command_find_switch_port(
		    plugin, "damp release", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_let_go(plugin->ports, found.guid, (uint8_t)found.port);
	if (triad_damper_release(plugin->damper, found.guid, (uint8_t)found.port,
		    "no longer held: by hand") &&
		answer != TRIAD_PORTS_OK) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"damp release: nothing is known of a link of %s port %d that "
			"went down; 'damp' lists those that did\n",
			found.name, found.port);
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(output, "%s port %d: its link is OpenSM's again\n",
		found.name, found.port);
	return TRIAD_CONTROL_DONE;
}

static int pin_link(struct triad_plugin *plugin, struct triad_fabric *fabric,
	const struct triad_command_switch *found, struct triad_output *output)
{
	uint32_t port = fabric
		? triad_fabric_port_at(fabric, found->guid, (uint8_t)found->port)
		: TRIAD_FABRIC_NONE;
	const char *why = "OpenSM has no link there now";
	int error = ENOENT;

	if (port != TRIAD_FABRIC_NONE) {
		(void)triad_ports_keep_out(
			plugin->ports, found->guid, (uint8_t)found->port);
		error = triad_damper_pin(plugin->damper, fabric, port, false,
			"held out of routing by hand", &why);
	}
	if (error == ENOMEM)
		why = "memory is short";
	if (!error)
		return TRIAD_CONTROL_DONE;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"damp pin: the link of %s port %d is not held: %s\n", found->name,
		found->port, why);
	return TRIAD_CONTROL_FAILED;
}

static int run_pin(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_damper_status status = triad_damper_status(plugin->damper);
	struct triad_command_switch found;
	struct triad_fabric *fabric;
	int result;

	if (triad_command_find_switch_port(plugin, "damp pin", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	if (status.mode != TRIAD_DAMP_ACT || !status.is_installed) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"damp pin: no link is held: %s; 'set damp.mode act' changes "
			"that\n",
			damp_state(plugin, &status));
		return TRIAD_CONTROL_FAILED;
	}
	fabric = triad_ports_fabric(plugin->ports);
	result = pin_link(plugin, fabric, &found, output);
	triad_fabric_unref(fabric);
	if (result == TRIAD_CONTROL_DONE)
		triad_output_printf(output,
			"%s port %d: its link is held until 'damp release'\n",
			found.name, found.port);
	return result;
}

int triad_command_run_damp(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	switch (command->verb) {
	case TRIAD_COMMAND_DAMP:
		return run_links(plugin, command, output);
	case TRIAD_COMMAND_DAMP_TRAPS:
		return run_traps(plugin, command, output);
	case TRIAD_COMMAND_DAMP_RELEASE:
		return run_release(plugin, command, output);
	default:
		return run_pin(plugin, command, output);
	}
}
