/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/past_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "perfmgr/engine.h"

/* --- life --- */

struct triad_past *triad_past_new(int64_t offset_us)
{
	struct triad_past *past = calloc(1, sizeof(*past));

	if (!past)
		return NULL;
	past->offset_us = offset_us;
	past->building = calloc(1, sizeof(*past->building));
	if (past->building)
		return past;
	free(past);
	return NULL;
}

static void free_building(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	if (!building)
		return;
	triad_topology_octets_free(&building->topology);
	triad_fabric_unref(building->fabric);
	free(building->ports);
	free(building->before);
	free(building);
	past->building = NULL;
}

void triad_past_free(struct triad_past *past)
{
	if (!past)
		return;
	free_building(past);
	triad_view_unref(past->view);
	free(past->alerts);
	free(past->links);
	free(past->link_ends);
	triad_past_drop_outputs(past);
	free(past->outputs);
	for (unsigned t = 0; t < TRIAD_HISTORY_N_TABLES; t++)
		free(past->tables[t]);
	free(past->keys);
	free(past->extras);
	free(past->octets);
	for (unsigned kind = 0; kind < TRIAD_N_KEPT; kind++)
		triad_kept_list_clear(&past->lists[kind]);
	free(past);
}

/* --- ports --- */

static struct triad_past_counted *part_ports(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	return building->part == TRIAD_PAST_KEY || building->part == TRIAD_PAST_IMAGE
		? building->ports
		: building->before;
}

/* Finds the port; NULL: it is not in the fabric of the image. */
static struct triad_past_counted *find_counted_port(
	struct triad_past *past, uint64_t guid, unsigned number)
{
	struct triad_past_building *building = past->building;
	const struct triad_fabric *fabric = building->fabric;
	uint32_t at = building->next;

	while (at < fabric->n_ports && !fabric->ports[at].has_pma)
		at++;
	if (at >= fabric->n_ports || fabric->ports[at].number != number ||
		fabric->nodes[fabric->ports[at].node].guid != guid)
		at = triad_fabric_port_at(fabric, guid, number);
	if (at == TRIAD_FABRIC_NONE)
		return NULL;
	building->next = at + 1;
	return &part_ports(past)[at];
}

static bool take_quiet(struct triad_past *past, const char *text)
{
	struct triad_past_counted *counted;
	uint64_t guid;
	unsigned port;
	char why[16];

	if (sscanf(text, "0x%16" SCNx64 ",%3u,%15s", &guid, &port, why) != 3)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-quiet' is malformed");
	counted = find_counted_port(past, guid, port);
	/* An unknown word, of a later version of Triad, counts as unanswered. */
	if (counted)
		counted->quiet = !strcmp(why, "apart") ? TRIAD_HISTORY_APART
			: !strcmp(why, "skipped")      ? TRIAD_HISTORY_SKIPPED
						       : TRIAD_HISTORY_UNANSWERED;
	return true;
}

static bool take_full(struct triad_past *past, const char *text)
{
	struct triad_past_counted *counted;
	uint32_t mask;
	uint64_t guid;
	unsigned port;

	if (sscanf(text, "0x%16" SCNx64 ",%3u,0x%8" SCNx32, &guid, &port, &mask) != 3)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-full' is malformed");
	counted = find_counted_port(past, guid, port);
	if (counted)
		counted->full = mask;
	return true;
}

static bool take_row(struct triad_past *past, const struct triad_profile_row *row)
{
	struct triad_past_counted *counted =
		find_counted_port(past, row->node_guid, row->port);

	/* A port of the image before may have left the fabric since. */
	if (!counted)
		return past->building->part >= TRIAD_PAST_BEFORE_KEY ||
			triad_past_fail(
				past, EPROTO, "it has a row of a port that it has not");
	counted->read_us = row->time_us;
	counted->has = row->has;
	memcpy(counted->total, row->total, sizeof(counted->total));
	return true;
}

/* --- the topology --- */

static bool make_ports(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	size_t n = building->fabric->n_ports;

	if (n > TRIAD_PAST_MAX_PORTS)
		return triad_past_fail(past, EOVERFLOW,
			"its fabric is too large to be put together again here");
	building->ports = calloc(n + 1, sizeof(*building->ports));
	building->before = calloc(n + 1, sizeof(*building->before));
	return (building->ports && building->before) || triad_past_no_memory(past);
}

/* Called at the first row, when the topology is complete. */
static bool make_fabric(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	int error;

	if (!building->topology.octets ||
		building->n_octets != building->topology.n_octets)
		return triad_past_fail(past, EPROTO, "its topology is missing");
	error = triad_topology_decode(&building->topology, &building->fabric);
	triad_topology_octets_free(&building->topology);
	if (error)
		return error == ENOMEM
			? triad_past_no_memory(past)
			: triad_past_fail(past, EPROTO, "its topology is malformed");
	return make_ports(past);
}

static bool take_header(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	building->next = 0;
	building->has_rows = true;
	if (!building->has_head)
		return triad_past_fail(past, EPROTO, "it has no line 'triad-image'");
	if (building->part == TRIAD_PAST_KEY)
		return make_fabric(past);
	return true;
}

/* --- lines --- */

static bool take_comment(struct triad_past *past, const char *line, size_t length)
{
	struct triad_past_building *building = past->building;
	char copy[TRIAD_PROFILE_LINE_SIZE];
	const char *text;
	size_t n;

	/* sscanf() needs a 0 at the end. */
	memcpy(copy, line, length);
	copy[length] = '\0';
	if ((text = triad_past_after(copy, length, "# triad-image ", &n)))
		return triad_past_take_head(past, text);
	if (!building->has_rows)
		return building->part >= TRIAD_PAST_BEFORE_KEY ||
			triad_past_take_content(past, copy, length);
	if (building->is_without_ports)
		return true;
	if ((text = triad_past_after(copy, length, "# triad-quiet ", &n)))
		return take_quiet(past, text);
	if ((text = triad_past_after(copy, length, "# triad-full ", &n)))
		return take_full(past, text);
	return true;
}

const char *triad_past_part_name(enum triad_past_part part)
{
	static const char *const names[] = {[TRIAD_PAST_KEY] = "key",
		[TRIAD_PAST_IMAGE] = "image",
		[TRIAD_PAST_BEFORE_KEY] = "before-key",
		[TRIAD_PAST_BEFORE] = "before"};

	return names[part];
}

/* Whether the part may come now: the key is first, and comes once. */
static bool is_in_order(
	const struct triad_past_building *building, enum triad_past_part part)
{
	return part == TRIAD_PAST_KEY ? !building->has_begun
				      : building->fabric && part > building->part;
}

static void begin_part(struct triad_past *past, enum triad_past_part part)
{
	struct triad_past_building *building = past->building;

	building->part = part;
	building->has_begun = true;
	building->has_head = building->has_rows = false;
	building->time_us = 0;
	building->next = 0;
	if (part <= TRIAD_PAST_IMAGE)
		triad_past_begin_lists(past);
}

void triad_past_begin(struct triad_past *past, enum triad_past_part part)
{
	struct triad_past_building *building = past->building;
	struct triad_past_counted *ports;

	if (!building->error && !is_in_order(building, part))
		triad_past_fail(past, EPROTO, "its parts are not in order");
	/* After an error there may be a fabric without room for its ports. */
	if (building->error)
		return;
	begin_part(past, part);
	if (part == TRIAD_PAST_KEY)
		return;
	/* Drop the key's alerts, links, outputs and quiet ports: the image has its
	 * own. */
	past->n_alerts = part == TRIAD_PAST_IMAGE ? 0 : past->n_alerts;
	past->n_links = part == TRIAD_PAST_IMAGE ? 0 : past->n_links;
	past->n_keys = part == TRIAD_PAST_IMAGE ? 0 : past->n_keys;
	if (part == TRIAD_PAST_IMAGE) {
		triad_past_drop_outputs(past);
		triad_past_begin_extras(past);
	}
	ports = part_ports(past);
	if (part == TRIAD_PAST_BEFORE_KEY)
		memset(ports, 0, building->fabric->n_ports * sizeof(*ports));
	for (uint32_t i = 0; i < building->fabric->n_ports; i++)
		ports[i].quiet = ports[i].full = 0;
}

void triad_past_begin_outputs(struct triad_past *past)
{
	if (past->building->has_begun) {
		triad_past_fail(past, EPROTO, "its parts are not in order");
		return;
	}
	begin_part(past, TRIAD_PAST_IMAGE);
	past->building->is_without_ports = true;
}

bool triad_past_take_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct triad_past *past = context;
	struct triad_past_building *building = past->building;

	if (building->error)
		return false;
	switch (kind) {
	case TRIAD_PROFILE_INFO:
		building->time_us = parser->info.time_us;
		if (building->part <= TRIAD_PAST_IMAGE) {
			past->period_us = parser->info.period_us;
			past->started_us = parser->info.started_us;
		}
		return true;
	case TRIAD_PROFILE_HEADER:
		return take_header(past);
	case TRIAD_PROFILE_ROW:
		if (building->is_without_ports)
			return true;
		return building->fabric
			? take_row(past, &parser->row)
			: triad_past_fail(past, EPROTO, "it begins with a row");
	case TRIAD_PROFILE_COMMENT:
		return take_comment(past, line, length);
	default:
		return true;
	}
}

/* Sets the time of reading of all ports that were not quiet, also of those without a
 * row. */
static void note_read(struct triad_past_counted *ports, uint32_t n, uint64_t time_us)
{
	for (uint32_t i = 0; i < n; i++)
		if (ports[i].read_us && !ports[i].quiet)
			ports[i].read_us = time_us;
}

int triad_past_end(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	bool is_before = building->part >= TRIAD_PAST_BEFORE_KEY;
	uint32_t n;

	if (!building->error && (!building->has_rows || !building->time_us))
		triad_past_fail(past, EPROTO, "it is no image");
	if (building->error || !triad_past_end_extras(past) ||
		!triad_past_end_lists(past))
		return building->error;
	if (!is_before) {
		past->head = building->head;
		past->wall_us = building->time_us;
	}
	if (building->is_without_ports)
		return 0;
	n = building->fabric->n_ports;
	note_read(part_ports(past), n, building->time_us);
	if (is_before)
		past->before_us = building->time_us;
	/* Begin the image before with this key; if it has another one, that follows. */
	if (building->part == TRIAD_PAST_KEY)
		memcpy(building->before, building->ports, n * sizeof(*building->ports));
	return 0;
}

/* --- the view --- */

static void take_into_engine(struct triad_past *past, struct triad_engine *engine,
	uint32_t row, const struct triad_past_counted *counted)
{
	struct triad_engine_report report = {
		.read_us = counted->read_us - (uint64_t)past->offset_us,
		.has = counted->has & ((1u << TRIAD_N_COUNTERS) - 1),
		.answered = counted->quiet == TRIAD_HISTORY_READ,
	};

	/* The last raw value shows whether a counter is at its maximum. */
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		if (i < TRIAD_FIRST_WIDE_COUNTER && counted->full & 1u << i)
			report.raw[i] = triad_counter_max(i);
		report.base[i] = counted->total[i] - report.raw[i];
	}
	triad_engine_take(engine, row, &report);
}

static void fill_engine(struct triad_past *past, struct triad_engine *engine)
{
	struct triad_past_building *building = past->building;
	struct triad_view *view = past->view;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		const struct triad_past_counted *now = &building->ports[i];
		const struct triad_past_counted *before = &building->before[i];

		if (past->before_us && before->read_us &&
			before->read_us < now->read_us)
			take_into_engine(past, engine, view->rows[i], before);
		if (now->read_us)
			take_into_engine(past, engine, view->rows[i], now);
		else if (now->quiet == TRIAD_HISTORY_UNANSWERED)
			triad_engine_mark(engine, view->rows[i], false);
		/* Images lack the skipped groups: treat such a port as one that can't
		 * be read. */
		view->pkey_index[i] = now->quiet == TRIAD_HISTORY_APART ||
				now->quiet == TRIAD_HISTORY_SKIPPED
			? TRIAD_PKEY_NONE
			: 0;
	}
}

/* --- links --- */

static int compare_ends(const void *a, const void *b)
{
	const struct triad_past_end *x = a, *y = b;

	return triad_port_order(x->node_guid, x->port, y->node_guid, y->port);
}

static int sort_ends(struct triad_past *past)
{
	past->link_ends =
		calloc(2 * (size_t)past->n_links + 1, sizeof(*past->link_ends));
	if (!past->link_ends)
		return ENOMEM;
	for (uint32_t i = 0; i < 2 * past->n_links; i++) {
		const struct triad_link_end *end = &past->links[i / 2].ends[i % 2];

		past->link_ends[i] = (struct triad_past_end){
			.node_guid = end->node_guid, .port = end->port, .link = i / 2};
	}
	qsort(past->link_ends, 2 * (size_t)past->n_links, sizeof(*past->link_ends),
		compare_ends);
	return 0;
}

struct triad_totals_base triad_past_base(const struct triad_past *past)
{
	return (struct triad_totals_base){.port_guid = past->port_guid,
		.started_us = past->started_us,
		.zeroed_us = past->head.zeroed_us};
}

const struct triad_link *triad_past_find_link(
	const struct triad_past *past, uint64_t node_guid, uint8_t port)
{
	const struct triad_past_end wanted = {.node_guid = node_guid, .port = port};
	const struct triad_past_end *found = bsearch(&wanted, past->link_ends,
		2 * (size_t)past->n_links, sizeof(wanted), compare_ends);

	return found ? &past->links[found->link] : NULL;
}

int triad_past_finish(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	uint64_t wall_us = past->wall_us - (uint64_t)past->offset_us;
	struct triad_engine *engine;

	if (!building->error && !building->fabric)
		triad_past_fail(past, EPROTO, "its key is missing");
	if (building->error)
		return building->error;
	engine = triad_engine_new();
	if (engine)
		past->view = triad_view_new(engine, building->fabric, NULL);
	if (!past->view) {
		triad_engine_free(engine);
		return ENOMEM;
	}
	triad_view_own_engine(past->view, engine);
	if (triad_engine_adopt(engine, building->fabric, wall_us, past->view->rows) ||
		sort_ends(past))
		return ENOMEM;
	triad_past_sort_extras(past);
	fill_engine(past, engine);
	free_building(past);
	return 0;
}
