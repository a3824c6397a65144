/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/command/commands.h"

#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "service/command/commands.h"
#include "triad/control.h"

static int run_reload(struct triad_plugin *plugin, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	int status = triad_service_run(&plugin->service, prefix, command, output);
	struct triad_diags diags;

	/* The policy's file is read after the configuration that names it.  Its
	 * mistakes are reported apart: the configuration is in force all the same. */
	if (status != TRIAD_CONTROL_DONE || !triad_qos_wants_fabric(plugin->qos) ||
		!triad_qos_load(plugin->qos, &diags))
		return status;
	triad_commands_put_diags(&diags, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: not loaded; the last good QoS policy stays, if there was one\n",
		diags.source);
	return TRIAD_CONTROL_FAILED;
}

int triad_commands_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_plugin *plugin = context;

	switch (command->verb) {
	case TRIAD_COMMAND_STATUS:
		return triad_command_run_status(plugin, command, output);
	case TRIAD_COMMAND_QOS_ON:
	case TRIAD_COMMAND_QOS_OFF:
		return triad_command_run_qos_switch(plugin, command, output);
	case TRIAD_COMMAND_QOS_CLIENTS:
		return triad_command_run_qos_clients(plugin, command, output);
	case TRIAD_COMMAND_QOS_EXPLAIN:
		return triad_command_run_qos_explain(plugin, command, output);
	case TRIAD_COMMAND_QOS_PLAN:
		return triad_command_run_qos_plan(plugin, command, output);
	case TRIAD_COMMAND_QOS_APPLY:
		return triad_command_run_qos_apply(plugin, command, output);
	case TRIAD_COMMAND_QOS_TABLES:
		return triad_command_run_qos_tables(plugin, command, output);
	case TRIAD_COMMAND_QOS_NODES:
		return triad_command_run_qos_nodes(plugin, command, output);
	case TRIAD_COMMAND_ELECTION:
		return triad_command_run_election(plugin, command, output);
	case TRIAD_COMMAND_PORT_PRIORITY:
	case TRIAD_COMMAND_PORT_CONFIRM:
	case TRIAD_COMMAND_PORT_BLACKLIST:
	case TRIAD_COMMAND_PORT_VERDICT:
		return triad_command_run_port(plugin, command, output);
	case TRIAD_COMMAND_PORT_PLAN:
		return triad_command_run_port_plan(plugin, command, output);
	case TRIAD_COMMAND_PORT_LIST:
		return triad_command_run_port_list(plugin, command, output);
	case TRIAD_COMMAND_PORT_HISTORY:
		return triad_command_run_port_history(plugin, command, output);
	case TRIAD_COMMAND_PORT_RELEASE:
	case TRIAD_COMMAND_PORT_APPROVE:
	case TRIAD_COMMAND_PORT_SNAPSHOT:
		return triad_command_run_port_by_hand(plugin, command, output);
	case TRIAD_COMMAND_RELOAD:
		return run_reload(plugin, prefix, command, output);
	default:
		return triad_service_run(&plugin->service, prefix, command, output);
	}
}
