/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many goals to handle at once.  LIDs of one switch are spread over the tables, so
 * each row of a table that was fetched should serve many goals. */
#define COLUMNS 1024u

struct pass {
	const struct triad_routes_layout *layout;
	const struct triad_routes_options *options;
	struct triad_routes_check *check; /* NULL: only dependencies */
	struct triad_routes_tree tree;
	struct triad_routes_deps deps;
	uint32_t *n_hosts;    /* of each switch: hosts that pairs begin at */
	uint32_t *came_down;  /* pairs that enter each switch from a higher level */
	uint64_t *pairs;      /* of each link, by its number in the layout */
	uint32_t *n_arriving; /* of each switch: LIDs of hosts that its packets reach */
	uint32_t *n_own;      /* of each host: its own LIDs that its switch reaches */
	uint8_t *columns;
	uint16_t *distances;
	uint64_t *words;
	/* Of the present goal: */
	uint32_t goal;
	const uint8_t *column;
	const uint16_t *shortest; /* from each switch: least links between switches */
};

static bool is_in(const uint64_t *set, uint32_t i)
{
	return !set || set[i / 64] >> i % 64 & 1;
}

static const struct triad_routes_goal *goal_of(const struct pass *pass)
{
	return &pass->layout->goals[pass->goal];
}

/* --- examples --- */

static struct triad_routes_example *add_example(
	struct pass *pass, enum triad_routes_problem problem)
{
	struct triad_routes_found *found = &pass->check->problems[problem];
	const struct triad_routes_goal *goal = goal_of(pass);
	struct triad_routes_example *example;

	if (found->n_examples == TRIAD_ROUTES_MAX_EXAMPLES ||
		(found->n_examples &&
			found->examples[found->n_examples - 1].lid == goal->lid))
		return NULL;
	example = &found->examples[found->n_examples++];
	*example = (struct triad_routes_example){.from = TRIAD_FABRIC_NONE,
		.to = goal->port,
		.lid = goal->lid,
		.at = TRIAD_FABRIC_NONE};
	return example;
}

/* A host at that switch where pairs with the goal begin, or TRIAD_FABRIC_NONE. */
static uint32_t host_at(const struct pass *pass, uint32_t sw)
{
	const struct triad_routes_switch *at = &pass->layout->switches[sw];

	for (uint32_t i = at->first_host; i < at->first_host + at->n_hosts; i++) {
		uint32_t port = pass->layout->hosts[i].port;

		if (port != goal_of(pass)->port && is_in(pass->options->from, port))
			return port;
	}
	return TRIAD_FABRIC_NONE;
}

/* Whether packets from switch 'from' pass 'sw'; with 'down', whether they enter it from
 * a higher level. */
static bool leads_by(const struct pass *pass, uint32_t from, uint32_t sw, bool down)
{
	const struct triad_routes_switch *switches = pass->layout->switches;
	uint32_t before = TRIAD_FABRIC_NONE;

	/* The limit ends paths that circle. */
	for (uint32_t n = 0; n <= pass->layout->n_switches; n++) {
		if (from == sw &&
			(!down ||
				(before != TRIAD_FABRIC_NONE &&
					switches[before].level > switches[sw].level)))
			return true;
		before = from;
		from = pass->tree.next[from];
		if (from == TRIAD_FABRIC_NONE)
			return false;
	}
	return false;
}

static uint32_t host_before(const struct pass *pass, uint32_t sw, bool down)
{
	for (uint32_t i = 0; i < pass->layout->n_switches; i++) {
		uint32_t host = host_at(pass, i);

		if (host != TRIAD_FABRIC_NONE && leads_by(pass, i, sw, down))
			return host;
	}
	return TRIAD_FABRIC_NONE;
}

static void add_place(struct pass *pass, enum triad_routes_problem problem, uint32_t sw)
{
	struct triad_routes_example *example = add_example(pass, problem);

	if (!example)
		return;
	example->at = pass->layout->switches[sw].node;
	example->out = pass->column[sw];
	example->end = pass->tree.ends[sw];
	example->from = host_before(pass, sw, problem == TRIAD_ROUTES_TURNS);
}

/* --- problems --- */

static void look_at_dead_ports(struct pass *pass)
{
	const struct triad_routes_tree *tree = &pass->tree;

	for (uint32_t i = 0; i < tree->n_switches; i++) {
		if (tree->ends[i] != TRIAD_ROUTES_DEAD_PORT ||
			tree->next[i] != TRIAD_FABRIC_NONE)
			continue;
		pass->check->problems[TRIAD_ROUTES_DEAD_ENTRIES].n++;
		add_place(pass, TRIAD_ROUTES_DEAD_ENTRIES, i);
	}
}

/* Each switch missing in the tree's order is in a circle; walk each circle once. */
static void look_at_circles(struct pass *pass)
{
	struct triad_routes_tree *tree = &pass->tree;

	if (tree->n_ordered == tree->n_switches)
		return;
	for (uint32_t i = 0; i < tree->n_switches; i++) {
		if (!tree->n_in[i])
			continue;
		pass->check->problems[TRIAD_ROUTES_LOOPS].n++;
		add_place(pass, TRIAD_ROUTES_LOOPS, i);
		for (uint32_t at = i; tree->n_in[at]; at = tree->next[at])
			tree->n_in[at] = 0;
	}
}

/* A switch's port 0 if it has a LID, or TRIAD_FABRIC_NONE. */
static uint32_t port_0(const struct triad_routes_layout *layout, uint32_t sw)
{
	const struct triad_fabric_node *node =
		&layout->fabric->nodes[layout->switches[sw].node];

	return node->n_ports && !layout->fabric->ports[node->first_port].number &&
			layout->fabric->ports[node->first_port].lid
		? node->first_port
		: TRIAD_FABRIC_NONE;
}

/* Notes that packets from 'port', which reach switch 'sw' first, don't arrive. */
static void add_switch_case(struct pass *pass, uint32_t port, uint32_t sw)
{
	struct triad_routes_example *example;

	if (pass->tree.ends[sw] == TRIAD_ROUTES_ARRIVES || port == TRIAD_FABRIC_NONE)
		return;
	pass->check->problems[TRIAD_ROUTES_SWITCHES].n++;
	example = add_example(pass, TRIAD_ROUTES_SWITCHES);
	if (!example)
		return;
	example->from = port;
	example->end = pass->tree.ends[sw];
}

static void add_unreachable(struct pass *pass, uint32_t sw, uint32_t n)
{
	struct triad_routes_example *example;

	pass->check->problems[TRIAD_ROUTES_UNREACHABLE].n += n;
	pass->check->n_unreachable[pass->tree.ends[sw]] += n;
	example = add_example(pass, TRIAD_ROUTES_UNREACHABLE);
	if (!example)
		return;
	example->from = host_at(pass, sw);
	example->end = pass->tree.ends[sw];
}

/* Counts 'n' pairs that begin at switch 'sw' and arrive. */
static void add_arriving(struct pass *pass, uint32_t sw, uint32_t n)
{
	struct triad_routes_check *check = pass->check;
	uint16_t links = (uint16_t)(pass->tree.left[sw] + 2);
	struct triad_routes_example *example;

	check->n_arriving += n;
	check->n_links_sum += (uint64_t)n * links;
	if (links > check->most_links)
		check->most_links = links;
	if (pass->tree.left[sw] <= pass->shortest[sw])
		return;
	check->problems[TRIAD_ROUTES_LONGER].n += n;
	example = add_example(pass, TRIAD_ROUTES_LONGER);
	if (!example)
		return;
	example->from = host_at(pass, sw);
	example->links = links;
	example->shortest = (uint16_t)(pass->shortest[sw] + 2);
}

/* --- where pairs pass --- */

/* The 'n' pairs that pass a switch all leave by one port. */
static void leave_switch(struct pass *pass, uint32_t sw, uint32_t n)
{
	const struct triad_routes_layout *layout = pass->layout;
	const struct triad_routes_switch *at = &layout->switches[sw];
	uint32_t next = pass->tree.next[sw];
	const struct triad_routes_link *link =
		&layout->links[at->first_link + pass->column[sw]];

	if (pass->pairs)
		pass->pairs[at->first_link + pass->column[sw]] += n;
	if (next == TRIAD_FABRIC_NONE)
		return;
	if (pass->tree.next[next] != TRIAD_FABRIC_NONE)
		triad_routes_deps_add(
			&pass->deps, next, link->in_port, pass->column[next]);
	if (!pass->came_down || !layout->is_tree)
		return;
	if (layout->switches[next].level < at->level) {
		pass->came_down[next] += n;
	} else if (pass->came_down[sw]) {
		pass->check->problems[TRIAD_ROUTES_TURNS].n += pass->came_down[sw];
		add_place(pass, TRIAD_ROUTES_TURNS, sw);
	}
}

/* Counts the pairs that end at a host's LID. */
static void look_at_pairs(struct pass *pass)
{
	const struct triad_routes_tree *tree = &pass->tree;
	const struct triad_routes_goal *goal = goal_of(pass);
	bool is_own = is_in(pass->options->from, goal->port);

	pass->n_own[goal->host] += tree->ends[goal->sw] == TRIAD_ROUTES_ARRIVES;
	for (uint32_t i = 0; i < tree->n_switches; i++) {
		/* A host makes no pair with itself. */
		uint32_t n = pass->n_hosts[i] - (i == goal->sw && is_own);

		pass->n_arriving[i] += tree->ends[i] == TRIAD_ROUTES_ARRIVES;
		pass->check->n_pairs += n;
		if (n && tree->ends[i] != TRIAD_ROUTES_ARRIVES)
			add_unreachable(pass, i, n);
		else if (n)
			add_arriving(pass, i, n);
	}
}

/* Checks paths between the SM's port and switches, in both directions. */
static void look_at_sm(struct pass *pass)
{
	const struct triad_routes_layout *layout = pass->layout;
	const struct triad_routes_goal *goal = goal_of(pass);
	uint32_t sm_port = layout->fabric->sm_port;
	uint32_t host = sm_port == TRIAD_FABRIC_NONE ? TRIAD_FABRIC_NONE
						     : layout->host_of_port[sm_port];

	if (host == TRIAD_FABRIC_NONE)
		return;
	if (goal->host == TRIAD_FABRIC_NONE)
		add_switch_case(pass, sm_port, layout->hosts[host].sw);
	for (uint32_t i = 0; goal->host == host && i < layout->n_switches; i++)
		add_switch_case(pass, port_0(layout, i), i);
}

static void look_at_links(struct pass *pass)
{
	struct triad_routes_tree *tree = &pass->tree;

	if (pass->came_down)
		memset(pass->came_down, 0, tree->n_switches * sizeof(*pass->came_down));
	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i];

		if (tree->count[sw] && tree->ends[sw] == TRIAD_ROUTES_ARRIVES)
			leave_switch(pass, sw, tree->count[sw]);
	}
}

static void look_at_goal(
	struct pass *pass, uint32_t i, const uint8_t *column, const uint16_t *shortest)
{
	const struct triad_routes_goal *goal = &pass->layout->goals[i];
	bool is_host = goal->host != TRIAD_FABRIC_NONE;
	struct triad_routes_tree *tree = &pass->tree;

	if (!is_in(pass->options->to, goal->port) || (!is_host && !pass->check))
		return;
	pass->goal = i;
	pass->column = column;
	pass->shortest = shortest;
	memcpy(tree->count, pass->n_hosts, tree->n_switches * sizeof(*tree->count));
	if (is_host && is_in(pass->options->from, goal->port))
		tree->count[goal->sw]--;
	triad_routes_tree_grow(tree, pass->layout, goal, column);
	if (pass->check) {
		if (is_host)
			look_at_pairs(pass);
		look_at_sm(pass);
		look_at_dead_ports(pass);
		look_at_circles(pass);
	}
	if (is_host)
		look_at_links(pass);
}

/* --- the pass --- */

/* Checks the goals at 'n' switches from 'first' on.  Compares their paths with
 * distances that are computed for all of them at once. */
static void look_at_switches(struct pass *pass, uint32_t first, uint32_t n)
{
	const struct triad_routes_layout *layout = pass->layout;
	uint32_t at = layout->switches[first].first_goal;
	uint32_t end = layout->switches[first + n - 1].first_goal +
		layout->switches[first + n - 1].n_goals;

	if (pass->check)
		triad_routes_distances(layout, first, n, pass->distances, pass->words);
	while (at < end) {
		uint32_t n_goals = end - at < COLUMNS ? end - at : COLUMNS;

		triad_routes_columns(layout, at, n_goals, pass->columns);
		for (uint32_t i = 0; i < n_goals; i++)
			look_at_goal(pass, at + i,
				pass->columns + (size_t)i * layout->n_switches,
				pass->distances +
					(size_t)(layout->goals[at + i].sw - first) *
						layout->n_switches);
		at += n_goals;
	}
}

static int look_at_all(struct pass *pass)
{
	const struct triad_routes_options *options = pass->options;
	uint32_t n_switches = pass->layout->n_switches;

	for (uint32_t first = 0; first < n_switches; first += TRIAD_ROUTES_DISTANCES) {
		uint32_t n = n_switches - first;

		if (options->is_stopped && options->is_stopped(options->context))
			return ECANCELED;
		look_at_switches(pass, first,
			n < TRIAD_ROUTES_DISTANCES ? n : TRIAD_ROUTES_DISTANCES);
	}
	return 0;
}

static int begin_pass(struct pass *pass, const struct triad_routes_layout *layout,
	const struct triad_routes_options *options, struct triad_routes_check *check)
{
	size_t n = layout->n_switches + 1u; /* never 0 */
	int error;

	*pass = (struct pass){.layout = layout,
		.options = options,
		.check = check,
		.n_hosts = calloc(n, sizeof(*pass->n_hosts)),
		.columns = malloc(COLUMNS * n),
		.distances =
			malloc(TRIAD_ROUTES_DISTANCES * n * sizeof(*pass->distances)),
		.words = malloc(3 * n * sizeof(*pass->words))};
	error = triad_routes_tree_init(&pass->tree, layout->n_switches);
	if (!error)
		error = triad_routes_deps_init(&pass->deps, layout);
	if (!pass->n_hosts || !pass->columns || !pass->distances || !pass->words)
		error = ENOMEM;
	if (check) {
		pass->came_down = calloc(n, sizeof(*pass->came_down));
		pass->pairs = calloc(layout->n_links + 1u, sizeof(*pass->pairs));
		pass->n_arriving = calloc(n, sizeof(*pass->n_arriving));
		pass->n_own = calloc(layout->n_hosts + 1u, sizeof(*pass->n_own));
		if (!pass->came_down || !pass->pairs || !pass->n_arriving ||
			!pass->n_own)
			error = ENOMEM;
	}
	for (uint32_t i = 0; !error && i < layout->n_hosts; i++)
		if (is_in(options->from, layout->hosts[i].port))
			pass->n_hosts[layout->hosts[i].sw]++;
	return error;
}

static void end_pass(struct pass *pass)
{
	triad_routes_tree_clear(&pass->tree);
	triad_routes_deps_clear(&pass->deps);
	free(pass->n_hosts);
	free(pass->came_down);
	free(pass->pairs);
	free(pass->n_arriving);
	free(pass->n_own);
	free(pass->columns);
	free(pass->distances);
	free(pass->words);
}

/* --- tiers --- */

static struct triad_routes_tier *tier_of(
	struct triad_routes_check *check, uint16_t from, uint16_t to)
{
	struct triad_routes_tier *tier = check->tiers;

	for (uint32_t i = 0; i < check->n_tiers; i++, tier++)
		if (tier->from == from && tier->to == to)
			return tier;
	if (check->n_tiers == TRIAD_ROUTES_MAX_TIERS)
		return NULL;
	check->n_tiers++;
	*tier = (struct triad_routes_tier){.from = from,
		.to = to,
		.least = UINT64_MAX,
		.worst = TRIAD_FABRIC_NONE};
	return tier;
}

static void add_link(struct triad_routes_check *check, uint32_t port, uint64_t n,
	uint16_t from, uint16_t to)
{
	struct triad_routes_tier *tier = tier_of(check, from, to);

	check->pairs[port] = n;
	if (!tier)
		return;
	tier->n_links++;
	tier->n_unused += !n;
	tier->n_pairs += n;
	if (n < tier->least)
		tier->least = n;
	if (n >= tier->most) {
		if (n > tier->most || tier->worst == TRIAD_FABRIC_NONE)
			tier->worst = port;
		tier->most = n;
	}
}

static int compare_tiers(const void *a, const void *b)
{
	const struct triad_routes_tier *one = a, *other = b;
	int from = one->from - other->from;

	return from ? from : one->to - other->to;
}

static void add_links_of(
	struct triad_routes_check *check, uint32_t sw, const uint64_t *pairs)
{
	const struct triad_routes_layout *layout = check->layout;
	const struct triad_routes_switch *at = &layout->switches[sw];
	const struct triad_fabric_node *node = &layout->fabric->nodes[at->node];

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		uint32_t number = at->first_link + layout->fabric->ports[i].number;
		const struct triad_routes_link *link = &layout->links[number];

		if (link->kind == TRIAD_ROUTES_TO_SWITCH)
			add_link(check, i, pairs[number], at->level,
				layout->switches[link->to].level);
		else if (link->kind == TRIAD_ROUTES_TO_END)
			add_link(check, i, pairs[number], at->level, 0);
	}
}

static int add_tiers(struct triad_routes_check *check, const struct pass *pass)
{
	const struct triad_routes_layout *layout = check->layout;

	check->pairs = calloc(layout->fabric->n_ports, sizeof(*check->pairs));
	if (!check->pairs)
		return ENOMEM;
	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];
		uint64_t n = is_in(pass->options->from, host->port)
			? pass->n_arriving[host->sw] - pass->n_own[i]
			: 0;

		add_link(check, host->port, n, 0, layout->switches[host->sw].level);
	}
	for (uint32_t i = 0; i < layout->n_switches; i++)
		add_links_of(check, i, pass->pairs);
	qsort(check->tiers, check->n_tiers, sizeof(check->tiers[0]), compare_tiers);
	return 0;
}

/* --- the calls --- */

static int fill_check(struct triad_routes_check *check, struct triad_fabric *fabric,
	const struct triad_routes_options *options)
{
	struct pass pass;
	int error = triad_routes_layout_make(fabric, &check->layout);

	if (error)
		return error;
	if (!check->layout->n_switches)
		return ENXIO;
	if (!check->layout->has_tables)
		return ENODATA;
	error = begin_pass(&pass, check->layout, options, check);
	if (!error)
		error = look_at_all(&pass);
	if (!error)
		error = add_tiers(check, &pass);
	if (!error && !options->from && !options->to)
		error = triad_routes_credit_find(
			&pass.deps, &options->sls, &options->vls, &check->credit);
	if (!error && !options->from && !options->to)
		error = triad_routes_multicast_find(check->layout, &check->multicast);
	check->deps = pass.deps;
	pass.deps = (struct triad_routes_deps){0};
	end_pass(&pass);
	return error;
}

int triad_routes_check_make(struct triad_fabric *fabric,
	const struct triad_routes_options *options, struct triad_routes_check **check)
{
	struct triad_routes_check *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	error = fill_check(made, fabric, options);
	if (error)
		triad_routes_check_free(made);
	else
		*check = made;
	return error;
}

int triad_routes_check_credit(const struct triad_routes_layout *layout,
	const struct triad_routes_options *options, struct triad_routes_credit *credit)
{
	struct pass pass;
	int error = begin_pass(&pass, layout, options, NULL);

	if (!error)
		error = look_at_all(&pass);
	if (!error)
		error = triad_routes_credit_find(
			&pass.deps, &options->sls, &options->vls, credit);
	end_pass(&pass);
	return error;
}
