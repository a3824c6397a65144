/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port release', 'port approve', 'port snapshot', and the port manager's section of
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
#include "service/command/report.h"

static int print_refusal(struct triad_output *output, const char *what, const char *why)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "port %s: %s\n", what, why);
	return TRIAD_CONTROL_FAILED;
}

int triad_command_find_switch(struct triad_plugin *plugin, const char *what,
	const char *node, uint64_t *guid, struct triad_output *output)
{
	*guid = 0;
	if (!*node)
		return 0;
	switch (triad_ports_find_node(plugin->ports, node, guid)) {
	case 0:
		return 0;
	case EAGAIN:
		return print_refusal(output, what,
			"there is no fabric to look for that name in: give the GUID, "
			"or ask on the host of the master");
	case EEXIST:
		return print_refusal(output, what,
			"several switches have that name: give the GUID, as 0x...");
	default:
		return print_refusal(output, what,
			"no switch has that name; 'port list' has those of the "
			"expected configuration");
	}
}

/* --- by hand --- */

static int refuse(struct triad_plugin *plugin, const char *what,
	enum triad_ports_answer answer, struct triad_output *output)
{
	struct triad_ports_status status;
	char text[400];

	triad_ports_status(plugin->ports, &status);
	switch (answer) {
	case TRIAD_PORTS_OFF:
		return print_refusal(output, what,
			"the port manager is off: 'set port.enabled true' switches it "
			"on");
	case TRIAD_PORTS_OBSERVES:
		return print_refusal(
			output, what, "port.mode is observe: nothing is done to ports");
	case TRIAD_PORTS_NOT_PERMITTED:
		if (!status.trouble[0])
			return print_refusal(output, what,
				"this SM may not enforce now: 'election' says why, and "
				"who may; ask there");
		snprintf(text, sizeof(text), "not now: %s", status.trouble);
		return print_refusal(output, what, text);
	case TRIAD_PORTS_NOT_WRITTEN:
		return print_refusal(output, what,
			"not done: it could not be written to the journal, or to a "
			"majority of the SMs; see 'status'");
	case TRIAD_PORTS_BUSY:
		return print_refusal(output, what,
			"not done: the port manager waits for its disk or for "
			"switches; ask again");
	case TRIAD_PORTS_UNDER_WAY:
		return print_refusal(output, what,
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
	uint64_t guid;

	if (triad_command_find_switch(plugin, "release", command->node, &guid, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_release(plugin->ports, guid, (uint8_t)command->port);
	if (answer == TRIAD_PORTS_NOTHING)
		return print_refusal(output, "release",
			"this port was not disabled as failed; 'port list --failed' "
			"has those that were");
	if (answer != TRIAD_PORTS_OK)
		return refuse(plugin, "release", answer, output);
	triad_output_printf(output,
		"%s port %d: released; it is enabled when the plan comes to it\n",
		command->node, command->port);
	return TRIAD_CONTROL_DONE;
}

static int approve_all(struct triad_plugin *plugin, struct triad_output *output)
{
	uint32_t n;
	enum triad_ports_answer answer = triad_ports_approve_all(plugin->ports, &n);

	if (answer != TRIAD_PORTS_OK)
		return refuse(plugin, "approve", answer, output);
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
	char cut[TRIAD_PORTS_CUT_SIZE];
	uint64_t guid;

	if (!command->node[0])
		return approve_all(plugin, output);
	if (triad_command_find_switch(plugin, "approve", command->node, &guid, output))
		return TRIAD_CONTROL_FAILED;
	answer = triad_ports_approve(plugin->ports, guid, (uint8_t)command->port, cut);
	if (answer == TRIAD_PORTS_NOTHING)
		return print_refusal(output, "approve",
			"the plan has nothing to do at this port; 'port plan' shows "
			"it");
	if (answer != TRIAD_PORTS_OK)
		return refuse(plugin, "approve", answer, output);
	triad_output_printf(output, "%s port %d: approved%s%s\n", command->node,
		command->port, *cut ? "; it cuts off " : "", cut);
	return TRIAD_CONTROL_DONE;
}

/* --- snapshot --- */

static void put_line(void *context, const char *line)
{
	triad_output_put(context, line, strlen(line));
}

static int run_snapshot(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	struct triad_ports_status status;

	if (!fabric)
		return print_refusal(output, "snapshot",
			"there is no fabric: OpenSM has not brought up the subnet yet, "
			"or this SM is not the master; ask on the host of the master");
	triad_ports_status(plugin->ports, &status);
	triad_expected_write(fabric, status.generation + 1, put_line, output);
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
	default:
		return run_snapshot(plugin, output);
	}
}

/* --- status --- */

static const char *state_of(const struct triad_ports_status *status)
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
	triad_report_text(report, "state", "state", state_of(&status));
	if (status.is_enabled || report->as_json || status.generation ||
		status.n_mistakes)
		triad_report_facts(report, triad_ports_facts, &status);
	triad_report_section_end(report);
}
