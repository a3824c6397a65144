/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'history': the recorded events. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"

#define BATCH 64u
struct list {
	const struct triad_command *command;
	struct triad_recorder *recorder;
	const struct triad_fabric *fabric; /* the present one; NULL: none */
	struct triad_node_choice choice;
	struct triad_output *output;
	struct triad_report report;
	struct triad_list rows;
	uint64_t since_us, until_us;
	uint32_t n, n_left_out;
	uint32_t n_placed; /* of both, events with a place that is chosen */
};

static const char *const titles[TRIAD_N_TIMELINE_KINDS] = {
	[TRIAD_TIMELINE_STARTED] = "started",
	[TRIAD_TIMELINE_ENDED] = "ended",
	[TRIAD_TIMELINE_LOST] = "ended unseen",
	[TRIAD_TIMELINE_ROLE] = "SM is",
	[TRIAD_TIMELINE_LOOKS] = "looks",
	[TRIAD_TIMELINE_LOOKS_NO_MORE] = "looks no more",
	[TRIAD_TIMELINE_LINK_DOWN] = "link down",
	[TRIAD_TIMELINE_LINK_UP] = "link up",
	[TRIAD_TIMELINE_NODE_LEFT] = "node left",
	[TRIAD_TIMELINE_NODE_CAME] = "node came",
	[TRIAD_TIMELINE_COUNTED_DOWN] = "counted down",
	[TRIAD_TIMELINE_ALERT_RAISED] = "alert",
	[TRIAD_TIMELINE_ALERT_JOINED] = "alert grew",
	[TRIAD_TIMELINE_ALERT_CLEARED] = "alert cleared",
	[TRIAD_TIMELINE_ALERT_SILENCED] = "alert silenced",
	[TRIAD_TIMELINE_ALERT_UNSILENCED] = "alert unsilenced",
	[TRIAD_TIMELINE_RESET] = "reset",
	[TRIAD_TIMELINE_CLEARED] = "totals cleared",
	[TRIAD_TIMELINE_PORT_MANAGER] = "port manager",
	[TRIAD_TIMELINE_MORE] = "more",
	[TRIAD_TIMELINE_ROUTES] = "routes",
	[TRIAD_TIMELINE_QOS] = "QoS",
	[TRIAD_TIMELINE_SM] = "SM",
	[TRIAD_TIMELINE_CLOCK] = "clock set",
	[TRIAD_TIMELINE_DAMP] = "damping",
};

/* Formats an event's detail, besides its place.  'number' is the event's. */
static void format_detail(const struct list *list,
	const struct triad_timeline_event *event, uint64_t number, char *text,
	size_t size)
{
	struct triad_timeline_event before;
	char length[TRIAD_CLOCK_TEXT_SIZE];

	snprintf(text, size, "%s", event->text);
	switch (event->kind) {
	case TRIAD_TIMELINE_STARTED:
		/* The event before it is the end of the last run. */
		if (!triad_recorder_copy(list->recorder, &number, &before, 1) ||
			before.at_us > event->at_us)
			break;
		triad_clock_format_length(event->at_us - before.at_us, length);
		snprintf(text, size, "nobody looked for %s", length);
		break;
	case TRIAD_TIMELINE_LOST:
		snprintf(text, size, "killed, or crashed");
		break;
	case TRIAD_TIMELINE_COUNTED_DOWN:
		snprintf(text, size, "LinkDownedCounter +%" PRIu32, event->count);
		break;
	case TRIAD_TIMELINE_RESET:
		if (event->count > 1)
			snprintf(text, size, "%" PRIu32 " counters %s", event->count,
				event->text);
		break;
	case TRIAD_TIMELINE_MORE:
		snprintf(text, size, "%" PRIu32 " %s more, too many to be kept",
			event->count, event->text);
		break;
	default:
		break;
	}
}

static struct triad_port_label label_of(
	const struct triad_fabric *fabric, const struct triad_timeline_end *end)
{
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, end->node_guid);
	/* What was never named has no name that another could have. */
	return end->node_name[0]
		? triad_port_label_of(fabric, end->node_guid, end->node_name, end->port)
		: triad_port_label_of(NULL, 0, guid, end->port);
}

/* Writes an end: one column for people, three members in JSON. */
static void put_event_end(struct triad_list *rows, const struct triad_fabric *fabric,
	const struct triad_timeline_end *end, bool is_far)
{
	const char *port = is_far ? "remote_port" : "port";

	triad_list_guid(
		rows, is_far ? "remote_guid" : "node_guid", NULL, end->node_guid);
	triad_list_text(rows, is_far ? "remote_name" : "node_name", NULL, 0,
		end->node_name[0] ? end->node_name : NULL);
	if (!end->node_guid || end->port == TRIAD_TIMELINE_NO_PORT)
		triad_list_text(rows, port, NULL, 0, NULL);
	else
		triad_list_uint(rows, port, NULL, 0, end->port);
	rows->next.name = is_far ? "remote_name" : "node_name";
	triad_list_text(rows, NULL, is_far ? "far end" : "where", TRIAD_LIST_LONG,
		end->node_guid ? label_of(fabric, end).text : NULL);
}

static void put_event(
	struct list *list, const struct triad_timeline_event *event, uint64_t number)
{
	struct triad_list *rows = &list->rows;
	char at[TRIAD_CLOCK_TEXT_SIZE], at_s[TRIAD_CLOCK_TEXT_SIZE], detail[160];

	triad_clock_format(event->at_us, at);
	format_detail(list, event, number, detail, sizeof(detail));
	triad_list_row(rows);
	triad_list_text(rows, "time", NULL, 0, at);
	rows->next.name = "time";
	triad_list_text(
		rows, NULL, "time", -21, triad_clock_format_s(event->at_us, at_s));
	triad_list_text(rows, "event", NULL, 0, triad_timeline_kind_name(event->kind));
	put_event_end(rows, list->fabric, &event->ends[0], false);
	rows->next.name = "event";
	triad_list_text(rows, NULL, "what", -16, titles[event->kind]);
	put_event_end(rows, list->fabric, &event->ends[1], true);
	triad_list_uint(rows, "count", NULL, 0, event->count);
	triad_list_text(rows, "text", NULL, 0, detail[0] ? detail : NULL);
	rows->next.name = "text";
	triad_list_text(
		rows, NULL, "detail", TRIAD_LIST_LONG, detail[0] ? detail : NULL);
	triad_list_row_end(rows);
}

/* Writes an event if the options choose it.  Events without a place are about the
 * program, and always chosen: they show when the place was not watched. */
static void add_event(
	struct list *list, const struct triad_timeline_event *event, uint64_t number)
{
	bool is_placed = event->ends[0].node_guid;

	if (event->at_us < list->since_us || event->at_us > list->until_us)
		return;
	if (is_placed && list->choice.rule != TRIAD_NODE_RULE_ALL &&
		!triad_timeline_event_is_at(event, &list->choice))
		return;
	list->n_placed += is_placed;
	if (list->n == list->command->limit) {
		list->n_left_out++;
		return;
	}
	list->n++;
	put_event(list, event, number);
}

static void put_events(struct list *list)
{
	struct triad_timeline_event events[BATCH];
	uint64_t number = UINT64_MAX;
	uint32_t n;

	list->rows.report = &list->report;
	triad_report_array(&list->report, NULL);
	do {
		n = triad_recorder_copy(list->recorder, &number, events, BATCH);
		for (uint32_t i = 0; i < n && !list->output->failed; i++)
			add_event(list, &events[i], number + (n - 1 - i));
	} while (n && !list->output->failed);
	triad_report_array_end(&list->report);
}

/* Whether a place was named that neither the fabric nor the history knows: a mistyped
 * name must not look like good news. */
static bool is_unknown(struct list *list)
{
	struct triad_timeline_event events[BATCH];
	uint64_t number = UINT64_MAX;
	uint32_t n;

	if (list->choice.rule == TRIAD_NODE_RULE_ALL || list->choice.n)
		return false;
	while ((n = triad_recorder_copy(list->recorder, &number, events, BATCH)))
		for (uint32_t i = 0; i < n; i++)
			if (triad_timeline_event_is_at(&events[i], &list->choice))
				return false;
	return true;
}

/* Writes, before the list, what it may lack. */
static void put_warnings(struct triad_service *service,
	const struct triad_recorder_status *status, struct triad_output *output)
{
	const char *trouble = triad_service_trouble(service);
	char since[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_s(status->looked_us, since);
	if (trouble && status->looked_us)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"history: not looked at here since %s: %s\n", since, trouble);
	else if (trouble)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"history: not looked at here since the start: %s\n", trouble);
	if (status->is_reading)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"history: %s is not read yet: what was before the start is "
			"missing\n",
			status->path);
	else if (status->error)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "history: %s\n", status->reason);
}

static void put_rest(const struct list *list)
{
	triad_command_put_left_out(list->output, list->n_left_out,
		list->n + list->n_left_out, "older ones");
	if (!list->n_placed)
		triad_output_printf(list->output,
			"nothing is known to have happened %s%s\n",
			list->choice.rule == TRIAD_NODE_RULE_ALL ? "in the fabric"
								 : "there",
			list->since_us ? " since then" : "");
}

static int put_history(struct list *list, const struct triad_fabric *fabric)
{
	if (is_unknown(list))
		return triad_command_print_choice(
			"history", &list->choice, fabric, list->output);
	put_events(list);
	if (!list->command->json)
		put_rest(list);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_history(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_recorder_status status = triad_recorder_status(service->recorder);
	struct triad_view *view = triad_perf_view(service->perf);
	const struct triad_fabric *fabric = view ? view->fabric : NULL;
	struct list list = {.command = command,
		.recorder = service->recorder,
		.fabric = fabric,
		.output = output,
		.report = {.output = output, .as_json = command->json},
		.choice = triad_node_choice_make(command->node, fabric, 0),
		.since_us = command->since_us,
		.until_us = UINT64_MAX};
	int result = TRIAD_CONTROL_FAILED;

	if (command->at[0])
		list.until_us = triad_moment_time(command->at_us, command->at_ago_us);
	if (command->since_length_us)
		list.since_us = triad_clock_wall_us() - command->since_length_us;
	if (status.is_on) {
		put_warnings(service, &status, output);
		result = put_history(&list, fabric);
	} else {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"history: off: there was not enough memory for it at the "
			"start; restart %s\n",
			service->owner->program);
	}
	triad_view_unref(view);
	return result;
}
