/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/layout/layout.h"

#include <string.h>

static const struct triad_layout *const layouts[] = {
	&triad_layout_stock,
	&triad_layout_debug,
	&triad_layout_no_perfmgr,
	&triad_layout_debug_no_perfmgr,
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* Whether the pointer at offset 'from' points at offset 'to'. */
static bool points_at(const struct osm_opensm *osm, size_t from, size_t to)
{
	const char *start = (const char *)osm, *pointer;

	memcpy(&pointer, start + from, sizeof(pointer));
	return pointer == start + to;
}

/* Each offset read is within the smallest osm_opensm_t: the PerfMgr, which only some
 * layouts have, follows the SA. */
static bool layout_fits(const struct triad_layout *layout, const struct osm_opensm *osm)
{
	return points_at(osm, layout->subn_osm, 0) &&
		points_at(osm, layout->sm_subn, layout->subn) &&
		points_at(osm, layout->sm_lock, layout->lock) &&
		points_at(osm, layout->sa_subn, layout->subn) &&
		points_at(osm, layout->sa_lock, layout->lock) &&
		points_at(osm, layout->sa_log, layout->log);
}

const struct triad_layout *triad_layout_find(const struct osm_opensm *osm)
{
	for (size_t i = 0; i < N_LAYOUTS; i++)
		if (layout_fits(layouts[i], osm))
			return layouts[i];
	return NULL;
}

const struct triad_layout *triad_layout_of(bool has_debug, bool has_perfmgr)
{
	for (size_t i = 0; i < N_LAYOUTS; i++)
		if (layouts[i]->has_debug == has_debug &&
			layouts[i]->has_perfmgr == has_perfmgr)
			return layouts[i];
	return NULL;
}

void *triad_layout_log(const struct triad_layout *layout, struct osm_opensm *osm)
{
	return (char *)osm + layout->log;
}
