/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/kept_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "triad/wire.h"

enum { IS_TABLES = 1, IS_NODE = 2 };

#define NODE_HEAD 9u /* octets before the ports of a node */

/* --- one table as octets --- */

static void put_table_value(struct triad_wire *wire,
	const struct triad_port_table *table, const union triad_setup_value *value)
{
	if (table->table == TRIAD_SETUP_HIGH_LIMIT)
		triad_wire_put(wire, 1, value->high_limit);
	for (unsigned i = 0;
		table->table == TRIAD_SETUP_SL2VL && i < sizeof(value->sl2vl.vl); i++)
		triad_wire_put(wire, 1, value->sl2vl.vl[i]);
	for (unsigned i = 0; i < table->n; i++) {
		triad_wire_put(wire, 1, value->vlarb[i].vl);
		triad_wire_put(wire, 1, value->vlarb[i].weight);
	}
}

static void get_value(struct triad_wire *wire, const struct triad_port_table *table,
	union triad_setup_value *value)
{
	if (table->table == TRIAD_SETUP_HIGH_LIMIT)
		value->high_limit = triad_wire_get8(wire);
	for (unsigned i = 0;
		table->table == TRIAD_SETUP_SL2VL && i < sizeof(value->sl2vl.vl); i++)
		value->sl2vl.vl[i] = triad_wire_get8(wire);
	for (unsigned i = 0; i < table->n; i++) {
		value->vlarb[i].vl = triad_wire_get8(wire);
		value->vlarb[i].weight = triad_wire_get8(wire);
	}
}

static bool differs(const struct triad_port_table *table)
{
	return !triad_port_table_is_same(
		table->table, table->n, &table->policy, &table->sm);
}

static void put_table(struct triad_wire *wire, const struct triad_port_table *table)
{
	bool has_both = differs(table);

	triad_wire_put(wire, 1, table->table);
	triad_wire_put(wire, 1, table->in_first);
	triad_wire_put(wire, 1, table->in_last);
	triad_wire_put(wire, 1, table->n);
	triad_wire_put(wire, 1, has_both);
	put_table_value(wire, table, &table->sm);
	if (has_both)
		put_table_value(wire, table, &table->policy);
}

/* Reads a table; only arbitration tables have entries. */
static bool get_table(struct triad_wire *wire, struct triad_port_table *table)
{
	bool has_both, has_entries;

	memset(table, 0, sizeof(*table));
	table->table = triad_wire_get8(wire);
	table->in_first = triad_wire_get8(wire);
	table->in_last = triad_wire_get8(wire);
	table->n = triad_wire_get8(wire);
	has_both = triad_wire_get8(wire);
	has_entries = table->table == TRIAD_SETUP_VLARB_LOW ||
		table->table == TRIAD_SETUP_VLARB_HIGH;
	if (table->table >= TRIAD_SETUP_N_TABLES || table->n > TRIAD_VLARB_MAX ||
		(table->n && !has_entries))
		return false;
	get_value(wire, table, &table->sm);
	if (has_both)
		get_value(wire, table, &table->policy);
	else
		table->policy = table->sm;
	return !wire->failed;
}

/* --- writing --- */

/* Tables that are written already, by their hash. */
struct known {
	uint64_t hash;
	uint32_t number; /* of the tables, plus 1; 0: a free place */
	uint32_t row;    /* in the list */
};

struct filling {
	struct triad_kept_list *list;
	struct known *known; /* a hash table with 'n_places', a power of two */
	uint32_t n_places, n_known;
	/* The tables of a port; 'last' is not written yet, as more in-ports may join
	 * it. */
	uint8_t octets[TRIAD_KEPT_ROW_SIZE];
	struct triad_wire tables;
	struct triad_port_table last;
	bool has_last;
	/* The ports of a node; 'first' to 'end' are the last ports in a row with equal
	 * tables. */
	uint8_t node_octets[TRIAD_KEPT_ROW_SIZE];
	struct triad_wire node;
	uint32_t first, end, number;
};

static void flush_table(struct filling *filling)
{
	if (filling->has_last)
		put_table(&filling->tables, &filling->last);
	filling->has_last = false;
}

static void take_table(
	void *context, uint32_t port, const struct triad_port_table *table)
{
	struct filling *filling = context;
	struct triad_port_table *last = &filling->last;

	(void)port;
	if (filling->has_last && table->table == TRIAD_SETUP_SL2VL &&
		triad_port_table_is_same(
			table->table, 0, &last->policy, &table->policy) &&
		triad_port_table_is_same(table->table, 0, &last->sm, &table->sm)) {
		last->in_last = table->in_last;
		return;
	}
	flush_table(filling);
	*last = *table;
	filling->has_last = true;
}

/* Doubles the number of places; returns 0 or ENOMEM. */
static int enlarge(struct filling *filling)
{
	uint32_t n = filling->n_places ? 2 * filling->n_places : 64;
	struct known *known = calloc(n, sizeof(*known));

	if (!known)
		return ENOMEM;
	for (uint32_t i = 0; i < filling->n_places; i++) {
		const struct known *from = &filling->known[i];
		uint32_t at = (uint32_t)from->hash & (n - 1);

		if (!from->number)
			continue;
		while (known[at].number)
			at = (at + 1) & (n - 1);
		known[at] = *from;
	}
	free(filling->known);
	filling->known = known;
	filling->n_places = n;
	return 0;
}

static bool is_row(const struct filling *filling, uint32_t row)
{
	uint32_t size;
	const uint8_t *octets = triad_kept_list_row(filling->list, row, &size);

	return size == filling->tables.at && !memcmp(octets, filling->octets, size);
}

/* Finds the number of the present port's tables; writes them if they are new. */
static int find_number(struct filling *filling, uint32_t *number)
{
	uint64_t hash = triad_hash_octets(
		TRIAD_HASH_START, filling->octets, filling->tables.at);
	struct known *known;
	uint32_t at;

	if (4 * filling->n_known >= 3 * filling->n_places && enlarge(filling))
		return ENOMEM;
	at = (uint32_t)hash & (filling->n_places - 1);
	while ((known = &filling->known[at])->number &&
		(known->hash != hash || !is_row(filling, known->row)))
		at = (at + 1) & (filling->n_places - 1);
	if (!known->number) {
		*known = (struct known){.hash = hash,
			.number = ++filling->n_known,
			.row = filling->list->n};
		triad_kept_list_add(filling->list, filling->octets, filling->tables.at);
	}
	*number = known->number - 1;
	return 0;
}

static void flush_ports(struct filling *filling)
{
	if (filling->end == filling->first)
		return;
	triad_wire_put(&filling->node, 1, filling->first);
	triad_wire_put(&filling->node, 1, filling->end - 1);
	triad_wire_put(&filling->node, 4, filling->number);
	filling->first = filling->end;
}

static int fill_port(
	struct filling *filling, const struct triad_desired *desired, uint32_t port)
{
	uint8_t number_of_port = desired->fabric->ports[port].number;
	uint32_t number;

	triad_wire_init(&filling->tables, filling->octets, sizeof(filling->octets));
	triad_wire_put(&filling->tables, 1, IS_TABLES);
	triad_port_tables_each(desired, port, take_table, filling);
	flush_table(filling);
	if (filling->tables.at == 1)
		return 0;
	/* Write the tables to the list unless it has them. */
	if (find_number(filling, &number))
		return ENOMEM;
	if (number_of_port != filling->end || number != filling->number)
		flush_ports(filling);
	if (filling->first == filling->end)
		filling->first = number_of_port;
	filling->end = number_of_port + 1u;
	filling->number = number;
	return 0;
}

static int fill_node(
	struct filling *filling, const struct triad_desired *desired, uint32_t node)
{
	const struct triad_fabric_node *at = &desired->fabric->nodes[node];
	int error = 0;

	triad_wire_init(
		&filling->node, filling->node_octets, sizeof(filling->node_octets));
	triad_wire_put(&filling->node, 1, IS_NODE);
	triad_wire_put(&filling->node, 8, at->guid);
	filling->first = filling->end = 0;
	for (uint32_t i = 0; i < at->n_ports && !error; i++)
		error = fill_port(filling, desired, at->first_port + i);
	flush_ports(filling);
	if (filling->node.at > NODE_HEAD)
		triad_kept_list_add(
			filling->list, filling->node_octets, filling->node.at);
	return error;
}

int triad_kept_tables_fill(
	struct triad_kept_list *list, const struct triad_desired *desired)
{
	struct filling *filling = calloc(1, sizeof(*filling));
	int error = filling ? 0 : ENOMEM;

	triad_kept_list_begin(list);
	if (filling)
		filling->list = list;
	/* Stop if the list is too long: it then has no rows. */
	for (uint32_t i = 0; i < desired->fabric->n_nodes && !error && !list->why[0];
		i++)
		error = fill_node(filling, desired, i);
	if (filling)
		free(filling->known);
	free(filling);
	return error;
}

/* --- reading --- */

struct reading {
	const struct triad_kept_list *list;
	const struct triad_kept_tables_reader *reader;
	uint32_t *rows; /* in the list, by the number of the tables */
	uint32_t n;
	size_t room;
	uint64_t guid; /* of the last node */
};

static struct triad_wire wire_of(const struct triad_kept_list *list, uint32_t row)
{
	uint32_t size;
	const uint8_t *octets = triad_kept_list_row(list, row, &size);

	/* It is only read. */
	return (struct triad_wire){.start = (uint8_t *)octets, .size = size};
}

static int read_port(
	const struct reading *reading, uint64_t guid, uint8_t port, uint32_t number)
{
	struct triad_port_table table;
	struct triad_wire wire;

	if (number >= reading->n)
		return EPROTO;
	wire = wire_of(reading->list, reading->rows[number]);
	triad_wire_seek(&wire, 1);
	while (wire.at < wire.size) {
		if (!get_table(&wire, &table))
			return EPROTO;
		reading->reader->take(reading->reader->context, guid, port, &table);
	}
	return 0;
}

/* Reads a node.  Nodes and ports must be in order, so that none comes twice. */
static int read_node_tables(struct reading *reading, struct triad_wire *wire)
{
	const struct triad_kept_tables_reader *reader = reading->reader;
	uint64_t guid = triad_wire_get64(wire);
	unsigned next = 0;
	int error = wire->failed || guid <= reading->guid ? EPROTO : 0;

	reading->guid = guid;
	while (wire->at < wire->size && !error) {
		unsigned first = triad_wire_get8(wire), last = triad_wire_get8(wire);
		uint32_t number = triad_wire_get32(wire);

		if (wire->failed || first < next || last < first)
			return EPROTO;
		next = last + 1;
		for (unsigned port = first; port <= last && !error; port++)
			if (reader->wants(reader->context, guid, (uint8_t)port))
				error = read_port(reading, guid, (uint8_t)port, number);
	}
	return error;
}

int triad_kept_tables_read(const struct triad_kept_list *list,
	const struct triad_kept_tables_reader *reader)
{
	struct reading reading = {.list = list, .reader = reader};
	int error = 0;

	for (uint32_t i = 0; i < list->n && !error; i++) {
		struct triad_wire wire = wire_of(list, i);
		uint8_t kind = triad_wire_get8(&wire);

		if (kind == IS_NODE)
			error = read_node_tables(&reading, &wire);
		else if (kind == IS_TABLES)
			error = triad_grow(&reading.rows, &reading.room, reading.n + 1,
				sizeof(*reading.rows), 64);
		if (kind == IS_TABLES && !error)
			reading.rows[reading.n++] = i;
	}
	free(reading.rows);
	return error;
}
