/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/merge.h"

#include <stdlib.h>
#include <string.h>

#include "collect/merge_agents.h"
#include "triad/clock.h"

#define FIRST_ROWS 1024u
#define NO_OFFSETS 0u
/* When an agent read a row is known only so well: its first message may have been on
 * its way for long, and so may the port's answer. */
#define DOUBT_US (2 * TRIAD_US_PER_S)

/* Of a row of the engine: whose word about which port its totals are, and what is added
 * to it. */
struct origin {
	uint32_t reader;  /* hash; 0: nobody's yet, or read here */
	uint32_t teller;  /* the same, with when its totals were set to 0 */
	uint32_t offsets; /* index, from 1 on; NO_OFFSETS: all are 0 */
	uint32_t settled; /* bit i: it told of counter i, whose offset is right */
	uint32_t known;   /* bit i: anybody told of it: the engine has its total */
};

struct offsets {
	uint64_t of[TRIAD_N_COUNTERS];
};

struct triad_merge {
	struct triad_engine *engine;
	struct triad_merge_sink sink;
	struct triad_view *view;
	bool *unseen; /* for each node of the view; NULL: memory was short */
	struct origin *origins;
	uint32_t n_origins;
	struct offsets *offsets;
	uint32_t n_offsets, offsets_room;
	struct merge_agents agents;
	uint64_t n_doubtful; /* rows */
	struct triad_merge_status status;
};

struct triad_merge *triad_merge_new(
	struct triad_engine *engine, const struct triad_merge_sink *sink)
{
	struct triad_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->engine = engine;
	merge->sink = *sink;
	return merge;
}

void triad_merge_free(struct triad_merge *merge)
{
	if (!merge)
		return;
	triad_view_unref(merge->view);
	free(merge->unseen);
	free(merge->origins);
	free(merge->offsets);
	free(merge);
}

void triad_merge_adopt(struct triad_merge *merge, struct triad_view *view)
{
	bool *unseen = calloc(view->fabric->n_nodes + 1, sizeof(*unseen));

	for (uint32_t i = 0; unseen && merge->unseen && i < view->fabric->n_nodes;
		i++) {
		uint32_t old = triad_fabric_find_node(
			merge->view->fabric, view->fabric->nodes[i].guid);

		unseen[i] = old != TRIAD_FABRIC_NONE && merge->unseen[old];
	}
	free(merge->unseen);
	merge->unseen = unseen;
	triad_view_unref(merge->view);
	merge->view = triad_view_ref(view);
}

/* --- rows --- */

static struct origin *need_origin(struct triad_merge *merge, uint32_t row)
{
	uint32_t n = merge->n_origins ? merge->n_origins : FIRST_ROWS;
	struct origin *origins;

	if (row < merge->n_origins)
		return &merge->origins[row];
	if (row >= TRIAD_ENGINE_MAX_ROWS)
		return NULL;
	while (n <= row)
		n *= 2;
	origins = realloc(merge->origins, n * sizeof(*origins));
	if (!origins)
		return NULL;
	memset(origins + merge->n_origins, 0,
		(n - merge->n_origins) * sizeof(*origins));
	merge->origins = origins;
	merge->n_origins = n;
	return &merge->origins[row];
}

/* The row's own offsets, made when it has none; NULL when memory is short. */
static struct offsets *need_offsets(struct triad_merge *merge, struct origin *origin)
{
	struct offsets *offsets;

	if (origin->offsets)
		return &merge->offsets[origin->offsets - 1];
	if (merge->n_offsets == merge->offsets_room) {
		uint32_t room = merge->offsets_room ? merge->offsets_room * 2 : 256;

		offsets = realloc(merge->offsets, room * sizeof(*offsets));
		if (!offsets)
			return NULL;
		merge->offsets = offsets;
		merge->offsets_room = room;
	}
	origin->offsets = ++merge->n_offsets;
	offsets = &merge->offsets[origin->offsets - 1];
	memset(offsets, 0, sizeof(*offsets));
	return offsets;
}

static uint64_t mix(uint64_t sum, uint64_t more)
{
	sum = (sum ^ more) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/* Sets who reads the row's port, and whose totals they are. */
static void find_teller(const struct triad_collect_head *head,
	const struct triad_collect_row *row, uint32_t *reader, uint32_t *teller)
{
	uint64_t sum = mix(mix(0, head->sender), head->incarnation);

	sum = mix(mix(sum, row->node_guid), row->port);
	*reader = (uint32_t)(sum >> 32) | 1;
	*teller = (uint32_t)(mix(sum, row->zeroed_s) >> 32) | 1;
}

/* Where the total stands after what the new teller's first row says of the hardware. */
static uint64_t go_on(const struct triad_engine_report *before,
	const struct triad_collect_row *row, unsigned counter)
{
	uint64_t raw = row->raw[counter], last = before->raw[counter];

	return before->base[counter] + last + (raw >= last ? raw - last : raw);
}

/* Makes the offsets such that totals go on, of counters that the teller did not tell of
 * before.  Returns false when memory is short. */
static bool settle(struct triad_merge *merge, struct origin *origin,
	const struct triad_engine_report *before, const struct triad_collect_row *row)
{
	uint32_t fresh = row->has & ~origin->settled;
	uint32_t goes_on = fresh & origin->known;
	bool differs = origin->offsets != NO_OFFSETS;
	struct offsets *offsets = NULL;

	for (uint32_t left = goes_on; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		differs |= go_on(before, row, i) != row->base[i] + row->raw[i];
	}
	if (fresh && differs)
		offsets = need_offsets(merge, origin);
	if (fresh && differs && !offsets)
		return false;
	for (uint32_t left = offsets ? fresh : 0; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		offsets->of[i] = goes_on & 1u << i
			? go_on(before, row, i) - (row->base[i] + row->raw[i])
			: 0;
	}
	origin->settled |= row->has;
	origin->known |= row->has;
	return true;
}

/* Another one tells of the row's port, or the row is another port's. */
static void hand_over(struct triad_merge *merge, struct origin *origin,
	const struct triad_engine_report *before, uint32_t reader, uint32_t teller)
{
	merge->status.n_handed_over += before->has != 0;
	origin->known = before->read_us ? origin->known | before->has : 0;
	origin->settled = 0;
	origin->reader = reader;
	origin->teller = teller;
}

static bool is_possible(const struct triad_collect_row *row)
{
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		if (row->raw[i] > triad_counter_max(i))
			return false;
	return true;
}

static uint64_t when_read(const struct merge_agent *agent,
	const struct triad_collect_data *data, const struct triad_collect_row *row,
	uint64_t now_us)
{
	uint64_t sent_us = data->clock_us + agent->clock_offset_us;
	uint64_t age_us = row->age_ms * TRIAD_US_PER_MS;
	uint64_t read_us = sent_us > age_us ? sent_us - age_us : 1;

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

/* Whether a new teller's first row is older than what is there.  If another one read
 * it, a counter went back and the times are close, that is more likely than a reset: a
 * reset is still to be seen a moment later, so the row is asked for again. */
static bool is_stale(struct triad_merge *merge,
	const struct triad_engine_report *before, const struct triad_collect_row *row,
	uint64_t read_us, bool is_other_reader)
{
	if (read_us < before->read_us)
		return true;
	if (!is_other_reader || read_us >= before->read_us + DOUBT_US ||
		!went_back(before, row))
		return false;
	merge->n_doubtful++;
	return true;
}

/* Takes a row of the port (index in the view's fabric). */
static void take_row(struct triad_merge *merge, const struct triad_collect_head *head,
	const struct triad_collect_row *row, uint32_t port, uint64_t read_us)
{
	uint32_t at = merge->view->rows[port];
	struct origin *origin = need_origin(merge, at);
	uint32_t reader, teller;
	struct triad_engine_report report = {
		.read_us = read_us,
		.has = row->has,
		.answered = row->answered,
		.n_others_resets = row->n_others_resets,
		.n_own_resets = row->n_own_resets,
	};
	struct triad_engine_report before;

	if (!row->has) { /* it never answered */
		merge->sink.findings(merge->sink.context, port, row->findings);
		return;
	}
	if (!origin || !triad_engine_describe(merge->engine, at, &before))
		return;
	find_teller(head, row, &reader, &teller);
	if (origin->teller != teller &&
		is_stale(merge, &before, row, read_us, origin->reader != reader)) {
		merge->status.n_stale++;
		return;
	}
	if (origin->teller != teller)
		hand_over(merge, origin, &before, reader, teller);
	if (!settle(merge, origin, &before, row))
		return;
	memcpy(report.raw, row->raw, sizeof(report.raw));
	memcpy(report.base, row->base, sizeof(report.base));
	for (unsigned i = 0; origin->offsets && i < TRIAD_N_COUNTERS; i++)
		report.base[i] += merge->offsets[origin->offsets - 1].of[i];
	triad_engine_take(merge->engine, at, &report);
	merge->status.n_rows++;
	merge->sink.findings(merge->sink.context, port, row->findings);
}

/* A node whose rows come one after the other is looked up once. */
struct place {
	uint64_t node_guid;
	uint32_t node; /* index, or TRIAD_FABRIC_NONE */
	bool is_owner; /* the sender, or nobody that is known */
};

static void find_place(const struct triad_merge *merge, uint64_t sender,
	uint64_t node_guid, struct place *place)
{
	uint64_t owner;

	if (place->node_guid == node_guid)
		return;
	place->node_guid = node_guid;
	place->node = triad_fabric_find_node(merge->view->fabric, node_guid);
	if (place->node == TRIAD_FABRIC_NONE)
		return;
	owner = merge->sink.owner(merge->sink.context, place->node);
	place->is_owner = owner == sender || owner == TRIAD_CLAIMS_NOBODY;
}

static void look_at_row(struct triad_merge *merge,
	const struct triad_collect_head *head, struct merge_agent *agent,
	const struct triad_collect_data *data, const struct triad_collect_row *row,
	struct place *place, uint64_t now_us)
{
	uint32_t port = TRIAD_FABRIC_NONE;

	find_place(merge, head->sender, row->node_guid, place);
	if (place->node != TRIAD_FABRIC_NONE)
		port = triad_fabric_find_port(
			merge->view->fabric, place->node, row->port);
	if (port == TRIAD_FABRIC_NONE || !is_possible(row)) {
		merge->status.n_unknown++;
		agent->told.n_unknown++;
	} else if (!place->is_owner) {
		merge->status.n_not_owner++;
	} else {
		take_row(merge, head, row, port, when_read(agent, data, row, now_us));
	}
}

static void take_rows(struct triad_merge *merge, const struct triad_collect_head *head,
	struct merge_agent *agent, const struct triad_collect_data *data,
	struct triad_collect_data_reader *reader, uint64_t now_us)
{
	struct place place = {.node_guid = 0, .node = TRIAD_FABRIC_NONE};
	struct triad_collect_row row;
	enum triad_collect_next next;

	while ((next = triad_collect_data_next(reader, &row)) == TRIAD_COLLECT_ROW)
		look_at_row(merge, head, agent, data, &row, &place, now_us);
	merge->status.n_broken += next == TRIAD_COLLECT_BROKEN;
}

/* Asks for what did not come. */
static void ask_again(
	struct triad_merge *merge, struct merge_agent *agent, uint64_t now_us)
{
	uint32_t from = merge_agent_ask(agent, now_us);

	if (from)
		merge->sink.ask_again(merge->sink.context, agent->told.id, from);
}

void triad_merge_take(struct triad_merge *merge, uint8_t *octets, size_t size,
	uint64_t sweep_us, uint64_t now_us)
{
	struct triad_merge_status *status = &merge->status;
	struct triad_collect_data_reader reader;
	struct triad_collect_head head;
	struct triad_collect_data data;
	struct triad_wire body;
	struct merge_agent *agent;
	uint64_t n_not_owner = status->n_not_owner, n_doubtful = merge->n_doubtful;

	if (!merge->view)
		return;
	status->n_messages++;
	status->n_octets += size;
	if (triad_collect_get_head(octets, size, &head, &body) ||
		!triad_collect_data_open(&reader, &body, &data)) {
		status->n_broken++;
		return;
	}
	agent = merge_agents_need(&merge->agents, &head, now_us);
	if (agent)
		merge_agent_note_octets(agent, size, sweep_us, now_us);
	if (!agent || data.number <= agent->newest) {
		status->n_old++;
		return;
	}
	status->n_missing += merge_agent_hear(agent, &data, now_us);
	ask_again(merge, agent, now_us);
	take_rows(merge, &head, agent, &data, &reader, now_us);
	/* The sender believes to own nodes that are another's here: one of the two has
	 * not heard it yet.  If the sender is right, what it told is as good as
	 * lost. */
	if (status->n_not_owner != n_not_owner || merge->n_doubtful != n_doubtful)
		merge_agent_lack(agent, data.number, data.number);
}

void triad_merge_zero(struct triad_merge *merge, uint32_t row, uint64_t now_us)
{
	struct origin *origin = need_origin(merge, row);
	struct triad_engine_report before;
	struct offsets *offsets;

	if (!origin || !triad_engine_describe(merge->engine, row, &before))
		return;
	offsets = origin->teller ? need_offsets(merge, origin) : NULL;
	if (origin->teller && !offsets)
		return;
	for (unsigned i = 0; offsets && i < TRIAD_N_COUNTERS; i++)
		offsets->of[i] -= before.base[i] + before.raw[i];
	triad_engine_zero(merge->engine, row, now_us);
}

/* --- who is silent --- */

static void look_at_agents(struct triad_merge *merge, uint64_t now_us)
{
	merge->status.oldest_us = 0;
	for (unsigned i = 0; i < merge->agents.n; i++) {
		struct merge_agent *agent = &merge->agents.of[i];
		uint64_t age_us = now_us - agent->told.heard_us;

		agent->told.is_silent = merge_agent_is_silent(agent, now_us);
		if (!agent->told.is_silent && age_us > merge->status.oldest_us)
			merge->status.oldest_us = age_us;
	}
}

/* The agent that tells of the node; NULL: nobody does. */
static struct merge_agent *find_reader(const struct triad_merge *merge, uint32_t node)
{
	uint64_t owner = merge->sink.owner(merge->sink.context, node);
	struct merge_agent *agent = merge_agents_find(&merge->agents, owner);

	return owner != TRIAD_CLAIMS_NOBODY && agent && !agent->told.is_silent ? agent
									       : NULL;
}

static void mark_unseen(struct triad_merge *merge, uint32_t node)
{
	const struct triad_fabric_node *at = &merge->view->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (triad_view_is_asked(merge->view, i)) {
			merge->status.n_ports_unseen++;
			triad_engine_mark(merge->engine, merge->view->rows[i], false);
		}
}

/* Marks it when nobody tells of it.  When somebody does again, all is to be told anew:
 * what did not change would stay as it was marked.  Returns whether it is not seen. */
static bool look_at_node(struct triad_merge *merge, uint32_t node)
{
	struct merge_agent *reader = find_reader(merge, node);

	if (!reader)
		mark_unseen(merge, node);
	else if (merge->unseen && merge->unseen[node])
		reader->missing_from = 1;
	return !reader;
}

static bool has_asked_port(const struct triad_view *view, uint32_t node)
{
	const struct triad_fabric_node *at = &view->fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (triad_view_is_asked(view, i))
			return true;
	return false;
}

void triad_merge_look(struct triad_merge *merge, uint64_t now_us)
{
	struct triad_merge_status *status = &merge->status;

	status->n_nodes_unseen = status->n_ports_unseen = 0;
	if (!merge->view)
		return;
	look_at_agents(merge, now_us);
	for (uint32_t i = 0; i < merge->view->fabric->n_nodes; i++) {
		bool unseen = has_asked_port(merge->view, i) && look_at_node(merge, i);

		if (merge->unseen)
			merge->unseen[i] = unseen;
		status->n_nodes_unseen += unseen;
	}
}

bool triad_merge_is_seen(const struct triad_merge *merge, uint32_t node)
{
	return !merge->unseen || !merge->unseen[node];
}

struct triad_merge_status triad_merge_status(const struct triad_merge *merge)
{
	struct triad_merge_status status = merge->status;

	status.octets = sizeof(*merge) + merge->n_origins * sizeof(struct origin) +
		merge->offsets_room * sizeof(struct offsets);
	return status;
}

bool triad_merge_agent(
	const struct triad_merge *merge, uint64_t id, struct triad_merge_agent *agent)
{
	const struct merge_agent *found = merge_agents_find(&merge->agents, id);

	if (found)
		*agent = found->told;
	return found;
}
