/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs commands from triadctl and from the console, and writes their answers.  Commands
 * that do not need OpenSM are the service's (service/command/commands.h).
 *
 * Thread-safety: any thread.  A command reads published state.  These commands wait, in
 * the caller's thread: 'perf sweep' and 'perf clear' for a sweep, 'port release' and
 * 'port approve' for the port manager (10 s at most), some commands of a manager for
 * agents. */
#ifndef TRIAD_PLUGIN_COMMAND_COMMANDS_H
#define TRIAD_PLUGIN_COMMAND_COMMANDS_H

#include "history/kept.h"
#include "triad/command.h"
#include "triad/output.h"

struct triad_plugin;
struct triad_report;

/* The 'run' of struct triad_service_owner; 'context' is the plugin. */
int triad_commands_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output);

/* Carries out a command and writes the answer.  Returns a status of triad/control.h. */
typedef int triad_plugin_command(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);

/* The 'fill_lists' of struct triad_service_owner: fills the lists of the plugin's
 * commands that images keep. */
void triad_commands_fill_lists(void *context, struct triad_kept_list *lists);

/* One command each; see triad/command.h. */
triad_plugin_command triad_command_run_status;

triad_plugin_command triad_command_run_qos_switch;
triad_plugin_command triad_command_run_qos_clients;
triad_plugin_command triad_command_run_qos_explain;
triad_plugin_command triad_command_run_qos_plan;
triad_plugin_command triad_command_run_qos_apply;
triad_plugin_command triad_command_run_qos_tables;
triad_plugin_command triad_command_run_qos_nodes;

triad_plugin_command triad_command_run_shield;
/* 'damp', 'damp traps', 'damp release', 'damp pin' */
triad_plugin_command triad_command_run_damp;
triad_plugin_command triad_command_run_heal;
triad_plugin_command triad_command_run_heal_report;
triad_plugin_command triad_command_run_repair_history;
triad_plugin_command triad_command_run_repair_settle;
triad_plugin_command triad_command_run_audit;
triad_plugin_command triad_command_run_audit_last;
triad_plugin_command triad_command_run_audit_repair;

triad_plugin_command triad_command_run_election;
triad_plugin_command triad_command_run_port_plan;
triad_plugin_command triad_command_run_port_list;
triad_plugin_command triad_command_run_port_history;
/* 'port release', 'approve' and 'snapshot' */
triad_plugin_command triad_command_run_port_by_hand;
/* The other 'port ...' */
triad_plugin_command triad_command_run_port;

/* Fill a list for an image: 'qos tables', 'port list'. */
void triad_command_keep_qos_tables(
	struct triad_plugin *plugin, struct triad_kept_list *list);
void triad_command_keep_port_list(
	struct triad_plugin *plugin, struct triad_kept_list *list);

/* The section of 'status' on the port manager. */
void triad_command_report_ports(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'election' on the SA's records. */
void triad_command_report_sa_copies(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on elections. */
void triad_command_report_election(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on the shield of the SA. */
void triad_command_report_shield(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on held links and traps. */
void triad_command_report_heal(
	struct triad_report *report, struct triad_plugin *plugin);
void triad_command_report_damp(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on links that are lost. */
void triad_command_report_repair(
	struct triad_report *report, struct triad_plugin *plugin);

/* The section of 'status' on QoS. */
void triad_command_report_qos(struct triad_report *report, struct triad_plugin *plugin);

#endif
