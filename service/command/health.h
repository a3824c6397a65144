/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'health', and the one screen of 'status'.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_SERVICE_COMMAND_HEALTH_H
#define TRIAD_SERVICE_COMMAND_HEALTH_H

#include "triad/command.h"
#include "triad/output.h"

struct triad_service;

/* Returns the verdict as the exit status of a monitoring plugin. */
int triad_command_run_health(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* Writes the screen of 'status'; 'title', the first line, names the program.  Returns
 * TRIAD_CONTROL_FAILED when nothing works. */
int triad_command_put_screen(
	struct triad_service *service, const char *title, struct triad_output *output);

/* The exit status of 'status': TRIAD_CONTROL_FAILED when nothing works. */
int triad_command_status_exit(struct triad_service *service);

#endif
