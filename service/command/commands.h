/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands that need no OpenSM; triad_service_run() calls them.
 *
 * Thread-safety: any thread.  A command reads published state.  Some wait, in the
 * caller's thread: 'perf sweep' and 'perf clear' for a sweep, a manager's 'perf
 * histogram' and 'agents' for agents, commands with --at for a disk. */
#ifndef TRIAD_SERVICE_COMMAND_COMMANDS_H
#define TRIAD_SERVICE_COMMAND_COMMANDS_H

#include "triad/command.h"
#include "triad/diag.h"
#include "triad/output.h"

struct triad_kept_list;
struct triad_service;
struct triad_view;

/* Carries out a command and writes the answer.  Returns a status of triad/control.h. */
typedef int triad_service_command(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* One command each; see triad/command.h. */
triad_service_command triad_command_run_links;
triad_service_command triad_command_run_ports;
triad_service_command triad_command_run_perf_show;
triad_service_command triad_command_run_perf_top;
triad_service_command triad_command_run_perf_sweep;
triad_service_command triad_command_run_perf_clear;
triad_service_command triad_command_run_perf_resets;
triad_service_command triad_command_run_perf_ber;
triad_service_command triad_command_run_cables;
triad_service_command triad_command_run_devices;
triad_service_command triad_command_run_perf_details;
triad_service_command triad_command_run_perf_histogram;
/* 'agents ...' */
triad_service_command triad_command_run_agents;
/* 'congestion' */
triad_service_command triad_command_run_congestion;
/* 'job', 'topology' */
triad_service_command triad_command_run_job;
triad_service_command triad_command_run_topology;
/* 'routes ...' */
triad_service_command triad_command_run_routes;
triad_service_command triad_command_run_routes_check;
triad_service_command triad_command_run_routes_over;
triad_service_command triad_command_run_routes_between;
triad_service_command triad_command_run_repair_plan;
triad_service_command triad_command_run_heal_plan;
triad_service_command triad_command_run_nodes;
triad_service_command triad_command_run_get;
triad_service_command triad_command_run_config_diff;
triad_service_command triad_command_run_ack;
triad_service_command triad_command_run_silence;
triad_service_command triad_command_run_unsilence;
triad_service_command triad_command_run_silences;
triad_service_command triad_command_run_perf_history;
triad_service_command triad_command_run_perf_tiers;
triad_service_command triad_command_run_diff;
triad_service_command triad_command_run_alerts;
triad_service_command triad_command_run_history;

/* Fill a list for an image: 'agents owner', 'perf histogram'. */
void triad_command_keep_owners(
	struct triad_service *service, struct triad_kept_list *list);
void triad_command_keep_histograms(struct triad_service *service,
	const struct triad_view *view, struct triad_kept_list *list);

/* Writes a line if the listener of the section of 'key' could not be put into force;
 * "": for each such listener.  Returns whether there is any. */
bool triad_commands_put_refused(
	struct triad_service *service, const char *key, struct triad_output *output);

/* Writes a line for each mistake. */
void triad_commands_put_diags(
	const struct triad_diags *diags, struct triad_output *output);

#endif
