/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs commands from triadctl and from the console, and writes their answers.  Those
 * that need no OpenSM are the service's (service/command/commands.h).
 *
 * Thread-safety: any thread.  A command reads published state.  Those that wait do so
 * in the caller's thread: 'perf sweep' and 'perf clear' for a sweep, 'port release'
 * and 'port approve' for the port manager (10 s at most), some of a manager's for
 * agents. */
#ifndef TRIAD_PLUGIN_COMMAND_COMMANDS_H
#define TRIAD_PLUGIN_COMMAND_COMMANDS_H

#include "triad/command.h"
#include "triad/output.h"

struct triad_plugin;
struct triad_report;

/* The 'run' of struct triad_service_owner; 'context' is the plugin. */
int triad_commands_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output);

/* One command each; see triad/command.h. */
int triad_command_run_status(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);

int triad_command_run_qos_switch(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_clients(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_explain(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_plan(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_apply(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_tables(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_qos_nodes(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);

int triad_command_run_election(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_port_plan(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_port_list(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_port_history(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
/* 'port release', 'approve' and 'snapshot' */
int triad_command_run_port_by_hand(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
/* The other 'port ...' */
int triad_command_run_port(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);

/* The section of 'status' on the port manager. */
void triad_command_report_ports(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on elections. */
void triad_command_report_election(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on QoS. */
void triad_command_report_qos(struct triad_report *report, struct triad_plugin *plugin);

#endif
