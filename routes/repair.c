/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Looks only at what the lost links concern: LIDs that the switches beside them send by
 * them; for each, the switches that send to these; and of all others, those that one of
 * these may send to. */
#include "routes/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

#define FAR UINT16_MAX
#define ASK (UINT16_MAX - 1) /* not computed yet */
#define LFT_BLOCK 64u
#define MAX_LEVELS 64u /* of a tree: bounds recursion */

/* How the path of a switch's packets is now. */
enum path {
	PATH_UNKNOWN,
	PATH_VISITED, /* while it is being followed */
	PATH_FAILS,
	PATH_STAYS,
	PATH_CROSSES, /* a lost link, and arrives */
};

/* A switch with a lost link. */
struct place {
	uint32_t sw;
	uint64_t lost[4]; /* a bit for each of its ports */
};

/* What is known of a switch, of the present goal. */
struct state {
	uint32_t goal; /* a count of goals: of another one, nothing is known */
	uint32_t
		count; /* pairs that pass, if its path crosses; for a goal that is no host 0 */
	uint16_t left; /* links to the goal now */
	uint16_t
		down; /* links to the goal by going down alone; or without a tree, by any
			 * way; FAR: there is none */
	uint16_t far;        /* links to the goal */
	uint16_t step;       /* of its change, and one more; 0: no change behind it */
	uint8_t path;        /* enum path */
	uint8_t old, column; /* the port, before and after */
	bool is_settled, is_passed, arrives; /* after */
};

struct work {
	const struct triad_routes_layout *layout;
	struct triad_routes_layout left; /* the layout without the lost links */
	struct triad_routes_repair *repair;
	size_t room; /* for changes */
	bool is_tree;
	bool never_turns;              /* no pair's path turns from down to up */
	bool turns;                    /* one does then */
	struct triad_routes_deps deps; /* of paths that change, and into them */
	uint64_t *pairs;               /* of each link, by its number */
	uint32_t *n_hosts;             /* of each switch: those that keep their link */
	uint32_t sm_switch; /* the SM's, or that it is on; or TRIAD_FABRIC_NONE */
	struct place *places;
	uint32_t *place_of; /* of each switch, plus 1; 0: it has no lost link */
	uint32_t n_places;

	/* Of one goal. */
	const struct triad_routes_goal *goal;
	bool is_left;     /* a host that keeps its link */
	uint32_t n_goals; /* so far */
	struct state *states;
	uint32_t *crossing, n_crossing; /* each behind the one that it sends to */
	uint32_t *settled, n_settled;   /* whose port is chosen */
	uint32_t *stack;
};

static bool is_host(const struct work *work)
{
	return work->goal->host != TRIAD_FABRIC_NONE;
}

/* An SM on a switch. */
static bool is_sm(const struct work *work)
{
	return !is_host(work) && work->goal->port == work->layout->fabric->sm_port;
}

static const struct triad_routes_link *link_left(
	const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link =
		triad_routes_link(&work->left, sw, number);

	return link && link->kind == TRIAD_ROUTES_TO_SWITCH ? link : NULL;
}

static bool is_lost(const struct work *work, uint32_t sw, unsigned number)
{
	uint32_t place = work->place_of[sw];

	return place && work->places[place - 1].lost[number / 64] >> number % 64 & 1;
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

	if (sw == TRIAD_FABRIC_NONE || !at->number)
		return;
	if (!work->place_of[sw]) {
		work->places[work->n_places] = (struct place){.sw = sw};
		work->place_of[sw] = ++work->n_places;
	}
	work->places[work->place_of[sw] - 1].lost[at->number / 64] |= UINT64_C(1)
		<< at->number % 64;
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

/* --- paths as they are --- */

static struct state *state_of(struct work *work, uint32_t sw)
{
	struct state *state = &work->states[sw];
	uint8_t old;

	if (state->goal == work->n_goals)
		return state;
	old = triad_routes_out(work->layout, sw, work->goal->lid);
	*state = (struct state){.goal = work->n_goals,
		.old = old,
		.column = old,
		.down = FAR,
		.far = FAR};
	return state;
}

/* Sets what follows of its next switch, or for the last one, of whether it arrives. */
static void set_path(
	struct work *work, uint32_t sw, struct state *state, const struct state *next)
{
	const struct triad_routes_link *link =
		triad_routes_link(work->layout, sw, state->old);
	enum path then = next                                        ? next->path
		: link && triad_routes_arrives(work->goal, link, sw) ? PATH_STAYS
								     : PATH_FAILS;

	/* Visited: a circle. */
	if (then != PATH_STAYS && then != PATH_CROSSES) {
		state->path = PATH_FAILS;
		return;
	}
	state->left = next ? (uint16_t)(next->left + 1) : 0;
	state->arrives = true;
	if (is_lost(work, sw, state->old) || then == PATH_CROSSES) {
		state->path = PATH_CROSSES;
		state->arrives = false;
		if (work->is_tree)
			state->down = state->far = ASK;
		return;
	}
	state->path = PATH_STAYS;
	if (!next || !work->is_tree ||
		(goes_down(work, sw, link->to) && next->down != FAR))
		state->down = state->far = state->left;
	/* Not one that turns. */
	else if (!goes_down(work, sw, link->to) && next->far != FAR)
		state->far = state->left;
}

/* The switch's state, its path known. */
static struct state *follow(struct work *work, uint32_t sw)
{
	struct state *state = state_of(work, sw);
	const struct state *next = NULL;
	uint32_t n = 0;

	for (uint32_t at = sw; state->path == PATH_UNKNOWN;
		state = state_of(work, at)) {
		const struct triad_routes_link *link =
			triad_routes_link(work->layout, at, state->old);

		work->stack[n++] = at;
		state->path = PATH_VISITED;
		if (!link || link->kind != TRIAD_ROUTES_TO_SWITCH)
			break;
		at = link->to;
	}
	if (n && state != &work->states[work->stack[n - 1]])
		next = state;
	while (n) {
		state = &work->states[work->stack[--n]];
		set_path(work, work->stack[n], state, next);
		next = state;
	}
	return state;
}

static uint32_t next_switch(const struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link =
		triad_routes_link(work->layout, sw, number);

	return link && link->kind == TRIAD_ROUTES_TO_SWITCH ? link->to
							    : TRIAD_FABRIC_NONE;
}

/* --- the switches whose paths cross a lost link --- */

/* Those whose path crosses none behind its first link. */
static void add_last_crossings(struct work *work)
{
	work->n_crossing = 0;
	for (uint32_t i = 0; i < work->n_places; i++) {
		uint32_t sw = work->places[i].sw, next;
		const struct state *state = state_of(work, sw);

		if (!is_lost(work, sw, state->old))
			continue;
		next = next_switch(work, sw, state->old);
		if (follow(work, sw)->path == PATH_CROSSES &&
			(next == TRIAD_FABRIC_NONE ||
				follow(work, next)->path != PATH_CROSSES))
			work->crossing[work->n_crossing++] = sw;
	}
}

/* Adds the switches that send to this one. */
static void add_senders(struct work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	uint32_t next = next_switch(work, sw, work->states[sw].old);
	bool none_above = is_host(work) && work->never_turns &&
		next != TRIAD_FABRIC_NONE && !goes_down(work, sw, next);

	for (unsigned p = 1; p < at->n_links && !(none_above && at->level == 1); p++) {
		const struct triad_routes_link *link =
			&work->layout->links[at->first_link + p];

		if (link->kind != TRIAD_ROUTES_TO_SWITCH ||
			(none_above && !goes_down(work, sw, link->to)) ||
			triad_routes_out(work->layout, link->to, work->goal->lid) !=
				link->in_port)
			continue;
		(void)follow(work, link->to);
		work->crossing[work->n_crossing++] = link->to;
	}
}

/* Pairs with the goal that begin at the switch; for a switch's LID, packets from the SM. */
static uint32_t n_beginning(const struct work *work, uint32_t sw)
{
	return is_host(work)
		? work->n_hosts[sw] - (sw == work->goal->sw && work->is_left)
		: sw == work->sm_switch;
}

/* Packets to and from an SM on a switch are in no pair. */
static bool has_beginning(const struct work *work, uint32_t sw)
{
	return n_beginning(work, sw) || sw == work->sm_switch ||
		(is_sm(work) && work->n_hosts[sw]);
}

static void find_crossings(struct work *work)
{
	add_last_crossings(work);
	for (uint32_t i = 0; i < work->n_crossing; i++)
		add_senders(work, work->crossing[i]);
	for (uint32_t i = work->n_crossing; i-- > 0 && is_host(work);) {
		uint32_t sw = work->crossing[i];
		struct state *state = &work->states[sw];
		uint32_t next = next_switch(work, sw, state->old);

		state->count += n_beginning(work, sw);
		if (next != TRIAD_FABRIC_NONE)
			work->states[next].count += state->count;
		work->repair->n_crossing += n_beginning(work, sw);
	}
}

/* --- other ways --- */

/* Without a tree: sets 'down' by the paths that stay, from the nearest switches on. */
static void find_shortest(struct work *work)
{
	bool goes_on = true;

	for (uint32_t i = 0; i < work->n_crossing; i++) {
		uint32_t sw = work->crossing[i];
		struct state *state = &work->states[sw];

		for (unsigned p = 1; p < work->layout->switches[sw].n_links; p++) {
			const struct triad_routes_link *link = link_left(work, sw, p);
			const struct state *far = link ? follow(work, link->to) : NULL;

			if (far && far->path == PATH_STAYS &&
				far->left + 1 < state->down)
				state->down = (uint16_t)(far->left + 1);
		}
	}
	for (uint16_t distance = 0; goes_on && distance < FAR - 1; distance++) {
		goes_on = false;
		for (uint32_t i = 0; i < work->n_crossing; i++) {
			uint32_t sw = work->crossing[i];
			uint16_t down = work->states[sw].down;

			goes_on |= down != FAR && down > distance;
			for (unsigned p = 1; down == distance &&
				p < work->layout->switches[sw].n_links;
				p++) {
				const struct triad_routes_link *link =
					link_left(work, sw, p);
				struct state *far =
					link ? &work->states[link->to] : NULL;

				if (!far || far->path != PATH_CROSSES ||
					far->down <= distance + 1)
					continue;
				far->down = (uint16_t)(distance + 1);
				goes_on = true;
			}
		}
	}
}

/* In a tree: links to the goal by going down alone. */
static uint16_t down_from(struct work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	struct state *state = follow(work, sw);

	if (state->down != ASK)
		return state->down;
	state->down = FAR;
	for (unsigned p = 1; p < at->n_links && at->level > 1; p++) {
		const struct triad_routes_link *link = link_left(work, sw, p);
		uint16_t down;

		if (!link || !goes_down(work, sw, link->to))
			continue;
		down = down_from(work, link->to);
		if (down < FAR - 2 && down + 1 < state->down)
			state->down = (uint16_t)(down + 1);
	}
	return state->down;
}

/* In a tree: links to the goal, by going down alone if that is possible. */
static uint16_t far_from(struct work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	struct state *state = follow(work, sw);

	if (state->far != ASK)
		return state->far;
	state->far = down_from(work, sw);
	for (unsigned p = 1; p < at->n_links && state->down == FAR; p++) {
		const struct triad_routes_link *link = link_left(work, sw, p);
		uint16_t far;

		if (!link || !goes_down(work, link->to, sw))
			continue;
		far = far_from(work, link->to);
		if (far < FAR - 2 && far + 1 < state->far)
			state->far = (uint16_t)(far + 1);
	}
	return state->far;
}

/* How far the goal is behind that port, if packets may be sent there; or FAR. */
static uint16_t far_behind(struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link = link_left(work, sw, number);
	const struct state *far;

	if (!link)
		return FAR;
	if (work->is_tree) {
		if (down_from(work, sw) != FAR)
			return goes_down(work, sw, link->to) ? down_from(work, link->to)
							     : FAR;
		return goes_down(work, sw, link->to) ? FAR : far_from(work, link->to);
	}
	far = follow(work, link->to);
	return far->down < work->states[sw].down ? far->down : FAR;
}

/* The present port where it will do; 255: there is none. */
static uint8_t choose_port(struct work *work, uint32_t sw)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	uint16_t nearest = FAR;
	uint64_t fewest = UINT64_MAX;
	uint8_t chosen = 255;

	if (far_behind(work, sw, work->states[sw].old) != FAR)
		return work->states[sw].old;
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

static bool is_changed(const struct state *state)
{
	return state->arrives && state->column != state->old;
}

static int put_change(struct work *work, uint32_t sw, struct state *state)
{
	const struct triad_routes_switch *at = &work->layout->switches[sw];
	struct triad_routes_repair *repair = work->repair;

	if (repair->n_changes == TRIAD_ROUTES_MAX_CHANGES)
		return EOVERFLOW;
	if (triad_grow(&repair->changes, &work->room, repair->n_changes + 1u,
		    sizeof(*repair->changes), 64))
		return ENOMEM;
	repair->changes[repair->n_changes++] = (struct triad_routes_change){.sw = sw,
		.lid = work->goal->lid,
		.step = state->step++,
		.from = state->old,
		.out = state->column};
	if (state->step > repair->n_steps)
		repair->n_steps = state->step;
	work->pairs[at->first_link + state->old] -= state->count;
	work->pairs[at->first_link + state->column] += state->count;
	return 0;
}

/* Chooses ports of all switches that packets from this one pass then. */
static int settle(struct work *work, uint32_t sw)
{
	uint32_t first = work->n_settled, next = sw;
	struct state *state = follow(work, sw);
	uint8_t chosen;
	int error = 0;

	while (next != TRIAD_FABRIC_NONE) {
		state = follow(work, next);
		if (state->path != PATH_CROSSES || state->is_settled)
			break;
		state->is_settled = true;
		work->settled[work->n_settled++] = next;
		chosen = choose_port(work, next);
		if (chosen != 255)
			state->column = chosen;
		next = chosen == 255 ? TRIAD_FABRIC_NONE
				     : next_switch(work, next, chosen);
	}
	for (uint32_t i = work->n_settled; i-- > first && !error;) {
		const struct state *then = state;

		state = &work->states[work->settled[i]];
		/* Else it is the last one, without a way. */
		if (then == state)
			continue;
		state->arrives = then->arrives;
		state->step = then->step;
		if (is_changed(state))
			error = put_change(work, work->settled[i], state);
	}
	return error;
}

/* --- dependencies --- */

/* By packets that leave 'sw' by that port, and the next switch as it then does. */
static void depend(struct work *work, uint32_t sw, unsigned number)
{
	const struct triad_routes_link *link = link_left(work, sw, number), *then;
	unsigned out = link ? work->states[link->to].column : 0;

	then = link ? link_left(work, link->to, out) : NULL;
	if (!then)
		return;
	work->turns |=
		goes_down(work, sw, link->to) && !goes_down(work, link->to, then->to);
	triad_routes_deps_add(&work->deps, link->to, link->in_port, out);
}

/* By packets that go on from 'sw': a switch whose path stays may have had none. */
static void depend_on_way(struct work *work, uint32_t sw)
{
	struct state *state = &work->states[sw];

	while (!state->is_passed) {
		uint32_t next = next_switch(work, sw, state->column);

		state->is_passed = true;
		if (next == TRIAD_FABRIC_NONE)
			return;
		depend(work, sw, state->column);
		sw = next;
		state = &work->states[sw];
	}
}

/* What packets of unchanged entries alone depend on is no news. */
static void depend_by_all(struct work *work)
{
	for (uint32_t i = 0; i < work->n_settled; i++)
		if (work->states[work->settled[i]].arrives)
			depend_on_way(work, work->settled[i]);
	for (uint32_t i = 0; i < work->n_crossing; i++) {
		uint32_t sw = work->crossing[i];
		const struct state *state = &work->states[sw];
		uint32_t next = next_switch(work, sw, state->old);

		if (state->count && next != TRIAD_FABRIC_NONE &&
			is_changed(&work->states[next]))
			depend(work, sw, state->old);
	}
}

/* --- all --- */

/* A switch without another way sends on as before, perhaps to one that has found one. */
static void count_lost(struct work *work)
{
	for (uint32_t i = 0; i < work->n_crossing; i++) {
		uint32_t sw = work->crossing[i];
		struct state *state = &work->states[sw];
		const struct triad_routes_link *link =
			link_left(work, sw, state->column);

		state->arrives |= link && work->states[link->to].arrives;
		if (!state->arrives)
			work->repair->n_lost += n_beginning(work, sw);
	}
}

static int look_at_host(struct work *work)
{
	int error = 0;

	for (uint32_t i = 0; i < work->n_crossing && !error; i++)
		if (has_beginning(work, work->crossing[i]))
			error = settle(work, work->crossing[i]);
	if (is_host(work))
		count_lost(work);
	depend_by_all(work);
	return error;
}

static bool keeps_link(const struct work *work, uint32_t host)
{
	const struct triad_routes_host *at = &work->layout->hosts[host];

	return !is_lost(work, at->sw, at->in_port);
}

static int look_at_goal(struct work *work)
{
	work->is_left = is_host(work) && keeps_link(work, work->goal->host);
	work->n_goals++;
	work->n_settled = work->n_crossing = 0;
	if (is_host(work) || is_sm(work) || !work->is_tree)
		find_crossings(work);
	if (!work->is_tree)
		find_shortest(work);
	if (is_host(work) || is_sm(work))
		return look_at_host(work);
	return work->sm_switch == TRIAD_FABRIC_NONE ? 0 : settle(work, work->sm_switch);
}

/* All pairs from a host that loses its own link cross it, and have no other way. */
static void count_hosts(struct work *work, const uint64_t *pairs)
{
	for (uint32_t i = 0; i < work->layout->n_hosts; i++) {
		const struct triad_routes_host *host = &work->layout->hosts[i];

		if (keeps_link(work, i)) {
			work->n_hosts[host->sw]++;
			continue;
		}
		work->repair->n_crossing += pairs[host->port];
		work->repair->n_lost += pairs[host->port];
	}
}

static int look_at_all(struct work *work)
{
	const struct triad_routes_layout *layout = work->layout;
	int error = 0;

	for (uint32_t i = 0; i < layout->n_goals && !error; i++) {
		bool is_concerned = false;

		work->goal = &layout->goals[i];
		for (uint32_t k = 0; k < work->n_places && !is_concerned; k++) {
			uint32_t sw = work->places[k].sw;

			is_concerned = is_lost(work, sw,
				triad_routes_out(layout, sw, work->goal->lid));
		}
		if (is_concerned)
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

/* Orders them, and counts their blocks and switches. */
static int order_changes(struct work *work)
{
	struct triad_routes_repair *repair = work->repair;
	struct triad_routes_change *changes = repair->changes;
	bool *is_counted = calloc(work->layout->n_switches + 1u, sizeof(*is_counted));

	if (!is_counted)
		return ENOMEM;
	if (repair->n_changes)
		qsort(changes, repair->n_changes, sizeof(*changes), compare_changes);
	for (uint32_t i = 0; i < repair->n_changes; i++) {
		repair->n_blocks += !i || changes[i].step != changes[i - 1].step ||
			changes[i].sw != changes[i - 1].sw ||
			changes[i].lid / LFT_BLOCK != changes[i - 1].lid / LFT_BLOCK;
		repair->n_switches += !is_counted[changes[i].sw];
		is_counted[changes[i].sw] = true;
	}
	free(is_counted);
	return 0;
}

/* Whether packets that cross the same links may have different VLs. */
static bool has_vls(const struct triad_fabric *fabric)
{
	return fabric->sa.qos || fabric->sa.engine_has_sl;
}

static int prove(struct work *work, const struct triad_routes_check *check)
{
	struct triad_routes_repair *repair = work->repair;
	int error;

	repair->proof = check->credit.by_links ? TRIAD_ROUTES_NO_CIRCLE
					       : TRIAD_ROUTES_NONE_ADDED;
	/* Up, then down: no circle. */
	if ((work->never_turns && !work->turns) || !repair->n_changes)
		return 0;
	error = triad_routes_added_find(&work->left, &check->deps, &work->deps,
		has_vls(work->layout->fabric), &repair->circle);
	if (repair->circle.n_links)
		repair->proof = TRIAD_ROUTES_MAY_CLOSE;
	return error;
}

static void set_pairs(struct work *work, const struct triad_routes_check *check)
{
	const struct triad_fabric *fabric = work->layout->fabric;

	for (uint32_t i = 0; i < work->layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &work->layout->switches[i];
		const struct triad_fabric_node *node = &fabric->nodes[sw->node];

		for (uint32_t k = node->first_port;
			k < node->first_port + node->n_ports; k++)
			work->pairs[sw->first_link + fabric->ports[k].number] =
				check->pairs[k];
	}
}

static uint32_t find_sm_switch(const struct triad_routes_layout *layout)
{
	uint32_t port = layout->fabric->sm_port, host;

	if (port == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	host = layout->host_of_port[port];
	return host == TRIAD_FABRIC_NONE
		? layout->switch_of_node[layout->fabric->ports[port].node]
		: layout->hosts[host].sw;
}

static int begin_work(struct work *work, const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n_ports)
{
	const struct triad_routes_layout *layout = check->layout;
	size_t n = layout->n_switches + 1u, n_links = layout->n_links + 1u;

	work->layout = layout;
	work->left = *layout;
	work->left.links = triad_routes_links_without(layout, ports, n_ports);
	work->is_tree =
		work->is_tree && layout->is_tree && layout->n_levels <= MAX_LEVELS;
	work->never_turns = work->is_tree && !check->problems[TRIAD_ROUTES_TURNS].n;
	work->pairs = calloc(n_links, sizeof(*work->pairs));
	work->places = malloc(n * sizeof(*work->places));
	work->place_of = calloc(n, sizeof(*work->place_of));
	work->states = calloc(n, sizeof(*work->states));
	work->crossing = malloc(n * sizeof(*work->crossing));
	work->settled = malloc(n * sizeof(*work->settled));
	work->stack = malloc(n * sizeof(*work->stack));
	work->n_hosts = calloc(n, sizeof(*work->n_hosts));
	if (!work->left.links || !work->pairs || !work->places || !work->place_of ||
		!work->states || !work->crossing || !work->settled || !work->stack ||
		!work->n_hosts)
		return ENOMEM;
	if (triad_routes_deps_init(&work->deps, layout))
		return ENOMEM;
	work->sm_switch = find_sm_switch(layout);
	set_pairs(work, check);
	return 0;
}

static void end_work(struct work *work)
{
	triad_routes_deps_clear(&work->deps);
	free(work->left.links);
	free(work->pairs);
	free(work->places);
	free(work->place_of);
	free(work->states);
	free(work->crossing);
	free(work->settled);
	free(work->stack);
	free(work->n_hosts);
}

static int make_repair(const struct triad_routes_check *check, const uint32_t *ports,
	uint32_t n, bool as_tree, struct triad_routes_repair **repair)
{
	struct work work = {
		.repair = calloc(1, sizeof(*work.repair)), .is_tree = as_tree};
	int error = begin_work(&work, check, ports, n);

	if (!work.repair)
		error = ENOMEM;
	if (!error) {
		take_links(&work, ports, n);
		count_hosts(&work, check->pairs);
		error = look_at_all(&work);
	}
	if (!error)
		error = prove(&work, check);
	if (!error)
		error = order_changes(&work);
	end_work(&work);
	if (error) {
		triad_routes_repair_free(work.repair);
		return error;
	}
	*repair = work.repair;
	return 0;
}

int triad_routes_repair_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_repair **repair)
{
	return make_repair(check, ports, n, true, repair);
}

int triad_routes_repair_make_shortest(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_repair **repair)
{
	return make_repair(check, ports, n, false, repair);
}

enum triad_routes_next_sweep triad_routes_next_sweep(const char *engine)
{
	static const struct {
		const char *engine;
		enum triad_routes_next_sweep does;
	} engines[] = {
		{"minhop", TRIAD_ROUTES_SWEEP_KEEPS},
		{"updn", TRIAD_ROUTES_SWEEP_KEEPS},
		{"dnup", TRIAD_ROUTES_SWEEP_KEEPS},
		{"dor", TRIAD_ROUTES_SWEEP_KEEPS},
		{"ftree", TRIAD_ROUTES_SWEEP_AFRESH},
		{"lash", TRIAD_ROUTES_SWEEP_AFRESH},
		{"nue", TRIAD_ROUTES_SWEEP_AFRESH},
		{"sssp", TRIAD_ROUTES_SWEEP_AFRESH},
		{"dfsssp", TRIAD_ROUTES_SWEEP_AFRESH},
		{"torus-2QoS", TRIAD_ROUTES_SWEEP_AFRESH},
		{"file", TRIAD_ROUTES_SWEEP_OWN},
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(engines[i].engine, engine) == 0)
			return engines[i].does;
	return TRIAD_ROUTES_SWEEP_UNKNOWN;
}

void triad_routes_repair_free(struct triad_routes_repair *repair)
{
	if (!repair)
		return;
	free(repair->changes);
	free(repair);
}
