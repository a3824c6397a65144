/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf details': the data of ports beyond their counters; see ib/detail.h. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>

#include "ib/detail.h"
#include "perfmgr/details.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

/* One counter of an attribute of a port. */
struct shown {
	const struct triad_fabric_node *node;
	uint8_t port;
	enum triad_pma_attribute attribute;
	const struct triad_detail_field *field;
	unsigned slot;
	const struct triad_detail_row *row;
};

struct details {
	const struct triad_command *command;
	struct triad_moment moment;
	struct triad_node_choice choice;
	struct triad_list list;
	uint32_t n_ports, n_read, n_rows; /* ports chosen; with any details; lines */
};

/* --- one counter --- */

static double rate_of(const struct shown *shown)
{
	const struct triad_detail_row *row = shown->row;

	return row->interval_us
		? (double)row->change[shown->slot] * 1e6 / (double)row->interval_us
		: NAN;
}

static void put_element_json(const struct shown *shown, struct triad_json *json)
{
	const struct triad_detail_field *field = shown->field;

	triad_json_string(
		json, "attribute", triad_detail_attribute(shown->attribute)->name);
	triad_json_string(json, "field", field->name);
	if (field->n > 1)
		triad_json_uint(json, triad_detail_part_name(field->part),
			shown->slot - field->slot);
}

static void put_counter(struct triad_list *list, const struct shown *shown)
{
	const struct triad_detail_row *row = shown->row;
	unsigned scale = triad_command_scale(shown->field->unit);
	bool is_full = row->saturated >> shown->slot & 1;
	struct triad_json *json = triad_list_json(list);
	char name[64], at[TRIAD_CLOCK_TEXT_SIZE];
	double rate = rate_of(shown);

	triad_detail_format_name(shown->field, shown->slot, name, sizeof(name));
	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, shown->node->guid);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, shown->node);
	triad_list_uint(list, "port", "port", 4, shown->port);
	if (json)
		put_element_json(shown, json);
	triad_list_text(list, "counter", "counter", -30, name);
	/* JSON has the counter's own unit; people read octets, not words of four. */
	triad_list_uint(list, "total", NULL, 0, row->total[shown->slot]);
	list->next = (struct triad_list_next){.name = "total"};
	triad_list_uint(list, NULL, "total", 12, row->total[shown->slot] * scale);
	triad_list_double(list, "rate_per_s", rate);
	triad_list_real(list, NULL, "per s", 9, rate * scale, "%.4g", rate * scale);
	triad_list_bool(list, "at_maximum", NULL, 0, is_full);
	triad_list_text(list, "last_read", NULL, 0,
		triad_command_format_time(row->read_us, at));
	triad_list_row_end(list);
	if (is_full)
		triad_list_note(list,
			"stands at its maximum: it counts no more until it is reset");
}

/* --- ports --- */

static void put_attribute(struct details *details, struct shown *shown)
{
	unsigned n = triad_detail_n_slots(shown->attribute);

	for (shown->slot = 0; shown->slot < n; shown->slot++) {
		if (!shown->row->total[shown->slot] && !details->command->all)
			continue;
		if (details->n_rows++ >= details->command->limit)
			continue;
		shown->field = triad_detail_field(shown->attribute, shown->slot);
		put_counter(&details->list, shown);
	}
}

static void put_port_details(struct details *details, uint32_t port)
{
	const struct triad_fabric *fabric = details->moment.view->fabric;
	struct triad_detail_row row;
	struct shown shown = {.node = &fabric->nodes[fabric->ports[port].node],
		.port = fabric->ports[port].number,
		.row = &row};
	uint32_t known = triad_moment_details(&details->moment, port);
	bool is_read = false;

	for (unsigned i = TRIAD_PMA_FIRST_DETAIL; i < TRIAD_PMA_N_ATTRIBUTES; i++) {
		if (!(known & TRIAD_DETAIL_BIT(i)) ||
			!triad_moment_read_detail(&details->moment, port, i, &row))
			continue;
		is_read = true;
		shown.attribute = i;
		put_attribute(details, &shown);
	}
	details->n_ports++;
	details->n_read += is_read;
}

/* Writes why rows are missing. */
static void explain_missing_rows(
	const struct details *details, struct triad_output *output)
{
	if (details->n_rows > details->command->limit)
		triad_command_put_left_out(output,
			details->n_rows - (uint32_t)details->command->limit,
			details->n_rows, "more");
	if (details->n_rows)
		return;
	if (details->moment.past)
		triad_output_printf(output,
			"no details with errors were known then; others are not kept\n");
	else if (details->n_read)
		triad_output_printf(output,
			"all details read so far are 0, of %" PRIu32 " port%s; '--all' "
			"shows them\n",
			details->n_read, details->n_read == 1 ? "" : "s");
	else
		triad_output_printf(output,
			"no details have been read yet: they are read some ports at a "
			"time (perfmgr.detail_share), and when there is a new error\n");
}

static int show_details(struct details *details, struct triad_output *output)
{
	const struct triad_fabric *fabric = details->moment.view->fabric;
	struct triad_report report = {
		.output = output, .as_json = details->command->json};

	if (!triad_command_choose_there(
		    details->command, fabric, "perf details", &details->choice, output))
		return TRIAD_CONTROL_FAILED;
	details->list = (struct triad_list){.report = &report};
	triad_report_array(&report, NULL);
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++)
		if (triad_command_wants_port(&details->choice, fabric, i))
			put_port_details(details, i);
	triad_report_array_end(&report);
	if (!details->n_ports)
		return triad_command_no_port(
			"perf details", fabric, &details->choice, output);
	if (!details->command->json)
		explain_missing_rows(details, output);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_perf_details(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct details details = {.command = command};
	int status;

	if (!triad_moment_open(&details.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	status = details.moment.view ? show_details(&details, output)
				     : triad_command_no_view(service, output);
	triad_moment_close(&details.moment);
	return status;
}
