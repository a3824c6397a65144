/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/minhop.h"

#include <stdbool.h>
#include <stdlib.h>

#include "plugin/physp.h"

static struct {
	struct osm_opensm *osm;
	int (*count_hops)(void *context); /* OpenSM's own */
	struct triad_minhop_link *links;
	uint32_t n;
} minhop;

static bool find_ends(
	const struct triad_minhop_link *link, osm_physp_t **near, osm_physp_t **far)
{
	*near = triad_physp_find(minhop.osm, link->guid, link->number);
	*far = triad_physp_find(minhop.osm, link->far_guid, link->far_number);
	return *near && *far;
}

/* In OpenSM's routing, with its lock held. */
static int count_hops(void *context)
{
	osm_physp_t *near, *far;
	uint32_t n = 0;
	int result;

	/* Those that are hidden come first, so that only these are linked again: the others
	 * have changed since. */
	for (uint32_t i = 0; i < minhop.n; i++) {
		struct triad_minhop_link link = minhop.links[i];

		if (!find_ends(&link, &near, &far) || osm_physp_get_remote(near) != far)
			continue;
		osm_physp_unlink(near, far);
		minhop.links[i] = minhop.links[n];
		minhop.links[n++] = link;
	}
	result = minhop.count_hops(context);
	for (uint32_t i = 0; i < n; i++)
		if (find_ends(&minhop.links[i], &near, &far))
			osm_physp_link(near, far);
	return result;
}

static void install(struct osm_routing_engine *engine)
{
	if (!engine ||
		(engine->type != OSM_ROUTING_ENGINE_TYPE_MINHOP &&
			engine->type != OSM_ROUTING_ENGINE_TYPE_DOR) ||
		!engine->build_lid_matrices || engine->build_lid_matrices == count_hops)
		return;
	/* Both types have the same function. */
	if (!minhop.count_hops)
		minhop.count_hops = engine->build_lid_matrices;
	if (engine->build_lid_matrices == minhop.count_hops)
		engine->build_lid_matrices = count_hops;
}

void triad_minhop_avoid(
	struct osm_opensm *osm, struct triad_minhop_link *links, uint32_t n)
{
	free(minhop.links);
	minhop.osm = osm;
	minhop.links = links;
	minhop.n = links ? n : 0;
	for (struct osm_routing_engine *engine = osm->routing_engine_list; n && engine;
		engine = engine->next)
		install(engine);
	if (n)
		/* OpenSM falls back to this one when all of the list fail. */
		install(osm->default_routing_engine);
}
