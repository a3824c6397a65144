/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port history': what was done to ports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/commands.h"
#include "plugin/command/port_node.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/json.h"

#define NAME_SIZE (TRIAD_NODE_NAME_SIZE + 24)

struct history {
	struct triad_record *records; /* newest first */
	uint32_t n;
	const struct triad_fabric *fabric; /* for names; NULL: none */
};

/* Records are shown to the second. */
static void format_time(uint64_t at_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	triad_clock_format(at_us, text);
	strcpy(text + strlen("2026-01-02T03:04:05"), "Z");
}

/* --- text --- */

static void format_node(
	const struct triad_fabric *fabric, uint64_t guid, char name[NAME_SIZE])
{
	uint32_t node =
		fabric ? triad_fabric_find_node(fabric, guid) : TRIAD_FABRIC_NONE;

	if (node != TRIAD_FABRIC_NONE && fabric->nodes[node].name[0])
		snprintf(name, NAME_SIZE, "%s", fabric->nodes[node].name);
	else
		snprintf(name, NAME_SIZE, "0x%016" PRIx64, guid);
}

/* Of the SM at that port. */
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

/* The intent that record 'i' is the outcome of: the record before it of the same port.
 * 'n' when there is none, or it is not among these. */
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

static void put_record(struct triad_output *output, const struct history *history,
	const struct triad_record *record)
{
	char when[TRIAD_CLOCK_TEXT_SIZE], node[NAME_SIZE], writer[NAME_SIZE];

	format_time(record->at_us, when);
	format_node(history->fabric, record->node_guid, node);
	format_writer(history->fabric, record->writer, writer);
	triad_output_printf(output,
		"%s  %s port %u: %s %s (%s)\n    by %s, term %" PRIu64 "\n", when, node,
		record->port, triad_port_action_name(record->action),
		triad_outcome_name(record->outcome),
		triad_port_reason_name(record->reason), writer, record->term);
	if (record->text[0])
		triad_output_printf(output, "    %s\n", record->text);
}

/* People see an intent and its outcome as one action.  The outcome is shown, because it
 * says all that the intent said. */
static void put_text(
	struct triad_output *output, const struct history *history, uint32_t limit)
{
	bool *is_told = calloc((size_t)history->n + 1, sizeof(*is_told));
	uint32_t n = 0;

	for (uint32_t i = 0; is_told && i < history->n && n < limit; i++) {
		uint32_t intent;

		if (is_told[i])
			continue;
		/* The newest come first, so an outcome is met before its intent. */
		put_record(output, history, &history->records[i]);
		intent = find_intent(history, i);
		if (intent < history->n)
			is_told[intent] = true;
		n++;
	}
	if (!history->n)
		triad_output_printf(output, "nothing was done to any port\n");
	free(is_told);
}

/* --- JSON --- */

static void put_record_json(struct triad_json *json, const struct triad_record *record)
{
	char when[TRIAD_CLOCK_TEXT_SIZE];

	format_time(record->at_us, when);
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "time", when);
	triad_json_uint(json, "term", record->term);
	triad_json_uint(json, "number", record->number);
	triad_json_guid(json, "by", record->writer);
	triad_json_guid(json, "node_guid", record->node_guid);
	triad_json_uint(json, "port", record->port);
	triad_json_string(json, "deed", triad_port_action_name(record->action));
	triad_json_string(json, "outcome", triad_outcome_name(record->outcome));
	triad_json_string(json, "reason", triad_port_reason_name(record->reason));
	triad_json_guid(json, "remote_guid", record->remote_guid);
	triad_json_string(json, "text", record->text);
	triad_json_object_end(json);
}

static void put_json(
	struct triad_output *output, const struct history *history, uint32_t limit)
{
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_array_begin(&json, NULL);
	for (uint32_t i = 0; i < history->n && i < limit; i++)
		put_record_json(&json, &history->records[i]);
	triad_json_array_end(&json);
	triad_json_end(&json);
}

int triad_command_run_port_history(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_fabric *fabric;
	struct history history = {.n = 0};
	struct triad_command_switch found;

	if (triad_command_find_switch(plugin, "port history", command, &found, output))
		return TRIAD_CONTROL_FAILED;
	/* Two records for each action that is shown. */
	if (triad_ports_history(plugin->ports, found.guid, found.port,
		    2 * command->limit, &history.records, &history.n)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"port history: not enough memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	fabric = triad_ports_fabric(plugin->ports);
	history.fabric = fabric;
	if (command->json)
		put_json(output, &history, command->limit);
	else
		put_text(output, &history, command->limit);
	triad_fabric_unref(fabric);
	free(history.records);
	return TRIAD_CONTROL_DONE;
}
