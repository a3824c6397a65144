/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/sa_topology.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ib/link.h"
#include "lib/search.h"
#include "triad/wire.h"

/* Octets of each record that are read. */
enum { NODE_SIZE = 108, PORT_INFO_SIZE = 4 + 64, LINK_SIZE = 6, PKEYS_SIZE = 8 + 64 };

#define BLOCK_ENTRIES 32u
#define MAX_BLOCKS 32u /* of a port's P_Keys */

#define N_LIDS 65536u
#define EXTENDED_SPEEDS 0x4000u /* of PortInfo:CapabilityMask */

struct node {
	uint64_t guid;
	const uint8_t *record;
};

struct port {
	uint32_t node;
	uint8_t number;
	const uint8_t *record;
};

struct link {
	uint16_t from_lid, to_lid;
	uint8_t from_port, to_port;
};

/* A block of P_Keys. */
struct block {
	uint16_t lid, number;
	const uint8_t *record;
};

struct tables {
	struct node *nodes; /* sorted by GUID, each once */
	uint32_t n_nodes;
	uint32_t *node_of_lid; /* N_LIDS, or TRIAD_FABRIC_NONE */
	uint64_t *guid_of_lid; /* of the port: N_LIDS, or 0 */
	struct port *ports;    /* sorted by node and number, each once */
	uint32_t n_ports;
	struct link *links; /* sorted by where they come from */
	uint32_t n_links;
	struct block *blocks; /* sorted by LID and number */
	uint32_t n_blocks;
	const struct triad_fabric *known;
	bool links_stand;
};

static size_t count_records(const struct triad_sa_table *table)
{
	return table->stride ? table->size / table->stride : 0;
}

static bool is_usable(const struct triad_sa_table *table, size_t size)
{
	return !table->size || table->stride >= size;
}

static const uint8_t *record_at(const struct triad_sa_table *table, size_t i)
{
	return table->records + i * table->stride;
}

/* --- sorting --- */

static int compare_nodes(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

static int compare_ports(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (int)x->number - (int)y->number;
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->from_lid != y->from_lid)
		return x->from_lid < y->from_lid ? -1 : 1;
	return (int)x->from_port - (int)y->from_port;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return (int)x->number - (int)y->number;
}

/* --- reading the records --- */

/* There is one record for each port of a CA, one for a switch; the first of a node
 * counts. */
static void read_nodes(struct tables *tables, const struct triad_sa_table *table)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < count_records(table); i++) {
		const uint8_t *record = record_at(table, i);

		tables->nodes[i] =
			(struct node){triad_wire_number(record, 16, 8), record};
	}
	tables->n_nodes = (uint32_t)count_records(table);
	qsort(tables->nodes, tables->n_nodes, sizeof(*tables->nodes), compare_nodes);
	for (uint32_t i = 0; i < tables->n_nodes; i++) {
		/* Broken nodes have GUID 0, which identifies none. */
		if (!tables->nodes[i].guid)
			continue;
		if (!kept || tables->nodes[kept - 1].guid != tables->nodes[i].guid)
			tables->nodes[kept++] = tables->nodes[i];
	}
	tables->n_nodes = kept;
}

static uint32_t find_record_node(const struct tables *tables, uint64_t guid)
{
	struct node key = {.guid = guid},
		    *found = bsearch(&key, tables->nodes, tables->n_nodes, sizeof(key),
			    compare_nodes);

	return found ? (uint32_t)(found - tables->nodes) : TRIAD_FABRIC_NONE;
}

static void read_lids(struct tables *tables, const struct triad_sa_table *table)
{
	memset(tables->node_of_lid, 0xff, N_LIDS * sizeof(*tables->node_of_lid));
	for (size_t i = 0; i < count_records(table); i++) {
		const uint8_t *record = record_at(table, i);
		uint16_t lid = (uint16_t)triad_wire_number(record, 0, 2);

		tables->node_of_lid[lid] =
			find_record_node(tables, triad_wire_number(record, 16, 8));
		tables->guid_of_lid[lid] = triad_wire_number(record, 24, 8);
	}
}

/* The tables were read one after the other.  A port whose node is not in the first
 * table came in between: drop it. */
static void read_ports(struct tables *tables, const struct triad_sa_table *table)
{
	uint32_t kept = 0, n = 0;

	for (size_t i = 0; i < count_records(table); i++) {
		const uint8_t *record = record_at(table, i);
		uint32_t node = tables->node_of_lid[triad_wire_number(record, 0, 2)];

		if (node != TRIAD_FABRIC_NONE)
			tables->ports[n++] = (struct port){node, record[2], record};
	}
	qsort(tables->ports, n, sizeof(*tables->ports), compare_ports);
	for (uint32_t i = 0; i < n; i++)
		if (!kept ||
			compare_ports(&tables->ports[kept - 1], &tables->ports[i]) != 0)
			tables->ports[kept++] = tables->ports[i];
	tables->n_ports = kept;
}

static void read_links(struct tables *tables, const struct triad_sa_table *table)
{
	for (size_t i = 0; i < count_records(table); i++) {
		const uint8_t *record = record_at(table, i);

		tables->links[i] = (struct link){
			.from_lid = (uint16_t)triad_wire_number(record, 0, 2),
			.from_port = record[2],
			.to_port = record[3],
			.to_lid = (uint16_t)triad_wire_number(record, 4, 2),
		};
	}
	tables->n_links = (uint32_t)count_records(table);
	qsort(tables->links, tables->n_links, sizeof(*tables->links), compare_links);
}

/* Deviation: OpenSM 3.3.23 writes the number in its machine's byte order, so on most
 * machines the octets are swapped. */
static uint16_t block_number(const uint8_t *record)
{
	uint16_t number = (uint16_t)triad_wire_number(record, 2, 2);

	return number & 0xff ? number : number >> 8;
}

/* Keeps only the table of port 0 of a switch. */
static void read_pkey_records(struct tables *tables, const struct triad_sa_table *table)
{
	for (size_t i = 0; i < count_records(table); i++) {
		const uint8_t *record = record_at(table, i);
		uint16_t lid = (uint16_t)triad_wire_number(record, 0, 2);
		uint32_t node = tables->node_of_lid[lid];

		if (node != TRIAD_FABRIC_NONE &&
			(tables->nodes[node].record[6] != TRIAD_NODE_SWITCH ||
				!record[4]))
			tables->blocks[tables->n_blocks++] =
				(struct block){lid, block_number(record), record};
	}
	qsort(tables->blocks, tables->n_blocks, sizeof(*tables->blocks),
		compare_blocks);
}

/* --- building --- */

static void add_record_node(
	struct triad_fabric_builder *builder, const struct node *node)
{
	const uint8_t *record = node->record;
	struct triad_fabric_node added = {
		.guid = node->guid,
		.type = record[6],
		.device_id = (uint16_t)triad_wire_number(record, 34, 2),
		.vendor_id = (uint32_t)triad_wire_number(record, 41, 3),
	};

	triad_fabric_builder_add_node(
		builder, &added, (const char *)record + 44, NULL, 0);
}

static void find_far_end(const struct tables *tables, uint16_t lid, uint8_t number,
	uint64_t *guid, uint8_t *far_number)
{
	struct link key = {.from_lid = lid, .from_port = number};
	const struct link *link = bsearch(
		&key, tables->links, tables->n_links, sizeof(key), compare_links);
	uint32_t node = link ? tables->node_of_lid[link->to_lid] : TRIAD_FABRIC_NONE;

	*guid = 0;
	*far_number = 0;
	if (node == TRIAD_FABRIC_NONE)
		return;
	*guid = tables->nodes[node].guid;
	*far_number = link->to_port;
}

void triad_port_info_read(
	const uint8_t *info, bool is_switch, struct triad_fabric_port *port)
{
	port->state = info[32] & 0xf;
	port->phys_state = info[33] >> 4;
	port->lmc = info[34] & 7;
	port->mtu = info[36] >> 4;
	port->needs_m_key = info[34] >> 6 > TRIAD_M_KEY_GUARDS_SETS;
	if (triad_wire_number(info, 20, 4) & EXTENDED_SPEEDS)
		port->rate_caps |= TRIAD_RATE_CAP_EXTENDED;
	triad_link_read(info, port);
	port->has_pma = port->lid &&
		(is_switch ? port->number > 0 : port->state >= TRIAD_PORT_INIT);
}

static void add_record_port(struct triad_fabric_builder *builder,
	const struct tables *tables, const struct port *port)
{
	bool is_switch = tables->nodes[port->node].record[6] == TRIAD_NODE_SWITCH;
	struct triad_fabric_port added = {
		.lid = (uint16_t)triad_wire_number(port->record, 0, 2),
		.number = port->number,
	};
	uint64_t far_guid;
	uint8_t far_number;

	added.guid = tables->guid_of_lid[added.lid];
	triad_port_info_read(port->record + 4, is_switch, &added);
	find_far_end(tables, added.lid, port->number, &far_guid, &far_number);
	triad_fabric_builder_add_port(builder, &added, far_guid, far_number);
}

/* The first block of a LID, or the end. */
static uint32_t find_blocks(const struct tables *tables, uint16_t lid)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, tables->n_blocks, tables->blocks[at].lid < lid);
	return at;
}

/* Gathers a port's P_Keys from the SA's blocks; returns how many there are up to the
 * last one. */
static uint32_t gather_pkeys(const struct tables *tables, uint16_t lid, uint16_t *pkeys)
{
	uint32_t n = 0;

	memset(pkeys, 0, MAX_BLOCKS * BLOCK_ENTRIES * sizeof(*pkeys));
	for (uint32_t at = find_blocks(tables, lid);
		at < tables->n_blocks && tables->blocks[at].lid == lid; at++) {
		uint32_t first = tables->blocks[at].number * BLOCK_ENTRIES;

		if (tables->blocks[at].number >= MAX_BLOCKS)
			break;
		for (uint32_t i = 0; i < BLOCK_ENTRIES; i++) {
			pkeys[first + i] = (uint16_t)triad_wire_number(
				tables->blocks[at].record, 8 + 2 * i, 2);
			if (pkeys[first + i])
				n = first + i + 1;
		}
	}
	return n;
}

static void add_pkeys(struct triad_fabric_builder *builder, const struct tables *tables,
	const struct port *port)
{
	const struct node *node = &tables->nodes[port->node];
	const struct triad_fabric *known = tables->known;
	uint16_t pkeys[MAX_BLOCKS * BLOCK_ENTRIES];
	uint32_t n, at;

	if (node->record[6] == TRIAD_NODE_SWITCH && port->number)
		return;
	n = gather_pkeys(
		tables, (uint16_t)triad_wire_number(port->record, 0, 2), pkeys);
	if (n)
		triad_fabric_builder_add_pkeys(builder, pkeys, n);
	if (n || !known)
		return;
	/* The SA has no P_Keys of this port: use the known fabric's. */
	at = triad_fabric_port_at(known, node->guid, port->number);
	if (at != TRIAD_FABRIC_NONE && known->ports[at].pkeys.n)
		triad_fabric_builder_add_pkeys(builder,
			known->pkeys + known->ports[at].pkeys.at,
			known->ports[at].pkeys.n);
}

/* True for a port with a link that is up, which must have a far end. */
static bool lacks_far_end(const struct triad_fabric_port *port)
{
	return port->number && port->state >= TRIAD_PORT_INIT &&
		port->remote == TRIAD_FABRIC_NONE;
}

/* The port of 'fabric' that is the far end in the known fabric. */
static uint32_t find_known_far_end(const struct triad_fabric *fabric,
	const struct triad_fabric *known, uint32_t port)
{
	uint32_t at = triad_fabric_find_same_port(known, fabric, port);

	if (at == TRIAD_FABRIC_NONE || known->ports[at].remote == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	return triad_fabric_find_same_port(fabric, known, known->ports[at].remote);
}

/* Adds links of the known fabric between ports whose far ends the SA did not show.
 * Both ends must lack one: if the cable was pulled since, an end would be down, or have
 * another link now. */
static void lend_links(struct triad_fabric *fabric, const struct triad_fabric *known)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t far;

		if (!lacks_far_end(&fabric->ports[i]))
			continue;
		far = find_known_far_end(fabric, known, i);
		if (far == TRIAD_FABRIC_NONE || !lacks_far_end(&fabric->ports[far]))
			continue;
		fabric->ports[i].remote = far;
		fabric->ports[far].remote = i;
		fabric->n_discovered += 2;
	}
}

static int build_from_tables(const struct tables *tables, uint64_t sm_port_guid,
	struct triad_fabric **fabric)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	uint32_t at = 0;
	int error;

	if (!builder)
		return ENOMEM;
	for (uint32_t i = 0; i < tables->n_nodes; i++) {
		add_record_node(builder, &tables->nodes[i]);
		for (; at < tables->n_ports && tables->ports[at].node == i; at++) {
			add_record_port(builder, tables, &tables->ports[at]);
			add_pkeys(builder, tables, &tables->ports[at]);
		}
	}
	error = triad_fabric_build(builder, sm_port_guid, fabric);
	triad_fabric_builder_free(builder);
	if (error)
		return error;
	if (tables->known && tables->links_stand)
		lend_links(*fabric, tables->known);
	for (uint32_t i = 0; i < (*fabric)->n_ports; i++)
		(*fabric)->n_hidden += lacks_far_end(&(*fabric)->ports[i]);
	return 0;
}

static bool are_usable(const struct triad_sa_tables *from)
{
	return is_usable(&from->nodes, NODE_SIZE) &&
		is_usable(&from->ports, PORT_INFO_SIZE) &&
		is_usable(&from->links, LINK_SIZE) &&
		is_usable(&from->pkeys, PKEYS_SIZE);
}

static bool are_too_large(const struct triad_sa_tables *from)
{
	return count_records(&from->nodes) > TRIAD_FABRIC_MAX_PORTS ||
		count_records(&from->ports) > TRIAD_FABRIC_MAX_PORTS ||
		count_records(&from->links) > TRIAD_FABRIC_MAX_PORTS ||
		count_records(&from->pkeys) > TRIAD_FABRIC_MAX_PORTS;
}

static bool allocate_tables(struct tables *tables, const struct triad_sa_tables *from)
{
	tables->nodes = calloc(count_records(&from->nodes), sizeof(*tables->nodes));
	tables->node_of_lid = calloc(N_LIDS, sizeof(*tables->node_of_lid));
	tables->guid_of_lid = calloc(N_LIDS, sizeof(*tables->guid_of_lid));
	tables->ports = calloc(count_records(&from->ports) + 1, sizeof(*tables->ports));
	tables->links = calloc(count_records(&from->links) + 1, sizeof(*tables->links));
	tables->blocks =
		calloc(count_records(&from->pkeys) + 1, sizeof(*tables->blocks));
	return tables->nodes && tables->node_of_lid && tables->guid_of_lid &&
		tables->ports && tables->links && tables->blocks;
}

int triad_sa_topology_build(const struct triad_sa_tables *from, uint64_t sm_port_guid,
	struct triad_fabric **fabric)
{
	struct tables tables = {.known = from->known, .links_stand = from->links_stand};
	int error = ENOMEM;

	if (!are_usable(from))
		return EPROTO;
	if (!count_records(&from->nodes))
		return ENODATA;
	if (are_too_large(from))
		return EOVERFLOW;
	/* Nodes first: the other records have LIDs, which read_lids() maps to nodes. */
	if (allocate_tables(&tables, from)) {
		read_nodes(&tables, &from->nodes);
		read_lids(&tables, &from->nodes);
		read_ports(&tables, &from->ports);
		read_links(&tables, &from->links);
		read_pkey_records(&tables, &from->pkeys);
		error = tables.n_nodes
			? build_from_tables(&tables, sm_port_guid, fabric)
			: ENODATA;
	}
	free(tables.nodes);
	free(tables.node_of_lid);
	free(tables.guid_of_lid);
	free(tables.ports);
	free(tables.links);
	free(tables.blocks);
	return error;
}
