/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/topology_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/varint.h"
#include "ib/recent.h"
#include "lib/hash.h"
#include "lib/pieces.h"

#define HEAD_SIZE 16u
/* The most octets of a node and of a port. */
#define NODE_SIZE (8 + 1 + 4 + 2 + 1 + TRIAD_NODE_NAME_SIZE + TRIAD_VARINT_MAX_SIZE)
#define PORT_SIZE (1 + 1 + 8 + 2 + 7 + 1 + 3 + 2 * TRIAD_VARINT_MAX_SIZE)
/* The additional octets of a P_Key table. */
#define PKEYS_SIZE(n) (TRIAD_VARINT_MAX_SIZE + 2 * (size_t)(n))

/* Flags of a port. */
enum {
	HAS_PMA = 1 << 0,
	SAME_GUID = 1 << 1, /* the GUID of the port before */
	HAS_SUPPORTED = 1 << 2,
};

/* How a port's P_Key table is encoded. */
enum { PKEYS_UNKNOWN, PKEYS_FOLLOW, PKEYS_RECENT };

/* A hash like FNV, but over words: it only has to distinguish fabrics. */
uint64_t triad_topology_hash(const uint8_t *octets, size_t size)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START ^ size, octets, size);

	return hash ? hash : 1;
}

/* --- handing down --- */

/* Whether such a port has a P_Key table that MADs use. */
static bool has_pkeys(const struct triad_fabric_node *node, unsigned number)
{
	return node->type != TRIAD_NODE_SWITCH || !number;
}

static uint32_t n_pkeys_of(const struct triad_fabric_port *port)
{
	return port->pkeys.n < TRIAD_TOPOLOGY_MAX_PKEYS ? port->pkeys.n
							: TRIAD_TOPOLOGY_MAX_PKEYS;
}

static void put_pkeys(struct triad_wire *w, const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, struct triad_recent *recent)
{
	uint32_t n = n_pkeys_of(port);
	const uint16_t *pkeys;
	int slot;

	if (!n) {
		triad_varint_put(w, PKEYS_UNKNOWN);
		return;
	}
	/* Most ports have one of a few tables: refer to a recent equal table. */
	pkeys = fabric->pkeys + port->pkeys.at;
	slot = triad_recent_find(recent, fabric->pkeys, pkeys, n);
	triad_varint_put(w, slot < 0 ? PKEYS_FOLLOW : PKEYS_RECENT + (unsigned)slot);
	if (slot >= 0)
		return;
	triad_varint_put(w, n);
	for (uint32_t i = 0; i < n; i++)
		triad_wire_put(w, 2, pkeys[i]);
	triad_recent_add(
		recent, (struct triad_fabric_slice){.n = n, .at = port->pkeys.at});
}

static void put_fabric_port(struct triad_wire *w, const struct triad_fabric *fabric,
	uint32_t index, struct triad_recent *recent)
{
	const struct triad_fabric_port *port = &fabric->ports[index];
	bool is_same =
		index && port[-1].node == port->node && port[-1].guid == port->guid;

	triad_wire_put(w, 1, port->number);
	triad_wire_put(w, 1,
		(port->has_pma ? HAS_PMA : 0) | (is_same ? SAME_GUID : 0) |
			(port->width_supported ? HAS_SUPPORTED : 0));
	if (!is_same)
		triad_wire_put(w, 8, port->guid);
	triad_wire_put(w, 2, port->lid);
	triad_wire_put(w, 1, port->state);
	triad_wire_put(w, 1, port->phys_state);
	triad_wire_put(w, 1, port->width);
	triad_wire_put(w, 1, port->speed);
	triad_wire_put(w, 1, port->speed_ext);
	triad_wire_put(w, 1, port->rate);
	triad_wire_put(w, 1, port->mtu);
	triad_wire_put(w, 1, port->sl);
	if (port->width_supported) {
		triad_wire_put(w, 1, port->width_supported);
		triad_wire_put(w, 1, port->speed_supported);
		triad_wire_put(w, 1, port->speed_ext_supported);
	}
	triad_varint_put(
		w, port->remote == TRIAD_FABRIC_NONE ? 0 : (uint64_t)port->remote + 1);
	if (has_pkeys(&fabric->nodes[port->node], port->number))
		put_pkeys(w, fabric, port, recent);
}

static void put_node(struct triad_wire *w, const struct triad_fabric *fabric,
	uint32_t index, struct triad_recent *recent)
{
	const struct triad_fabric_node *node = &fabric->nodes[index];
	size_t length = strlen(node->name);

	triad_wire_put(w, 8, node->guid);
	triad_wire_put(w, 1, node->type);
	triad_wire_put(w, 4, node->vendor_id);
	triad_wire_put(w, 2, node->device_id);
	triad_wire_put(w, 1, length);
	triad_wire_put_octets(w, node->name, length);
	triad_varint_put(w, node->n_ports);
	for (uint32_t i = 0; i < node->n_ports; i++)
		put_fabric_port(w, fabric, node->first_port + i, recent);
}

/* The most octets that the fabric can need: as if each P_Key table followed. */
static size_t most_octets(const struct triad_fabric *fabric)
{
	size_t most = HEAD_SIZE + (size_t)fabric->n_nodes * NODE_SIZE +
		(size_t)fabric->n_ports * PORT_SIZE;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (has_pkeys(&fabric->nodes[port->node], port->number))
			most += PKEYS_SIZE(n_pkeys_of(port));
	}
	return most;
}

int triad_topology_encode(
	const struct triad_fabric *fabric, struct triad_topology_octets *octets)
{
	size_t most = most_octets(fabric);
	struct triad_recent recent = {0};
	struct triad_wire w;
	uint8_t *shrunk;

	*octets = (struct triad_topology_octets){.octets = malloc(most)};
	if (!octets->octets)
		return ENOMEM;
	triad_wire_init(&w, octets->octets, most);
	triad_wire_put(&w, 4, fabric->n_nodes);
	triad_wire_put(&w, 4, fabric->n_ports);
	triad_wire_put(&w, 8, fabric->sm_port_guid);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		put_node(&w, fabric, i, &recent);
	if (w.at > TRIAD_TOPOLOGY_MAX_SIZE) {
		triad_topology_octets_free(octets);
		return EOVERFLOW;
	}
	shrunk = realloc(octets->octets, w.at);
	if (shrunk)
		octets->octets = shrunk;
	octets->hash = triad_topology_hash(octets->octets, w.at);
	octets->size = octets->n_octets = (uint32_t)w.at;
	return 0;
}

void triad_topology_octets_free(struct triad_topology_octets *octets)
{
	free(octets->octets);
	*octets = (struct triad_topology_octets){0};
}

unsigned triad_topology_n_pieces(const struct triad_topology_octets *whole)
{
	return (unsigned)triad_pieces_n(whole->n_octets, TRIAD_TOPOLOGY_PIECE_SIZE);
}

size_t triad_topology_write_piece(const struct triad_topology_octets *whole,
	unsigned piece, const struct triad_collect_head *head, uint8_t *to, size_t size)
{
	size_t n = triad_pieces_octets_of(
		whole->n_octets, TRIAD_TOPOLOGY_PIECE_SIZE, piece);
	struct triad_wire w;
	uint8_t *octets;

	triad_wire_init(&w, to, size);
	triad_collect_put_head(&w, head);
	triad_wire_put(&w, 8, whole->hash);
	triad_wire_put(&w, 4, whole->size);
	triad_wire_put(&w, 4, whole->n_octets);
	triad_wire_put(&w, 2, piece);
	triad_wire_put(&w, 2, triad_topology_n_pieces(whole));
	octets = triad_wire_take(&w, n);
	if (!octets)
		return 0;
	memcpy(octets, whole->octets + (size_t)piece * TRIAD_TOPOLOGY_PIECE_SIZE, n);
	return w.at;
}

/* --- taking --- */

struct triad_topology_pieces {
	struct triad_topology_octets whole; /* its octets are in the pieces */
	struct triad_pieces pieces;
};

struct triad_topology_pieces *triad_topology_pieces_new(void)
{
	return calloc(1, sizeof(struct triad_topology_pieces));
}

void triad_topology_pieces_free(struct triad_topology_pieces *pieces)
{
	if (!pieces)
		return;
	triad_pieces_end(&pieces->pieces);
	free(pieces);
}

/* Begins another fabric, unless the pieces are of the present one. */
static int begin_pieces(
	struct triad_topology_pieces *pieces, const struct triad_topology_octets *whole)
{
	const struct triad_topology_octets *present = &pieces->whole;

	if (pieces->pieces.octets && present->hash == whole->hash &&
		present->size == whole->size && present->n_octets == whole->n_octets)
		return 0;
	/* A newer fabric replaces one that is not complete. */
	pieces->whole = *whole;
	return triad_pieces_begin(
		       &pieces->pieces, whole->n_octets, TRIAD_TOPOLOGY_PIECE_SIZE)
		? 0
		: ENOMEM;
}

/* The decoder's state until the fabric is built. */
struct reading {
	struct triad_wire w;
	struct triad_fabric_builder *builder;
	uint32_t n_nodes, n_ports;
	uint64_t *guid_of_node; /* of each port's node; NULL: memory was short */
	uint8_t *number;        /* of each port */
	uint16_t *pkeys;        /* of the tables that followed */
	size_t n_pkeys, most_pkeys;
	struct triad_recent recent;
};

/* Reads a P_Key table. */
static bool read_pkey_table(struct reading *reading, struct triad_fabric_slice *table)
{
	struct triad_wire *w = &reading->w;
	uint64_t n = triad_varint_get(w);

	/* Limit the length: a table can't be longer than the message. */
	if (w->failed || !n || n > TRIAD_TOPOLOGY_MAX_PKEYS ||
		n > reading->most_pkeys - reading->n_pkeys)
		return false;
	*table = (struct triad_fabric_slice){.n = (uint32_t)n, .at = reading->n_pkeys};
	for (uint32_t i = 0; i < table->n; i++)
		reading->pkeys[reading->n_pkeys++] = triad_wire_get16(w);
	triad_recent_add(&reading->recent, *table);
	return !w->failed;
}

/* The P_Key table of a port; 'n' 0: unknown. */
static bool get_pkeys(struct reading *reading, struct triad_fabric_slice *table)
{
	uint64_t how = triad_varint_get(&reading->w);

	*table = (struct triad_fabric_slice){0};
	if (reading->w.failed || how >= PKEYS_RECENT + TRIAD_RECENT_MOST)
		return false;
	if (how == PKEYS_UNKNOWN)
		return true;
	if (how == PKEYS_FOLLOW)
		return read_pkey_table(reading, table);
	return triad_recent_take(&reading->recent, (unsigned)how - PKEYS_RECENT, table);
}

static bool get_port(struct reading *reading, const struct triad_fabric_node *node,
	struct triad_fabric_port *port, uint64_t *far)
{
	struct triad_wire *w = &reading->w;
	uint64_t guid_before = port->guid;
	uint8_t flags;

	*port = (struct triad_fabric_port){.number = triad_wire_get8(w)};
	flags = triad_wire_get8(w);
	port->has_pma = flags & HAS_PMA;
	port->guid = flags & SAME_GUID ? guid_before : triad_wire_get64(w);
	port->lid = triad_wire_get16(w);
	port->state = triad_wire_get8(w);
	port->phys_state = triad_wire_get8(w);
	port->width = triad_wire_get8(w);
	port->speed = triad_wire_get8(w);
	port->speed_ext = triad_wire_get8(w);
	port->rate = triad_wire_get8(w);
	port->mtu = triad_wire_get8(w);
	port->sl = triad_wire_get8(w) & 0xf;
	if (flags & HAS_SUPPORTED) {
		port->width_supported = triad_wire_get8(w);
		port->speed_supported = triad_wire_get8(w);
		port->speed_ext_supported = triad_wire_get8(w);
		if (!port->width_supported)
			return false; /* no writer sets the flag then */
	}
	*far = triad_varint_get(w);
	if (has_pkeys(node, port->number) && !get_pkeys(reading, &port->pkeys))
		return false;
	return !w->failed;
}

static bool get_node(
	struct triad_wire *w, struct triad_fabric_node *node, uint32_t *n_ports)
{
	char name[TRIAD_NODE_NAME_SIZE] = "";
	uint64_t n;
	size_t length;
	const uint8_t *text;

	*node = (struct triad_fabric_node){.guid = triad_wire_get64(w)};
	node->type = triad_wire_get8(w);
	node->vendor_id = triad_wire_get32(w);
	node->device_id = triad_wire_get16(w);
	length = triad_wire_get8(w);
	text = triad_wire_take(w, length);
	if (text)
		memcpy(name, text, length < sizeof(name) ? length : sizeof(name) - 1);
	triad_fabric_clean_name(node->name, name);
	n = triad_varint_get(w);
	*n_ports = (uint32_t)n;
	return !w->failed && n <= UINT8_MAX + 1;
}

/* First pass: finds the node of each port, so that far ends can be resolved. */
static bool index_ports(struct reading *reading)
{
	uint32_t at = 0, n_ports;
	struct triad_fabric_node node;
	struct triad_fabric_port port = {0};
	uint64_t far;

	for (uint32_t i = 0; i < reading->n_nodes; i++) {
		if (!get_node(&reading->w, &node, &n_ports) ||
			n_ports > reading->n_ports - at)
			return false;
		for (; n_ports; n_ports--, at++) {
			if (!get_port(reading, &node, &port, &far))
				return false;
			reading->guid_of_node[at] = node.guid;
			reading->number[at] = port.number;
		}
	}
	return at == reading->n_ports && reading->w.at == reading->w.size;
}

/* The second pass: add what the first one validated. */
static bool add_all(struct reading *reading)
{
	uint32_t n_ports;
	struct triad_fabric_node node;
	struct triad_fabric_port port = {0};
	uint64_t far;

	for (uint32_t i = 0; i < reading->n_nodes; i++) {
		get_node(&reading->w, &node, &n_ports);
		triad_fabric_builder_add_node(
			reading->builder, &node, node.name, NULL, 0);
		for (; n_ports; n_ports--) {
			get_port(reading, &node, &port, &far);
			if (far > reading->n_ports)
				return false;
			triad_fabric_builder_add_port(reading->builder, &port,
				far ? reading->guid_of_node[far - 1] : 0,
				far ? reading->number[far - 1] : 0);
			triad_fabric_builder_add_pkeys(reading->builder,
				reading->pkeys + port.pkeys.at, port.pkeys.n);
		}
	}
	return true;
}

static int build_from_message(struct reading *reading, struct triad_fabric **fabric)
{
	uint64_t sm_port_guid;

	reading->n_nodes = triad_wire_get32(&reading->w);
	reading->n_ports = triad_wire_get32(&reading->w);
	sm_port_guid = triad_wire_get64(&reading->w);
	if (reading->w.failed || reading->n_nodes > TRIAD_FABRIC_MAX_NODES ||
		reading->n_ports > TRIAD_FABRIC_MAX_PORTS)
		return EPROTO;
	reading->guid_of_node = calloc(reading->n_ports + 1, sizeof(uint64_t));
	reading->number = calloc(reading->n_ports + 1, 1);
	reading->most_pkeys = reading->w.size / sizeof(uint16_t);
	reading->pkeys = malloc(reading->w.size + 1);
	reading->builder = triad_fabric_builder_new(NULL);
	if (!reading->guid_of_node || !reading->number || !reading->pkeys ||
		!reading->builder)
		return ENOMEM;
	if (!index_ports(reading))
		return EPROTO;
	/* Start again at the beginning for the second pass. */
	triad_wire_seek(&reading->w, HEAD_SIZE);
	reading->n_pkeys = 0;
	reading->recent.n = 0;
	if (!add_all(reading))
		return EPROTO;
	return triad_fabric_build(reading->builder, sm_port_guid, fabric);
}

int triad_topology_decode(
	const struct triad_topology_octets *octets, struct triad_fabric **fabric)
{
	struct reading reading = {0};
	int error;

	/* The hash shows whether all pieces were of one fabric. */
	if (octets->n_octets != octets->size || octets->size < HEAD_SIZE ||
		triad_topology_hash(octets->octets, octets->size) != octets->hash)
		return EPROTO;
	triad_wire_init(&reading.w, octets->octets, octets->size);
	error = build_from_message(&reading, fabric);
	triad_fabric_builder_free(reading.builder);
	free(reading.guid_of_node);
	free(reading.number);
	free(reading.pkeys);
	return error == ENOMEM || !error ? error : EPROTO;
}

int triad_topology_pieces_add(struct triad_topology_pieces *pieces,
	struct triad_wire *body, uint64_t known, struct triad_topology_octets *whole)
{
	struct triad_topology_octets begun = {.hash = triad_wire_get64(body)};
	const uint8_t *octets;
	unsigned piece, n_pieces;
	int error;

	begun.size = triad_wire_get32(body);
	begun.n_octets = triad_wire_get32(body);
	piece = triad_wire_get16(body);
	n_pieces = triad_wire_get16(body);
	if (body->failed || !begun.n_octets || begun.size < HEAD_SIZE ||
		begun.size > TRIAD_TOPOLOGY_MAX_SIZE ||
		begun.n_octets > TRIAD_TOPOLOGY_MAX_SIZE || piece >= n_pieces ||
		n_pieces != triad_topology_n_pieces(&begun))
		return EPROTO;
	octets = triad_wire_take(body,
		triad_pieces_octets_of(
			begun.n_octets, TRIAD_TOPOLOGY_PIECE_SIZE, piece));
	if (!octets)
		return EPROTO;
	/* We have this fabric: the manager sent it to all for another agent. */
	if (begun.hash == known)
		return EALREADY;
	error = begin_pieces(pieces, &begun);
	if (error)
		return error;
	/* One may come again: the manager repeats it for another agent. */
	(void)triad_pieces_put(&pieces->pieces, piece, octets);
	if (pieces->pieces.n_have < pieces->pieces.n)
		return EAGAIN;
	*whole = pieces->whole;
	whole->octets = pieces->pieces.octets;
	pieces->pieces.octets = NULL;
	triad_pieces_end(&pieces->pieces);
	return 0;
}
