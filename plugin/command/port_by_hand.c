/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port release', 'port approve', 'port snapshot', 'heal take', and the port manager's section of
 * 'status'. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/port_node.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "portmgr/expected/write.h"
#include "service/command/ports.h"
#include "service/command/report.h"

int triad_command_find_switch_in(struct triad_fabric *fabric, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output)
{
	struct triad_node_choice choice;

	if (!triad_command_choose_of_type(
		    command, fabric, TRIAD_NODE_SWITCH, verb, &choice, output))
		return TRIAD_CONTROL_FAILED;
	*found = (struct triad_command_switch){.port = choice.port};
	snprintf(found->name, sizeof(found->name), "%.*s", (int)sizeof(found->name) - 1,
		choice.name);
	if (choice.n == 1) {
		const struct triad_fabric_node *node = &fabric->nodes[choice.first];

		found->guid = node->guid;
		memcpy(found->name, triad_node_label(node).text, sizeof(found->name));
		return 0;
	}
	if (choice.rule == TRIAD_NODE_RULE_GUID)
		found->guid = choice.guid;
	if (choice.rule == TRIAD_NODE_RULE_GUID || choice.rule == TRIAD_NODE_RULE_ALL)
		return 0;
	if (fabric)
		return triad_command_print_choice(verb, &choice, fabric, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: there is no fabric to look for that name in: give the GUID, or ask "
		"on the host of the master\n",
		verb);
	return TRIAD_CONTROL_FAILED;
}

int triad_command_find_switch(struct triad_plugin *plugin, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output)
{
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	int status = triad_command_find_switch_in(fabric, verb, command, found, output);

	triad_fabric_unref(fabric);
	return status;
}

int triad_command_find_switch_port(struct triad_plugin *plugin, const char *verb,
	const struct triad_command *command, struct triad_command_switch *found,
	struct triad_output *output)
{
	if (triad_command_find_switch(plugin, verb, command, found, output))
		return TRIAD_CONTROL_FAILED;
	if (found->port > 0)
		return 0;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: '%s' is a whole switch, and one of its ports from 1 on is wanted: "
		"'%s %s 3', or '%s:3'\n",
		verb, command->node, verb, found->name, found->name);
	return TRIAD_CONTROL_FAILED;
}

/* --- by hand --- */

static int explain_refusal(struct triad_plugin *plugin, const char *what,
	enum triad_ports_answer answer, struct triad_output *output)
{
	struct triad_ports_status status;
	char text[400];

	triad_ports_status(plugin->ports, &status);
	switch (answer) {
	case TRIAD_PORTS_OFF:
		return triad_command_fail_port(output, what,
			"the port manager is off: 'set port.enabled true' switches it "
			"on");
	case TRIAD_PORTS_OBSERVES:
		return triad_command_fail_port(
			output, what, "port.mode is observe: nothing is done to ports");
	case TRIAD_PORTS_NOT_PERMITTED:
		if (!status.trouble[0])
			return triad_command_fail_port(output, what,
				"this SM may not enforce now: 'election' says why, and "
				"who may; ask there");
		snprintf(text, sizeof(text), "not now: %s", status.trouble);
		return triad_command_fail_port(output, what, text);
	case TRIAD_PORTS_NOT_WRITTEN:
		return triad_command_fail_port(output, what,
			"not done: it could not be written to the journal, or to a "
			"majority of the SMs; see 'health'");
	case TRIAD_PORTS_BUSY:
		return triad_command_fail_port(output, what,
			"not done: the port manager waits for its disk or for "
			"switches; ask again");
	case TRIAD_PORTS_IN_PROGRESS:
		return triad_command_fail_port(output, what,
			"begun, and not through yet: the port manager waits for its "
			"disk or for the other SMs; 'port history' and 'port plan' "
			"will show what came of it");
	default:
		return TRIAD_CONTROL_FAILED;
	}
}

static int run_release(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	enum triad_ports_answer answer;
	struct triad_command_switch found;

	if (triad_command_find_switch_port(
		    plugin, "port release", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_release(plugin->ports, found.guid, (uint8_t)found.port);
	if (answer == TRIAD_PORTS_NOTHING)
		return triad_command_fail_port(output, "release",
			"this port was not disabled as failed ('port list --failed'), "
			"nor is its link healed ('heal')");
	if (answer != TRIAD_PORTS_OK)
		return explain_refusal(plugin, "release", answer, output);
	triad_output_printf(output,
		"%s port %d: released; if it is disabled, it is enabled when the plan comes "
		"to it\n",
		found.name, found.port);
	return TRIAD_CONTROL_DONE;
}

static int approve_all(struct triad_plugin *plugin, struct triad_output *output)
{
	uint32_t n;
	enum triad_ports_answer answer = triad_ports_approve_all(plugin->ports, &n);

	if (answer != TRIAD_PORTS_OK)
		return explain_refusal(plugin, "approve", answer, output);
	triad_output_printf(output,
		"%u item(s) of the plan approved; what a guard stops is approved one "
		"by one\n",
		n);
	return TRIAD_CONTROL_DONE;
}

static int run_approve(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	enum triad_ports_answer answer;
	struct triad_command_switch found;
	char cut[TRIAD_PORTS_TEXT_SIZE];

	if (!command->node[0])
		return approve_all(plugin, output);
	if (triad_command_find_switch_port(
		    plugin, "port approve", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_approve(
		plugin->ports, found.guid, (uint8_t)found.port, cut);
	if (answer == TRIAD_PORTS_NOTHING)
		return triad_command_fail_port(output, "approve",
			"the plan has nothing to do at this port; 'port plan' shows "
			"it");
	if (answer == TRIAD_PORTS_OWN_PATH)
		return triad_command_fail_port(output, "approve",
			"it is this SM's own link: once it is down, this SM reaches "
			"nothing; let another SM become master, and approve it there");
	if (answer != TRIAD_PORTS_OK)
		return explain_refusal(plugin, "approve", answer, output);
	triad_output_printf(output, "%s port %d: approved%s%s\n", found.name,
		found.port, *cut ? "; it cuts off " : "", cut);
	return TRIAD_CONTROL_DONE;
}

static int run_take(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	enum triad_ports_answer answer;
	struct triad_command_switch found;
	char why[TRIAD_PORTS_TEXT_SIZE];

	if (triad_command_find_switch_port(
		    plugin, "heal take", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_take(plugin->ports, found.guid, (uint8_t)found.port, why);
	if (answer == TRIAD_PORTS_OK) {
		triad_output_printf(output,
			"%s port %d: its link is taken out of routing and tested; 'heal' "
			"has it\n",
			found.name, found.port);
		return TRIAD_CONTROL_DONE;
	}
	if (answer != TRIAD_PORTS_NOTHING)
		return explain_refusal(plugin, "take", answer, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"heal take: the link of %s port %d stays where it is: %s\n", found.name,
		found.port, why);
	return TRIAD_CONTROL_FAILED;
}

/* --- snapshot --- */

static void put_output_line(void *context, const char *line)
{
	triad_output_put(context, line, strlen(line));
}

static int run_snapshot(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	struct triad_ports_status status;

	if (!fabric)
		return triad_command_fail_port(output, "snapshot",
			"there is no fabric: OpenSM has not brought up the subnet yet, "
			"or this SM is not the master; ask on the host of the master");
	triad_ports_status(plugin->ports, &status);
	triad_expected_write(fabric, status.generation + 1, put_output_line, output);
	triad_fabric_unref(fabric);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_port_by_hand(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	switch (command->verb) {
	case TRIAD_COMMAND_PORT_RELEASE:
		return run_release(plugin, command, output);
	case TRIAD_COMMAND_PORT_APPROVE:
		return run_approve(plugin, command, output);
	case TRIAD_COMMAND_HEAL_TAKE:
		return run_take(plugin, command, output);
	default:
		return run_snapshot(plugin, output);
	}
}

/* --- status --- */

static const char *manager_state_of(const struct triad_ports_status *status)
{
	if (!status->is_enabled)
		return "off";
	if (!status->is_enforcing)
		return "observing";
	if (status->agenda.is_stopped && status->may_act)
		return "stopped";
	return status->may_act ? "enforcing" : "waiting for permission";
}

void triad_command_report_ports(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_ports_status status;

	triad_ports_status(plugin->ports, &status);
	triad_report_section(report, "ports", "Port manager");
	triad_report_text(report, "state", "state", manager_state_of(&status));
	if (status.is_enabled || report->as_json || status.generation ||
		status.n_mistakes)
		triad_report_facts(report, triad_ports_facts, &status);
	triad_report_section_end(report);
}
