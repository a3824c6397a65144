/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/credit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes/graph.h"

#define NO_VL 15   /* packets on VL15 are dropped [IBA 7.6.6] */
#define COLUMNS 64 /* how many goals to handle at once */
#define UNKNOWN UINT16_MAX

/* --- dependencies of links --- */

int triad_routes_deps_init(
	struct triad_routes_deps *deps, const struct triad_routes_layout *layout)
{
	size_t n = 0;

	*deps = (struct triad_routes_deps){.layout = layout,
		.first = calloc(layout->n_switches + 1u, sizeof(*deps->first))};
	if (!deps->first)
		return ENOMEM;
	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &layout->switches[i];

		deps->first[i] = n;
		n += (size_t)sw->n_links * triad_routes_deps_width(sw);
	}
	deps->n_words = n;
	deps->words = calloc(n ? n : 1, sizeof(*deps->words));
	return deps->words ? 0 : ENOMEM;
}

int triad_routes_deps_copy(struct triad_routes_deps *copy,
	const struct triad_routes_deps *deps, const struct triad_routes_layout *layout)
{
	int error = triad_routes_deps_init(copy, layout);

	if (!error)
		memcpy(copy->words, deps->words, deps->n_words * sizeof(*deps->words));
	return error;
}

void triad_routes_deps_clear(struct triad_routes_deps *deps)
{
	free(deps->first);
	free(deps->words);
}

/* Of a link into a switch: a bit for each of the switch's out-ports by which packets
 * from that link leave. */
static const uint64_t *dependents(
	const struct triad_routes_deps *deps, const struct triad_routes_link *link)
{
	return &deps->words[deps->first[link->to] +
		(size_t)link->in_port *
			triad_routes_deps_width(&deps->layout->switches[link->to])];
}

/* Calls 'visit' for each link (its number) that depends on link 'from'. */
static void for_dependents(const struct triad_routes_deps *deps, uint32_t from,
	void (*visit)(void *context, uint32_t link), void *context)
{
	const struct triad_routes_link *link = &deps->layout->links[from];
	const struct triad_routes_switch *sw;
	const uint64_t *words;

	if (link->kind != TRIAD_ROUTES_TO_SWITCH)
		return;
	sw = &deps->layout->switches[link->to];
	words = dependents(deps, link);
	for (uint32_t i = 0; i < triad_routes_deps_width(sw); i++)
		for (uint64_t left = words[i]; left; left &= left - 1)
			visit(context,
				sw->first_link + i * 64 +
					(uint32_t)__builtin_ctzll(left));
}

/* --- links in circles --- */

struct peeling {
	const struct triad_routes_deps *deps;
	uint32_t *n_in; /* of each link: remaining links that it depends on */
	uint32_t *queue, n_queued;
};

static void count_in(void *context, uint32_t link)
{
	((struct peeling *)context)->n_in[link]++;
}

static void take_away(void *context, uint32_t link)
{
	struct peeling *peeling = context;

	if (!--peeling->n_in[link])
		peeling->queue[peeling->n_queued++] = link;
}

/* Removes links without dependencies until there are no more.  The remaining links,
 * with 'n_in' above 0, are in a circle or behind one.  Returns their number. */
static uint32_t peel(struct peeling *peeling)
{
	const struct triad_routes_layout *layout = peeling->deps->layout;

	for (uint32_t i = 0; i < layout->n_links; i++)
		for_dependents(peeling->deps, i, count_in, peeling);
	for (uint32_t i = 0; i < layout->n_links; i++)
		if (!peeling->n_in[i])
			peeling->queue[peeling->n_queued++] = i;
	for (uint32_t i = 0; i < peeling->n_queued; i++)
		for_dependents(peeling->deps, peeling->queue[i], take_away, peeling);
	return layout->n_links - peeling->n_queued;
}

/* --- channels --- */

struct search {
	const struct triad_routes_layout *layout;
	const struct triad_routes_sls *sls;
	const struct triad_routes_vls *vls;
	const uint32_t *n_in; /* of links; above 0: examine them */
	struct triad_routes_graph graph;
	struct triad_routes_tree tree;
	uint8_t *columns;
	uint16_t *on; /* of each switch: VLs that packets leave on */
	/* VLs of packets of a switch's hosts, for each link and SL; UNKNOWN at
	 * first. */
	uint16_t *of_hosts;
};

uint8_t triad_routes_fabric_vl(
	const struct triad_fabric *fabric, uint32_t port, unsigned in_port, uint8_t sl)
{
	const struct triad_fabric_slice *rows = &fabric->ports[port].sl2vl;
	uint8_t octet;

	if (!fabric->sa.qos || in_port >= rows->n)
		return 0;
	octet = fabric->sl2vl[rows->at + in_port].vl[sl / 2];
	return sl % 2 ? octet & 0xf : octet >> 4;
}

uint16_t triad_routes_sls_of(const struct triad_fabric *fabric)
{
	uint16_t sls = 1;

	if (!fabric->sa.qos)
		return sls;
	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		sls |= (uint16_t)(1u << (fabric->partitions[i].sl & 0xf));
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].lid && triad_fabric_is_end_port(fabric, i))
			sls |= (uint16_t)(1u << (fabric->ports[i].sm_sl & 0xf));
	return sls;
}

/* Finds the fabric's port by a switch's port number; the layout has checked that it is
 * there. */
static uint32_t fabric_port(
	const struct triad_routes_layout *layout, uint32_t sw, unsigned number)
{
	return triad_fabric_find_port(
		layout->fabric, layout->switches[sw].node, number);
}

static uint8_t vl_of(const struct search *search, uint32_t sw, unsigned in_port,
	unsigned out_port, uint8_t sl)
{
	uint32_t port = fabric_port(search->layout, sw, out_port);

	return search->vls && search->vls->vl
		? search->vls->vl(search->vls->context, port, in_port, sl)
		: triad_routes_fabric_vl(search->layout->fabric, port, in_port, sl);
}

static uint32_t link_number(
	const struct triad_routes_layout *layout, uint32_t sw, unsigned out_port)
{
	return layout->switches[sw].first_link + out_port;
}

static uint32_t channel_name(uint32_t link, unsigned vl)
{
	return 1 + link * 16 + vl;
}

static uint16_t sls_between(const struct search *search, uint32_t sw, uint32_t goal)
{
	return search->sls->of
		? search->sls->of[(size_t)goal * search->layout->n_switches + sw]
		: search->sls->all;
}

/* The VLs of packets of the switch's hosts.  Keeps them: a switch may have many hosts,
 * and each goal needs them. */
static uint16_t vls_of_hosts(
	struct search *search, uint32_t sw, unsigned out, uint32_t goal, uint8_t sl)
{
	const struct triad_routes_switch *at = &search->layout->switches[sw];
	uint16_t *kept = &search->of_hosts[(size_t)(at->first_link + out) * 16 + sl];

	if (!(sls_between(search, sw, goal) >> sl & 1))
		return 0;
	if (*kept != UNKNOWN)
		return *kept;
	*kept = 0;
	for (uint32_t i = at->first_host; i < at->first_host + at->n_hosts; i++)
		*kept |= (uint16_t)(1u << vl_of(search, sw,
					    search->layout->hosts[i].in_port, out, sl));
	*kept &= (1u << NO_VL) - 1;
	return *kept;
}

/* Follows packets that enter the next switch on the VLs in 'on'.  They leave it on one
 * VL. */
static int continue_search(
	struct search *search, const uint8_t *column, uint32_t sw, uint8_t sl)
{
	const struct triad_routes_layout *layout = search->layout;
	uint32_t next = search->tree.next[sw];
	uint32_t link = link_number(layout, sw, column[sw]);
	uint32_t next_link = link_number(layout, next, column[next]);
	uint8_t vl;
	int error = 0;

	if (layout->links[next_link].kind != TRIAD_ROUTES_TO_SWITCH)
		return 0;
	vl = vl_of(search, next, layout->links[link].in_port, column[next], sl);
	if (vl == NO_VL)
		return 0;
	search->on[next] |= (uint16_t)(1u << vl);
	if (!search->n_in[link] || !search->n_in[next_link])
		return 0;
	for (unsigned from = 0; from < NO_VL && !error; from++)
		if (search->on[sw] >> from & 1)
			error = triad_routes_graph_add(&search->graph,
				channel_name(link, from), channel_name(next_link, vl));
	return error;
}

/* Adds the dependencies of all paths in one SL to the goal of the tree. */
static int add_paths(
	struct search *search, const uint8_t *column, uint32_t goal, uint8_t sl)
{
	const struct triad_routes_tree *tree = &search->tree;
	int error = 0;

	memset(search->on, 0, tree->n_switches * sizeof(*search->on));
	for (uint32_t i = 0; i < tree->n_ordered && !error; i++) {
		uint32_t sw = tree->order[i];

		if (tree->ends[sw] != TRIAD_ROUTES_ARRIVES ||
			tree->next[sw] == TRIAD_FABRIC_NONE)
			continue;
		search->on[sw] |= vls_of_hosts(search, sw, column[sw], goal, sl);
		if (search->on[sw])
			error = continue_search(search, column, sw, sl);
	}
	return error;
}

static int add_goal(struct search *search, const uint8_t *column, uint32_t goal)
{
	const struct triad_routes_goal *at = &search->layout->goals[goal];
	uint16_t sls = search->sls->all;
	int error = 0;

	if (at->host == TRIAD_FABRIC_NONE)
		return 0;
	if (search->sls->of)
		for (uint32_t i = 0; i < search->layout->n_switches; i++)
			sls |= sls_between(search, i, goal);
	triad_routes_tree_grow(&search->tree, search->layout, at, column);
	for (uint8_t sl = 0; sl < 16 && !error; sl++)
		if (sls >> sl & 1)
			error = add_paths(search, column, goal, sl);
	return error;
}

static int add_goals(struct search *search)
{
	const struct triad_routes_layout *layout = search->layout;
	int error = 0;

	for (uint32_t first = 0; first < layout->n_goals && !error; first += COLUMNS) {
		uint32_t n = layout->n_goals - first;

		n = n < COLUMNS ? n : COLUMNS;
		triad_routes_columns(layout, first, n, search->columns);
		for (uint32_t i = 0; i < n && !error; i++)
			error = add_goal(search,
				search->columns + (size_t)i * layout->n_switches,
				first + i);
	}
	return error;
}

/* --- evidence --- */

/* One hop of a path, from one channel to the next. */
struct hop {
	uint32_t sw, next;      /* switches */
	unsigned out, next_out; /* their ports */
	uint8_t vl, next_vl;
};

/* Whether packets of that host pass the hop and arrive. */
static bool passes(const struct search *search, const struct triad_routes_host *host,
	const struct triad_routes_goal *goal, uint8_t sl, const struct hop *hop)
{
	const struct triad_routes_layout *layout = search->layout;
	uint32_t sw = host->sw, before = TRIAD_FABRIC_NONE;
	unsigned in_port = host->in_port, vl = NO_VL;
	bool is_passed = false;

	for (uint32_t n = 0; n <= layout->n_switches; n++) {
		unsigned out = triad_routes_out(layout, sw, goal->lid);
		const struct triad_routes_link *link =
			triad_routes_link(layout, sw, out);
		uint8_t next_vl;

		if (!link || link->kind != TRIAD_ROUTES_TO_SWITCH)
			return is_passed && link &&
				triad_routes_arrives(goal, link, sw);
		next_vl = vl_of(search, sw, in_port, out, sl);
		is_passed |= before == hop->sw && sw == hop->next && vl == hop->vl &&
			next_vl == hop->next_vl;
		if (next_vl == NO_VL && !is_passed)
			return false;
		vl = next_vl;
		before = sw;
		in_port = link->in_port;
		sw = link->to;
	}
	return false;
}

static bool find_host(const struct search *search, uint32_t goal, const struct hop *hop,
	struct triad_routes_step *step)
{
	const struct triad_routes_layout *layout = search->layout;
	const struct triad_routes_goal *to = &layout->goals[goal];

	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		const struct triad_routes_host *host = &layout->hosts[i];
		uint16_t sls = sls_between(search, host->sw, goal);

		for (uint8_t sl = 0; sl < 16 && host->port != to->port; sl++) {
			if (!(sls >> sl & 1) || !passes(search, host, to, sl, hop))
				continue;
			step->sl = sl;
			step->from = host->port;
			step->to = to->port;
			step->lid = to->lid;
			return true;
		}
	}
	return false;
}

static void find_path(const struct search *search, const struct hop *hop,
	struct triad_routes_step *step)
{
	const struct triad_routes_layout *layout = search->layout;

	for (uint32_t goal = 0; goal < layout->n_goals; goal++) {
		uint16_t lid = layout->goals[goal].lid;

		if (layout->goals[goal].host != TRIAD_FABRIC_NONE &&
			triad_routes_out(layout, hop->sw, lid) == hop->out &&
			triad_routes_out(layout, hop->next, lid) == hop->next_out &&
			find_host(search, goal, hop, step))
			return;
	}
}

/* The switch that sends over a link. */
static uint32_t switch_of(const struct triad_routes_layout *layout, uint32_t link)
{
	uint32_t low = 0, high = layout->n_switches;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (layout->switches[middle].first_link <= link)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Describes the step between the successive channels 'name' and 'next'. */
static void describe_step(const struct search *search, uint32_t name, uint32_t next,
	struct triad_routes_step *step)
{
	const struct triad_routes_layout *layout = search->layout;
	uint32_t link = (name - 1) / 16, next_link = (next - 1) / 16;
	struct hop hop = {.sw = switch_of(layout, link),
		.next = switch_of(layout, next_link),
		.vl = (name - 1) % 16,
		.next_vl = (next - 1) % 16};

	hop.out = link - layout->switches[hop.sw].first_link;
	hop.next_out = next_link - layout->switches[hop.next].first_link;
	*step = (struct triad_routes_step){.port = fabric_port(layout, hop.sw, hop.out),
		.vl = hop.vl,
		.from = TRIAD_FABRIC_NONE,
		.to = TRIAD_FABRIC_NONE};
	find_path(search, &hop, step);
}

static int show_loop(
	const struct search *search, uint32_t component, struct triad_routes_loop *loop)
{
	uint32_t *circle = NULL, n = 0;
	int error = triad_routes_graph_circle(&search->graph, component, &circle, &n);

	if (error)
		return error;
	loop->n_channels = n;
	for (uint32_t i = 0; i < search->graph.n_nodes; i++)
		loop->n_involved += search->graph.components[i] == component;
	loop->n_steps =
		n < TRIAD_ROUTES_MAX_LOOP_STEPS ? n : TRIAD_ROUTES_MAX_LOOP_STEPS;
	for (uint32_t i = 0; i < loop->n_steps; i++)
		describe_step(search, circle[i], circle[(i + 1) % n], &loop->steps[i]);
	free(circle);
	return 0;
}

/* --- together --- */

static int look_at_channels(struct search *search, struct triad_routes_credit *credit)
{
	int error = add_goals(search);

	credit->n_dependencies = search->graph.n_edges;
	if (!error)
		error = triad_routes_graph_solve(&search->graph);
	if (error == EOVERFLOW) {
		credit->state = TRIAD_ROUTES_CREDIT_TOO_LARGE;
		return 0;
	}
	if (error || !search->graph.n_components)
		return error;
	credit->state = TRIAD_ROUTES_CREDIT_LOOPS;
	credit->n_loops = search->graph.n_components;
	while (!error && credit->n_shown < credit->n_loops &&
		credit->n_shown < TRIAD_ROUTES_MAX_LOOPS) {
		error = show_loop(
			search, credit->n_shown, &credit->loops[credit->n_shown]);
		credit->n_shown++;
	}
	return error;
}

static int search_channels(const struct triad_routes_deps *deps, const uint32_t *n_in,
	const struct triad_routes_sls *sls, const struct triad_routes_vls *vls,
	struct triad_routes_credit *credit)
{
	const struct triad_routes_layout *layout = deps->layout;
	struct search search = {.layout = layout, .sls = sls, .vls = vls, .n_in = n_in};
	size_t of_hosts_size = (size_t)layout->n_links * 16 * sizeof(*search.of_hosts);
	int error = triad_routes_tree_init(&search.tree, layout->n_switches);

	search.columns = malloc((size_t)COLUMNS * layout->n_switches);
	search.on = calloc(layout->n_switches, sizeof(*search.on));
	search.of_hosts = malloc(of_hosts_size);
	if (!search.columns || !search.on || !search.of_hosts)
		error = ENOMEM;
	else
		memset(search.of_hosts, 0xff, of_hosts_size);
	if (!error)
		error = look_at_channels(&search, credit);
	triad_routes_tree_clear(&search.tree);
	triad_routes_graph_clear(&search.graph);
	free(search.columns);
	free(search.on);
	free(search.of_hosts);
	return error;
}

int triad_routes_credit_find(const struct triad_routes_deps *deps,
	const struct triad_routes_sls *sls, const struct triad_routes_vls *vls,
	struct triad_routes_credit *credit)
{
	size_t n_links = deps->layout->n_links + 1u;
	struct peeling peeling = {.deps = deps,
		.n_in = calloc(n_links, sizeof(*peeling.n_in)),
		.queue = calloc(n_links, sizeof(*peeling.queue))};
	int error = peeling.n_in && peeling.queue ? 0 : ENOMEM;

	*credit = (struct triad_routes_credit){0};
	if (!error) {
		credit->by_links = peel(&peeling) == 0;
		if (!credit->by_links && !sls->all && !sls->of)
			credit->state = TRIAD_ROUTES_CREDIT_NO_SLS;
		else if (!credit->by_links)
			error = search_channels(deps, peeling.n_in, sls, vls, credit);
	}
	free(peeling.n_in);
	free(peeling.queue);
	return error;
}
