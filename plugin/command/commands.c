/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/command/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugin/instance.h"
#include "plugin/qos/qos.h"

const char *triad_commands_perf_trouble(struct triad_plugin *plugin)
{
	bool broken;

	pthread_mutex_lock(&plugin->conf_lock);
	broken = plugin->conf_state == TRIAD_CONF_BROKEN;
	pthread_mutex_unlock(&plugin->conf_lock);
	if (broken)
		return "the configuration has mistakes (see 'status'): mend it and "
		       "type 'reload'";
	switch (triad_perf_state(plugin->perf)) {
	case TRIAD_PERF_RUNNING:
		return NULL;
	case TRIAD_PERF_DISABLED:
		return "the PerfManager is off: 'set perfmgr.enabled true' starts it";
	case TRIAD_PERF_OTHER_ROLE:
		return triad_perf_wants(plugin->perf, TRIAD_SM_MASTER)
			? "this SM is not the master: ask on the host of the master"
			: "this SM is not a standby, as perfmgr.role wants it: ask on "
			  "the host of a standby";
	case TRIAD_PERF_NO_FABRIC:
		return "OpenSM has not brought up the subnet yet: see its log";
	case TRIAD_PERF_NO_TRANSPORT:
		return "the local port can't be opened for MADs: see OpenSM's log";
	}
	return "unknown";
}

static void put_diags(const struct triad_diags *diags, struct triad_output *output)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", text);
	}
}

/* Returns true, having said it, when what is configured could not be put into force. */
static bool is_refused(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_http_status http = triad_exports_http_status(plugin->exports);

	if (http.reason[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"prometheus: not in force: %s; %s\n", http.reason,
			http.listening ? "it goes on as it was before"
				       : "it listens nowhere");
	return http.reason[0];
}

static int run_set(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_diags diags;

	if (triad_plugin_set(plugin, command->key, command->value, &diags)) {
		put_diags(&diags, output);
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(output, "%s = %s, until the next reload or restart\n",
		command->key, command->value);
	if (!strncmp(command->key, "prometheus.", strlen("prometheus.")) &&
		is_refused(plugin, output))
		return TRIAD_CONTROL_FAILED;
	return TRIAD_CONTROL_DONE;
}

/* A policy with mistakes is told apart: the configuration is in force all the same. */
static bool policy_is_broken(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_diags diags;
	int error = 0;

	if (triad_qos_wants_fabric(plugin->qos))
		error = triad_qos_load(plugin->qos, &diags);
	if (!error)
		return false;
	put_diags(&diags, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: not loaded; the last good QoS policy stays, if there was one\n",
		diags.source);
	return true;
}

static int run_reload(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_diags diags;

	if (triad_plugin_reload(plugin, &diags)) {
		put_diags(&diags, output);
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"not loaded; the configuration in force stays\n");
		return TRIAD_CONTROL_FAILED;
	}
	put_diags(&diags, output);
	triad_output_printf(output, "%s: loaded\n", plugin->conf_path);
	if (is_refused(plugin, output) || policy_is_broken(plugin, output))
		return TRIAD_CONTROL_FAILED;
	return TRIAD_CONTROL_DONE;
}

static int run_help(const char *prefix, const struct triad_command *command,
	struct triad_output *output)
{
	char text[TRIAD_COMMAND_HELP_SIZE];

	if (triad_command_help(command->topic, prefix, text, sizeof(text))) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"help: no command '%s'; '%s help' lists them\n", command->topic,
			prefix);
		return TRIAD_CONTROL_USAGE;
	}
	triad_output_put(output, text, strlen(text));
	return TRIAD_CONTROL_DONE;
}

static int run(struct triad_plugin *plugin, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	switch (command->verb) {
	case TRIAD_COMMAND_HELP:
		return run_help(prefix, command, output);
	case TRIAD_COMMAND_STATUS:
		return triad_command_run_status(plugin, command, output);
	case TRIAD_COMMAND_PERF_SHOW:
		return triad_command_run_perf_show(plugin, command, output);
	case TRIAD_COMMAND_PERF_TOP:
		return triad_command_run_perf_top(plugin, command, output);
	case TRIAD_COMMAND_PERF_SWEEP:
		return triad_command_run_perf_sweep(plugin, command, output);
	case TRIAD_COMMAND_PERF_RESET:
		return triad_command_run_perf_reset(plugin, command, output);
	case TRIAD_COMMAND_PERF_HISTOGRAM:
		return triad_command_run_perf_histogram(plugin, command, output);
	case TRIAD_COMMAND_ALERTS:
		return triad_command_run_alerts(plugin, command, output);
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
	case TRIAD_COMMAND_PORT_RELEASE:
	case TRIAD_COMMAND_PORT_APPROVE:
	case TRIAD_COMMAND_PORT_SNAPSHOT:
		return triad_command_run_port_memory(plugin, command, output);
	case TRIAD_COMMAND_SET:
		return run_set(plugin, command, output);
	case TRIAD_COMMAND_RELOAD:
		return run_reload(plugin, command, output);
	}
	return TRIAD_CONTROL_USAGE;
}

int triad_commands_run(struct triad_plugin *plugin, const char *prefix, int n_words,
	const char *const *words, struct triad_output *output)
{
	struct triad_command command;
	char message[512];
	int status;

	if (triad_command_parse(n_words, words, &command, message, sizeof(message))) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", message);
		return TRIAD_CONTROL_USAGE;
	}
	output->color = command.color;
	status = run(plugin, prefix, &command, output);
	triad_output_flush(output);
	return status;
}
