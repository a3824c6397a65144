/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric of a running SM, put together from the answers to 'ports' and 'cables'. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cli/cabling_command.h"
#include "cli/client.h"
#include "cli/json_rows.h"
#include "ib/link.h"
#include "ib/port_condition.h"
#include "lib/text.h"

/* One answer. */
struct answer {
	struct triad_json_rows rows;
	bool is_quiet; /* drops messages */
};

/* A row of 'ports'. */
struct port_row {
	uint64_t guid, port_guid, far_guid;
	char name[TRIAD_NODE_NAME_SIZE];
	uint8_t type, number, far_number;
	enum triad_port_condition condition;
	bool far_end_is_past;
	struct triad_link_rate rate;
};

struct port_rows {
	struct triad_fabric_builder *builder;
	struct port_row row;
	uint64_t node_guid; /* of the node added last */
};

/* A row of 'cables'. */
struct cable_rows {
	const struct triad_fabric *fabric;
	struct triad_cabling_cable *cables;
	struct triad_cabling_cable row;
	uint64_t guid;
	uint8_t number;
};

/* --- asking ------------------------------------------------------------ */

static int take_answer(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct answer *answer = context;

	if (type == TRIAD_FRAME_OUTPUT)
		triad_json_rows_take(&answer->rows, piece, size);
	else if (type == TRIAD_FRAME_MESSAGE && !answer->is_quiet)
		fwrite(piece, 1, size, stderr);
	return 0;
}

static int ask_for_rows(const struct triad_cabling_asker *asker, const char *command,
	struct answer *answer)
{
	const char *const words[] = {command, "--json"};
	const struct triad_client_sink sink = {take_answer, answer};
	const struct triad_client client = {.path = asker->path,
		.program = "triadctl",
		.may = TRIAD_CLIENT_MAY,
		.is_agent = asker->is_agent,
		.timeout_s = asker->timeout_s,
		.sink = &sink,
		.hides_progress = answer->is_quiet};
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), 2, words);

	return triad_client_ask(&client, request, size) ? EIO : 0;
}

/* --- ports ------------------------------------------------------------- */

static uint8_t read_octet(const char *value)
{
	unsigned number;

	return triad_text_number(value, &number) && number <= UINT8_MAX
		? (uint8_t)number
		: 0;
}

static enum triad_port_condition read_condition(const char *value)
{
	unsigned i = TRIAD_CONDITION_UNKNOWN;

	while (++i < TRIAD_N_CONDITIONS)
		if (!strcmp(value, triad_port_condition_choices[i]))
			return (enum triad_port_condition)i;
	return TRIAD_CONDITION_UNKNOWN;
}

static uint8_t read_node_type(const char *value)
{
	for (uint8_t type = TRIAD_NODE_CA; type <= TRIAD_NODE_ROUTER; type++)
		if (!strcmp(value, triad_node_type_name(type)))
			return type;
	return TRIAD_NODE_CA;
}

/* "4x EDR". */
static struct triad_link_rate read_rate(const char *value)
{
	struct triad_link_rate rate = {0};
	char width[8], speed[8];

	if (sscanf(value, "%7s %7s", width, speed) == 2) {
		rate.width = triad_link_width_find(width);
		rate.speed = triad_link_speed_find(speed);
	}
	return rate;
}

static void take_port_member(void *context, const char *name, const char *value)
{
	struct port_row *row = &((struct port_rows *)context)->row;

	if (!value)
		return;
	if (!strcmp(name, "node_guid"))
		(void)triad_text_guid(value, &row->guid);
	else if (!strcmp(name, "node_name"))
		g_strlcpy(row->name, value, sizeof(row->name));
	else if (!strcmp(name, "node_type"))
		row->type = read_node_type(value);
	else if (!strcmp(name, "port"))
		row->number = read_octet(value);
	else if (!strcmp(name, "port_guid"))
		(void)triad_text_guid(value, &row->port_guid);
	else if (!strcmp(name, "state"))
		row->condition = read_condition(value);
	else if (!strcmp(name, "rate"))
		row->rate = read_rate(value);
	else if (!strcmp(name, "far_guid"))
		(void)triad_text_guid(value, &row->far_guid);
	else if (!strcmp(name, "far_port"))
		row->far_number = read_octet(value);
	else if (!strcmp(name, "far_end_is_past"))
		row->far_end_is_past = !strcmp(value, "true");
}

/* The inverse of ib/port_condition.h. */
static void set_states(
	struct triad_fabric_port *port, enum triad_port_condition condition)
{
	static const struct {
		uint8_t state, phys_state;
	} states[TRIAD_N_CONDITIONS] = {
		[TRIAD_CONDITION_FREE] = {TRIAD_PORT_DOWN, TRIAD_PHYS_POLLING},
		[TRIAD_CONDITION_POLLING] = {TRIAD_PORT_DOWN, TRIAD_PHYS_POLLING},
		[TRIAD_CONDITION_DISABLED] = {TRIAD_PORT_DOWN, TRIAD_PHYS_DISABLED},
		[TRIAD_CONDITION_TRAINING] = {TRIAD_PORT_DOWN, TRIAD_PHYS_TRAINING},
		[TRIAD_CONDITION_SLEEPING] = {TRIAD_PORT_DOWN, TRIAD_PHYS_SLEEP},
		[TRIAD_CONDITION_SILENT] = {TRIAD_PORT_INIT, TRIAD_PHYS_LINK_UP},
		[TRIAD_CONDITION_INIT] = {TRIAD_PORT_INIT, TRIAD_PHYS_LINK_UP},
		[TRIAD_CONDITION_ARMED] = {TRIAD_PORT_ARMED, TRIAD_PHYS_LINK_UP},
		[TRIAD_CONDITION_ACTIVE] = {TRIAD_PORT_ACTIVE, TRIAD_PHYS_LINK_UP},
	};

	port->state = states[condition].state;
	port->phys_state = states[condition].phys_state;
}

static void end_port_row(void *context)
{
	struct port_rows *rows = context;
	const struct port_row *row = &rows->row;
	const struct triad_fabric_node node = {.guid = row->guid, .type = row->type};
	struct triad_fabric_port port = {.guid = row->port_guid,
		.number = row->number,
		.width = row->rate.width};
	bool has_far = row->far_guid && !row->far_end_is_past;

	if (row->guid && row->guid != rows->node_guid)
		triad_fabric_builder_add_node(rows->builder, &node, row->name, NULL, 0);
	if (row->guid && row->number) {
		rows->node_guid = row->guid;
		set_states(&port, row->condition);
		triad_link_speed_codes(row->rate.speed, &port.speed, &port.speed_ext);
		triad_fabric_builder_add_port(rows->builder, &port,
			has_far ? row->far_guid : 0, has_far ? row->far_number : 0);
	}
	rows->row = (struct port_row){0};
}

static int ask_ports(
	const struct triad_cabling_asker *asker, struct triad_fabric **fabric)
{
	struct port_rows rows = {.builder = triad_fabric_builder_new(NULL)};
	struct answer answer = {.rows = {.member = take_port_member,
					.end = end_port_row,
					.context = &rows}};
	int error = rows.builder ? ask_for_rows(asker, "ports", &answer) : ENOMEM;

	if (!error) {
		error = triad_fabric_build(rows.builder, 0, fabric);
		if (error)
			fprintf(stderr,
				"triadctl: cabling check: the answer to 'ports' can't "
				"be read: %s\n",
				strerror(error));
	}
	triad_fabric_builder_free(rows.builder);
	return error;
}

/* --- cables ------------------------------------------------------------ */

static void take_cable_member(void *context, const char *name, const char *value)
{
	struct cable_rows *rows = context;

	if (!value)
		return;
	if (!strcmp(name, "node_guid"))
		(void)triad_text_guid(value, &rows->guid);
	else if (!strcmp(name, "port"))
		rows->number = read_octet(value);
	else if (!strcmp(name, "module"))
		rows->row.has_plug =
			!strcmp(value, "known") || !strcmp(value, "no memory");
	else if (!strcmp(name, "length_m"))
		rows->row.length_dm =
			(uint16_t)(10 * g_ascii_strtod(value, NULL) + 0.5);
}

static void end_cable_row(void *context)
{
	struct cable_rows *rows = context;
	uint32_t port = triad_fabric_port_at(rows->fabric, rows->guid, rows->number);

	if (port != TRIAD_FABRIC_NONE)
		rows->cables[port] = rows->row;
	rows->row = (struct triad_cabling_cable){0};
	rows->guid = 0;
}

int triad_cabling_ask(const struct triad_cabling_asker *asker,
	struct triad_fabric **fabric, struct triad_cabling_cable **cables)
{
	struct cable_rows rows = {0};
	struct answer answer = {.rows = {.member = take_cable_member,
					.end = end_cable_row,
					.context = &rows},
		.is_quiet = true};
	int error = ask_ports(asker, fabric);

	if (error)
		return error;
	rows.fabric = *fabric;
	rows.cables = calloc((size_t)(*fabric)->n_ports + 1, sizeof(*rows.cables));
	/* Without devices.enabled they are not known. */
	if (rows.cables)
		(void)ask_for_rows(asker, "cables", &answer);
	*cables = rows.cables;
	return 0;
}
