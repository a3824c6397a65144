/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const struct triad_routes_layout *layout;
	uint32_t *n_in;  /* of each link: remaining links that lead to it */
	uint32_t *queue; /* links without predecessors; then their number */
	uint32_t *used;  /* links in the present tree */
	uint32_t n_used;
	uint32_t *switch_of; /* of each link */
};

static uint32_t n_mlids_of(const struct triad_fabric_node *node)
{
	return node->mft_width ? node->mft.n / node->mft_width : 0;
}

uint16_t triad_routes_multicast_ports(const struct triad_routes_layout *layout,
	uint32_t sw, uint16_t mlid, unsigned position)
{
	const struct triad_fabric *fabric = layout->fabric;
	const struct triad_fabric_node *node =
		&fabric->nodes[layout->switches[sw].node];
	uint32_t index = mlid - TRIAD_ROUTES_N_LIDS;

	return index < n_mlids_of(node) && position < node->mft_width
		? fabric->mft[node->mft.at + (size_t)index * node->mft_width + position]
		: 0;
}

/* Whether the switch sends packets of the tree out of that port. */
static bool sends(const struct triad_routes_layout *layout, uint32_t sw,
	unsigned number, uint32_t mlid)
{
	return triad_routes_multicast_ports(layout, sw,
		       (uint16_t)(TRIAD_ROUTES_N_LIDS + mlid), number / 16) >>
		number % 16 &
		1;
}

static bool leaves_by(
	const struct triad_routes_layout *layout, uint32_t port, uint32_t mlid)
{
	const struct triad_fabric_port *at = &layout->fabric->ports[port];
	uint32_t sw = layout->switch_of_node[at->node];

	return sw != TRIAD_FABRIC_NONE && sends(layout, sw, at->number, mlid);
}

bool triad_routes_multicast_crosses(const struct triad_routes_layout *layout,
	const uint32_t *ports, uint32_t n, uint16_t mlid)
{
	uint32_t index = mlid - TRIAD_ROUTES_N_LIDS;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t far = layout->fabric->ports[ports[i]].remote;

		if (leaves_by(layout, ports[i], index) ||
			(far != TRIAD_FABRIC_NONE && leaves_by(layout, far, index)))
			return true;
	}
	return false;
}

/* Calls 'visit' for each link to a switch by which packets leave that came by
 * 'link'. */
static void for_next(struct search *search, uint32_t link, uint32_t mlid,
	void (*visit)(struct search *search, uint32_t next))
{
	const struct triad_routes_layout *layout = search->layout;
	const struct triad_routes_link *by = &layout->links[link];
	const struct triad_routes_switch *sw = &layout->switches[by->to];

	for (unsigned number = 1; number < sw->n_links; number++)
		if (number != by->in_port &&
			layout->links[sw->first_link + number].kind ==
				TRIAD_ROUTES_TO_SWITCH &&
			sends(search->layout, by->to, number, mlid))
			visit(search, sw->first_link + number);
}

static void count_in(struct search *search, uint32_t next)
{
	search->n_in[next]++;
}

static void take_away(struct search *search, uint32_t next)
{
	/* Append links without predecessors to the queue. */
	if (!--search->n_in[next])
		search->queue[search->queue[search->layout->n_links]++] = next;
}

/* Finds the links of the tree; false if the tree has no ports at all. */
static bool find_links(struct search *search, uint32_t mlid)
{
	const struct triad_routes_layout *layout = search->layout;
	bool any = false;

	search->n_used = 0;
	for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
		const struct triad_routes_switch *at = &layout->switches[sw];

		if (mlid >= n_mlids_of(&layout->fabric->nodes[at->node]))
			continue;
		for (unsigned number = 0; number < at->n_links; number++) {
			uint32_t link = at->first_link + number;

			if (!sends(search->layout, sw, number, mlid))
				continue;
			any = true;
			if (layout->links[link].kind != TRIAD_ROUTES_TO_SWITCH)
				continue;
			search->n_in[link] = 0;
			search->used[search->n_used++] = link;
		}
	}
	return any;
}

/* Removes links without predecessors.  Returns how many remain: those in circles or
 * behind one. */
static uint32_t peel(struct search *search, uint32_t mlid)
{
	uint32_t *n_queued = &search->queue[search->layout->n_links];

	*n_queued = 0;
	for (uint32_t i = 0; i < search->n_used; i++)
		for_next(search, search->used[i], mlid, count_in);
	for (uint32_t i = 0; i < search->n_used; i++)
		if (!search->n_in[search->used[i]])
			search->queue[(*n_queued)++] = search->used[i];
	for (uint32_t i = 0; i < *n_queued; i++)
		for_next(search, search->queue[i], mlid, take_away);
	return search->n_used - *n_queued;
}

/* A remaining link that leads to 'link', or TRIAD_FABRIC_NONE. */
static uint32_t find_before(const struct search *search, uint32_t link, uint32_t mlid)
{
	const struct triad_routes_layout *layout = search->layout;
	uint32_t sw = search->switch_of[link];
	unsigned number = link - layout->switches[sw].first_link;

	for (uint32_t i = 0; i < search->n_used; i++) {
		uint32_t before = search->used[i];

		if (search->n_in[before] && layout->links[before].to == sw &&
			layout->links[before].in_port != number &&
			sends(search->layout, sw, number, mlid))
			return before;
	}
	return TRIAD_FABRIC_NONE;
}

/* Shows a circle.  Each remaining link has a remaining predecessor, so walking back
 * ends in a circle, at the first link that repeats.  Uses 'queue', which is free now,
 * for the path. */
static void show_circle(
	struct search *search, uint32_t mlid, struct triad_routes_multicast_loop *loop)
{
	const struct triad_routes_layout *layout = search->layout;
	uint32_t n = 0, first = 0, at = TRIAD_FABRIC_NONE;

	loop->mlid = (uint16_t)(0xc000 + mlid);
	for (uint32_t i = 0; i < search->n_used && at == TRIAD_FABRIC_NONE; i++)
		if (search->n_in[search->used[i]])
			at = search->used[i];
	while (at != TRIAD_FABRIC_NONE) {
		for (first = 0; first < n && search->queue[first] != at; first++)
			;
		if (first < n || n == layout->n_links)
			break;
		search->queue[n++] = at;
		at = find_before(search, at, mlid);
	}
	/* The walk went against the packets, so reverse it. */
	loop->n_hops = n - first;
	for (uint32_t i = 0; i < loop->n_hops && i < TRIAD_ROUTES_MAX_MULTICAST_HOPS;
		i++) {
		uint32_t link = search->queue[n - 1 - i];
		const struct triad_routes_switch *sw =
			&layout->switches[search->switch_of[link]];

		loop->ports[i] = triad_fabric_find_port(
			layout->fabric, sw->node, link - sw->first_link);
	}
}

static void look_at_mlids(
	struct search *search, uint32_t n, struct triad_routes_multicast *multicast)
{
	for (uint32_t mlid = 0; mlid < n; mlid++) {
		if (!find_links(search, mlid))
			continue;
		multicast->n_mlids++;
		if (!peel(search, mlid))
			continue;
		multicast->n_looping++;
		if (multicast->n_shown < TRIAD_ROUTES_MAX_MULTICAST)
			show_circle(
				search, mlid, &multicast->loops[multicast->n_shown++]);
	}
}

int triad_routes_multicast_find(const struct triad_routes_layout *layout,
	struct triad_routes_multicast *multicast)
{
	size_t n = layout->n_links + 1u;
	struct search search = {.layout = layout,
		.n_in = calloc(n, sizeof(*search.n_in)),
		.queue = calloc(n, sizeof(*search.queue)),
		.used = calloc(n, sizeof(*search.used)),
		.switch_of = calloc(n, sizeof(*search.switch_of))};
	int error = search.n_in && search.queue && search.used && search.switch_of
		? 0
		: ENOMEM;
	uint32_t n_mlids = 0;

	*multicast = (struct triad_routes_multicast){0};
	for (uint32_t i = 0; !error && i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &layout->switches[i];
		const struct triad_fabric_node *node = &layout->fabric->nodes[sw->node];

		multicast->is_cut |= node->mft_is_cut;
		if (n_mlids_of(node) > n_mlids)
			n_mlids = n_mlids_of(node);
		for (unsigned number = 0; number < sw->n_links; number++)
			search.switch_of[sw->first_link + number] = i;
	}
	if (!error)
		look_at_mlids(&search, n_mlids, multicast);
	free(search.n_in);
	free(search.queue);
	free(search.used);
	free(search.switch_of);
	return error;
}
