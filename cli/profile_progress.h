/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How far the reading of profiles is, on standard error where that is a terminal. */
#ifndef TRIAD_CLI_PROFILE_PROGRESS_H
#define TRIAD_CLI_PROFILE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/profile_inputs.h"

struct triad_profile_progress {
	const char *what;
	bool is_wanted, is_shown;
	uint64_t next_us;
};

void triad_profile_progress_init(
	struct triad_profile_progress *progress, const char *what);

/* Some times a second at most. */
void triad_profile_progress_show(struct triad_profile_progress *progress,
	const struct triad_profile_inputs *inputs);

/* Clears the line, for what else is to be written. */
void triad_profile_progress_end(struct triad_profile_progress *progress);

#endif
