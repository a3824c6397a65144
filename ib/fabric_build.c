/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds fabrics from nodes and ports in any order. */
#include "ib/fabric_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ib/node_label.h"
#include "ib/recent.h"
#include "lib/search.h"
#include "lib/text.h"

/* --- arrays that grow --- */

/* The room that a pool prepares ahead: more than is added between two preparations. */
#define PREPARED_OCTETS ((size_t)8 << 20)

/* From this size on a pool is a mapping: room ahead costs no memory until it is used,
 * and all of it returns to the system when the fabric is built.  With malloc(),
 * repeated blocks of such sizes leave holes in the heap, of pages once used. */
#define MAPPED_OCTETS ((size_t)1 << 20)

/* An array that grows up to a cap. */
struct pool {
	void *items;
	size_t mapped_octets; /* 0: from malloc() */
	size_t item_size;
	size_t n;
	size_t room;
	size_t max;
};

struct far_end {
	uint64_t guid;
	uint8_t number;
};

struct triad_fabric_builder {
	int error;
	struct triad_recent recent; /* of the tables in 'pkeys' */
	struct pool nodes, ports, far_ends, pkeys, sl2vl, vlarb, lft, mft, partitions,
		aliases;
};

/* An alias before its port is known by index. */
struct alias {
	uint64_t guid;
	uint64_t base_guid;
};

static void pool_free(struct pool *pool)
{
	if (pool->mapped_octets)
		munmap(pool->items, pool->mapped_octets);
	else
		free(pool->items);
	pool->items = NULL;
	pool->mapped_octets = 0;
	pool->room = 0;
}

static int pool_map(struct pool *pool, size_t octets)
{
	void *items;

	if (pool->mapped_octets)
		items = mremap(
			pool->items, pool->mapped_octets, octets, MREMAP_MAYMOVE);
	else
		items = mmap(NULL, octets, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (items == MAP_FAILED)
		return ENOMEM;
	/* The pool moves from malloc() to a mapping once, and stays there. */
	if (!pool->mapped_octets && pool->n)
		memcpy(items, pool->items, pool->n * pool->item_size);
	if (!pool->mapped_octets)
		free(pool->items);
	pool->items = items;
	pool->mapped_octets = octets;
	return 0;
}

static int pool_resize(struct pool *pool, size_t octets)
{
	void *items;

	if (octets >= MAPPED_OCTETS)
		return pool_map(pool, octets);
	items = realloc(pool->items, octets);
	if (!items)
		return ENOMEM;
	pool->items = items;
	return 0;
}

static int pool_reserve(struct pool *pool, size_t n)
{
	size_t room = pool->room ? pool->room : 64;
	int error;

	if (n > pool->max)
		return EOVERFLOW;
	if (n <= pool->room)
		return 0;
	while (room < n)
		room *= 2;
	if (room > pool->max)
		room = pool->max;
	error = pool_resize(pool, room * pool->item_size);
	if (!error)
		pool->room = room;
	return error;
}

/* Appends 'n' items; on error the builder remembers it. */
static void pool_append(struct triad_fabric_builder *builder, struct pool *pool,
	const void *items, size_t n)
{
	if (!builder->error)
		builder->error = pool_reserve(pool, pool->n + n);
	if (builder->error || !n)
		return;
	memcpy((char *)pool->items + pool->n * pool->item_size, items,
		n * pool->item_size);
	pool->n += n;
}

/* --- building --- */

static void pool_init(struct pool *pool, size_t item_size, size_t max)
{
	*pool = (struct pool){.item_size = item_size, .max = max};
}

struct triad_fabric_builder *triad_fabric_builder_new(const struct triad_fabric *like)
{
	const size_t octets = TRIAD_FABRIC_MAX_TABLE_OCTETS;
	struct triad_fabric_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	pool_init(&builder->nodes, sizeof(struct triad_fabric_node),
		TRIAD_FABRIC_MAX_NODES);
	pool_init(&builder->ports, sizeof(struct triad_fabric_port),
		TRIAD_FABRIC_MAX_PORTS);
	pool_init(&builder->far_ends, sizeof(struct far_end), TRIAD_FABRIC_MAX_PORTS);
	pool_init(&builder->pkeys, sizeof(uint16_t), octets / sizeof(uint16_t));
	pool_init(&builder->sl2vl, sizeof(struct triad_sl2vl),
		octets / sizeof(struct triad_sl2vl));
	pool_init(&builder->vlarb, sizeof(struct triad_vlarb_entry),
		octets / sizeof(struct triad_vlarb_entry));
	pool_init(&builder->lft, 1, octets);
	pool_init(&builder->mft, sizeof(uint16_t), octets / sizeof(uint16_t));
	pool_init(&builder->partitions, sizeof(struct triad_fabric_partition), 65536);
	pool_init(&builder->aliases, sizeof(struct alias), TRIAD_FABRIC_MAX_PORTS);
	if (!like)
		return builder;
	/* A failure here is no harm: the pools grow when they are used. */
	(void)pool_reserve(&builder->nodes, like->n_nodes);
	(void)pool_reserve(&builder->ports, like->n_ports);
	(void)pool_reserve(&builder->far_ends, like->n_ports);
	return builder;
}

/* An error is ignored: adding tries again, and fails then. */
static void pool_prepare(struct pool *pool)
{
	size_t wanted = 2 * pool->n + PREPARED_OCTETS / pool->item_size;

	(void)pool_reserve(pool, wanted < pool->max ? wanted : pool->max);
}

void triad_fabric_builder_prepare(struct triad_fabric_builder *builder)
{
	pool_prepare(&builder->nodes);
	pool_prepare(&builder->ports);
	pool_prepare(&builder->far_ends);
	pool_prepare(&builder->pkeys);
	pool_prepare(&builder->sl2vl);
	pool_prepare(&builder->vlarb);
	pool_prepare(&builder->lft);
	pool_prepare(&builder->mft);
}

void triad_fabric_builder_free(struct triad_fabric_builder *builder)
{
	if (!builder)
		return;
	pool_free(&builder->nodes);
	pool_free(&builder->ports);
	pool_free(&builder->far_ends);
	pool_free(&builder->pkeys);
	pool_free(&builder->sl2vl);
	pool_free(&builder->vlarb);
	pool_free(&builder->lft);
	pool_free(&builder->mft);
	pool_free(&builder->partitions);
	pool_free(&builder->aliases);
	free(builder);
}

/* NodeDescription is whatever its owner wrote [IBA 14.2.5.2]. */
void triad_fabric_clean_name(char name[TRIAD_NODE_NAME_SIZE], const char *from)
{
	size_t size = strnlen(from, TRIAD_NODE_NAME_SIZE - 1);

	/* Blanks at its ends can't be seen, so nobody would type them. */
	for (; size && *from == ' '; from++)
		size--;
	while (size && from[size - 1] == ' ')
		size--;
	for (size_t at = 0, n; at < size; at += n, name += n) {
		n = triad_text_character(from + at, size - at);
		if (n) {
			memmove(name, from + at, n);
		} else {
			*name = '?';
			n = 1;
		}
	}
	*name = 0;
}

void triad_fabric_builder_add_node(struct triad_fabric_builder *builder,
	const struct triad_fabric_node *node, const char *name, const uint8_t *lft,
	uint32_t lft_size)
{
	struct triad_fabric_node added = *node;

	added.first_port = (uint32_t)builder->ports.n;
	added.n_ports = 0;
	added.lft = (struct triad_fabric_slice){
		.n = lft ? lft_size : 0, .at = builder->lft.n};
	added.mft = (struct triad_fabric_slice){0};
	added.mft_width = 0;
	added.mft_is_cut = false;
	added.mark_digits = 0;
	triad_fabric_clean_name(added.name, name ? name : "");
	pool_append(builder, &builder->lft, lft, added.lft.n);
	pool_append(builder, &builder->nodes, &added, 1);
}

void triad_fabric_builder_add_mft(struct triad_fabric_builder *builder,
	const uint16_t *masks, uint32_t n, uint8_t width, bool is_cut)
{
	struct triad_fabric_node *nodes = builder->nodes.items, *last;

	if (builder->error || !builder->nodes.n)
		return;
	last = &nodes[builder->nodes.n - 1];
	last->mft = (struct triad_fabric_slice){.n = n, .at = builder->mft.n};
	last->mft_width = width;
	last->mft_is_cut = is_cut;
	pool_append(builder, &builder->mft, masks, n);
}

static struct triad_fabric_port *last_port(struct triad_fabric_builder *builder)
{
	struct triad_fabric_port *ports = builder->ports.items;

	return builder->error || !builder->ports.n ? NULL
						   : &ports[builder->ports.n - 1];
}

void triad_fabric_builder_add_port(struct triad_fabric_builder *builder,
	const struct triad_fabric_port *port, uint64_t remote_guid,
	uint8_t remote_number)
{
	struct triad_fabric_node *nodes = builder->nodes.items, *node;
	struct triad_fabric_port added = *port, *last = last_port(builder);
	struct far_end far_end = {.guid = remote_guid, .number = remote_number};

	if (builder->error || !builder->nodes.n) {
		builder->error = builder->error ? builder->error : EINVAL;
		return;
	}
	/* A port belongs to the node that was added last.  Numbers must ascend, because
	 * ports are searched by number. */
	node = &nodes[builder->nodes.n - 1];
	if (node->n_ports && last->number >= port->number) {
		builder->error = EINVAL;
		return;
	}
	added.node = (uint32_t)(builder->nodes.n - 1);
	added.remote = TRIAD_FABRIC_NONE;
	added.pkeys = (struct triad_fabric_slice){.at = builder->pkeys.n};
	added.sl2vl = (struct triad_fabric_slice){.at = builder->sl2vl.n};
	added.vlarb = (struct triad_fabric_slice){.at = builder->vlarb.n};
	pool_append(builder, &builder->far_ends, &far_end, 1);
	pool_append(builder, &builder->ports, &added, 1);
	if (!builder->error)
		node->n_ports++;
}

void triad_fabric_builder_add_pkeys(
	struct triad_fabric_builder *builder, const uint16_t *pkeys, uint32_t n)
{
	struct triad_fabric_port *port = last_port(builder);

	if (!port || !n)
		return;
	/* Most ports have a table that another one has, so it is stored once. */
	if (triad_recent_find(&builder->recent, builder->pkeys.items, pkeys, n) < 0) {
		struct triad_fabric_slice added = {.n = n, .at = builder->pkeys.n};

		pool_append(builder, &builder->pkeys, pkeys, n);
		if (builder->error)
			return;
		triad_recent_add(&builder->recent, added);
	}
	port->pkeys = builder->recent.slices[0];
}

void triad_fabric_builder_add_sl2vl(
	struct triad_fabric_builder *builder, const struct triad_sl2vl *row)
{
	struct triad_fabric_port *port = last_port(builder);

	if (!port)
		return;
	pool_append(builder, &builder->sl2vl, row, 1);
	if (!builder->error)
		port->sl2vl.n++;
}

void triad_fabric_builder_add_vlarb(struct triad_fabric_builder *builder,
	const struct triad_vlarb_entry *entries, uint32_t n)
{
	struct triad_fabric_port *port = last_port(builder);

	if (!port)
		return;
	pool_append(builder, &builder->vlarb, entries, n);
	if (!builder->error)
		port->vlarb.n += n;
}

void triad_fabric_builder_add_partition(struct triad_fabric_builder *builder,
	uint16_t pkey, uint8_t sl, const char *name)
{
	struct triad_fabric_partition added = {.pkey = pkey & 0x7fff, .sl = sl & 0xf};
	char cleaned[TRIAD_NODE_NAME_SIZE];

	triad_fabric_clean_name(cleaned, name);
	memcpy(added.name, cleaned, strnlen(cleaned, sizeof(added.name) - 1));
	pool_append(builder, &builder->partitions, &added, 1);
}

void triad_fabric_builder_add_alias(
	struct triad_fabric_builder *builder, uint64_t guid, uint64_t base_guid)
{
	const struct alias added = {.guid = guid, .base_guid = base_guid};

	pool_append(builder, &builder->aliases, &added, 1);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct triad_fabric_node *node_a = a, *node_b = b;

	return (node_a->guid > node_b->guid) - (node_a->guid < node_b->guid);
}

/* Sorts the ports (and their far ends) by node; the nodes are sorted already, and still
 * have the old indices of their ports. */
static int reorder_ports(struct triad_fabric_builder *builder)
{
	struct triad_fabric_node *nodes = builder->nodes.items;
	const struct triad_fabric_port *old_ports = builder->ports.items;
	const struct far_end *old_ends = builder->far_ends.items;
	size_t room = builder->ports.n ? builder->ports.n : 1;
	struct triad_fabric_port *ports = malloc(room * sizeof(*ports));
	struct far_end *ends = malloc(room * sizeof(*ends));
	uint32_t at = 0;

	if (!ports || !ends) {
		free(ports);
		free(ends);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < builder->nodes.n; i++) {
		uint32_t from = nodes[i].first_port;

		nodes[i].first_port = at;
		for (uint32_t j = 0; j < nodes[i].n_ports; j++, at++) {
			ports[at] = old_ports[from + j];
			ports[at].node = i;
			ends[at] = old_ends[from + j];
		}
	}
	pool_free(&builder->ports);
	pool_free(&builder->far_ends);
	builder->ports.items = ports;
	builder->far_ends.items = ends;
	return 0;
}

static int sort_nodes(struct triad_fabric_builder *builder)
{
	const struct triad_fabric_node *nodes = builder->nodes.items;

	if (builder->nodes.n)
		qsort(builder->nodes.items, builder->nodes.n, sizeof(*nodes),
			compare_nodes);
	for (size_t i = 1; i < builder->nodes.n; i++)
		if (nodes[i - 1].guid == nodes[i].guid)
			return EINVAL;
	return reorder_ports(builder);
}

/* The pool's items, without the room ahead, in memory from malloc(); on error the
 * builder remembers it. */
static void *pool_take(struct triad_fabric_builder *builder, struct pool *pool)
{
	size_t octets = pool->n * pool->item_size;
	void *items = pool->items, *fitted = NULL;

	if (octets)
		fitted = pool->mapped_octets ? malloc(octets) : realloc(items, octets);
	/* If it can't shrink, it stays as large as it is. */
	if (!pool->mapped_octets) {
		pool->items = NULL;
		return fitted ? fitted : items;
	}
	if (fitted)
		memcpy(fitted, items, octets);
	else if (octets)
		builder->error = ENOMEM;
	pool_free(pool);
	return fitted;
}

/* A link needs both ends to name each other.  A node with GUID 0, as broken ones have,
 * can't be named. */
static void resolve_links(struct triad_fabric *fabric, const struct far_end *far_ends)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_fabric_port *port = &fabric->ports[i];
		const struct triad_fabric_node *node = &fabric->nodes[port->node];
		uint32_t remote = TRIAD_FABRIC_NONE;

		if (far_ends[i].guid)
			remote = triad_fabric_port_at(
				fabric, far_ends[i].guid, far_ends[i].number);
		if (remote != TRIAD_FABRIC_NONE && node->guid &&
			far_ends[remote].guid == node->guid &&
			far_ends[remote].number == port->number)
			port->remote = remote;
	}
}

static int compare_aliases(const void *a, const void *b)
{
	const struct triad_fabric_alias *alias_a = a, *alias_b = b;

	return (alias_a->guid > alias_b->guid) - (alias_a->guid < alias_b->guid);
}

static int compare_partitions(const void *a, const void *b)
{
	const struct triad_fabric_partition *one = a, *other = b;

	return (one->pkey > other->pkey) - (one->pkey < other->pkey);
}

/* The own GUIDs of all end ports, sorted; then the aliases among them. */
static int resolve_aliases(struct triad_fabric *fabric, const struct pool *pool)
{
	const struct alias *from = pool->items;
	struct triad_fabric_alias *aliases;
	uint32_t n = 0, n_own;

	aliases = malloc((fabric->n_ports + pool->n + 1) * sizeof(*aliases));
	if (!aliases)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (triad_fabric_is_end_port(fabric, i))
			aliases[n++] = (struct triad_fabric_alias){
				.guid = fabric->ports[i].guid, .port = i};
	qsort(aliases, n, sizeof(*aliases), compare_aliases);
	/* Search works from here on, with own GUIDs: aliases refer to these. */
	fabric->aliases = aliases;
	fabric->n_aliases = n_own = n;
	for (size_t i = 0; i < pool->n; i++) {
		uint32_t port = triad_fabric_find_alias(fabric, from[i].base_guid);

		if (port != TRIAD_FABRIC_NONE && from[i].guid != from[i].base_guid)
			aliases[n++] = (struct triad_fabric_alias){
				.guid = from[i].guid, .port = port};
	}
	fabric->n_aliases = n;
	if (n > n_own)
		qsort(aliases, n, sizeof(*aliases), compare_aliases);
	return 0;
}

static void move_pools(struct triad_fabric_builder *builder, struct triad_fabric *built)
{
	built->n_nodes = (uint32_t)builder->nodes.n;
	built->n_ports = (uint32_t)builder->ports.n;
	built->n_partitions = (uint32_t)builder->partitions.n;
	built->nodes = pool_take(builder, &builder->nodes);
	built->ports = pool_take(builder, &builder->ports);
	built->pkeys = pool_take(builder, &builder->pkeys);
	built->sl2vl = pool_take(builder, &builder->sl2vl);
	built->vlarb = pool_take(builder, &builder->vlarb);
	built->lft = pool_take(builder, &builder->lft);
	built->mft = pool_take(builder, &builder->mft);
	built->partitions = pool_take(builder, &builder->partitions);
}

int triad_fabric_build(struct triad_fabric_builder *builder, uint64_t sm_port_guid,
	struct triad_fabric **fabric)
{
	struct triad_fabric *built;

	if (!builder->error)
		builder->error = sort_nodes(builder);
	if (builder->error)
		return builder->error;
	built = triad_fabric_new_empty();
	if (!built)
		return ENOMEM;
	move_pools(builder, built);
	if (builder->error) {
		triad_fabric_unref(built);
		return builder->error;
	}
	if (built->n_partitions)
		qsort(built->partitions, built->n_partitions,
			sizeof(*built->partitions), compare_partitions);
	built->sm_port_guid = sm_port_guid;
	built->consistent = true;
	resolve_links(built, builder->far_ends.items);
	builder->error = resolve_aliases(built, &builder->aliases);
	if (!builder->error)
		builder->error = triad_node_labels_make(built);
	if (builder->error) {
		triad_fabric_unref(built);
		return builder->error;
	}
	/* All ports of a switch have one GUID; the first is its port 0. */
	built->sm_port = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < built->n_ports; i++)
		if (built->ports[i].guid == sm_port_guid) {
			built->sm_port = i;
			break;
		}
	*fabric = built;
	return 0;
}
