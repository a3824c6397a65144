/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/ports.h"

#include <math.h>

#include "ib/node_label.h"
#include "service/service.h"
#include "triad/control.h"

/* --- which ports --- */

static unsigned type_of(const struct triad_command *command)
{
	static const uint8_t types[] = {
		[TRIAD_COMMAND_TYPE_CA] = TRIAD_NODE_CA,
		[TRIAD_COMMAND_TYPE_SWITCH] = TRIAD_NODE_SWITCH,
		[TRIAD_COMMAND_TYPE_ROUTER] = TRIAD_NODE_ROUTER,
	};

	return types[command->type];
}

bool triad_command_choose_of_type(const struct triad_command *command,
	const struct triad_fabric *fabric, unsigned type, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output)
{
	*choice = triad_node_choice_make(command->node, fabric, type);
	if (command->port >= 0 && choice->port >= 0 && choice->port != command->port) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: '%s' means port %d, and the port that is given is %d: "
			"leave one of them out\n",
			verb, command->node, choice->port, command->port);
		return false;
	}
	if (command->port >= 0)
		choice->port = command->port;
	return true;
}

bool triad_command_choose(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output)
{
	return triad_command_choose_of_type(
		command, fabric, type_of(command), verb, choice, output);
}

int triad_command_print_choice(const char *verb, const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, struct triad_output *output)
{
	char reason[960];

	triad_node_choice_explain(choice, fabric, reason, sizeof(reason));
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, reason);
	output->lacks_object = true;
	return TRIAD_CONTROL_FAILED;
}

bool triad_command_choose_there(const struct triad_command *command,
	const struct triad_fabric *fabric, const char *verb,
	struct triad_node_choice *choice, struct triad_output *output)
{
	if (!triad_command_choose(command, fabric, verb, choice, output))
		return false;
	if (choice->rule == TRIAD_NODE_RULE_ALL || choice->n)
		return true;
	(void)triad_command_print_choice(verb, choice, fabric, output);
	return false;
}

bool triad_command_wants_port(const struct triad_node_choice *choice,
	const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->ports[port].has_pma &&
		triad_node_choice_has_port(choice, fabric, port);
}

/* --- one port, as text and as JSON --- */

void triad_shown_port_read(
	struct triad_shown_port *shown, const struct triad_view *view, uint32_t index)
{
	const struct triad_fabric *fabric = view->fabric;
	const struct triad_fabric_port *port = &fabric->ports[index];

	*shown = (struct triad_shown_port){.node = &fabric->nodes[port->node],
		.port = port,
		.skipped = triad_view_is_skipped(view, index),
		.apart = triad_view_is_apart(view, index)};
	if (port->remote != TRIAD_FABRIC_NONE) {
		shown->remote_port = &fabric->ports[port->remote];
		shown->remote_node = &fabric->nodes[shown->remote_port->node];
	}
	(void)triad_view_read(view, index, &shown->row);
}

const char *triad_command_format_time(uint64_t at_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	if (!at_us)
		return NULL;
	triad_clock_format(triad_clock_to_wall_us(at_us), text);
	return text;
}

static void put_reset_json(struct triad_json *json, const char *name,
	const struct triad_engine_resets *resets)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_object_begin(json, name);
	triad_json_uint(json, "count", resets->n);
	triad_json_string(json, "last", triad_command_format_time(resets->last_us, at));
	triad_json_object_end(json);
}

void triad_command_put_answered(
	struct triad_json *json, const struct triad_engine_row *row)
{
	if (row->was_asked)
		triad_json_bool(json, "answered", row->answered);
	else
		triad_json_string(json, "answered", NULL);
}

void triad_shown_port_json(
	const struct triad_shown_port *shown, struct triad_json *json)
{
	const struct triad_fabric_node *remote = shown->remote_node;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_guid(json, "node_guid", shown->node->guid);
	triad_json_string(json, "node_name", shown->node->name);
	triad_json_string(json, "node_type", triad_node_type_name(shown->node->type));
	triad_json_uint(json, "port", shown->port->number);
	triad_json_uint(json, "lid", shown->port->lid);
	triad_json_string(json, "state", triad_port_state_name(shown->port->state));
	triad_json_guid(json, "remote_guid", remote ? remote->guid : 0);
	triad_json_string(json, "remote_name", remote ? remote->name : NULL);
	if (remote)
		triad_json_uint(json, "remote_port", shown->remote_port->number);
	else
		triad_json_string(json, "remote_port", NULL);
	triad_json_object_begin(json, "counters");
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (shown->row.has & 1u << i)
			triad_json_uint(
				json, triad_counters[i].name, shown->row.total[i]);
		else if (shown->row.forgotten & 1u << i)
			triad_json_string(json, triad_counters[i].name, NULL);
	triad_json_object_end(json);
	triad_command_put_answered(json, &shown->row);
	triad_json_bool(json, "skipped", shown->skipped);
	triad_json_bool(json, "partition_shared", !shown->apart);
	triad_json_bool(json, "confirmed_by_sum", shown->row.by_sum);
	triad_json_bool(json, "wait_at_least",
		triad_engine_rate_is_least(&shown->row, TRIAD_PORT_XMIT_WAIT));
	triad_json_string(
		json, "last_read", triad_command_format_time(shown->row.read_us, at));
	triad_json_object_begin(json, "resets");
	put_reset_json(json, "by_triad", &shown->row.own);
	put_reset_json(json, "by_others", &shown->row.others);
	triad_json_string(json, "totals_zeroed",
		triad_command_format_time(shown->row.zeroed_us, at));
	triad_json_object_end(json);
}

/* --- nothing to show --- */

int triad_command_no_view(struct triad_service *service, struct triad_output *output)
{
	const char *trouble = triad_service_trouble(service);

	triad_output_message(output, TRIAD_FRAME_MESSAGE, "no counters yet: %s\n",
		trouble ? trouble : "the first sweep has not begun");
	return TRIAD_CONTROL_FAILED;
}

int triad_command_no_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output)
{
	if (choice->rule != TRIAD_NODE_RULE_ALL && !choice->n)
		return triad_command_print_choice(verb, choice, fabric, output);
	if (choice->port >= 0)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: %s has %s port %d with counters (port 0 of a switch "
			"has them only where it is an enhanced one)\n",
			verb, *choice->name ? choice->name : "no node",
			*choice->name ? "no" : "a", choice->port);
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: no port of that kind has counters (a host's has them only "
			"when it is active); 'perf show' lists all\n",
			verb);
	return TRIAD_CONTROL_FAILED;
}

bool triad_command_lacks_port(const char *verb, const struct triad_fabric *fabric,
	const struct triad_node_choice *choice, struct triad_output *output)
{
	if (choice->n != 1 || choice->port < 0 ||
		triad_fabric_find_port(fabric, choice->first, (uint8_t)choice->port) !=
			TRIAD_FABRIC_NONE)
		return false;
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s has no port %d\n",
		verb, triad_node_label(&fabric->nodes[choice->first]).text,
		choice->port);
	output->lacks_object = true;
	return true;
}

double triad_command_rate(const struct triad_engine_row *row, unsigned counter)
{
	return row->answered ? triad_engine_rate(row, counter) : NAN;
}

double triad_command_link_percent(
	const struct triad_engine_row *row, unsigned counter, uint64_t link_bps)
{
	/* A word of the data counters, and a tick of PortXmitWait, is 4 octets. */
	double words_per_s = (double)link_bps / 32;
	double rate = triad_command_rate(row, counter);

	/* Test for NAN first: fmin(100, NAN) is 100. */
	if (isnan(rate) || words_per_s <= 0)
		return NAN;
	return fmin(100 * rate / words_per_s, 100);
}

bool triad_command_knows_errors(const struct triad_engine_row *row)
{
	bool knows = false;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS && row->answered; i++)
		knows |= triad_counters[i].is_error && row->has & 1u << i;
	return knows;
}

uint64_t triad_command_count_errors(const struct triad_engine_row *row)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].is_error && row->has & 1u << i)
			n += row->total[i];
	return n;
}
