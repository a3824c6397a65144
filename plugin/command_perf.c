/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf show', 'perf top', 'perf sweep': ports and their counters. */
#include "plugin/commands.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "plugin/instance.h"
#include "triad/clock.h"
#include "triad/json.h"

/* --- which ports --- */

/* A GUID as we write it, as sysfs does (with colons) or as 16 bare digits. */
static bool parse_guid(const char *text, uint64_t *guid)
{
	char digits[2 + 16 + 1] = "0x";
	size_t n = 2;

	if (triad_text_guid(text, guid))
		return true;
	for (; *text; text++) {
		if (*text == ':')
			continue;
		if (n == sizeof(digits) - 1)
			return false;
		digits[n++] = *text;
	}
	digits[n] = 0;
	return n == sizeof(digits) - 1 && triad_text_guid(digits, guid);
}

static bool has_guid(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, uint64_t guid)
{
	return fabric->nodes[port->node].guid == guid || port->guid == guid;
}

static bool is_node_wanted(const struct triad_command *command,
	const struct triad_fabric *fabric, const struct triad_fabric_port *port)
{
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	static const uint8_t types[] = {
		[TRIAD_COMMAND_TYPE_CA] = TRIAD_NODE_CA,
		[TRIAD_COMMAND_TYPE_SWITCH] = TRIAD_NODE_SWITCH,
		[TRIAD_COMMAND_TYPE_ROUTER] = TRIAD_NODE_ROUTER,
	};
	uint64_t guid;

	if (command->type != TRIAD_COMMAND_TYPE_ALL &&
		node->type != types[command->type])
		return false;
	if (!command->node[0])
		return true;
	if (parse_guid(command->node, &guid))
		return has_guid(fabric, port, guid);
	return strcmp(command->node, node->name) == 0 ||
		fnmatch(command->node, node->name, 0) == 0;
}

static bool is_port_wanted(const struct triad_command *command,
	const struct triad_fabric *fabric, uint32_t index)
{
	const struct triad_fabric_port *port = &fabric->ports[index];

	return port->has_pma && (command->port < 0 || command->port == port->number) &&
		is_node_wanted(command, fabric, port);
}

/* --- one port, as text and as JSON --- */

/* What is shown of a port. */
struct shown {
	const struct triad_fabric_node *node;
	const struct triad_fabric_port *port;
	const struct triad_fabric_node *remote_node; /* NULL: no far end */
	const struct triad_fabric_port *remote_port;
	struct triad_engine_row row;
};

static void look_up(const struct triad_view *view, uint32_t index, struct shown *shown)
{
	const struct triad_fabric *fabric = view->fabric;
	const struct triad_fabric_port *port = &fabric->ports[index];

	*shown = (struct shown){.node = &fabric->nodes[port->node], .port = port};
	if (port->remote != TRIAD_FABRIC_NONE) {
		shown->remote_port = &fabric->ports[port->remote];
		shown->remote_node = &fabric->nodes[shown->remote_port->node];
	}
	/* A row that went to another port is none: the view is old. */
	if (!triad_engine_read(view->engine, view->rows[index], &shown->row) ||
		shown->row.node_guid != shown->node->guid ||
		shown->row.port != port->number)
		shown->row = (struct triad_engine_row){0};
}

static void put_port_json(struct triad_json *json, const struct shown *shown)
{
	const struct triad_fabric_node *remote = shown->remote_node;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_guid(json, "node_guid", shown->node->guid);
	triad_json_string(json, "node_name", shown->node->name);
	triad_json_string(json, "node_type", triad_node_type_name(shown->node->type));
	triad_json_uint(json, "port", shown->port->number);
	triad_json_uint(json, "lid", shown->port->lid);
	triad_json_string(json, "state", triad_port_state_name(shown->port->state));
	triad_json_guid(json, "remote_guid", remote ? remote->guid : 0);
	triad_json_string(json, "remote_name", remote ? remote->name : NULL);
	if (remote)
		triad_json_uint(json, "remote_port", shown->remote_port->number);
	else
		triad_json_string(json, "remote_port", NULL);
	triad_json_object_begin(json, "counters");
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (shown->row.has & 1u << i)
			triad_json_uint(
				json, triad_counters[i].name, shown->row.total[i]);
	triad_json_object_end(json);
	triad_json_bool(json, "answered", shown->row.answered);
	if (shown->row.read_us)
		triad_clock_format(triad_clock_wall_us() - triad_clock_now_us() +
				shown->row.read_us,
			at);
	triad_json_string(json, "last_read", shown->row.read_us ? at : NULL);
}

/* "1.23 GB": three digits that count. */
static void format_scaled(char *text, size_t size, double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	unsigned i = 0;

	while (value >= 999.5 && i < 6) {
		value /= 1000;
		i++;
	}
	snprintf(text, size, "%.*f%s%s%s",
		i == 0 || value >= 99.95 ? 0
			: value >= 9.995 ? 1
					 : 2,
		value, prefixes[i][0] || unit[0] ? " " : "", prefixes[i], unit);
}

static void format_counter(char *text, size_t size, unsigned counter, double value)
{
	if (isnan(value))
		snprintf(text, size, "-");
	else if (triad_counters[counter].unit == TRIAD_UNIT_EVENTS && value < 1e7)
		snprintf(text, size, value < 100 ? "%.4g" : "%.0f", value);
	else if (triad_counters[counter].unit == TRIAD_UNIT_WORDS)
		format_scaled(text, size, value * 4, "B");
	else
		format_scaled(text, size, value, "");
}

/* The errors that are not 0, by their names; "+" for one that stopped at its maximum.
 */
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

static void format_far_end(char *text, size_t size, const struct shown *shown)
{
	if (shown->remote_node)
		snprintf(text, size, "%s:%u", shown->remote_node->name,
			shown->remote_port->number);
	else
		snprintf(text, size, "-");
}

/* Columns a terminal needs for UTF-8 text, wide characters apart. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

struct widths {
	int name;
	int far_end;
};

static void put_padded(struct triad_output *output, const char *text, int width)
{
	triad_output_printf(output, "%s%*s", text, width - width_of(text), "");
}

/* The columns that 'perf show' and 'perf top' begin with. */
static void put_place(
	struct triad_output *output, const struct shown *shown, struct widths widths)
{
	char far_end[TRIAD_NODE_NAME_SIZE + 8];

	format_far_end(far_end, sizeof(far_end), shown);
	put_padded(output, shown->node->name, widths.name);
	triad_output_printf(output, "  0x%016" PRIx64 "  %4u  %-6s  ",
		shown->node->guid, shown->port->number,
		triad_port_state_name(shown->port->state));
	put_padded(output, far_end, widths.far_end);
}

static void put_heading_place(struct triad_output *output, struct widths widths)
{
	triad_output_printf(output, "%s", output->color ? "\033[1m" : "");
	put_padded(output, "NODE", widths.name);
	triad_output_printf(output, "  %-18s  %4s  %-6s  ", "GUID", "PORT", "STATE");
	put_padded(output, "FAR END", widths.far_end);
}

/* The columns of 'perf show' behind them; the last one is for errors. */
static const unsigned show_columns[] = {
	TRIAD_PORT_XMIT_DATA,
	TRIAD_PORT_RCV_DATA,
	TRIAD_PORT_XMIT_PKTS,
	TRIAD_PORT_RCV_PKTS,
	TRIAD_PORT_XMIT_WAIT,
};
#define N_SHOW_COLUMNS (sizeof(show_columns) / sizeof(show_columns[0]))

static void put_heading(struct triad_output *output, struct widths widths)
{
	put_heading_place(output, widths);
	for (unsigned i = 0; i < N_SHOW_COLUMNS; i++)
		triad_output_printf(
			output, "  %9s", triad_counters[show_columns[i]].heading);
	triad_output_printf(output, "  ERRORS%s\n", output->color ? "\033[0m" : "");
}

/* The last column: what is wrong with the port. */
static void put_remarks(struct triad_output *output, const struct triad_engine_row *row)
{
	const char *end = output->color ? "\033[0m" : "";
	char errors[512];

	format_errors(errors, sizeof(errors), row);
	if (!row->answered)
		triad_output_printf(output, "  %sunanswered%s%s%s",
			output->color ? "\033[31m" : "", end,
			errors[0] ? "; last: " : "", errors);
	else if (errors[0])
		triad_output_printf(output, "  %s%s%s", output->color ? "\033[33m" : "",
			errors, end);
}

static void put_line(
	struct triad_output *output, const struct shown *shown, struct widths widths)
{
	char value[32];
	const struct triad_engine_row *row = &shown->row;

	put_place(output, shown, widths);
	for (unsigned i = 0; i < N_SHOW_COLUMNS; i++) {
		unsigned counter = show_columns[i];

		snprintf(value, sizeof(value), "-");
		if (row->has & 1u << counter)
			format_counter(value, sizeof(value), counter,
				(double)row->total[counter]);
		triad_output_printf(output, "  %9s", value);
	}
	put_remarks(output, row);
	triad_output_put(output, "\n", 1);
}

/* --- perf show --- */

static void widen(struct widths *widths, const struct shown *shown)
{
	char far_end[TRIAD_NODE_NAME_SIZE + 8];
	int name = width_of(shown->node->name), far;

	format_far_end(far_end, sizeof(far_end), shown);
	far = width_of(far_end);
	if (name > widths->name)
		widths->name = name;
	if (far > widths->far_end)
		widths->far_end = far;
}

static int no_view(struct triad_plugin *plugin, struct triad_output *output)
{
	const char *trouble = triad_commands_perf_trouble(plugin);

	triad_output_message(output, TRIAD_FRAME_MESSAGE, "no counters yet: %s\n",
		trouble ? trouble : "the first sweep has not begun");
	return TRIAD_CONTROL_FAILED;
}

static int no_port(const struct triad_view *view, const struct triad_command *command,
	struct triad_output *output)
{
	const struct triad_fabric *fabric = view->fabric;
	bool is_known = false;

	for (uint32_t i = 0; i < fabric->n_ports && !is_known; i++)
		is_known = is_node_wanted(command, fabric, &fabric->ports[i]);
	if (is_known && command->port >= 0)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf show: no port %d with counters there (port 0 of a switch "
			"has them only where it is an enhanced one)\n",
			command->port);
	else if (command->node[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf show: no such node: '%s'; give its whole name, a pattern "
			"as 'leaf-*', or a GUID; 'perf show' lists all\n",
			command->node);
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf show: no port of that kind; 'perf show' lists all\n");
	return TRIAD_CONTROL_FAILED;
}

/* Readers may be older than what they read: say so. */
static void put_trouble(struct triad_plugin *plugin, struct triad_output *output)
{
	const char *trouble = triad_commands_perf_trouble(plugin);

	if (trouble)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"these counters are not read any more: %s\n", trouble);
}

static unsigned show_table(const struct triad_view *view,
	const struct triad_command *command, struct triad_output *output)
{
	struct widths widths = {.name = 4, .far_end = 7};
	const struct triad_fabric *fabric = view->fabric;
	struct shown shown;
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (!is_port_wanted(command, fabric, i))
			continue;
		look_up(view, i, &shown);
		widen(&widths, &shown);
		n++;
	}
	if (n)
		put_heading(output, widths);
	for (uint32_t i = 0; n && i < fabric->n_ports && !output->failed; i++) {
		if (!is_port_wanted(command, fabric, i))
			continue;
		look_up(view, i, &shown);
		put_line(output, &shown, widths);
	}
	return n;
}

static unsigned show_json(const struct triad_view *view,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_fabric *fabric = view->fabric;
	struct triad_json json;
	struct shown shown;
	unsigned n = 0;

	triad_json_init(&json, output);
	triad_json_array_begin(&json, NULL);
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++) {
		if (!is_port_wanted(command, fabric, i))
			continue;
		look_up(view, i, &shown);
		triad_json_object_begin(&json, NULL);
		put_port_json(&json, &shown);
		triad_json_object_end(&json);
		n++;
	}
	triad_json_array_end(&json);
	triad_json_end(&json);
	return n;
}

int triad_command_run_perf_show(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_view *view = triad_perf_view(plugin->perf);
	unsigned n;
	int status;

	if (!view)
		return no_view(plugin, output);
	put_trouble(plugin, output);
	n = command->json ? show_json(view, command, output)
			  : show_table(view, command, output);
	status = n ? TRIAD_CONTROL_DONE : no_port(view, command, output);
	triad_view_unref(view);
	return status;
}

/* --- perf top --- */

struct ranked {
	double rate;
	uint64_t total;
	uint32_t port;
};

/* The busiest first, those without a rate last; equal ones in the order of the fabric.
 */
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

static uint32_t rank(const struct triad_view *view, const struct triad_command *command,
	struct ranked *ranked)
{
	struct shown shown;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		if (!is_port_wanted(command, view->fabric, i))
			continue;
		look_up(view, i, &shown);
		if (shown.row.has & 1u << command->by)
			ranked[n++] = (struct ranked){
				.rate = triad_engine_rate(&shown.row, command->by),
				.total = shown.row.total[command->by],
				.port = i,
			};
	}
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	return n < command->limit ? n : command->limit;
}

static void top_json(const struct triad_view *view, const struct ranked *ranked,
	uint32_t n, struct triad_output *output)
{
	struct triad_json json;
	struct shown shown;

	triad_json_init(&json, output);
	triad_json_array_begin(&json, NULL);
	for (uint32_t i = 0; i < n && !output->failed; i++) {
		look_up(view, ranked[i].port, &shown);
		triad_json_object_begin(&json, NULL);
		put_port_json(&json, &shown);
		triad_json_double(&json, "rate", ranked[i].rate);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_end(&json);
}

static void put_footer(const struct ranked *ranked, uint32_t n, unsigned by,
	struct triad_output *output)
{
	const char *name = triad_counters[by].name;

	if (!n)
		triad_output_printf(output, "no port has %s\n", name);
	else if (isnan(ranked[0].rate))
		triad_output_printf(output,
			"by %s; no rates yet: they need two sweeps ('perf sweep' makes "
			"one)\n",
			name);
	else
		triad_output_printf(
			output, "by %s, over the last interval between sweeps\n", name);
}

static void top_table(const struct triad_view *view, const struct ranked *ranked,
	uint32_t n, unsigned by, struct triad_output *output)
{
	struct widths widths = {.name = 4, .far_end = 7};
	char value[32], rate[40];
	struct shown shown;

	for (uint32_t i = 0; i < n; i++) {
		look_up(view, ranked[i].port, &shown);
		widen(&widths, &shown);
	}
	put_heading_place(output, widths);
	triad_output_printf(output, "  %12s  %9s%s\n", "RATE", "TOTAL",
		output->color ? "\033[0m" : "");
	for (uint32_t i = 0; i < n && !output->failed; i++) {
		look_up(view, ranked[i].port, &shown);
		put_place(output, &shown, widths);
		format_counter(value, sizeof(value), by, ranked[i].rate);
		snprintf(rate, sizeof(rate), "%s%s", value,
			isnan(ranked[i].rate) ? "" : "/s");
		format_counter(value, sizeof(value), by, (double)ranked[i].total);
		triad_output_printf(output, "  %12s  %9s%s\n", rate, value,
			shown.row.answered ? "" : "  unanswered");
	}
	put_footer(ranked, n, by, output);
}

int triad_command_run_perf_top(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_view *view = triad_perf_view(plugin->perf);
	struct ranked *ranked;
	uint32_t n;

	if (!view)
		return no_view(plugin, output);
	ranked = malloc(((size_t)view->fabric->n_ports + 1) * sizeof(*ranked));
	if (!ranked) {
		triad_view_unref(view);
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "perf top: out of memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	put_trouble(plugin, output);
	n = rank(view, command, ranked);
	if (command->json)
		top_json(view, ranked, n, output);
	else
		top_table(view, ranked, n, command->by, output);
	free(ranked);
	triad_view_unref(view);
	return TRIAD_CONTROL_DONE;
}

/* --- perf sweep --- */

static void put_sweep(const struct triad_collector_status *status, bool as_json,
	struct triad_output *output)
{
	struct triad_json json;

	if (!as_json) {
		triad_output_printf(output,
			"sweep %" PRIu64 ": %" PRIu32 " ports in %" PRIu64
			" ms, %" PRIu32 " unanswered\n",
			status->n_sweeps, status->last.n_ports,
			status->duration_us / TRIAD_US_PER_MS,
			status->last.n_unanswered);
		return;
	}
	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "sweep", status->n_sweeps);
	triad_json_uint(&json, "ports", status->last.n_ports);
	triad_json_uint(&json, "answered", status->last.n_answered);
	triad_json_uint(&json, "unanswered", status->last.n_unanswered);
	triad_json_uint(&json, "duration_ms", status->duration_us / TRIAD_US_PER_MS);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

int triad_command_run_perf_sweep(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	const char *trouble = triad_commands_perf_trouble(plugin);
	struct triad_collector_status status;
	uint64_t ticket;
	int error = 0;

	if (trouble) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "perf sweep: %s\n", trouble);
		return TRIAD_CONTROL_FAILED;
	}
	ticket = triad_perf_ask_sweep(plugin->perf);
	while ((error = triad_perf_wait_sweep(plugin->perf, ticket, TRIAD_US_PER_S)) ==
			ETIMEDOUT &&
		!output->failed) {
		status = triad_perf_status(plugin->perf);
		triad_output_message(output, TRIAD_FRAME_PROGRESS,
			"sweep: %" PRIu32 " of %" PRIu32 " ports",
			status.progress.n_answered + status.progress.n_unanswered,
			status.progress.n_ports);
	}
	status = triad_perf_status(plugin->perf);
	if (!error) {
		put_sweep(&status, command->json, output);
		return TRIAD_CONTROL_DONE;
	}
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"perf sweep: the PerfManager stopped before the sweep ended\n");
	return TRIAD_CONTROL_FAILED;
}
