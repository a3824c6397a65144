/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan would do to paths: the SM's own to the end ports, and places where the
 * packets of an SL in use would be dropped.
 *
 * Nearly always no SL in use is dead anywhere, and there is nothing to do.  Otherwise
 * this examines the dead places, switch by switch: (in-port, out-port) of a switch, or
 * the out-port of a source.  For each LID that leaves by such an out-port, the
 * neighbour's forwarding table shows whether it comes in by the in-port; then the
 * source is searched.  A place that no LID passes costs a look at all LIDs, so each
 * switch has a limited number of tries, and some dead places may not be found. */
#include <errno.h>
#include <stdlib.h>

#include "qos/setup/setup_plan_parts.h"
#include "qos/setup/routes.h"

#define N_LIDS 0xc000 /* unicast ones, and 0 */
#define TRIES (1u << 20)
#define MIN_TRIES_OF_NODE 1024
#define MAX_GOALS_OF_HOST 16
#define MAX_STEPS_BACK 8

/* In-ports of a switch, a bit for each. */
struct numbers {
	uint64_t words[TRIAD_SCOPES_MAX_PORTS / 64];
};

struct search {
	const struct triad_desired *desired;
	const struct triad_fabric *fabric;
	struct triad_setup_plan *plan;
	uint16_t sls; /* the SLs in use */
	uint32_t *port_of_lid;
	uint32_t last_goal; /* of a host's path */
	/* How many examples the node, and each SL, may still get; the node's limit. */
	unsigned of_node, of_sl[16], max_of_node;
	uint16_t shown[TRIAD_SCOPES_MAX_PORTS]; /* SLs with an example, by out-port */
	unsigned tries, max_tries;
	struct numbers dead[TRIAD_SCOPES_MAX_PORTS]; /* in-ports to find, by out-port */
};

/* --- SLs in use --- */

static uint16_t sls_of_policy(const struct triad_policy *policy)
{
	uint16_t sls = triad_policy_sl_of_level(policy, policy->default_level);

	for (uint32_t i = 0; i < policy->n_rules; i++)
		sls |= triad_policy_sl_of_level(policy, policy->rules[i].level);
	for (uint32_t i = 0; i < policy->n_partition_levels; i++)
		sls |= triad_policy_sl_of_level(
			policy, policy->partition_levels[i].level);
	return sls;
}

/* Whether the SM and the port exchange MADs: the port has its own LID. */
static bool is_end(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->ports[port].lid && triad_fabric_is_end_port(fabric, port);
}

uint16_t triad_setup_sls_in_use(const struct triad_desired *desired)
{
	const struct triad_fabric *fabric = desired->fabric;
	uint16_t sls = 0;

	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		sls |= (uint16_t)(1u << (fabric->partitions[i].sl & 0xf));
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (is_end(fabric, i))
			sls |= (uint16_t)(1u << (fabric->ports[i].sm_sl & 0xf));
	if (desired->setup)
		sls |= sls_of_policy(triad_setup_policy(desired->setup));
	return sls;
}

/* --- examples --- */

static void show_paths_like(
	struct search *search, uint16_t sls, const struct triad_setup_path *like)
{
	struct triad_setup_plan *plan = search->plan;
	uint16_t *shown = &search->shown[search->fabric->ports[like->port].number];
	unsigned first = plan->n_paths;

	/* Begin at another SL each time, so that low ones do not take all places. */
	for (unsigned i = 0; i < 16; i++) {
		unsigned sl = (first + i) % 16;

		if (!(sls & ~*shown & 1u << sl) || !search->of_sl[sl] ||
			!search->of_node || plan->n_paths == TRIAD_SETUP_MAX_PATHS)
			continue;
		plan->paths[plan->n_paths] = *like;
		plan->paths[plan->n_paths++].sl = (uint8_t)sl;
		*shown |= (uint16_t)(1u << sl);
		search->of_sl[sl]--;
		search->of_node--;
	}
}

static void add_place(
	struct search *search, uint16_t sls, const struct triad_setup_path *path)
{
	search->plan->n_dead_places += (unsigned)__builtin_popcount(sls);
	show_paths_like(search, sls, path);
}

/* --- hosts --- */

static bool arrives(const struct search *search, uint32_t from, uint32_t to)
{
	return to != from && is_end(search->fabric, to) &&
		triad_routes_follow(
			search->desired, from, to, search->fabric->ports[to].lid)
			.arrives;
}

/* An end port that 'from' reaches.  The last one that was found nearly always fits. */
static uint32_t find_goal(struct search *search, uint32_t from)
{
	uint32_t linked = search->fabric->ports[from].remote;
	unsigned n_tried = 0;

	if (linked == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	if (is_end(search->fabric, linked))
		return linked;
	if (search->last_goal != TRIAD_FABRIC_NONE &&
		arrives(search, from, search->last_goal))
		return search->last_goal;
	for (uint32_t i = 1; i < N_LIDS && n_tried < MAX_GOALS_OF_HOST; i++) {
		uint32_t to = search->port_of_lid[i];

		if (to == TRIAD_FABRIC_NONE)
			continue;
		n_tried++;
		if (arrives(search, from, to)) {
			search->last_goal = to;
			return to;
		}
	}
	return TRIAD_FABRIC_NONE;
}

static void look_at_host(struct search *search, uint32_t node)
{
	const struct triad_fabric_node *at = &search->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		uint16_t sls = triad_desired_dead(search->desired, i, 0) & search->sls;
		uint32_t to = TRIAD_FABRIC_NONE;

		if (sls && is_end(search->fabric, i))
			to = find_goal(search, i);
		if (to != TRIAD_FABRIC_NONE)
			add_place(search, sls,
				&(struct triad_setup_path){
					.from = i, .to = to, .port = i});
	}
}

/* --- switches --- */

/* A host at that switch, or TRIAD_FABRIC_NONE. */
static uint32_t find_host(struct search *search, uint32_t node)
{
	const struct triad_fabric_node *at = &search->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		uint32_t far = search->fabric->ports[i].remote;

		search->tries -= search->tries > 0;
		if (far != TRIAD_FABRIC_NONE && is_end(search->fabric, far))
			return far;
	}
	return TRIAD_FABRIC_NONE;
}

/* A switch that sends packets to 'lid' to this one; or TRIAD_FABRIC_NONE. */
static uint32_t step_back(struct search *search, uint32_t node, uint16_t lid)
{
	const struct triad_fabric_node *at = &search->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		uint32_t far = search->fabric->ports[i].remote;

		search->tries -= search->tries > 0;
		if (far != TRIAD_FABRIC_NONE &&
			triad_routes_out_port(search->fabric,
				search->fabric->ports[far].node, lid) == far)
			return search->fabric->ports[far].node;
	}
	return TRIAD_FABRIC_NONE;
}

/* A source of packets to 'lid' that pass switch 'node': a host if one is near enough,
 * else port 0 of the switch itself.  That can't be the port of 'lid', because the
 * packets go on from this switch. */
static uint32_t find_source(struct search *search, uint32_t node, uint16_t lid)
{
	uint32_t port0 = triad_fabric_find_port(search->fabric, node, 0);

	for (unsigned n = 0; n < MAX_STEPS_BACK && node != TRIAD_FABRIC_NONE; n++) {
		uint32_t host = find_host(search, node);

		if (host != TRIAD_FABRIC_NONE)
			return host;
		node = step_back(search, node, lid);
	}
	return port0 != TRIAD_FABRIC_NONE && is_end(search->fabric, port0)
		? port0
		: TRIAD_FABRIC_NONE;
}

/* The source of a path to 'lid' that enters the switch by 'in_port', or
 * TRIAD_FABRIC_NONE. */
static uint32_t comes_in(struct search *search, uint32_t node, unsigned in_port,
	uint16_t lid, uint32_t to)
{
	const struct triad_fabric *fabric = search->fabric;
	uint32_t in = triad_fabric_find_port(fabric, node, in_port), far;

	if (in == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	if (!in_port)
		return in != to && is_end(fabric, in) ? in : TRIAD_FABRIC_NONE;
	far = fabric->ports[in].remote;
	if (far == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	if (fabric->nodes[fabric->ports[far].node].type != TRIAD_NODE_SWITCH)
		return far != to && is_end(fabric, far) ? far : TRIAD_FABRIC_NONE;
	if (triad_routes_out_port(fabric, fabric->ports[far].node, lid) != far)
		return TRIAD_FABRIC_NONE;
	return find_source(search, fabric->ports[far].node, lid);
}

/* Packets to 'lid' leave by 'out': finds by which of the dead in-ports they enter. */
static void look_at_lid(
	struct search *search, uint32_t out, uint16_t lid, struct numbers *dead)
{
	uint32_t node = search->fabric->ports[out].node, to = search->port_of_lid[lid];

	for (unsigned i = 0; i < TRIAD_SCOPES_MAX_PORTS / 64; i++)
		for (uint64_t left = dead->words[i]; left && search->tries;
			left &= left - 1) {
			unsigned in = i * 64 + (unsigned)__builtin_ctzll(left);
			uint32_t from = comes_in(search, node, in, lid, to);
			uint16_t sls;

			search->tries -= search->tries > 0;
			if (from == TRIAD_FABRIC_NONE)
				continue;
			/* From here on the path is the same for all in-ports. */
			if (!triad_routes_follow_from(search->desired, out, in, to, lid)
					.arrives)
				return;
			dead->words[i] &= ~(left & -left);
			sls = triad_desired_dead(search->desired, out, in) &
				search->sls;
			add_place(search, sls,
				&(struct triad_setup_path){.from = from,
					.to = to,
					.port = out,
					.in_port = (uint8_t)in});
		}
}

static bool is_none(const struct numbers *numbers)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TRIAD_SCOPES_MAX_PORTS / 64; i++)
		any |= numbers->words[i];
	return !any;
}

static void look_at_switch(struct search *search, uint32_t node)
{
	const struct triad_fabric_node *at = &search->fabric->nodes[node];

	/* First the dead places of each out-port. */
	memset(search->dead, 0, sizeof(search->dead));
	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		struct numbers *dead = &search->dead[search->fabric->ports[i].number];

		for (unsigned in = 0; in < search->desired->nodes[node].n_numbers; in++)
			if (triad_desired_dead(search->desired, i, in) & search->sls)
				dead->words[in / 64] |= UINT64_C(1) << in % 64;
	}
	/* Then the LIDs that leave by one of them, until all places are found. */
	search->tries = search->max_tries;
	for (uint32_t lid = 1; lid < at->lft.n && lid < N_LIDS && search->tries;
		lid++) {
		unsigned number = search->fabric->lft[at->lft.at + lid];
		uint32_t out;

		if (search->port_of_lid[lid] == TRIAD_FABRIC_NONE ||
			is_none(&search->dead[number]))
			continue;
		out = triad_fabric_find_port(search->fabric, node, number);
		if (out != TRIAD_FABRIC_NONE)
			look_at_lid(search, out, (uint16_t)lid, &search->dead[number]);
	}
}

/* --- dead places --- */

static bool has_dead(const struct search *search, uint32_t node)
{
	const struct triad_fabric_node *at = &search->fabric->nodes[node];
	const struct triad_desired *desired = search->desired;

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		uint32_t first = desired->ports[i].first_row;
		unsigned n = triad_desired_n_rows(desired, i);

		for (unsigned r = 0; first != TRIAD_FABRIC_NONE && r < n; r++)
			if (desired->rows[first + r].dead & search->sls)
				return true;
	}
	return false;
}

static int know_lids(struct search *search)
{
	const struct triad_fabric *fabric = search->fabric;

	search->port_of_lid = malloc(N_LIDS * sizeof(*search->port_of_lid));
	if (!search->port_of_lid)
		return ENOMEM;
	memset(search->port_of_lid, 0xff, N_LIDS * sizeof(*search->port_of_lid));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint32_t end = port->lid + (1u << (port->lmc & 7));

		if (!is_end(fabric, i))
			continue;
		for (uint32_t lid = port->lid; lid < end && lid < N_LIDS; lid++)
			search->port_of_lid[lid] = i;
	}
	return 0;
}

static void look_at_nodes(struct search *search)
{
	const struct triad_fabric *fabric = search->fabric;
	uint16_t sls = search->desired->dead & search->sls;
	unsigned n_sls = (unsigned)__builtin_popcount(sls);
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		n += has_dead(search, i);
	if (!n)
		return;
	/* Give each node and each SL its share of the examples, so that they are
	 * diverse; and each node its share of the tries. */
	for (unsigned sl = 0; sl < 16; sl++)
		search->of_sl[sl] = (TRIAD_SETUP_MAX_PATHS + n_sls - 1) / n_sls;
	search->max_of_node = (TRIAD_SETUP_MAX_PATHS + n - 1) / n;
	search->max_tries =
		TRIES / n > MIN_TRIES_OF_NODE ? TRIES / n : MIN_TRIES_OF_NODE;
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		if (!has_dead(search, i))
			continue;
		search->of_node = search->max_of_node;
		memset(search->shown, 0, sizeof(search->shown));
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH)
			look_at_switch(search, i);
		else
			look_at_host(search, i);
	}
}

static int find_dead_places(
	const struct triad_desired *desired, struct triad_setup_plan *plan)
{
	struct search *search;
	uint16_t sls = triad_setup_sls_in_use(desired);
	int error;

	if (!(desired->dead & sls))
		return 0;
	search = calloc(1, sizeof(*search));
	plan->paths = calloc(TRIAD_SETUP_MAX_PATHS, sizeof(*plan->paths));
	if (!search || !plan->paths) {
		free(search);
		return ENOMEM;
	}
	*search = (struct search){.desired = desired,
		.fabric = desired->fabric,
		.plan = plan,
		.sls = sls,
		.last_goal = TRIAD_FABRIC_NONE};
	error = know_lids(search);
	if (!error)
		look_at_nodes(search);
	free(search->port_of_lid);
	free(search);
	return error;
}

/* --- the SM's own paths --- */

/* The SLs of MADs: requests of the SM to the port, and of the port to the SM; answers
 * use the SL of their request. */
static uint16_t sls_of_mads(const struct triad_fabric_port *port)
{
	return (uint16_t)(1u << (port->sl & 0xf) | 1u << (port->sm_sl & 0xf));
}

/* Whether the policy cuts the port off.  False if OpenSM's own tables drop these
 * packets, too. */
static bool is_cut_off(const struct triad_desired *desired, uint32_t port)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];
	uint32_t sm_port = desired->fabric->sm_port;
	struct triad_setup_route there, back;

	there = triad_routes_follow(desired, sm_port, port, at->lid);
	back = triad_routes_follow(
		desired, port, sm_port, desired->fabric->ports[sm_port].lid);
	return there.arrives && back.arrives &&
		(there.dead_by_scope | back.dead_by_scope) & sls_of_mads(at);
}

static void guard(const struct triad_desired *desired, struct triad_setup_plan *plan)
{
	const struct triad_fabric *fabric = desired->fabric;

	plan->first_cut_off = TRIAD_FABRIC_NONE;
	if (!desired->dead || fabric->sm_port == TRIAD_FABRIC_NONE)
		return;
	/* Following two paths for each port is costly: do it last, and only if an SL of
	 * the port's MADs is dead anywhere. */
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (!(desired->dead & sls_of_mads(&fabric->ports[i])) ||
			i == fabric->sm_port || !is_end(fabric, i) ||
			!is_cut_off(desired, i))
			continue;
		if (!plan->n_cut_off++)
			plan->first_cut_off = i;
	}
}

int triad_setup_follow_paths(
	const struct triad_desired *desired, struct triad_setup_plan *plan)
{
	guard(desired, plan);
	return find_dead_places(desired, plan);
}
