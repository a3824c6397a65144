/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NONE TRIAD_FABRIC_NONE

struct triad_heal_capacity {
	const struct triad_routes_layout *layout;
	bool is_known, is_stale; /* 'whole' and 'now' are to be counted */
	uint32_t *order;         /* switches, the top tier first */
	/* Of each link of the layout: the switch above that it leads to, or NONE. */
	uint32_t *above;
	bool *is_gone;
	double *whole, *now, *then; /* paths of each switch */
};

/* --- making --- */

static void order_switches(struct triad_heal_capacity *capacity)
{
	const struct triad_routes_layout *layout = capacity->layout;
	uint32_t n = 0;

	for (unsigned level = layout->n_levels; level > 0; level--)
		for (uint32_t i = 0; i < layout->n_switches; i++)
			if (layout->switches[i].level == level)
				capacity->order[n++] = i;
}

static bool is_above(const struct triad_routes_layout *layout, uint32_t sw, uint32_t to)
{
	return layout->switches[to].level > layout->switches[sw].level;
}

static void find_links_up(struct triad_heal_capacity *capacity)
{
	const struct triad_routes_layout *layout = capacity->layout;

	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &layout->switches[i];

		for (uint32_t n = 0; n < sw->n_links; n++) {
			const struct triad_routes_link *link =
				&layout->links[sw->first_link + n];

			capacity->above[sw->first_link + n] =
				link->kind == TRIAD_ROUTES_TO_SWITCH &&
					is_above(layout, i, link->to)
				? link->to
				: NONE;
		}
	}
}

/* 'all': also by links that are gone. */
static void count_paths(
	const struct triad_heal_capacity *capacity, bool all, double *paths)
{
	const struct triad_routes_layout *layout = capacity->layout;

	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw =
			&layout->switches[capacity->order[i]];
		double sum = 0;
		bool is_top = true;

		for (uint32_t n = sw->first_link; n < sw->first_link + sw->n_links;
			n++) {
			if (capacity->above[n] == NONE)
				continue;
			is_top = false;
			if (all || !capacity->is_gone[n])
				sum += paths[capacity->above[n]];
		}
		paths[capacity->order[i]] = is_top ? 1 : sum;
	}
}

static void *new_array(size_t n, size_t size)
{
	return calloc(n + 1, size);
}

int triad_heal_capacity_new(
	const struct triad_routes_layout *layout, struct triad_heal_capacity **made)
{
	struct triad_heal_capacity *capacity = calloc(1, sizeof(*capacity));
	size_t n = layout->n_switches;

	if (!capacity)
		return ENOMEM;
	capacity->layout = layout;
	capacity->is_stale = true;
	capacity->is_known = layout->is_tree && layout->n_levels > 1;
	capacity->order = new_array(n, sizeof(uint32_t));
	capacity->above = new_array(layout->n_links, sizeof(uint32_t));
	capacity->is_gone = new_array(layout->n_links, sizeof(bool));
	capacity->whole = new_array(n, sizeof(double));
	capacity->now = new_array(n, sizeof(double));
	capacity->then = new_array(n, sizeof(double));
	if (!capacity->order || !capacity->above || !capacity->is_gone ||
		!capacity->whole || !capacity->now || !capacity->then) {
		triad_heal_capacity_free(capacity);
		return ENOMEM;
	}
	if (capacity->is_known) {
		order_switches(capacity);
		find_links_up(capacity);
	}
	*made = capacity;
	return 0;
}

void triad_heal_capacity_free(struct triad_heal_capacity *capacity)
{
	if (!capacity)
		return;
	free(capacity->order);
	free(capacity->above);
	free(capacity->is_gone);
	free(capacity->whole);
	free(capacity->now);
	free(capacity->then);
	free(capacity);
}

/* --- links that go --- */

static uint32_t find_switch(const struct triad_routes_layout *layout, uint64_t guid)
{
	uint32_t node = triad_fabric_find_node(layout->fabric, guid);

	return node == NONE ? NONE : layout->switch_of_node[node];
}

/* The link as that of its lower end, '*above' the switch of its upper one.  NONE: an end is no
 * switch of the fabric, or both are of one level. */
static uint32_t find_link(const struct triad_heal_capacity *capacity,
	const struct triad_damp_ends *ends, uint32_t *above)
{
	const struct triad_routes_layout *layout = capacity->layout;
	uint32_t sw = find_switch(layout, ends->guid),
		 far = find_switch(layout, ends->far_guid);
	unsigned number = ends->number;

	if (!capacity->is_known || sw == NONE || far == NONE)
		return NONE;
	if (is_above(layout, far, sw)) {
		number = ends->far_number;
		*above = sw;
		sw = far;
	} else {
		*above = far;
	}
	return is_above(layout, sw, *above) && number < layout->switches[sw].n_links
		? layout->switches[sw].first_link + number
		: NONE;
}

void triad_heal_capacity_remove(
	struct triad_heal_capacity *capacity, const struct triad_damp_ends *ends)
{
	uint32_t above, link = find_link(capacity, ends, &above);

	/* A port that leads elsewhere now has no such link missing. */
	if (link == NONE ||
		(capacity->above[link] != NONE && capacity->above[link] != above))
		return;
	capacity->above[link] = above;
	capacity->is_gone[link] = true;
	capacity->is_stale = true;
}

static void compare_shares(
	const struct triad_heal_capacity *capacity, struct triad_heal_share *share)
{
	const struct triad_routes_layout *layout = capacity->layout;

	for (uint32_t i = 0; i < layout->n_switches; i++) {
		double left;

		if (capacity->then[i] >= capacity->now[i])
			continue;
		left = capacity->then[i] / capacity->whole[i];
		if (left < share->left) {
			share->left = left;
			share->sw = i;
		}
		if (capacity->then[i] == 1)
			share->n_hosts_one += layout->switches[i].n_hosts;
	}
}

struct triad_heal_share triad_heal_capacity_without(
	struct triad_heal_capacity *capacity, const struct triad_damp_ends *ends)
{
	struct triad_heal_share share = {.left = NAN, .sw = NONE};
	uint32_t above, link = find_link(capacity, ends, &above);

	if (link == NONE || capacity->above[link] != above)
		return share;
	share.left = 1;
	if (capacity->is_gone[link])
		return share;
	if (capacity->is_stale) {
		count_paths(capacity, true, capacity->whole);
		count_paths(capacity, false, capacity->now);
		capacity->is_stale = false;
	}
	capacity->is_gone[link] = true;
	count_paths(capacity, false, capacity->then);
	capacity->is_gone[link] = false;
	compare_shares(capacity, &share);
	return share;
}
