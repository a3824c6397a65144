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
#include "plugin/qos/tables/tables.h"
#include "service/command/commands.h"
#include "service/command/ports.h"

/* What is told of, and whereto. */
struct telling {
	const struct triad_command *command;
	const struct triad_setup_context *context;
	const struct triad_setup_plan *plan;
	struct triad_output *output;
	struct triad_json json;
};

static const struct triad_fabric_node *node_of(
	const struct telling *telling, uint32_t port)
{
	const struct triad_fabric *fabric = telling->context->fabric;

	return &fabric->nodes[fabric->ports[port].node];
}

static uint64_t n_changed(const struct triad_setup_plan *plan)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TRIAD_SETUP_N_TABLES; i++)
		n += plan->n_changed[i];
	return n;
}

/* --- values --- */

static const char *format_value(const struct triad_setup_change *change,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE])
{
	return triad_format_setup_value(change->table, change->n, value, text);
}

/* The line of the scope, or 0: OpenSM's default. */
static unsigned line_of(
	const struct telling *telling, const struct triad_setup_change *change)
{
	const struct triad_policy *policy = telling->context->policy;

	if (change->scope == TRIAD_SCOPE_NONE || !policy)
		return 0;
	return change->table == TRIAD_SETUP_SL2VL
		? policy->sl2vl[change->scope].scope.location.line
		: policy->vlarb[change->scope].scope.location.line;
}

static bool is_wanted(
	const struct telling *telling, const struct triad_setup_change *change)
{
	const struct triad_command *command = telling->command;
	const struct triad_fabric_node *node = node_of(telling, change->port);

	if (command->port >= 0 &&
		telling->context->fabric->ports[change->port].number !=
			(unsigned)command->port)
		return false;
	return !command->node[0] ||
		triad_command_is_node(command, node->name, node->guid);
}

/* --- text --- */

static void format_in_ports(
	const struct triad_setup_change *change, char *text, size_t size)
{
	if (change->table != TRIAD_SETUP_SL2VL || !(change->in_first | change->in_last))
		snprintf(text, size, "%s",
			change->table == TRIAD_SETUP_SL2VL ? "0" : "");
	else if (change->in_first == change->in_last)
		snprintf(text, size, "%u", change->in_first);
	else
		snprintf(text, size, "%u-%u", change->in_first, change->in_last);
}

static void put_change(
	const struct telling *telling, const struct triad_setup_change *change)
{
	char from[TRIAD_TABLE_TEXT_SIZE], to[TRIAD_TABLE_TEXT_SIZE], in_ports[16],
		scope[32] = "OpenSM's default";

	if (line_of(telling, change))
		snprintf(scope, sizeof(scope), "line %u", line_of(telling, change));
	format_in_ports(change, in_ports, sizeof(in_ports));
	triad_output_printf(telling->output, "%-32s %4u  %-7s  %-10s  %s\n",
		node_of(telling, change->port)->name,
		telling->context->fabric->ports[change->port].number, in_ports,
		triad_setup_table_name(change->table), scope);
	triad_output_printf(telling->output, "    from %s\n    to   %s\n",
		format_value(change, &change->from, from),
		format_value(change, &change->to, to));
}

static void put_changes(const struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	uint64_t n = 0, left_out = plan->n_changes_total - plan->n_changes;

	if (plan->n_changes)
		triad_output_printf(telling->output, "\n%-32s %4s  %-7s  %-10s  %s\n",
			"node", "port", "in", "table", "because of");
	for (uint32_t i = 0; i < plan->n_changes; i++) {
		if (!is_wanted(telling, &plan->changes[i]))
			continue;
		if (n++ < telling->command->limit)
			put_change(telling, &plan->changes[i]);
		else
			left_out++;
	}
	if (left_out)
		triad_output_printf(telling->output,
			"... and %" PRIu64
			" more: -n shows more of them, --node and --port choose\n",
			left_out);
}

static void put_findings(const struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	char text[TRIAD_TABLE_TEXT_SIZE];

	if (plan->n_findings)
		triad_output_printf(telling->output, "\nOn this fabric\n");
	for (uint32_t i = 0; i < plan->n_findings; i++) {
		triad_setup_finding_format(&plan->findings[i], telling->context->policy,
			telling->context->fabric, text, sizeof(text));
		triad_output_printf(telling->output, "  %s: %s\n",
			triad_setup_finding_is_error(&plan->findings[i]) ? "error"
									 : "warning",
			text);
	}
	if (plan->n_findings_total > plan->n_findings)
		triad_output_printf(telling->output, "  ... and %u more\n",
			plan->n_findings_total - plan->n_findings);
}

static void put_paths(const struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	const struct triad_fabric *fabric = telling->context->fabric;

	if (plan->n_paths)
		triad_output_printf(telling->output,
			"\nSLs in use that have no VL on the way, or one that is never "
			"sent (%" PRIu64 " place(s)), for example\n",
			plan->n_dead_places);
	for (uint32_t i = 0; i < plan->n_paths && i < telling->command->limit; i++) {
		const struct triad_setup_path *path = &plan->paths[i];

		triad_output_printf(telling->output,
			"  error: SL %u from '%s' port %u to '%s' port %u is dropped "
			"by '%s', from port %u to port %u\n",
			path->sl, node_of(telling, path->from)->name,
			fabric->ports[path->from].number,
			node_of(telling, path->to)->name,
			fabric->ports[path->to].number,
			node_of(telling, path->port)->name, path->in_port,
			fabric->ports[path->port].number);
	}
	if (plan->n_cut_off)
		triad_output_printf(telling->output,
			"\n  error: the SM would be cut off from %u port(s), the first "
			"is '%s' port %u: unless qos.tables_guard is off, this policy "
			"is refused\n",
			plan->n_cut_off, node_of(telling, plan->first_cut_off)->name,
			fabric->ports[plan->first_cut_off].number);
}

static void put_text(const struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	const struct triad_policy *policy = telling->context->policy;

	triad_output_printf(telling->output,
		"policy   %s\n"
		"tables   %" PRIu64 " of %u port(s)\n"
		"change   %" PRIu64 " of %u port(s), by %" PRIu64 " SMP(s)\n",
		!policy ? "none: OpenSM's tables"
			: telling->context->setup
			? policy->source
			: "without qos-setup: OpenSM's tables",
		plan->n_tables, plan->n_ports, n_changed(plan), plan->n_changed_ports,
		plan->n_smps);
	put_changes(telling);
	put_findings(telling);
	put_paths(telling);
}

/* --- JSON --- */

static void json_port(
	struct telling *telling, const char *node, const char *number, uint32_t port)
{
	triad_json_guid(&telling->json, "node_guid", node_of(telling, port)->guid);
	triad_json_string(&telling->json, node, node_of(telling, port)->name);
	triad_json_uint(
		&telling->json, number, telling->context->fabric->ports[port].number);
}

static void json_change(
	struct telling *telling, const struct triad_setup_change *change)
{
	char text[TRIAD_TABLE_TEXT_SIZE];

	triad_json_object_begin(&telling->json, NULL);
	json_port(telling, "node_name", "port", change->port);
	triad_json_string(
		&telling->json, "table", triad_setup_table_name(change->table));
	if (change->table == TRIAD_SETUP_SL2VL) {
		triad_json_uint(&telling->json, "in_first", change->in_first);
		triad_json_uint(&telling->json, "in_last", change->in_last);
	}
	triad_json_string(
		&telling->json, "from", format_value(change, &change->from, text));
	triad_json_string(
		&telling->json, "to", format_value(change, &change->to, text));
	triad_json_uint(&telling->json, "line", line_of(telling, change));
	triad_json_object_end(&telling->json);
}

static void json_findings(struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	char text[TRIAD_TABLE_TEXT_SIZE];

	triad_json_array_begin(&telling->json, "findings");
	for (uint32_t i = 0; i < plan->n_findings; i++) {
		triad_setup_finding_format(&plan->findings[i], telling->context->policy,
			telling->context->fabric, text, sizeof(text));
		triad_json_object_begin(&telling->json, NULL);
		triad_json_bool(&telling->json, "error",
			triad_setup_finding_is_error(&plan->findings[i]));
		triad_json_string(&telling->json, "text", text);
		triad_json_object_end(&telling->json);
	}
	triad_json_array_end(&telling->json);
}

static void json_paths(struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;

	triad_json_array_begin(&telling->json, "paths_without_vl");
	for (uint32_t i = 0; i < plan->n_paths; i++) {
		const struct triad_setup_path *path = &plan->paths[i];

		triad_json_object_begin(&telling->json, NULL);
		triad_json_uint(&telling->json, "sl", path->sl);
		triad_json_string(
			&telling->json, "from", node_of(telling, path->from)->name);
		triad_json_string(
			&telling->json, "to", node_of(telling, path->to)->name);
		triad_json_uint(&telling->json, "in_port", path->in_port);
		json_port(telling, "node_name", "port", path->port);
		triad_json_object_end(&telling->json);
	}
	triad_json_array_end(&telling->json);
}

static void put_json(struct telling *telling)
{
	const struct triad_setup_plan *plan = telling->plan;
	const struct triad_policy *policy = telling->context->policy;
	struct triad_json *json = &telling->json;

	triad_json_init(json, telling->output);
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "policy", policy ? policy->source : NULL);
	triad_json_bool(json, "has_setup", telling->context->setup);
	triad_json_uint(json, "tables", plan->n_tables);
	triad_json_uint(json, "ports", plan->n_ports);
	triad_json_uint(json, "changed", n_changed(plan));
	triad_json_uint(json, "changed_ports", plan->n_changed_ports);
	triad_json_uint(json, "smps", plan->n_smps);
	triad_json_uint(json, "cut_off", plan->n_cut_off);
	triad_json_uint(json, "dead_places", plan->n_dead_places);
	triad_json_uint(json, "changes_total", plan->n_changes_total);
	triad_json_array_begin(json, "changes");
	for (uint32_t i = 0; i < plan->n_changes; i++)
		if (is_wanted(telling, &plan->changes[i]))
			json_change(telling, &plan->changes[i]);
	triad_json_array_end(json);
	json_findings(telling);
	json_paths(telling);
	triad_json_object_end(json);
	triad_json_end(json);
}

/* --- commands --- */

int triad_command_run_qos_plan(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_setup_context context;
	struct triad_setup_plan *plan;
	struct telling telling = {
		.command = command, .context = &context, .output = output};
	int error, status;

	if (!triad_setup_context_make(
		    &context, plugin, "qos plan", command->file, output))
		return TRIAD_CONTROL_FAILED;
	error = triad_setup_plan_make(context.setup, context.fabric, &plan);
	if (error) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos plan: %s\n", strerror(error));
		triad_setup_context_drop(&context);
		return TRIAD_CONTROL_FAILED;
	}
	telling.plan = plan;
	if (command->json)
		put_json(&telling);
	else
		put_text(&telling);
	status = n_changed(plan) ? TRIAD_CONTROL_TO_DO : TRIAD_CONTROL_DONE;
	triad_setup_plan_free(plan);
	triad_setup_context_drop(&context);
	return status;
}

/* Reads the policy's file again; returns false, having said why, when it has
 * mistakes. */
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

/* Whether the guard lets the tables of the policy that was read pass; says so if
 * not. */
static bool passes_guard(
	struct triad_plugin *plugin, bool is_guarded, struct triad_output *output)
{
	struct triad_setup_context context;
	struct triad_setup_plan *plan;
	uint32_t n_cut_off = 0;

	if (!triad_setup_context_make(&context, plugin, "qos apply", "", output))
		return false;
	if (is_guarded &&
		!triad_setup_plan_make(context.setup, context.fabric, &plan)) {
		n_cut_off = plan->n_cut_off;
		triad_setup_plan_free(plan);
	}
	triad_setup_context_drop(&context);
	if (n_cut_off)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: refused: the SM could not answer %" PRIu32
			" port(s) any more; the policy before stays in force, rules and "
			"tables; 'qos plan' shows them, 'set qos.tables_guard false' "
			"overrides it\n",
			n_cut_off);
	return !n_cut_off;
}

int triad_command_run_qos_apply(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_conf conf;

	(void)command;
	triad_service_get_conf(&plugin->service, &conf);
	if (!conf.qos.tables_enabled && !conf.qos.enabled &&
		!conf.qos.partition_groups) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: Triad does nothing by a policy: 'set qos.enabled "
			"true' has it answer by its rules, 'set qos.tables_enabled true' "
			"program its tables\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (!read_policy(plugin, output))
		return TRIAD_CONTROL_FAILED;
	if (!conf.qos.tables_enabled) {
		triad_output_printf(output,
			"the policy's rules are in force; its tables are not programmed: "
			"'set qos.tables_enabled true' begins it\n");
		return TRIAD_CONTROL_DONE;
	}
	if (!passes_guard(plugin, conf.qos.tables_guard, output))
		return TRIAD_CONTROL_FAILED;
	if (!triad_tables_ask_for_sweep(triad_qos_tables(plugin->qos))) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos apply: this SM is not the master\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(
		output, "OpenSM sweeps; 'qos plan' says what is left to do then\n");
	return TRIAD_CONTROL_DONE;
}
