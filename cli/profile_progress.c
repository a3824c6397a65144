/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "triad/clock.h"

#define PERIOD_US (TRIAD_US_PER_S / 5)
#define OCTETS_PER_MB 1000000

void triad_profile_progress_init(
	struct triad_profile_progress *progress, const char *what)
{
	*progress = (struct triad_profile_progress){
		.what = what,
		.is_wanted = isatty(STDERR_FILENO),
		/* Show nothing in the first period: short work needs no progress. */
		.next_us = triad_clock_now_us() + PERIOD_US,
	};
}

void triad_profile_progress_show(struct triad_profile_progress *progress,
	const struct triad_profile_inputs *inputs)
{
	uint64_t done, all;

	if (!progress->is_wanted || triad_clock_now_us() < progress->next_us)
		return;
	all = triad_profile_inputs_octets(inputs, &done);
	fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " MB\033[K", progress->what,
		done / OCTETS_PER_MB, all / OCTETS_PER_MB);
	progress->is_shown = true;
	progress->next_us = triad_clock_now_us() + PERIOD_US;
}

void triad_profile_progress_end(struct triad_profile_progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
