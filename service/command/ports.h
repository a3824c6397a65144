/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ports that a command chooses, and the data to show of each.
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

struct triad_hostlist;
struct triad_service;

/* The data to show of a port. */
struct triad_shown_port {
	const struct triad_fabric_node *node;
	const struct triad_fabric_port *port;
	const struct triad_fabric_node *remote_node; /* NULL: no far end */
	const struct triad_fabric_port *remote_port;
	bool skipped; /* not asked: in a group that is left out, or apart */
	bool apart;   /* it shares no partition with our port */
	struct triad_engine_row row;
};

/* The choice of a command's --node, --port and --type ('fabric' may be NULL, as in
 * ib/node_choice.h).  False, having written why, when the name means one port and
 * --port another.  'verb' is the command, for messages. */
bool triad_command_choose(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* The same for lists of present nodes: also false, having written why, when no node of
 * the fabric matches.  So an unknown name gives an error, not an empty list. */
bool triad_command_choose_there(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* The same among nodes of the type (enum triad_node_type) that the command implies. */
bool triad_command_choose_of_type(const struct triad_command *command,
	const struct triad_fabric *fabric, unsigned type, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output);

/* Writes that the name matches no node, or several, where it must match one.  Returns
 * the command's status. */
int triad_command_print_choice(const char *verb, const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, struct triad_output *output);

/* Whether a port is chosen; one without counters never is. */
bool triad_command_wants_port(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t port);

/* Reads the data of port 'port' of the view. */
void triad_shown_port_read(
	struct triad_shown_port *shown, const struct triad_view *view, uint32_t port);

/* Writes its members into an open object. */
void triad_shown_port_json(
	const struct triad_shown_port *shown, struct triad_json *json);

/* A monotonic time as text; NULL for 0, never. */
const char *triad_command_format_time(uint64_t at_us, char text[TRIAD_CLOCK_TEXT_SIZE]);

/* Write that there is nothing to show, and why; return the command's status. */
int triad_command_no_view(struct triad_service *service, struct triad_output *output);
int triad_command_no_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output);

/* Whether one port of one node is chosen and the node does not have it; writes that. */
bool triad_command_lacks_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output);

/* triad_engine_rate() of a port that answered when it was last asked; NAN for others: the
 * rate is one of earlier. */
double triad_command_rate(const struct triad_engine_row *row, unsigned counter);

/* That rate of a data counter or of PortXmitWait in percent of a link of 'link_bps', 100
 * at most; NAN: not known. */
double triad_command_link_percent(
	const struct triad_engine_row *row, unsigned counter, uint64_t link_bps);

/* "answered": whether the port did so last; null: it was not asked yet. */
void triad_command_put_answered(
	struct triad_json *json, const struct triad_engine_row *row);

/* Write hosts: as Slurm's list, or as names. */
void triad_command_print_hosts(
	const struct triad_hostlist *list, struct triad_output *output);
void triad_command_json_hosts(
	struct triad_json *json, const char *name, const struct triad_hostlist *list);

/* The sum of a port's error counters, and whether the port answered with any when it was
 * last asked. */
uint64_t triad_command_count_errors(const struct triad_engine_row *row);
bool triad_command_knows_errors(const struct triad_engine_row *row);

#endif
