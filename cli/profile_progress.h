/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shows the progress of reading profiles on standard error, if that is a terminal. */
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

/* Shows it, a few times a second at most. */
void triad_profile_progress_show(struct triad_profile_progress *progress,
	const struct triad_profile_inputs *inputs);

/* Clears the line, before other output. */
void triad_profile_progress_end(struct triad_profile_progress *progress);

#endif
