/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The port at the other end, or TRIAD_FABRIC_NONE if the link is not up. */
static uint32_t live_remote(const struct triad_fabric *fabric, uint32_t port)
{
	uint32_t far = fabric->ports[port].remote;

	return far != TRIAD_FABRIC_NONE &&
			triad_fabric_port_passes_data(&fabric->ports[port]) &&
			triad_fabric_port_passes_data(&fabric->ports[far])
		? far
		: TRIAD_FABRIC_NONE;
}

/* --- switches and links --- */

static void number_switches(struct triad_routes_layout *layout)
{
	const struct triad_fabric *fabric = layout->fabric;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];
		struct triad_routes_switch *sw = &layout->switches[layout->n_switches];

		layout->switch_of_node[i] = TRIAD_FABRIC_NONE;
		if (node->type != TRIAD_NODE_SWITCH)
			continue;
		layout->switch_of_node[i] = layout->n_switches++;
		layout->has_tables |= node->lft.n > 0;
		*sw = (struct triad_routes_switch){.node = i,
			.first_link = layout->n_links,
			.level = TRIAD_ROUTES_NO_LEVEL};
		/* Links are indexed by port number; the last port has the highest. */
		if (node->n_ports)
			sw->n_links =
				fabric->ports[node->first_port + node->n_ports - 1]
					.number +
				1u;
		layout->n_links += sw->n_links;
	}
}

static void fill_links(struct triad_routes_layout *layout, uint32_t sw)
{
	const struct triad_fabric *fabric = layout->fabric;
	const struct triad_routes_switch *at = &layout->switches[sw];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		struct triad_routes_link *link =
			&layout->links[at->first_link + fabric->ports[i].number];
		uint32_t far = live_remote(fabric, i);

		if (!fabric->ports[i].number) {
			*link = (struct triad_routes_link){
				.to = sw, .kind = TRIAD_ROUTES_ITSELF};
			continue;
		}
		if (far == TRIAD_FABRIC_NONE)
			continue;
		link->in_port = fabric->ports[far].number;
		link->to = layout->switch_of_node[fabric->ports[far].node];
		link->kind = TRIAD_ROUTES_TO_SWITCH;
		if (link->to == TRIAD_FABRIC_NONE) {
			link->to = far;
			link->kind = TRIAD_ROUTES_TO_END;
		}
	}
}

/* --- hosts and goals --- */

static uint32_t n_lids_of(const struct triad_fabric_port *port)
{
	uint32_t n = 1u << (port->lmc & 7);

	if (!port->lid || port->lid >= TRIAD_ROUTES_N_LIDS)
		return 0;
	return port->lid + n <= TRIAD_ROUTES_N_LIDS ? n
						    : TRIAD_ROUTES_N_LIDS - port->lid;
}

/* Called in two passes: the first, with NULL arrays, counts; the second fills them. */
static void add_goals(
	struct triad_routes_layout *layout, uint32_t sw, uint32_t port, uint32_t host)
{
	const struct triad_fabric_port *at = &layout->fabric->ports[port];
	uint32_t n = n_lids_of(at);

	for (uint32_t i = 0; i < n && layout->goals; i++)
		layout->goals[layout->n_goals + i] =
			(struct triad_routes_goal){.port = port,
				.sw = sw,
				.host = host,
				.lid = (uint16_t)(at->lid + i)};
	layout->n_goals += n;
	layout->n_host_goals += host != TRIAD_FABRIC_NONE ? n : 0;
}

/* Excludes aggregation nodes, which would make each spine a switch with hosts. */
static bool is_host(const struct triad_fabric *fabric, uint32_t port)
{
	return !triad_fabric_is_aggregation_node(
		&fabric->nodes[fabric->ports[port].node]);
}

static void add_ends(struct triad_routes_layout *layout, uint32_t sw)
{
	struct triad_routes_switch *at = &layout->switches[sw];

	at->first_host = layout->n_hosts;
	at->first_goal = layout->n_goals;
	for (unsigned number = 0; number < at->n_links; number++) {
		const struct triad_routes_link *link =
			&layout->links[at->first_link + number];
		uint32_t port = link->to;

		if (link->kind == TRIAD_ROUTES_ITSELF)
			add_goals(layout, sw,
				layout->fabric->nodes[at->node].first_port,
				TRIAD_FABRIC_NONE);
		if (link->kind != TRIAD_ROUTES_TO_END ||
			!n_lids_of(&layout->fabric->ports[port]))
			continue;
		if (!is_host(layout->fabric, port)) {
			add_goals(layout, sw, port, TRIAD_FABRIC_NONE);
			continue;
		}
		if (layout->hosts) {
			layout->hosts[layout->n_hosts] = (struct triad_routes_host){
				.port = port, .sw = sw, .in_port = (uint8_t)number};
			layout->host_of_port[port] = layout->n_hosts;
		}
		add_goals(layout, sw, port, layout->n_hosts++);
	}
	at->n_hosts = layout->n_hosts - at->first_host;
	at->n_goals = layout->n_goals - at->first_goal;
}

static void add_all_ends(struct triad_routes_layout *layout)
{
	layout->n_hosts = layout->n_goals = layout->n_host_goals = 0;
	for (uint32_t i = 0; i < layout->n_switches; i++)
		add_ends(layout, i);
}

static int compare_goals(const void *a, const void *b)
{
	const struct triad_routes_goal *one = a, *other = b;

	return one->lid < other->lid ? -1 : one->lid > other->lid;
}

/* --- levels --- */

static void look_at_links(struct triad_routes_layout *layout)
{
	layout->is_tree = layout->n_hosts > 0;
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *at = &layout->switches[i];

		if (at->level == TRIAD_ROUTES_NO_LEVEL)
			layout->is_tree = false;
		else if (at->level > layout->n_levels)
			layout->n_levels = at->level;
		for (unsigned n = 0; n < at->n_links; n++) {
			const struct triad_routes_link *link =
				&layout->links[at->first_link + n];

			if (link->kind == TRIAD_ROUTES_TO_SWITCH &&
				layout->switches[link->to].level == at->level)
				layout->is_tree = false;
		}
	}
}

/* Spreads levels from the switches of level 1 on.  'queue' has room for all
 * switches. */
static void spread_levels(
	struct triad_routes_layout *layout, const bool *is_above, uint32_t *queue)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < layout->n_switches; i++) {
		bool is_leaf = layout->switches[i].n_hosts && !is_above[i];

		layout->switches[i].level = is_leaf ? 1 : TRIAD_ROUTES_NO_LEVEL;
		if (is_leaf)
			queue[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_routes_switch *at = &layout->switches[queue[i]];

		for (unsigned number = 0; number < at->n_links; number++) {
			const struct triad_routes_link *link =
				&layout->links[at->first_link + number];

			if (link->kind != TRIAD_ROUTES_TO_SWITCH ||
				layout->switches[link->to].level !=
					TRIAD_ROUTES_NO_LEVEL)
				continue;
			layout->switches[link->to].level = (uint16_t)(at->level + 1);
			queue[n++] = link->to;
		}
	}
}

/* Whether switch 'like' has at least two neighbours below it, all neighbours of 'sw',
 * too. */
static bool is_beside(
	const struct triad_routes_layout *layout, uint32_t sw, uint32_t like)
{
	const struct triad_routes_switch *at = &layout->switches[sw];
	const struct triad_routes_switch *model = &layout->switches[like];
	uint32_t n_below = 0, first = TRIAD_FABRIC_NONE;

	for (unsigned i = 0; i < model->n_links; i++) {
		const struct triad_routes_link *link =
			&layout->links[model->first_link + i];
		bool is_shared = false;

		if (link->kind != TRIAD_ROUTES_TO_SWITCH ||
			layout->switches[link->to].level >= model->level)
			continue;
		for (unsigned k = 0; k < at->n_links && !is_shared; k++) {
			const struct triad_routes_link *own =
				&layout->links[at->first_link + k];

			is_shared = own->kind == TRIAD_ROUTES_TO_SWITCH &&
				own->to == link->to;
		}
		if (!is_shared)
			return false;
		/* Several links may lead to one neighbour: only tell one from more. */
		n_below += link->to != first;
		first = n_below == 1 ? link->to : first;
	}
	return n_below >= 2;
}

/* Whether a switch with hosts has the position of one without hosts, above leaves. */
static bool lies_above(const struct triad_routes_layout *layout, uint32_t sw)
{
	const struct triad_routes_switch *at = &layout->switches[sw];

	for (unsigned i = 0; i < at->n_links; i++) {
		const struct triad_routes_link *link =
			&layout->links[at->first_link + i];
		const struct triad_routes_switch *between;

		if (link->kind != TRIAD_ROUTES_TO_SWITCH)
			continue;
		between = &layout->switches[link->to];
		for (unsigned k = 0; k < between->n_links; k++) {
			const struct triad_routes_link *next =
				&layout->links[between->first_link + k];

			if (next->kind == TRIAD_ROUTES_TO_SWITCH &&
				!layout->switches[next->to].n_hosts &&
				is_beside(layout, sw, next->to))
				return true;
		}
	}
	return false;
}

/* 'queue' and 'is_above' have room for all switches; 'is_above' is all false. */
static void find_levels(
	struct triad_routes_layout *layout, bool *is_above, uint32_t *queue)
{
	uint64_t n_with_hosts = 0;
	bool any = false;

	spread_levels(layout, is_above, queue);
	for (uint32_t i = 0; i < layout->n_switches; i++)
		n_with_hosts += layout->switches[i].n_hosts > 0;
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		uint64_t n_hosts = layout->switches[i].n_hosts;

		is_above[i] = n_hosts &&
			2 * n_hosts * n_with_hosts <= layout->n_hosts &&
			lies_above(layout, i);
		any |= is_above[i];
	}
	if (any)
		spread_levels(layout, is_above, queue);
	look_at_links(layout);
}

/* --- making --- */

static void *array(size_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

static int fill_layout(struct triad_routes_layout *layout)
{
	const struct triad_fabric *fabric = layout->fabric;
	uint32_t *queue;
	bool *is_above;

	layout->switches = array(fabric->n_nodes, sizeof(*layout->switches));
	layout->switch_of_node = array(fabric->n_nodes, sizeof(uint32_t));
	layout->host_of_port = array(fabric->n_ports, sizeof(uint32_t));
	if (!layout->switches || !layout->switch_of_node || !layout->host_of_port)
		return ENOMEM;
	memset(layout->host_of_port, 0xff, fabric->n_ports * sizeof(uint32_t));
	number_switches(layout);
	layout->links = array(layout->n_links, sizeof(*layout->links));
	if (!layout->links)
		return ENOMEM;
	for (uint32_t i = 0; i < layout->n_switches; i++)
		fill_links(layout, i);
	add_all_ends(layout);
	layout->hosts = array(layout->n_hosts, sizeof(*layout->hosts));
	layout->goals = array(layout->n_goals, sizeof(*layout->goals));
	queue = array(layout->n_switches, sizeof(*queue));
	is_above = array(layout->n_switches, sizeof(*is_above));
	if (!layout->hosts || !layout->goals || !queue || !is_above) {
		free(is_above);
		free(queue);
		return ENOMEM;
	}
	add_all_ends(layout);
	for (uint32_t i = 0; i < layout->n_switches; i++)
		qsort(&layout->goals[layout->switches[i].first_goal],
			layout->switches[i].n_goals, sizeof(*layout->goals),
			compare_goals);
	find_levels(layout, is_above, queue);
	free(is_above);
	free(queue);
	return 0;
}

int triad_routes_layout_make(
	struct triad_fabric *fabric, struct triad_routes_layout **layout)
{
	struct triad_routes_layout *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	made->fabric = triad_fabric_ref(fabric);
	error = fill_layout(made);
	if (error)
		triad_routes_layout_free(made);
	else
		*layout = made;
	return error;
}

void triad_routes_layout_free(struct triad_routes_layout *layout)
{
	if (!layout)
		return;
	triad_fabric_unref(layout->fabric);
	free(layout->switches);
	free(layout->links);
	free(layout->hosts);
	free(layout->goals);
	free(layout->switch_of_node);
	free(layout->host_of_port);
	free(layout);
}

/* --- without some links --- */

static void end_link(const struct triad_routes_layout *layout, uint32_t port,
	struct triad_routes_link *links)
{
	const struct triad_fabric_port *at;
	uint32_t sw;

	if (port == TRIAD_FABRIC_NONE)
		return;
	at = &layout->fabric->ports[port];
	sw = layout->switch_of_node[at->node];
	if (sw != TRIAD_FABRIC_NONE && at->number)
		links[layout->switches[sw].first_link + at->number].kind =
			TRIAD_ROUTES_DEAD;
}

struct triad_routes_link *triad_routes_links_without(
	const struct triad_routes_layout *layout, const uint32_t *ports, uint32_t n)
{
	struct triad_routes_link *links =
		malloc((layout->n_links + 1u) * sizeof(*links));

	if (!links)
		return NULL;
	memcpy(links, layout->links, layout->n_links * sizeof(*links));
	for (uint32_t i = 0; i < n; i++) {
		end_link(layout, ports[i], links);
		end_link(layout, layout->fabric->ports[ports[i]].remote, links);
	}
	return links;
}

/* --- distances --- */

/* Does one step of all walks at once, with a bit for each switch where one begins.
 * Links work in both directions. */
static bool step_walks(const struct triad_routes_layout *layout, const uint64_t *here,
	uint64_t *seen, uint64_t *there)
{
	uint64_t any = 0;

	memset(there, 0, layout->n_switches * sizeof(*there));
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *at = &layout->switches[i];
		const struct triad_routes_link *links = &layout->links[at->first_link];

		if (!here[i])
			continue;
		for (unsigned n = 0; n < at->n_links; n++)
			if (links[n].kind == TRIAD_ROUTES_TO_SWITCH)
				there[links[n].to] |= here[i];
	}
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		there[i] &= ~seen[i];
		seen[i] |= there[i];
		any |= there[i];
	}
	return any;
}

void triad_routes_distances(const struct triad_routes_layout *layout, uint32_t first,
	uint32_t n, uint16_t *distances, uint64_t *words)
{
	size_t n_switches = layout->n_switches;
	uint64_t *here = words, *there = words + n_switches,
		 *seen = words + 2 * n_switches;
	bool goes_on = true;

	memset(distances, 0xff, n * n_switches * sizeof(*distances));
	memset(words, 0, 3 * n_switches * sizeof(*words));
	for (uint32_t i = 0; i < n; i++)
		here[first + i] = seen[first + i] = UINT64_C(1) << i;
	/* The limit bounds the time for a chain of very many switches. */
	for (uint16_t distance = 0; goes_on && distance <= TRIAD_ROUTES_MAX_DISTANCE;
		distance++) {
		uint64_t *swapped = here;

		for (uint32_t i = 0; i < n_switches; i++)
			for (uint64_t left = here[i]; left; left &= left - 1)
				distances[(size_t)__builtin_ctzll(left) * n_switches +
					i] = distance;
		goes_on = step_walks(layout, here, seen, there);
		here = there;
		there = swapped;
	}
}
