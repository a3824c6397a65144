/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/steady_clock.h"

static bool is_near(int64_t a_us, int64_t b_us)
{
	return (a_us < b_us ? b_us - a_us : a_us - b_us) <
		(int64_t)TRIAD_STEADY_SLACK_US;
}

uint64_t triad_steady_clock_read(
	struct triad_steady_clock *clock, uint64_t wall_us, uint64_t boot_us)
{
	int64_t offset_us = (int64_t)(wall_us - boot_us);

	if (!clock->is_set || is_near(offset_us, clock->offset_us)) {
		*clock = (struct triad_steady_clock){
			.is_set = true, .offset_us = offset_us};
	} else if (!clock->is_in_doubt || !is_near(offset_us, clock->other_us)) {
		clock->is_in_doubt = true;
		clock->other_us = offset_us;
		clock->doubted_us = boot_us;
	} else if (boot_us - clock->doubted_us >= TRIAD_STEADY_CONFIRM_US) {
		*clock = (struct triad_steady_clock){
			.is_set = true, .offset_us = offset_us};
	}
	return boot_us + (uint64_t)clock->offset_us;
}
