/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/repair_multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

#define NONE TRIAD_FABRIC_NONE
#define POSITIONS TRIAD_ROUTES_MULTICAST_POSITIONS

/* What is known of a switch, of the present group. */
struct group_switch {
	uint16_t before[POSITIONS], left[POSITIONS], after[POSITIONS];
	uint32_t
		part; /* one of its part, up to that which is its own: the part's name */
	uint32_t n_members; /* of the part, at that one */
	bool has_hosts;     /* the part has, at that one: it is to be connected */
	bool is_in;         /* a part of the tree, then */
	/* Of the present search: */
	uint32_t round;     /* a count of searches: of another one, nothing is known */
	uint32_t came_from; /* a switch */
	uint8_t came_out;   /* its port; 0: both are of one part */
};

struct group_work {
	const struct triad_routes_layout *layout;
	struct triad_routes_layout left; /* without the lost links */
	struct triad_routes_repair_multicast *repair;
	size_t room, groups_room;
	struct group_switch *switches;
	uint32_t *in, n_in; /* switches of the tree */
	uint32_t *queue, n_queued, n_rounds;
	/* Of one group. */
	struct triad_routes_group_repair group;
};

static bool has_port(const uint16_t *ports, unsigned number)
{
	return ports[number / 16] >> number % 16 & 1;
}

static void put_port(uint16_t *ports, unsigned number)
{
	ports[number / 16] |= (uint16_t)(1u << number % 16);
}

static uint32_t part_of(struct group_work *work, uint32_t sw)
{
	struct group_switch *switches = work->switches;

	while (switches[sw].part != sw) {
		switches[sw].part = switches[switches[sw].part].part;
		sw = switches[sw].part;
	}
	return sw;
}

/* False: they are one already. */
static bool join_parts(struct group_work *work, uint32_t a, uint32_t b)
{
	a = part_of(work, a);
	b = part_of(work, b);
	if (a == b)
		return false;
	work->switches[b].part = a;
	work->switches[a].n_members += work->switches[b].n_members;
	work->switches[a].has_hosts |= work->switches[b].has_hosts;
	return true;
}

/* --- the tree as it is, without the lost links --- */

static void take_in(struct group_work *work, uint32_t sw)
{
	struct group_switch *at = &work->switches[sw];

	at->is_in = true;
	at->part = sw;
	at->n_members = 0;
	at->has_hosts = false;
	work->in[work->n_in++] = sw;
}

static void read_tables(struct group_work *work)
{
	const struct triad_routes_layout *layout = work->layout;

	for (uint32_t i = 0; i < work->n_in; i++)
		work->switches[work->in[i]].is_in = false;
	work->n_in = 0;
	for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
		struct group_switch *at = &work->switches[sw];
		bool any = false;

		for (unsigned k = 0; k < POSITIONS; k++) {
			at->before[k] = triad_routes_multicast_ports(
				layout, sw, work->group.mlid, k);
			any |= at->before[k] != 0;
		}
		memcpy(at->left, at->before, sizeof(at->left));
		if (any)
			take_in(work, sw);
	}
}

/* Those that were dead before may come back, too. */
static bool is_lost_between_switches(
	const struct group_work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_layout *layout = work->layout;
	const struct triad_fabric *fabric = layout->fabric;
	uint32_t port, far;

	if (triad_routes_link(&work->left, sw, number)->kind != TRIAD_ROUTES_DEAD)
		return false;
	port = triad_fabric_find_port(fabric, layout->switches[sw].node, number);
	far = port == NONE ? NONE : fabric->ports[port].remote;
	return far != NONE && layout->switch_of_node[fabric->ports[far].node] != NONE;
}

/* Takes lost links out of 'left', and counts members. */
static void look_at_ports(struct group_work *work, uint32_t sw)
{
	const struct triad_routes_layout *layout = work->layout;
	struct group_switch *at = &work->switches[sw];

	for (unsigned p = 0; p < layout->switches[sw].n_links; p++) {
		unsigned left = triad_routes_link(&work->left, sw, p)->kind;
		unsigned kind = triad_routes_link(layout, sw, p)->kind;

		at->has_hosts |= left == TRIAD_ROUTES_TO_END;
		if (!has_port(at->before, p))
			continue;
		if (is_lost_between_switches(work, sw, p))
			at->left[p / 16] &= (uint16_t) ~(1u << p % 16);
		work->group.n_members += kind == TRIAD_ROUTES_TO_END || !p;
		at->n_members += left == TRIAD_ROUTES_TO_END || !p;
	}
	at->has_hosts |= at->n_members > 0;
	memcpy(at->after, at->left, sizeof(at->after));
}

static void join_by_links(struct group_work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];

	for (unsigned p = 1; p < at->n_links; p++) {
		const struct triad_routes_link *link =
			triad_routes_link(&work->left, sw, p);

		if (link->kind != TRIAD_ROUTES_TO_SWITCH ||
			!has_port(work->switches[sw].left, p))
			continue;
		if (!work->switches[link->to].is_in ||
			!has_port(work->switches[link->to].left, link->in_port))
			work->group.state = TRIAD_ROUTES_GROUP_ASYMMETRIC;
		/* Once for both directions. */
		else if ((link->to > sw || (link->to == sw && link->in_port > p)) &&
			!join_parts(work, sw, link->to) && !work->group.state)
			work->group.state = TRIAD_ROUTES_GROUP_LOOPS;
	}
}

/* --- ways between parts --- */

static void reach(struct group_work *work, uint32_t sw, uint32_t from, unsigned out)
{
	work->switches[sw].round = work->n_rounds;
	work->switches[sw].came_from = from;
	work->switches[sw].came_out = (uint8_t)out;
	work->queue[work->n_queued++] = sw;
}

/* All of the part that has not been reached, from one that has. */
static void reach_part(struct group_work *work, uint32_t sw)
{
	uint32_t part = part_of(work, sw);

	for (uint32_t i = 0; i < work->n_in; i++)
		if (work->switches[work->in[i]].round != work->n_rounds &&
			part_of(work, work->in[i]) == part)
			reach(work, work->in[i], sw, 0);
}

/* The nearest switch of another part that is to be connected, or NONE. */
static uint32_t find_nearest(struct group_work *work, uint32_t from)
{
	work->n_rounds++;
	work->n_queued = 0;
	reach(work, from, NONE, 0);
	reach_part(work, from);
	for (uint32_t i = 0; i < work->n_queued; i++) {
		uint32_t sw = work->queue[i];
		uint32_t n = work->layout->switches[sw].n_links;

		/* Groups begin at different ports, so that they are spread. */
		for (uint32_t k = 0; k + 1 < n; k++) {
			unsigned p = 1 + (k + work->group.mlid) % (n - 1);
			const struct triad_routes_link *link =
				triad_routes_link(&work->left, sw, p);
			const struct group_switch *to;

			if (link->kind != TRIAD_ROUTES_TO_SWITCH)
				continue;
			to = &work->switches[link->to];
			if (to->round == work->n_rounds)
				continue;
			reach(work, link->to, sw, p);
			if (!to->is_in)
				continue;
			if (work->switches[part_of(work, link->to)].has_hosts)
				return link->to;
			reach_part(work, link->to);
		}
	}
	return NONE;
}

/* Puts the links of the way that was found into the tree. */
static void connect_to(struct group_work *work, uint32_t sw)
{
	while (work->switches[sw].came_from != NONE) {
		const struct group_switch *at = &work->switches[sw];
		uint32_t from = at->came_from;
		unsigned out = at->came_out;

		if (out) {
			const struct triad_routes_link *link =
				triad_routes_link(&work->left, from, out);

			for (unsigned end = 0; end < 2; end++) {
				uint32_t of = end ? from : sw;

				if (!work->switches[of].is_in) {
					take_in(work, of);
					memcpy(work->switches[of].after,
						work->switches[of].left,
						sizeof(work->switches[of].after));
				}
			}
			put_port(work->switches[from].after, out);
			put_port(work->switches[sw].after, link->in_port);
			(void)join_parts(work, from, sw);
		}
		sw = from;
	}
}

static void connect_parts(struct group_work *work)
{
	for (uint32_t i = 0; i < work->n_in; i++) {
		uint32_t sw = work->in[i], found;

		if (!work->switches[part_of(work, sw)].has_hosts ||
			part_of(work, sw) != sw)
			continue;
		while ((found = find_nearest(work, sw)) != NONE)
			connect_to(work, found);
	}
}

/* --- what changes --- */

static int put_changes(struct group_work *work, uint8_t step)
{
	struct triad_routes_repair_multicast *repair = work->repair;

	for (uint32_t sw = 0; sw < work->layout->n_switches; sw++) {
		const struct group_switch *at = &work->switches[sw];
		const uint16_t *from = step ? at->left : at->before;
		const uint16_t *to = step ? at->after : at->left;
		struct triad_routes_multicast_change *change;

		if (!at->is_in || !memcmp(from, to, sizeof(at->left)))
			continue;
		if (repair->n_changes == TRIAD_ROUTES_MAX_MULTICAST_CHANGES)
			return EOVERFLOW;
		if (triad_grow(&repair->changes, &work->room, repair->n_changes + 1u,
			    sizeof(*repair->changes), 64))
			return ENOMEM;
		change = &repair->changes[repair->n_changes++];
		*change = (struct triad_routes_multicast_change){
			.sw = sw, .mlid = work->group.mlid, .step = step};
		memcpy(change->before, from, sizeof(change->before));
		memcpy(change->after, to, sizeof(change->after));
		work->group.n_changes++;
	}
	return 0;
}

static void count_cut(struct group_work *work)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < work->n_in; i++) {
		uint32_t sw = work->in[i];

		if (part_of(work, sw) == sw && work->switches[sw].n_members > most)
			most = work->switches[sw].n_members;
	}
	work->group.n_cut = work->group.n_members - most;
	if (work->group.n_cut)
		work->group.state = TRIAD_ROUTES_GROUP_CUT;
}

static int look_at_group(struct group_work *work, uint16_t mlid)
{
	struct triad_routes_repair_multicast *repair = work->repair;
	int error = 0;

	work->group = (struct triad_routes_group_repair){.mlid = mlid};
	read_tables(work);
	for (uint32_t i = 0; i < work->n_in; i++)
		look_at_ports(work, work->in[i]);
	for (uint32_t i = 0; i < work->n_in; i++)
		join_by_links(work, work->in[i]);
	if (!work->group.state) {
		connect_parts(work);
		count_cut(work);
		error = put_changes(work, 0);
		if (!error)
			error = put_changes(work, 1);
	}
	if (!error)
		error = triad_grow(&repair->groups, &work->groups_room,
			repair->n_groups + 1u, sizeof(*repair->groups), 16);
	if (!error)
		repair->groups[repair->n_groups++] = work->group;
	return error;
}

static int begin_work(struct group_work *work, const uint32_t *ports, uint32_t n_ports)
{
	size_t n = work->layout->n_switches + 1u;

	work->left = *work->layout;
	work->left.links = triad_routes_links_without(work->layout, ports, n_ports);
	work->repair = calloc(1, sizeof(*work->repair));
	work->switches = calloc(n, sizeof(*work->switches));
	work->in = malloc(n * sizeof(*work->in));
	work->queue = malloc(n * sizeof(*work->queue));
	return work->left.links && work->repair && work->switches && work->in &&
			work->queue
		? 0
		: ENOMEM;
}

int triad_routes_repair_multicast_make(const struct triad_routes_layout *layout,
	const uint32_t *ports, uint32_t n,
	struct triad_routes_repair_multicast **repair)
{
	struct group_work work = {.layout = layout};
	int error = begin_work(&work, ports, n);

	for (uint32_t i = 0; !error && i < TRIAD_FABRIC_MAX_MLIDS; i++) {
		uint16_t mlid = (uint16_t)(TRIAD_ROUTES_N_LIDS + i);

		if (triad_routes_multicast_crosses(layout, ports, n, mlid))
			error = look_at_group(&work, mlid);
	}
	free(work.left.links);
	free(work.switches);
	free(work.in);
	free(work.queue);
	if (error)
		triad_routes_repair_multicast_free(work.repair);
	else
		*repair = work.repair;
	return error;
}

bool triad_routes_trees_are_free(const char *engine)
{
	return strcmp(engine, "torus-2QoS") == 0;
}

void triad_routes_repair_multicast_free(struct triad_routes_repair_multicast *repair)
{
	if (!repair)
		return;
	free(repair->changes);
	free(repair->groups);
	free(repair);
}
