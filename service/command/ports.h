/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports a command is about, and what there is to show of each.
 *
 * Thread-safety: functions without state, on a view that the caller holds. */
#ifndef TRIAD_SERVICE_COMMAND_PORTS_H
#define TRIAD_SERVICE_COMMAND_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/node_choice.h"
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

/* What --node, --port and --type of a command choose ('fabric' may be NULL, as in
 * ib/node_choice.h).  False, having said it, when the name means one port and --port
 * another.  'verb' is the command, for messages. */
bool triad_command_choose(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* The same of a list of what is there: false, having said it, also when no node of the
 * fabric is meant.  So a name that nobody has is no empty list. */
bool triad_command_choose_there(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* The same among the nodes of a type (enum triad_node_type) that the command implies. */
bool triad_command_choose_of_type(const struct triad_command *command,
	const struct triad_fabric *fabric, unsigned type, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* Says why no node, or several, are meant where one must be.  Returns the command's
 * status. */
int triad_command_print_choice(const char *verb, const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, struct triad_output *output);

/* Whether a port is chosen; one without counters never is. */
bool triad_command_wants_port(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t port);

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
int triad_command_no_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output);

/* Whether one port of one node is meant that the node has not; says so. */
bool triad_command_lacks_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output);

/* A rate of data or of PortXmitWait as a part of what a link of 'link_bps' can carry, in
 * percent, 100 at most; NAN: not known. */
double triad_command_link_percent(
	const struct triad_engine_row *row, unsigned counter, uint64_t link_bps);

/* "answered": whether the port did so last; null: it was not asked yet. */
void triad_command_put_answered(
	struct triad_json *json, const struct triad_engine_row *row);

/* The sum of a port's counters of errors. */
uint64_t triad_command_count_errors(const struct triad_engine_row *row);

#endif
