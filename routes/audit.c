/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/audit.h"

#include "routes/path.h"

uint32_t triad_audit_n_blocks(const struct triad_fabric *fabric, uint32_t node)
{
	return (fabric->nodes[node].lft.n + TRIAD_LFT_BLOCK_SIZE - 1) /
		TRIAD_LFT_BLOCK_SIZE;
}

void triad_audit_block(const struct triad_fabric *fabric, uint32_t node, uint32_t block,
	const uint8_t found[TRIAD_LFT_BLOCK_SIZE],
	void (*add)(void *context, const struct triad_audit_entry *entry),
	void *context)
{
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;
	const uint8_t *wanted = fabric->lft + lft->at;

	for (uint32_t i = 0; i < TRIAD_LFT_BLOCK_SIZE; i++) {
		uint32_t lid = block * TRIAD_LFT_BLOCK_SIZE + i;

		/* Nothing goes to LID 0. */
		if (!lid || lid >= lft->n || wanted[lid] == found[i])
			continue;
		add(context,
			&(struct triad_audit_entry){.node = node,
				.lid = (uint16_t)lid,
				.wanted = wanted[lid],
				.found = found[i]});
	}
}

static const struct triad_routes_goal *find_goal(
	const struct triad_routes_layout *layout, uint16_t lid)
{
	for (uint32_t i = 0; i < layout->n_goals; i++)
		if (layout->goals[i].lid == lid)
			return &layout->goals[i];
	return NULL;
}

uint32_t triad_audit_n_hosts(
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
