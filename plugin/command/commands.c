/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/command/commands.h"

#include <string.h>

#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "service/command/commands.h"
#include "triad/control.h"

/* triad.conf names the files of the QoS policy and of the expected configuration.  They
 * are read after it, and a mistake in one of them leaves triad.conf in force.  So each
 * file is reported by itself: these return true when theirs has no mistake. */

static bool refuse_file(
	const struct triad_diags *diags, const char *what, struct triad_output *output)
{
	triad_commands_put_diags(diags, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: not loaded; the last good %s stays, if there was one\n",
		diags->source, what);
	return false;
}

static bool load_policy(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_diags diags;

	if (!triad_qos_wants_fabric(plugin->qos) ||
		!triad_qos_load(plugin->qos, &diags))
		return true;
	return refuse_file(&diags, "QoS policy", output);
}

static bool wait_for_expected(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_diags diags;

	return triad_ports_read(plugin->ports, &diags) ||
		refuse_file(&diags, "expected configuration", output);
}

static int run_reload(struct triad_plugin *plugin, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	int status = triad_service_run(&plugin->service, prefix, command, output);
	bool is_loaded;

	if (status != TRIAD_CONTROL_DONE)
		return status;
	is_loaded = load_policy(plugin, output);
	is_loaded &= wait_for_expected(plugin, output);
	return is_loaded ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

static int run_set(struct triad_plugin *plugin, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	int status = triad_service_run(&plugin->service, prefix, command, output);
	bool is_loaded = true;

	if (status != TRIAD_CONTROL_DONE)
		return status;
	if (!strcmp(command->key, "qos.policy_file"))
		is_loaded = load_policy(plugin, output);
	if (!strcmp(command->key, "port.expected_file"))
		is_loaded = wait_for_expected(plugin, output);
	return is_loaded ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* The service (triad_service_run()) runs the commands whose row is NULL. */
static triad_plugin_command *const runs[TRIAD_N_COMMANDS] = {
	[TRIAD_COMMAND_STATUS] = triad_command_run_status,
	[TRIAD_COMMAND_QOS_ON] = triad_command_run_qos_switch,
	[TRIAD_COMMAND_QOS_OFF] = triad_command_run_qos_switch,
	[TRIAD_COMMAND_QOS_CLIENTS] = triad_command_run_qos_clients,
	[TRIAD_COMMAND_QOS_EXPLAIN] = triad_command_run_qos_explain,
	[TRIAD_COMMAND_QOS_PLAN] = triad_command_run_qos_plan,
	[TRIAD_COMMAND_QOS_APPLY] = triad_command_run_qos_apply,
	[TRIAD_COMMAND_QOS_TABLES] = triad_command_run_qos_tables,
	[TRIAD_COMMAND_QOS_NODES] = triad_command_run_qos_nodes,
	[TRIAD_COMMAND_AUDIT] = triad_command_run_audit,
	[TRIAD_COMMAND_AUDIT_LAST] = triad_command_run_audit_last,
	[TRIAD_COMMAND_AUDIT_REPAIR] = triad_command_run_audit_repair,
	[TRIAD_COMMAND_SHIELD] = triad_command_run_shield,
	[TRIAD_COMMAND_REPAIR_HISTORY] = triad_command_run_repair_history,
	[TRIAD_COMMAND_REPAIR_SETTLE] = triad_command_run_repair_settle,
	[TRIAD_COMMAND_DAMP] = triad_command_run_damp,
	[TRIAD_COMMAND_DAMP_TRAPS] = triad_command_run_damp,
	[TRIAD_COMMAND_DAMP_RELEASE] = triad_command_run_damp,
	[TRIAD_COMMAND_DAMP_PIN] = triad_command_run_damp,
	[TRIAD_COMMAND_HEAL] = triad_command_run_heal,
	[TRIAD_COMMAND_HEAL_REPORT] = triad_command_run_heal_report,
	[TRIAD_COMMAND_HEAL_TAKE] = triad_command_run_port_by_hand,
	[TRIAD_COMMAND_ELECTION] = triad_command_run_election,
	[TRIAD_COMMAND_PORT_PRIORITY] = triad_command_run_port,
	[TRIAD_COMMAND_PORT_CONFIRM] = triad_command_run_port,
	[TRIAD_COMMAND_PORT_BLACKLIST] = triad_command_run_port,
	[TRIAD_COMMAND_PORT_VERDICT] = triad_command_run_port,
	[TRIAD_COMMAND_PORT_PLAN] = triad_command_run_port_plan,
	[TRIAD_COMMAND_PORT_LIST] = triad_command_run_port_list,
	[TRIAD_COMMAND_PORT_HISTORY] = triad_command_run_port_history,
	[TRIAD_COMMAND_PORT_RELEASE] = triad_command_run_port_by_hand,
	[TRIAD_COMMAND_PORT_APPROVE] = triad_command_run_port_by_hand,
	[TRIAD_COMMAND_PORT_SNAPSHOT] = triad_command_run_port_by_hand,
};

int triad_commands_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_plugin *plugin = context;

	if (command->verb == TRIAD_COMMAND_RELOAD)
		return run_reload(plugin, prefix, command, output);
	if (command->verb == TRIAD_COMMAND_SET)
		return run_set(plugin, prefix, command, output);
	if (runs[command->verb])
		return runs[command->verb](plugin, command, output);
	return triad_service_run(&plugin->service, prefix, command, output);
}

void triad_commands_fill_lists(void *context, struct triad_kept_list *lists)
{
	struct triad_plugin *plugin = context;

	triad_command_keep_port_list(plugin, &lists[TRIAD_KEPT_PORTS]);
	triad_command_keep_qos_tables(plugin, &lists[TRIAD_KEPT_TABLES]);
}
