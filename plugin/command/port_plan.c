/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port plan' and 'port list': switch ports as they are, as they should be, and what is
 * to be done about it. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "plugin/command/port_effect.h"
#include "plugin/command/port_node.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "portmgr/expected/expected.h"
#include "service/command/list.h"
#include "service/command/moment.h"

/* The rows to show, and the report that they go to. */
struct view {
	const struct triad_command *command;
	struct triad_ports_status status; /* at present */
	struct triad_port_rows_head head;
	struct triad_port_row *rows;
	uint32_t n, n_all;
	struct triad_report report;
};

static const char *phys_state_name(unsigned state)
{
	static const char *const names[] = {"-", "sleep", "polling", "disabled",
		"training", "link up", "recovery", "phy test"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

/* In one word, for people and programs. */
static const char *found_word(const struct triad_port_row *row)
{
	if (!row->phys_state)
		return "absent";
	if (row->is_tested)
		return "testing";
	if (row->is_held)
		return "held";
	if (row->is_failed)
		return "failed";
	if (row->phys_state == TRIAD_PHYS_DISABLED)
		return "disabled";
	return row->state == TRIAD_PORT_DOWN ? "down"
					     : triad_port_state_name(row->state);
}

static bool is_stopped_by_guard(const struct triad_port_row *row)
{
	return row->guard && !row->is_overridden;
}

/* --- rows, for both --- */

static void put_item_json(struct triad_json *json, const struct triad_port_row *row)
{
	triad_json_string(json, "action", triad_plan_kind_name(row->kind));
	triad_json_string(json, "reason",
		row->reason ? triad_port_reason_name(row->reason) : NULL);
	triad_json_string(json, "note",
		row->kind == TRIAD_PLAN_NOTE ? triad_plan_note_name(row->note) : NULL);
	triad_json_string(json, "guard",
		row->guard ? triad_guard_word((enum triad_guard_verdict)row->guard)
			   : NULL);
	triad_json_uint(json, "nodes_lost", row->n_lost);
	triad_json_bool(json, "overridden", row->is_overridden);
	triad_json_bool(json, "approved", row->is_approved);
	/* The agenda lacks notes, and items that a guard stops. */
	triad_json_string(json, "agenda",
		row->kind == TRIAD_PLAN_NOTE || is_stopped_by_guard(row)
			? NULL
			: triad_agenda_state_name(row->agenda));
}

static const char *agenda_text(const struct triad_port_row *row, bool is_stopped)
{
	if (row->agenda == TRIAD_AGENDA_AGAIN)
		return "it was tried in vain, and will be again";
	if (row->agenda == TRIAD_AGENDA_DONE)
		return "done; the next sweep will show it";
	return is_stopped && !row->is_approved ? "it waits for 'port approve'"
					       : "it waits for its time";
}

/* 'all_stopped': the plan as a whole waits for 'port approve'. */
static void put_remarks(
	struct triad_list *list, const struct triad_port_row *row, bool all_stopped)
{
	if (row->text[0])
		triad_list_note(list, "    %s", row->text);
	if (row->has_item && row->kind != TRIAD_PLAN_NOTE &&
		!is_stopped_by_guard(row) && row->agenda)
		triad_list_note(list, "    %s", agenda_text(row, all_stopped));
}

static void put_plan_row(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_port_row *row, bool all_stopped)
{
	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, row->node_guid);
	triad_list_text(list, "node_name", NULL, 0, row->node);
	list->next.name = "node_name";
	triad_list_text(list, NULL, "node", TRIAD_LIST_LONG,
		triad_node_label_of(fabric, row->node_guid, row->node).text);
	triad_list_uint(list, "port", "port", 4, row->number);
	triad_list_blank(list);
	triad_list_text(list, "expected", "expected", -8,
		triad_expected_state_name(row->expected));
	triad_list_text(
		list, "expected_remote", NULL, 0, row->remote[0] ? row->remote : NULL);
	triad_list_blank(list);
	if (row->is_failed)
		list->next.color = TRIAD_TABLE_RED;
	triad_list_text(list, "found", "found", -8, found_word(row));
	triad_list_text(list, "state", NULL, 0, triad_port_state_name(row->state));
	triad_list_text(list, "phys_state", NULL, 0, phys_state_name(row->phys_state));
	triad_list_bool(list, "held", NULL, 0, row->is_held);
	triad_list_bool(list, "failed", NULL, 0, row->is_failed);
	triad_list_bool(list, "admitted", NULL, 0, row->is_admitted);
	triad_list_text(list, "test", NULL, 0,
		row->is_tested ? triad_test_step_name(row->step) : NULL);
	if (row->has_item && triad_list_json(list))
		put_item_json(triad_list_json(list), row);
	triad_list_blank(list);
	list->next.name = "action";
	triad_list_text(list, NULL, "plan", -8,
		row->has_item ? triad_plan_kind_name(row->kind) : "");
	triad_list_text(list, "text", NULL, 0, row->text[0] ? row->text : NULL);
	put_remarks(list, row, all_stopped);
	triad_list_row_end(list);
}

/* --- the whole --- */

static void put_why_not(struct view *view)
{
	const struct triad_ports_status *status = &view->status;

	if (status->permission.by_hand_view)
		triad_output_printf(view->report.output,
			"the missing SMs count as down, by 'port confirm': what only "
			"they have recorded of ports is not known here\n");
	if (!status->is_enforcing)
		triad_output_printf(
			view->report.output, "nothing is done: port.mode is observe\n");
	else if (status->trouble[0])
		triad_output_printf(
			view->report.output, "nothing is done: %s\n", status->trouble);
	else if (!status->permission.is_given)
		triad_output_printf(view->report.output,
			"nothing is done: this SM may not enforce, see 'election'\n");
	else if (status->agenda.is_stopped)
		triad_output_printf(view->report.output,
			"STOPPED: %u ports would be changed at once, more than "
			"port.max_actions: nothing is done until 'port approve'\n",
			status->agenda.n_open);
}

static void put_plan_head(struct view *view)
{
	const struct triad_ports_status *status = &view->status;

	triad_output_printf(view->report.output,
		"generation %" PRIu64 ", %u port(s)\n"
		"to disable %u, to enable %u, to test %u; stopped by a guard %u; "
		"notes %u\n",
		status->generation, status->n_rows,
		status->n_of_kind[TRIAD_PLAN_DISABLE],
		status->n_of_kind[TRIAD_PLAN_ENABLE],
		status->n_of_kind[TRIAD_PLAN_TEST], status->n_guarded,
		status->n_of_kind[TRIAD_PLAN_NOTE]);
	put_why_not(view);
}

static void put_head_json(struct triad_json *json, const struct view *view)
{
	const struct triad_port_rows_head *head = &view->head;

	triad_json_uint(json, "generation", head->generation);
	triad_json_string(json, "mode", head->is_enforcing ? "enforce" : "observe");
	triad_json_bool(json, "may_act", head->may_act);
	triad_json_bool(json, "stopped", head->is_stopped);
	triad_json_string(json, "trouble", head->trouble[0] ? head->trouble : NULL);
	triad_json_uint(json, "disable", head->n_of_kind[TRIAD_PLAN_DISABLE]);
	triad_json_uint(json, "enable", head->n_of_kind[TRIAD_PLAN_ENABLE]);
	triad_json_uint(json, "test", head->n_of_kind[TRIAD_PLAN_TEST]);
	triad_json_uint(json, "guarded", head->n_guarded);
	triad_json_uint(json, "rows", view->n_all);
}

/* With 'plugin' it also shows the effect on routes, and the labels of the present
 * fabric; NULL omits that. */
static void put_view(struct view *view, struct triad_plugin *plugin)
{
	struct triad_report *report = &view->report;
	struct triad_list list = {.report = report};
	struct triad_view *now = plugin ? triad_perf_view(plugin->service.perf) : NULL;

	triad_report_begin(report);
	if (report->as_json)
		put_head_json(&report->json, view);
	triad_report_array(report, "ports");
	for (uint32_t i = 0; i < view->n; i++)
		put_plan_row(&list, now ? now->fabric : NULL, &view->rows[i],
			view->head.is_stopped);
	triad_report_array_end(report);
	if (!report->as_json && view->n_all > view->n)
		triad_output_printf(report->output,
			"... and %u more: -n shows more of them, --node and --port "
			"choose\n",
			view->n_all - view->n);
	triad_view_unref(now);
	if (plugin)
		triad_port_effect_put(plugin, report);
	triad_report_end(report);
}

/* --- the commands --- */

/* Why there are no rows. */
static const char *why_none(const struct triad_ports_status *status, int error)
{
	if (!status->is_enabled)
		return "the port manager is off: 'set port.enabled true' switches it on";
	if (error == ENOENT)
		return "there is no expected configuration: see port.expected_file, and "
		       "'health' for what is wrong with it";
	if (error == EAGAIN)
		return "there is no fabric: OpenSM has not brought up the subnet yet, "
		       "or this SM is not the master; ask on the host of the master";
	return "not enough memory";
}

static struct triad_port_rows_head head_of(const struct triad_ports_status *status)
{
	struct triad_port_rows_head head = {
		.generation = status->generation,
		.is_enforcing = status->is_enforcing,
		.may_act = status->may_act,
		.is_stopped = status->agenda.is_stopped,
		.n_guarded = status->n_guarded,
	};

	memcpy(head.n_of_kind, status->n_of_kind, sizeof(head.n_of_kind));
	memcpy(head.trouble, status->trouble, sizeof(head.trouble));
	return head;
}

static int find_rows(struct triad_plugin *plugin, struct view *view,
	enum triad_ports_which which, const char *verb)
{
	struct triad_command_switch found;
	int error = triad_command_find_switch(
		plugin, verb, view->command, &found, view->report.output);

	if (error)
		return error;
	triad_ports_status(plugin->ports, &view->status);
	view->head = head_of(&view->status);
	error = view->status.is_enabled
		? triad_ports_rows(plugin->ports, which, found.guid, found.port,
			  view->command->limit, &view->rows, &view->n, &view->n_all)
		: EAGAIN;
	if (!error)
		return 0;
	triad_output_message(view->report.output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb,
		why_none(&view->status, error));
	return TRIAD_CONTROL_FAILED;
}

static bool has_something_to_do(const struct triad_ports_status *status)
{
	return status->n_of_kind[TRIAD_PLAN_DISABLE] +
		status->n_of_kind[TRIAD_PLAN_ENABLE] +
		status->n_of_kind[TRIAD_PLAN_TEST] >
		0;
}

int triad_command_run_port_plan(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct view view = {.command = command,
		.report = {.output = output, .as_json = command->json}};
	int error = find_rows(plugin, &view, TRIAD_PORTS_PLAN, "port plan");

	if (error)
		return error;
	if (!command->json)
		put_plan_head(&view);
	if (!command->json && view.n)
		triad_output_put(output, "\n", 1);
	put_view(&view, command->for_image ? NULL : plugin);
	free(view.rows);
	return has_something_to_do(&view.status) ? TRIAD_CONTROL_TO_DO
						 : TRIAD_CONTROL_DONE;
}

static void put_list(struct view *view)
{
	bool is_failed = view->command->failed;

	if (view->command->json || view->n)
		put_view(view, NULL);
	else
		triad_output_printf(view->report.output, "no port%s\n",
			is_failed ? " was disabled as failed" : "");
}

/* --- 'port list' of the past --- */

/* Finds the next row for the switch and port that are meant.  Returns false at the end
 * of the list, or when a row can't be read; '*is_wrong' then is true. */
static bool next_row(const struct triad_kept_list *list, uint32_t *place,
	const struct triad_command_switch *meant, bool is_failed,
	struct triad_port_row *row, bool *is_wrong)
{
	while (*place < list->n) {
		uint32_t size;
		const uint8_t *octets = triad_kept_list_row(list, (*place)++, &size);

		*is_wrong = !triad_port_row_get(octets, size, row);
		if (*is_wrong)
			return false;
		if ((!meant->guid || row->node_guid == meant->guid) &&
			(meant->port < 0 || row->number == meant->port) &&
			(!is_failed || row->is_failed))
			return true;
	}
	return false;
}

/* Returns the command's status. */
static int take_rows(struct view *view, const struct triad_kept_list *list,
	const struct triad_command_switch *meant)
{
	const struct triad_command *command = view->command;
	struct triad_port_row row;
	uint32_t place = 1, size;
	const uint8_t *octets = list->n ? triad_kept_list_row(list, 0, &size) : NULL;
	bool is_wrong = !octets || !triad_port_rows_head_get(octets, size, &view->head);
	size_t room = 0;

	while (!is_wrong &&
		next_row(list, &place, meant, command->failed, &row, &is_wrong)) {
		view->n_all++;
		if (view->n == command->limit)
			continue;
		if (triad_grow(&view->rows, &room, view->n + 1, sizeof(row), 32))
			break;
		view->rows[view->n++] = row;
	}
	return is_wrong ? triad_moment_refuse_row(command, view->report.output)
			: TRIAD_CONTROL_DONE;
}

static int show_past(struct view *view, struct triad_plugin *plugin)
{
	const struct triad_command *command = view->command;
	struct triad_output *output = view->report.output;
	struct triad_command_switch meant;
	struct triad_moment moment;
	const struct triad_kept_list *list = triad_moment_open_list(
		&moment, &plugin->service, command, TRIAD_KEPT_PORTS, output);
	int status = TRIAD_CONTROL_FAILED;

	if (list)
		status = triad_command_find_switch_in(
			moment.view->fabric, "port list", command, &meant, output);
	if (!status)
		status = take_rows(view, list, &meant);
	if (!status)
		put_list(view);
	free(view->rows);
	triad_moment_close(&moment);
	return status;
}

int triad_command_run_port_list(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct view view = {.command = command,
		.report = {.output = output, .as_json = command->json}};
	int error;

	if (command->at[0])
		return show_past(&view, plugin);
	error = find_rows(plugin, &view,
		command->failed ? TRIAD_PORTS_FAILED : TRIAD_PORTS_ALL, "port list");
	if (error)
		return error;
	put_list(&view);
	free(view.rows);
	return TRIAD_CONTROL_DONE;
}

/* --- kept --- */

#define PIECE 128u   /* rows that are copied under one lock */
#define MAX_TRIES 3u /* starts again when the plan changed while rows were copied */

/* Returns as triad_ports_rows_piece(), or ESTALE: the plan changed between two
 * pieces. */
static int keep_rows(struct triad_ports *ports, struct triad_kept_list *list,
	struct triad_port_row *rows)
{
	uint8_t octets[TRIAD_PORT_ROW_SIZE];
	uint64_t version = 0, first_version = 0;
	uint32_t n, first = 0;
	int error;

	do {
		n = PIECE;
		error = triad_ports_rows_piece(ports, first, rows, &n, &version);
		if (error)
			return error;
		if (!first)
			first_version = version;
		for (uint32_t i = 0; i < n; i++)
			triad_kept_list_add(
				list, octets, triad_port_row_put(&rows[i], octets));
		first += n;
	} while (n == PIECE && version == first_version);
	return version == first_version ? 0 : ESTALE;
}

void triad_command_keep_port_list(
	struct triad_plugin *plugin, struct triad_kept_list *list)
{
	struct triad_port_row *rows = malloc(PIECE * sizeof(*rows));
	uint8_t octets[TRIAD_PORT_ROW_SIZE];
	struct triad_ports_status status;
	struct triad_port_rows_head head;
	int error;

	triad_ports_status(plugin->ports, &status);
	head = head_of(&status);
	error = rows ? EAGAIN : ENOMEM;
	for (unsigned i = 0; rows && status.is_enabled && i < MAX_TRIES; i++) {
		triad_kept_list_begin(list);
		triad_kept_list_add(
			list, octets, triad_port_rows_head_put(&head, octets));
		error = keep_rows(plugin->ports, list, rows);
		if (error != ESTALE)
			break;
	}
	free(rows);
	/* Keep rows of two plans when every try met a change: they are better than
	 * none. */
	if (error && error != ESTALE)
		triad_kept_list_refuse(list, why_none(&status, error));
}
