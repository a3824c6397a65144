/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'alerts ack', 'silence', 'unsilence' and 'silences': silenced alerts. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"

#define ACK_S (7 * 86400u)

/* --- changes --- */

static void copy_words(
	const struct triad_command *command, struct triad_silence *silence)
{
	snprintf(silence->by, sizeof(silence->by), "%s", command->asker);
	snprintf(silence->reason, sizeof(silence->reason), "%s", command->reason);
	triad_text_clean(silence->by);
	triad_text_clean(silence->reason);
}

/* Writes a warning if the file could not be written: the change is in force, but a
 * restart would lose it. */
static void put_whether_kept(struct triad_service *service,
	const struct triad_silence_keeper_status *status, struct triad_output *output)
{
	if (!status->path[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"in force until %s restarts: state.dir is empty, so nothing is "
			"kept\n",
			service->owner->program);
	else if (!status->is_kept)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"in force, but %s is %s; it is tried again each 10 s\n",
			status->path, status->trouble);
}

static void put_not_read(const char *verb,
	const struct triad_silence_keeper_status *status, struct triad_output *output)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: the silences of before have not been read yet from %s; try again\n",
		verb, status->path);
}

/* Adds a silence and returns its number; 0, having written why, when that failed. */
static uint32_t add_silence(struct triad_service *service,
	const struct triad_silence *silence, const char *verb,
	struct triad_output *output)
{
	struct triad_silence_keeper_status status;
	uint32_t id = triad_silence_keeper_add(service->silences, silence, &status);
	char until[TRIAD_CLOCK_TEXT_SIZE];

	if (!id && status.n >= TRIAD_SILENCES_MAX)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: there are %u silences, and no more may be; 'unsilence' "
			"ends one\n",
			verb, TRIAD_SILENCES_MAX);
	else if (!id)
		put_not_read(verb, &status, output);
	if (!id)
		return 0;
	triad_log_write(service->log, TRIAD_LOG_INFO,
		"silence %" PRIu32 " of %s, until %s, by %s: %s", id, silence->place,
		triad_clock_format_s(silence->until_us, until), silence->by,
		silence->reason[0] ? silence->reason : "no reason given");
	put_whether_kept(service, &status, output);
	return id;
}

static bool find_alert(
	struct triad_service *service, uint64_t id, struct triad_alert *alert)
{
	struct triad_watch *watch = triad_perf_watch(service->perf);
	uint32_t cursor = 0;

	while (triad_watch_next_alert(watch, &cursor, alert))
		if (alert->id == id && alert->state == TRIAD_ALERT_ACTIVE)
			return true;
	return false;
}

/* Ends earlier acknowledgements of the same alert: only the last one counts. */
static void end_other_acks(
	struct triad_service *service, uint32_t id, const struct triad_silence *ack)
{
	struct triad_silences *silences = malloc(sizeof(*silences));
	struct triad_silence_keeper_status status;
	struct triad_silence ended;

	if (!silences)
		return;
	triad_watch_copy_silences(triad_perf_watch(service->perf), silences);
	for (uint32_t i = 0; i < silences->n; i++) {
		const struct triad_silence *other = &silences->list[i];

		if (other->is_ack && other->id != id &&
			triad_silence_fits_end(other, ack->node_guid, "", ack->port))
			triad_silence_keeper_end(
				service->silences, other->id, &ended, &status);
	}
	free(silences);
}

int triad_command_run_ack(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	unsigned length_s = command->for_s ? command->for_s : ACK_S;
	char until[TRIAD_CLOCK_TEXT_SIZE];
	struct triad_silence silence;
	struct triad_alert alert;
	uint32_t id;

	if (!find_alert(service, command->id, &alert)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"alerts ack: no alert %u is active; 'alerts' lists those that "
			"are\n",
			command->id);
		return TRIAD_CONTROL_FAILED;
	}
	silence = triad_silence_of_alert(&alert);
	silence.from_us = triad_clock_wall_us();
	silence.until_us = silence.from_us + length_s * TRIAD_US_PER_S;
	copy_words(command, &silence);
	id = add_silence(service, &silence, "alerts ack", output);
	if (!id)
		return TRIAD_CONTROL_FAILED;
	end_other_acks(service, id, &silence);
	triad_output_printf(output,
		"alert %u is silenced until it is over or gets worse, at most until %s: "
		"%s (silence %" PRIu32 ")\n",
		command->id, triad_clock_format_s(silence.until_us, until),
		silence.place, id);
	return TRIAD_CONTROL_DONE;
}

/* Whether a known alert or link fits, even if its node has left the fabric. */
static bool is_remembered(
	struct triad_service *service, const struct triad_silence *silence)
{
	struct triad_watch *watch = triad_perf_watch(service->perf);
	struct triad_alert alert;
	struct triad_link link;
	uint32_t cursor = 0;

	while (triad_watch_next_alert(watch, &cursor, &alert))
		if (triad_silence_fits(silence, &alert))
			return true;
	cursor = 0;
	while (triad_watch_next_link(watch, &cursor, &link))
		for (unsigned i = 0; i < 2; i++)
			if (triad_silence_fits_end(silence, link.ends[i].node_guid,
				    link.ends[i].node_name, link.ends[i].port))
				return true;
	return false;
}

/* Names the place of a silence; replaces a GUID by the node's name. */
static void name_place(struct triad_silence *silence, const struct triad_fabric *fabric)
{
	const struct triad_node_choice *choice = &silence->choice;

	snprintf(silence->place, sizeof(silence->place), "%s", choice->typed);
	triad_text_clean(silence->place);
	if (choice->rule != TRIAD_NODE_RULE_GUID || choice->n != 1)
		return;
	snprintf(silence->place, sizeof(silence->place), "%s",
		triad_node_label(&fabric->nodes[choice->first]).text);
	if (choice->port >= 0)
		triad_text_append(
			silence->place, sizeof(silence->place), ":%d", choice->port);
}

/* Sets the nodes of 'silence'.  Returns 0; or the command's status, having written why,
 * when it would be about nothing. */
static int choose_place(struct triad_service *service,
	const struct triad_command *command, struct triad_silence *silence,
	struct triad_output *output)
{
	struct triad_view *view = triad_perf_view(service->perf);
	const struct triad_fabric *fabric = view ? view->fabric : NULL;
	int status = TRIAD_CONTROL_DONE;
	unsigned lid;

	silence->choice = triad_node_choice_make(command->node, fabric, 0);
	if (!fabric && triad_text_number(silence->choice.name, &lid)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"silence: no fabric is known here, so nobody knows whose LID %u "
			"is: give the node's name or GUID\n",
			lid);
		status = TRIAD_CONTROL_FAILED;
	} else if (!fabric) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"no fabric is known here, so nobody has checked that there is a "
			"node %s\n",
			silence->choice.rule == TRIAD_NODE_RULE_GUID
				? "with that GUID; a port's GUID silences nothing"
				: "with that name");
	}
	/* Refuse a mistyped name: it would silence nothing, unnoticed. */
	if (fabric && !silence->choice.n && !is_remembered(service, silence))
		status = triad_command_print_choice(
			"silence", &silence->choice, fabric, output);
	else if (status == TRIAD_CONTROL_DONE)
		name_place(silence, fabric);
	triad_view_unref(view);
	return status;
}

int triad_command_run_silence(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const char *trouble = triad_service_trouble(service);
	char from[TRIAD_CLOCK_TEXT_SIZE], until[TRIAD_CLOCK_TEXT_SIZE];
	uint64_t now_us = triad_clock_wall_us();
	struct triad_silence silence = {
		.from_us = command->from_us ? command->from_us : now_us};
	uint32_t id;
	int status;

	silence.until_us = silence.from_us + command->for_s * TRIAD_US_PER_S;
	if (silence.until_us <= now_us) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"silence: it would have been over at %s\n",
			triad_clock_format_s(silence.until_us, until));
		return TRIAD_CONTROL_FAILED;
	}
	copy_words(command, &silence);
	status = choose_place(service, command, &silence, output);
	if (status != TRIAD_CONTROL_DONE)
		return status;
	id = add_silence(service, &silence, "silence", output);
	if (!id)
		return TRIAD_CONTROL_FAILED;
	if (trouble)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"no alerts are looked for here: %s; each SM has silences of its "
			"own\n",
			trouble);
	triad_output_printf(output, "%s is silenced from %s until %s (silence %" PRIu32,
		silence.place, triad_clock_format_s(silence.from_us, from),
		triad_clock_format_s(silence.until_us, until), id);
	if (silence.choice.n > 1)
		triad_output_printf(
			output, ", %" PRIu32 " nodes now", silence.choice.n);
	triad_output_printf(output, ")\n");
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_unsilence(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_silence_keeper_status status;
	struct triad_silence ended;

	if (!triad_silence_keeper_end(
		    service->silences, command->id, &ended, &status)) {
		if (!status.is_read) {
			put_not_read("unsilence", &status, output);
			return TRIAD_CONTROL_FAILED;
		}
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"unsilence: there is no silence %u; 'silences' lists them\n",
			command->id);
		return TRIAD_CONTROL_FAILED;
	}
	triad_log_write(service->log, TRIAD_LOG_INFO,
		"silence %u of %s was ended by %s", command->id, ended.place,
		command->asker);
	triad_output_printf(output, "%s is not silenced any more (silence %u)\n",
		ended.place, command->id);
	if (status.path[0] && !status.is_kept)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"it is back after a restart of %s, because %s is %s; it is tried "
			"again each 10 s\n",
			service->owner->program, status.path, status.trouble);
	return TRIAD_CONTROL_DONE;
}

/* --- the list --- */

/* Counts the active alerts of each silence. */
static void count_alerts(struct triad_watch *watch,
	const struct triad_silences *silences, uint32_t *n_alerts)
{
	struct triad_alert alert;
	uint32_t cursor = 0;

	while (triad_watch_next_alert(watch, &cursor, &alert))
		for (uint32_t i = 0; i < silences->n; i++)
			n_alerts[i] += alert.state == TRIAD_ALERT_ACTIVE &&
				alert.silence == silences->list[i].id;
}

static void put_silence(struct triad_list *list, const struct triad_silences *silences,
	const struct triad_silence *silence, uint32_t n_alerts)
{
	bool is_in_force = silence->has_begun;
	char from[TRIAD_CLOCK_TEXT_SIZE], until[TRIAD_CLOCK_TEXT_SIZE];

	triad_list_row(list);
	triad_list_uint(list, "id", "ID", 3, silence->id);
	triad_list_text(list, "place", "PLACE", TRIAD_LIST_MEASURED, silence->place);
	triad_list_text(list, "kind", "KIND", -5, silence->is_ack ? "alert" : "place");
	list->next.is_spare = is_in_force;
	triad_list_text(list, "from", "FROM", -21,
		triad_clock_format_s(silence->from_us, from));
	triad_list_text(list, "until", "UNTIL", -21,
		triad_clock_format_s(silence->until_us, until));
	triad_list_bool(list, "in_force", NULL, 0, is_in_force);
	triad_list_uint(list, "alerts", "ALERTS", 6, n_alerts);
	list->next.is_spare = true;
	triad_list_text(list, "by", "BY", TRIAD_LIST_MEASURED, silence->by);
	triad_list_text(list, "reason", "REASON", TRIAD_LIST_LONG,
		silence->reason[0] ? silence->reason : NULL);
	triad_list_row_end(list);
}

static void put_silence_rows(struct triad_list *list,
	const struct triad_silences *silences, const uint32_t *n_alerts)
{
	for (uint32_t i = 0; i < silences->n; i++)
		put_silence(list, silences, &silences->list[i], n_alerts[i]);
}

static void put_silences(struct triad_report *report,
	const struct triad_silences *silences, const uint32_t *n_alerts)
{
	struct triad_list list = {
		.report = report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};

	if (triad_list_is_measured(report))
		put_silence_rows(&list, silences, n_alerts);
	list.phase = TRIAD_LIST_ROWS;
	triad_report_array(report, NULL);
	put_silence_rows(&list, silences, n_alerts);
	triad_report_array_end(report);
	if (!silences->n && !report->as_json)
		triad_output_printf(report->output, "nothing is silenced\n");
}

int triad_command_run_silences(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_silence_keeper_status status =
		triad_silence_keeper_status(service->silences);
	struct triad_watch *watch = triad_perf_watch(service->perf);
	struct triad_silences *silences = malloc(sizeof(*silences));
	uint32_t n_alerts[TRIAD_SILENCES_MAX] = {0};

	if (!silences) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"silences: not enough memory; try again\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_watch_copy_silences(watch, silences);
	count_alerts(watch, silences, n_alerts);
	put_silences(&report, silences, n_alerts);
	if (status.trouble[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n",
			status.path, status.trouble);
	free(silences);
	return TRIAD_CONTROL_DONE;
}
