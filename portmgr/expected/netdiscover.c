/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/netdiscover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "portmgr/expected/netdiscover_line.h"

#define N_PORTS 255 /* 0 to 254 */
#define FIRST_ROOM 256

/* A link as one end's line describes it; compared with the other end's line. */
struct link {
	uint64_t guid;
	uint32_t line; /* of the file; 0: none */
	uint8_t port;
};

/* A node while its lines are read.  The header's GUID is 0 if the header was wrong. */
struct node {
	struct triad_netdiscover_line header;
	uint32_t line; /* of the header; 0: there is no node yet */
	uint32_t vendor_id;
	uint16_t device_id;
	uint64_t port_guid;
	uint32_t lines[N_PORTS];                      /* line of each port; 0: none */
	struct triad_netdiscover_line ports[N_PORTS]; /* valid if the port has a line */
};

struct reader {
	struct triad_diags *diags;
	struct triad_fabric_builder *builder;
	struct node node;   /* the node whose lines are being read */
	uint32_t vendor_id; /* of the next node */
	uint16_t device_id;
	uint64_t port_guid;
	struct link *links; /* also has each node, as its port 0 */
	size_t n_links, room;
	int error;
};

/* --- nodes ------------------------------------------------------------- */

static void remember(struct reader *reader, uint64_t guid, uint8_t port, uint32_t line)
{
	if (reader->n_links == TRIAD_FABRIC_MAX_PORTS)
		reader->error = E2BIG;
	if (!reader->error)
		reader->error = triad_grow(&reader->links, &reader->room,
			reader->n_links + 1, sizeof(*reader->links), FIRST_ROOM);
	if (!reader->error)
		reader->links[reader->n_links++] = (struct link){guid, line, port};
}

static void add_listed_port(struct reader *reader, unsigned number)
{
	const struct node *node = &reader->node;
	static const struct triad_netdiscover_line none;
	bool is_switch = node->header.type == TRIAD_NODE_SWITCH;
	bool is_linked = node->lines[number], is_up = is_linked || !number;
	const struct triad_netdiscover_line *link =
		is_linked ? &node->ports[number] : &none;
	struct triad_fabric_port port = {
		.guid = is_switch ? node->port_guid : link->port_guid,
		.lid = is_switch ? node->header.lid : link->lid,
		.lmc = is_switch ? node->header.lmc : link->lmc,
		.number = (uint8_t)number,
		.state = is_up ? TRIAD_PORT_ACTIVE : TRIAD_PORT_DOWN,
		.phys_state = is_up ? TRIAD_PHYS_LINK_UP : TRIAD_PHYS_POLLING,
		.width = link->width,
		.speed = link->speed,
		.speed_ext = link->speed_ext,
	};

	triad_fabric_builder_add_port(reader->builder, &port,
		is_linked ? link->guid : 0, (uint8_t)link->far_port);
	if (is_linked)
		remember(reader, node->header.guid, (uint8_t)number,
			node->lines[number]);
}

/* Adds the present node after all its lines were read.  The file has only those ports
 * of a channel adapter or router that have a link, by their GUIDs. */
static void end_node(struct reader *reader)
{
	struct node *node = &reader->node;
	const struct triad_fabric_node added = {
		.guid = node->header.guid,
		.vendor_id = node->vendor_id,
		.device_id = node->device_id,
		.type = node->header.type,
		.enhanced_port0 = node->header.enhanced_port0,
	};
	bool is_switch = added.type == TRIAD_NODE_SWITCH;

	if (!added.guid || reader->error)
		return;
	triad_fabric_builder_add_node(
		reader->builder, &added, node->header.name, NULL, 0);
	remember(reader, added.guid, 0, node->line);
	for (unsigned i = !is_switch; i <= node->header.port; i++)
		if (is_switch || node->lines[i])
			add_listed_port(reader, i);
	node->header.guid = 0;
}

static void begin_node(struct reader *reader, const struct triad_netdiscover_line *line,
	uint32_t number)
{
	struct node *node = &reader->node;

	/* The lines vendid=, devid= and switchguid= precede their node. */
	end_node(reader);
	memset(node->lines, 0, sizeof(node->lines));
	node->header = *line;
	node->line = number;
	node->vendor_id = reader->vendor_id;
	node->device_id = reader->device_id;
	node->port_guid = reader->port_guid ? reader->port_guid : line->guid;
	reader->vendor_id = 0;
	reader->device_id = 0;
	reader->port_guid = 0;
}

static void add_link(struct reader *reader, const struct triad_netdiscover_line *line,
	uint32_t number)
{
	struct node *node = &reader->node;

	if (!node->line) {
		triad_diags_add(reader->diags, number, 0,
			"a link without a node: 'Switch', 'Ca' or 'Rt' comes before");
	} else if (node->header.guid && line->port > node->header.port) {
		triad_diags_add(reader->diags, number, 0,
			"port %u of a node that has %u (line %" PRIu32 ")", line->port,
			node->header.port, node->line);
	} else if (node->lines[line->port]) {
		triad_diags_add(reader->diags, number, 0,
			"port %u of this node is in line %" PRIu32 " already",
			line->port, node->lines[line->port]);
	} else if (node->header.type != TRIAD_NODE_SWITCH && !line->port_guid) {
		triad_diags_add(reader->diags, number, 0,
			"the port's GUID is missing behind [%u]", line->port);
	} else if (node->header.guid) {
		node->lines[line->port] = number;
		node->ports[line->port] = *line;
	}
}

/* --- lines ------------------------------------------------------------- */

static void read_listed_line(
	struct reader *reader, uint32_t number, const char *octets, size_t size)
{
	struct triad_netdiscover_line line;
	const char *wrong;
	size_t at;

	wrong = triad_netdiscover_line_read(octets, size, &line, &at);
	if (wrong)
		triad_diags_add(reader->diags, number, (unsigned)at + 1, "%s", wrong);
	/* Begin a node even at a wrong header: the links below are not the last
	 * node's. */
	if (line.kind == TRIAD_NETDISCOVER_NODE)
		begin_node(reader, &line, number);
	else if (!wrong && line.kind == TRIAD_NETDISCOVER_LINK)
		add_link(reader, &line, number);
	else if (line.kind == TRIAD_NETDISCOVER_VENDOR)
		reader->vendor_id = (uint32_t)line.number;
	else if (line.kind == TRIAD_NETDISCOVER_DEVICE)
		reader->device_id = (uint16_t)line.number;
	else if (line.kind == TRIAD_NETDISCOVER_GUIDS)
		reader->port_guid = line.port_guid;
}

static void read_lines(struct reader *reader, const char *octets, size_t size)
{
	const char *end = octets + size, *next;
	uint32_t number = 1;

	for (; octets < end && !reader->error; octets = next, number++) {
		const char *newline = memchr(octets, '\n', (size_t)(end - octets));
		size_t n = (size_t)((newline ? newline : end) - octets);

		next = newline ? newline + 1 : end;
		if (n && octets[n - 1] == '\r')
			n--;
		read_listed_line(reader, number, octets, n);
	}
	end_node(reader);
}

/* --- the whole --------------------------------------------------------- */

static int compare_links(const void *a, const void *b)
{
	const struct link *one = a, *other = b;
	int order = (one->guid > other->guid) - (one->guid < other->guid);

	if (!order)
		order = (one->port > other->port) - (one->port < other->port);
	return order ? order : (one->line > other->line) - (one->line < other->line);
}

static void check_twice(const struct reader *reader)
{
	if (reader->n_links)
		qsort(reader->links, reader->n_links, sizeof(*reader->links),
			compare_links);
	for (size_t i = 1; i < reader->n_links; i++) {
		const struct link *one = &reader->links[i - 1], *other = one + 1;

		if (!other->port && one->guid == other->guid)
			triad_diags_add(reader->diags, other->line, 0,
				"the same node as in line %" PRIu32, one->line);
	}
}

/* Checks that both ends agree.  They may not if the output was cut, or if somebody
 * unplugged a port while it was made. */
static void check_links(const struct reader *reader, const struct triad_fabric *fabric)
{
	for (size_t i = 0; i < reader->n_links; i++) {
		const struct link *link = &reader->links[i];
		uint32_t port;

		if (!link->port)
			continue;
		port = triad_fabric_port_at(fabric, link->guid, link->port);
		if (fabric->ports[port].remote == TRIAD_FABRIC_NONE)
			triad_diags_add(reader->diags, link->line, 0,
				"the far end has no line about this link; is all of "
				"the output there?");
	}
}

static int build_listed_fabric(struct reader *reader, struct triad_fabric **fabric)
{
	const size_t n_before = reader->diags->n_total;
	int error = triad_fabric_build(reader->builder, 0, fabric);

	if (error)
		return error == EOVERFLOW ? E2BIG : error;
	check_links(reader, *fabric);
	if (reader->diags->n_total == n_before)
		return 0;
	triad_fabric_unref(*fabric);
	return EINVAL;
}

static int read_listing(struct reader *reader, const char *octets, size_t size,
	struct triad_fabric **fabric)
{
	const size_t n_before = reader->diags->n_total;

	if (size > TRIAD_NETDISCOVER_MAX_OCTETS) {
		triad_diags_add(reader->diags, 0, 0, "it is larger than %zu MiB",
			TRIAD_NETDISCOVER_MAX_OCTETS >> 20);
		return E2BIG;
	}
	read_lines(reader, octets, size);
	if (!reader->error && !reader->n_links)
		triad_diags_add(reader->diags, 0, 0,
			"there is no node; this isn't what ibnetdiscover prints");
	if (!reader->error)
		check_twice(reader);
	if (!reader->error && reader->diags->n_total != n_before)
		return EINVAL;
	if (!reader->error)
		reader->error = build_listed_fabric(reader, fabric);
	if (reader->error == E2BIG)
		triad_diags_add(reader->diags, 0, 0, "more than %u nodes or %u ports",
			TRIAD_FABRIC_MAX_NODES, TRIAD_FABRIC_MAX_PORTS);
	return reader->error;
}

int triad_netdiscover_parse(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_fabric **fabric)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int error = ENOMEM;

	if (!reader)
		return ENOMEM;
	reader->diags = diags;
	reader->builder = triad_fabric_builder_new(NULL);
	if (reader->builder)
		error = read_listing(reader, octets, size, fabric);
	triad_fabric_builder_free(reader->builder);
	free(reader->links);
	free(reader);
	return error;
}
