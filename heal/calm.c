/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/calm.h"

#include <glib.h>

static void turn_window(struct triad_calm *calm, uint64_t now_us)
{
	struct triad_calm_window still = {calm->n_links, calm->n_links};
	uint64_t age_us = now_us - calm->begun_us;

	if (age_us < TRIAD_CALM_US)
		return;
	calm->last = age_us < 2 * TRIAD_CALM_US ? calm->now : still;
	calm->now = still;
	calm->begun_us = now_us - age_us % TRIAD_CALM_US;
}

void triad_calm_note(struct triad_calm *calm, uint32_t n_links, uint64_t now_us)
{
	if (!calm->has_count)
		*calm = (struct triad_calm){.has_count = true,
			.n_links = n_links,
			.begun_us = now_us,
			.now = {n_links, n_links},
			.last = {n_links, n_links}};
	turn_window(calm, now_us);
	calm->n_links = n_links;
	calm->now.fewest = MIN(calm->now.fewest, n_links);
	calm->now.most = MAX(calm->now.most, n_links);
}

uint32_t triad_calm_n_moved(struct triad_calm *calm, uint64_t now_us)
{
	turn_window(calm, now_us);
	return MAX(calm->now.most, calm->last.most) -
		MIN(calm->now.fewest, calm->last.fewest);
}
