/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/losses.h"

#include <errno.h>
#include <stdlib.h>

/* Both are sorted by node GUID and port number: one walk over the two. */
void triad_losses_match_ports(const struct triad_fabric *old,
	const struct triad_fabric *new, uint32_t *new_port)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < old->n_ports; i++) {
		uint64_t guid = old->nodes[old->ports[i].node].guid;
		uint8_t number = old->ports[i].number;

		while (j < new->n_ports &&
			(new->nodes[new->ports[j].node].guid < guid ||
				(new->nodes[new->ports[j].node].guid ==
					guid &&new->ports[j].number < number)))
			j++;
		new_port[i] = TRIAD_FABRIC_NONE;
		if (j < new->n_ports &&new->nodes[new->ports[j].node].guid ==
			guid &&new->ports[j].number == number)
			new_port[i] = j;
	}
}

enum node_state { STAYED, GONE, GONE_AND_TAKEN };

struct search {
	const struct triad_fabric *old, *new;
	const uint32_t *new_port;
	uint8_t *nodes;  /* for each old node: enum node_state */
	uint32_t *queue; /* gone nodes of the present part */
	uint32_t n_queued;
	uint32_t *ends; /* ports that stayed at its edge */
	void (*take)(void *, const struct triad_loss *);
	void *context;
};

/* True when the port of the old fabric has a far end in the new one. */
static bool is_plugged(const struct search *search, uint32_t old_port)
{
	uint32_t port = search->new_port[old_port];

	return port != TRIAD_FABRIC_NONE &&
		search->new->ports[port].remote != TRIAD_FABRIC_NONE;
}

/* True when the port has a link that is up, whose far end the new fabric doesn't
 * show. */
static bool is_hidden(const struct search *search, uint32_t old_port)
{
	uint32_t port = search->new_port[old_port];

	return search->new->n_hidden &&port != TRIAD_FABRIC_NONE &&
		search->new->ports[port].remote == TRIAD_FABRIC_NONE &&
		search->new->ports[port].state >= TRIAD_PORT_INIT;
}

/* --- links between nodes that stayed --- */

static void look_at_link(struct search *search, uint32_t a)
{
	const struct triad_fabric_port *ports = search->old->ports;
	uint32_t b = ports[a].remote;
	struct triad_loss loss = {.near = a, .n_links = 1, .ends = &a};

	if (b == TRIAD_FABRIC_NONE || b < a)
		return; /* none, or seen from its other end */
	loss.far = b;
	/* A port that is plugged in elsewhere was moved, not lost. */
	if (search->nodes[ports[a].node] == STAYED &&
		search->nodes[ports[b].node] == STAYED && !is_plugged(search, a) &&
		!is_plugged(search, b) && !is_hidden(search, a) &&
		!is_hidden(search, b))
		search->take(search->context, &loss);
}

/* --- nodes that are gone --- */

static void look_at_port(struct search *search, const struct triad_fabric_port *port,
	uint32_t index, struct triad_loss *loss)
{
	uint32_t remote = port->remote, node;

	if (remote == TRIAD_FABRIC_NONE)
		return;
	node = search->old->ports[remote].node;
	if (search->nodes[node] == GONE) {
		search->nodes[node] = GONE_AND_TAKEN;
		search->queue[search->n_queued++] = node;
	}
	if (search->nodes[node] != STAYED || is_plugged(search, remote))
		return;
	if (!loss->n_links) {
		loss->near = remote;
		loss->far = index;
	}
	search->ends[loss->n_links++] = remote;
}

/* Whether the part may be there still, only hidden. */
static bool is_part_hidden(const struct search *search, const struct triad_loss *loss)
{
	bool is_there = search->new->n_hidden && !loss->n_links;

	for (uint32_t i = 0; i < loss->n_links && !is_there; i++)
		is_there = is_hidden(search, loss->ends[i]);
	return is_there;
}

/* Reports the part of gone nodes that 'node' belongs to. */
static void collect_part(struct search *search, uint32_t node)
{
	const struct triad_fabric *old = search->old;
	struct triad_loss loss = {
		.nodes_gone = true,
		.near = TRIAD_FABRIC_NONE,
		.far = old->nodes[node].first_port,
		.ends = search->ends,
	};

	search->n_queued = 0;
	search->nodes[node] = GONE_AND_TAKEN;
	search->queue[search->n_queued++] = node;
	for (uint32_t i = 0; i < search->n_queued; i++) {
		const struct triad_fabric_node *at = &old->nodes[search->queue[i]];

		for (uint32_t p = at->first_port; p < at->first_port + at->n_ports; p++)
			look_at_port(search, &old->ports[p], p, &loss);
	}
	loss.n_nodes = search->n_queued;
	loss.nodes = search->queue;
	if (is_part_hidden(search, &loss))
		return;
	search->take(search->context, &loss);
}

int triad_losses_find(const struct triad_fabric *old, const struct triad_fabric *new,
	const uint32_t *new_port, void (*take)(void *, const struct triad_loss *),
	void *context)
{
	struct search search = {
		.old = old,
		.new = new,
		.new_port = new_port,
		.nodes = calloc(old->n_nodes + 1, sizeof(uint8_t)),
		.queue = calloc(old->n_nodes + 1, sizeof(uint32_t)),
		.ends = calloc(old->n_ports + 1, sizeof(uint32_t)),
		.take = take,
		.context = context,
	};
	int error = search.nodes && search.queue && search.ends ? 0 : ENOMEM;

	/* A node without ports, which the SA's tables may have, is no loss. */
	for (uint32_t i = 0; !error && i < old->n_nodes; i++)
		if (old->nodes[i].n_ports &&
			triad_fabric_find_node(new, old->nodes[i].guid) ==
				TRIAD_FABRIC_NONE)
			search.nodes[i] = GONE;
	for (uint32_t i = 0; !error && i < old->n_ports; i++)
		look_at_link(&search, i);
	for (uint32_t i = 0; !error && i < old->n_nodes; i++)
		if (search.nodes[i] == GONE)
			collect_part(&search, i);
	free(search.nodes);
	free(search.queue);
	free(search.ends);
	return error;
}
