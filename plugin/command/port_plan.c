/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port plan' and 'port list': switch ports as they are, as they should be, and what is
 * to be done about it. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "plugin/command/port_effect.h"
#include "plugin/command/port_node.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "portmgr/expected/expected.h"
#include "service/command/list.h"

/* What is shown, and whereto. */
struct view {
	const struct triad_command *command;
	struct triad_ports_status status;
	struct triad_ports_row *rows;
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
static const char *found_word(const struct triad_ports_row *row)
{
	if (!row->phys_state)
		return "absent";
	if (row->is_tested)
		return "testing";
	if (row->is_held)
		return "held";
	if (row->is_failed)
		return "failed";
	if (row->phys_state == 3)
		return "disabled";
	return row->state == TRIAD_PORT_DOWN ? "down"
					     : triad_port_state_name(row->state);
}

static bool is_stopped(const struct triad_ports_row *row)
{
	return row->guard && !row->is_overridden;
}

/* --- rows, for both --- */

static void put_item_json(struct triad_json *json, const struct triad_ports_row *row)
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
	/* The agenda has only what is to be done. */
	triad_json_string(json, "agenda",
		row->kind == TRIAD_PLAN_NOTE || is_stopped(row)
			? NULL
			: triad_agenda_state_name(row->agenda));
}

static void put_remarks(struct triad_list *list, const struct triad_ports_row *row)
{
	if (row->text[0])
		triad_list_note(list, "    %s", row->text);
	if (row->has_item && row->kind != TRIAD_PLAN_NOTE && !is_stopped(row) &&
		row->agenda)
		triad_list_note(list, "    %s",
			row->agenda == TRIAD_AGENDA_AGAIN
				? "it was tried in vain, and will be again"
				: row->agenda == TRIAD_AGENDA_DONE
				? "done; the next sweep will show it"
				: "it waits for its time");
}

static void put_row(struct triad_list *list, const struct triad_ports_row *row)
{
	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, row->node_guid);
	triad_list_text(list, "node_name", "node", TRIAD_LIST_LONG, row->node);
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
	put_remarks(list, row);
	triad_list_row_end(list);
}

/* --- the whole --- */

static void put_why_not(struct view *view)
{
	const struct triad_ports_status *status = &view->status;

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
	const struct triad_ports_status *status = &view->status;

	triad_json_uint(json, "generation", status->generation);
	triad_json_string(json, "mode", status->is_enforcing ? "enforce" : "observe");
	triad_json_bool(json, "may_act", status->may_act);
	triad_json_bool(json, "stopped", status->agenda.is_stopped);
	triad_json_string(json, "trouble", status->trouble[0] ? status->trouble : NULL);
	triad_json_uint(json, "disable", status->n_of_kind[TRIAD_PLAN_DISABLE]);
	triad_json_uint(json, "enable", status->n_of_kind[TRIAD_PLAN_ENABLE]);
	triad_json_uint(json, "test", status->n_of_kind[TRIAD_PLAN_TEST]);
	triad_json_uint(json, "guarded", status->n_guarded);
	triad_json_uint(json, "rows", view->n_all);
}

/* 'plugin': what it does to routes, too; NULL: nothing of that. */
static void put_view(struct view *view, struct triad_plugin *plugin)
{
	struct triad_report *report = &view->report;
	struct triad_list list = {.report = report};

	triad_report_begin(report);
	if (report->as_json)
		put_head_json(&report->json, view);
	else if (view->n)
		triad_output_put(report->output, "\n", 1);
	triad_report_array(report, "ports");
	for (uint32_t i = 0; i < view->n; i++)
		put_row(&list, &view->rows[i]);
	triad_report_array_end(report);
	if (!report->as_json && view->n_all > view->n)
		triad_output_printf(report->output,
			"... and %u more: -n shows more of them, --node and --port "
			"choose\n",
			view->n_all - view->n);
	if (plugin)
		triad_port_effect_put(plugin, report);
	triad_report_end(report);
}

/* --- the commands --- */

static int fail(struct view *view, const char *verb, int error)
{
	const char *why = "not enough memory";

	if (!view->status.is_enabled)
		why = "the port manager is off: 'set port.enabled true' switches it on";
	else if (error == ENOENT)
		why = "there is no expected configuration: see port.expected_file, and "
		      "'health' for what is wrong with it";
	else if (error == EAGAIN)
		why = "there is no fabric: OpenSM has not brought up the subnet yet, "
		      "or this SM is not the master; ask on the host of the master";
	triad_output_message(
		view->report.output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, why);
	return TRIAD_CONTROL_FAILED;
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
	error = view->status.is_enabled
		? triad_ports_rows(plugin->ports, which, found.guid, found.port,
			  view->command->limit, &view->rows, &view->n, &view->n_all)
		: EAGAIN;
	return error ? fail(view, verb, error) : 0;
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
	put_view(&view, command->for_image ? NULL : plugin);
	free(view.rows);
	return has_something_to_do(&view.status) ? TRIAD_CONTROL_TO_DO
						 : TRIAD_CONTROL_DONE;
}

int triad_command_run_port_list(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct view view = {.command = command,
		.report = {.output = output, .as_json = command->json}};
	int error = find_rows(plugin, &view,
		command->failed ? TRIAD_PORTS_FAILED : TRIAD_PORTS_ALL, "port list");

	if (error)
		return error;
	if (command->json || view.n)
		put_view(&view, NULL);
	else
		triad_output_printf(output, "no port%s\n",
			command->failed ? " was disabled as failed" : "");
	free(view.rows);
	return TRIAD_CONTROL_DONE;
}
