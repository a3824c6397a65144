/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'alerts': lists the alerts of a moment. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/watch.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/health.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/json.h"

/* The key of an alert, to read it again. */
struct found {
	uint64_t id;
	uint32_t cursor;
};

struct list {
	struct triad_moment moment;
	const struct triad_command *command;
	struct triad_node_choice choice;
	struct triad_output *output;
	const char *program; /* name of the process, for the text */
	uint64_t looked_us;  /* the last look for alerts; 0: they are looked for now */
	int64_t wall_offset_us;
	struct found *found;
	uint32_t n, room;
};

/* Whether the command's options choose an alert.  An alert about a whole node counts
 * for each of its ports. */
static bool is_chosen_alert(const struct list *list, const struct triad_alert *alert)
{
	const struct triad_node_choice *choice = &list->choice;

	if (alert->state == TRIAD_ALERT_CLEARED && !list->command->all)
		return false;
	for (unsigned i = 0; i < alert->n_ends; i++) {
		const struct triad_alert_end *end = &alert->ends[i];

		if (triad_node_choice_has(choice, end->node_name, end->node_guid) &&
			(choice->port < 0 || choice->port == end->port ||
				end->port == TRIAD_ALERT_NO_PORT))
			return true;
	}
	return choice->rule == TRIAD_NODE_RULE_ALL;
}

/* Returns false when memory is short. */
static bool add_found(struct list *list, uint64_t id, uint32_t cursor)
{
	if (list->n == list->room) {
		uint32_t room = list->room ? 2 * list->room : 256;
		struct found *found = realloc(list->found, room * sizeof(*found));

		if (!found)
			return false;
		list->found = found;
		list->room = room;
	}
	list->found[list->n++] = (struct found){id, cursor};
	return true;
}

static bool find_alerts(struct list *list)
{
	struct triad_alert alert;
	uint32_t cursor = 0, at = 0;

	while (triad_moment_next_alert(&list->moment, &cursor, &alert)) {
		if (is_chosen_alert(list, &alert) && !add_found(list, alert.id, at))
			return false;
		at = cursor;
	}
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t id_a = ((const struct found *)a)->id;
	uint64_t id_b = ((const struct found *)b)->id;

	return (id_a < id_b) - (id_a > id_b);
}

/* False when the alert has gone since it was found. */
static bool fetch(
	const struct list *list, const struct found *found, struct triad_alert *alert)
{
	uint32_t cursor = found->cursor;

	return triad_moment_next_alert(&list->moment, &cursor, alert) &&
		alert->id == found->id;
}

/* --- text --- */

static const char *format_time(
	const struct list *list, uint64_t at_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	return triad_clock_format_s(
		(uint64_t)((int64_t)at_us + list->wall_offset_us), text);
}

/* Writes the findings of one end, except the alert's first, which is in the row. */
static void put_findings(const struct list *list, struct triad_list *rows,
	const struct triad_alert *alert, unsigned end)
{
	char text[256], since[TRIAD_CLOCK_TEXT_SIZE], under[TRIAD_CLOCK_TEXT_SIZE];

	for (unsigned i = 0; i < alert->n_findings; i++) {
		const struct triad_alert_finding *finding = &alert->findings[i];

		if (finding->end != end || (!i && !finding->under_us))
			continue;
		triad_alert_finding_format(alert, finding, text, sizeof(text));
		triad_list_note(rows, "    %s%s, since %s%s%s", end ? "far end: " : "",
			text, format_time(list, finding->since_us, since),
			finding->under_us ? ", not any more since " : "",
			finding->under_us ? format_time(list, finding->under_us, under)
					  : "");
	}
}

static void put_silence(struct triad_list *rows, const struct triad_alert *alert)
{
	char until[TRIAD_CLOCK_TEXT_SIZE];

	if (!alert->silence || alert->state != TRIAD_ALERT_ACTIVE)
		return;
	triad_list_note(rows,
		"    silenced until %s: silence %" PRIu32 " of 'triadctl silences'",
		triad_clock_format_s(alert->silenced_until_us, until), alert->silence);
}

static void put_notes(const struct list *list, struct triad_list *rows,
	const struct triad_alert *alert)
{
	const char *advice = triad_alert_advice(alert);
	char text[512], at[TRIAD_CLOCK_TEXT_SIZE];

	put_findings(list, rows, alert, 0);
	put_findings(list, rows, alert, 1);
	triad_alert_more_format(alert, text, sizeof(text));
	if (text[0])
		triad_list_note(rows, "    besides: %s", text);
	triad_alert_sm_format(alert, list->wall_offset_us, text, sizeof(text));
	if (text[0])
		triad_list_note(rows, "    the SM reported: %s", text);
	put_silence(rows, alert);
	if (alert->state == TRIAD_ALERT_CLEARED)
		triad_list_note(rows, "    cleared %s%s",
			format_time(list, alert->cleared_us, at),
			alert->forgotten           ? ": taken for removed on purpose"
				: alert->explained ? ": a root of congestion explains "
						     "it, which has an alert"
						   : "");
	else if (advice)
		triad_list_note(rows, "    %s", advice);
}

static enum triad_table_color color_of(const struct triad_alert *alert)
{
	if (alert->state == TRIAD_ALERT_CLEARED || alert->silence)
		return TRIAD_TABLE_PLAIN;
	return triad_alert_severity(alert) == TRIAD_CRITICAL ? TRIAD_TABLE_RED
							     : TRIAD_TABLE_YELLOW;
}

static void put_alert(const struct list *list, struct triad_list *rows,
	const struct triad_alert *alert)
{
	uint64_t since_us = alert->findings[0].since_us, end_us = alert->cleared_us;
	char at[TRIAD_ALERT_PLACE_SIZE], far_end[TRIAD_ALERT_PLACE_SIZE], what[256];
	char since[TRIAD_CLOCK_TEXT_SIZE], lasts[TRIAD_CLOCK_TEXT_SIZE];

	triad_alert_place_format(alert, 0, at, sizeof(at));
	if (alert->n_ends > 1)
		triad_alert_place_format(alert, 1, far_end, sizeof(far_end));
	triad_alert_finding_format(alert, &alert->findings[0], what, sizeof(what));
	if (!end_us)
		end_us = list->looked_us ? list->looked_us
					 : triad_moment_now_us(&list->moment);
	/* A finding of the image's own sweep may be later than the image's time. */
	triad_clock_format_length(end_us > since_us ? end_us - since_us : 0, lasts);
	triad_list_row(rows);
	triad_list_uint(rows, "id", "ID", 3, alert->id);
	rows->next.color = color_of(alert);
	triad_list_text(rows, "severity", "SEVERITY", -8,
		triad_severity_name(triad_alert_severity(alert)));
	if (list->command->all)
		triad_list_text(rows, "state", "STATE", -7,
			alert->state == TRIAD_ALERT_ACTIVE ? "active" : "cleared");
	triad_list_text(rows, "at", "AT", TRIAD_LIST_MEASURED, at);
	triad_list_text(rows, "far_end", "FAR END", TRIAD_LIST_MEASURED,
		alert->n_ends > 1 ? far_end : NULL);
	rows->next.is_spare = true;
	triad_list_text(
		rows, "since", "SINCE", -21, format_time(list, since_us, since));
	rows->next.is_spare = true;
	triad_list_guid(rows, "guid", "GUID", alert->ends[0].node_guid);
	triad_list_text(rows, "lasts", "LASTS", -9, lasts);
	triad_list_text(rows, "what", "WHAT", TRIAD_LIST_LONG, what);
	put_notes(list, rows, alert);
	triad_list_row_end(rows);
}

static void put_alert_rows(const struct list *list, struct triad_list *rows, uint32_t n)
{
	struct triad_alert alert;

	for (uint32_t i = 0; i < n && !list->output->failed; i++)
		if (fetch(list, &list->found[i], &alert))
			put_alert(list, rows, &alert);
}

static void put_alerts_text(
	const struct list *list, const struct triad_alerts_counts *counts)
{
	uint32_t n = list->n < list->command->limit ? list->n : list->command->limit;
	struct triad_report report = {.output = list->output};
	struct triad_list rows = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};

	if (triad_list_is_measured(&report))
		put_alert_rows(list, &rows, n);
	rows.phase = TRIAD_LIST_ROWS;
	put_alert_rows(list, &rows, n);
	triad_command_put_left_out(list->output, list->n - n, list->n, "more");
	triad_output_printf(list->output, "%" PRIu32 " active%s", counts->n_active,
		list->looked_us ? " then" : "");
	if (counts->n_silenced)
		triad_output_printf(list->output, " (%" PRIu32 " of them silenced)",
			counts->n_silenced);
	triad_output_printf(list->output,
		"; %" PRIu64 " raised and %" PRIu64 " cleared since %s started\n",
		counts->n_raised, counts->n_cleared, list->program);
	if (counts->n_explained)
		triad_output_printf(list->output,
			"%" PRIu32 " port%s wait%s because of congestion that has an "
			"alert; 'triadctl congestion' shows %s\n",
			counts->n_explained, counts->n_explained == 1 ? "" : "s",
			counts->n_explained == 1 ? "s" : "",
			counts->n_explained == 1 ? "it" : "them");
	if (counts->n_not_kept)
		triad_output_printf(list->output,
			"%" PRIu64 " more were too many to be kept\n",
			counts->n_not_kept);
}

/* --- JSON --- */

static void put_alerts_json(
	const struct list *list, const struct triad_alerts_counts *counts)
{
	struct triad_alert alert;
	struct triad_json json;

	triad_json_init(&json, list->output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "active", counts->n_active);
	triad_json_uint(&json, "silenced", counts->n_silenced);
	triad_json_uint(&json, "explained", counts->n_explained);
	triad_json_uint(&json, "raised", counts->n_raised);
	triad_json_uint(&json, "cleared", counts->n_cleared);
	triad_json_uint(&json, "not_kept", counts->n_not_kept);
	triad_json_array_begin(&json, "alerts");
	for (uint32_t i = 0; i < list->n && !list->output->failed; i++)
		if (fetch(list, &list->found[i], &alert))
			triad_alert_json(
				&json, NULL, NULL, &alert, list->wall_offset_us);
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

static int put_list(const struct triad_fabric *fabric, const struct list *list,
	const struct triad_alerts_counts *counts)
{
	bool is_named = list->choice.rule != TRIAD_NODE_RULE_ALL;

	/* A node with an alert may have left the fabric.  Without an alert the node
	 * must be in the fabric: a mistyped name must not look like good news. */
	if (is_named && !list->n && fabric && !list->choice.n)
		return triad_command_print_choice(
			"alerts", &list->choice, fabric, list->output);
	if (list->command->json)
		put_alerts_json(list, counts);
	else
		put_alerts_text(list, counts);
	return TRIAD_CONTROL_DONE;
}

/* Writes why counters are not read: without sweeps the list of alerts is old, and an
 * empty one means nothing. */
static void print_trouble(struct list *list, const char *trouble)
{
	struct triad_perf *perf = list->moment.service->perf;
	uint64_t looked_us = triad_perf_status(perf).finished_us;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (triad_perf_is_idle_master(perf)) {
		triad_output_message(list->output, TRIAD_FRAME_MESSAGE,
			"only alerts about routes are looked for here: %s\n", trouble);
		return;
	}
	list->looked_us = looked_us;
	if (looked_us)
		triad_output_message(list->output, TRIAD_FRAME_MESSAGE,
			"these alerts are as they were at %s, when they were last looked "
			"for here: %s\n",
			format_time(list, looked_us, at), trouble);
	else
		triad_output_message(list->output, TRIAD_FRAME_MESSAGE,
			"no alerts are looked for here: %s\n", trouble);
}

int triad_command_run_alerts(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct list list = {
		.command = command,
		.output = output,
		.program = service->owner->program,
		.wall_offset_us = triad_clock_wall_offset_us(),
	};
	const struct triad_fabric *fabric;
	struct triad_alerts_counts counts;
	const char *trouble;
	int status = TRIAD_CONTROL_DONE;

	if (!triad_moment_open(&list.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	fabric = list.moment.view ? list.moment.view->fabric : NULL;
	counts = triad_moment_alerts_counts(&list.moment);
	trouble = triad_moment_trouble(&list.moment);

	if (trouble)
		print_trouble(&list, trouble);
	else if (!list.moment.past && !triad_health_alerts_report(service))
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"no alerts are looked for: 'set alerts.enabled true' begins it\n");
	/* First collect keys and sort them, then read each alert again: alerts are
	 * large. */
	list.choice = triad_node_choice_make(command->node, fabric, 0);
	if (find_alerts(&list)) {
		if (list.n)
			qsort(list.found, list.n, sizeof(*list.found), compare_ids);
		status = put_list(fabric, &list, &counts);
	} else {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"alerts: not enough memory to list them; try again\n");
		status = TRIAD_CONTROL_FAILED;
	}
	free(list.found);
	triad_moment_close(&list.moment);
	return status;
}
