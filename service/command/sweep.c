/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf sweep', 'perf clear': commands that wait for a sweep. */
#include "service/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfmgr/watch/watch.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/json.h"

/* --- perf sweep --- */

static void put_sweep(const struct triad_collector_status *status, bool as_json,
	struct triad_output *output)
{
	struct triad_json json;

	if (!as_json) {
		triad_output_printf(output,
			"sweep %" PRIu64 ": %" PRIu32 " ports in %" PRIu64
			" ms, %" PRIu32 " unanswered\n",
			status->n_sweeps, status->last.n_ports,
			status->duration_us / TRIAD_US_PER_MS,
			status->last.n_unanswered);
		return;
	}
	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "sweep", status->n_sweeps);
	triad_json_uint(&json, "ports", status->last.n_ports);
	triad_json_uint(&json, "answered", status->last.n_answered);
	triad_json_uint(&json, "unanswered", status->last.n_unanswered);
	triad_json_uint(&json, "duration_ms", status->duration_us / TRIAD_US_PER_MS);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* Waits for the sweep of 'ticket' and shows its progress; '*status' is from after it.
 * Returns 0, or an errno when it did not end. */
static int wait_for_sweep(struct triad_service *service, uint64_t ticket,
	struct triad_collector_status *status, struct triad_output *output)
{
	int error;

	/* In slices of a second, each with a line of progress; ends when the client has
	 * gone. */
	while ((error = triad_perf_wait_sweep(service->perf, ticket, TRIAD_US_PER_S)) ==
			ETIMEDOUT &&
		!output->failed) {
		*status = triad_perf_status(service->perf);
		triad_output_message(output, TRIAD_FRAME_PROGRESS,
			"sweep: %" PRIu32 " of %" PRIu32 " ports",
			status->progress.n_answered + status->progress.n_unanswered,
			status->progress.n_ports);
	}
	*status = triad_perf_status(service->perf);
	return error;
}

/* Returns true, having written why, when the PerfManager does not run. */
static bool is_idle(
	struct triad_service *service, const char *verb, struct triad_output *output)
{
	const char *trouble = triad_service_trouble(service);

	if (trouble)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, trouble);
	return trouble;
}

static int print_stopped(const char *verb, struct triad_output *output)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: the PerfManager stopped before the sweep ended\n", verb);
	return TRIAD_CONTROL_FAILED;
}

int triad_command_run_perf_sweep(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_collector_status status;

	if (is_idle(service, "perf sweep", output))
		return TRIAD_CONTROL_FAILED;
	if (wait_for_sweep(
		    service, triad_perf_ask_sweep(service->perf), &status, output))
		return print_stopped("perf sweep", output);
	put_sweep(&status, command->json, output);
	return TRIAD_CONTROL_DONE;
}

/* --- perf clear --- */

static bool is_of_hardware(const struct triad_command *command)
{
	return command->clear == TRIAD_COMMAND_CLEAR_HARDWARE;
}

static struct triad_selection *select_ports(struct triad_view *view,
	const struct triad_command *command, const struct triad_node_choice *choice,
	uint32_t *n)
{
	struct triad_selection *selection = triad_selection_new(view);

	*n = 0;
	for (uint32_t i = 0; selection && i < view->fabric->n_ports; i++) {
		/* Ports that are not asked can't be reset: leave them out. */
		selection->chosen[i] =
			triad_command_wants_port(choice, view->fabric, i) &&
			(!is_of_hardware(command) || triad_view_is_asked(view, i));
		*n += selection->chosen[i];
	}
	if (selection)
		selection->hardware = is_of_hardware(command);
	return selection;
}

/* Counts the chosen ports whose hardware has been reset since 'since_us'. */
static uint32_t count_reset(const struct triad_view *view,
	const struct triad_node_choice *choice, uint64_t since_us)
{
	struct triad_shown_port shown;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		if (!triad_command_wants_port(choice, view->fabric, i))
			continue;
		triad_shown_port_read(&shown, view, i);
		/* Rows keep the time of a reset to the second. */
		n += shown.row.own.last_us / TRIAD_US_PER_S >=
			since_us / TRIAD_US_PER_S;
	}
	return n;
}

static void put_reset(const struct triad_command *command, uint32_t n, uint32_t n_reset,
	struct triad_output *output)
{
	struct triad_json json;

	if (!command->json) {
		triad_output_printf(output, "%" PRIu32 " port%s: totals are 0 now", n,
			n == 1 ? "" : "s");
		if (is_of_hardware(command))
			triad_output_printf(output,
				"; hardware of %" PRIu32 " reset, %" PRIu32
				" did not answer",
				n_reset, n - n_reset);
		triad_output_put(output, "\n", 1);
		return;
	}
	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "ports", n);
	triad_json_bool(&json, "hardware", is_of_hardware(command));
	if (is_of_hardware(command)) {
		triad_json_uint(&json, "hardware_reset", n_reset);
		triad_json_uint(&json, "hardware_unanswered", n - n_reset);
	}
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* Records the reset, with its place if it was of one node. */
static void note_in_history(struct triad_service *service,
	const struct triad_command *command, const struct triad_node_choice *choice,
	uint32_t n)
{
	struct triad_view *view = triad_perf_view(service->perf);
	uint32_t node = view && choice->n == 1 ? choice->first : TRIAD_FABRIC_NONE;
	struct triad_timeline_event event = {
		.kind = TRIAD_TIMELINE_CLEARED, .count = n};

	snprintf(event.text, sizeof(event.text),
		"totals%s of %" PRIu32 " port%s%s%.32s",
		is_of_hardware(command) ? " and hardware" : "", n, n == 1 ? "" : "s",
		command->node[0] ? ", " : "", command->node);
	/* Another fabric may have come since the node was chosen. */
	if (node != TRIAD_FABRIC_NONE && node < view->fabric->n_nodes &&
		triad_node_choice_has(choice, view->fabric->nodes[node].name,
			view->fabric->nodes[node].guid)) {
		event.ends[0].node_guid = view->fabric->nodes[node].guid;
		event.ends[0].port = choice->port < 0 ? TRIAD_TIMELINE_NO_PORT
						      : (uint8_t)choice->port;
		memcpy(event.ends[0].node_name, view->fabric->nodes[node].name,
			sizeof(event.ends[0].node_name));
	}
	triad_recorder_note(service->recorder, &event);
	triad_view_unref(view);
}

/* Resets the totals of 'n' ports, and with 'hardware' the counters of their PMAs. */
static int reset(struct triad_service *service, const struct triad_command *command,
	const struct triad_node_choice *choice, struct triad_selection *selection,
	uint32_t n, struct triad_output *output)
{
	struct triad_collector_status status;
	struct triad_view *view;
	uint32_t n_reset = 0;
	uint64_t ticket;
	int error = triad_perf_reset(service->perf, selection, &ticket);

	if (error == EBUSY) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf clear: another one is just being made; try again\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (!error)
		note_in_history(service, command, choice, n);
	if (error ||
		(is_of_hardware(command) &&
			wait_for_sweep(service, ticket, &status, output)))
		return print_stopped("perf clear", output);
	view = triad_perf_view(service->perf);
	if (is_of_hardware(command) && view)
		n_reset = count_reset(view, choice, ticket);
	triad_view_unref(view);
	put_reset(command, n, n_reset, output);
	return n_reset || !is_of_hardware(command) ? TRIAD_CONTROL_DONE
						   : TRIAD_CONTROL_FAILED;
}

static int clear_histograms(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	bool is_manager = triad_collect_is_manager(service->collect);
	struct triad_json json;

	triad_watch_clear_histograms(triad_perf_watch(service->perf));
	if (is_manager && triad_collect_clear_histograms(service->collect)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf clear: agents were not told: another command is waiting "
			"for them, or this ends; try again\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (!command->json) {
		triad_output_printf(output, "all histograms begin anew%s\n",
			is_manager ? ", those of agents too" : "");
		return TRIAD_CONTROL_DONE;
	}
	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_bool(&json, "histograms", true);
	triad_json_object_end(&json);
	triad_json_end(&json);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_perf_clear(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_node_choice choice;
	struct triad_selection *selection;
	struct triad_view *view;
	uint32_t n = 0;
	int status = TRIAD_CONTROL_FAILED;

	if (command->clear == TRIAD_COMMAND_CLEAR_HISTOGRAMS)
		return clear_histograms(service, command, output);
	if (is_of_hardware(command) && is_idle(service, "perf clear", output))
		return TRIAD_CONTROL_FAILED;
	view = triad_perf_view(service->perf);
	if (!view)
		return triad_command_no_view(service, output);
	if (!triad_command_choose(
		    command, view->fabric, "perf clear", &choice, output)) {
		triad_view_unref(view);
		return TRIAD_CONTROL_FAILED;
	}
	selection = select_ports(view, command, &choice, &n);
	if (!selection)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "perf clear: out of memory\n");
	else if (!n)
		status = triad_command_no_port(
			"perf clear", view->fabric, &choice, output);
	if (selection && n)
		status = reset(service, command, &choice, selection, n, output);
	else
		triad_selection_free(selection);
	triad_view_unref(view);
	return status;
}
