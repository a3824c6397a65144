/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the roles of the hosts in a root's tree. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/roots_parts.h"
#include "routes/tree.h"

/* A host contributes if it sends at least CONTRIBUTES of its traffic over the root, and
 * does not if it sends less than CONTRIBUTES_NOT. */
#define CONTRIBUTES 0.3f
#define CONTRIBUTES_NOT 0.1f

struct walk {
	struct triad_congestion_finder *finder;
	struct triad_congestion_root *root;
	struct triad_routes_tree tree;
	uint8_t *column;
	bool *waits_all_along; /* of each switch, for one goal: all ports to root wait */
	bool *may;             /* of each host: it may contribute */
};

/* Goes backwards from the root: a switch's path waits if its port waits and the rest of
 * the path does. */
static void walk_goal(struct walk *walk, const struct triad_routes_goal *goal)
{
	const struct triad_congestion_finder *finder = walk->finder;
	const struct triad_routes_layout *layout = finder->layout;
	uint32_t root_sw = triad_congestion_switch(finder, walk->root->port);
	struct triad_routes_tree *tree = &walk->tree;

	triad_routes_tree_grow(tree, layout, goal, walk->column);
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];
		const struct triad_routes_switch *at = &layout->switches[sw];
		bool goes_on = sw == root_sw;

		if (!goes_on && next != TRIAD_FABRIC_NONE &&
			walk->waits_all_along[next]) {
			uint32_t port =
				finder->turns->ports[at->first_link + walk->column[sw]];

			goes_on = port != TRIAD_FABRIC_NONE &&
				finder->in_tree[port] == finder->mark;
		}
		walk->waits_all_along[sw] = goes_on;
		for (uint32_t k = 0; goes_on && k < at->n_hosts; k++)
			if (at->first_host + k != goal->host)
				walk->may[at->first_host + k] = true;
	}
}

static void walk_all(struct walk *walk)
{
	const struct triad_congestion_finder *finder = walk->finder;
	const struct triad_routes_layout *layout = finder->layout;
	uint32_t sw = triad_congestion_switch(finder, walk->root->port);
	uint8_t number = finder->fabric->ports[walk->root->port].number;

	for (uint32_t i = 0; i < layout->n_goals; i++) {
		const struct triad_routes_goal *goal = &layout->goals[i];

		if (goal->host == TRIAD_FABRIC_NONE ||
			triad_routes_out(layout, sw, goal->lid) != number)
			continue;
		triad_routes_columns(layout, i, 1, walk->column);
		walk_goal(walk, goal);
	}
}

static int compare_hosts(const void *a, const void *b)
{
	const struct triad_congestion_host *one = a, *other = b;

	if (one->role != other->role)
		return one->role - other->role;
	if (one->sent != other->sent)
		return one->sent > other->sent ? -1 : 1;
	return one->port < other->port ? -1 : one->port > other->port;
}

static struct triad_congestion_host host_of(
	const struct walk *walk, uint32_t port, uint32_t host)
{
	const struct triad_congestion_finder *finder = walk->finder;
	struct triad_congestion_host made = {.port = port,
		.at_least = finder->loads[port].at_least,
		.wait = finder->loads[port].wait,
		.sent = finder->loads[port].sent};

	made.share = finder->matrix ? (float)triad_congestion_matrix_share(
					      finder->matrix, host, walk->root->port)
				    : NAN;
	made.role = TRIAD_CONGESTION_UNDECIDED;
	if (!walk->may[host])
		made.role = TRIAD_CONGESTION_VICTIM;
	else if (finder->is_sure[port] || made.share >= CONTRIBUTES)
		made.role = TRIAD_CONGESTION_CONTRIBUTOR;
	else if (made.share < CONTRIBUTES_NOT)
		made.role = TRIAD_CONGESTION_VICTIM;
	return made;
}

static int put_hosts(struct walk *walk)
{
	const struct triad_routes_layout *layout = walk->finder->layout;
	struct triad_congestion_root *root = walk->root;

	root->hosts = calloc(root->n_waiting + 1u, sizeof(*root->hosts));
	if (!root->hosts)
		return ENOMEM;
	for (uint32_t i = 0; i < root->n_waiting; i++) {
		uint32_t host = layout->host_of_port[root->waiting[i]];
		struct triad_congestion_host made;

		if (host == TRIAD_FABRIC_NONE)
			continue;
		made = host_of(walk, root->waiting[i], host);
		root->n_roles[made.role]++;
		root->hosts[root->n_hosts++] = made;
	}
	qsort(root->hosts, root->n_hosts, sizeof(*root->hosts), compare_hosts);
	return 0;
}

int triad_congestion_find_hosts(
	struct triad_congestion_finder *finder, struct triad_congestion_root *root)
{
	const struct triad_routes_layout *layout = finder->layout;
	struct walk walk = {.finder = finder, .root = root};
	int error = triad_routes_tree_init(&walk.tree, layout->n_switches);

	walk.column = malloc(layout->n_switches + 1u);
	walk.waits_all_along = calloc(layout->n_switches + 1u, sizeof(bool));
	walk.may = calloc(layout->n_hosts + 1u, sizeof(bool));
	if (!walk.column || !walk.waits_all_along || !walk.may)
		error = ENOMEM;
	if (!error) {
		walk_all(&walk);
		error = put_hosts(&walk);
	}
	triad_routes_tree_clear(&walk.tree);
	free(walk.column);
	free(walk.waits_all_along);
	free(walk.may);
	return error;
}
