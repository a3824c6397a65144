/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cabling/plan_read.h"
#include "cli/cabling_parts.h"
#include "cli/port_command.h"
#include "cli/screen.h"
#include "triad/control.h"
#include "triad/json.h"

uint32_t triad_cabling_count_not_known(const struct triad_cabling_checking *checking)
{
	return checking->result->n_items - checking->result->n_deviations;
}

static int verdict_of(const struct triad_cabling_checking *checking)
{
	if (checking->result->n_deviations)
		return TRIAD_CONTROL_FAILED;
	return triad_cabling_count_not_known(checking) ? TRIAD_CONTROL_UNKNOWN
						       : TRIAD_CONTROL_DONE;
}

/* --- text -------------------------------------------------------------- */

static void put_text_item(struct triad_cabling_checking *checking, uint32_t i)
{
	const struct triad_cabling_item *item = &checking->result->items[i];
	char text[TRIAD_CABLING_TEXT_SIZE];

	triad_cabling_describe(&checking->view, item, 0, text, sizeof(text));
	if (triad_cabling_is_deviation(item))
		triad_output_printf(
			&checking->output, "%" PRIu32 ". %s\n", i + 1, text);
	else
		triad_output_printf(&checking->output, "not known: %s\n", text);
	for (uint32_t step = 1; step <= triad_cabling_n_steps(item); step++) {
		triad_cabling_describe(&checking->view, item, step, text, sizeof(text));
		triad_output_printf(&checking->output,
			"   %" PRIu32 ".%" PRIu32 " %s\n", i + 1, step, text);
	}
}

void triad_cabling_put_summary(struct triad_cabling_checking *checking)
{
	const struct triad_cabling_result *result = checking->result;
	uint32_t n_not_known = triad_cabling_count_not_known(checking);

	triad_output_printf(&checking->output,
		"%" PRIu32 " of %" PRIu32 " cables are as planned", result->n_right,
		result->n_planned);
	if (result->n_deviations)
		triad_output_printf(
			&checking->output, "; to do: %" PRIu32, result->n_deviations);
	if (n_not_known)
		triad_output_printf(
			&checking->output, "; not known: %" PRIu32, n_not_known);
	if (result->n_outside)
		triad_output_printf(&checking->output,
			"; of nodes that the plan does not have: %" PRIu32,
			result->n_outside);
}

static void show_text(struct triad_cabling_checking *checking)
{
	for (uint32_t i = 0; i < checking->result->n_items; i++)
		put_text_item(checking, i);
	triad_cabling_put_summary(checking);
	triad_output_printf(&checking->output, "\n");
}

/* --- JSON -------------------------------------------------------------- */

static void put_json_ports(struct triad_json *json,
	const struct triad_cabling_checking *checking,
	const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *ports = item->n_steps
		? &checking->result->steps[item->first_step]
		: item->ports;
	uint32_t n = item->n_steps ? item->n_steps : item->n_ports;

	triad_json_array_begin(json, "ports");
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_fabric_node *node =
			&checking->fabric->nodes[ports[i].node];

		triad_json_object_begin(json, NULL);
		triad_json_guid(json, "node_guid", node->guid);
		triad_json_string(json, "node_name", node->name);
		triad_json_uint(json, "port", ports[i].number);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static uint32_t line_of(const struct triad_cabling_checking *checking,
	const struct triad_cabling_item *item)
{
	return item->link == UINT32_MAX ? 0 : checking->plan->links[item->link].line;
}

static void put_json_item(struct triad_json *json,
	struct triad_cabling_checking *checking, const struct triad_cabling_item *item)
{
	char text[TRIAD_CABLING_TEXT_SIZE];

	triad_cabling_describe(&checking->view, item, 0, text, sizeof(text));
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "kind", triad_cabling_kind_name(item->kind));
	triad_json_guid(json, "planned_guid", item->end.guid);
	triad_json_string(json, "planned_name",
		item->end.name ? triad_cabling_plan_text(checking->plan, item->end.name)
			       : NULL);
	put_json_ports(json, checking, item);
	triad_json_uint(json, "cables", item->n);
	if (line_of(checking, item))
		triad_json_uint(json, "line", line_of(checking, item));
	else
		triad_json_string(json, "line", NULL);
	triad_json_string(json, "text", text);
	triad_json_array_begin(json, "steps");
	for (uint32_t step = 1; step <= triad_cabling_n_steps(item); step++) {
		triad_cabling_describe(&checking->view, item, step, text, sizeof(text));
		triad_json_string(json, NULL, text);
	}
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void put_json_items(struct triad_json *json,
	struct triad_cabling_checking *checking, const char *name, uint32_t first,
	uint32_t end)
{
	triad_json_array_begin(json, name);
	for (uint32_t i = first; i < end; i++)
		put_json_item(json, checking, &checking->result->items[i]);
	triad_json_array_end(json);
}

static void show_json(struct triad_cabling_checking *checking)
{
	const struct triad_cabling_result *result = checking->result;
	struct triad_json json;

	triad_json_init(&json, &checking->output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "plan", checking->command->plan);
	triad_json_string(
		&json, "format", triad_cabling_format_name(checking->plan->format));
	triad_json_uint(&json, "planned", result->n_planned);
	triad_json_uint(&json, "right", result->n_right);
	triad_json_uint(&json, "outside", result->n_outside);
	put_json_items(&json, checking, "to_do", 0, result->n_deviations);
	put_json_items(
		&json, checking, "not_known", result->n_deviations, result->n_items);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* --- CSV --------------------------------------------------------------- */

/* A line for each step; of other items one, with their first two ports. */
static void put_csv_item(struct triad_cabling_checking *checking, uint32_t i)
{
	const struct triad_cabling_item *item = &checking->result->items[i];
	uint32_t n_steps = triad_cabling_n_steps(item), step = n_steps > 0;
	char text[TRIAD_CABLING_TEXT_SIZE];

	do {
		triad_output_printf(&checking->output, "%" PRIu32 ",%" PRIu32 ",%s,",
			i + 1, step, triad_cabling_kind_name(item->kind));
		for (unsigned port = 0; port < 2; port++) {
			if (!n_steps && port < item->n_ports)
				triad_output_put_csv(&checking->output,
					triad_cabling_label(
						&checking->view, item->ports[port])
						.text);
			triad_output_put(&checking->output, ",", 1);
		}
		triad_cabling_describe(&checking->view, item, step, text, sizeof(text));
		triad_output_put_csv(&checking->output, text);
		triad_output_put(&checking->output, "\r\n", 2);
	} while (++step <= n_steps);
}

/* As RFC 4180 has it. */
static void show_csv(struct triad_cabling_checking *checking)
{
	triad_output_printf(
		&checking->output, "number,step,kind,port,to_port,text\r\n");
	for (uint32_t i = 0; i < checking->result->n_items; i++)
		put_csv_item(checking, i);
}

/* --- checking ---------------------------------------------------------- */

static int complain_of_plan(
	const char *path, const struct triad_diags *diags, int error)
{
	triad_port_print(diags, "");
	if (!diags->n)
		fprintf(stderr, "triadctl: %s: can't be checked: %s\n", path,
			strerror(error));
	return error;
}

static int read_plan(struct triad_cabling_checking *checking, struct triad_diags *diags)
{
	const char *path = checking->command->plan;
	char *octets;
	size_t size;
	int error = triad_port_read_file(
		path, TRIAD_CABLING_PLAN_MAX_OCTETS, &octets, &size);

	if (error)
		return error;
	error = triad_cabling_plan_read(octets, size, diags, &checking->plan);
	free(octets);
	return error ? complain_of_plan(path, diags, error) : 0;
}

static void clear_look(struct triad_cabling_checking *checking)
{
	triad_cabling_result_free(checking->result);
	free(checking->cables);
	triad_fabric_unref(checking->fabric);
}

int triad_cabling_look(struct triad_cabling_checking *checking)
{
	static struct triad_diags diags;
	const struct triad_cabling_command *command = checking->command;
	struct triad_cabling_checking next = *checking;
	int error;

	next.fabric = NULL;
	next.cables = NULL;
	next.result = NULL;
	triad_diags_init(&diags, command->plan);
	error = command->fabric
		? triad_port_read_fabric(command->fabric, &next.fabric)
		: triad_cabling_ask(checking->asker, &next.fabric, &next.cables);
	if (error)
		return error;
	error = triad_cabling_compare(
		next.plan, next.fabric, next.cables, &diags, &next.result);
	if (error) {
		clear_look(&next);
		return complain_of_plan(command->plan, &diags, error);
	}
	clear_look(checking);
	*checking = next;
	checking->view = (struct triad_cabling_view){
		checking->plan, checking->fabric, checking->result};
	return 0;
}

static int show_once(struct triad_cabling_checking *checking)
{
	if (triad_cabling_look(checking))
		return TRIAD_CONTROL_UNKNOWN;
	triad_output_init(&checking->output, triad_screen_write_frame, NULL);
	if (checking->command->json)
		show_json(checking);
	else if (checking->command->csv)
		show_csv(checking);
	else if (checking->command->html)
		triad_cabling_put_html(checking);
	else
		show_text(checking);
	triad_output_flush(&checking->output);
	/* What was not written was not said. */
	return triad_screen_finish() ? TRIAD_CONTROL_UNKNOWN : verdict_of(checking);
}

int triad_cabling_check(const struct triad_cabling_command *command,
	const struct triad_cabling_asker *asker)
{
	static struct triad_diags diags;
	struct triad_cabling_checking checking = {.command = command, .asker = asker};
	int status = TRIAD_CONTROL_UNKNOWN;

	triad_diags_init(&diags, command->plan);
	if (!read_plan(&checking, &diags))
		status = command->watch ? triad_cabling_watch(&checking)
					: show_once(&checking);
	clear_look(&checking);
	triad_cabling_plan_free(checking.plan);
	return status;
}
