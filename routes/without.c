/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/without.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct triad_routes_layout *layout;
	struct triad_routes_layout reduced; /* the layout without the removed links */
	struct triad_routes_without *without;
	uint64_t *pairs;   /* of each link, by its number */
	uint32_t *n_hosts; /* of each switch, before; 'n_left': after */
	uint32_t *n_left;
	uint32_t *n_arriving; /* of each switch: LIDs of hosts that it reaches after */
	uint32_t *n_own;      /* of each host: its own LIDs that its switch reaches */
	bool *crosses; /* of each switch: its path to the goal crosses such a link */
	struct triad_routes_tree before, after;
	uint8_t *column;
	uint16_t *distances;
	uint64_t *words;
};

static uint32_t link_of(const struct work *work, uint32_t sw, unsigned number)
{
	return work->layout->switches[sw].first_link + number;
}

static bool is_gone(const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link =
		triad_routes_link(&work->reduced, sw, number);

	return !link || link->kind == TRIAD_ROUTES_DEAD;
}

/* --- links that go --- */

static void take_end(struct work *work, uint32_t port)
{
	const struct triad_fabric_port *at = &work->layout->fabric->ports[port];
	uint32_t sw = work->layout->switch_of_node[at->node];

	if (sw != TRIAD_FABRIC_NONE && at->number)
		work->reduced.links[link_of(work, sw, at->number)].kind =
			TRIAD_ROUTES_DEAD;
}

static void take_links(struct work *work, const uint32_t *ports, uint32_t n)
{
	const struct triad_routes_layout *layout = work->layout;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t far = layout->fabric->ports[ports[i]].remote;

		take_end(work, ports[i]);
		if (far != TRIAD_FABRIC_NONE)
			take_end(work, far);
	}
	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];

		work->n_hosts[host->sw]++;
		work->n_left[host->sw] += !is_gone(work, host->sw, host->in_port);
	}
}

/* --- one goal --- */

/* Finds the switches whose path to the goal crosses such a link; false: none. */
static bool find_crossings(struct work *work)
{
	const struct triad_routes_tree *tree = &work->before;
	bool any = false;

	memset(work->crosses, 0, tree->n_switches * sizeof(*work->crosses));
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];

		if (tree->ends[sw] != TRIAD_ROUTES_ARRIVES)
			continue;
		work->crosses[sw] = is_gone(work, sw, work->column[sw]) ||
			(next != TRIAD_FABRIC_NONE && work->crosses[next]);
		any |= work->crosses[sw] && tree->count[sw];
	}
	return any;
}

/* The port of one of the shortest remaining paths, or 255. */
static uint8_t choose_port(
	const struct work *work, uint32_t sw, const uint16_t *shortest)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	uint64_t fewest = UINT64_MAX;
	uint8_t chosen = 255;

	for (unsigned number = 1; number < at->n_links; number++) {
		uint32_t link = at->first_link + number;
		const struct triad_routes_link *to = &work->reduced.links[link];

		if (to->kind != TRIAD_ROUTES_TO_SWITCH || shortest[sw] == UINT16_MAX ||
			shortest[to->to] + 1 != shortest[sw] ||
			work->pairs[link] >= fewest)
			continue;
		fewest = work->pairs[link];
		chosen = (uint8_t)number;
	}
	return chosen;
}

static void add_pairs(struct work *work, const struct triad_routes_tree *tree,
	const uint8_t *column, bool is_taken)
{
	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i];
		uint64_t n = tree->count[sw];

		if (tree->ends[sw] == TRIAD_ROUTES_ARRIVES && n)
			work->pairs[link_of(work, sw, column[sw])] += is_taken ? -n : n;
	}
}

static uint64_t count_arriving(const struct triad_routes_tree *tree,
	const uint32_t *n_hosts, const struct triad_routes_goal *goal, bool has_goal)
{
	uint64_t n = 0;

	for (uint32_t sw = 0; sw < tree->n_switches; sw++)
		if (tree->ends[sw] == TRIAD_ROUTES_ARRIVES)
			n += n_hosts[sw] - (sw == goal->sw && has_goal);
	return n;
}

static void count_moved(struct work *work, const struct triad_routes_goal *goal)
{
	for (uint32_t sw = 0; sw < work->layout->n_switches; sw++)
		if (work->crosses[sw] && work->after.ends[sw] == TRIAD_ROUTES_ARRIVES)
			work->without->n_moved += work->n_left[sw] -
				(sw == goal->sw && work->n_left[sw] > 0);
}

static void look_at_goal(struct work *work, const struct triad_routes_goal *goal,
	const uint16_t *shortest)
{
	const struct triad_routes_layout *layout = work->layout;
	uint32_t n_switches = layout->n_switches;
	const struct triad_routes_host *host = &layout->hosts[goal->host];
	bool is_left = !is_gone(work, host->sw, host->in_port), any;

	memcpy(work->before.count, work->n_hosts, n_switches * sizeof(uint32_t));
	work->before.count[goal->sw]--;
	triad_routes_tree_grow(&work->before, layout, goal, work->column);
	add_pairs(work, &work->before, work->column, true);
	any = find_crossings(work);
	for (uint32_t sw = 0; sw < n_switches && any; sw++)
		if (work->crosses[sw] && sw != goal->sw)
			work->column[sw] = choose_port(work, sw, shortest);
	memcpy(work->after.count, work->n_left, n_switches * sizeof(uint32_t));
	work->after.count[goal->sw] -= is_left;
	triad_routes_tree_grow(&work->after, &work->reduced, goal, work->column);
	add_pairs(work, &work->after, work->column, false);
	work->without->n_lost +=
		count_arriving(&work->before, work->n_hosts, goal, true) -
		count_arriving(&work->after, work->n_left, goal, is_left);
	if (any)
		count_moved(work, goal);
	for (uint32_t sw = 0; sw < n_switches; sw++)
		work->n_arriving[sw] += work->after.ends[sw] == TRIAD_ROUTES_ARRIVES;
	work->n_own[goal->host] += work->after.ends[goal->sw] == TRIAD_ROUTES_ARRIVES;
}

/* --- all --- */

static void look_at_all(struct work *work)
{
	const struct triad_routes_layout *layout = work->layout;
	uint32_t n_switches = layout->n_switches;

	for (uint32_t first = 0; first < n_switches; first += TRIAD_ROUTES_DISTANCES) {
		uint32_t n = n_switches - first < TRIAD_ROUTES_DISTANCES
			? n_switches - first
			: TRIAD_ROUTES_DISTANCES;
		const struct triad_routes_switch *last =
			&layout->switches[first + n - 1];

		triad_routes_distances(
			&work->reduced, first, n, work->distances, work->words);
		for (uint32_t i = layout->switches[first].first_goal;
			i < last->first_goal + last->n_goals; i++) {
			const struct triad_routes_goal *goal = &layout->goals[i];

			if (goal->host == TRIAD_FABRIC_NONE)
				continue;
			triad_routes_columns(layout, i, 1, work->column);
			look_at_goal(work, goal,
				work->distances +
					(size_t)(goal->sw - first) * n_switches);
		}
	}
}

static void find_lost_hosts(struct work *work, const struct triad_routes_check *check)
{
	const struct triad_routes_layout *layout = work->layout;
	struct triad_routes_without *without = work->without;

	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];
		bool is_left = !is_gone(work, host->sw, host->in_port);
		uint64_t n = is_left ? work->n_arriving[host->sw] - work->n_own[i] : 0;

		without->pairs[host->port] = n;
		if (n || !check->pairs[host->port])
			continue;
		if (without->n_hosts_lost < TRIAD_ROUTES_MAX_LOST)
			without->hosts_lost[without->n_hosts_lost] = host->port;
		without->n_hosts_lost++;
	}
}

/* Copies counts from ports to links or back: the result has them by port, the
 * computation by number of the link. */
static void copy_pairs(struct work *work, uint64_t *of_ports, bool to_links)
{
	const struct triad_routes_layout *layout = work->layout;

	for (uint32_t i = 0; i < layout->fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &layout->fabric->ports[i];
		uint32_t sw = layout->switch_of_node[port->node];

		if (sw == TRIAD_FABRIC_NONE)
			continue;
		if (to_links)
			work->pairs[link_of(work, sw, port->number)] = of_ports[i];
		else
			of_ports[i] = work->pairs[link_of(work, sw, port->number)];
	}
}

static int begin_work(struct work *work, const struct triad_routes_check *check)
{
	const struct triad_routes_layout *layout = check->layout;
	size_t n = layout->n_switches + 1u, n_links = layout->n_links + 1u;
	int error = triad_routes_tree_init(&work->before, layout->n_switches);

	if (triad_routes_tree_init(&work->after, layout->n_switches))
		error = ENOMEM;
	work->layout = layout;
	work->reduced = *layout;
	work->reduced.links = malloc(n_links * sizeof(*work->reduced.links));
	work->pairs = calloc(n_links, sizeof(*work->pairs));
	work->n_hosts = calloc(n, sizeof(*work->n_hosts));
	work->n_left = calloc(n, sizeof(*work->n_left));
	work->n_arriving = calloc(n, sizeof(*work->n_arriving));
	work->n_own = calloc(layout->n_hosts + 1u, sizeof(*work->n_own));
	work->crosses = calloc(n, sizeof(*work->crosses));
	work->column = malloc(n);
	work->distances = malloc(TRIAD_ROUTES_DISTANCES * n * sizeof(uint16_t));
	work->words = malloc(3 * n * sizeof(*work->words));
	if (error || !work->reduced.links || !work->pairs || !work->n_hosts ||
		!work->n_left || !work->n_arriving || !work->n_own || !work->crosses ||
		!work->column || !work->distances || !work->words)
		return ENOMEM;
	memcpy(work->reduced.links, layout->links,
		layout->n_links * sizeof(*layout->links));
	return 0;
}

static void end_work(struct work *work)
{
	triad_routes_tree_clear(&work->before);
	triad_routes_tree_clear(&work->after);
	free(work->reduced.links);
	free(work->pairs);
	free(work->n_hosts);
	free(work->n_left);
	free(work->n_arriving);
	free(work->n_own);
	free(work->crosses);
	free(work->column);
	free(work->distances);
	free(work->words);
}

int triad_routes_without_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_without **without)
{
	struct work work = {.without = calloc(1, sizeof(*work.without))};
	int error = begin_work(&work, check);

	if (work.without)
		work.without->pairs = calloc(check->layout->fabric->n_ports + 1u,
			sizeof(*work.without->pairs));
	if (!work.without || !work.without->pairs)
		error = ENOMEM;
	if (!error) {
		copy_pairs(&work, check->pairs, true);
		take_links(&work, ports, n);
		look_at_all(&work);
		copy_pairs(&work, work.without->pairs, false);
		find_lost_hosts(&work, check);
		*without = work.without;
		work.without = NULL;
	}
	triad_routes_without_free(work.without);
	end_work(&work);
	return error;
}

void triad_routes_without_free(struct triad_routes_without *without)
{
	if (!without)
		return;
	free(without->pairs);
	free(without);
}
