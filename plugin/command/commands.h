/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs commands, whoever typed them, and writes their answers.
 *
 * Thread-safety: any thread.  A command reads published state; only 'perf sweep'
 * and 'perf reset' wait, and they do so in the caller's thread. */
#ifndef TRIAD_PLUGIN_COMMAND_COMMANDS_H
#define TRIAD_PLUGIN_COMMAND_COMMANDS_H

#include "triad/command.h"
#include "triad/output.h"

struct triad_plugin;
struct triad_report;

/* Parses and runs a command; 'prefix' is what is typed before it, for help texts.
 * Flushes the output.  Returns TRIAD_CONTROL_DONE, _FAILED or _USAGE. */
int triad_commands_run(struct triad_plugin *plugin, const char *prefix, int n_words,
	const char *const *words, struct triad_output *output);

/* One command each; see triad/command.h. */
int triad_command_run_status(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_show(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_top(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_sweep(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_reset(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_histogram(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_alerts(struct triad_plugin *plugin,
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
/* 'port history', 'release', 'approve' and 'snapshot' */
int triad_command_run_port_memory(struct triad_plugin *plugin,
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

/* Why the PerfManager doesn't run, and what to do; NULL when it does. */
const char *triad_commands_perf_trouble(struct triad_plugin *plugin);

#endif
