/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'audit', 'audit last': what devices have of what OpenSM wrote, compared with what it wants. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/smp_mad.h"
#include "lib/text.h"
#include "plugin/audit/auditor.h"
#include "plugin/audit/repair.h"
#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "routes/crossing.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/command/report.h"
#include "triad/clock.h"
#include "triad/control.h"

#define BATCH 256u
#define PROGRESS_US TRIAD_US_PER_S
/* Differences whose hosts or ports are counted, which takes a walk from each. */
#define MAX_COUNTED 256u

struct audit {
	struct triad_output *output;
	const struct triad_command *command;
	struct triad_audit_result result;
	uint64_t reported_us;
};

/* Reports progress; returns false when the client has gone. */
static bool goes_on(void *context, uint64_t n_done, uint64_t n_all)
{
	struct audit *audit = context;
	uint64_t now_us = triad_clock_now_us();

	if (now_us - audit->reported_us > PROGRESS_US) {
		audit->reported_us = now_us;
		triad_output_message(audit->output, TRIAD_FRAME_PROGRESS,
			"%" PRIu64 " of %" PRIu64 " blocks looked at", n_done, n_all);
	}
	return !audit->output->failed;
}

/* --- the differences --- */

/* "LID 17 (leaf-05)": of a LID also whose it is. */
static const char *format_object(const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference,
	char text[TRIAD_AUDIT_TEXT_SIZE])
{
	uint32_t port = TRIAD_FABRIC_NONE;

	triad_audit_object(difference, text);
	if (difference->place.kind == TRIAD_AUDIT_LFT)
		port = triad_fabric_find_lid(fabric, triad_audit_lft_lid(difference));
	if (port != TRIAD_FABRIC_NONE)
		triad_text_append(text, TRIAD_AUDIT_TEXT_SIZE, " (%s)",
			triad_node_label(&fabric->nodes[fabric->ports[port].node])
				.text);
	return text;
}

/* Begins a row: what differs, and where. */
static void put_place(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference)
{
	uint32_t at = triad_fabric_port_at(
		fabric, difference->place.node_guid, difference->place.port);
	char object[TRIAD_AUDIT_TEXT_SIZE], wanted[TRIAD_AUDIT_TEXT_SIZE],
		found[TRIAD_AUDIT_TEXT_SIZE], id[9];

	snprintf(id, sizeof(id), "%08" PRIx32, triad_audit_id(difference));
	triad_list_row(list);
	triad_list_text(list, "id", "id", -8, id);
	triad_list_guid(list, "node_guid", NULL, difference->place.node_guid);
	triad_list_node(list, "node_name", "node", 24,
		at == TRIAD_FABRIC_NONE ? NULL
					: &fabric->nodes[fabric->ports[at].node]);
	triad_list_uint(list, "port", "port", 4, difference->place.port);
	triad_list_blank(list);
	triad_list_text(list, "table", "table", -10,
		triad_audit_kind_name(difference->place.kind));
	triad_list_text(list, "object", "object", TRIAD_LIST_LONG,
		format_object(fabric, difference, object));
	triad_list_text(list, "wanted", "wanted", -8,
		triad_audit_value(difference, difference->wanted, wanted));
	triad_list_text(list, "found", "found", -8,
		triad_audit_value(difference, difference->found, found));
}

static void put_difference(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference, double hosts, bool is_counted)
{
	char touches[TRIAD_AUDIT_TEXT_SIZE] = "", since[TRIAD_CLOCK_TEXT_SIZE];

	put_place(list, fabric, difference);
	triad_list_real(list, "hosts", "hosts", 6, hosts, "%.0f", hosts);
	if (is_counted)
		triad_audit_touches(fabric, difference, touches);
	triad_list_text(list, "since", NULL, 0,
		triad_command_format_time(difference->since_us, since));
	triad_list_text(list, "touches", "touches", TRIAD_LIST_LONG, touches);
	triad_list_row_end(list);
}

static void put_differences(const struct audit *audit, struct triad_report *report)
{
	const struct triad_audit_result *result = &audit->result;
	struct triad_list list = {.report = report};
	struct triad_routes_layout *layout = NULL;

	if (result->n)
		(void)triad_routes_layout_make(result->fabric, &layout);
	triad_report_array(report, "differences");
	for (size_t i = 0; i < result->n && i < audit->command->limit; i++) {
		const struct triad_audit_difference *difference =
			&result->differences[i];
		uint32_t node = triad_fabric_find_node(
			result->fabric, difference->place.node_guid);
		double hosts = NAN;

		if (layout && i < MAX_COUNTED && node != TRIAD_FABRIC_NONE &&
			difference->place.kind == TRIAD_AUDIT_LFT)
			hosts = triad_routes_n_crossing(
				layout, node, triad_audit_lft_lid(difference));
		put_difference(
			&list, result->fabric, difference, hosts, i < MAX_COUNTED);
	}
	triad_report_array_end(report);
	triad_routes_layout_free(layout);
}

/* --- the rest --- */

static const char *sm_state(const struct triad_audit_sm *sm)
{
	static const char *const names[] = {[TRIAD_SM_STATE_NOT_ACTIVE] = "not-active",
		[TRIAD_SM_STATE_DISCOVERING] = "discovering",
		[TRIAD_SM_STATE_STANDBY] = "standby",
		[TRIAD_SM_STATE_MASTER] = "master"};

	if (!sm->is_known)
		return "this SM has not heard of it";
	return sm->state <= TRIAD_SM_STATE_MASTER ? names[sm->state] : "?";
}

static struct triad_node_label label_of(
	const struct triad_fabric *fabric, uint64_t port_guid)
{
	uint32_t port = triad_fabric_find_alias(fabric, port_guid);

	return port == TRIAD_FABRIC_NONE
		? triad_node_label_of(fabric, port_guid, "?")
		: triad_node_label(&fabric->nodes[fabric->ports[port].node]);
}

static void put_sms(const struct audit *audit, struct triad_report *report)
{
	const struct triad_audit_result *result = &audit->result;

	triad_report_array(report, "other_sms");
	for (uint32_t i = 0; i < result->sms.n; i++) {
		const struct triad_audit_sm *sm = &result->sms.of[i];
		struct triad_node_label label = label_of(result->fabric, sm->port_guid);

		if (!report->as_json) {
			triad_output_printf(audit->output,
				"also an SM: %s, port 0x%016" PRIx64 ": %s\n",
				label.text, sm->port_guid, sm_state(sm));
			continue;
		}
		triad_json_object_begin(&report->json, NULL);
		triad_json_guid(&report->json, "port_guid", sm->port_guid);
		triad_json_string(&report->json, "node_name", label.text);
		triad_json_string(&report->json, "state", sm_state(sm));
		triad_json_object_end(&report->json);
	}
	triad_report_array_end(report);
}

/* Names some of the silent devices: those that are there, or those that are not. */
static void name_silent(const struct triad_audit_result *result, bool is_there,
	struct triad_output *output)
{
	char names[TRIAD_NODE_LABEL_SIZE * 4] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->n_silent && i < TRIAD_AUDIT_MAX_NAMED; i++) {
		const struct triad_fabric_node *node =
			triad_fabric_node_by_guid(result->fabric, result->silent[i]);

		if (result->is_there[i] != is_there || !node)
			continue;
		if (n < 4)
			triad_text_append(names, sizeof(names), "%s%s", n ? ", " : "",
				triad_node_label(node).text);
		n++;
	}
	if (n)
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "audit: %s: %s%s\n",
			is_there ? "reached by directed route, not by LID: a table on "
				   "the way is wrong"
				 : "reached neither by LID nor by directed route",
			names, n > 4 ? ", ..." : "");
}

static void put_silent(const struct triad_audit_result *result, bool is_there_only,
	const char *name, struct triad_report *report)
{
	triad_report_array(report, name);
	for (uint32_t i = 0;
		report->as_json && i < result->n_silent && i < TRIAD_AUDIT_MAX_NAMED;
		i++)
		if (!is_there_only || result->is_there[i])
			triad_json_guid(&report->json, NULL, result->silent[i]);
	triad_report_array_end(report);
}

static void put_unread(const struct audit *audit, struct triad_report *report)
{
	const struct triad_audit_result *result = &audit->result;

	put_silent(result, false, "silent", report);
	put_silent(result, true, "silent_at_their_lids_only", report);
	if (!result->n_unread)
		return;
	triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
		"audit: not known: %" PRIu64 " blocks were not read; %" PRIu32
		" devices do not answer at their LIDs\n",
		result->n_unread, result->n_silent);
	name_silent(result, true, audit->output);
	name_silent(result, false, audit->output);
}

/* What was not looked at: how many, of what. */
static void put_left(struct triad_report *report, uint64_t n, const char *what)
{
	if (!n)
		return;
	if (!report->as_json) {
		triad_output_printf(report->output, "  %" PRIu64 " %s\n", n, what);
		return;
	}
	triad_json_object_begin(&report->json, NULL);
	triad_json_uint(&report->json, "count", n);
	triad_json_string(&report->json, "what", what);
	triad_json_object_end(&report->json);
}

static void put_left_blocks(struct triad_report *report,
	const struct triad_audit_result *result, unsigned kind, const char *why)
{
	char what[160];

	snprintf(what, sizeof(what), "blocks of %s: %s", triad_audit_kind_name(kind),
		why);
	put_left(report, result->n_left[kind], what);
}

static void put_not_looked_at(const struct audit *audit, struct triad_report *report)
{
	const struct triad_audit_result *result = &audit->result;
	char qos[160];

	if (!report->as_json)
		triad_output_printf(audit->output, "not looked at:\n");
	triad_report_array(report, "not_looked_at");
	put_left(report, result->n_unread, "blocks that were not read");
	put_left(report, result->n_undecided,
		"blocks of ports that have changed since the last sweep, or for which "
		"OpenSM has yet to decide");
	snprintf(qos, sizeof(qos), "ports' SL2VL and VLArb tables: %s",
		result->no_qos ? result->no_qos : "");
	put_left(report, result->no_qos ? result->n_ports : 0, qos);
	put_left(report, result->n_trees_undecided,
		"rows of MFT: a member came or went, or a link of the tree, and OpenSM has "
		"yet to compute the tree; or its own copy makes none");
	put_left(report, result->n_trees_not_kept,
		"multicast trees that the routing engine does not keep: OpenSM's own copy "
		"has to connect all members without a circle");
	put_left_blocks(report, result, TRIAD_AUDIT_MFT,
		"OpenSM runs without multicast, or they are above the switch's "
		"MulticastFDBTop");
	put_left_blocks(report, result, TRIAD_AUDIT_PKEYS,
		"OpenSM writes no keys there, and does not clear what is there");
	put_left_blocks(report, result, TRIAD_AUDIT_GUIDS,
		"this SM was asked for no alias there, and does not clear what is there");
	put_left(report, result->n_not_taken,
		"settings that devices do not take, by their answers to OpenSM");
	put_left(report, result->n_ports, "link widths and speeds");
	put_left(report, result->n_down,
		"ports without a link: OpenSM writes there when they have one");
	triad_report_array_end(report);
}

/* Says what was found and what was not looked at.  Returns the command's status. */
static int put_result(struct audit *audit)
{
	const struct triad_audit_result *result = &audit->result;
	struct triad_report report = {
		.output = audit->output, .as_json = audit->command->json};

	triad_report_begin(&report);
	put_differences(audit, &report);
	put_sms(audit, &report);
	put_unread(audit, &report);
	if (report.as_json) {
		triad_json_uint(&report.json, "blocks", result->n_read);
		triad_json_uint(&report.json, "blocks_unread", result->n_unread);
		triad_json_double(
			&report.json, "seconds", (double)result->took_us / 1e6);
		triad_json_string(
			&report.json, "qos_tables_not_looked_at", result->no_qos);
	} else if (result->n) {
		triad_output_printf(audit->output,
			"%zu differ.  Of a LID, 255 is no port, and 'hosts' is how many "
			"send there by this\nswitch.  OpenSM writes a table again when a link "
			"of that device changes, and all when it becomes master.\n",
			result->n);
	}
	if (!report.as_json)
		triad_output_printf(
			audit->output, "%" PRIu64 " blocks read; ", result->n_read);
	put_not_looked_at(audit, &report);
	triad_report_end(&report);
	if (result->is_short)
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: more than %u differ, or memory is short: the rest is left "
			"out\n",
			TRIAD_AUDIT_MAX);
	if (result->n)
		return TRIAD_CONTROL_FAILED;
	if (result->is_short || result->n_unread || result->n_undecided ||
		result->n_trees_undecided || result->has_unknown_qos)
		return TRIAD_CONTROL_UNKNOWN;
	if (!report.as_json)
		triad_output_printf(
			audit->output, "what was looked at is as OpenSM wants it\n");
	return TRIAD_CONTROL_DONE;
}

static int end_audit(struct audit *audit, int error)
{
	const char *why = strerror(error);

	if (!error)
		return put_result(audit);
	if (error == EAGAIN) {
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: not known: %zu differ, and OpenSM sweeps again and again, "
			"so that they may be on their way; try again\n",
			audit->result.n);
		return TRIAD_CONTROL_UNKNOWN;
	}
	if (error == EBUSY)
		why = "another one is running: try again when it has ended";
	triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
		"audit: not known: the devices can't be asked: %s\n", why);
	return TRIAD_CONTROL_UNKNOWN;
}

/* Runs the audit of the nodes that the command names.  Returns false, having said why, when
 * there is no fabric or no such node. */
static bool run_chosen(struct triad_plugin *plugin, struct audit *audit,
	const struct triad_audit_repair *repair, int *error)
{
	const struct triad_command *command = audit->command;
	struct triad_node_choice choice = {0};
	struct triad_fabric *fabric =
		triad_setup_find_fabric(plugin, "audit", audit->output);
	bool is_run = fabric &&
		triad_command_choose_there(
			command, fabric, "audit", &choice, audit->output);

	if (is_run) {
		const struct triad_audit_request request = {.fabric = fabric,
			.choice = choice.rule == TRIAD_NODE_RULE_ALL ? NULL : &choice,
			.repair = repair,
			.smps_per_s = TRIAD_AUDIT_SMPS_PER_S,
			.batch = BATCH,
			.goes_on = goes_on,
			.context = audit,
			.by = command->asker};

		*error = triad_auditor_run(plugin->auditor, &request, &audit->result);
	}
	triad_fabric_unref(fabric);
	return is_run;
}

int triad_command_run_audit(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct audit audit = {.output = output, .command = command};
	int error, status = TRIAD_CONTROL_UNKNOWN;

	if (run_chosen(plugin, &audit, NULL, &error))
		status = end_audit(&audit, error);
	triad_audit_result_clear(&audit.result);
	return status;
}

/* --- audit last --- */

/* What people are to know of it before its differences. */
static void say_last(
	const struct triad_audit_status *status, struct triad_output *output)
{
	char ended[TRIAD_CLOCK_TEXT_SIZE], took[TRIAD_CLOCK_TEXT_SIZE];

	if (!status->ended_us) {
		triad_output_printf(output,
			"not known: no audit of all devices has ended since this SM is "
			"master; 'triadctl audit' runs one\n");
		return;
	}
	triad_clock_format_length(status->took_us, took);
	triad_output_printf(output,
		"%zu differ by the audit that ended at %s after %s, for %s\n",
		status->n, triad_command_format_time(status->ended_us, ended), took,
		status->by);
	triad_output_printf(output, "%" PRIu64 " blocks read; ", status->n_read);
	if (status->n_unread || status->is_partial)
		triad_output_printf(output,
			"not known: %" PRIu64 " blocks, %" PRIu32
			" devices do not answer at their LIDs%s\n",
			status->n_unread, status->n_silent,
			status->is_partial ? ", and more" : "");
	else
		triad_output_printf(
			output, "'triadctl audit' says what is not looked at\n");
}

static void put_last_json(
	const struct triad_audit_status *status, struct triad_json *json)
{
	bool is_known = status->ended_us;
	char ended[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_string(json, "ended",
		is_known ? triad_command_format_time(status->ended_us, ended) : NULL);
	triad_json_string(json, "by", is_known ? status->by : NULL);
	triad_json_double(
		json, "seconds", is_known ? (double)status->took_us / 1e6 : NAN);
	triad_json_double(json, "differ", is_known ? (double)status->n : NAN);
	triad_json_double(json, "blocks", is_known ? (double)status->n_read : NAN);
	triad_json_double(
		json, "blocks_unknown", is_known ? (double)status->n_unread : NAN);
	triad_json_double(
		json, "silent_devices", is_known ? (double)status->n_silent : NAN);
	triad_json_bool(json, "partial", !is_known || status->is_partial);
	triad_json_uint(json, "period_seconds", status->period_s);
	triad_json_uint(json, "failed", status->n_failed);
}

static void put_last(const struct triad_audit_status *status,
	const struct triad_fabric *fabric,
	const struct triad_audit_difference *differences,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report};
	char since[TRIAD_CLOCK_TEXT_SIZE];

	triad_report_begin(&report);
	if (report.as_json)
		put_last_json(status, &report.json);
	else
		say_last(status, output);
	triad_report_array(&report, "differences");
	for (size_t i = 0; i < status->n && i < command->limit; i++) {
		put_place(&list, fabric, &differences[i]);
		triad_list_text(&list, "since", "since", -20,
			triad_command_format_time(differences[i].since_us, since));
		triad_list_row_end(&list);
	}
	triad_report_array_end(&report);
	if (!report.as_json && status->n > command->limit)
		triad_command_put_left_out(output, status->n - command->limit,
			status->n, "more differences");
	triad_report_end(&report);
}

int triad_command_run_audit_last(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_fabric *fabric =
		triad_setup_find_fabric(plugin, "audit last", output);
	struct triad_audit_difference *differences = NULL;
	struct triad_audit_status status;
	bool is_there = fabric &&
		!triad_auditor_last(
			plugin->auditor, command->limit, &status, &differences);

	if (is_there)
		put_last(&status, fabric, differences, command, output);
	else if (fabric)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"audit last: not enough memory; try again\n");
	free(differences);
	triad_fabric_unref(fabric);
	return is_there ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* --- audit repair --- */

struct repair {
	struct audit audit; /* first: goes_on() */
	struct triad_audit_repair hooks;
	unsigned n_done, n_not;
};

static bool repair_is_chosen(
	void *context, const struct triad_audit_difference *difference)
{
	const struct triad_command *command = ((struct repair *)context)->audit.command;

	return command->all || triad_audit_id(difference) == command->id;
}

static void note_repair(void *context, const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference, const char *why_not)
{
	struct repair *repair = context;
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(fabric, difference->place.node_guid);
	char object[TRIAD_AUDIT_TEXT_SIZE], wanted[TRIAD_AUDIT_TEXT_SIZE],
		found[TRIAD_AUDIT_TEXT_SIZE];

	*(why_not ? &repair->n_not : &repair->n_done) += 1;
	triad_output_printf(repair->audit.output,
		"%s port %u: %s %s: %s %s, %s was there%s%s\n",
		node ? triad_node_label(node).text : "?", difference->place.port,
		triad_audit_kind_name(difference->place.kind),
		format_object(fabric, difference, object),
		triad_audit_value(difference, difference->wanted, wanted),
		why_not ? "not written" : "written",
		triad_audit_value(difference, difference->found, found),
		why_not ? ": " : "", why_not ? why_not : "");
}

static int end_repair(struct repair *repair, int error)
{
	struct triad_output *output = repair->audit.output;

	if (error)
		return end_audit(&repair->audit, error);
	if (repair->n_not)
		return TRIAD_CONTROL_FAILED;
	if (!repair->n_done && !repair->audit.command->all) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"audit repair: nothing differs so now: 'audit' lists what does\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(output, "%u written\n", repair->n_done);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_audit_repair(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct repair repair = {.audit = {.output = output, .command = command},
		.hooks = {repair_is_chosen, note_repair, &repair}};
	const char *why_not = triad_auditor_forbids(plugin->auditor);
	int error;

	if (why_not) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"audit repair: nothing is written: %s\n", why_not);
		return TRIAD_CONTROL_FAILED;
	}
	if (!run_chosen(plugin, &repair.audit, &repair.hooks, &error))
		return TRIAD_CONTROL_UNKNOWN;
	error = end_repair(&repair, error);
	triad_audit_result_clear(&repair.audit.result);
	return error;
}
