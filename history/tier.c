/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/tier.h"

#include "triad/clock.h"

#define MINUTE_US (60 * TRIAD_US_PER_S)
#define HOUR_US (60 * MINUTE_US)

const struct triad_history_tier_info triad_history_tiers[TRIAD_HISTORY_N_TIERS] = {
	[TRIAD_HISTORY_SWEEPS] = {.name = "sweeps",
		.keep_us = HOUR_US,
		.segment_us = 10 * MINUTE_US},
	[TRIAD_HISTORY_MINUTES] = {.name = "minutes",
		.spacing_us = MINUTE_US,
		.keep_us = 24 * HOUR_US,
		.segment_us = 2 * HOUR_US},
	[TRIAD_HISTORY_HOURS] = {.name = "hours",
		.spacing_us = HOUR_US,
		.segment_us = 24 * HOUR_US},
};

bool triad_history_tier_takes(
	enum triad_history_tier tier, uint64_t last_us, uint64_t time_us)
{
	uint64_t spacing_us = triad_history_tiers[tier].spacing_us;

	/* Also true when the clock went back: it is another minute then. */
	return !spacing_us || !last_us || last_us / spacing_us != time_us / spacing_us;
}
