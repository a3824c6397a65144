/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/calm.h"

static void turn_window(struct triad_calm *calm, uint64_t now_us)
{
	uint64_t age_us = now_us - calm->begun_us;

	if (age_us < TRIAD_CALM_US)
		return;
	calm->n_moved_last = age_us < 2 * TRIAD_CALM_US ? calm->n_moved : 0;
	calm->n_moved = 0;
	calm->begun_us = now_us - age_us % TRIAD_CALM_US;
}

void triad_calm_note(struct triad_calm *calm, uint32_t n_links, uint64_t now_us)
{
	turn_window(calm, now_us);
	if (calm->has_count)
		calm->n_moved += n_links > calm->n_links ? n_links - calm->n_links
							 : calm->n_links - n_links;
	calm->has_count = true;
	calm->n_links = n_links;
}

uint64_t triad_calm_n_moved(struct triad_calm *calm, uint64_t now_us)
{
	turn_window(calm, now_us);
	return calm->n_moved + calm->n_moved_last;
}
