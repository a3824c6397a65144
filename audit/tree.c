/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "audit/tree.h"

static uint32_t tree_root(struct triad_tree_switch *switches, uint32_t sw)
{
	while (switches[sw].root != sw)
		sw = switches[sw].root = switches[switches[sw].root].root;
	return sw;
}

static bool is_tree(const struct triad_tree_link *links, size_t n_links,
	struct triad_tree_switch *switches, size_t n_switches, bool of_all)
{
	size_t n_parts = 0;

	for (size_t i = 0; i < n_switches; i++) {
		switches[i].root = (uint32_t)i;
		switches[i].is_reached = switches[i].has_members;
	}
	for (size_t i = 0; i < n_links; i++) {
		uint32_t from = tree_root(switches, links[i].from),
			 to = tree_root(switches, links[i].to);

		if (!links[i].is_mutual && !of_all)
			continue;
		if (from == to)
			return false;
		switches[from].root = to;
		switches[links[i].from].is_reached = true;
		switches[links[i].to].is_reached = true;
	}
	for (size_t i = 0; i < n_switches; i++)
		n_parts += switches[i].root == i && switches[i].is_reached;
	return n_parts <= 1;
}

enum triad_tree triad_tree_judge(const struct triad_tree_link *links, size_t n_links,
	struct triad_tree_switch *switches, size_t n_switches)
{
	if (is_tree(links, n_links, switches, n_switches, false))
		return TRIAD_TREE_OF_MUTUAL_LINKS;
	return is_tree(links, n_links, switches, n_switches, true)
		? TRIAD_TREE_OF_ALL_LINKS
		: TRIAD_TREE_NONE;
}
