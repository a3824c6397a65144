/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf resets': which counters were reset in hardware, by whom. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "ib/counter.h"
#include "perfmgr/reset_log.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/json.h"

struct list {
	const struct triad_command *command;
	struct triad_output *output;
	struct triad_json json;
	const struct triad_fabric *fabric; /* NULL: none */
	int64_t wall_offset_us;
	uint32_t n, n_left_out;
};

static const char *name_of(const struct list *list, uint64_t guid)
{
	uint32_t node = list->fabric ? triad_fabric_find_node(list->fabric, guid)
				     : TRIAD_FABRIC_NONE;

	return node == TRIAD_FABRIC_NONE ? "" : list->fabric->nodes[node].name;
}

static bool is_wanted(const struct list *list, const struct triad_reset *reset)
{
	const struct triad_command *command = list->command;

	if (command->port >= 0 && command->port != reset->port)
		return false;
	return !command->node[0] ||
		triad_command_is_node(
			command, name_of(list, reset->node_guid), reset->node_guid);
}

static void put_text(struct list *list, const struct triad_reset *reset, const char *at)
{
	const char *name = name_of(list, reset->node_guid);
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, reset->node_guid);
	if (!list->n)
		triad_output_printf(list->output, "%-20s %-20s %4s  %-10s %12s  %s\n",
			"time", "node", "port", "counter", "value before", "by");
	/* That a port was reset is noticed when it is read: it is known to the
	 * second. */
	triad_output_printf(list->output,
		"%.19sZ %-20.20s %4u  %-10s %12" PRIu64 "  %s\n", at,
		*name ? name : guid, reset->port,
		triad_counters[reset->counter].heading, reset->value,
		reset->is_own ? "Triad" : "others");
}

static void put_json(struct list *list, const struct triad_reset *reset, const char *at)
{
	const char *name = name_of(list, reset->node_guid);

	triad_json_object_begin(&list->json, NULL);
	triad_json_string(&list->json, "time", at);
	triad_json_guid(&list->json, "node_guid", reset->node_guid);
	triad_json_string(&list->json, "node_name", *name ? name : NULL);
	triad_json_uint(&list->json, "port", reset->port);
	triad_json_string(&list->json, "counter", triad_counters[reset->counter].name);
	triad_json_uint(&list->json, "value", reset->value);
	triad_json_string(&list->json, "by", reset->is_own ? "triad" : "others");
	triad_json_object_end(&list->json);
}

static void add_reset(struct list *list, const struct triad_reset *reset)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (!is_wanted(list, reset))
		return;
	if (list->n == list->command->limit) {
		list->n_left_out++;
		return;
	}
	triad_clock_format(
		(uint64_t)((int64_t)reset->at_us + list->wall_offset_us), at);
	if (list->command->json)
		put_json(list, reset, at);
	else
		put_text(list, reset, at);
	list->n++;
}

static void put_all(struct list *list, struct triad_reset_log *log)
{
	uint64_t n = triad_reset_log_count(log);
	struct triad_reset reset;

	while (n && !list->output->failed && triad_reset_log_get(log, --n, &reset))
		add_reset(list, &reset);
}

static void put_end(const struct list *list, struct triad_service *service)
{
	if (list->n_left_out)
		triad_output_printf(list->output,
			"%" PRIu32 " older ones; '-n %" PRIu32 "' shows them too\n",
			list->n_left_out, list->n + list->n_left_out);
	if (list->n)
		return;
	triad_output_printf(list->output,
		"no counter was reset in hardware since %s started\n",
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
		.fabric = view ? view->fabric : NULL,
		.wall_offset_us =
			(int64_t)triad_clock_wall_us() - (int64_t)triad_clock_now_us()};

	triad_json_init(&list.json, output);
	if (command->json)
		triad_json_array_begin(&list.json, NULL);
	put_all(&list, triad_perf_resets(service->perf));
	if (command->json) {
		triad_json_array_end(&list.json);
		triad_json_end(&list.json);
	} else {
		put_end(&list, service);
	}
	triad_view_unref(view);
	return TRIAD_CONTROL_DONE;
}
