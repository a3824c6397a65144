/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/reroute/reroute_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/physp.h"
#include "routes/path.h"

/* A switch answers in a millisecond or two. */
#define TIMEOUT_MS 30u

/* Ports to be read, of one or several switches. */
struct asked {
	size_t n;
	uint32_t ports[REROUTE_MAX_LINKS];
	struct triad_smp_route routes[REROUTE_MAX_LINKS];
	struct triad_smp_item items[REROUTE_MAX_LINKS];
};

static uint32_t far_of(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->ports[port].remote;
}

static bool is_between_switches(const struct triad_fabric *fabric, uint32_t port)
{
	uint32_t far = far_of(fabric, port);

	return far != TRIAD_FABRIC_NONE &&
		fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH &&
		fabric->nodes[fabric->ports[far].node].type == TRIAD_NODE_SWITCH;
}

/* Its switch is reached by 'path'.  One without room, or unknown to OpenSM, is left out. */
static void add_port(struct reroute_loss *loss, const struct triad_route *path,
	uint32_t port, struct asked *asked)
{
	const struct triad_fabric *fabric = loss->fabric;
	uint32_t node = fabric->ports[port].node;
	struct triad_smp_route *route = &asked->routes[asked->n];

	if (asked->n == REROUTE_MAX_LINKS)
		return;
	*route = (struct triad_smp_route){.path = *path};
	if (!triad_physp_find_m_key(
		    loss->rerouter->osm, fabric->nodes[node].guid, 0, &route->m_key))
		return;
	asked->ports[asked->n] = port;
	asked->items[asked->n++] = (struct triad_smp_item){
		.route = route, .modifier = fabric->ports[port].number};
}

/* Those from 'first' on. */
static void ask_ports(struct reroute_loss *loss, struct asked *asked, size_t first)
{
	const struct triad_smp_request request = {
		.attribute = TRIAD_SMP_PORT_INFO, .timeout_ms = TIMEOUT_MS};

	(void)triad_smp_ask_all(loss->smp, &request, asked->items + first,
		asked->n - first, NULL, NULL);
}

static bool has_answered(const struct asked *asked, size_t i)
{
	return !asked->items[i].error;
}

static bool is_down(const struct asked *asked, size_t i)
{
	const void *info = asked->items[i].data;

	return has_answered(asked, i) &&
		ib_port_info_get_port_state(info) == IB_LINK_DOWN;
}

static bool is_lost(const struct reroute_loss *loss, uint32_t port)
{
	for (uint32_t i = 0; i < loss->report->n_links; i++)
		if (loss->ports[i] == port ||
			far_of(loss->fabric, loss->ports[i]) == port)
			return true;
	return false;
}

static void lose(struct reroute_loss *loss, uint32_t port)
{
	struct triad_reroute *report = loss->report;
	const struct triad_fabric_port *near = &loss->fabric->ports[port],
				       *far = &loss->fabric->ports[near->remote];

	if (is_lost(loss, port) || report->n_links == REROUTE_MAX_LINKS)
		return;
	if (report->n_links < TRIAD_REROUTE_N_SHOWN)
		report->links[report->n_links] = (struct triad_reroute_link){
			.guid = loss->fabric->nodes[near->node].guid,
			.number = near->number,
			.far_guid = loss->fabric->nodes[far->node].guid,
			.far_number = far->number};
	loss->ports[report->n_links++] = port;
}

struct triad_routes_out *reroute_find_routes(
	const struct reroute_loss *loss, uint32_t port, uint32_t node)
{
	const struct triad_fabric *fabric = loss->fabric;
	bool *avoided = calloc(fabric->n_ports + 1, sizeof(*avoided));
	struct triad_routes_out *out = NULL;

	if (!avoided)
		return NULL;
	for (uint32_t i = 0; i < loss->report->n_links; i++)
		avoided[loss->ports[i]] = true;
	if (port != TRIAD_FABRIC_NONE)
		avoided[port] = true;
	for (uint32_t i = 0;
		node != TRIAD_FABRIC_NONE && i < fabric->nodes[node].n_ports; i++)
		avoided[fabric->nodes[node].first_port + i] = true;
	out = triad_routes_out_new(fabric, avoided);
	free(avoided);
	return out;
}

/* The way to a switch that its trap has just come by, in the tables' view: so none of its links
 * is lost.  '*last' is the switch's port at its end.  False: the tables have none. */
static bool find_way_back(const struct reroute_loss *loss, uint32_t node,
	struct triad_route *way, uint32_t *last)
{
	const struct triad_fabric *fabric = loss->fabric;
	struct triad_routes_path path;
	uint32_t n;

	if (fabric->sm_port == TRIAD_FABRIC_NONE)
		return false;
	triad_routes_path_find(loss->check->layout, fabric->nodes[node].first_port,
		fabric->sm_port, fabric->ports[fabric->sm_port].lid, 0, &path);
	/* A switch's port 0 leads to the SM on it. */
	n = path.n_hops - !path.hops[path.n_hops - 1].number;
	if (path.end != TRIAD_ROUTES_ARRIVES || n > TRIAD_ROUTE_MAX_HOPS)
		return false;
	*way = (struct triad_route){.n_hops = (uint8_t)n};
	for (uint32_t i = 0; i < n; i++)
		way->ports[n - i] =
			fabric->ports[far_of(fabric, path.hops[i].port)].number;
	*last = n ? path.hops[0].port : TRIAD_FABRIC_NONE;
	return true;
}

/* Asks for the switch's links to others: for one first, since many that are not answered take
 * long.  Returns false: it does not answer. */
static bool ask_links_of(struct reroute_loss *loss, const struct triad_route *path,
	uint32_t node, struct asked *asked)
{
	const struct triad_fabric_node *of = &loss->fabric->nodes[node];
	uint32_t port = of->first_port, end = port + of->n_ports;

	asked->n = 0;
	while (port < end && !asked->n)
		if (is_between_switches(loss->fabric, port++))
			add_port(loss, path, port - 1, asked);
	ask_ports(loss, asked, 0);
	if (!asked->n || !has_answered(asked, 0))
		return false;
	for (; port < end; port++)
		if (is_between_switches(loss->fabric, port))
			add_port(loss, path, port, asked);
	ask_ports(loss, asked, 1);
	return true;
}

/* Reads the links of the switch that sent the trap; if the tables' way does not lead there, by
 * another one. */
static bool read_sender(struct reroute_loss *loss, uint32_t node, struct asked *asked)
{
	uint32_t last = TRIAD_FABRIC_NONE;
	struct triad_routes_out *out;
	struct triad_route path;
	bool is_read;

	if (find_way_back(loss, node, &path, &last) &&
		ask_links_of(loss, &path, node, asked))
		return true;
	out = reroute_find_routes(loss, last, TRIAD_FABRIC_NONE);
	is_read = out && !triad_routes_out_read(out, node, &path) &&
		ask_links_of(loss, &path, node, asked);
	triad_routes_out_free(out);
	return is_read;
}

/* The switch at the other end, if it is one and the same. */
static uint32_t find_far_switch(const struct reroute_loss *loss)
{
	uint32_t found = TRIAD_FABRIC_NONE;

	for (uint32_t i = 0; i < loss->report->n_links; i++) {
		uint32_t node =
			loss->fabric->ports[far_of(loss->fabric, loss->ports[i])].node;

		if (found != TRIAD_FABRIC_NONE && found != node)
			return TRIAD_FABRIC_NONE;
		found = node;
	}
	return found;
}

/* Adds the links of the switch 'node' that can be asked for at their other ends, not through
 * it, or those that can't be. */
static void add_links_to(struct reroute_loss *loss,
	const struct triad_routes_out *around, const struct triad_routes_out *out,
	uint32_t node, struct asked *asked)
{
	const struct triad_fabric_node *of = &loss->fabric->nodes[node];
	struct triad_route route;

	asked->n = 0;
	for (uint32_t i = 0; i < of->n_ports; i++) {
		uint32_t port = of->first_port + i, far = far_of(loss->fabric, port);
		bool is_before;

		if (!is_between_switches(loss->fabric, port) || is_lost(loss, port))
			continue;
		is_before = !triad_routes_out_read(
			around, loss->fabric->ports[far].node, &route);
		if (is_before && !out)
			add_port(loss, &route, far, asked);
		if (!is_before && out && !triad_routes_out_read(out, node, &route))
			add_port(loss, &route, port, asked);
	}
}

/* Asks for them, and takes what is down as lost.  Returns false: one did not answer. */
static bool ask_for_lost(struct reroute_loss *loss, struct asked *asked)
{
	bool do_all_answer = true;

	ask_ports(loss, asked, 0);
	for (size_t i = 0; i < asked->n; i++)
		do_all_answer &= has_answered(asked, i);
	for (size_t i = 0; do_all_answer && i < asked->n; i++)
		if (is_down(asked, i))
			lose(loss, asked->ports[i]);
	return do_all_answer;
}

static void lose_links_of(struct reroute_loss *loss, uint32_t node)
{
	const struct triad_fabric_node *of = &loss->fabric->nodes[node];

	for (uint32_t i = 0; i < of->n_ports; i++)
		if (is_between_switches(loss->fabric, of->first_port + i))
			lose(loss, of->first_port + i);
	loss->report->is_switch = true;
}

/* What else was lost there: its other links, or all of it.  Its neighbours are asked, not
 * through it, since a switch that is lost does not answer.  If none of them sees it, it is lost,
 * and those behind it with it; else it is asked for the links to these, and to all where none can
 * be asked so, as around the SM's own. */
static const char *read_far_end(
	struct reroute_loss *loss, uint32_t node, struct asked *asked)
{
	static const char silent[] =
		"not all neighbours of a switch with lost links answer";
	struct triad_routes_out *around = reroute_find_routes(
					loss, TRIAD_FABRIC_NONE, node),
				*out;
	uint32_t n_before = loss->report->n_links;
	const char *why = NULL;

	if (!around)
		return REROUTE_NO_MEMORY;
	add_links_to(loss, around, NULL, node, asked);
	if (!ask_for_lost(loss, asked)) {
		why = silent;
	} else if (asked->n && loss->report->n_links - n_before == asked->n) {
		lose_links_of(loss, node);
	} else {
		out = reroute_find_routes(loss, TRIAD_FABRIC_NONE, TRIAD_FABRIC_NONE);
		if (out)
			add_links_to(loss, around, out, node, asked);
		why = !out                          ? REROUTE_NO_MEMORY
			: ask_for_lost(loss, asked) ? NULL
						    : silent;
		triad_routes_out_free(out);
	}
	triad_routes_out_free(around);
	return why;
}

const char *reroute_find(struct reroute_loss *loss, uint32_t node)
{
	struct asked *asked = calloc(1, sizeof(*asked));
	const char *why = NULL;

	if (!asked)
		return REROUTE_NO_MEMORY;
	if (read_sender(loss, node, asked)) {
		for (size_t i = 0; i < asked->n; i++)
			if (is_down(asked, i))
				lose(loss, asked->ports[i]);
		node = find_far_switch(loss);
	}
	/* A switch that told of its first lost link may be gone. */
	if (node != TRIAD_FABRIC_NONE)
		why = read_far_end(loss, node, asked);
	free(asked);
	return why;
}
