/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/lanes.h"

#define N_SLS 16u

void triad_routes_lanes_add(
	struct triad_routes_lanes *lanes, uint8_t first, uint8_t second)
{
	lanes->of[first & 0xf] |= (uint16_t)(1u << (second & 0xf));
	lanes->n_draws[first & 0xf]++;
}

/* All SLs from the lowest to the highest in 'sls', which is not 0. */
static uint16_t fill_sl_range(uint16_t sls)
{
	unsigned low = (unsigned)__builtin_ctz(sls), sl = low;
	uint16_t filled = 0;

	for (; sls >> sl; sl++)
		filled |= (uint16_t)(1u << sl);
	return filled;
}

/* Joins the lanes of SLs that share one.  Returns whether anything changed. */
static bool join_lanes(struct triad_routes_lanes *lanes)
{
	bool has_changed = false;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		uint16_t whole = fill_sl_range((uint16_t)(lanes->of[sl] | 1u << sl));

		for (unsigned other = 0; other < N_SLS; other++)
			if (lanes->of[other] & whole)
				whole |= lanes->of[other];
		for (unsigned other = 0; other < N_SLS; other++)
			if (whole >> other & 1 && lanes->of[other] != whole) {
				lanes->of[other] = whole;
				has_changed = true;
			}
	}
	return has_changed;
}

static bool is_known_lane(const struct triad_routes_lanes *lanes, unsigned sl)
{
	uint64_t n = 0;

	for (unsigned other = 0; other < N_SLS; other++)
		if (lanes->of[sl] >> other & 1)
			n += lanes->n_draws[other];
	return n >= TRIAD_ROUTES_LANE_DRAWS;
}

uint16_t triad_routes_lanes_close(struct triad_routes_lanes *lanes, uint16_t sls)
{
	uint16_t unknown = 0;

	while (join_lanes(lanes))
		;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (sls >> sl & 1 && !is_known_lane(lanes, sl))
			unknown |= (uint16_t)(1u << sl);
	return unknown;
}

uint16_t triad_routes_lanes_of(const struct triad_routes_lanes *lanes, uint16_t sls)
{
	uint16_t all = sls;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (sls >> sl & 1)
			all |= lanes->of[sl];
	return all;
}
