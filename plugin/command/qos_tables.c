/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos tables': tables as the policy wants them, as the SM knows them, as the ports
 * answer. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/read_back.h"
#include "plugin/qos/tables/tables.h"
#include "qos/setup/desired.h"
#include "service/command/ports.h"
#include "triad/clock.h"

#define MAX_READ 20000 /* SMPs of one command */
#define PROGRESS_US TRIAD_US_PER_S

/* One table, or SL2VL tables of in-ports in a row that are alike, in all three
 * forms. */
struct row {
	uint32_t port;
	enum triad_setup_table table;
	uint8_t in_first, in_last;
	unsigned n; /* entries of an arbitration table */
	union triad_setup_value policy, sm, answer;
	int error; /* why there is no answer; 0: there is; -1: it was not asked for */
};

struct telling {
	const struct triad_command *command;
	struct triad_node_choice choice;
	struct triad_fabric *fabric;
	struct triad_desired desired;
	struct triad_read_back *items; /* NULL: nothing is read */
	size_t n_items, next_item;
	struct row row; /* not shown yet */
	bool has_row;
	uint64_t n_shown, n_different;
	uint64_t n_unlike, n_answered; /* of those that ports answered */
	uint64_t told_us;
	struct triad_output *output;
	struct triad_report report;
	struct triad_list list;
};

/* --- which --- */

static bool is_chosen(const struct telling *telling, uint32_t port)
{
	return telling->desired.ports[port].is_looked_at &&
		triad_node_choice_has_port(&telling->choice, telling->fabric, port);
}

/* In-ports of the SL2VL tables of 'port'; 0: it has none. */
static unsigned n_in_ports(const struct telling *telling, uint32_t port)
{
	const struct triad_fabric_port *at = &telling->fabric->ports[port];

	if (telling->desired.ports[port].first_row == TRIAD_FABRIC_NONE)
		return 0;
	return telling->fabric->nodes[at->node].type == TRIAD_NODE_SWITCH
		? telling->desired.nodes[at->node].n_numbers
		: 1;
}

/* --- reading --- */

static void ask(struct telling *telling, uint32_t port, enum triad_smp_kind kind,
	unsigned block)
{
	if (telling->items)
		telling->items[telling->n_items] =
			(struct triad_read_back){port, kind, (uint8_t)block, 0, 0, {0}};
	telling->n_items++;
}

/* In the order in which rows are made. */
static void ask_for_port(struct telling *telling, uint32_t port)
{
	for (unsigned in = 0; in < n_in_ports(telling, port); in++)
		ask(telling, port, TRIAD_SMP_SL2VL, in);
	for (unsigned high = 0; high < 2; high++) {
		unsigned n = triad_desired_n_vlarb(&telling->desired, port, high);

		for (unsigned first = 0; first < n; first += 32)
			ask(telling, port, TRIAD_SMP_VLARB, 1 + 2 * high + first / 32);
	}
	if (triad_desired_has_high_limit(&telling->desired, port))
		ask(telling, port, TRIAD_SMP_PORT_INFO, 0);
}

static void ask_for_all(struct telling *telling)
{
	telling->n_items = 0;
	for (uint32_t i = 0; i < telling->fabric->n_ports; i++)
		if (is_chosen(telling, i))
			ask_for_port(telling, i);
}

/* Ends when OpenSM ends, or when the client has gone. */
static bool goes_on(void *context, size_t n_done)
{
	struct telling *telling = context;
	uint64_t now_us = triad_clock_now_us();

	if (now_us - telling->told_us > PROGRESS_US) {
		telling->told_us = now_us;
		triad_output_message(telling->output, TRIAD_FRAME_PROGRESS,
			"%zu of %zu tables read", n_done, telling->n_items);
	}
	return !osm_exit_flag && !telling->output->failed;
}

static void read_back(struct telling *telling, struct triad_plugin *plugin)
{
	const struct triad_read_back_owner owner = {goes_on, telling};
	int error;

	/* First they are only counted, as there are no items yet; then filled in. */
	ask_for_all(telling);
	if (!telling->n_items)
		return;
	if (telling->n_items > MAX_READ) {
		triad_output_message(telling->output, TRIAD_FRAME_MESSAGE,
			"qos tables: the ports are not asked: that would take %zu SMPs, "
			"over %u; choose by --node and --port\n",
			telling->n_items, MAX_READ);
		return;
	}
	telling->items = calloc(telling->n_items, sizeof(*telling->items));
	if (!telling->items)
		return;
	ask_for_all(telling);
	error = triad_read_back(telling->fabric, cl_ntoh64(plugin->osm->subn.opt.m_key),
		telling->items, telling->n_items, &owner);
	if (!error)
		return;
	triad_output_message(telling->output, TRIAD_FRAME_MESSAGE,
		"qos tables: the ports can't be asked: %s\n", strerror(error));
	free(telling->items);
	telling->items = NULL;
}

/* The next answer, in the order in which it was asked for; NULL: nothing was. */
static const struct triad_read_back *next_item(struct telling *telling)
{
	return telling->items ? &telling->items[telling->next_item++] : NULL;
}

/* --- rows --- */

static const char *format_value(const struct row *row,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE])
{
	return triad_format_setup_value(row->table, row->n, value, text);
}

/* What the port said, or why it did not: NULL when it was not asked. */
static const char *format_answer(
	const struct row *row, char text[TRIAD_TABLE_TEXT_SIZE])
{
	if (row->error < 0)
		return NULL;
	if (!row->error)
		return format_value(row, &row->answer, text);
	snprintf(text, TRIAD_TABLE_TEXT_SIZE, "no answer: %s", strerror(row->error));
	return text;
}

static bool is_same(const struct row *row, const union triad_setup_value *a,
	const union triad_setup_value *b)
{
	switch (row->table) {
	case TRIAD_SETUP_SL2VL:
		return !memcmp(&a->sl2vl, &b->sl2vl, sizeof(a->sl2vl));
	case TRIAD_SETUP_HIGH_LIMIT:
		return a->high_limit == b->high_limit;
	default:
		return !memcmp(a->vlarb, b->vlarb, row->n * sizeof(a->vlarb[0]));
	}
}

static bool agrees(const struct row *row)
{
	return is_same(row, &row->policy, &row->sm) &&
		(row->error < 0 ||
			(!row->error && is_same(row, &row->policy, &row->answer)));
}

static void put_row(struct telling *telling, const struct row *row)
{
	struct triad_list *list = &telling->list;
	char policy[TRIAD_TABLE_TEXT_SIZE], sm[TRIAD_TABLE_TEXT_SIZE],
		answer[TRIAD_TABLE_TEXT_SIZE];
	const char *answered = format_answer(row, answer);

	format_value(row, &row->policy, policy);
	format_value(row, &row->sm, sm);
	triad_list_row(list);
	triad_setup_put_table(list, telling->fabric, row->port, row->table,
		row->in_first, row->in_last);
	triad_list_text(list, "policy", "contents", 0, policy);
	triad_list_text(list, "sm", NULL, 0, sm);
	triad_list_text(list, "port_answers", NULL, 0, answered);
	triad_list_bool(list, "agrees", NULL, 0, agrees(row));
	if (!agrees(row)) {
		triad_list_note(list, "    differs: policy %s", policy);
		triad_list_note(list, "             SM     %s", sm);
		triad_list_note(list, "             port   %s",
			answered ? answered : "(not asked)");
	}
	triad_list_row_end(list);
}

static void flush(struct telling *telling)
{
	if (!telling->has_row)
		return;
	telling->has_row = false;
	put_row(telling, &telling->row);
	telling->n_shown++;
	telling->n_different += !agrees(&telling->row);
	if (telling->row.error)
		return;
	telling->n_answered++;
	telling->n_unlike += !agrees(&telling->row);
}

/* A row that goes on where the last one ended becomes part of it. */
static void add(struct telling *telling, const struct row *row)
{
	struct row *last = &telling->row;
	bool joins = telling->has_row && row->table == TRIAD_SETUP_SL2VL &&
		last->table == row->table && last->port == row->port &&
		last->error == row->error &&
		is_same(row, &last->policy, &row->policy) &&
		is_same(row, &last->sm, &row->sm) &&
		(row->error || is_same(row, &last->answer, &row->answer));

	if (joins) {
		last->in_last = row->in_last;
		return;
	}
	flush(telling);
	*last = *row;
	telling->has_row = true;
}

/* --- tables of one port --- */

static void add_sl2vl(struct telling *telling, uint32_t port)
{
	const struct triad_fabric_port *at = &telling->fabric->ports[port];

	for (unsigned in = 0; in < n_in_ports(telling, port); in++) {
		const struct triad_read_back *item = next_item(telling);
		struct row row = {.port = port,
			.table = TRIAD_SETUP_SL2VL,
			.in_first = (uint8_t)in,
			.in_last = (uint8_t)in,
			.error = item ? item->error : -1};

		row.policy.sl2vl = *triad_desired_sl2vl(&telling->desired, port,
			triad_desired_row_at(&telling->desired, port, in));
		if (in < at->sl2vl.n)
			row.sm.sl2vl = telling->fabric->sl2vl[at->sl2vl.at + in];
		if (item)
			memcpy(row.answer.sl2vl.vl, item->data,
				sizeof(row.answer.sl2vl.vl));
		add(telling, &row);
	}
}

static void add_vlarb(struct telling *telling, uint32_t port, bool high)
{
	const struct triad_fabric_port *at = &telling->fabric->ports[port];
	size_t known = at->vlarb.at + (high ? at->vlarb_low_cap : 0);
	struct row row = {.port = port,
		.table = high ? TRIAD_SETUP_VLARB_HIGH : TRIAD_SETUP_VLARB_LOW,
		.n = triad_desired_n_vlarb(&telling->desired, port, high),
		.error = telling->items ? 0 : -1};

	if (!row.n)
		return;
	(void)triad_desired_vlarb(
		&telling->desired, port, high, row.policy.vlarb, row.n);
	if (at->vlarb.n)
		memcpy(row.sm.vlarb, &telling->fabric->vlarb[known],
			row.n * sizeof(row.sm.vlarb[0]));
	for (unsigned first = 0; first < row.n; first += 32) {
		const struct triad_read_back *item = next_item(telling);

		if (!item)
			continue;
		/* A block that was not answered leaves the whole table unknown. */
		if (item->error)
			row.error = item->error;
		/* VL and weight of 32 entries, two octets each [IBA 14.2.5.9]. */
		for (unsigned i = 0; i < 32 && first + i < row.n; i++)
			row.answer.vlarb[first + i] = (struct triad_vlarb_entry){
				item->data[2 * i] & 0xf, item->data[2 * i + 1]};
	}
	add(telling, &row);
}

static void add_high_limit(struct telling *telling, uint32_t port)
{
	const struct triad_read_back *item;
	struct row row = {.port = port, .table = TRIAD_SETUP_HIGH_LIMIT, .error = -1};

	if (!triad_desired_has_high_limit(&telling->desired, port))
		return;
	item = next_item(telling);
	(void)triad_desired_high_limit(&telling->desired, port, &row.policy.high_limit);
	row.sm.high_limit = telling->fabric->ports[port].high_limit;
	if (item) {
		row.error = item->error;
		row.answer.high_limit = item->data[38]; /* [IBA 14.2.5.6] */
	}
	add(telling, &row);
}

static void put_all(struct telling *telling)
{
	for (uint32_t i = 0; i < telling->fabric->n_ports; i++) {
		if (!is_chosen(telling, i))
			continue;
		add_sl2vl(telling, i);
		add_vlarb(telling, i, false);
		add_vlarb(telling, i, true);
		add_high_limit(telling, i);
	}
	flush(telling);
}

/* --- the command --- */

static int show(struct telling *telling, struct triad_plugin *plugin)
{
	const struct triad_node_choice *choice = &telling->choice;

	if (choice->rule != TRIAD_NODE_RULE_ALL && !choice->n)
		return triad_command_print_choice(
			"qos tables", choice, telling->fabric, telling->output);
	read_back(telling, plugin);
	triad_report_array(&telling->report, NULL);
	put_all(telling);
	triad_report_array_end(&telling->report);
	free(telling->items);
	if (!telling->n_shown) {
		triad_output_message(telling->output, TRIAD_FRAME_MESSAGE,
			"qos tables: no port that is up and has tables is meant\n");
		return TRIAD_CONTROL_FAILED;
	}
	/* Only if ports were asked: a look at what the SM knows says nothing new. */
	if (telling->n_answered)
		triad_tables_note_read_back(
			triad_qos_tables(plugin->qos), telling->n_unlike);
	if (telling->n_different && !telling->command->json)
		triad_output_printf(
			telling->output, "%" PRIu64 " differ\n", telling->n_different);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_qos_tables(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_setup *setup = triad_tables_setup(triad_qos_tables(plugin->qos));
	struct telling telling = {.command = command,
		.output = output,
		.report = {.output = output, .as_json = command->json},
		.list = {.report = &telling.report}};
	int status = TRIAD_CONTROL_FAILED;
	bool has_tables, is_chosen_well, has_desired;

	telling.fabric = triad_setup_find_fabric(plugin, "qos tables", output);
	has_tables = telling.fabric &&
		triad_setup_sm_has_qos(telling.fabric, "qos tables", output);
	is_chosen_well = has_tables &&
		triad_command_choose(
			command, telling.fabric, "qos tables", &telling.choice, output);
	has_desired = is_chosen_well &&
		!triad_desired_resolve(&telling.desired, setup, telling.fabric);
	if (has_desired) {
		status = show(&telling, plugin);
		triad_desired_clear(&telling.desired);
	} else if (is_chosen_well) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos tables: not enough memory\n");
	}
	triad_fabric_unref(telling.fabric);
	triad_setup_unref(setup);
	return status;
}
