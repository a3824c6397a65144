/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/crossing.h"

#include "routes/path.h"

static const struct triad_routes_goal *find_goal(
	const struct triad_routes_layout *layout, uint16_t lid)
{
	for (uint32_t i = 0; i < layout->n_goals; i++)
		if (layout->goals[i].lid == lid)
			return &layout->goals[i];
	return NULL;
}

uint32_t triad_routes_n_crossing(
	const struct triad_routes_layout *layout, uint32_t node, uint16_t lid)
{
	const struct triad_routes_goal *goal = find_goal(layout, lid);
	struct triad_routes_path path;
	uint32_t n = 0;

	for (uint32_t i = 0; goal && i < layout->n_hosts; i++) {
		bool crosses = false;

		if (layout->hosts[i].port == goal->port)
			continue;
		triad_routes_path_find(
			layout, layout->hosts[i].port, goal->port, lid, 0, &path);
		for (uint32_t hop = 0; hop < path.n_hops; hop++)
			crosses |= path.hops[hop].node == node;
		n += crosses;
	}
	return n;
}
