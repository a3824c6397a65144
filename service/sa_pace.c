/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sa_pace.h"

uint64_t triad_sa_pace_report(struct triad_sa_pace *pace, uint64_t now_us)
{
	uint64_t soon_us = now_us + TRIAD_SA_PACE_SETTLE_US;
	uint64_t next_us;

	/* No reading for the longest interval: the calm has returned. */
	if (now_us >= pace->read_us + TRIAD_SA_PACE_MOST_US)
		pace->interval_us = 0;
	next_us = pace->read_us + pace->interval_us;
	return soon_us > next_us ? soon_us : next_us;
}

void triad_sa_pace_read(struct triad_sa_pace *pace, uint64_t now_us)
{
	uint64_t longer_us = 2 * pace->interval_us;

	if (longer_us < TRIAD_SA_PACE_LEAST_US)
		longer_us = TRIAD_SA_PACE_LEAST_US;
	else if (longer_us > TRIAD_SA_PACE_MOST_US)
		longer_us = TRIAD_SA_PACE_MOST_US;
	pace->interval_us = longer_us;
	pace->read_us = now_us;
}
