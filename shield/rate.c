/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "shield/rate.h"

#include "triad/clock.h"

#define BURST_US (TRIAD_SHIELD_BURST_S * TRIAD_US_PER_S)

bool triad_shield_rate_take(
	struct triad_shield_rate *rate, uint16_t lid, uint32_t per_s, uint64_t now_us)
{
	uint64_t *due_us = &rate->due_us[lid % TRIAD_SHIELD_N_LIDS];

	if (!per_s)
		return true;
	if (*due_us < now_us)
		*due_us = now_us;
	if (*due_us > now_us + BURST_US)
		return false;
	*due_us += TRIAD_US_PER_S / per_s;
	return true;
}
