/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answers of commands that images keep (history/output.h).
 *
 * The table of commands marks these commands.  They are run as by a reader who types
 * only
 * --json; so --at can't be combined with options that change such an answer.
 *
 * Thread-safety: any thread, for different outputs. */
#ifndef TRIAD_SERVICE_COMMAND_OUTPUTS_H
#define TRIAD_SERVICE_COMMAND_OUTPUTS_H

#include "history/output.h"
#include "triad/command.h"
#include "triad/output.h"

struct triad_service;

/* Runs these commands into the first elements of 'outputs', which has room for
 * TRIAD_HISTORY_MAX_OUTPUTS, and reuses their memory; returns how many.  Leaves out
 * answers that are too large or have no memory, and adds their number to
 * '*n_left_out'. */
uint32_t triad_outputs_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out);

/* Shows the command's answer at the time of --at.  Returns the exit status that it had;
 * without an answer that of no answer, having written why. */
int triad_outputs_show(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

#endif
