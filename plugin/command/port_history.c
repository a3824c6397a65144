/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port history': what was done to ports, as a table or JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/command/commands.h"
#include "plugin/command/port_node.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "triad/clock.h"
#include "triad/control.h"

#define NAME_SIZE TRIAD_NODE_LABEL_SIZE

struct history {
	struct triad_record *records; /* newest first */
	uint32_t n;
	const struct triad_fabric *fabric; /* for names; NULL: none */
};

static void format_node(
	const struct triad_fabric *fabric, uint64_t guid, char name[NAME_SIZE])
{
	const struct triad_fabric_node *node = triad_fabric_node_by_guid(fabric, guid);

	if (node && node->name[0])
		snprintf(name, NAME_SIZE, "%s", triad_node_label(node).text);
	else
		snprintf(name, NAME_SIZE, "0x%016" PRIx64, guid);
}

/* The name of the node whose SM wrote the record. */
static void format_writer(
	const struct triad_fabric *fabric, uint64_t port_guid, char name[NAME_SIZE])
{
	uint32_t port =
		fabric ? triad_fabric_find_alias(fabric, port_guid) : TRIAD_FABRIC_NONE;

	format_node(fabric,
		port != TRIAD_FABRIC_NONE ? fabric->nodes[fabric->ports[port].node].guid
					  : port_guid,
		name);
}

/* The intent that belongs to outcome 'i': the port's previous record.  Returns
 * history->n if there is none here. */
static uint32_t find_intent(const struct history *history, uint32_t i)
{
	const struct triad_record *done = &history->records[i];

	for (uint32_t k = i + 1; k < history->n; k++) {
		const struct triad_record *before = &history->records[k];

		if (before->node_guid != done->node_guid || before->port != done->port)
			continue;
		if (done->outcome != TRIAD_OUTCOME_INTENDED &&
			before->outcome == TRIAD_OUTCOME_INTENDED &&
			before->action == done->action && before->term == done->term)
			return k;
		break;
	}
	return history->n;
}

static void put_record(struct triad_list *list, const struct history *history,
	const struct triad_record *record)
{
	char when[TRIAD_CLOCK_TEXT_SIZE], node[NAME_SIZE], writer[NAME_SIZE];
	char term[24];

	triad_clock_format_s(record->at_us, when);
	format_node(history->fabric, record->node_guid, node);
	format_writer(history->fabric, record->writer, writer);
	snprintf(term, sizeof(term), "%" PRIu64, record->term);
	triad_list_row(list);
	triad_list_text(list, "time", "time", -20, when);
	triad_list_uint(list, "term", NULL, 0, record->term);
	triad_list_uint(list, "number", NULL, 0, record->number);
	triad_list_guid(list, "by", NULL, record->writer);
	triad_list_guid(list, "node_guid", NULL, record->node_guid);
	triad_list_node(list, "node_name", NULL, 0,
		triad_fabric_node_by_guid(history->fabric, record->node_guid));
	list->next.name = "node_name";
	triad_list_text(list, NULL, "node", TRIAD_LIST_LONG, node);
	triad_list_uint(list, "port", "port", 4, record->port);
	triad_list_text(
		list, "deed", "deed", -8, triad_port_action_name(record->action));
	triad_list_text(
		list, "outcome", "outcome", -10, triad_outcome_name(record->outcome));
	triad_list_text(
		list, "reason", "reason", -11, triad_port_reason_name(record->reason));
	triad_list_guid(list, "remote_guid", NULL, record->remote_guid);
	triad_list_text(list, "text", NULL, 0, record->text);
	list->next.name = "by";
	triad_list_text(list, NULL, "by", TRIAD_LIST_LONG, writer);
	list->next = (struct triad_list_next){
		.name = "term", .value = term, .is_spare = true};
	triad_list_format(list, "term", 5, "%s", term);
	if (record->text[0])
		triad_list_note(list, "    %s", record->text);
	triad_list_row_end(list);
}

/* Removes records that are later than the moment of --at. */
static void leave_later_out(
	struct history *history, const struct triad_command *command)
{
	uint64_t until_us = triad_moment_time(command->at_us, command->at_ago_us);
	uint32_t n = 0;

	for (uint32_t i = 0; i < history->n; i++)
		if (history->records[i].at_us <= until_us)
			history->records[n++] = history->records[i];
	history->n = n;
}

/* JSON gets every record.  The table shows an intent and its outcome as one action, by
 * the outcome, because it repeats what the intent contains. */
static int put_history(
	struct triad_report *report, const struct history *history, uint32_t limit)
{
	bool *is_reported = calloc((size_t)history->n + 1, sizeof(*is_reported));
	struct triad_list list = {.report = report};
	uint32_t n = 0;

	if (!is_reported) {
		triad_output_message(report->output, TRIAD_FRAME_MESSAGE,
			"port history: not enough memory to list it; try again\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_report_array(report, NULL);
	for (uint32_t i = 0; i < history->n && n < limit; i++) {
		uint32_t intent =
			report->as_json ? history->n : find_intent(history, i);

		if (is_reported[i])
			continue;
		/* Records are sorted newest first: an outcome precedes its intent. */
		put_record(&list, history, &history->records[i]);
		if (intent < history->n)
			is_reported[intent] = true;
		n++;
	}
	triad_report_array_end(report);
	if (!history->n && !report->as_json)
		triad_output_printf(report->output, "nothing was done to any port\n");
	free(is_reported);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_port_history(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_fabric *fabric;
	struct history history = {.n = 0};
	struct triad_command_switch found;
	int status;

	if (triad_command_find_switch(plugin, "port history", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	/* An action has two records.  For a past moment read all: the newest ones are
	 * removed below. */
	if (triad_ports_history(plugin->ports, found.guid, found.port,
		    command->at[0] ? UINT32_MAX : 2 * command->limit, &history.records,
		    &history.n)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"port history: not enough memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (command->at[0])
		leave_later_out(&history, command);
	fabric = triad_ports_fabric(plugin->ports);
	history.fabric = fabric;
	status = put_history(&report, &history, command->limit);
	triad_fabric_unref(fabric);
	free(history.records);
	return status;
}
