/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cabling/describe.h"
#include "cabling/plan_read.h"
#include "cli/cabling_command.h"
#include "cli/port_command.h"
#include "cli/screen.h"
#include "triad/control.h"
#include "triad/json.h"

struct check {
	const struct triad_cabling_command *command;
	struct triad_cabling_plan *plan;
	struct triad_fabric *fabric;
	struct triad_cabling_cable *cables;
	struct triad_cabling_result *result;
	struct triad_cabling_view view; /* of those */
	struct triad_output output;
};

static uint32_t count_not_known(const struct check *check)
{
	return check->result->n_items - check->result->n_deviations;
}

static int verdict_of(const struct check *check)
{
	if (check->result->n_deviations)
		return TRIAD_CONTROL_FAILED;
	return count_not_known(check) ? TRIAD_CONTROL_UNKNOWN : TRIAD_CONTROL_DONE;
}

/* --- text -------------------------------------------------------------- */

static void put_text_item(struct check *check, uint32_t i)
{
	const struct triad_cabling_item *item = &check->result->items[i];
	char text[TRIAD_CABLING_TEXT_SIZE];

	triad_cabling_describe(&check->view, item, 0, text, sizeof(text));
	if (triad_cabling_is_deviation(item))
		triad_output_printf(&check->output, "%" PRIu32 ". %s\n", i + 1, text);
	else
		triad_output_printf(&check->output, "not known: %s\n", text);
	for (uint32_t step = 1; step <= triad_cabling_n_steps(item); step++) {
		triad_cabling_describe(&check->view, item, step, text, sizeof(text));
		triad_output_printf(&check->output, "   %" PRIu32 ".%" PRIu32 " %s\n",
			i + 1, step, text);
	}
}

static void show_text(struct check *check)
{
	const struct triad_cabling_result *result = check->result;

	for (uint32_t i = 0; i < result->n_items; i++)
		put_text_item(check, i);
	triad_output_printf(&check->output,
		"%" PRIu32 " of %" PRIu32 " cables are as planned", result->n_right,
		result->n_planned);
	if (result->n_deviations)
		triad_output_printf(
			&check->output, "; to do: %" PRIu32, result->n_deviations);
	if (count_not_known(check))
		triad_output_printf(&check->output, "; not known: %" PRIu32,
			count_not_known(check));
	if (result->n_outside)
		triad_output_printf(&check->output,
			"; of nodes that the plan does not have: %" PRIu32,
			result->n_outside);
	triad_output_printf(&check->output, "\n");
}

/* --- JSON -------------------------------------------------------------- */

static void put_json_ports(struct triad_json *json, const struct check *check,
	const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *ports =
		item->n_steps ? &check->result->steps[item->first_step] : item->ports;
	uint32_t n = item->n_steps ? item->n_steps : item->n_ports;

	triad_json_array_begin(json, "ports");
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_fabric_node *node =
			&check->fabric->nodes[ports[i].node];

		triad_json_object_begin(json, NULL);
		triad_json_guid(json, "node_guid", node->guid);
		triad_json_string(json, "node_name", node->name);
		triad_json_uint(json, "port", ports[i].number);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static uint32_t line_of(
	const struct check *check, const struct triad_cabling_item *item)
{
	return item->link == UINT32_MAX ? 0 : check->plan->links[item->link].line;
}

static void put_json_item(struct triad_json *json, struct check *check,
	const struct triad_cabling_item *item)
{
	char text[TRIAD_CABLING_TEXT_SIZE];

	triad_cabling_describe(&check->view, item, 0, text, sizeof(text));
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "kind", triad_cabling_kind_name(item->kind));
	triad_json_guid(json, "planned_guid", item->end.guid);
	triad_json_string(json, "planned_name",
		item->end.name ? triad_cabling_plan_text(check->plan, item->end.name)
			       : NULL);
	put_json_ports(json, check, item);
	triad_json_uint(json, "cables", item->n);
	if (line_of(check, item))
		triad_json_uint(json, "line", line_of(check, item));
	else
		triad_json_string(json, "line", NULL);
	triad_json_string(json, "text", text);
	triad_json_array_begin(json, "steps");
	for (uint32_t step = 1; step <= triad_cabling_n_steps(item); step++) {
		triad_cabling_describe(&check->view, item, step, text, sizeof(text));
		triad_json_string(json, NULL, text);
	}
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void put_json_items(struct triad_json *json, struct check *check,
	const char *name, uint32_t first, uint32_t end)
{
	triad_json_array_begin(json, name);
	for (uint32_t i = first; i < end; i++)
		put_json_item(json, check, &check->result->items[i]);
	triad_json_array_end(json);
}

static void show_json(struct check *check)
{
	const struct triad_cabling_result *result = check->result;
	struct triad_json json;

	triad_json_init(&json, &check->output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "plan", check->command->plan);
	triad_json_string(
		&json, "format", triad_cabling_format_name(check->plan->format));
	triad_json_uint(&json, "planned", result->n_planned);
	triad_json_uint(&json, "right", result->n_right);
	triad_json_uint(&json, "outside", result->n_outside);
	put_json_items(&json, check, "to_do", 0, result->n_deviations);
	put_json_items(
		&json, check, "not_known", result->n_deviations, result->n_items);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* --- CSV --------------------------------------------------------------- */

static void put_csv_text(struct check *check, const char *text)
{
	triad_output_put(&check->output, "\"", 1);
	for (; *text; text++)
		triad_output_put(&check->output, *text == '"' ? "\"\"" : text,
			*text == '"' ? 2 : 1);
	triad_output_put(&check->output, "\"", 1);
}

/* A line for each step; of other items one, with their first two ports. */
static void put_csv_item(struct check *check, uint32_t i)
{
	const struct triad_cabling_item *item = &check->result->items[i];
	uint32_t n_steps = triad_cabling_n_steps(item), step = n_steps > 0;
	char text[TRIAD_CABLING_TEXT_SIZE];

	do {
		triad_output_printf(&check->output, "%" PRIu32 ",%" PRIu32 ",%s,",
			i + 1, step, triad_cabling_kind_name(item->kind));
		for (unsigned port = 0; port < 2; port++) {
			if (!n_steps && port < item->n_ports)
				put_csv_text(check,
					triad_cabling_label(
						&check->view, item->ports[port])
						.text);
			triad_output_put(&check->output, ",", 1);
		}
		triad_cabling_describe(&check->view, item, step, text, sizeof(text));
		put_csv_text(check, text);
		triad_output_put(&check->output, "\r\n", 2);
	} while (++step <= n_steps);
}

/* As RFC 4180 has it. */
static void show_csv(struct check *check)
{
	triad_output_printf(&check->output, "number,step,kind,port,to_port,text\r\n");
	for (uint32_t i = 0; i < check->result->n_items; i++)
		put_csv_item(check, i);
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

static int read_plan(struct check *check, struct triad_diags *diags)
{
	const char *path = check->command->plan;
	char *octets;
	size_t size;
	int error = triad_port_read_file(
		path, TRIAD_CABLING_PLAN_MAX_OCTETS, &octets, &size);

	if (error)
		return error;
	error = triad_cabling_plan_read(octets, size, diags, &check->plan);
	free(octets);
	return error ? complain_of_plan(path, diags, error) : 0;
}

static int compare_with_plan(
	struct check *check, const struct triad_cabling_asker *asker)
{
	static struct triad_diags diags;
	const char *path = check->command->plan;
	int error;

	triad_diags_init(&diags, path);
	error = read_plan(check, &diags);
	if (!error)
		error = check->command->fabric
			? triad_port_read_fabric(check->command->fabric, &check->fabric)
			: triad_cabling_ask(asker, &check->fabric, &check->cables);
	if (error)
		return error;
	error = triad_cabling_compare(
		check->plan, check->fabric, check->cables, &diags, &check->result);
	return error ? complain_of_plan(path, &diags, error) : 0;
}

static int show_check(struct check *check)
{
	check->view =
		(struct triad_cabling_view){check->plan, check->fabric, check->result};
	triad_output_init(&check->output, triad_screen_write_frame, NULL);
	if (check->command->json)
		show_json(check);
	else if (check->command->csv)
		show_csv(check);
	else
		show_text(check);
	triad_output_flush(&check->output);
	/* What was not written was not said. */
	return triad_screen_finish() ? TRIAD_CONTROL_UNKNOWN : verdict_of(check);
}

int triad_cabling_check(const struct triad_cabling_command *command,
	const struct triad_cabling_asker *asker)
{
	struct check check = {.command = command};
	int status = compare_with_plan(&check, asker) ? TRIAD_CONTROL_UNKNOWN
						      : show_check(&check);

	triad_cabling_result_free(check.result);
	free(check.cables);
	triad_fabric_unref(check.fabric);
	triad_cabling_plan_free(check.plan);
	return status;
}
