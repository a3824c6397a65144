/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'routes over' and 'routes between': the pairs of a link, the links of a pair. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/command_table.h"
#include "ib/link.h"
#include "ib/node_choice.h"
#include "routes/path.h"
#include "service/command/format.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/service.h"

/* --- what the commands share --- */

struct triad_route_result *triad_routes_command_result(
	struct triad_service *service, const char *verb, struct triad_output *output)
{
	struct triad_route_result *result = triad_route_checker_result(service->routes);
	struct triad_route_status status = triad_route_checker_status(service->routes);
	const char *why = triad_route_state_text(status.state);

	if (!result)
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb,
			why ? why : "try again");
	return result;
}

const char *triad_routes_format_port(
	const struct triad_fabric *fabric, uint32_t port, char *text, size_t size)
{
	if (port == TRIAD_FABRIC_NONE)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%s", triad_port_label(fabric, port).text);
	return text;
}

void triad_routes_put_port(struct triad_list *list, const char *prefix,
	const char *title, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at =
		port == TRIAD_FABRIC_NONE ? NULL : &fabric->ports[port];
	const struct triad_fabric_node *node = at ? &fabric->nodes[at->node] : NULL;
	const char *before = prefix ? prefix : "", *gap = prefix ? "_" : "";
	char name[3][48], text[TRIAD_PORT_LABEL_SIZE];

	snprintf(name[0], sizeof(name[0]), "%s%snode_name", before, gap);
	snprintf(name[1], sizeof(name[1]), "%s%snode_guid", before, gap);
	snprintf(name[2], sizeof(name[2]), "%s%sport", before, gap);
	triad_list_text(list, name[0], NULL, 0, node ? node->name : NULL);
	triad_list_guid(list, name[1], NULL, node ? node->guid : 0);
	if (at)
		triad_list_uint(list, name[2], NULL, 0, at->number);
	else
		triad_list_text(list, name[2], NULL, 0, NULL);
	list->next = (struct triad_list_next){.name = prefix ? prefix : "port"};
	triad_list_text(list, NULL, title, TRIAD_LIST_LONG,
		triad_routes_format_port(fabric, port, text, sizeof(text)));
}

/* The node's only end port that has a LID, or the one with that number. */
static uint32_t end_of_node(
	const struct triad_fabric *fabric, uint32_t node, int number)
{
	const struct triad_fabric_node *at = &fabric->nodes[node];
	uint32_t found = TRIAD_FABRIC_NONE;

	if (at->type == TRIAD_NODE_SWITCH)
		return triad_fabric_find_port(fabric, node, 0);
	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		if (!fabric->ports[i].lid ||
			(number >= 0 && fabric->ports[i].number != number))
			continue;
		if (found != TRIAD_FABRIC_NONE)
			return TRIAD_FABRIC_NONE;
		found = i;
	}
	return found;
}

/* The end port that 'text' names; or TRIAD_FABRIC_NONE, having written why. */
static uint32_t find_end(const struct triad_fabric *fabric, const char *verb,
	const char *text, struct triad_output *output)
{
	struct triad_node_choice choice = triad_node_choice_make(text, fabric, 0);
	uint32_t end;

	if (choice.end_port != TRIAD_FABRIC_NONE && choice.port < 0)
		return choice.end_port;
	if (choice.n != 1) {
		(void)triad_command_print_choice(verb, &choice, fabric, output);
		return TRIAD_FABRIC_NONE;
	}
	end = end_of_node(fabric, choice.first, choice.port);
	if (end == TRIAD_FABRIC_NONE)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: '%s' has no such port with a LID, or several: name one, as "
			"'%s:1'\n",
			verb, text, choice.name);
	return end;
}

/* Looks the port up in the view, whose fabric may differ from that of the routes. */
bool triad_routes_read_port(const struct triad_view *view,
	const struct triad_fabric *fabric, uint32_t port, struct triad_engine_row *row)
{
	uint32_t same;

	if (!view)
		return false;
	same = triad_fabric_find_same_port(view->fabric, fabric, port);
	return same != TRIAD_FABRIC_NONE && triad_view_read(view, same, row);
}

/* As triad_routes_use_percent(), by the rates of a view; NULL: not known. */
static double view_use_percent(
	const struct triad_view *view, const struct triad_fabric *fabric, uint32_t port)
{
	struct triad_engine_row row;

	return triad_routes_read_port(view, fabric, port, &row)
		? triad_command_link_percent(&row, TRIAD_PORT_XMIT_DATA,
			  triad_fabric_port_bps(&fabric->ports[port]))
		: NAN;
}

double triad_routes_use_percent(
	struct triad_service *service, const struct triad_fabric *fabric, uint32_t port)
{
	struct triad_view *view = triad_perf_view(service->perf);
	double use = view_use_percent(view, fabric, port);

	triad_view_unref(view);
	return use;
}

void triad_routes_put_use(struct triad_list *list, double percent)
{
	char value[32];

	snprintf(value, sizeof(value), "%.3f", percent);
	triad_list_double(list, "use_percent", percent);
	list->next = (struct triad_list_next){
		.name = "use_percent", .value = isnan(percent) ? NULL : value};
	if (isnan(percent))
		triad_list_text(list, NULL, "USE", 5, "-");
	else
		triad_list_format(list, "USE", 5, "%.*f%%", percent < 10, percent);
}

/* --- at a moment --- */

/* Images keep only hashes of tables: past paths are known only while they equal the
 * present ones. */
struct triad_route_result *triad_routes_open_moment(struct triad_moment *moment,
	struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	const char *verb = triad_verb_of(command->verb)->name;
	struct triad_route_result *result;

	if (!triad_moment_open(moment, service, command, output))
		return NULL;
	result = triad_routes_command_result(service, verb, output);
	if (result && triad_moment_has_paths_of(moment, result->check->layout->fabric))
		return result;
	if (result)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: links, LIDs or tables of switches have changed since, and "
			"those of then are not kept: 'diff %s' says which; 'routes "
			"--at %s' has how many pairs crossed links\n",
			verb, command->at, command->at);
	triad_route_result_unref(result);
	triad_moment_close(moment);
	return NULL;
}

void triad_routes_close_moment(
	struct triad_moment *moment, struct triad_route_result *result)
{
	triad_route_result_unref(result);
	triad_moment_close(moment);
}

/* --- 'routes over' --- */

struct over {
	const struct triad_fabric *fabric;
	struct triad_list list;
	uint32_t n, limit;
};

static bool put_pair(void *context, uint32_t from, uint32_t to, uint16_t lid)
{
	struct over *over = context;

	if (over->n == over->limit || over->list.report->output->failed)
		return false;
	over->n++;
	triad_list_row(&over->list);
	triad_routes_put_port(&over->list, "source", "FROM", over->fabric, from);
	triad_routes_put_port(&over->list, "destination", "TO", over->fabric, to);
	triad_list_uint(&over->list, "lid", "LID", 5, lid);
	triad_list_row_end(&over->list);
	return true;
}

/* The port by which packets leave; or TRIAD_FABRIC_NONE, having written why. */
static uint32_t find_link(const struct triad_fabric *fabric,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_node_choice choice;
	uint32_t port;

	if (!triad_command_choose(command, fabric, "routes over", &choice, output))
		return TRIAD_FABRIC_NONE;
	if (choice.n != 1) {
		(void)triad_command_print_choice(
			"routes over", &choice, fabric, output);
		return TRIAD_FABRIC_NONE;
	}
	port = choice.port < 0 && choice.end_port != TRIAD_FABRIC_NONE ? choice.end_port
		: choice.port < 0
		? TRIAD_FABRIC_NONE
		: triad_fabric_find_port(fabric, choice.first, (unsigned)choice.port);
	if (port != TRIAD_FABRIC_NONE &&
		fabric->ports[port].remote == TRIAD_FABRIC_NONE) {
		char name[TRIAD_PORT_LABEL_SIZE];

		triad_routes_format_port(fabric, port, name, sizeof(name));
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"routes over: %s has no link that is up, so no pairs cross it\n",
			name);
		return TRIAD_FABRIC_NONE;
	}
	if (port == TRIAD_FABRIC_NONE) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"routes over: '%s' is no port with a link: name one end of a "
			"link, as leaf-01:3; 'links --node' lists them\n",
			command->node);
		return TRIAD_FABRIC_NONE;
	}
	return port;
}

static int show_over(const struct triad_moment *moment,
	const struct triad_command *command, const struct triad_routes_check *check,
	uint32_t port, struct triad_output *output)
{
	const struct triad_fabric *fabric = check->layout->fabric;
	struct triad_report report = {.output = output, .as_json = command->json};
	struct over over = {.fabric = fabric,
		.list = {.report = &report, .gap = "  "},
		.limit = command->limit};
	char from[TRIAD_PORT_LABEL_SIZE], to[TRIAD_PORT_LABEL_SIZE];
	double use = view_use_percent(moment->view, fabric, port);
	int error;

	triad_routes_format_port(fabric, port, from, sizeof(from));
	triad_routes_format_port(fabric, fabric->ports[port].remote, to, sizeof(to));
	triad_report_begin(&report);
	if (command->json) {
		triad_json_string(&report.json, "from", from);
		triad_json_string(&report.json, "to", to);
		triad_json_uint(&report.json, "n_pairs", check->pairs[port]);
		triad_json_double(&report.json, "use_percent", use);
	} else {
		triad_output_printf(output,
			"%" PRIu64 " pairs from %s to %s; the other way: %" PRIu64 "\n",
			check->pairs[port], from, to,
			check->pairs[fabric->ports[port].remote]);
	}
	triad_report_array(&report, "pairs");
	error = triad_routes_over(check->layout, port, put_pair, &over);
	triad_report_array_end(&report);
	triad_report_end(&report);
	if (error) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"routes over: not enough memory; try again\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (over.n < check->pairs[port] && !command->json)
		triad_output_printf(output, "%" PRIu64 " more; -n shows more of them\n",
			check->pairs[port] - over.n);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_routes_over(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_moment moment;
	struct triad_route_result *result =
		triad_routes_open_moment(&moment, service, command, output);
	int status = TRIAD_CONTROL_FAILED;
	uint32_t port;

	if (!result)
		return TRIAD_CONTROL_FAILED;
	port = find_link(result->check->layout->fabric, command, output);
	if (port != TRIAD_FABRIC_NONE)
		status = show_over(&moment, command, result->check, port, output);
	triad_routes_close_moment(&moment, result);
	return status;
}

/* --- 'routes between' --- */

struct between {
	struct triad_moment moment;
	const struct triad_route_result *result;
	struct triad_report report;
	struct triad_routes_path path;
	/* The packets' own, a bit each, one of which the routing engine draws, or the user's;
	 * 0: not known. */
	uint16_t sls;
	uint8_t sl; /* the lowest, whose path is shown */
};

static void put_hop(struct triad_list *list, struct between *between,
	const struct triad_routes_hop *hop)
{
	const struct triad_routes_check *check = between->result->check;
	const struct triad_fabric *fabric = check->layout->fabric;
	bool is_there = hop->port != TRIAD_FABRIC_NONE;
	char rate[16] = "-";

	if (is_there)
		triad_link_rate_format(
			triad_link_rate_active(&fabric->ports[hop->port]), rate,
			sizeof(rate));
	triad_list_row(list);
	triad_list_node(
		list, "node_name", "NODE", TRIAD_LIST_LONG, &fabric->nodes[hop->node]);
	triad_list_guid(list, "node_guid", NULL, fabric->nodes[hop->node].guid);
	triad_list_uint(list, "in_port", "IN", 3, hop->in_port);
	triad_list_uint(list, "out_port", "OUT", 3, hop->number);
	if (between->sls)
		triad_list_uint(list, "vl", "VL", 2, hop->vl);
	else
		triad_list_text(list, "vl", "VL", 2, NULL);
	triad_list_text(list, "rate", "RATE", -7, rate);
	triad_routes_put_use(list,
		is_there ? view_use_percent(between->moment.view, fabric, hop->port)
			 : NAN);
	triad_list_uint(
		list, "pairs", "PAIRS", 9, is_there ? check->pairs[hop->port] : 0);
	triad_list_row_end(list);
}

static void put_hops(struct between *between)
{
	struct triad_list list = {
		.report = &between->report, .indent = "  ", .gap = "  "};

	triad_report_array(&between->report, "hops");
	for (uint32_t i = 0; i < between->path.n_hops; i++)
		put_hop(&list, between, &between->path.hops[i]);
	triad_report_array_end(&between->report);
}

/* Finds the SL: the user's, or that of the routing engine for the pair. */
static void find_sl(struct between *between, const struct triad_command *command,
	uint16_t slid, uint16_t dlid)
{
	const struct triad_fabric *fabric = between->result->check->layout->fabric;
	const struct triad_route_source *source =
		&between->moment.service->owner->routes;
	uint8_t sl = (uint8_t)command->sl;

	between->sls = 0;
	if (command->has_sl || !fabric->sa.engine_has_sl)
		between->sls = (uint16_t)(1u << sl);
	else if (source->sls_between)
		between->sls = source->sls_between(source->context, slid, dlid, sl);
	between->sl = between->sls ? (uint8_t)__builtin_ctz(between->sls) : sl;
}

static void put_sls(struct between *between, uint16_t lid)
{
	struct triad_output *output = between->report.output;

	if (!between->sls) {
		triad_output_printf(
			output, "LID %u, SL as the routing engine decides: ", lid);
		return;
	}
	triad_output_printf(output, "LID %u, SL %u", lid, between->sl);
	/* Its lane is a run of SLs. */
	if (between->sls & (between->sls - 1))
		triad_output_printf(output,
			" (the routing engine draws one of %u to %d)", between->sl,
			31 - __builtin_clz(between->sls));
	triad_output_printf(output, ": ");
}

static void put_json_sls(struct triad_json *json, const struct between *between)
{
	if (between->sls)
		triad_json_uint(json, "sl", between->sl);
	else
		triad_json_string(json, "sl", NULL);
	triad_json_array_begin(json, "sls");
	for (unsigned sl = 0; sl < 16; sl++)
		if (between->sls >> sl & 1)
			triad_json_uint(json, NULL, sl);
	triad_json_array_end(json);
}

static void put_path(struct between *between, const struct triad_command *command,
	uint32_t from, uint32_t to, uint16_t lid)
{
	const struct triad_routes_layout *layout = between->result->check->layout;
	const char *end;

	find_sl(between, command, layout->fabric->ports[from].lid, lid);
	triad_routes_path_find(layout, from, to, lid, between->sl, &between->path);
	end = triad_routes_end_name(between->path.end);
	if (between->report.as_json) {
		struct triad_json *json = &between->report.json;

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "lid", lid);
		put_json_sls(json, between);
		triad_json_bool(
			json, "arrives", between->path.end == TRIAD_ROUTES_ARRIVES);
		triad_json_string(json, "end", end);
		put_hops(between);
		triad_json_object_end(json);
		return;
	}
	put_sls(between, lid);
	triad_output_printf(between->report.output, "%s%s\n",
		between->sls && between->path.end != TRIAD_ROUTES_ARRIVES
			? "does not arrive, "
			: "",
		end);
	put_hops(between);
}

static int show_between(struct between *between, const struct triad_command *command,
	struct triad_output *output)
{
	const struct triad_fabric *fabric = between->result->check->layout->fabric;
	uint32_t from = find_end(fabric, "routes between", command->source, output);
	uint32_t to = from == TRIAD_FABRIC_NONE
		? TRIAD_FABRIC_NONE
		: find_end(fabric, "routes between", command->destination, output);
	char text[2][TRIAD_PORT_LABEL_SIZE];

	if (to == TRIAD_FABRIC_NONE)
		return TRIAD_CONTROL_FAILED;
	triad_routes_format_port(fabric, from, text[0], sizeof(text[0]));
	triad_routes_format_port(fabric, to, text[1], sizeof(text[1]));
	triad_report_begin(&between->report);
	if (command->json) {
		triad_json_string(&between->report.json, "from", text[0]);
		triad_json_string(&between->report.json, "to", text[1]);
	} else {
		triad_output_printf(output, "From %s to %s\n", text[0], text[1]);
	}
	triad_report_array(&between->report, "paths");
	for (unsigned i = 0; i < 1u << (fabric->ports[to].lmc & 7); i++)
		put_path(between, command, from, to,
			(uint16_t)(fabric->ports[to].lid + i));
	triad_report_array_end(&between->report);
	triad_report_end(&between->report);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_routes_between(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct between between = {
		.report = {.output = output, .as_json = command->json}};
	struct triad_route_result *result =
		triad_routes_open_moment(&between.moment, service, command, output);
	int status;

	if (!result)
		return TRIAD_CONTROL_FAILED;
	between.result = result;
	status = show_between(&between, command, output);
	triad_routes_close_moment(&between.moment, result);
	return status;
}
