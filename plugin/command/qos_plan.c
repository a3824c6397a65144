/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos plan' and 'qos apply'. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/guard.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/sm_recover.h"
#include "service/command/commands.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"

/* What is shown, and where it is written. */
struct view {
	const struct triad_command *command;
	struct triad_node_choice choice;
	const struct triad_setup_context *context;
	const struct triad_setup_plan *plan;
	enum triad_setup_credit_state credit_state;
	struct triad_routes_credit *credit; /* with the policy's tables */
	struct triad_output *output;
	struct triad_report report;
};

static const struct triad_fabric_node *node_of(const struct view *view, uint32_t port)
{
	const struct triad_fabric *fabric = view->context->fabric;

	return &fabric->nodes[fabric->ports[port].node];
}

/* --- values --- */

static const char *format_value(const struct triad_setup_change *change,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE])
{
	return triad_format_setup_value(change->table, change->n, value, text);
}

/* The line of the scope, or 0: OpenSM's default. */
static unsigned line_of(
	const struct view *view, const struct triad_setup_change *change)
{
	const struct triad_policy *policy = view->context->policy;

	if (change->scope == TRIAD_SCOPE_NONE || !policy)
		return 0;
	return change->table == TRIAD_SETUP_SL2VL
		? policy->sl2vl[change->scope].scope.location.line
		: policy->vlarb[change->scope].scope.location.line;
}

static bool is_chosen_change(
	const struct view *view, const struct triad_setup_change *change)
{
	return triad_node_choice_has_port(
		&view->choice, view->context->fabric, change->port);
}

/* --- what would change --- */

static void put_change(struct triad_list *list, const struct view *view,
	const struct triad_setup_change *change)
{
	char from[TRIAD_TABLE_TEXT_SIZE], to[TRIAD_TABLE_TEXT_SIZE],
		scope[32] = "OpenSM's default";
	unsigned line = line_of(view, change);

	if (line)
		snprintf(scope, sizeof(scope), "line %u", line);
	format_value(change, &change->from, from);
	format_value(change, &change->to, to);
	triad_list_row(list);
	triad_setup_put_table(list, view->context->fabric, change->port, change->table,
		change->in_first, change->in_last);
	triad_list_text(list, "from", NULL, 0, from);
	triad_list_text(list, "to", NULL, 0, to);
	triad_list_uint(list, "line", NULL, 0, line);
	list->next.name = "line";
	triad_list_text(list, NULL, "because of", 0, scope);
	triad_list_note(list, "    from %s", from);
	triad_list_note(list, "    to   %s", to);
	triad_list_row_end(list);
}

/* The limit applies to the table; JSON gets all changes. */
static void put_changes(struct view *view)
{
	const struct triad_setup_plan *plan = view->plan;
	bool as_json = view->report.as_json;
	struct triad_list list = {.report = &view->report, .phase = TRIAD_LIST_TITLES};
	uint64_t n = 0, left_out = plan->n_changes_total - plan->n_changes;

	if (plan->n_changes && !as_json)
		triad_output_put(view->output, "\n", 1);
	/* 'list' is in the phase of the titles: its first row writes only these. */
	if (plan->n_changes)
		put_change(&list, view, &plan->changes[0]);
	triad_report_array(&view->report, "changes");
	for (uint32_t i = 0; i < plan->n_changes; i++) {
		if (!is_chosen_change(view, &plan->changes[i]))
			continue;
		if (n++ < view->command->limit || as_json)
			put_change(&list, view, &plan->changes[i]);
		else
			left_out++;
	}
	triad_report_array_end(&view->report);
	if (left_out && !as_json)
		triad_output_printf(view->output,
			"... and %" PRIu64
			" more: -n shows more of them, --node and --port choose\n",
			left_out);
}

/* --- what is wrong --- */

static void put_finding(struct triad_list *list, const struct view *view,
	const struct triad_setup_finding *finding)
{
	bool is_error = triad_setup_finding_is_error(finding);
	char text[TRIAD_TABLE_TEXT_SIZE];

	triad_setup_finding_format(finding, view->context->policy,
		view->context->fabric, text, sizeof(text));
	triad_list_row(list);
	triad_list_bool(list, "error", NULL, 0, is_error);
	triad_list_text(list, NULL, "", 0, is_error ? "error:" : "warning:");
	triad_list_text(list, "text", "", 0, text);
	triad_list_row_end(list);
}

static void put_findings(struct view *view)
{
	const struct triad_setup_plan *plan = view->plan;
	struct triad_list list = {.report = &view->report, .indent = "  "};

	if (plan->n_findings && !view->report.as_json)
		triad_output_printf(view->output, "\nOn this fabric\n");
	triad_report_array(&view->report, "findings");
	for (uint32_t i = 0; i < plan->n_findings; i++)
		put_finding(&list, view, &plan->findings[i]);
	triad_report_array_end(&view->report);
	if (plan->n_findings_total > plan->n_findings && !view->report.as_json)
		triad_output_printf(view->output, "  ... and %u more\n",
			plan->n_findings_total - plan->n_findings);
}

static void put_path(struct triad_list *list, const struct view *view,
	const struct triad_setup_path *path)
{
	const struct triad_fabric_port *ports = view->context->fabric->ports;
	const char *from = node_of(view, path->from)->name;
	const char *to = node_of(view, path->to)->name;
	const struct triad_fabric_node *node = node_of(view, path->port);

	if (!view->report.as_json) {
		triad_output_printf(view->output,
			"  error: SL %u from '%s' port %u to '%s' port %u is dropped "
			"by '%s', from port %u to port %u\n",
			path->sl, triad_node_label(node_of(view, path->from)).text,
			ports[path->from].number,
			triad_node_label(node_of(view, path->to)).text,
			ports[path->to].number, triad_node_label(node).text,
			path->in_port, ports[path->port].number);
		return;
	}
	triad_list_row(list);
	triad_list_uint(list, "sl", NULL, 0, path->sl);
	triad_list_text(list, "from", NULL, 0, from);
	triad_list_text(list, "to", NULL, 0, to);
	triad_list_uint(list, "in_port", NULL, 0, path->in_port);
	triad_list_guid(list, "node_guid", NULL, node->guid);
	triad_list_text(list, "node_name", NULL, 0, node->name);
	triad_list_uint(list, "port", NULL, 0, ports[path->port].number);
	triad_list_row_end(list);
}

static void put_paths(struct view *view)
{
	const struct triad_setup_plan *plan = view->plan;
	bool as_json = view->report.as_json;
	struct triad_list list = {.report = &view->report};

	if (plan->n_paths && !as_json)
		triad_output_printf(view->output,
			"\nSLs in use that have no VL on the way, or one that is never "
			"sent (%" PRIu64 " place(s)), for example\n",
			plan->n_dead_places);
	triad_report_array(&view->report, "paths_without_vl");
	for (uint32_t i = 0; i < plan->n_paths && (as_json || i < view->command->limit);
		i++)
		put_path(&list, view, &plan->paths[i]);
	triad_report_array_end(&view->report);
	if (plan->n_cut_off && !as_json)
		triad_output_printf(view->output,
			"\n  error: the SM would be cut off from %u port(s), the first "
			"is '%s' port %u: unless qos.tables_guard is off, this policy "
			"is refused\n",
			plan->n_cut_off,
			triad_node_label(node_of(view, plan->first_cut_off)).text,
			view->context->fabric->ports[plan->first_cut_off].number);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* --- credit loops --- */

static const char *const credit_names[] = {
	[TRIAD_SETUP_CREDIT_CLEAN] = "none",
	[TRIAD_SETUP_CREDIT_CLOSES] = "closed by the policy",
	[TRIAD_SETUP_CREDIT_LOOPS] = "with OpenSM's tables, too",
	[TRIAD_SETUP_CREDIT_UNKNOWN] = "unknown",
};

static void put_credit(struct view *view)
{
	struct triad_json *json = &view->report.json;

	if (view->report.as_json) {
		triad_json_string(json, "credit", credit_names[view->credit_state]);
		triad_json_uint(json, "n_credit_loops", view->credit->n_loops);
	}
	triad_routes_put_loops(&view->report, view->context->fabric, view->credit);
	if (view->report.as_json)
		return;
	if (view->credit_state == TRIAD_SETUP_CREDIT_CLOSES)
		triad_output_printf(view->output,
			"\n  error: these tables would close %" PRIu32
			" credit loop%s: unless qos.tables_guard is off, this policy is "
			"refused\n",
			view->credit->n_loops, plural(view->credit->n_loops));
	else if (view->credit_state == TRIAD_SETUP_CREDIT_LOOPS)
		triad_output_printf(view->output,
			"\n  warning: there are credit loops with OpenSM's tables, too: "
			"'routes check'\n");
}

/* Looks for credit loops, unless the plan is for an image, which no client waits for.
 * Returns false and reports it when memory is short. */
static bool find_credit(struct view *view, struct triad_plugin *plugin)
{
	const struct triad_tables_guard guard = {.osm = plugin->osm,
		.setup = view->context->setup,
		.fabric = view->context->fabric};
	int error = ENOMEM;

	view->credit = calloc(1, sizeof(*view->credit));
	view->credit_state = TRIAD_SETUP_CREDIT_UNKNOWN;
	if (view->credit && view->command->for_image)
		return true;
	if (view->credit)
		error = triad_tables_guard_credit(
			&guard, &view->credit_state, view->credit);
	if (error)
		triad_output_message(view->output, TRIAD_FRAME_MESSAGE,
			"qos plan: %s\n", strerror(error));
	return !error;
}

/* --- the whole --- */

static void put_plan_head(const struct view *view)
{
	const struct triad_setup_plan *plan = view->plan;
	const struct triad_policy *policy = view->context->policy;

	triad_output_printf(view->output,
		"policy   %s\n"
		"tables   %" PRIu64 " at %u port%s\n",
		!policy                        ? "none: OpenSM's tables"
			: view->context->setup ? policy->source
					       : "without qos-setup: OpenSM's tables",
		plan->n_tables, plan->n_ports, plural(plan->n_ports));
	if (triad_setup_plan_n_changed(plan))
		triad_output_printf(view->output,
			"change   %" PRIu64 " of these, at %u port%s, by %" PRIu64
			" SMP%s\n",
			triad_setup_plan_n_changed(plan), plan->n_changed_ports,
			plural(plan->n_changed_ports), plan->n_smps,
			plural(plan->n_smps));
	else
		triad_output_printf(view->output, "change   none\n");
}

static void put_head_json(struct view *view)
{
	const struct triad_setup_plan *plan = view->plan;
	const struct triad_policy *policy = view->context->policy;
	struct triad_json *json = &view->report.json;

	triad_json_string(json, "policy", policy ? policy->source : NULL);
	triad_json_bool(json, "has_setup", view->context->setup);
	triad_json_uint(json, "tables", plan->n_tables);
	triad_json_uint(json, "ports", plan->n_ports);
	triad_json_uint(json, "changed", triad_setup_plan_n_changed(plan));
	triad_json_uint(json, "changed_ports", plan->n_changed_ports);
	triad_json_uint(json, "smps", plan->n_smps);
	triad_json_uint(json, "cut_off", plan->n_cut_off);
	triad_json_uint(json, "dead_places", plan->n_dead_places);
	triad_json_uint(json, "changes_total", plan->n_changes_total);
}

static void put_plan(struct view *view)
{
	triad_report_begin(&view->report);
	if (view->report.as_json)
		put_head_json(view);
	else
		put_plan_head(view);
	put_changes(view);
	put_findings(view);
	put_paths(view);
	put_credit(view);
	triad_report_end(&view->report);
}

/* --- commands --- */

/* Refuses names that match no node: an empty plan would look as if nothing were to
 * do. */
static bool choose_nodes(struct view *view)
{
	const struct triad_fabric *fabric = view->context->fabric;
	struct triad_node_choice *choice = &view->choice;

	if (!triad_command_choose(
		    view->command, fabric, "qos plan", choice, view->output))
		return false;
	if (choice->rule == TRIAD_NODE_RULE_ALL || choice->n)
		return true;
	triad_command_print_choice("qos plan", choice, fabric, view->output);
	return false;
}

int triad_command_run_qos_plan(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_setup_context context;
	struct triad_setup_plan *plan;
	struct view view = {.command = command,
		.context = &context,
		.output = output,
		.report = {.output = output, .as_json = command->json}};
	int error, status;

	if (!triad_setup_context_make(
		    &context, plugin, "qos plan", command->file, output))
		return TRIAD_CONTROL_FAILED;
	if (!choose_nodes(&view)) {
		triad_setup_context_drop(&context);
		return TRIAD_CONTROL_FAILED;
	}
	error = triad_setup_plan_make(context.setup, context.fabric, &plan);
	if (error) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos plan: %s\n", strerror(error));
		triad_setup_context_drop(&context);
		return TRIAD_CONTROL_FAILED;
	}
	view.plan = plan;
	status = TRIAD_CONTROL_FAILED;
	if (find_credit(&view, plugin)) {
		put_plan(&view);
		status = triad_setup_plan_n_changed(plan) ? TRIAD_CONTROL_TO_DO
							  : TRIAD_CONTROL_DONE;
	}
	free(view.credit);
	triad_setup_plan_free(plan);
	triad_setup_context_drop(&context);
	return status;
}

/* Reads the policy's file again; when it has mistakes, reports them and returns
 * false. */
static bool read_policy(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_diags *diags = malloc(sizeof(*diags));
	int error = diags ? triad_qos_load(plugin->qos, diags) : ENOMEM;

	if (diags)
		triad_commands_put_diags(diags, output);
	if (error)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: the policy is not taken; the last good one stays\n");
	free(diags);
	return !error;
}

/* Whether the guard accepts the tables of the policy just read; reports a refusal. */
static bool passes_guard(
	struct triad_plugin *plugin, bool is_guarded, struct triad_output *output)
{
	struct triad_setup_context context;
	struct triad_setup_plan *plan;
	enum triad_setup_credit_state state = TRIAD_SETUP_CREDIT_UNKNOWN;
	struct triad_routes_credit *credit;
	uint32_t n_cut_off = 0;
	const char *unknown = NULL;
	bool is_looked_for;

	if (!triad_setup_context_make(&context, plugin, "qos apply", "", output))
		return false;
	/* triad-qos checks again before it puts the tables into force; this check
	 * answers the operator at once. */
	if (is_guarded &&
		!triad_setup_plan_make(context.setup, context.fabric, &plan)) {
		n_cut_off = plan->n_cut_off;
		triad_setup_plan_free(plan);
	}
	is_looked_for = is_guarded && context.setup && context.fabric->sa.qos;
	credit = is_looked_for ? calloc(1, sizeof(*credit)) : NULL;
	if (is_looked_for) {
		int error = credit
			? triad_tables_guard_credit(
				  &(struct triad_tables_guard){.osm = plugin->osm,
					  .setup = context.setup,
					  .fabric = context.fabric},
				  &state, credit)
			: ENOMEM;

		unknown = triad_setup_credit_why_unknown(error, state, credit);
	}
	free(credit);
	triad_setup_context_drop(&context);
	if (state == TRIAD_SETUP_CREDIT_CLOSES)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: refused: its tables would close a credit loop; the "
			"policy before stays in force, rules and tables; 'qos plan' "
			"shows it, 'set qos.tables_guard false' overrides it\n");
	if (unknown)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: whether its tables close a credit loop is not known: "
			"%s; the guard lets them pass\n",
			unknown);
	if (n_cut_off)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: refused: the SM could not answer %" PRIu32
			" port(s) any more; the policy before stays in force, rules and "
			"tables; 'qos plan' shows them, 'set qos.tables_guard false' "
			"overrides it\n",
			n_cut_off);
	return !n_cut_off && state != TRIAD_SETUP_CREDIT_CLOSES;
}

int triad_command_run_qos_apply(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_conf *conf = triad_service_conf(&plugin->service);
	bool has_tables = conf->qos.tables_enabled;
	bool is_guarded = conf->qos.tables_guard;
	bool uses_policy =
		has_tables || conf->qos.enabled || conf->qos.partition_groups;

	(void)command;
	triad_conf_unref(conf);
	if (!uses_policy) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: Triad does nothing by a policy: 'set qos.enabled "
			"true' has it answer by its rules, 'set qos.tables_enabled true' "
			"program its tables\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (!read_policy(plugin, output))
		return TRIAD_CONTROL_FAILED;
	if (!has_tables) {
		triad_output_printf(output,
			"the policy's rules are in force; its tables are not programmed: "
			"'set qos.tables_enabled true' begins it\n");
		return TRIAD_CONTROL_DONE;
	}
	if (!passes_guard(plugin, is_guarded, output))
		return TRIAD_CONTROL_FAILED;
	if (!triad_sm_sweep_as_master(plugin->osm)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: this SM is not the master\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(
		output, "OpenSM sweeps; 'qos plan' says what is left to do then\n");
	return TRIAD_CONTROL_DONE;
}
