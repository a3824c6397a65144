/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/without.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes/repair.h"

struct work {
	struct triad_routes_layout left;    /* the layout without the links that go */
	struct triad_routes_repair *repair; /* its changes by LID */
	uint64_t *pairs;                    /* of each link, by its number */
	uint32_t *n_hosts;                  /* of each switch, that keep their link */
	uint32_t *n_arriving; /* of each switch: LIDs of hosts that it reaches */
	uint32_t *n_own;      /* of each host: its own LIDs that its switch reaches */
	struct triad_routes_tree tree;
	uint8_t *column;
};

static bool keeps_link(const struct work *work, const struct triad_routes_host *host)
{
	return triad_routes_link(&work->left, host->sw, host->in_port)->kind !=
		TRIAD_ROUTES_DEAD;
}

static int compare_lids(const void *a, const void *b)
{
	const struct triad_routes_change *one = a, *other = b;

	return (one->lid > other->lid) - (one->lid < other->lid);
}

static void change_column(struct work *work, uint16_t lid)
{
	const struct triad_routes_repair *repair = work->repair;
	const struct triad_routes_change key = {.lid = lid}, *found;

	found = repair->n_changes ? bsearch(&key, repair->changes, repair->n_changes,
					    sizeof(key), compare_lids)
				  : NULL;
	while (found && found > repair->changes && found[-1].lid == lid)
		found--;
	for (; found && found < repair->changes + repair->n_changes &&
		found->lid == lid;
		found++)
		work->column[found->sw] = found->out;
}

static void count_goal(struct work *work, uint32_t index)
{
	const struct triad_routes_layout *left = &work->left;
	const struct triad_routes_goal *goal = &left->goals[index];
	struct triad_routes_tree *tree = &work->tree;

	triad_routes_columns(left, index, 1, work->column);
	change_column(work, goal->lid);
	memcpy(tree->count, work->n_hosts, left->n_switches * sizeof(*tree->count));
	tree->count[goal->sw] -= keeps_link(work, &left->hosts[goal->host]);
	triad_routes_tree_grow(tree, left, goal, work->column);
	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i];

		if (tree->ends[sw] != TRIAD_ROUTES_ARRIVES)
			continue;
		work->n_arriving[sw]++;
		if (tree->count[sw])
			work->pairs[left->switches[sw].first_link + work->column[sw]] +=
				tree->count[sw];
	}
	work->n_own[goal->host] += tree->ends[goal->sw] == TRIAD_ROUTES_ARRIVES;
}

static void count_hosts(struct work *work, const struct triad_routes_check *check,
	struct triad_routes_without *without)
{
	for (uint32_t i = 0; i < work->left.n_hosts; i++) {
		const struct triad_routes_host *host = &work->left.hosts[i];
		uint64_t n = keeps_link(work, host)
			? work->n_arriving[host->sw] - work->n_own[i]
			: 0;

		without->pairs[host->port] = n;
		if (n || !check->pairs[host->port])
			continue;
		if (without->n_hosts_lost < TRIAD_ROUTES_MAX_LOST)
			without->hosts_lost[without->n_hosts_lost] = host->port;
		without->n_hosts_lost++;
	}
}

static void count_all(struct work *work, const struct triad_routes_check *check,
	struct triad_routes_without *without)
{
	const struct triad_routes_layout *left = &work->left;
	const struct triad_fabric *fabric = left->fabric;

	for (uint32_t i = 0; i < left->n_hosts; i++)
		work->n_hosts[left->hosts[i].sw] += keeps_link(work, &left->hosts[i]);
	for (uint32_t i = 0; i < left->n_goals; i++)
		if (left->goals[i].host != TRIAD_FABRIC_NONE)
			count_goal(work, i);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t sw = left->switch_of_node[fabric->ports[i].node];

		if (sw != TRIAD_FABRIC_NONE)
			without->pairs[i] = work->pairs[left->switches[sw].first_link +
				fabric->ports[i].number];
	}
	count_hosts(work, check, without);
	without->n_lost = work->repair->n_lost;
	without->n_moved = work->repair->n_crossing - work->repair->n_lost;
}

static int begin_work(struct work *work, const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n)
{
	const struct triad_routes_layout *layout = check->layout;
	size_t n_switches = layout->n_switches + 1u;
	int error = triad_routes_repair_make_shortest(check, ports, n, &work->repair);

	if (!error)
		error = triad_routes_tree_init(&work->tree, layout->n_switches);
	if (error)
		return error;
	if (work->repair->n_changes)
		qsort(work->repair->changes, work->repair->n_changes,
			sizeof(*work->repair->changes), compare_lids);
	work->left = *layout;
	work->left.links = triad_routes_links_without(layout, ports, n);
	work->pairs = calloc(layout->n_links + 1u, sizeof(*work->pairs));
	work->n_hosts = calloc(n_switches, sizeof(*work->n_hosts));
	work->n_arriving = calloc(n_switches, sizeof(*work->n_arriving));
	work->n_own = calloc(layout->n_hosts + 1u, sizeof(*work->n_own));
	work->column = malloc(n_switches);
	return work->left.links && work->pairs && work->n_hosts && work->n_arriving &&
			work->n_own && work->column
		? 0
		: ENOMEM;
}

static void end_work(struct work *work)
{
	triad_routes_repair_free(work->repair);
	triad_routes_tree_clear(&work->tree);
	free(work->left.links);
	free(work->pairs);
	free(work->n_hosts);
	free(work->n_arriving);
	free(work->n_own);
	free(work->column);
}

int triad_routes_without_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_without **without)
{
	struct work work = {0};
	struct triad_routes_without *made = calloc(1, sizeof(*made));
	int error = begin_work(&work, check, ports, n);

	if (made)
		made->pairs = calloc(
			check->layout->fabric->n_ports + 1u, sizeof(*made->pairs));
	if (!made || !made->pairs)
		error = ENOMEM;
	if (!error) {
		count_all(&work, check, made);
		*without = made;
	} else {
		triad_routes_without_free(made);
	}
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
