/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports a command is about, and what there is to show of each.
 *
 * Thread-safety: functions without state, on a view that the caller holds. */
#ifndef TRIAD_SERVICE_COMMAND_PORTS_H
#define TRIAD_SERVICE_COMMAND_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/collector.h"
#include "triad/clock.h"
#include "triad/command.h"
#include "triad/json.h"
#include "triad/output.h"

struct triad_service;

/* What is shown of a port. */
struct triad_shown_port {
	const struct triad_fabric_node *node;
	const struct triad_fabric_port *port;
	const struct triad_fabric_node *remote_node; /* NULL: no far end */
	const struct triad_fabric_port *remote_port;
	bool skipped; /* in a group that is left out, or apart */
	bool apart;   /* it shares no partition with this port */
	struct triad_engine_row row;
};

/* Whether --node, --port and --type choose the port; one without counters is never
 * chosen. */
bool triad_command_wants_port(const struct triad_command *command,
	const struct triad_fabric *fabric, uint32_t port);

/* Whether --node chooses the node. */
bool triad_command_is_node(
	const struct triad_command *command, const char *name, uint64_t guid);

/* The one node that --node chooses, by GUID, name or pattern; TRIAD_FABRIC_NONE when
 * there is none, or when it chooses several: '*n' says how many. */
uint32_t triad_command_find_node(const struct triad_command *command,
	const struct triad_fabric *fabric, uint32_t *n);

/* Everything about port 'port' of the view. */
void triad_shown_port_read(
	struct triad_shown_port *shown, const struct triad_view *view, uint32_t port);

/* Its members, into an object that is open. */
void triad_shown_port_json(
	const struct triad_shown_port *shown, struct triad_json *json);

/* A monotonic time as text; NULL for 0, never. */
const char *triad_command_format_time(uint64_t at_us, char text[TRIAD_CLOCK_TEXT_SIZE]);

/* Say that there is nothing to show, and why; return the command's status. */
int triad_command_no_view(struct triad_service *service, struct triad_output *output);
int triad_command_no_port(const char *verb, const struct triad_view *view,
	const struct triad_command *command, struct triad_output *output);

#endif
