/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/slow_links.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "lib/text.h"

/* So many links alike are enough to judge one of them by the others. */
#define ENOUGH_TO_COMPARE 3u
/* Ends could do better: a fault where one link of so many alike does. */
#define ONE_IN_MANY 4u

#define NO_CLASS 0u
#define CLASS_OF_HOSTS 1u
#define CLASS_BETWEEN(low, high) (UINT32_C(1) << 16 | (uint32_t)(low) << 8 | (high))
#define MAX_LEVEL 255u

/* What a link is compared with. */
struct peers {
	uint32_t n;        /* with itself; 0: nothing */
	uint32_t n_faster; /* of these */
	struct triad_link_rate
		median; /* what more than half run at, or are faster than */
	struct triad_link_rate most;
};

struct link {
	uint32_t port, far; /* indices; 'port' is lower */
	uint32_t class;
	uint32_t leaf; /* of a host's link: the switch; else TRIAD_FABRIC_NONE */
	uint64_t bps;
	struct peers parallel, alike, at_leaf, all;
};

struct search {
	const struct triad_fabric *fabric;
	struct link *links;
	uint32_t n, n_unknown;
	uint8_t *levels;   /* of each node; 0: none */
	uint64_t *fastest; /* of each node: of its links, in bits per second */
	uint32_t *queue;
	struct member *members;
};

/* --- levels --- */

static const struct triad_fabric_node *node_of(
	const struct triad_fabric *fabric, uint32_t port)
{
	return &fabric->nodes[fabric->ports[port].node];
}

static bool is_switch(const struct triad_fabric *fabric, uint32_t port)
{
	return node_of(fabric, port)->type == TRIAD_NODE_SWITCH;
}

static bool is_host(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_node *node = node_of(fabric, port);

	return node->type == TRIAD_NODE_CA && !triad_fabric_is_aggregation_node(node);
}

/* Gives level 1 to switches with hosts, and each other one a level above its lowest
 * neighbour. */
static void find_levels(struct search *search)
{
	const struct triad_fabric *fabric = search->fabric;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (port->remote == TRIAD_FABRIC_NONE || !is_switch(fabric, i) ||
			!is_host(fabric, port->remote) || search->levels[port->node])
			continue;
		search->levels[port->node] = 1;
		search->queue[n++] = port->node;
	}
	for (uint32_t done = 0; done < n; done++) {
		const struct triad_fabric_node *node =
			&fabric->nodes[search->queue[done]];
		uint8_t level = search->levels[search->queue[done]];

		for (uint32_t i = 0; i < node->n_ports; i++) {
			uint32_t far = fabric->ports[node->first_port + i].remote;

			if (far == TRIAD_FABRIC_NONE || !is_switch(fabric, far) ||
				search->levels[fabric->ports[far].node])
				continue;
			search->levels[fabric->ports[far].node] =
				level < MAX_LEVEL ? (uint8_t)(level + 1) : level;
			search->queue[n++] = fabric->ports[far].node;
		}
	}
}

/* --- links --- */

static uint32_t class_of(const struct search *search, uint32_t port, uint32_t far)
{
	const struct triad_fabric *fabric = search->fabric;
	uint8_t a = search->levels[fabric->ports[port].node];
	uint8_t b = search->levels[fabric->ports[far].node];

	if (is_switch(fabric, port) && is_switch(fabric, far))
		return a < b ? CLASS_BETWEEN(a, b) : CLASS_BETWEEN(b, a);
	if (is_switch(fabric, port) ? is_host(fabric, far)
				    : is_switch(fabric, far) && is_host(fabric, port))
		return CLASS_OF_HOSTS;
	return NO_CLASS;
}

static void note_fastest(struct search *search, uint32_t port, uint64_t bps)
{
	uint64_t *fastest = &search->fastest[search->fabric->ports[port].node];

	*fastest = bps > *fastest ? bps : *fastest;
}

static void add_link(struct search *search, uint32_t port, uint32_t far)
{
	const struct triad_fabric *fabric = search->fabric;
	struct link *link = &search->links[search->n];

	*link = (struct link){.port = port,
		.far = far,
		.class = class_of(search, port, far),
		.leaf = TRIAD_FABRIC_NONE,
		.bps = triad_fabric_port_bps(&fabric->ports[port])};
	if (!link->bps) {
		search->n_unknown++;
		return;
	}
	if (link->class == CLASS_OF_HOSTS)
		link->leaf = fabric->ports[is_switch(fabric, port) ? port : far].node;
	/* The link of an aggregation node is inside its switch. */
	if (link->class != NO_CLASS) {
		note_fastest(search, port, link->bps);
		note_fastest(search, far, link->bps);
	}
	search->n++;
}

static void find_links(struct search *search)
{
	const struct triad_fabric *fabric = search->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE &&
			fabric->ports[i].remote > i &&
			triad_fabric_port_passes_smps(&fabric->ports[i]))
			add_link(search, i, fabric->ports[i].remote);
}

/* --- comparing --- */

struct member {
	uint64_t group, bps;
	uint32_t link;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->bps != y->bps)
		return x->bps < y->bps ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

static struct triad_link_rate rate_of(const struct search *search, uint32_t link)
{
	return triad_link_rate_active(&search->fabric->ports[search->links[link].port]);
}

/* Fills the peers, 'offset' octets into each link, of one group: 'n' members by rate. */
static void compare_group(const struct search *search, const struct member *members,
	uint32_t n, size_t offset)
{
	struct peers peers = {.n = n,
		.median = rate_of(search, members[n / 2].link),
		.most = rate_of(search, members[n - 1].link)};

	for (uint32_t i = n; i-- > 0;) {
		if (i + 1 < n && members[i].bps < members[i + 1].bps)
			peers.n_faster = n - 1 - i;
		*(struct peers *)((char *)&search->links[members[i].link] + offset) =
			peers;
	}
}

/* Compares links of the same group; 'group_of' gives 0 for one that is in none. */
static void compare_links(const struct search *search,
	uint64_t (*group_of)(const struct search *, const struct link *), size_t offset)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < search->n; i++) {
		uint64_t group = group_of(search, &search->links[i]);

		if (group)
			search->members[n++] =
				(struct member){group, search->links[i].bps, i};
	}
	qsort(search->members, n, sizeof(*search->members), compare_members);
	for (uint32_t i = 1; i <= n; i++)
		if (i == n ||
			search->members[i].group != search->members[first].group) {
			compare_group(
				search, &search->members[first], i - first, offset);
			first = i;
		}
}

static uint64_t pair_of(const struct search *search, const struct link *link)
{
	const struct triad_fabric_port *ports = search->fabric->ports;

	if (!is_switch(search->fabric, link->port) ||
		!is_switch(search->fabric, link->far))
		return 0;
	return (uint64_t)(ports[link->port].node + 1) << 32 | ports[link->far].node;
}

static uint64_t class_as_group(const struct search *search, const struct link *link)
{
	(void)search;
	return link->class;
}

static uint64_t leaf_of(const struct search *search, const struct link *link)
{
	(void)search;
	return link->leaf == TRIAD_FABRIC_NONE ? 0 : (uint64_t)link->leaf + 1;
}

static uint64_t any_group(const struct search *search, const struct link *link)
{
	(void)search;
	(void)link;
	return 1;
}

/* --- judging --- */

static bool are_most_faster(const struct peers *peers)
{
	return peers->n >= ENOUGH_TO_COMPARE &&
		2 * (uint64_t)peers->n_faster > peers->n;
}

static uint64_t best_bps(const struct search *search, const struct link *link)
{
	return triad_link_rate_bps(triad_link_rate_best(
		&search->fabric->ports[link->port], &search->fabric->ports[link->far]));
}

/* Whether an end is too slow for 'bps'.  All ports of a switch are alike, so the links of a
 * switch show what its ports can; a host's port says so itself, or it is not known. */
static bool is_end_slower(
	const struct search *search, const struct link *link, uint64_t bps)
{
	const struct triad_fabric_port *ports = search->fabric->ports;
	uint64_t best = best_bps(search, link);

	if (best >= bps)
		return false;
	if (link->class == CLASS_OF_HOSTS)
		return best && best <= link->bps;
	return search->fastest[ports[link->port].node] < bps ||
		search->fastest[ports[link->far].node] < bps;
}

/* Whether nearly no link alike is faster. */
static bool are_few_faster(const struct link *link)
{
	const struct peers *peers =
		link->alike.n >= ONE_IN_MANY ? &link->alike : &link->all;

	return !peers->n_faster || ONE_IN_MANY * (uint64_t)peers->n_faster < peers->n;
}

/* Whether somebody set the port to no more than its link runs at, though it supports more.
 * Such links are as they are meant to be. */
static bool is_limited(const struct triad_fabric_port *port, uint64_t bps)
{
	return triad_link_rate_bps(triad_link_rate_enabled(port)) == bps &&
		triad_link_rate_bps(triad_link_rate_best(port, port)) > bps;
}

/* Returns false for a link that is not slow. */
static bool judge_link(const struct search *search, const struct link *link,
	struct triad_slow_link *slow)
{
	const struct triad_fabric_port *ports = search->fabric->ports;
	bool is_of_slow_leaf = link->at_leaf.n >= ENOUGH_TO_COMPARE &&
		!are_most_faster(&link->at_leaf);

	*slow = (struct triad_slow_link){.port = link->port,
		.class = link->class,
		.rate = triad_link_rate_active(&ports[link->port])};
	if (link->parallel.n_faster) {
		slow->kind = TRIAD_SLOW_BELOW_PARALLEL;
		slow->expected = link->parallel.most;
	} else if (are_most_faster(&link->alike) && !is_of_slow_leaf) {
		slow->kind = TRIAD_SLOW_BELOW_ALIKE;
		slow->expected = link->alike.median;
		slow->is_note = is_end_slower(
			search, link, triad_link_rate_bps(slow->expected));
	} else if (best_bps(search, link) > link->bps) {
		slow->kind = TRIAD_SLOW_BELOW_ENDS;
		slow->expected =
			triad_link_rate_best(&ports[link->port], &ports[link->far]);
		slow->is_note = are_few_faster(link);
	} else {
		return false;
	}
	slow->is_limited = is_limited(&ports[link->port], link->bps) ||
		is_limited(&ports[link->far], link->bps);
	slow->is_note |= slow->is_limited;
	slow->ratio = (double)link->bps / (double)triad_link_rate_bps(slow->expected);
	return true;
}

static int compare_slow(const void *a, const void *b)
{
	const struct triad_slow_link *x = a, *y = b;

	if (x->is_note != y->is_note)
		return x->is_note ? 1 : -1;
	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

static struct triad_slow_links *judge_all(const struct search *search)
{
	struct triad_slow_links *shrunk,
		*slow = malloc(sizeof(*slow) +
			((size_t)search->n + 1) * sizeof(struct triad_slow_link));

	if (!slow)
		return NULL;
	*slow = (struct triad_slow_links){.n_unknown = search->n_unknown};
	for (uint32_t i = 0; i < search->n; i++)
		if (judge_link(search, &search->links[i], &slow->links[slow->n]))
			slow->n_notes += slow->links[slow->n++].is_note;
	qsort(slow->links, slow->n, sizeof(slow->links[0]), compare_slow);
	shrunk =
		realloc(slow, sizeof(*slow) + slow->n * sizeof(struct triad_slow_link));
	return shrunk ? shrunk : slow;
}

struct triad_slow_links *triad_slow_links_find(const struct triad_fabric *fabric)
{
	size_t n_links = (size_t)fabric->n_ports / 2 + 1, n_nodes = fabric->n_nodes + 1;
	struct search search = {.fabric = fabric,
		.links = malloc(n_links * sizeof(*search.links)),
		.members = malloc(n_links * sizeof(*search.members)),
		.levels = calloc(n_nodes, sizeof(*search.levels)),
		.fastest = calloc(n_nodes, sizeof(*search.fastest)),
		.queue = malloc(n_nodes * sizeof(*search.queue))};
	struct triad_slow_links *slow = NULL;

	if (search.links && search.members && search.levels && search.fastest &&
		search.queue) {
		find_levels(&search);
		find_links(&search);
		compare_links(&search, pair_of, offsetof(struct link, parallel));
		compare_links(&search, class_as_group, offsetof(struct link, alike));
		compare_links(&search, leaf_of, offsetof(struct link, at_leaf));
		compare_links(&search, any_group, offsetof(struct link, all));
		slow = judge_all(&search);
	}
	free(search.links);
	free(search.members);
	free(search.levels);
	free(search.fastest);
	free(search.queue);
	return slow;
}

/* --- words --- */

const char *triad_slow_link_kind_name(unsigned kind)
{
	static const char *const names[TRIAD_SLOW_N_KINDS] = {
		"parallel", "alike", "ends"};

	return kind < TRIAD_SLOW_N_KINDS ? names[kind] : NULL;
}

const char *triad_slow_link_kind_text(unsigned kind)
{
	static const char *const texts[TRIAD_SLOW_N_KINDS] = {
		"a link parallel to it runs at", "most links alike run at",
		"both ends can"};

	return kind < TRIAD_SLOW_N_KINDS ? texts[kind] : "";
}

void triad_slow_link_append(struct triad_link_rate rate,
	struct triad_link_rate expected, unsigned kind, uint64_t n, char *text,
	size_t size)
{
	char is[16], could[16];

	triad_link_rate_format(rate, is, sizeof(is));
	triad_link_rate_format(expected, could, sizeof(could));
	if (n > 1)
		triad_text_append(text, size,
			"slow links: %" PRIu64 " run at %s, this among them", n, is);
	else
		triad_text_append(text, size, "slow link: it runs at %s", is);
	triad_text_append(
		text, size, "; %s %s", triad_slow_link_kind_text(kind), could);
}
