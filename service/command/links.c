/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'links': each link once, with both ends: its speed and best speed, its load, its
 * errors. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ib/link.h"
#include "ib/port_condition.h"
#include "ib/slow_links.h"
#include "lib/grow.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

/* A cable of the fabric, or one that has left it. */
struct cable {
	uint32_t port;           /* its first end in the fabric, or TRIAD_FABRIC_NONE */
	struct triad_link *gone; /* without 'port': borrowed from the list */
	double rank;             /* the highest comes first */
	double growth; /* of the error counter that grows fastest, per second; 0: none does */
	uint64_t total; /* of errors; with --by, of the counter */
};

struct list {
	struct triad_moment moment;
	const struct triad_command *command;
	struct triad_node_choice choice;
	struct triad_view *view; /* the moment's */
	struct triad_slow_links *slow;
	/* For each port: its link's place in these; TRIAD_FABRIC_NONE: it is not slow. */
	uint32_t *slow_of;
	struct cable *cables;
	uint32_t n, n_shown;
	uint32_t n_unread; /* with --errors: of others it is not known */
	struct triad_link *gone;
	uint32_t n_gone;
	size_t gone_room;
	uint32_t n_held;
	struct triad_held_link held[TRIAD_MAX_HELD_LINKS];
};

/* The data to show of an end. */
struct end {
	uint64_t guid;
	const char *name;
	uint8_t type, port;
	uint16_t lid;
	bool is_present;
	enum triad_port_condition condition; /* unknown: the port has left, too */
	struct triad_engine_row row;
	double use_percent, wait_percent; /* of the link's rate; NAN: not known */
	uint64_t n_errors;
};

struct shown {
	struct end ends[2];
	const char *state;
	bool is_active; /* both ends are active */
	bool is_held;   /* out of routing */
	struct triad_link_rate rate, best;
	const struct triad_slow_link *slow; /* NULL: it is not */
	bool has_history;
	struct triad_link history;
};

/* --- what there is to show --- */

static void read_end(struct end *end, const struct triad_view *view, uint32_t index)
{
	const struct triad_fabric_port *port = &view->fabric->ports[index];
	const struct triad_fabric_node *node = &view->fabric->nodes[port->node];
	uint64_t bps = triad_fabric_port_bps(port);

	*end = (struct end){.guid = node->guid,
		.name = node->name,
		.type = node->type,
		.port = port->number,
		.lid = port->lid,
		.is_present = true,
		.condition = triad_port_condition(view->fabric, index, true)};
	(void)triad_view_read(view, index, &end->row);
	end->use_percent =
		triad_command_link_percent(&end->row, TRIAD_PORT_XMIT_DATA, bps);
	end->wait_percent =
		triad_command_link_percent(&end->row, TRIAD_PORT_XMIT_WAIT, bps);
	end->n_errors = triad_command_count_errors(&end->row);
}

static void read_gone_end(struct end *end, const struct triad_fabric *fabric,
	const struct triad_link_end *gone)
{
	*end = (struct end){.guid = gone->node_guid,
		.name = gone->node_name,
		.type = gone->node_type,
		.port = gone->port,
		.lid = gone->lid,
		.use_percent = NAN,
		.wait_percent = NAN,
		.condition =
			triad_port_condition_at(fabric, gone->node_guid, gone->port)};
}

/* The state of a cable is that of its less active end. */
static const char *cable_state_of(
	const struct triad_fabric_port *a, const struct triad_fabric_port *b)
{
	return triad_port_state_name(a->state < b->state ? a->state : b->state);
}

static bool is_cable_held(const struct list *list, const struct shown *shown)
{
	const struct end *at = &shown->ends[0];

	for (uint32_t i = 0; i < list->n_held; i++)
		for (unsigned end = 0; end < 2; end++)
			if (list->held[i].node_guids[end] == at->guid &&
				list->held[i].ports[end] == at->port)
				return true;
	return false;
}

static void read_gone_cable(const struct triad_fabric *fabric,
	const struct triad_link *gone, struct shown *shown)
{
	shown->history = *gone;
	shown->has_history = true;
	shown->rate = gone->rate;
	shown->state = gone->state == TRIAD_LINK_DOWN ? "down" : "unreachable";
	for (unsigned i = 0; i < 2; i++)
		read_gone_end(&shown->ends[i], fabric, &gone->ends[i]);
}

static void read_present_cable(
	const struct list *list, const struct cable *cable, struct shown *shown)
{
	const struct triad_fabric *fabric = list->view->fabric;
	const struct triad_fabric_port *a = &fabric->ports[cable->port];
	const struct triad_fabric_port *b = &fabric->ports[a->remote];

	read_end(&shown->ends[0], list->view, cable->port);
	read_end(&shown->ends[1], list->view, a->remote);
	shown->state = cable_state_of(a, b);
	shown->is_active =
		a->state == TRIAD_PORT_ACTIVE && b->state == TRIAD_PORT_ACTIVE;
	shown->rate = triad_link_rate_active(a);
	shown->best = triad_link_rate_best(a, b);
	if (list->slow_of[cable->port] != TRIAD_FABRIC_NONE)
		shown->slow = &list->slow->links[list->slow_of[cable->port]];
	shown->has_history = triad_moment_find_link(&list->moment, shown->ends[0].guid,
		shown->ends[0].port, &shown->history);
}

/* The fabric of the last sweep may still have a link that is held by now. */
static void read_cable(
	const struct list *list, const struct cable *cable, struct shown *shown)
{
	*shown = (struct shown){0};
	if (cable->gone)
		read_gone_cable(list->view->fabric, cable->gone, shown);
	else
		read_present_cable(list, cable, shown);
	shown->is_held = is_cable_held(list, shown);
	if (shown->is_held)
		shown->state = "held";
}

/* --- which, in what order --- */

static bool is_chosen_link(
	const struct triad_command *command, const struct shown *shown)
{
	bool is_down = !shown->ends[0].is_present && !shown->is_held;
	bool is_flapped = shown->has_history && triad_link_n_downs(&shown->history);
	bool has_errors = false;

	if (!command->down && !command->slow && !command->errors && !command->flapped &&
		!command->held)
		return true;
	for (unsigned i = 0; i < 2; i++)
		has_errors |= shown->ends[i].n_errors > 0;
	return (command->down && is_down) || (command->slow && shown->slow) ||
		(command->errors && has_errors) || (command->flapped && is_flapped) ||
		(command->held && shown->is_held);
}

static bool is_node_wanted(const struct list *list, const struct shown *shown)
{
	bool is_any = false;

	for (unsigned i = 0; i < 2 && !is_any; i++)
		is_any = triad_node_choice_has(&list->choice, shown->ends[i].name,
				 shown->ends[i].guid) &&
			(list->choice.port < 0 ||
				list->choice.port == shown->ends[i].port);
	return is_any;
}

/* Ranks the worst highest: down, then slow by how much, then with errors, then slow for a
 * reason, the rest in the order of the fabric; with --by the counter's rate.  Of one rank,
 * those whose errors grow come first, then the highest total. */
static double rank_of(const struct list *list, const struct shown *shown)
{
	double rank = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct end *end = &shown->ends[i];
		double rate = triad_command_rate(&end->row, list->command->by);

		if (list->command->has_by && end->is_present && rate > rank)
			rank = rate;
		if (!list->command->has_by && end->n_errors)
			rank = 2;
	}
	if (list->command->has_by)
		return rank;
	if (!shown->ends[0].is_present)
		return 5;
	if (!shown->slow)
		return rank;
	return shown->slow->is_note ? fmax(rank, 2 - shown->slow->ratio)
				    : 4 - shown->slow->ratio;
}

static double error_growth_of(const struct shown *shown)
{
	double most = 0;

	for (unsigned i = 0; i < 2 * TRIAD_N_COUNTERS; i++) {
		double rate = triad_command_rate(&shown->ends[i % 2].row, i / 2);

		if (triad_counters[i / 2].is_error && rate > most)
			most = rate;
	}
	return most;
}

static int compare_cables(const void *a, const void *b)
{
	const struct cable *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->growth != y->growth)
		return x->growth > y->growth ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->gone && y->gone)
		return (x->gone > y->gone) - (x->gone < y->gone);
	return (x->port > y->port) - (x->port < y->port);
}

static bool is_unread(const struct shown *shown)
{
	bool is_any = false;

	for (unsigned i = 0; i < 2; i++)
		is_any |= shown->ends[i].is_present &&
			!triad_command_knows_errors(&shown->ends[i].row);
	return is_any;
}

static void add_if_wanted(struct list *list, struct cable cable)
{
	struct shown shown;

	read_cable(list, &cable, &shown);
	if (!is_node_wanted(list, &shown))
		return;
	if (!is_chosen_link(list->command, &shown)) {
		list->n_unread += list->command->errors && is_unread(&shown);
		return;
	}
	cable.rank = rank_of(list, &shown);
	if (!list->command->has_by)
		cable.growth = error_growth_of(&shown);
	for (unsigned i = 0; i < 2; i++)
		cable.total += list->command->has_by
			? shown.ends[i].row.total[list->command->by]
			: shown.ends[i].n_errors;
	list->cables[list->n++] = cable;
}

/* Copies the links that are down; returns false when memory is short. */
static bool read_gone(struct list *list)
{
	struct triad_link link;
	uint32_t cursor = 0;

	while (triad_moment_next_link(&list->moment, &cursor, &link)) {
		if (link.state == TRIAD_LINK_UP)
			continue;
		if (triad_grow(&list->gone, &list->gone_room, list->n_gone + 1,
			    sizeof(link), 64))
			return false;
		list->gone[list->n_gone++] = link;
	}
	return true;
}

static void describe_held_end(const struct triad_fabric *fabric, uint64_t guid,
	uint8_t port, struct triad_link_end *end)
{
	uint32_t node = triad_fabric_find_node(fabric, guid);

	*end = (struct triad_link_end){.node_guid = guid, .port = port};
	if (node == TRIAD_FABRIC_NONE)
		return;
	end->node_type = fabric->nodes[node].type;
	snprintf(
		end->node_name, sizeof(end->node_name), "%s", fabric->nodes[node].name);
}

static bool is_listed(const struct list *list, const struct triad_held_link *held)
{
	for (uint32_t i = 0; i < list->n_gone; i++)
		for (unsigned end = 0; end < 2; end++)
			if (list->gone[i].ends[end].node_guid == held->node_guids[0] &&
				list->gone[i].ends[end].port == held->ports[0])
				return true;
	return false;
}

static bool is_linked(const struct triad_fabric *fabric, uint64_t guid, uint8_t number)
{
	uint32_t port = triad_fabric_port_at(fabric, guid, number);

	return port != TRIAD_FABRIC_NONE &&
		fabric->ports[port].remote != TRIAD_FABRIC_NONE;
}

/* One that was held when Triad started was never seen up. */
static bool add_held(struct list *list)
{
	const struct triad_fabric *fabric = list->view->fabric;

	for (uint32_t i = 0; i < list->n_held; i++) {
		const struct triad_held_link *held = &list->held[i];
		struct triad_link link = {.state = TRIAD_LINK_DOWN};

		if (is_listed(list, held) ||
			is_linked(fabric, held->node_guids[0], held->ports[0]))
			continue;
		for (unsigned end = 0; end < 2; end++)
			describe_held_end(fabric, held->node_guids[end],
				held->ports[end], &link.ends[end]);
		if (triad_grow(&list->gone, &list->gone_room, list->n_gone + 1,
			    sizeof(link), 64))
			return false;
		list->gone[list->n_gone++] = link;
	}
	return true;
}

static bool find_slow(struct list *list)
{
	const struct triad_fabric *fabric = list->view->fabric;

	list->slow = triad_slow_links_find(fabric);
	list->slow_of = malloc(((size_t)fabric->n_ports + 1) * sizeof(*list->slow_of));
	if (!list->slow || !list->slow_of)
		return false;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		list->slow_of[i] = TRIAD_FABRIC_NONE;
	for (uint32_t i = 0; i < list->slow->n; i++)
		list->slow_of[list->slow->links[i].port] = i;
	return true;
}

static bool find_cables(struct list *list)
{
	const struct triad_fabric *fabric = list->view->fabric;

	if (!read_gone(list) || !add_held(list) || !find_slow(list))
		return false;
	list->cables = malloc(((size_t)fabric->n_ports / 2 + list->n_gone + 1) *
		sizeof(*list->cables));
	if (!list->cables)
		return false;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE &&
			fabric->ports[i].remote > i)
			add_if_wanted(list, (struct cable){.port = i});
	for (uint32_t i = 0; i < list->n_gone; i++)
		add_if_wanted(list,
			(struct cable){
				.port = TRIAD_FABRIC_NONE, .gone = &list->gone[i]});
	qsort(list->cables, list->n, sizeof(*list->cables), compare_cables);
	list->n_shown = list->n < list->command->limit ? list->n : list->command->limit;
	return true;
}

/* --- one row --- */

static void put_end_json(struct triad_json *json, const struct end *end, bool is_brief)
{
	triad_json_object_begin(json, NULL);
	triad_json_guid(json, "node_guid", end->guid);
	triad_json_string(json, "node_name", end->name);
	triad_json_string(json, "node_type", triad_node_type_name(end->type));
	triad_json_uint(json, "port", end->port);
	triad_json_uint(json, "lid", end->lid);
	triad_json_string(json, "port_state",
		end->condition ? triad_port_condition_name(end->condition) : NULL);
	triad_command_put_answered(json, &end->row);
	triad_json_double(json, "use_percent", end->use_percent);
	triad_json_double(json, "wait_percent", end->wait_percent);
	triad_json_bool(json, "wait_at_least",
		triad_engine_rate_is_least(&end->row, TRIAD_PORT_XMIT_WAIT));
	/* None in an old reading says nothing of now. */
	if (!end->n_errors && !triad_command_knows_errors(&end->row)) {
		triad_json_string(json, "errors", NULL);
		triad_json_object_end(json);
		return;
	}
	triad_json_object_begin(json, "errors");
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].is_error && end->row.has & 1u << i &&
			(end->row.total[i] || !is_brief))
			triad_json_uint(
				json, triad_counters[i].name, end->row.total[i]);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

static enum triad_port_condition condition_of(const struct shown *shown)
{
	return triad_port_condition_of_link(
		shown->ends[0].condition, shown->ends[1].condition);
}

static void put_link_json(
	struct triad_json *json, const struct shown *shown, bool is_brief)
{
	const struct triad_link *link = shown->has_history ? &shown->history : NULL;
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_array_begin(json, "ends");
	for (unsigned i = 0; i < 2; i++)
		put_end_json(json, &shown->ends[i], is_brief);
	triad_json_array_end(json);
	triad_json_string(json, "state", shown->state);
	triad_json_bool(json, "held", shown->is_held);
	triad_json_string(json, "port_state",
		condition_of(shown) ? triad_port_condition_name(condition_of(shown))
				    : NULL);
	triad_link_rate_format(shown->rate, text, sizeof(text));
	triad_json_string(json, "rate", text);
	triad_json_uint(json, "rate_bps", triad_link_rate_bps(shown->rate));
	triad_link_rate_format(shown->best, text, sizeof(text));
	triad_json_string(
		json, "best_rate", triad_link_rate_bps(shown->best) ? text : NULL);
	triad_json_bool(json, "slow", shown->slow && !shown->slow->is_note);
	triad_json_string(json, "slower_than",
		shown->slow ? triad_slow_link_kind_name(shown->slow->kind) : NULL);
	triad_json_bool(json, "limited", shown->slow && shown->slow->is_limited);
	triad_link_rate_format(
		shown->slow ? shown->slow->expected : shown->rate, text, sizeof(text));
	triad_json_string(json, "expected_rate", text);
	triad_json_double(json, "ratio", shown->slow ? shown->slow->ratio : 1);
	triad_json_uint(json, "downs", link ? triad_link_n_downs(link) : 0);
	triad_json_string(json, "last_down",
		triad_command_format_time(
			link ? triad_link_last_down_us(link) : 0, text));
	triad_json_string(json, "last_up",
		triad_command_format_time(link ? link->up_us : 0, text));
}

static void put_link_end(struct triad_list *list, const struct triad_fabric *fabric,
	const struct end *end, const char *title, const char *name)
{
	list->next = (struct triad_list_next){.name = name};
	triad_list_text(list, NULL, title, TRIAD_LIST_MEASURED,
		triad_port_label_of(fabric, end->guid, end->name, end->port).text);
}

static void put_percent(struct triad_list *list, const char *title, const char *name,
	double percent, bool at_least)
{
	char value[32];

	snprintf(value, sizeof(value), "%.3f", percent);
	list->next = (struct triad_list_next){
		.name = name, .value = isnan(percent) ? NULL : value};
	if (isnan(percent))
		triad_list_text(list, NULL, title, 5, "-");
	else
		triad_list_format(list, title, 5, "%s%.*f%%", at_least ? ">=" : "",
			percent < 10, percent);
}

static enum triad_table_color color_of(const struct shown *shown)
{
	if (shown->is_held)
		return TRIAD_TABLE_YELLOW;
	if (!shown->ends[0].is_present)
		return TRIAD_TABLE_RED;
	return shown->is_active ? TRIAD_TABLE_PLAIN : TRIAD_TABLE_YELLOW;
}

/* Of a link that is down, the condition of its ports says more. */
static const char *state_text(const struct shown *shown)
{
	enum triad_port_condition condition = condition_of(shown);

	if (shown->is_held)
		return shown->state;
	if (condition == TRIAD_CONDITION_DISABLED ||
		(!shown->ends[0].is_present && condition))
		return triad_port_condition_name(condition);
	return shown->state;
}

/* The longer wait of both ends, or at least that of one. */
static void put_wait(struct triad_list *list, const struct shown *shown)
{
	double wait = fmax(shown->ends[0].wait_percent, shown->ends[1].wait_percent);
	bool is_least = false;

	for (unsigned i = 0; i < 2; i++)
		is_least |= isnan(shown->ends[i].wait_percent) ||
			triad_engine_rate_is_least(
				&shown->ends[i].row, TRIAD_PORT_XMIT_WAIT);
	put_percent(list, "WAIT", "wait", is_least && wait == 0 ? NAN : wait, is_least);
}

/* Errors of one end are a number, too; none there says nothing of the other. */
static void put_errors(struct triad_list *list, const struct shown *shown)
{
	uint64_t n = shown->ends[0].n_errors + shown->ends[1].n_errors;
	bool is_known = n ||
		(triad_command_knows_errors(&shown->ends[0].row) &&
			triad_command_knows_errors(&shown->ends[1].row));

	list->next = (struct triad_list_next){
		.name = "errors", .color = n ? TRIAD_TABLE_YELLOW : TRIAD_TABLE_PLAIN};
	if (is_known)
		triad_list_uint(list, NULL, "ERRORS", 6, n);
	else
		triad_list_text(list, NULL, "ERRORS", 6, NULL);
}

static void put_link_row(struct triad_list *list, const struct triad_fabric *fabric,
	const struct shown *shown, bool is_brief)
{
	const struct triad_link *link = shown->has_history ? &shown->history : NULL;
	char rate[16], expected[16] = "", at[TRIAD_CLOCK_TEXT_SIZE] = "-";

	triad_link_rate_format(shown->rate, rate, sizeof(rate));
	if (shown->slow)
		triad_link_rate_format(
			shown->slow->expected, expected, sizeof(expected));
	if (link && triad_link_last_down_us(link))
		triad_clock_format_s(
			triad_clock_to_wall_us(triad_link_last_down_us(link)), at);
	triad_list_row(list);
	if (triad_list_json(list))
		put_link_json(triad_list_json(list), shown, is_brief);
	put_link_end(list, fabric, &shown->ends[0], "END", "end");
	put_link_end(list, fabric, &shown->ends[1], "FAR END", "far_end");
	list->next = (struct triad_list_next){
		.name = "state", .value = shown->state, .color = color_of(shown)};
	triad_list_text(list, NULL, "STATE", -11, state_text(shown));
	list->next = (struct triad_list_next){.name = "rate"};
	triad_list_text(list, NULL, "RATE", -7, rate);
	list->next = (struct triad_list_next){.name = "expected_rate",
		.is_spare = true,
		.color = shown->slow && !shown->slow->is_note ? TRIAD_TABLE_YELLOW
							      : TRIAD_TABLE_PLAIN};
	triad_list_text(list, NULL, "COULD", -7, expected);
	put_percent(list, "OUT", "out", shown->ends[0].use_percent, false);
	put_percent(list, "IN", "in", shown->ends[1].use_percent, false);
	put_wait(list, shown);
	put_errors(list, shown);
	list->next = (struct triad_list_next){.name = "downs"};
	triad_list_uint(list, NULL, "DOWNS", 5, link ? triad_link_n_downs(link) : 0);
	list->next = (struct triad_list_next){.name = "last_down", .is_spare = true};
	triad_list_text(list, NULL, "LAST DOWN", -20, at);
	triad_list_row_end(list);
}

static void put_link_rows(const struct list *list, struct triad_list *rows)
{
	struct shown shown;

	for (uint32_t i = 0; i < list->n_shown && !rows->report->output->failed; i++) {
		read_cable(list, &list->cables[i], &shown);
		put_link_row(rows, list->view->fabric, &shown, list->command->brief);
	}
}

static void put_cables(const struct list *list, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = list->command->json};
	struct triad_list rows = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};

	if (triad_list_is_measured(&report))
		put_link_rows(list, &rows);
	rows.phase = TRIAD_LIST_ROWS;
	triad_report_array(&report, NULL);
	put_link_rows(list, &rows);
	triad_report_array_end(&report);
	if (!list->command->json)
		triad_command_put_left_out(
			output, list->n - list->n_shown, list->n, "more");
}

/* Writes that no link matches: good news if the options choose bad links. */
static int put_none(const struct list *list, struct triad_output *output)
{
	if (list->choice.rule == TRIAD_NODE_RULE_NONE)
		return triad_command_no_port(
			"links", list->view->fabric, &list->choice, output);
	if (triad_command_lacks_port(
		    "links", list->view->fabric, &list->choice, output))
		return TRIAD_CONTROL_FAILED;
	if (!list->command->json)
		triad_output_printf(output, "no link is like that\n");
	return TRIAD_CONTROL_DONE;
}

static void put_unread(const struct list *list, struct triad_output *output)
{
	if (list->n_unread && !list->command->json)
		triad_output_printf(output,
			"errors of %" PRIu32 "%s link%s are not known: a port was not "
			"read\n",
			list->n_unread, list->n ? " more" : "",
			list->n_unread == 1 ? "" : "s");
}

int triad_command_run_links(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct list list = {.command = command};
	const char *trouble;
	int status = TRIAD_CONTROL_DONE;

	if (!triad_moment_open(&list.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	if (command->held && list.moment.past) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"links: --held is about now: 'damp --at' has what was held then\n");
		triad_moment_close(&list.moment);
		return TRIAD_CONTROL_FAILED;
	}
	if (!list.moment.past && service->owner->copy_held)
		list.n_held = (uint32_t)service->owner->copy_held(
			service->owner->context, list.held, TRIAD_MAX_HELD_LINKS);
	list.view = list.moment.view;
	if (!list.view)
		return triad_command_no_view(service, output);
	trouble = triad_moment_trouble(&list.moment);
	if (trouble)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"these links are as they were: %s\n", trouble);
	if (!triad_command_choose(
		    command, list.view->fabric, "links", &list.choice, output)) {
		triad_moment_close(&list.moment);
		return TRIAD_CONTROL_FAILED;
	}
	if (!find_cables(&list)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"links: not enough memory to list them; try again\n");
		status = TRIAD_CONTROL_FAILED;
	} else {
		/* An unknown name is an error, not an empty list. */
		if (list.n ||
			(command->json && list.choice.rule != TRIAD_NODE_RULE_NONE))
			put_cables(&list, output);
		if (!list.n)
			status = put_none(&list, output);
		put_unread(&list, output);
	}
	free(list.cables);
	free(list.gone);
	free(list.slow);
	free(list.slow_of);
	triad_moment_close(&list.moment);
	return status;
}
