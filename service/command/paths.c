/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'paths': an agent's table of paths. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/rates.h"
#include "lib/text.h"
#include "service/command/commands.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"

/* The paths to list. */
struct paths {
	const struct triad_path_table *table;
	const struct triad_fabric *fabric; /* for names; NULL: none */
	const char *typed;                 /* NODE, as typed; "": all */
	struct triad_node_choice choice;
	uint32_t lid;  /* 'typed' as a LID; 0: not one */
	uint64_t guid; /* 'typed' as a GUID; 0: not one */
	struct triad_list list;
};

static int fail(struct triad_output *output, const char *why)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "paths: %s\n", why);
	return TRIAD_CONTROL_FAILED;
}

/* --- which --- */

/* Parses NODE.  LIDs and GUIDs are compared with the table itself: the fabric, which
 * has the names, may differ from it. */
static void read_typed(struct paths *paths)
{
	char *end;
	unsigned long lid = strtoul(paths->typed, &end, 10);

	if (*paths->typed && !*end && lid <= TRIAD_PATH_TABLE_MAX_ROWS)
		paths->lid = (uint32_t)lid;
	if (!triad_text_guid(paths->typed, &paths->guid))
		paths->guid = 0;
}

static bool is_wanted(const struct paths *paths, const struct triad_path_row *row)
{
	uint32_t port;

	if (!*paths->typed)
		return true;
	if (paths->lid)
		return row->lid == paths->lid;
	if (row->guid == paths->guid)
		return true;
	port = paths->fabric ? triad_fabric_find_alias(paths->fabric, row->guid)
			     : TRIAD_FABRIC_NONE;
	return port != TRIAD_FABRIC_NONE &&
		triad_node_choice_has_port(&paths->choice, paths->fabric, port);
}

static const char *name_of(const struct paths *paths, const struct triad_path_row *row)
{
	uint32_t port = paths->fabric
		? triad_fabric_find_alias(paths->fabric, row->guid)
		: TRIAD_FABRIC_NONE;

	return port == TRIAD_FABRIC_NONE
		? "?"
		: paths->fabric->nodes[paths->fabric->ports[port].node].name;
}

/* --- rows --- */

/* Writes a value, or "-" where there is no path. */
static void put_value(struct triad_list *list, const char *name, const char *title,
	int width, bool has_path, const char *value)
{
	list->next = (struct triad_list_next){
		.name = name, .value = has_path ? value : NULL};
	triad_list_text(list, NULL, title, width, has_path ? value : "-");
}

static void put_path_json(struct triad_json *json, const struct triad_path_row *row)
{
	char pkey[8];

	if (!json || !row->has_path)
		return;
	snprintf(pkey, sizeof(pkey), "0x%04x", row->pkey);
	triad_json_uint(json, "sl", row->sl);
	triad_json_uint(json, "mtu", triad_mtu_octets(row->mtu));
	triad_json_uint(json, "mtu_code", row->mtu);
	triad_json_double(json, "rate_gbps", triad_rate_tenths(row->rate) / 10.0);
	triad_json_uint(json, "rate_code", row->rate);
	triad_json_string(json, "pkey", pkey);
}

static void put_row(struct paths *paths, const struct triad_path_row *row)
{
	struct triad_list *list = &paths->list;
	char sl[8], mtu[8], rate[24], pkey[8];

	snprintf(sl, sizeof(sl), "%u", row->sl);
	snprintf(mtu, sizeof(mtu), "%u", triad_mtu_octets(row->mtu));
	snprintf(rate, sizeof(rate), "%g", triad_rate_tenths(row->rate) / 10.0);
	snprintf(pkey, sizeof(pkey), "0x%04x", row->pkey);
	triad_list_row(list);
	triad_list_text(list, "node", "Node", TRIAD_LIST_MEASURED, name_of(paths, row));
	triad_list_uint(list, "port", "Port", 4, row->number);
	triad_list_guid(list, "port_guid", NULL, row->guid);
	triad_list_uint(list, "lid", "LID", 5, row->lid);
	triad_list_bool(list, "has_path", NULL, 0, row->has_path);
	put_value(list, "sl", "SL", 3, row->has_path, sl);
	put_value(list, "mtu", "MTU", 5, row->has_path, mtu);
	put_value(list, "rate_gbps", "Gb/s", 6, row->has_path, rate);
	triad_list_blank(list);
	list->next = (struct triad_list_next){.name = "pkey"};
	triad_list_text(list, NULL, "P_Key", -6, row->has_path ? pkey : "-");
	put_path_json(triad_list_json(list), row);
	triad_list_row_end(list);
}

static uint32_t put_rows(struct paths *paths)
{
	const struct triad_output *output = paths->list.report->output;
	uint32_t n = 0;

	for (uint32_t i = 0; i < paths->table->n && !output->failed; i++) {
		const struct triad_path_row *row = &paths->table->rows[i];

		if (!is_wanted(paths, row))
			continue;
		put_row(paths, row);
		n++;
	}
	return n;
}

static void put_list(
	struct paths *paths, const struct triad_command *command, uint64_t until_us)
{
	struct triad_report *report = paths->list.report;
	uint64_t now_us = triad_clock_now_us();

	if (triad_list_is_measured(report)) {
		paths->list.phase = TRIAD_LIST_WIDTHS;
		(void)put_rows(paths);
	}
	paths->list.phase = TRIAD_LIST_ROWS;
	triad_report_begin(report);
	if (command->json) {
		triad_json_guid(&report->json, "port_guid", paths->table->guid);
		triad_json_uint(&report->json, "lid", paths->table->lid);
		triad_json_uint(&report->json, "lmc", paths->table->lmc);
		triad_json_uint(&report->json, "generation", paths->table->generation);
		/* If no further beat of the manager comes. */
		triad_json_uint(&report->json, "valid_for_ms",
			until_us > now_us ? (until_us - now_us) / TRIAD_US_PER_MS : 0);
	}
	triad_report_array(report, "paths");
	(void)put_rows(paths);
	triad_report_array_end(report);
	triad_report_end(report);
}

/* --- the command --- */

static bool has_any(const struct paths *paths)
{
	for (uint32_t i = 0; i < paths->table->n; i++)
		if (is_wanted(paths, &paths->table->rows[i]))
			return true;
	return false;
}

static int show(struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_path_exchange *exchange = triad_collect_paths(service->collect);
	struct triad_report report = {.output = output, .as_json = command->json};
	struct paths paths = {.typed = command->node, .list = {.report = &report}};
	struct triad_fabric *fabric = triad_collect_fabric(service->collect);
	struct triad_path_table *table, *after;
	enum triad_path_state state;
	uint64_t until_us;
	bool is_same;
	int status = TRIAD_CONTROL_DONE;

	table = triad_path_exchange_table(exchange, &state, &until_us);
	paths.table = table;
	paths.fabric = fabric;
	paths.choice = triad_node_choice_make(command->node, fabric, 0);
	read_typed(&paths);
	if (!table) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"paths: none that may be used now: %s; ask the SM instead\n",
			triad_path_state_name(state));
		status = TRIAD_CONTROL_FAILED;
	} else if (!has_any(&paths)) {
		status = paths.choice.n
			? fail(output, "the SM knows no such port with a LID")
			: triad_command_print_choice(
				  "paths", &paths.choice, fabric, output);
	} else {
		put_list(&paths, command, until_us);
		/* The table may have expired meanwhile: a long list takes time, and the
		 * process may have been stopped. */
		after = triad_path_exchange_table(exchange, &state, &until_us);
		is_same = after == table;
		triad_path_table_unref(after);
		if (!is_same)
			status = fail(output,
				"they may have changed while they were listed: ask "
				"again");
	}
	triad_path_table_unref(table);
	triad_fabric_unref(fabric);
	return status;
}

int triad_command_run_paths(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_path_exchange_status status =
		triad_path_exchange_status(triad_collect_paths(service->collect));

	if (service->owner->may_manage)
		return fail(output,
			"an agent keeps them: ask on its host, 'triadctl --agent paths'; "
			"'qos explain' shows one of this SM's");
	if (!status.is_on)
		return fail(output,
			"they are not kept here: set collect.mode = agent and "
			"collect.paths = true in this agent's configuration, and "
			"collect.paths = true at the SM");
	return show(service, command, output);
}
