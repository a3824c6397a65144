/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos tables': tables as the policy wants them, as the SM knows them, as the ports
 * answer. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/read_back.h"
#include "plugin/qos/tables/tables.h"
#include "qos/setup/kept_tables.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "triad/clock.h"

#define MAX_READ 20000 /* SMPs that one command may send */
#define PROGRESS_US TRIAD_US_PER_S

/* A port's table: as the policy wants it and the SM knows it ('known'), and as it
 * answers. */
struct row {
	uint32_t port;
	struct triad_port_table known;
	union triad_setup_value answer;
	int error; /* why there is no answer; 0: there is; -1: it was not asked for */
};

struct listing {
	const struct triad_command *command;
	struct triad_node_choice choice;
	struct triad_fabric *fabric;
	struct triad_desired desired;
	struct triad_read_back *items; /* NULL: ports are not asked, or only counted */
	size_t n_items, next_item;
	struct row row; /* not shown yet */
	bool has_row;
	uint64_t n_shown, n_different;
	uint64_t n_unlike, n_answered; /* of those that ports answered */
	uint64_t reported_us;
	struct triad_output *output;
	struct triad_report report;
	struct triad_list list;
};

/* --- which --- */

static bool is_chosen(const struct listing *listing, uint32_t port)
{
	return listing->desired.ports[port].is_looked_at &&
		triad_node_choice_has_port(&listing->choice, listing->fabric, port);
}

/* --- reading --- */

static void ask_for_block(struct listing *listing, uint32_t port,
	enum triad_audit_kind kind, unsigned block)
{
	if (listing->items)
		listing->items[listing->n_items] =
			(struct triad_read_back){port, kind, block, 0, 0, {0}};
	listing->n_items++;
}

/* Asks in the order in which rows are made: next_item() relies on it. */
static void ask_for_port(struct listing *listing, uint32_t port)
{
	unsigned n_in_ports = triad_port_tables_n_in_ports(&listing->desired, port);

	for (unsigned in = 0; in < n_in_ports; in++)
		ask_for_block(listing, port, TRIAD_AUDIT_SL2VL, in);
	for (unsigned high = 0; high < 2; high++) {
		unsigned n = triad_desired_n_vlarb(&listing->desired, port, high);

		for (unsigned first = 0; first < n; first += 32)
			ask_for_block(listing, port, TRIAD_AUDIT_VLARB,
				1 + 2 * high + first / 32);
	}
	if (triad_desired_has_high_limit(&listing->desired, port))
		ask_for_block(listing, port, TRIAD_AUDIT_PORT_INFO, 0);
}

static void ask_for_all(struct listing *listing)
{
	listing->n_items = 0;
	for (uint32_t i = 0; i < listing->fabric->n_ports; i++)
		if (is_chosen(listing, i))
			ask_for_port(listing, i);
}

/* Reports progress; returns false when OpenSM ends or the client has gone. */
static bool goes_on(void *context, size_t n_done)
{
	struct listing *listing = context;
	uint64_t now_us = triad_clock_now_us();

	if (now_us - listing->reported_us > PROGRESS_US) {
		listing->reported_us = now_us;
		triad_output_message(listing->output, TRIAD_FRAME_PROGRESS,
			"%zu of %zu tables read", n_done, listing->n_items);
	}
	return !osm_exit_flag && !listing->output->failed;
}

static void read_back(struct listing *listing, struct triad_plugin *plugin)
{
	const struct triad_read_back_owner owner = {goes_on, listing};
	int error;

	/* The first pass only counts, because 'items' is NULL; the second fills them
	 * in. */
	ask_for_all(listing);
	if (!listing->n_items)
		return;
	if (listing->n_items > MAX_READ) {
		triad_output_message(listing->output, TRIAD_FRAME_MESSAGE,
			"qos tables: the ports are not asked: that would take %zu SMPs, "
			"over %u; choose by --node and --port\n",
			listing->n_items, MAX_READ);
		return;
	}
	listing->items = calloc(listing->n_items, sizeof(*listing->items));
	if (!listing->items)
		return;
	ask_for_all(listing);
	error = triad_read_back(listing->fabric, cl_ntoh64(plugin->osm->subn.opt.m_key),
		listing->items, listing->n_items, &owner);
	if (!error)
		return;
	triad_output_message(listing->output, TRIAD_FRAME_MESSAGE,
		"qos tables: the ports can't be asked: %s\n", strerror(error));
	free(listing->items);
	listing->items = NULL;
}

/* The next answer, in the order in which it was asked for. */
static const struct triad_read_back *next_item(struct listing *listing)
{
	return &listing->items[listing->next_item++];
}

/* --- rows --- */

static const char *format_value(const struct row *row,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE])
{
	return triad_format_setup_value(row->known.table, row->known.n, value, text);
}

/* The port's answer, or the reason that it lacks one; NULL if the port was not
 * asked. */
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

static bool is_same_table(const struct row *row, const union triad_setup_value *a,
	const union triad_setup_value *b)
{
	return triad_port_table_is_same(row->known.table, row->known.n, a, b);
}

static bool agrees(const struct row *row)
{
	return is_same_table(row, &row->known.policy, &row->known.sm) &&
		(row->error < 0 ||
			(!row->error &&
				is_same_table(row, &row->known.policy, &row->answer)));
}

static void put_table_row(struct listing *listing, const struct row *row)
{
	struct triad_list *list = &listing->list;
	char policy[TRIAD_TABLE_TEXT_SIZE], sm[TRIAD_TABLE_TEXT_SIZE],
		answer[TRIAD_TABLE_TEXT_SIZE];
	const char *answered = format_answer(row, answer);

	format_value(row, &row->known.policy, policy);
	format_value(row, &row->known.sm, sm);
	triad_list_row(list);
	triad_setup_put_table(list, listing->fabric, row->port, row->known.table,
		row->known.in_first, row->known.in_last);
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

static void flush_row(struct listing *listing)
{
	if (!listing->has_row)
		return;
	listing->has_row = false;
	put_table_row(listing, &listing->row);
	listing->n_shown++;
	listing->n_different += !agrees(&listing->row);
	if (listing->row.error)
		return;
	listing->n_answered++;
	listing->n_unlike += !agrees(&listing->row);
}

/* Joins a row to the last one if they are SL2VL tables of one port with equal
 * content. */
static void add_or_join_row(struct listing *listing, const struct row *row)
{
	struct row *last = &listing->row;
	bool joins = listing->has_row && row->known.table == TRIAD_SETUP_SL2VL &&
		last->known.table == row->known.table && last->port == row->port &&
		last->error == row->error &&
		is_same_table(row, &last->known.policy, &row->known.policy) &&
		is_same_table(row, &last->known.sm, &row->known.sm) &&
		(row->error || is_same_table(row, &last->answer, &row->answer));

	if (joins) {
		last->known.in_last = row->known.in_last;
		return;
	}
	flush_row(listing);
	*last = *row;
	listing->has_row = true;
}

/* --- what ports answered --- */

static void take_vlarb_answer(struct listing *listing, struct row *row)
{
	for (unsigned first = 0; first < row->known.n; first += 32) {
		const struct triad_read_back *item = next_item(listing);

		/* If one block is not answered, the whole table is unknown. */
		if (item->error)
			row->error = item->error;
		/* VL and weight of 32 entries, two octets each [IBA 14.2.5.9]. */
		for (unsigned i = 0; i < 32 && first + i < row->known.n; i++)
			row->answer.vlarb[first + i] = (struct triad_vlarb_entry){
				item->data[2 * i] & 0xf, item->data[2 * i + 1]};
	}
}

static void take_table_answer(struct listing *listing, struct row *row)
{
	const struct triad_read_back *item;

	row->error = 0;
	if (row->known.table == TRIAD_SETUP_VLARB_LOW ||
		row->known.table == TRIAD_SETUP_VLARB_HIGH) {
		take_vlarb_answer(listing, row);
		return;
	}
	item = next_item(listing);
	row->error = item->error;
	if (row->known.table == TRIAD_SETUP_SL2VL)
		memcpy(row->answer.sl2vl.vl, item->data, sizeof(row->answer.sl2vl.vl));
	else
		row->answer.high_limit = item->data[38]; /* [IBA 14.2.5.6] */
}

static void add_table(
	void *context, uint32_t port, const struct triad_port_table *table)
{
	struct listing *listing = context;
	struct row row = {.port = port, .known = *table, .error = -1};

	if (listing->items)
		take_table_answer(listing, &row);
	add_or_join_row(listing, &row);
}

static void put_all(struct listing *listing)
{
	for (uint32_t i = 0; i < listing->fabric->n_ports; i++)
		if (is_chosen(listing, i))
			triad_port_tables_each(
				&listing->desired, i, add_table, listing);
	flush_row(listing);
}

/* --- the command --- */

/* Writes the totals, or fails when no row matched. */
static int end_rows(struct listing *listing)
{
	if (!listing->n_shown) {
		triad_output_message(listing->output, TRIAD_FRAME_MESSAGE,
			"qos tables: no port that is up and has tables is meant\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (listing->n_different && !listing->command->json)
		triad_output_printf(
			listing->output, "%" PRIu64 " differ\n", listing->n_different);
	return TRIAD_CONTROL_DONE;
}

static int show_tables(struct listing *listing, struct triad_plugin *plugin)
{
	const struct triad_node_choice *choice = &listing->choice;

	if (choice->rule != TRIAD_NODE_RULE_ALL && !choice->n)
		return triad_command_print_choice(
			"qos tables", choice, listing->fabric, listing->output);
	read_back(listing, plugin);
	triad_report_array(&listing->report, NULL);
	put_all(listing);
	triad_report_array_end(&listing->report);
	free(listing->items);
	/* Only answers of ports are news; the rest is what the SM knows already. */
	if (listing->n_answered)
		triad_tables_note_read_back(
			triad_qos_tables(plugin->qos), listing->n_unlike);
	return end_rows(listing);
}

static int show_present(struct listing *listing, struct triad_plugin *plugin)
{
	struct triad_setup *setup = triad_tables_setup(triad_qos_tables(plugin->qos));
	const struct triad_command *command = listing->command;
	struct triad_output *output = listing->output;
	int status = TRIAD_CONTROL_FAILED;
	bool has_tables, has_choice, has_desired;

	listing->fabric = triad_setup_find_fabric(plugin, "qos tables", output);
	has_tables = listing->fabric &&
		triad_setup_sm_has_qos(listing->fabric, "qos tables", output);
	has_choice = has_tables &&
		triad_command_choose(command, listing->fabric, "qos tables",
			&listing->choice, output);
	has_desired = has_choice &&
		!triad_desired_resolve(&listing->desired, setup, listing->fabric);
	if (has_desired) {
		status = show_tables(listing, plugin);
		triad_desired_clear(&listing->desired);
	} else if (has_choice) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos tables: not enough memory\n");
	}
	triad_fabric_unref(listing->fabric);
	triad_setup_unref(setup);
	return status;
}

/* --- of the past --- */

static bool wants_port(void *context, uint64_t guid, uint8_t number)
{
	const struct listing *listing = context;
	uint32_t port = triad_fabric_port_at(listing->fabric, guid, number);

	return port != TRIAD_FABRIC_NONE &&
		triad_node_choice_has_port(&listing->choice, listing->fabric, port);
}

/* The history has no answers of ports, so 'error' is -1. */
static void put_table(void *context, uint64_t guid, uint8_t number,
	const struct triad_port_table *table)
{
	struct listing *listing = context;
	const struct row row = {
		.port = triad_fabric_port_at(listing->fabric, guid, number),
		.known = *table,
		.error = -1};

	flush_row(listing);
	listing->row = row;
	listing->has_row = true;
}

static int show_list(struct listing *listing, const struct triad_kept_list *list)
{
	const struct triad_kept_tables_reader reader = {
		.context = listing, .wants = wants_port, .take = put_table};
	int error;

	triad_report_array(&listing->report, NULL);
	error = triad_kept_tables_read(list, &reader);
	flush_row(listing);
	triad_report_array_end(&listing->report);
	return error ? triad_moment_refuse_row(listing->command, listing->output)
		     : end_rows(listing);
}

static int show_past(struct listing *listing, struct triad_plugin *plugin)
{
	struct triad_moment moment;
	const struct triad_kept_list *list = triad_moment_open_list(&moment,
		&plugin->service, listing->command, TRIAD_KEPT_TABLES, listing->output);
	int status = TRIAD_CONTROL_FAILED;

	listing->fabric = list ? moment.view->fabric : NULL;
	if (list &&
		triad_command_choose_there(listing->command, listing->fabric,
			"qos tables", &listing->choice, listing->output))
		status = show_list(listing, list);
	triad_moment_close(&moment);
	return status;
}

int triad_command_run_qos_tables(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct listing listing = {.command = command,
		.output = output,
		.report = {.output = output, .as_json = command->json},
		.list = {.report = &listing.report}};

	return command->at[0] ? show_past(&listing, plugin)
			      : show_present(&listing, plugin);
}

/* --- kept --- */

/* A hash of the list's inputs: the list is filled again only when it changes. */
static uint64_t stamp_of(struct triad_plugin *plugin, const struct triad_fabric *fabric,
	const struct triad_setup *setup)
{
	struct triad_tables_status status = triad_qos_tables_status(plugin->qos);
	uint64_t stamp = triad_hash_word(TRIAD_HASH_START, fabric->generation);

	/* A new setup may have an old one's address, but not its number of passes. */
	stamp = triad_hash_word(stamp, (uintptr_t)setup);
	return triad_hash_word(stamp, status.n_passes) | 1;
}

/* Returns false on an error: then the next call fills the list again. */
static bool fill_kept_list(struct triad_kept_list *list, struct triad_setup *setup,
	const struct triad_fabric *fabric)
{
	struct triad_desired desired;
	int error = triad_desired_resolve(&desired, setup, fabric);

	if (!error) {
		error = triad_kept_tables_fill(list, &desired);
		triad_desired_clear(&desired);
	}
	if (error)
		triad_kept_list_refuse(list, "not enough memory");
	return !error;
}

void triad_command_keep_qos_tables(
	struct triad_plugin *plugin, struct triad_kept_list *list)
{
	struct triad_setup *setup = triad_tables_setup(triad_qos_tables(plugin->qos));
	struct triad_fabric *fabric = triad_qos_fabric(plugin->qos);
	bool has_tables = fabric && fabric->sa.qos;
	uint64_t stamp = has_tables ? stamp_of(plugin, fabric, setup) : 0;

	if (!has_tables)
		triad_kept_list_refuse(
			list, fabric ? TRIAD_SETUP_NO_QOS : TRIAD_SETUP_NO_FABRIC);
	else if (stamp != list->stamp && !fill_kept_list(list, setup, fabric))
		stamp = 0;
	list->stamp = stamp;
	triad_fabric_unref(fabric);
	triad_setup_unref(setup);
}
