/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands that need no OpenSM; triad_service_run() chooses.
 *
 * Thread-safety: any thread. A command reads published state. Those that wait do so in
 * the caller's thread: 'perf sweep' and 'perf clear' for a sweep, a manager's 'perf
 * histogram' and 'agents' for agents. */
#ifndef TRIAD_SERVICE_COMMAND_COMMANDS_H
#define TRIAD_SERVICE_COMMAND_COMMANDS_H

#include "triad/command.h"
#include "triad/diag.h"
#include "triad/output.h"

struct triad_service;

/* One command each; see triad/command.h. */
int triad_command_run_links(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_show(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_top(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_sweep(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_clear(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_resets(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_ber(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_cables(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_devices(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_details(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_histogram(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* 'agents ...' */
int triad_command_run_agents(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* 'congestion' */
int triad_command_run_congestion(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* 'job', 'topology' */
int triad_command_run_job(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_topology(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* 'routes ...' */
int triad_command_run_routes(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_routes_check(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_routes_over(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_routes_between(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_nodes(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_get(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_config_diff(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_ack(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_silence(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_unsilence(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_silences(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_perf_history(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_diff(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_alerts(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
int triad_command_run_history(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* A line for each mistake. */
void triad_commands_put_diags(
	const struct triad_diags *diags, struct triad_output *output);

#endif
