/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "routes/tree.h"

#define FAR UINT16_MAX
#define LFT_BLOCK 64u

struct work {
	const struct triad_routes_layout *layout;
	struct triad_routes_layout left; /* the layout without the lost links */
	struct triad_routes_repair *repair;
	size_t room; /* for changes */
	struct triad_routes_deps deps;
	uint64_t *pairs;    /* of each link, by its number */
	uint32_t *n_hosts;  /* of each switch */
	uint32_t sm_switch; /* or TRIAD_FABRIC_NONE */

	/* Of one goal. */
	const struct triad_routes_goal *goal;
	struct triad_routes_tree before, after;
	uint8_t *old, *column; /* the port of each switch, before and after */
	bool *crosses;         /* its path crosses a lost link */
	uint16_t *down; /* links to the goal by going down alone; or without a tree, by
			 * any way; FAR: there is none */
	uint16_t *far;  /* links to the goal */
	uint16_t *step; /* of its change, and one more; 0: no change behind it */
};

static const struct triad_routes_link *link_left(
	const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link =
		triad_routes_link(&work->left, sw, number);

	return link && link->kind == TRIAD_ROUTES_TO_SWITCH ? link : NULL;
}

static bool is_lost(const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link =
		triad_routes_link(&work->left, sw, number);

	return !link || link->kind == TRIAD_ROUTES_DEAD;
}

static bool goes_down(const struct work *work, uint32_t from, uint32_t to)
{
	return work->layout->switches[to].level < work->layout->switches[from].level;
}

/* --- links that go --- */

static void take_end(struct work *work, uint32_t port)
{
	const struct triad_fabric_port *at = &work->layout->fabric->ports[port];
	uint32_t sw = work->layout->switch_of_node[at->node];

	if (sw != TRIAD_FABRIC_NONE && at->number)
		work->left.links[work->layout->switches[sw].first_link + at->number]
			.kind = TRIAD_ROUTES_DEAD;
}

static void take_links(struct work *work, const uint32_t *ports, uint32_t n)
{
	const struct triad_fabric *fabric = work->layout->fabric;

	for (uint32_t i = 0; i < n; i++) {
		take_end(work, ports[i]);
		if (fabric->ports[ports[i]].remote != TRIAD_FABRIC_NONE)
			take_end(work, fabric->ports[ports[i]].remote);
	}
}

/* --- what is lost of one goal --- */

/* Pairs with the goal, a host, that begin at the switch. */
static uint32_t n_beginning(const struct work *work, uint32_t sw)
{
	return work->n_hosts[sw] - (sw == work->goal->sw && work->n_hosts[sw]);
}

/* Packets begin at each switch with hosts, or for a switch's LID at the SM's. */
static void begin_packets(struct work *work, struct triad_routes_tree *tree)
{
	const struct triad_routes_goal *goal = work->goal;

	if (goal->host != TRIAD_FABRIC_NONE) {
		memcpy(tree->count, work->n_hosts,
			tree->n_switches * sizeof(*tree->count));
		tree->count[goal->sw]--;
		return;
	}
	memset(tree->count, 0, tree->n_switches * sizeof(*tree->count));
	if (work->sm_switch != TRIAD_FABRIC_NONE)
		tree->count[work->sm_switch] = 1;
}

/* Finds the switches whose path crosses a lost link; false: no packets do. */
static bool find_crossings(struct work *work)
{
	const struct triad_routes_tree *tree = &work->before;
	bool any = false;

	memset(work->crosses, 0, tree->n_switches * sizeof(*work->crosses));
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];

		if (tree->ends[sw] != TRIAD_ROUTES_ARRIVES)
			continue;
		work->crosses[sw] = is_lost(work, sw, work->old[sw]) ||
			(next != TRIAD_FABRIC_NONE && work->crosses[next]);
		if (work->crosses[sw] && work->goal->host != TRIAD_FABRIC_NONE)
			work->repair->n_crossing += n_beginning(work, sw);
		any |= work->crosses[sw] && tree->count[sw];
	}
	return any;
}

/* --- other ways --- */

/* Sets what is known: the switches whose paths stay. */
static void set_known(struct work *work)
{
	const struct triad_routes_tree *tree = &work->before;

	for (uint32_t i = tree->n_switches; i-- > 0;)
		work->down[i] = work->far[i] = FAR;
	for (uint32_t i = tree->n_ordered; i-- > 0;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];

		if (tree->ends[sw] != TRIAD_ROUTES_ARRIVES || work->crosses[sw])
			continue;
		if (next == TRIAD_FABRIC_NONE || !work->layout->is_tree ||
			(goes_down(work, sw, next) && work->down[next] != FAR))
			work->down[sw] = work->far[sw] = tree->left[sw];
		/* Not one that turns. */
		else if (!goes_down(work, sw, next) && work->far[next] != FAR)
			work->far[sw] = tree->left[sw];
	}
}

/* Finds ways by 'down', from the nearest switches on. */
static void find_ways_down(struct work *work)
{
	const struct triad_routes_layout *layout = work->layout;
	bool goes_on = true;

	for (uint16_t distance = 0; goes_on && distance < FAR - 1; distance++) {
		goes_on = false;
		for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
			goes_on |= work->down[sw] != FAR && work->down[sw] > distance;
			for (unsigned p = 1; work->down[sw] == distance &&
				p < layout->switches[sw].n_links;
				p++) {
				const struct triad_routes_link *link =
					link_left(work, sw, p);

				if (!link || !work->crosses[link->to] ||
					work->down[link->to] <= distance + 1 ||
					(layout->is_tree &&
						!goes_down(work, link->to, sw)))
					continue;
				work->down[link->to] = (uint16_t)(distance + 1);
				goes_on = true;
			}
		}
	}
}

/* Links to the goal by going up first, for switches that can't go down; those above them
 * are known. */
static void find_way_up(struct work *work, uint32_t sw)
{
	for (unsigned p = 1; p < work->layout->switches[sw].n_links; p++) {
		const struct triad_routes_link *link = link_left(work, sw, p);

		if (link && goes_down(work, link->to, sw) &&
			work->far[link->to] != FAR &&
			work->far[link->to] + 1 < work->far[sw])
			work->far[sw] = (uint16_t)(work->far[link->to] + 1);
	}
}

static void find_ways(struct work *work)
{
	const struct triad_routes_layout *layout = work->layout;

	set_known(work);
	find_ways_down(work);
	for (uint32_t sw = 0; sw < layout->n_switches; sw++)
		if (work->crosses[sw])
			work->far[sw] = work->down[sw];
	for (unsigned level = layout->is_tree ? layout->n_levels : 0; level; level--)
		for (uint32_t sw = 0; sw < layout->n_switches; sw++)
			if (work->crosses[sw] && work->far[sw] == FAR &&
				layout->switches[sw].level == level)
				find_way_up(work, sw);
}

/* How far the goal is behind that port, if packets may be sent there; or FAR. */
static uint16_t far_behind(const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link = link_left(work, sw, number);

	if (!link)
		return FAR;
	if (!work->layout->is_tree)
		return work->down[sw] != FAR && work->down[link->to] < work->down[sw]
			? work->down[link->to]
			: FAR;
	if (work->down[sw] != FAR)
		return goes_down(work, sw, link->to) ? work->down[link->to] : FAR;
	return goes_down(work, sw, link->to) ? FAR : work->far[link->to];
}

static uint8_t choose_port(const struct work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	uint16_t nearest = FAR;
	uint64_t fewest = UINT64_MAX;
	uint8_t chosen = 255;

	if (far_behind(work, sw, work->old[sw]) != FAR)
		return work->old[sw];
	for (unsigned p = 1; p < at->n_links; p++) {
		uint16_t far = far_behind(work, sw, p);
		uint64_t n = work->pairs[at->first_link + p];

		if (far == FAR || far > nearest || (far == nearest && n >= fewest))
			continue;
		nearest = far;
		fewest = n;
		chosen = (uint8_t)p;
	}
	return chosen;
}

/* --- what changes --- */

static void add_pairs(
	struct work *work, const struct triad_routes_tree *tree, const uint8_t *column)
{
	bool is_before = tree == &work->before;

	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i];
		uint64_t n = tree->count[sw];

		if (tree->ends[sw] == TRIAD_ROUTES_ARRIVES && n)
			work->pairs[work->layout->switches[sw].first_link +
				column[sw]] += is_before ? -n : n;
	}
}

static int put_change(struct work *work, uint32_t sw, unsigned step)
{
	struct triad_routes_repair *repair = work->repair;

	if (repair->n_changes == TRIAD_ROUTES_MAX_CHANGES)
		return EOVERFLOW;
	if (triad_grow(&repair->changes, &work->room, repair->n_changes + 1u,
		    sizeof(*repair->changes), 64))
		return ENOMEM;
	repair->changes[repair->n_changes++] = (struct triad_routes_change){.sw = sw,
		.lid = work->goal->lid,
		.step = (uint16_t)step,
		.from = work->old[sw],
		.out = work->column[sw]};
	if (step >= repair->n_steps)
		repair->n_steps = step + 1;
	return 0;
}

/* Of the switches that packets pass then, from the goal on. */
static int put_changes(struct work *work)
{
	const struct triad_routes_tree *tree = &work->after;
	int error = 0;

	for (uint32_t i = tree->n_ordered; i-- > 0 && !error;) {
		uint32_t sw = tree->order[i], next = tree->next[sw];

		work->step[sw] = next == TRIAD_FABRIC_NONE ? 0 : work->step[next];
		if (tree->ends[sw] == TRIAD_ROUTES_ARRIVES && tree->count[sw] &&
			work->column[sw] != work->old[sw])
			error = put_change(work, sw, work->step[sw]++);
	}
	return error;
}

static void count_lost(struct work *work)
{
	for (uint32_t sw = 0; sw < work->layout->n_switches; sw++)
		if (work->crosses[sw] && work->after.ends[sw] != TRIAD_ROUTES_ARRIVES)
			work->repair->n_lost += n_beginning(work, sw);
}

/* --- dependencies --- */

/* By packets that come from 'sw' by 'column', and leave the next switch by 'then'. */
static void depend(
	struct work *work, uint32_t sw, const uint8_t *column, const uint8_t *then)
{
	const struct triad_routes_link *link = link_left(work, sw, column[sw]);

	if (link && link_left(work, link->to, then[link->to]))
		triad_routes_deps_add(
			&work->deps, link->to, link->in_port, then[link->to]);
}

static void depend_by(
	struct work *work, const struct triad_routes_tree *tree, const uint8_t *column)
{
	for (uint32_t i = 0; i < tree->n_ordered; i++) {
		uint32_t sw = tree->order[i];

		if (!tree->count[sw] || tree->ends[sw] != TRIAD_ROUTES_ARRIVES)
			continue;
		depend(work, sw, column, column);
		if (column == work->old)
			depend(work, sw, column, work->column);
	}
}

/* --- all --- */

static int look_at_goal(struct work *work)
{
	bool is_host = work->goal->host != TRIAD_FABRIC_NONE;
	int error = 0;

	begin_packets(work, &work->before);
	triad_routes_tree_grow(&work->before, work->layout, work->goal, work->old);
	memcpy(work->column, work->old, work->layout->n_switches);
	if (find_crossings(work)) {
		find_ways(work);
		if (is_host)
			add_pairs(work, &work->before, work->old);
		for (uint32_t sw = 0; sw < work->layout->n_switches; sw++)
			if (work->crosses[sw])
				work->column[sw] = choose_port(work, sw);
		begin_packets(work, &work->after);
		triad_routes_tree_grow(
			&work->after, &work->left, work->goal, work->column);
		error = put_changes(work);
		if (is_host) {
			add_pairs(work, &work->after, work->column);
			count_lost(work);
			depend_by(work, &work->after, work->column);
		}
	}
	if (is_host)
		depend_by(work, &work->before, work->old);
	return error;
}

static int look_at_all(struct work *work)
{
	int error = 0;

	for (uint32_t i = 0; i < work->layout->n_goals && !error; i++) {
		work->goal = &work->layout->goals[i];
		triad_routes_columns(work->layout, i, 1, work->old);
		error = look_at_goal(work);
	}
	return error;
}

static int compare_changes(const void *a, const void *b)
{
	const struct triad_routes_change *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

static void order_changes(struct triad_routes_repair *repair)
{
	struct triad_routes_change *changes = repair->changes;

	if (repair->n_changes)
		qsort(changes, repair->n_changes, sizeof(*changes), compare_changes);
	for (uint32_t i = 0; i < repair->n_changes; i++)
		repair->n_blocks += !i || changes[i].step != changes[i - 1].step ||
			changes[i].sw != changes[i - 1].sw ||
			changes[i].lid / LFT_BLOCK != changes[i - 1].lid / LFT_BLOCK;
}

/* Only the links are looked at: which VLs packets have meanwhile is not known. */
static int prove(struct work *work)
{
	static const struct triad_routes_sls no_sls = {0};
	static const struct triad_routes_vls no_vls = {0};
	struct triad_routes_credit credit;
	int error = triad_routes_credit_find(&work->deps, &no_sls, &no_vls, &credit);

	work->repair->is_proven = !error && credit.by_links;
	return error;
}

static void set_pairs(struct work *work, const struct triad_routes_check *check)
{
	const struct triad_fabric *fabric = work->layout->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t sw = work->layout->switch_of_node[fabric->ports[i].node];

		if (sw != TRIAD_FABRIC_NONE)
			work->pairs[work->layout->switches[sw].first_link +
				fabric->ports[i].number] = check->pairs[i];
	}
}

static int begin_work(struct work *work, const struct triad_routes_check *check)
{
	const struct triad_routes_layout *layout = check->layout;
	size_t n = layout->n_switches + 1u, n_links = layout->n_links + 1u;
	uint32_t sm_port = layout->fabric->sm_port;
	int error;

	work->layout = layout;
	work->left = *layout;
	work->left.links = malloc(n_links * sizeof(*work->left.links));
	work->pairs = calloc(n_links, sizeof(*work->pairs));
	work->n_hosts = calloc(n, sizeof(*work->n_hosts));
	work->old = malloc(n);
	work->column = malloc(n);
	work->crosses = calloc(n, sizeof(*work->crosses));
	work->down = malloc(n * sizeof(*work->down));
	work->far = malloc(n * sizeof(*work->far));
	work->step = calloc(n, sizeof(*work->step));
	error = triad_routes_tree_init(&work->before, layout->n_switches);
	error |= triad_routes_tree_init(&work->after, layout->n_switches);
	error |= triad_routes_deps_init(&work->deps, layout);
	if (error || !work->left.links || !work->pairs || !work->n_hosts ||
		!work->old || !work->column || !work->crosses || !work->down ||
		!work->far || !work->step)
		return ENOMEM;
	memcpy(work->left.links, layout->links,
		layout->n_links * sizeof(*layout->links));
	for (uint32_t i = 0; i < layout->n_hosts; i++)
		work->n_hosts[layout->hosts[i].sw]++;
	work->sm_switch = sm_port == TRIAD_FABRIC_NONE ||
			layout->host_of_port[sm_port] == TRIAD_FABRIC_NONE
		? TRIAD_FABRIC_NONE
		: layout->hosts[layout->host_of_port[sm_port]].sw;
	set_pairs(work, check);
	return 0;
}

static void end_work(struct work *work)
{
	triad_routes_tree_clear(&work->before);
	triad_routes_tree_clear(&work->after);
	triad_routes_deps_clear(&work->deps);
	free(work->left.links);
	free(work->pairs);
	free(work->n_hosts);
	free(work->old);
	free(work->column);
	free(work->crosses);
	free(work->down);
	free(work->far);
	free(work->step);
}

int triad_routes_repair_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_repair **repair)
{
	struct work work = {.repair = calloc(1, sizeof(*work.repair))};
	int error = begin_work(&work, check);

	if (!work.repair)
		error = ENOMEM;
	if (!error) {
		take_links(&work, ports, n);
		error = look_at_all(&work);
	}
	if (!error)
		error = prove(&work);
	end_work(&work);
	if (error) {
		triad_routes_repair_free(work.repair);
		return error;
	}
	order_changes(work.repair);
	*repair = work.repair;
	return 0;
}

void triad_routes_repair_free(struct triad_routes_repair *repair)
{
	if (!repair)
		return;
	free(repair->changes);
	free(repair);
}
