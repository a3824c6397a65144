/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/placed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "lib/text.h"
#include "portmgr/expected/expected_parts.h"

#define NO_NODE TRIAD_FABRIC_NONE
#define SEVERAL (TRIAD_FABRIC_NONE - 1)
#define UNFIT SEVERAL /* or the node is no switch: its rows get no port */

/* An entry of a sorted list: a row by its node's GUID or name, or a node by its
 * name. */
struct named {
	uint64_t guid;
	const char *name;
	uint32_t at;
};

/* What is known of a row.  The first row about a node leads all rows about it, so that
 * a mistake about the node is reported once. */
struct about {
	uint32_t leader;
	uint32_t n_led; /* of a leader: its rows, itself included */
	uint32_t node;  /* of a leader: the fabric's node, or NO_NODE, UNFIT */
	bool is_bad;
};

struct placer {
	const struct triad_expected *expected;
	const struct triad_fabric *fabric;
	struct triad_diags *mistakes, *warnings;
	struct triad_placed *placed;
	struct about *abouts; /* of each row */
	struct named *names;  /* of the fabric's nodes */
};

/* --- memory ------------------------------------------------------------ */

static void *new_array(size_t n, size_t item_size)
{
	return calloc(n ? n : 1, item_size);
}

static uint32_t *new_places(uint32_t n)
{
	uint32_t *places = new_array(n, sizeof(*places));

	for (uint32_t i = 0; places && i < n; i++)
		places[i] = TRIAD_PLACED_NONE;
	return places;
}

void triad_placed_free(struct triad_placed *placed)
{
	if (!placed)
		return;
	free(placed->row_of);
	free(placed->port_of);
	free(placed->unknown);
	free(placed);
}

static struct triad_placed *new_placed(uint32_t n_ports, uint32_t n_rows)
{
	struct triad_placed *placed = calloc(1, sizeof(*placed));

	if (!placed)
		return NULL;
	placed->n_ports = n_ports;
	placed->n_rows = n_rows;
	placed->row_of = new_places(n_ports);
	placed->port_of = new_places(n_rows);
	placed->unknown = new_places(n_rows);
	if (placed->row_of && placed->port_of && placed->unknown)
		return placed;
	triad_placed_free(placed);
	return NULL;
}

/* --- telling ----------------------------------------------------------- */

static const struct triad_expected_port *row_at(
	const struct placer *placer, uint32_t row)
{
	return &placer->expected->ports[row];
}

static void report_row(const struct placer *placer, struct triad_diags *diags,
	uint32_t row, const char *text)
{
	if (diags)
		triad_diags_add(diags, row_at(placer, row)->line, 0, "%s", text);
}

static void report_mistake(struct placer *placer, uint32_t row, const char *text)
{
	report_row(placer, placer->mistakes, row, text);
	placer->abouts[row].is_bad = true;
}

static void describe_node(
	const struct placer *placer, uint32_t row, char *text, size_t size)
{
	const struct triad_expected_port *at = row_at(placer, row);

	if (at->node_guid)
		snprintf(text, size, "0x%016" PRIx64, at->node_guid);
	else
		snprintf(text, size, "%s",
			triad_expected_text(placer->expected, at->node_name));
}

/* --- nodes ------------------------------------------------------------- */

/* Sorts by GUID, then by name, then by the order in the file. */
static int compare_named(const void *a, const void *b)
{
	const struct named *one = a, *other = b;
	int order = (one->guid > other->guid) - (one->guid < other->guid);

	if (!order)
		order = strcmp(one->name, other->name);
	return order ? order : (one->at > other->at) - (one->at < other->at);
}

static int lead_rows(struct placer *placer)
{
	uint32_t n = placer->expected->n_ports;
	struct named *sorted = new_array(n, sizeof(*sorted));
	uint32_t leader = 0;

	if (!sorted)
		return ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct named){row_at(placer, i)->node_guid,
			triad_expected_text(
				placer->expected, row_at(placer, i)->node_name),
			i};
	qsort(sorted, n, sizeof(*sorted), compare_named);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || sorted[i].guid != sorted[i - 1].guid ||
			strcmp(sorted[i].name, sorted[i - 1].name) != 0)
			leader = sorted[i].at;
		placer->abouts[sorted[i].at].leader = leader;
		placer->abouts[leader].n_led++;
	}
	free(sorted);
	return 0;
}

static int sort_names(struct placer *placer)
{
	const struct triad_fabric *fabric = placer->fabric;

	placer->names = new_array(fabric->n_nodes, sizeof(*placer->names));
	if (!placer->names)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		placer->names[i] = (struct named){0, fabric->nodes[i].name, i};
	qsort(placer->names, fabric->n_nodes, sizeof(*placer->names), compare_named);
	return 0;
}

/* The node of that name, or NO_NODE or SEVERAL. */
static uint32_t find_name(const struct placer *placer, const char *name)
{
	const uint32_t n = placer->fabric->n_nodes;
	uint32_t at;

	TRIAD_SEARCH(at, 0, n, strcmp(placer->names[at].name, name) < 0);
	if (at == n || strcmp(placer->names[at].name, name) != 0)
		return NO_NODE;
	if (at + 1 < n && !strcmp(placer->names[at + 1].name, name))
		return SEVERAL;
	return placer->names[at].at;
}

static uint32_t find_expected_node(
	const struct placer *placer, uint64_t guid, uint32_t name)
{
	if (guid)
		return triad_fabric_find_node(placer->fabric, guid);
	return find_name(placer, triad_expected_text(placer->expected, name));
}

/* Finds the node of the rows that 'leader' leads, and reports a mistake about it. */
static void find_leaders_node(struct placer *placer, uint32_t leader)
{
	struct about *about = &placer->abouts[leader];
	const struct triad_expected_port *row = row_at(placer, leader);
	char node[TRIAD_NODE_NAME_SIZE], text[TRIAD_DIAG_TEXT_SIZE];
	const char *what = NULL;

	about->node = find_expected_node(placer, row->node_guid, row->node_name);
	if (about->node == NO_NODE)
		what = "isn't in the fabric";
	else if (about->node == SEVERAL)
		what = "is the name of several nodes; name them by GUID";
	else if (placer->fabric->nodes[about->node].type != TRIAD_NODE_SWITCH)
		what = "isn't a switch";
	if (!what)
		return;
	describe_node(placer, leader, node, sizeof(node));
	snprintf(text, sizeof(text), "%s %s", node, what);
	if (about->n_led > 1)
		triad_text_append(text, sizeof(text), " (%" PRIu32 " lines about it)",
			about->n_led);
	if (about->node == NO_NODE) {
		report_row(placer, placer->warnings, leader, text);
	} else {
		report_mistake(placer, leader, text);
		about->node = UNFIT;
	}
}

/* --- ports ------------------------------------------------------------- */

static void report_no_port(struct placer *placer, uint32_t row, uint32_t node)
{
	const struct triad_fabric_node *at = &placer->fabric->nodes[node];
	unsigned last = at->n_ports
		? placer->fabric->ports[at->first_port + at->n_ports - 1].number
		: 0;
	char name[TRIAD_NODE_NAME_SIZE], text[TRIAD_DIAG_TEXT_SIZE];

	describe_node(placer, row, name, sizeof(name));
	snprintf(text, sizeof(text), "%s has no port %u; its last one is %u", name,
		row_at(placer, row)->port, last);
	report_mistake(placer, row, text);
}

static void report_same_port(struct placer *placer, uint32_t row, uint32_t other)
{
	char text[TRIAD_DIAG_TEXT_SIZE];

	snprintf(text, sizeof(text),
		"the same port as in line %" PRIu32
		": once the node is named by GUID, once by its name",
		row_at(placer, other)->line);
	report_mistake(placer, row, text);
	placer->abouts[other].is_bad = true;
}

static void place(struct placer *placer, uint32_t row)
{
	struct triad_placed *placed = placer->placed;
	uint32_t node = placer->abouts[placer->abouts[row].leader].node, port;

	if (node == NO_NODE)
		placed->unknown[placed->n_unknown++] = row;
	if (node == NO_NODE || node == UNFIT)
		return;
	port = triad_fabric_find_port(placer->fabric, node, row_at(placer, row)->port);
	if (port == TRIAD_FABRIC_NONE) {
		report_no_port(placer, row, node);
	} else if (placed->row_of[port] != TRIAD_PLACED_NONE) {
		report_same_port(placer, row, placed->row_of[port]);
	} else {
		placed->row_of[port] = row;
		placed->port_of[row] = port;
	}
}

/* --- links ------------------------------------------------------------- */

/* Finds the row about the far port that 'remote' names, by GUID or name. */
static uint32_t find_far_row(
	const struct placer *placer, const struct triad_expected_remote *remote)
{
	const char *name = triad_expected_text(placer->expected, remote->name);
	uint32_t node, port;

	if (!remote->port || (!remote->node_guid && !remote->name) ||
		(!remote->node_guid && !triad_expected_is_plain(name)))
		return TRIAD_PLACED_NONE;
	node = find_expected_node(placer, remote->node_guid, remote->name);
	if (node == NO_NODE || node == SEVERAL)
		return TRIAD_PLACED_NONE;
	port = triad_fabric_find_port(placer->fabric, node, remote->port);
	return port == TRIAD_FABRIC_NONE ? TRIAD_PLACED_NONE
					 : placer->placed->row_of[port];
}

/* One end of a link, as its row names it.  If the row has a GUID, omits the node's
 * present name: it may change, so a difference is no contradiction. */
static struct triad_expected_end named_end_of_row(
	const struct placer *placer, uint32_t row)
{
	const struct triad_expected_port *at = row_at(placer, row);
	const struct triad_fabric_port *port =
		&placer->fabric->ports[placer->placed->port_of[row]];
	const struct triad_fabric_node *node = &placer->fabric->nodes[port->node];

	return (struct triad_expected_end){
		.row = at,
		.node_guid = node->guid,
		.port_guid = port->guid,
		.name = at->node_name
			? triad_expected_text(placer->expected, at->node_name)
			: NULL,
		.vendor_id = node->vendor_id,
	};
}

static void check_link(struct placer *placer, uint32_t row)
{
	struct triad_expected_end near, far;
	char why[TRIAD_DIAG_TEXT_SIZE];
	uint32_t other;

	if (placer->placed->port_of[row] == TRIAD_PLACED_NONE)
		return;
	other = find_far_row(placer, &row_at(placer, row)->remote);
	if (other == TRIAD_PLACED_NONE)
		return;
	near = named_end_of_row(placer, row);
	far = named_end_of_row(placer, other);
	if (!triad_expected_ends_contradict(
		    placer->expected, &near, &far, why, sizeof(why)))
		return;
	report_mistake(placer, row, why);
	placer->abouts[other].is_bad = true;
}

/* Removes the ports of rows with mistakes.  Called last, so that the result does not
 * depend on the order of the rows. */
static void drop_bad_rows(struct placer *placer)
{
	struct triad_placed *placed = placer->placed;

	for (uint32_t i = 0; i < placed->n_rows; i++) {
		if (!placer->abouts[i].is_bad ||
			placed->port_of[i] == TRIAD_PLACED_NONE)
			continue;
		placed->row_of[placed->port_of[i]] = TRIAD_PLACED_NONE;
		placed->port_of[i] = TRIAD_PLACED_NONE;
	}
}

/* --- all --------------------------------------------------------------- */

static int place_all(struct placer *placer)
{
	uint32_t n = placer->expected->n_ports;

	if (lead_rows(placer) || sort_names(placer))
		return ENOMEM;
	/* A leader precedes the other rows about its node, so they find the node
	 * known. */
	for (uint32_t i = 0; i < n; i++) {
		if (placer->abouts[i].leader == i)
			find_leaders_node(placer, i);
		place(placer, i);
	}
	for (uint32_t i = 0; i < n; i++)
		check_link(placer, i);
	drop_bad_rows(placer);
	return 0;
}

int triad_placed_build(const struct triad_expected *expected,
	const struct triad_fabric *fabric, struct triad_diags *mistakes,
	struct triad_diags *warnings, struct triad_placed **placed)
{
	struct placer placer = {.expected = expected,
		.fabric = fabric,
		.mistakes = mistakes,
		.warnings = warnings,
		.placed = new_placed(fabric->n_ports, expected->n_ports),
		.abouts = new_array(expected->n_ports, sizeof(struct about))};
	int error = ENOMEM;

	if (placer.placed && placer.abouts)
		error = place_all(&placer);
	free(placer.abouts);
	free(placer.names);
	if (error)
		triad_placed_free(placer.placed);
	else
		*placed = placer.placed;
	return error;
}
