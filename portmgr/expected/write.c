/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/write.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/text.h"
#include "portmgr/expected/expected.h"
#include "triad/fabric.h"

#define LINE_SIZE 512

/* The far end of a link that is up, or NULL. */
static const struct triad_fabric_port *far_end(
	const struct triad_fabric *fabric, const struct triad_fabric_port *port)
{
	const struct triad_fabric_port *far;

	if (port->state < TRIAD_PORT_INIT || port->remote == TRIAD_FABRIC_NONE)
		return NULL;
	far = &fabric->ports[port->remote];
	/* The far port may have been disabled since the last sweep: then it is
	 * unknown. */
	return far->phys_state == TRIAD_PHYS_DISABLED || !far->number ||
			far->number > TRIAD_FABRIC_MAX_PORT_NUMBER
		? NULL
		: far;
}

static void append_quoted(char *line, size_t size, const char *text)
{
	for (; *text; text++)
		triad_text_append(line, size, *text == '"' ? "\"%c" : "%c", *text);
}

/* The port's node, and its far end. */
static void append_comment(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, const struct triad_fabric_port *far,
	char *line, size_t size)
{
	triad_text_append(line, size, "\"");
	append_quoted(line, size, fabric->nodes[port->node].name);
	if (far) {
		triad_text_append(line, size, " to ");
		append_quoted(line, size, fabric->nodes[far->node].name);
	}
	triad_text_append(line, size, "\"");
}

static void write_port(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port,
	void (*put)(void *context, const char *line), void *context)
{
	bool is_disabled = port->phys_state == TRIAD_PHYS_DISABLED;
	const struct triad_fabric_port *far =
		is_disabled ? NULL : far_end(fabric, port);
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "0x%016" PRIx64 ",%u,%s,",
		fabric->nodes[port->node].guid, port->number,
		triad_expected_state_name(is_disabled ? TRIAD_EXPECTED_DISABLED
						      : TRIAD_EXPECTED_ENABLED));
	if (far)
		triad_text_append(line, sizeof(line),
			"node_guid=0x%016" PRIx64 ";port=%u,%s,%s,,",
			fabric->nodes[far->node].guid, far->number,
			triad_link_width_name(port->width),
			triad_link_speed_name(
				triad_link_speed(port->speed, port->speed_ext)));
	else
		triad_text_append(line, sizeof(line), ",,,,");
	append_comment(fabric, port, far, line, sizeof(line));
	triad_text_append(line, sizeof(line), "\n");
	put(context, line);
}

void triad_expected_write(const struct triad_fabric *fabric, uint64_t generation,
	void (*put)(void *context, const char *line), void *context)
{
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "generation %" PRIu64 "\n", generation);
	put(context, line);
	put(context, "node,port,state,remote,width,speed,check,comment\n");
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		const struct triad_fabric_node *node = &fabric->nodes[port->node];

		if (node->type == TRIAD_NODE_SWITCH && node->guid && port->number &&
			port->number <= TRIAD_FABRIC_MAX_PORT_NUMBER)
			write_port(fabric, port, put, context);
	}
}
