/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/aggregator.h"

#include <stdlib.h>
#include <string.h>

#include "collect/aggregator_agents.h"
#include "collect/detail_message.h"
#include "lib/grow.h"
#include "lib/hash.h"
#include "triad/clock.h"

#define FIRST_ROWS 1024u
#define NO_OFFSETS 0u
/* How inexact the time is at which an agent read a row: its first message, and the
 * port's answer, may have been under way for long. */
#define REVALIDATE_US (2 * TRIAD_US_PER_S)

/* The source of a row's totals, and the offsets that are added to them. */
struct origin {
	uint32_t reader; /* hash of agent and port; 0: none yet, or read here */
	/* Hash of the reader and of the time at which it set the port's totals to 0. */
	uint32_t reporter;
	uint32_t offsets; /* index, from 1 on; NO_OFFSETS: all are 0 */
	/* Bit i: the reporter reported counter i: its offset is final. */
	uint32_t settled;
	uint32_t known; /* bit i: some agent reported it: the engine has its total */
};

struct offsets {
	uint64_t of[TRIAD_N_COUNTERS];
};

struct triad_aggregator {
	struct triad_engine *engine;
	struct triad_aggregator_sink sink;
	struct triad_view *view;
	bool *unseen; /* for each node of the view; NULL: memory was short */
	struct origin *origins;
	size_t n_origins;
	struct offsets *offsets;
	uint32_t n_offsets;
	size_t offsets_room;
	struct aggregator_agents agents;
	uint64_t n_implausible; /* rows that may be old: is_stale() */
	struct triad_aggregator_status status;
};

struct triad_aggregator *triad_aggregator_new(
	struct triad_engine *engine, const struct triad_aggregator_sink *sink)
{
	struct triad_aggregator *aggregator = calloc(1, sizeof(*aggregator));

	if (!aggregator)
		return NULL;
	aggregator->engine = engine;
	aggregator->sink = *sink;
	return aggregator;
}

void triad_aggregator_free(struct triad_aggregator *aggregator)
{
	if (!aggregator)
		return;
	triad_view_unref(aggregator->view);
	free(aggregator->unseen);
	free(aggregator->origins);
	free(aggregator->offsets);
	free(aggregator);
}

void triad_aggregator_adopt(
	struct triad_aggregator *aggregator, struct triad_view *view)
{
	bool *unseen = calloc(view->fabric->n_nodes + 1, sizeof(*unseen));

	/* Nodes that stay in the fabric keep their mark. */
	for (uint32_t i = 0; unseen && aggregator->unseen && i < view->fabric->n_nodes;
		i++) {
		uint32_t old = triad_fabric_find_node(
			aggregator->view->fabric, view->fabric->nodes[i].guid);

		unseen[i] = old != TRIAD_FABRIC_NONE && aggregator->unseen[old];
	}
	free(aggregator->unseen);
	aggregator->unseen = unseen;
	triad_view_unref(aggregator->view);
	aggregator->view = triad_view_ref(view);
}

/* --- rows --- */

static struct origin *need_origin(struct triad_aggregator *aggregator, uint32_t row)
{
	size_t n = aggregator->n_origins;

	if (row < n)
		return &aggregator->origins[row];
	if (row >= TRIAD_ENGINE_MAX_ROWS ||
		triad_grow(&aggregator->origins, &aggregator->n_origins, row + 1,
			sizeof(*aggregator->origins), FIRST_ROWS))
		return NULL;
	memset(aggregator->origins + n, 0,
		(aggregator->n_origins - n) * sizeof(*aggregator->origins));
	return &aggregator->origins[row];
}

/* The row's offsets; makes them if it has none.  NULL when memory is short. */
static struct offsets *need_offsets(
	struct triad_aggregator *aggregator, struct origin *origin)
{
	struct offsets *offsets;

	if (origin->offsets)
		return &aggregator->offsets[origin->offsets - 1];
	if (triad_grow(&aggregator->offsets, &aggregator->offsets_room,
		    aggregator->n_offsets + 1, sizeof(*offsets), 256))
		return NULL;
	origin->offsets = ++aggregator->n_offsets;
	offsets = &aggregator->offsets[origin->offsets - 1];
	memset(offsets, 0, sizeof(*offsets));
	return offsets;
}

/* Computes the reader of the row's port, and the reporter: the source of its totals. */
static void find_reporter(const struct triad_collect_head *head, uint64_t node_guid,
	uint8_t port, uint32_t zeroed_s, uint32_t *reader, uint32_t *reporter)
{
	uint64_t sum =
		triad_hash_word(triad_hash_word(0, head->sender), head->incarnation);

	sum = triad_hash_word(triad_hash_word(sum, node_guid), port);
	*reader = (uint32_t)(sum >> 32) | 1;
	*reporter = (uint32_t)(triad_hash_word(sum, zeroed_s) >> 32) | 1;
}

/* Returns the total that follows from the hardware value in the new reporter's first
 * row. */
static uint64_t continue_total(const struct triad_engine_report *before,
	const struct triad_collect_row *row, unsigned counter)
{
	uint64_t raw = row->raw[counter], last = before->raw[counter];

	/* In another attribute it begins elsewhere. */
	if (counter < TRIAD_FIRST_WIDE_COUNTER &&
		row->has_wide_errors != before->has_wide_errors)
		raw = last;
	return before->base[counter] + last + (raw >= last ? raw - last : raw);
}

/* Sets the offsets of counters that the reporter reports for the first time, so that
 * totals continue.  Returns false when memory is short. */
static bool settle_offsets(struct triad_aggregator *aggregator, struct origin *origin,
	const struct triad_engine_report *before, const struct triad_collect_row *row)
{
	uint32_t fresh = row->has & ~origin->settled;
	uint32_t goes_on = fresh & origin->known;
	bool differs = origin->offsets != NO_OFFSETS;
	struct offsets *offsets = NULL;

	for (uint32_t left = goes_on; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		differs |= continue_total(before, row, i) != row->base[i] + row->raw[i];
	}
	/* Most rows need no offsets: totals of one agent continue by themselves. */
	if (fresh && differs)
		offsets = need_offsets(aggregator, origin);
	if (fresh && differs && !offsets)
		return false;
	for (uint32_t left = offsets ? fresh : 0; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		offsets->of[i] = goes_on & 1u << i
			? continue_total(before, row, i) - (row->base[i] + row->raw[i])
			: 0;
	}
	origin->settled |= row->has;
	origin->known |= row->has;
	return true;
}

static bool is_possible(const struct triad_collect_row *row)
{
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		if (row->raw[i] > triad_counter_max(i))
			return false;
	return true;
}

static uint64_t when_read(const struct aggregator_agent *agent,
	const struct triad_collect_data *data, const struct triad_collect_row *row,
	uint64_t now_us)
{
	uint64_t sent_us = data->clock_us + agent->clock_offset_us;
	uint64_t age_us = row->age_ms * TRIAD_US_PER_MS;
	/* At least 1, as 0 means never. */
	uint64_t read_us = sent_us > age_us ? sent_us - age_us : 1;

	/* Clocks are compared roughly; limit the result to now. */
	return read_us < now_us ? read_us : now_us;
}

static bool went_back(
	const struct triad_engine_report *before, const struct triad_collect_row *row)
{
	for (uint32_t left = row->has & before->has; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		if (row->raw[i] < before->raw[i])
			return true;
	}
	return false;
}

/* Whether a new reporter's first row is older than what is there.  If another reader
 * reports a lower counter within two seconds, this is more likely an older reading than
 * a reset.  So the row is requested again: a reset would still be visible then. */
static bool is_stale(struct triad_aggregator *aggregator,
	const struct triad_engine_report *before, const struct triad_collect_row *row,
	uint64_t read_us, bool is_other_reader)
{
	if (read_us < before->read_us)
		return true;
	if (!is_other_reader || read_us >= before->read_us + REVALIDATE_US ||
		!went_back(before, row))
		return false;
	aggregator->n_implausible++;
	return true;
}

/* The growth of a total; 0 when it was unknown before. */
static uint64_t growth(const struct triad_engine_report *before,
	const struct triad_engine_report *now, unsigned counter)
{
	if (!(before->has & now->has & 1u << counter))
		return 0;
	return now->base[counter] + now->raw[counter] - before->base[counter] -
		before->raw[counter];
}

/* Takes a row of the port (index in the view's fabric). */
static void apply_row(struct triad_aggregator *aggregator,
	const struct triad_collect_head *head, const struct triad_collect_row *row,
	uint32_t port, uint64_t read_us)
{
	uint32_t at = aggregator->view->rows[port];
	struct origin *origin = need_origin(aggregator, at);
	uint32_t reader, reporter;
	struct triad_engine_report report = {
		.read_us = read_us,
		.has = row->has,
		.answered = row->answered,
		.has_wide_errors = row->has_wide_errors,
		.n_others_resets = row->n_others_resets,
		.n_own_resets = row->n_own_resets,
	};
	struct triad_engine_report before;

	/* A port that never answered this agent has findings but no counters.  Keep the
	 * counters that another agent read before. */
	if (!row->has) {
		triad_engine_mark(aggregator->engine, at, row->answered);
		aggregator->sink.row(aggregator->sink.context, port, row->findings, 0);
		return;
	}
	if (!origin || !triad_engine_describe(aggregator->engine, at, &before))
		return;
	find_reporter(
		head, row->node_guid, row->port, row->zeroed_s, &reader, &reporter);
	/* Rows of one reporter come in order; only a row of another one can be
	 * older. */
	if (origin->reporter != reporter &&
		is_stale(aggregator, &before, row, read_us, origin->reader != reader)) {
		aggregator->status.n_stale++;
		return;
	}
	if (origin->reporter != reporter) {
		/* A new agent reports the port, or another port has the row now. */
		aggregator->status.n_handed_over += before.has != 0;
		origin->known = before.read_us ? origin->known | before.has : 0;
		origin->settled = 0;
		origin->reader = reader;
		origin->reporter = reporter;
	}
	/* If memory is short, drop the row: without offsets its totals would jump. */
	if (!settle_offsets(aggregator, origin, &before, row))
		return;
	memcpy(report.raw, row->raw, sizeof(report.raw));
	memcpy(report.base, row->base, sizeof(report.base));
	for (unsigned i = 0; origin->offsets && i < TRIAD_N_COUNTERS; i++)
		report.base[i] += aggregator->offsets[origin->offsets - 1].of[i];
	triad_engine_take(aggregator->engine, at, &report);
	aggregator->status.n_rows++;
	aggregator->sink.row(aggregator->sink.context, port, row->findings,
		growth(&before, &report, TRIAD_LINK_DOWNED_COUNTER));
}

/* The node of the last row, kept because rows of a node come in a row. */
struct place {
	uint64_t node_guid;
	uint32_t node; /* index, or TRIAD_FABRIC_NONE */
	bool is_owner; /* the sender owns it, or no known agent does */
};

static void find_node_index(const struct triad_aggregator *aggregator, uint64_t sender,
	uint64_t node_guid, struct place *place)
{
	uint64_t owner;

	if (place->node_guid == node_guid)
		return;
	place->node_guid = node_guid;
	place->node = triad_fabric_find_node(aggregator->view->fabric, node_guid);
	if (place->node == TRIAD_FABRIC_NONE)
		return;
	owner = aggregator->sink.owner(aggregator->sink.context, place->node);
	place->is_owner = owner == sender || owner == TRIAD_CLAIMS_NO_AGENT;
}

static void look_at_row(struct triad_aggregator *aggregator,
	const struct triad_collect_head *head, struct aggregator_agent *agent,
	const struct triad_collect_data *data, const struct triad_collect_row *row,
	struct place *place, uint64_t now_us)
{
	uint32_t port;

	find_node_index(aggregator, head->sender, row->node_guid, place);
	port = triad_fabric_find_port(aggregator->view->fabric, place->node, row->port);
	/* The agent may have another fabric than this manager. */
	if (port == TRIAD_FABRIC_NONE || !is_possible(row)) {
		aggregator->status.n_unknown++;
		agent->reported.n_unknown++;
	} else if (!place->is_owner) {
		aggregator->status.n_not_owner++;
	} else {
		apply_row(aggregator, head, row, port,
			when_read(agent, data, row, now_us));
	}
}

static void apply_rows(struct triad_aggregator *aggregator,
	const struct triad_collect_head *head, struct aggregator_agent *agent,
	const struct triad_collect_data *data, struct triad_collect_data_reader *reader,
	uint64_t now_us)
{
	struct place place = {.node_guid = 0, .node = TRIAD_FABRIC_NONE};
	struct triad_collect_row row;
	enum triad_collect_next next;

	while ((next = triad_collect_data_next(reader, &row)) == TRIAD_COLLECT_ROW)
		look_at_row(aggregator, head, agent, data, &row, &place, now_us);
	aggregator->status.n_broken += next == TRIAD_COLLECT_BROKEN;
}

void triad_aggregator_receive(struct triad_aggregator *aggregator, uint8_t *octets,
	size_t size, uint64_t sweep_us, uint64_t now_us)
{
	struct triad_aggregator_status *status = &aggregator->status;
	struct triad_collect_data_reader reader;
	struct triad_collect_head head;
	struct triad_collect_data data;
	struct triad_wire body;
	struct aggregator_agent *agent;
	uint32_t missing_from;
	uint64_t n_not_owner = status->n_not_owner,
		 n_implausible = aggregator->n_implausible;

	if (!aggregator->view)
		return;
	status->n_messages++;
	status->n_octets += size;
	if (triad_collect_get_head(octets, size, &head, &body) ||
		!triad_collect_data_open(&reader, &body, &data)) {
		status->n_broken++;
		return;
	}
	agent = aggregator_agents_need(&aggregator->agents, &head, now_us);
	if (agent)
		aggregator_agent_note_octets(agent, size, sweep_us, now_us);
	if (!agent || data.number <= agent->newest) {
		status->n_old++;
		return;
	}
	status->n_missing += aggregator_agent_receive(agent, &data, now_us);
	missing_from = aggregator_agent_ask(agent, now_us);
	if (missing_from)
		aggregator->sink.ask_again(
			aggregator->sink.context, agent->reported.id, missing_from);
	apply_rows(aggregator, &head, agent, &data, &reader, now_us);
	/* The sender believes that it owns nodes that belong to another agent here: one
	 * side has not received a change yet.  If the sender is right, its rows were
	 * dropped wrongly: request this message again. */
	if (status->n_not_owner != n_not_owner ||
		aggregator->n_implausible != n_implausible)
		aggregator_agent_note_missing(agent, data.number, data.number);
}

/* --- details --- */

static void look_at_details(struct triad_aggregator *aggregator,
	const struct triad_collect_head *head, struct triad_detail_entry *entry,
	struct place *place, uint64_t now_us)
{
	struct triad_aggregator_status *status = &aggregator->status;
	uint64_t age_us = entry->age_ms < now_us / TRIAD_US_PER_MS
		? entry->age_ms * TRIAD_US_PER_MS
		: now_us;
	uint32_t port, reader, reporter;
	struct triad_details_port of;

	find_node_index(aggregator, head->sender, entry->node_guid, place);
	port = triad_fabric_find_port(
		aggregator->view->fabric, place->node, entry->port);
	if (port == TRIAD_FABRIC_NONE) {
		status->n_unknown++;
		return;
	}
	if (!place->is_owner) {
		status->n_not_owner++;
		return;
	}
	find_reporter(head, entry->node_guid, entry->port, entry->zeroed_s, &reader,
		&reporter);
	of = triad_view_details_port(aggregator->view, port);
	entry->report.read_us = now_us - age_us;
	if (triad_details_take(triad_engine_details(aggregator->engine), &of,
		    entry->attribute, &entry->report, reporter))
		status->n_details++;
	else
		status->n_stale++;
}

void triad_aggregator_receive_details(struct triad_aggregator *aggregator,
	uint8_t *octets, size_t size, uint64_t sweep_us, uint64_t now_us)
{
	struct triad_aggregator_status *status = &aggregator->status;
	struct place place = {.node_guid = 0, .node = TRIAD_FABRIC_NONE};
	struct triad_detail_reader reader;
	struct triad_collect_head head;
	struct triad_wire body;
	struct aggregator_agent *agent;
	enum triad_detail_next next;

	if (!aggregator->view)
		return;
	status->n_messages++;
	status->n_octets += size;
	if (triad_collect_get_head(octets, size, &head, &body)) {
		status->n_broken++;
		return;
	}
	agent = aggregator_agents_need(&aggregator->agents, &head, now_us);
	if (!agent) {
		status->n_old++;
		return;
	}
	aggregator_agent_note_octets(agent, size, sweep_us, now_us);
	triad_detail_reader_begin(&reader, &body);
	while ((next = triad_detail_reader_next(&reader)) == TRIAD_DETAIL_ENTRY)
		look_at_details(aggregator, &head, &reader.entry, &place, now_us);
	status->n_broken += next == TRIAD_DETAIL_BROKEN;
}

void triad_aggregator_clear_totals(
	struct triad_aggregator *aggregator, uint32_t row, uint64_t now_us)
{
	struct origin *origin = need_origin(aggregator, row);
	struct triad_engine_report before;
	struct offsets *offsets;

	if (!origin || !triad_engine_describe(aggregator->engine, row, &before))
		return;
	offsets = origin->reporter ? need_offsets(aggregator, origin) : NULL;
	if (origin->reporter && !offsets)
		return;
	/* Subtract the present total, so that the agent's next one becomes what was
	 * counted since. */
	for (unsigned i = 0; offsets && i < TRIAD_N_COUNTERS; i++)
		offsets->of[i] -= before.base[i] + before.raw[i];
	triad_engine_zero(aggregator->engine, row, now_us);
}

/* --- silent agents --- */

static void mark_unseen(struct triad_aggregator *aggregator, uint32_t node)
{
	const struct triad_fabric_node *at = &aggregator->view->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (triad_view_is_asked(aggregator->view, i)) {
			aggregator->status.n_ports_unseen++;
			triad_engine_mark(
				aggregator->engine, aggregator->view->rows[i], false);
		}
}

/* Marks the node's ports as unanswered if no agent reports it, and returns true
 * then. */
static bool look_at_node(struct triad_aggregator *aggregator, uint32_t node)
{
	uint64_t owner = aggregator->sink.owner(aggregator->sink.context, node);
	struct aggregator_agent *reader =
		aggregator_agents_find(&aggregator->agents, owner);

	if (owner == TRIAD_CLAIMS_NO_AGENT || !reader || reader->reported.is_silent) {
		mark_unseen(aggregator, node);
		return true;
	}
	/* An agent reports it again.  Request all rows: unchanged ports would stay
	 * marked. */
	if (aggregator->unseen && aggregator->unseen[node])
		reader->missing_from = 1;
	return false;
}

static bool has_asked_port(const struct triad_view *view, uint32_t node)
{
	const struct triad_fabric_node *at = &view->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (triad_view_is_asked(view, i))
			return true;
	return false;
}

void triad_aggregator_check_silence(
	struct triad_aggregator *aggregator, uint64_t now_us)
{
	struct triad_aggregator_status *status = &aggregator->status;

	status->n_nodes_unseen = status->n_ports_unseen = 0;
	if (!aggregator->view)
		return;
	/* Check the agents first, then the nodes of silent ones. */
	status->oldest_us = 0;
	for (unsigned i = 0; i < aggregator->agents.n; i++) {
		struct aggregator_agent *agent = &aggregator->agents.of[i];
		uint64_t age_us = now_us - agent->reported.received_us;

		agent->reported.is_silent = aggregator_agent_is_silent(agent, now_us);
		if (!agent->reported.is_silent && age_us > status->oldest_us)
			status->oldest_us = age_us;
	}
	for (uint32_t i = 0; i < aggregator->view->fabric->n_nodes; i++) {
		bool unseen = has_asked_port(aggregator->view, i) &&
			look_at_node(aggregator, i);

		if (aggregator->unseen)
			aggregator->unseen[i] = unseen;
		status->n_nodes_unseen += unseen;
	}
}

bool triad_aggregator_is_seen(const struct triad_aggregator *aggregator, uint32_t node)
{
	return !aggregator->unseen || !aggregator->unseen[node];
}

struct triad_aggregator_status triad_aggregator_status(
	const struct triad_aggregator *aggregator)
{
	struct triad_aggregator_status status = aggregator->status;

	status.octets = sizeof(*aggregator) +
		aggregator->n_origins * sizeof(struct origin) +
		aggregator->offsets_room * sizeof(struct offsets);
	return status;
}

bool triad_aggregator_agent(const struct triad_aggregator *aggregator, uint64_t id,
	struct triad_aggregator_agent *agent)
{
	const struct aggregator_agent *found =
		aggregator_agents_find(&aggregator->agents, id);

	if (found)
		*agent = found->reported;
	return found;
}
