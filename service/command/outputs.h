/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What commands answered in the past, which images keep (history/output.h).
 *
 * The table of commands says of which ones.  They are run as a user would, who may read
 * and gives no option but --json; so --at goes with no other that changes an answer.
 *
 * Thread-safety: any thread, for different outputs. */
#ifndef TRIAD_SERVICE_COMMAND_OUTPUTS_H
#define TRIAD_SERVICE_COMMAND_OUTPUTS_H

#include "history/output.h"
#include "triad/command.h"
#include "triad/output.h"

struct triad_service;

/* Runs them all, into the first of TRIAD_HISTORY_MAX_OUTPUTS, whose memory is used
 * again; returns how many there are.  What is too large, or has no memory, is left out
 * and added to '*n_left_out'. */
uint32_t triad_outputs_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out);

/* Shows what a command answered at the time it is asked about.  Returns the status that
 * it had, or that of no answer, having said why. */
int triad_outputs_show(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

#endif
