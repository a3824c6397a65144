/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf show', 'perf top': ports and their counters. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/json.h"

/* Formats the errors that are not 0, by name; "+" marks one that is at its maximum. */
static void format_errors(char *text, size_t size, const struct triad_engine_row *row)
{
	size_t at = 0;

	text[0] = 0;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS && at < size; i++)
		if (triad_counters[i].is_error && row->total[i])
			at += (size_t)snprintf(text + at, size - at,
				"%s%s %" PRIu64 "%s", at ? ", " : "",
				triad_counters[i].name, row->total[i],
				row->saturated & 1u << i ? "+" : "");
}

/* Writes the first columns of 'perf show' and 'perf top'; in JSON the whole port. */
static void put_place(struct triad_list *list, const struct triad_shown_port *shown)
{
	triad_list_row(list);
	if (triad_list_json(list))
		triad_shown_port_json(shown, triad_list_json(list));
	list->next.name = "node_name";
	triad_list_text(list, NULL, "NODE", TRIAD_LIST_MEASURED,
		triad_node_label(shown->node).text);
	list->next = (struct triad_list_next){.name = "node_guid", .is_spare = true};
	triad_list_guid(list, NULL, "GUID", shown->node->guid);
	list->next.name = "port";
	triad_list_uint(list, NULL, "PORT", 4, shown->port->number);
	list->next = (struct triad_list_next){.name = "state", .is_spare = true};
	triad_list_text(
		list, NULL, "STATE", -6, triad_port_state_name(shown->port->state));
	list->next.name = "remote_name";
	if (shown->remote_node)
		triad_list_format(list, "FAR END", TRIAD_LIST_MEASURED, "%s:%u",
			triad_node_label(shown->remote_node).text,
			shown->remote_port->number);
	else
		triad_list_text(list, NULL, "FAR END", TRIAD_LIST_MEASURED, "-");
}

/* The further columns of 'perf show'; the last one is for errors. */
static const unsigned show_columns[] = {
	TRIAD_PORT_XMIT_DATA,
	TRIAD_PORT_RCV_DATA,
	TRIAD_PORT_XMIT_PKTS,
	TRIAD_PORT_RCV_PKTS,
	TRIAD_PORT_XMIT_WAIT,
};
#define N_SHOW_COLUMNS (sizeof(show_columns) / sizeof(show_columns[0]))

/* Appends when the counters were reset last, and by whom. */
static void append_resets(char *text, size_t size, const struct triad_engine_row *row)
{
	const struct {
		const char *what;
		uint64_t at_us;
	} resets[] = {
		{"hardware reset by Triad", row->own.last_us},
		{"hardware reset by others", row->others.last_us},
		{"totals zeroed", row->zeroed_us},
	};
	char at[TRIAD_CLOCK_TEXT_SIZE];

	for (unsigned i = 0; i < sizeof(resets) / sizeof(resets[0]); i++)
		if (triad_command_format_time(resets[i].at_us, at))
			/* Times of resets by others are exact to a second at best. */
			triad_text_append(text, size, "%s[%s %.19sZ]",
				text[0] ? "  " : "", resets[i].what, at);
}

/* Writes the last column: remarks on the port. */
static void put_remarks(struct triad_list *list, const struct triad_shown_port *shown)
{
	const struct triad_engine_row *row = &shown->row;
	char errors[512], text[768] = "";

	format_errors(errors, sizeof(errors), row);
	if (shown->skipped) {
		triad_text_append(text, sizeof(text), "%s%s%s",
			shown->apart ? "not asked: no partition shared"
				     : "left out, as its group says",
			errors[0] ? "; last: " : "", errors);
	} else if (!row->was_asked) {
		triad_text_append(text, sizeof(text), "not asked yet");
	} else if (!row->answered) {
		triad_text_append(text, sizeof(text), "unanswered%s%s",
			errors[0] ? "; last: " : "", errors);
		list->next.color = TRIAD_TABLE_RED;
	} else if (errors[0]) {
		triad_text_append(text, sizeof(text), "%s%s", errors,
			row->by_sum ? " (confirmed by the sum)" : "");
		list->next.color = TRIAD_TABLE_YELLOW;
	}
	append_resets(text, sizeof(text), row);
	list->next.name = "errors";
	triad_list_text(list, NULL, "ERRORS", 0, text);
}

static void put_port_line(struct triad_list *list, const struct triad_shown_port *shown,
	const struct triad_sflow_indices *indices)
{
	const struct triad_engine_row *row = &shown->row;
	struct triad_json *json = triad_list_json(list);

	put_place(list, shown);
	/* The port's number at sFlow collectors; null without collectors. */
	if (json && indices)
		triad_json_uint(json, "sflow_if_index",
			indices->if_index[shown->port - indices->fabric->ports]);
	else if (json)
		triad_json_string(json, "sflow_if_index", NULL);
	for (unsigned i = 0; i < N_SHOW_COLUMNS; i++) {
		unsigned counter = show_columns[i];

		list->next.name = triad_counters[counter].name;
		list->next.is_spare =
			triad_counters[counter].unit == TRIAD_UNIT_PACKETS;
		triad_list_counter(list, triad_counters[counter].heading, 9,
			triad_counters[counter].unit,
			row->has & 1u << counter ? (double)row->total[counter] : NAN,
			"");
	}
	put_remarks(list, shown);
	triad_list_row_end(list);
}

/* --- perf show --- */

/* Writes that the counters shown are old, if none are read now. */
static void put_trouble(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const char *trouble = triad_service_trouble(service);

	/* Not for a past moment. */
	if (trouble && !command->at[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"these counters are not read any more: %s\n", trouble);
}

static bool has_trouble(const struct triad_shown_port *shown)
{
	const struct triad_engine_row *row = &shown->row;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].is_error && row->has & 1u << i && row->total[i])
			return true;
	return row->was_asked && !row->answered;
}

/* Reads the next port to show, from '*next' on. */
static bool next_shown(const struct triad_view *view,
	const struct triad_command *command, const struct triad_node_choice *choice,
	uint32_t *next, struct triad_shown_port *shown)
{
	while (*next < view->fabric->n_ports) {
		uint32_t port = (*next)++;

		if (!triad_command_wants_port(choice, view->fabric, port))
			continue;
		triad_shown_port_read(shown, view, port);
		if (!command->errors || has_trouble(shown))
			return true;
	}
	return false;
}

static unsigned show_ports(const struct triad_view *view,
	const struct triad_sflow_indices *indices, const struct triad_command *command,
	const struct triad_node_choice *choice, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};
	struct triad_shown_port shown;
	uint32_t next = 0;
	unsigned n = 0, n_least = 0;

	/* Measure only if triadctl does not: there may be a million ports. */
	while (triad_list_is_measured(&report) &&
		next_shown(view, command, choice, &next, &shown))
		put_place(&list, &shown);
	list.phase = TRIAD_LIST_ROWS;
	/* sFlow gets a changed fabric a moment later. */
	if (indices && indices->fabric != view->fabric)
		indices = NULL;
	triad_report_array(&report, NULL);
	for (next = 0;
		!output->failed && next_shown(view, command, choice, &next, &shown);
		n++) {
		put_port_line(&list, &shown, indices);
		n_least += triad_engine_rate_is_least(&shown.row, TRIAD_PORT_XMIT_WAIT);
	}
	triad_report_array_end(&report);
	if (n_least && !command->json)
		triad_output_printf(output,
			"of %u port%s PortXmitWait stopped at its maximum: its growth is "
			"a lower bound\n",
			n_least, n_least == 1 ? "" : "s");
	return n;
}

/* Counts the ports that are wanted; '*n_read': those whose errors are known. */
static uint32_t count_wanted(const struct triad_view *view,
	const struct triad_node_choice *choice, uint32_t *n_read)
{
	struct triad_shown_port shown;
	uint32_t n = 0;

	*n_read = 0;
	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (triad_command_wants_port(choice, view->fabric, i)) {
			triad_shown_port_read(&shown, view, i);
			*n_read += shown.row.answered;
			n++;
		}
	return n;
}

/* With --errors: writes of how many ports they are not known.  Those that did not answer
 * are listed. */
static int end_errors(const struct triad_view *view,
	const struct triad_command *command, const struct triad_node_choice *choice,
	unsigned n_shown, struct triad_output *output)
{
	uint32_t n_read, n = count_wanted(view, choice, &n_read);

	if (!n)
		return triad_command_no_port("perf show", view->fabric, choice, output);
	if (command->json)
		return TRIAD_CONTROL_DONE;
	if (n_read < n)
		triad_output_printf(output,
			"errors of %" PRIu32 " of %" PRIu32
			" ports are not known: 'perf show' says of each why\n",
			n - n_read, n);
	else if (!n_shown)
		triad_output_printf(
			output, "no port has errors, and all have answered\n");
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_perf_show(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_view *view = triad_moment_view(service, command, output);
	struct triad_sflow_indices *indices;
	struct triad_node_choice choice;
	int status = TRIAD_CONTROL_DONE;
	unsigned n;

	if (!view)
		return TRIAD_CONTROL_FAILED;
	put_trouble(service, command, output);
	if (!triad_command_choose_there(
		    command, view->fabric, "perf show", &choice, output)) {
		triad_view_unref(view);
		return TRIAD_CONTROL_FAILED;
	}
	indices = triad_exports_sflow_indices(service->exports);
	n = show_ports(view, indices, command, &choice, output);
	if (command->errors)
		status = end_errors(view, command, &choice, n, output);
	else if (!n)
		status = triad_command_no_port(
			"perf show", view->fabric, &choice, output);
	triad_sflow_indices_unref(indices);
	triad_view_unref(view);
	return status;
}

/* --- perf top --- */

struct ranked {
	double rate;
	bool is_least; /* the rate is a lower bound */
	uint64_t total;
	uint32_t port;
};

/* Orders ports: the busiest first, those without a rate last, equal ones in the order
 * of the fabric. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (isnan(x->rate) != isnan(y->rate))
		return isnan(y->rate) ? -1 : 1;
	if (!isnan(x->rate) && x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/* Writes the ports to show, the busiest first; returns how many there are. */
static uint32_t rank(const struct triad_view *view, const struct triad_command *command,
	struct ranked *ranked, uint32_t *n_ports, uint32_t *n_known)
{
	struct triad_shown_port shown;
	uint32_t n = 0;

	*n_ports = *n_known = 0;
	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		if (!view->fabric->ports[i].has_pma)
			continue;
		++*n_ports;
		triad_shown_port_read(&shown, view, i);
		if (!(shown.row.has & 1u << command->by))
			continue;
		ranked[n] = (struct ranked){
			.rate = triad_command_rate(&shown.row, command->by),
			.is_least = shown.row.answered &&
				triad_engine_rate_is_least(&shown.row, command->by),
			.total = shown.row.total[command->by],
			.port = i,
		};
		*n_known += !isnan(ranked[n++].rate);
	}
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	return n < command->limit ? n : command->limit;
}

static void put_footer(uint32_t n, uint32_t n_ports, uint32_t n_known, unsigned by,
	struct triad_output *output)
{
	const char *name = triad_counters[by].name;

	if (!n)
		triad_output_printf(output, "%s was read at no port\n", name);
	else if (!n_known)
		triad_output_printf(output,
			"by %s; no rates yet: they need two sweeps that read a counter "
			"('perf sweep' makes one)\n",
			name);
	else
		triad_output_printf(
			output, "by %s, over the last interval between sweeps\n", name);
	if (n_known && n_known < n_ports)
		triad_output_printf(output,
			"of %" PRIu32 " ports, %" PRIu32
			" have no known rate: they were read once or not, or lack it, or "
			"it is at its maximum\n",
			n_ports, n_ports - n_known);
}

static void put_ranked(struct triad_list *list, const struct triad_shown_port *shown,
	const struct ranked *ranked, unsigned by)
{
	enum triad_counter_unit unit = triad_counters[by].unit;

	put_place(list, shown);
	triad_list_double(list, "rate", ranked->rate);
	triad_list_bool(list, "rate_at_least", NULL, 0, ranked->is_least);
	list->next.name = "rate";
	triad_list_counter(list, "RATE", 12, unit, ranked->rate, "/s");
	list->next.name = triad_counters[by].name;
	triad_list_counter(list, "TOTAL", 9, unit, (double)ranked->total, "");
	triad_list_text(list, NULL, "REMARK", 0,
		shown->skipped                            ? "left out"
			: !shown->row.was_asked           ? "not asked yet"
			: !shown->row.answered            ? "unanswered"
			: ranked->is_least                ? "at its maximum: at least"
			: shown->row.saturated & 1u << by ? "at its maximum"
							  : "");
	triad_list_row_end(list);
}

static void put_all_ranked(struct triad_list *list, const struct triad_view *view,
	const struct ranked *ranked, uint32_t n, unsigned by)
{
	struct triad_shown_port shown;

	for (uint32_t i = 0; i < n && !list->report->output->failed; i++) {
		triad_shown_port_read(&shown, view, ranked[i].port);
		put_ranked(list, &shown, &ranked[i], by);
	}
}

static void put_top(const struct triad_view *view, const struct ranked *ranked,
	uint32_t n, const struct triad_command *command, struct triad_output *output)
{
	static const struct triad_fabric_node node;
	static const struct triad_fabric_port port;
	static const struct triad_shown_port nothing = {.node = &node, .port = &port};
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};

	put_all_ranked(&list, view, ranked, n, command->by);
	list.phase = TRIAD_LIST_TITLES;
	put_ranked(&list, &nothing, &(struct ranked){0}, command->by);
	triad_report_array(&report, NULL);
	put_all_ranked(&list, view, ranked, n, command->by);
	triad_report_array_end(&report);
}

int triad_command_run_perf_top(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_view *view = triad_moment_view(service, command, output);
	struct ranked *ranked;
	uint32_t n, n_ports, n_known;

	if (!view)
		return TRIAD_CONTROL_FAILED;
	ranked = malloc(((size_t)view->fabric->n_ports + 1) * sizeof(*ranked));
	if (!ranked) {
		triad_view_unref(view);
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "perf top: out of memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	put_trouble(service, command, output);
	n = rank(view, command, ranked, &n_ports, &n_known);
	put_top(view, ranked, n, command, output);
	if (!command->json)
		put_footer(n, n_ports, n_known, command->by, output);
	free(ranked);
	triad_view_unref(view);
	return TRIAD_CONTROL_DONE;
}
