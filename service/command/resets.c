/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf resets': which counters were reset in hardware, by whom. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "ib/counter.h"
#include "perfmgr/reset_log.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"

struct list {
	const struct triad_command *command;
	struct triad_node_choice choice;
	struct triad_output *output;
	struct triad_report report;
	struct triad_list rows;
	const struct triad_fabric *fabric; /* NULL: none */
	int64_t wall_offset_us;
	uint32_t n, n_left_out;
};

static void put_reset(struct triad_list *rows, const struct triad_reset *reset,
	const struct triad_fabric_node *node, const char *at)
{
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, reset->node_guid);
	triad_list_row(rows);
	triad_list_text(rows, "time", NULL, 0, at);
	/* A reset is noticed at the next reading of the port, so do not show
	 * milliseconds. */
	rows->next.name = "time";
	triad_list_format(rows, "time", -20, "%.19sZ", at);
	triad_list_guid(rows, "node_guid", NULL, reset->node_guid);
	triad_list_text(rows, "node_name", NULL, 0, node ? node->name : NULL);
	rows->next.name = "node_name";
	triad_list_text(rows, NULL, "node", TRIAD_LIST_LONG,
		node ? triad_node_label(node).text : guid);
	triad_list_uint(rows, "port", "port", 4, reset->port);
	triad_list_blank(rows);
	triad_list_text(rows, "counter", NULL, 0, triad_counters[reset->counter].name);
	rows->next.name = "counter";
	triad_list_text(
		rows, NULL, "counter", -10, triad_counters[reset->counter].heading);
	triad_list_uint(rows, "value", "value before", 12, reset->value);
	triad_list_blank(rows);
	triad_list_text(rows, "by", NULL, 0, reset->is_own ? "triad" : "others");
	rows->next.name = "by";
	triad_list_text(rows, NULL, "by", -6, reset->is_own ? "Triad" : "others");
	triad_list_row_end(rows);
}

static void add_reset(struct list *list, const struct triad_reset *reset)
{
	const struct triad_node_choice *choice = &list->choice;
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(list->fabric, reset->node_guid);
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (choice->port >= 0 && choice->port != reset->port)
		return;
	/* A node that has left has no name here, but its GUID still fits. */
	if (!triad_node_choice_has(choice, node ? node->name : "", reset->node_guid))
		return;
	if (list->n == list->command->limit) {
		list->n_left_out++;
		return;
	}
	triad_clock_format(
		(uint64_t)((int64_t)reset->at_us + list->wall_offset_us), at);
	list->n++;
	put_reset(&list->rows, reset, node, at);
}

static void explain_missing_rows(const struct list *list, struct triad_service *service)
{
	triad_command_put_left_out(list->output, list->n_left_out,
		list->n + list->n_left_out, "older ones");
	if (list->n)
		return;
	triad_output_printf(list->output,
		"no counter was reset in hardware %s %s started\n",
		triad_service_trouble(service) ? "while counters were read here, since"
					       : "since",
		service->owner->program);
	if (triad_collect_status(service->collect).mode == TRIAD_COLLECT_MANAGER)
		triad_output_printf(list->output,
			"as far as this one reads counters: agents know what they read; "
			"ask 'triadctl perf resets' on their hosts\n");
}

int triad_command_run_perf_resets(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_view *view = triad_perf_view(service->perf);
	struct list list = {.command = command,
		.output = output,
		.report = {.output = output, .as_json = command->json},
		.fabric = view ? view->fabric : NULL,
		.wall_offset_us = triad_clock_wall_offset_us()};
	struct triad_reset_log *log = triad_perf_resets(service->perf);
	const char *trouble = triad_service_trouble(service);
	uint64_t n = triad_reset_log_count(log);
	struct triad_reset reset;

	if (trouble)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"resets of now are not seen here: %s\n", trouble);
	if (!triad_command_choose(
		    command, list.fabric, "perf resets", &list.choice, output)) {
		triad_view_unref(view);
		return TRIAD_CONTROL_FAILED;
	}
	list.rows.report = &list.report;
	triad_report_array(&list.report, NULL);
	/* The newest first, until one was overwritten. */
	while (n && !output->failed && triad_reset_log_get(log, --n, &reset))
		add_reset(&list, &reset);
	triad_report_array_end(&list.report);
	if (!command->json)
		explain_missing_rows(&list, service);
	triad_view_unref(view);
	return TRIAD_CONTROL_DONE;
}
