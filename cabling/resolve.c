/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the nodes of a plan's ends by GUID or name; see compare_parts.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cabling/compare_parts.h"
#include "ib/node_label.h"
#include "lib/grow.h"
#include "lib/search.h"

/* An end without a node. */
struct nameless {
	struct triad_cabling_end end;
	const char *name;
	uint32_t place; /* of the end, in 'ends'; NONE: it is no cable's */
	bool is_shared;
};

struct resolver {
	struct triad_cabling_work *work;
	const struct triad_fabric_node **by_name; /* the nodes, sorted by name */
	struct nameless *nameless;
	size_t n_nameless, room;
};

static int order_names(const void *a, const void *b)
{
	const struct triad_fabric_node *const *one = a, *const *other = b;
	int order = strcmp((*one)->name, (*other)->name);

	return order ? order : (*one > *other) - (*one < *other);
}

/* --- names ------------------------------------------------------------- */

static uint32_t node_index_of(const struct resolver *resolver, uint32_t at)
{
	return (uint32_t)(resolver->by_name[at] - resolver->work->fabric->nodes);
}

/* The node that a range of 'by_name' has alone; the plan means all nodes of a longer one. */
static uint32_t only_node(const struct resolver *resolver, uint32_t first, uint32_t end)
{
	if (first == end)
		return TRIAD_CABLING_NONE;
	if (end - first == 1)
		return node_index_of(resolver, first);
	for (uint32_t i = first; i < end; i++)
		resolver->work->node_flags[node_index_of(resolver, i)] |=
			TRIAD_CABLING_IS_SHARED;
	return TRIAD_CABLING_SHARED;
}

/* Nodes whose names begin with 'text' ('n' octets), or are that alone. */
static uint32_t find_names(const struct resolver *resolver, const char *text, size_t n,
	bool is_whole, uint32_t *end)
{
	const struct triad_fabric_node **nodes = resolver->by_name;
	uint32_t n_nodes = resolver->work->fabric->n_nodes, first;

	TRIAD_SEARCH(first, 0, n_nodes, strncmp(nodes[first]->name, text, n) < 0);
	TRIAD_SEARCH(*end, first, n_nodes,
		!strncmp(nodes[*end]->name, text, n) &&
			(!is_whole || !nodes[*end]->name[n]));
	return first;
}

/* 'Quantum-2#09a500': a name, and the end of the GUID. */
static uint32_t find_label(const struct resolver *resolver, const char *label)
{
	const char *mark = strrchr(label, '#');
	uint32_t first, end, found = TRIAD_CABLING_NONE;

	if (!mark)
		return found;
	first = find_names(resolver, label, (size_t)(mark - label), true, &end);
	for (; first < end; first++) {
		const struct triad_fabric_node *node = resolver->by_name[first];

		if (triad_node_label_fits(label, node->name, node->guid))
			found = found == TRIAD_CABLING_NONE
				? node_index_of(resolver, first)
				: TRIAD_CABLING_SHARED;
	}
	return found;
}

/* By the whole name, a label, or the name up to a blank, in this order, as
 * ib/node_choice.h has it. */
static uint32_t find_name(const struct resolver *resolver, const char *name)
{
	char prefix[TRIAD_NODE_NAME_SIZE + 1];
	size_t n = strlen(name);
	uint32_t found, first, end;

	first = find_names(resolver, name, n, true, &end);
	found = only_node(resolver, first, end);
	if (found == TRIAD_CABLING_NONE)
		found = find_label(resolver, name);
	if (found != TRIAD_CABLING_NONE || n + 1 >= sizeof(prefix))
		return found;
	memcpy(prefix, name, n);
	prefix[n] = ' ';
	first = find_names(resolver, prefix, n + 1, false, &end);
	return only_node(resolver, first, end);
}

/* --- ends -------------------------------------------------------------- */

/* A GUID alone decides where there is one: another node may have got the name. */
static uint32_t find_node(
	const struct resolver *resolver, const struct triad_cabling_end *end)
{
	const struct triad_fabric *fabric = resolver->work->fabric;
	uint32_t found, port;

	if (!end->guid)
		return find_name(resolver,
			triad_cabling_plan_text(resolver->work->plan, end->name));
	found = triad_fabric_find_node(fabric, end->guid);
	if (found != TRIAD_FABRIC_NONE)
		return found;
	port = triad_fabric_find_alias(fabric, end->guid);
	return port != TRIAD_FABRIC_NONE && fabric->ports[port].number == end->port
		? fabric->ports[port].node
		: TRIAD_CABLING_NONE;
}

static void remember_nameless(struct resolver *resolver,
	const struct triad_cabling_end *end, uint32_t place, bool is_shared)
{
	struct triad_cabling_work *work = resolver->work;

	if (!work->error)
		work->error = triad_grow(&resolver->nameless, &resolver->room,
			resolver->n_nameless + 1, sizeof(*resolver->nameless), 64);
	if (!work->error)
		resolver->nameless[resolver->n_nameless++] = (struct nameless){*end,
			triad_cabling_plan_text(work->plan, end->name), place,
			is_shared};
}

/* The node's index, NONE or SHARED; takes note of a port that the fabric does not list. */
static uint32_t resolve_end(
	struct resolver *resolver, const struct triad_cabling_end *end, uint32_t place)
{
	struct triad_cabling_work *work = resolver->work;
	uint32_t node = find_node(resolver, end);

	if (node == TRIAD_CABLING_NONE || node == TRIAD_CABLING_SHARED) {
		remember_nameless(resolver, end, place, node == TRIAD_CABLING_SHARED);
		return node;
	}
	work->node_flags[node] |= TRIAD_CABLING_IN_PLAN;
	if (triad_fabric_find_port(work->fabric, node, end->port) != TRIAD_FABRIC_NONE)
		return node;
	if (!work->error)
		work->error = triad_grow(&work->others, &work->others_room,
			work->n_others + 1, sizeof(*work->others), 64);
	if (!work->error)
		work->others[work->n_others++] = (uint64_t)node << 8 | end->port;
	return node;
}

static uint32_t vertex_of(
	const struct triad_cabling_work *work, uint32_t node, uint8_t number)
{
	uint64_t key = (uint64_t)node << 8 | number;
	uint32_t port, at;

	if (node == TRIAD_CABLING_NONE || node == TRIAD_CABLING_SHARED)
		return node;
	port = triad_fabric_find_port(work->fabric, node, number);
	if (port != TRIAD_FABRIC_NONE)
		return port;
	TRIAD_SEARCH(at, 0, (uint32_t)work->n_others, work->others[at] < key);
	return work->fabric->n_ports + at;
}

static void sort_others(struct triad_cabling_work *work)
{
	size_t n = 0;

	if (work->n_others)
		qsort(work->others, work->n_others, sizeof(*work->others),
			triad_order_u64);
	for (size_t i = 0; i < work->n_others; i++)
		if (!n || work->others[n - 1] != work->others[i])
			work->others[n++] = work->others[i];
	work->n_others = n;
	work->n_vertices = work->fabric->n_ports + (uint32_t)n;
}

/* --- items ------------------------------------------------------------- */

static int order_nameless(const void *a, const void *b)
{
	const struct nameless *one = a, *other = b;
	int order =
		(one->end.guid > other->end.guid) - (one->end.guid < other->end.guid);

	if (!order)
		order = strcmp(one->name, other->name);
	if (!order)
		order = one->end.port - other->end.port;
	return order ? order
		     : (one->place > other->place) - (one->place < other->place);
}

static bool is_same_node(const struct nameless *one, const struct nameless *other)
{
	return one->end.guid == other->end.guid && !strcmp(one->name, other->name);
}

static struct triad_cabling_item *add_node_item(
	struct triad_cabling_work *work, const struct nameless *nameless)
{
	uint32_t far = nameless->place == TRIAD_CABLING_NONE
		? TRIAD_CABLING_NONE
		: work->ends[nameless->place ^ 1];
	struct triad_cabling_item *item = triad_cabling_add(work,
		nameless->is_shared ? TRIAD_CABLING_NAME_SHARED
				    : TRIAD_CABLING_NODE_ABSENT,
		far < TRIAD_CABLING_SHARED, &far);

	if (!item)
		return NULL;
	item->end = nameless->end;
	item->n = 0;
	if (nameless->place != TRIAD_CABLING_NONE)
		item->link = nameless->place / 2;
	return item;
}

/* One item for each node, however many of its ports are planned. */
static void add_nameless(struct resolver *resolver)
{
	struct triad_cabling_item *item = NULL;
	const struct nameless *list = resolver->nameless;

	if (resolver->n_nameless)
		qsort(resolver->nameless, resolver->n_nameless, sizeof(*list),
			order_nameless);
	for (size_t i = 0; i < resolver->n_nameless; i++) {
		if (!i || !is_same_node(&list[i - 1], &list[i]))
			item = add_node_item(resolver->work, &list[i]);
		if (!item)
			return;
		/* A cable may be planned twice, from each of its ends. */
		item->n += !item->n || list[i].end.port != list[i - 1].end.port;
	}
}

/* --- all --------------------------------------------------------------- */

static void resolve_all(struct resolver *resolver)
{
	struct triad_cabling_work *work = resolver->work;
	const struct triad_cabling_plan *plan = work->plan;

	for (uint32_t i = 0; i < 2 * plan->n_links; i++)
		work->ends[i] =
			resolve_end(resolver, &plan->links[i / 2].ends[i % 2], i);
	for (uint32_t i = 0; i < plan->n_ports; i++)
		work->ruled[i] =
			resolve_end(resolver, &plan->ports[i].end, TRIAD_CABLING_NONE);
	if (work->error)
		return;
	sort_others(work);
	for (uint32_t i = 0; i < 2 * plan->n_links; i++)
		work->ends[i] = vertex_of(
			work, work->ends[i], plan->links[i / 2].ends[i % 2].port);
	for (uint32_t i = 0; i < plan->n_ports; i++)
		work->ruled[i] =
			vertex_of(work, work->ruled[i], plan->ports[i].end.port);
	add_nameless(resolver);
}

void triad_cabling_resolve(struct triad_cabling_work *work)
{
	const struct triad_fabric *fabric = work->fabric;
	struct resolver resolver = {.work = work};

	resolver.by_name =
		calloc((size_t)fabric->n_nodes + 1, sizeof(*resolver.by_name));
	if (!resolver.by_name) {
		work->error = ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		resolver.by_name[i] = &fabric->nodes[i];
	if (fabric->n_nodes)
		qsort(resolver.by_name, fabric->n_nodes, sizeof(*resolver.by_name),
			order_names);
	resolve_all(&resolver);
	free(resolver.by_name);
	free(resolver.nameless);
}
