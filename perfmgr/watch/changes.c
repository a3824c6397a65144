/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/changes.h"

#include <errno.h>
#include <stdlib.h>

#include "perfmgr/watch/losses.h"

struct pair {
	const struct triad_fabric *old, *new;
	uint32_t *new_port, *old_port; /* of each port of the other fabric */
	const struct triad_changes_sink *sink;
};

/* The only port of a node that has a link; TRIAD_FABRIC_NONE: it has none, or more. */
static uint32_t only_link(const struct triad_fabric *fabric, uint32_t node)
{
	const struct triad_fabric_node *at = &fabric->nodes[node];
	uint32_t found = TRIAD_FABRIC_NONE;

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		if (fabric->ports[i].remote == TRIAD_FABRIC_NONE)
			continue;
		if (found != TRIAD_FABRIC_NONE)
			return TRIAD_FABRIC_NONE;
		found = i;
	}
	return found;
}

static void report_link(const struct pair *pair, enum triad_change change,
	const struct triad_fabric *fabric, uint32_t port)
{
	pair->sink->take(
		pair->sink->context, change, fabric, fabric->ports[port].node, port, 0);
}

static void report_node(const struct pair *pair, enum triad_change change,
	const struct triad_fabric *fabric, uint32_t node)
{
	pair->sink->take(
		pair->sink->context, change, fabric, node, only_link(fabric, node), 0);
}

/* --- losses --- */

static void take_loss(void *context, const struct triad_loss *loss)
{
	const struct pair *pair = context;

	for (uint32_t i = 0; loss->nodes_gone && i < loss->n_nodes; i++)
		report_node(pair, TRIAD_CHANGE_NODE_LEFT, pair->old, loss->nodes[i]);
	for (uint32_t i = 0; i < loss->n_links; i++) {
		uint32_t far = pair->old->ports[loss->ends[i]].remote;

		if (!loss->nodes_gone ||
			only_link(pair->old, pair->old->ports[far].node) ==
				TRIAD_FABRIC_NONE)
			report_link(
				pair, TRIAD_CHANGE_LINK_DOWN, pair->old, loss->ends[i]);
	}
}

/* --- additions --- */

static bool is_new_node(const struct pair *pair, uint32_t node)
{
	return triad_fabric_find_node(pair->old, pair->new->nodes[node].guid) ==
		TRIAD_FABRIC_NONE;
}

/* True when the port had a link in the old fabric whose far end the fabric did not
 * show. */
static bool was_hidden(const struct pair *pair, uint32_t port)
{
	uint32_t before = pair->old_port[port];

	return pair->old->n_hidden && before != TRIAD_FABRIC_NONE &&
		pair->old->ports[before].remote == TRIAD_FABRIC_NONE &&
		pair->old->ports[before].state >= TRIAD_PORT_INIT;
}

static void look_at_node(const struct pair *pair, uint32_t node)
{
	uint32_t port = only_link(pair->new, node);

	if (port == TRIAD_FABRIC_NONE ||
		!was_hidden(pair, pair->new->ports[port].remote))
		report_node(pair, TRIAD_CHANGE_NODE_CAME, pair->new, node);
}

/* Reports the link that a port of the new fabric had before, if its cable moved. */
static void look_at_old_link(const struct pair *pair, uint32_t port)
{
	uint32_t before = pair->old_port[port], far, far_now;

	if (before == TRIAD_FABRIC_NONE ||
		pair->old->ports[before].remote == TRIAD_FABRIC_NONE)
		return;
	far = pair->old->ports[before].remote;
	far_now = pair->new_port[far];
	/* When both ends moved, both calls see the old link: report it at one of
	 * them. */
	if (before < far || far_now == TRIAD_FABRIC_NONE ||
		pair->new->ports[far_now].remote == TRIAD_FABRIC_NONE)
		report_link(pair, TRIAD_CHANGE_LINK_DOWN, pair->old, before);
}

static void look_at_link(const struct pair *pair, uint32_t a)
{
	const struct triad_fabric_port *ports = pair->new->ports;
	uint32_t b = ports[a].remote, was_a, was_b;
	bool is_new_a, is_new_b;

	if (b == TRIAD_FABRIC_NONE || b < a)
		return; /* none, or seen from its other end */
	was_a = pair->old_port[a];
	was_b = pair->old_port[b];
	if (was_a != TRIAD_FABRIC_NONE && was_b != TRIAD_FABRIC_NONE &&
		pair->old->ports[was_a].remote == was_b)
		return;
	look_at_old_link(pair, a);
	look_at_old_link(pair, b);
	is_new_a = is_new_node(pair, ports[a].node);
	is_new_b = is_new_node(pair, ports[b].node);
	if ((is_new_a && is_new_b) || was_hidden(pair, a) || was_hidden(pair, b) ||
		(is_new_a && only_link(pair->new, ports[a].node) == a) ||
		(is_new_b && only_link(pair->new, ports[b].node) == b))
		return;
	report_link(pair, TRIAD_CHANGE_LINK_UP, pair->new, a);
}

static int compare_fabrics(struct pair *pair)
{
	int error;

	triad_losses_match_ports(pair->old, pair->new, pair->new_port);
	triad_losses_match_ports(pair->new, pair->old, pair->old_port);
	error = triad_losses_find(
		pair->old, pair->new, pair->new_port, take_loss, pair);
	if (error)
		return error;
	for (uint32_t i = 0; i < pair->new->n_nodes; i++)
		if (is_new_node(pair, i))
			look_at_node(pair, i);
	for (uint32_t i = 0; i < pair->new->n_ports; i++)
		look_at_link(pair, i);
	return 0;
}

int triad_changes_report(const struct triad_fabric *old, const struct triad_fabric *new,
	const struct triad_changes_sink *sink)
{
	struct pair pair = {
		.old = old,
		.new = new,
		.new_port = calloc((size_t)old->n_ports + 1, sizeof(uint32_t)),
		.old_port = calloc((size_t) new->n_ports + 1, sizeof(uint32_t)),
		.sink = sink,
	};
	int error = pair.new_port && pair.old_port ? compare_fabrics(&pair) : ENOMEM;

	free(pair.new_port);
	free(pair.old_port);
	return error;
}
