/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/past.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "lib/grow.h"
#include "lib/text.h"
#include "perfmgr/engine.h"

/* What an image says of a port. */
struct counted {
	uint64_t read_us; /* wall clock; 0: nothing is known */
	uint32_t has, full;
	uint8_t quiet; /* enum triad_history_quiet */
	uint64_t total[TRIAD_N_COUNTERS];
};

struct triad_past_building {
	enum triad_past_part part;
	int error;
	bool has_head, has_rows;
	uint64_t time_us; /* of the frame that is read */
	struct triad_history_head head;

	struct triad_topology_packed packed; /* until the fabric is unpacked */
	uint32_t n_packed;
	struct triad_fabric *fabric;
	/* Of each port: the image's; the one before, which begins as the key's. */
	struct counted *ports, *before;
	uint32_t next; /* the port after that of the last row: rows are in order */
};

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
	free(building->packed.octets);
	triad_fabric_unref(building->fabric);
	free(building->ports);
	free(building->before);
	free(building);
	past->building = NULL;
}

static void drop_outputs(struct triad_past *past)
{
	while (past->n_outputs)
		triad_history_output_clear(&past->outputs[--past->n_outputs]);
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
	drop_outputs(past);
	free(past->outputs);
	for (unsigned t = 0; t < TRIAD_HISTORY_N_TABLES; t++)
		free(past->tables[t]);
	free(past->keys);
	free(past);
}

static bool fail(struct triad_past *past, int error, const char *why)
{
	if (!past->building->error)
		snprintf(past->message, sizeof(past->message), "%s", why);
	past->building->error = error;
	return false;
}

static bool no_memory(struct triad_past *past)
{
	return fail(past, ENOMEM, "not enough memory; try again");
}

/* --- comments --- */

/* The digits or text behind a comment's name; NULL: it has another one. */
static const char *after(const char *line, size_t length, const char *name, size_t *n)
{
	size_t n_name = strlen(name);

	if (length < n_name || memcmp(line, name, n_name) != 0)
		return NULL;
	*n = length - n_name;
	return line + n_name;
}

static bool take_head(struct triad_past *past, const char *text)
{
	struct triad_past_building *building = past->building;
	struct triad_history_head head = {0};
	char kind[8];
	unsigned version = 0;
	int n = sscanf(text,
		"version=%9u kind=%7s sweep=%" SCNu64 " generation=%" SCNu64
		" sm=%15s active=%" SCNu32 " silenced=%" SCNu32 " raised=%" SCNu64
		" cleared=%" SCNu64 " not_kept=%" SCNu64 " left_out=%" SCNu32,
		&version, kind, &head.sweep, &head.generation, head.sm,
		&head.alerts.n_active, &head.alerts.n_silenced, &head.alerts.n_raised,
		&head.alerts.n_cleared, &head.alerts.n_not_kept, &head.n_left_out);

	if (version > TRIAD_HISTORY_IMAGE_VERSION)
		return fail(past, EPROTO, "a later Triad wrote it");
	if (n != 11)
		return fail(past, EPROTO, "its line 'triad-image' is malformed");
	head.is_key = !strcmp(kind, "key");
	building->head = head;
	building->has_head = true;
	return true;
}

static bool take_topology(struct triad_past *past, const char *text)
{
	struct triad_topology_packed *packed = &past->building->packed;

	if (packed->octets || past->building->fabric ||
		sscanf(text, "0x%16" SCNx64 " %" SCNu32 " %" SCNu32, &packed->hash,
			&packed->size, &packed->packed_size) != 3 ||
		!packed->packed_size || packed->size > TRIAD_TOPOLOGY_MAX_SIZE ||
		packed->packed_size > TRIAD_TOPOLOGY_MAX_SIZE)
		return fail(past, EPROTO, "its line 'triad-topology' is malformed");
	packed->octets = malloc(packed->packed_size);
	return packed->octets || no_memory(past);
}

static bool take_octets(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_past_building *building = past->building;
	uint32_t left = building->packed.packed_size - building->n_packed;

	if (!building->packed.octets || n / 2 > left ||
		!triad_history_get_hex(
			digits, n, building->packed.octets + building->n_packed))
		return fail(past, EPROTO, "its topology is malformed");
	building->n_packed += (uint32_t)(n / 2);
	return true;
}

static bool take_tables(
	struct triad_past *past, const char *text, enum triad_history_tables of)
{
	struct triad_past_tables tables;

	if (sscanf(text, "0x%16" SCNx64 ",0x%16" SCNx64, &tables.node_guid,
		    &tables.hash) != 2)
		return fail(past, EPROTO,
			"a line 'triad-routes' or 'triad-qos' is malformed");
	if (past->n_tables[of] == TRIAD_FABRIC_MAX_NODES ||
		triad_grow(&past->tables[of], &past->tables_room[of],
			past->n_tables[of] + 1, sizeof(tables), 64))
		return no_memory(past);
	past->tables[of][past->n_tables[of]++] = tables;
	return true;
}

static bool take_key(struct triad_past *past, const char *text, size_t n)
{
	const char *blank = memchr(text, ' ', n);
	struct triad_past_key *key;

	if (!blank || (size_t)(blank - text) >= sizeof(key->name) ||
		n - (size_t)(blank - text) > sizeof(key->value))
		return fail(past, EPROTO, "a line 'triad-conf' is malformed");
	if (past->n_keys == TRIAD_PAST_MAX_KEYS ||
		triad_grow(&past->keys, &past->keys_room, past->n_keys + 1,
			sizeof(*key), 32))
		return no_memory(past);
	key = &past->keys[past->n_keys++];
	snprintf(key->name, sizeof(key->name), "%.*s", (int)(blank - text), text);
	snprintf(key->value, sizeof(key->value), "%s", blank + 1);
	triad_text_clean(key->name);
	triad_text_clean(key->value);
	return true;
}

static bool take_alert(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_alert alert;

	if (!triad_history_get_alert(digits, n, &alert, past->offset_us))
		return fail(past, EPROTO, "a line 'triad-alert' is malformed");
	if (past->n_alerts == TRIAD_HISTORY_MAX_ALERTS ||
		triad_grow(&past->alerts, &past->alerts_room, past->n_alerts + 1,
			sizeof(alert), 16))
		return no_memory(past);
	past->alerts[past->n_alerts++] = alert;
	return true;
}

static bool take_finding(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_alert *alert =
		past->n_alerts ? &past->alerts[past->n_alerts - 1] : NULL;
	struct triad_alert_finding finding;

	if (!alert || alert->n_findings == TRIAD_ALERT_MAX_FINDINGS ||
		!triad_history_get_finding(digits, n, &finding, past->offset_us) ||
		finding.end >= alert->n_ends)
		return fail(past, EPROTO, "a line 'triad-finding' is malformed");
	alert->findings[alert->n_findings++] = finding;
	return true;
}

static bool take_link(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_link link;

	if (!triad_history_get_link(digits, n, &link, past->offset_us))
		return fail(past, EPROTO, "a line 'triad-link' is malformed");
	if (past->n_links == TRIAD_HISTORY_MAX_LINKS ||
		triad_grow(&past->links, &past->links_room, past->n_links + 1,
			sizeof(link), 16))
		return no_memory(past);
	past->links[past->n_links++] = link;
	return true;
}

static bool take_output(struct triad_past *past, const char *text)
{
	struct triad_history_output output = {0};
	unsigned status;
	uint32_t size;
	char form[8];

	/* A name has one word or two. */
	if (sscanf(text, "%3u %" SCNu32 " %7s %31[a-z -]", &status, &size, form,
		    output.command) != 4 ||
		status > UINT8_MAX || size > TRIAD_HISTORY_OUTPUT_SIZE)
		return fail(past, EPROTO, "a line 'triad-output' is malformed");
	output.status = (uint8_t)status;
	output.is_json = !strcmp(form, "json");
	if (past->n_outputs == TRIAD_HISTORY_MAX_OUTPUTS ||
		triad_grow(&past->outputs, &past->outputs_room, past->n_outputs + 1,
			sizeof(output), 8))
		return no_memory(past);
	output.octets = malloc(size + 1);
	if (!output.octets)
		return no_memory(past);
	output.room = size;
	past->outputs[past->n_outputs++] = output;
	return true;
}

static bool take_output_octets(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_history_output *output =
		past->n_outputs ? &past->outputs[past->n_outputs - 1] : NULL;

	if (!output || n / 2 > output->room - output->size ||
		!triad_history_get_hex(digits, n, output->octets + output->size))
		return fail(past, EPROTO, "the output of a command is malformed");
	output->size += (uint32_t)(n / 2);
	return true;
}

/* --- ports --- */

static struct counted *part_ports(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	return building->part == TRIAD_PAST_KEY || building->part == TRIAD_PAST_IMAGE
		? building->ports
		: building->before;
}

/* NULL: it is not in the fabric of the image. */
static struct counted *find_port(
	struct triad_past *past, uint64_t guid, unsigned number)
{
	struct triad_past_building *building = past->building;
	const struct triad_fabric *fabric = building->fabric;
	uint32_t at = building->next;

	while (at < fabric->n_ports && !fabric->ports[at].has_pma)
		at++;
	if (at >= fabric->n_ports || fabric->ports[at].number != number ||
		fabric->nodes[fabric->ports[at].node].guid != guid)
		at = triad_fabric_find_port(
			fabric, triad_fabric_find_node(fabric, guid), number);
	if (at == TRIAD_FABRIC_NONE)
		return NULL;
	building->next = at + 1;
	return &part_ports(past)[at];
}

static bool take_quiet(struct triad_past *past, const char *text)
{
	struct counted *counted;
	uint64_t guid;
	unsigned port;
	char why[16];

	if (sscanf(text, "0x%16" SCNx64 ",%3u,%15s", &guid, &port, why) != 3)
		return fail(past, EPROTO, "a line 'triad-quiet' is malformed");
	counted = find_port(past, guid, port);
	/* What a later Triad says there counts as unanswered. */
	if (counted)
		counted->quiet = !strcmp(why, "apart") ? TRIAD_HISTORY_APART
			: !strcmp(why, "skipped")      ? TRIAD_HISTORY_SKIPPED
						       : TRIAD_HISTORY_UNANSWERED;
	return true;
}

static bool take_full(struct triad_past *past, const char *text)
{
	struct counted *counted;
	uint32_t mask;
	uint64_t guid;
	unsigned port;

	if (sscanf(text, "0x%16" SCNx64 ",%3u,0x%8" SCNx32, &guid, &port, &mask) != 3)
		return fail(past, EPROTO, "a line 'triad-full' is malformed");
	counted = find_port(past, guid, port);
	if (counted)
		counted->full = mask;
	return true;
}

static bool take_row(struct triad_past *past, const struct triad_profile_row *row)
{
	struct counted *counted = find_port(past, row->node_guid, row->port);

	/* Of the image before, it may have left since. */
	if (!counted)
		return past->building->part >= TRIAD_PAST_BEFORE_KEY ||
			fail(past, EPROTO, "it has a row of a port that it has not");
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
		return fail(past, EOVERFLOW,
			"its fabric is too large to be put together again here");
	building->ports = calloc(n + 1, sizeof(*building->ports));
	building->before = calloc(n + 1, sizeof(*building->before));
	return (building->ports && building->before) || no_memory(past);
}

/* At the first row: all of the topology is there. */
static bool unpack_topology(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	int error;

	if (!building->packed.octets ||
		building->n_packed != building->packed.packed_size)
		return fail(past, EPROTO, "its topology is missing");
	error = triad_topology_unpack(&building->packed, &building->fabric);
	free(building->packed.octets);
	building->packed.octets = NULL;
	if (error)
		return error == ENOMEM
			? no_memory(past)
			: fail(past, EPROTO, "its topology is malformed");
	return make_ports(past);
}

static bool take_header(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	building->next = 0;
	building->has_rows = true;
	if (!building->has_head)
		return fail(past, EPROTO, "it has no line 'triad-image'");
	if (building->part == TRIAD_PAST_KEY)
		return unpack_topology(past);
	return true;
}

/* --- lines --- */

/* Those that any image has, before its rows. */
static bool take_content(struct triad_past *past, const char *line, size_t length)
{
	bool is_key = past->building->part == TRIAD_PAST_KEY;
	const char *text;
	size_t n;

	if ((text = after(line, length, "# triad-conf ", &n)))
		return take_key(past, text, n);
	if ((text = after(line, length, "# triad-alert ", &n)))
		return take_alert(past, text, n);
	if ((text = after(line, length, "# triad-finding ", &n)))
		return take_finding(past, text, n);
	if ((text = after(line, length, "# triad-link ", &n)))
		return take_link(past, text, n);
	if ((text = after(line, length, "# triad-output ", &n)))
		return take_output(past, text);
	if ((text = after(line, length, "# triad-output-octets ", &n)))
		return take_output_octets(past, text, n);
	if (is_key && (text = after(line, length, "# triad-topology ", &n)))
		return take_topology(past, text);
	if (is_key && (text = after(line, length, "# triad-octets ", &n)))
		return take_octets(past, text, n);
	if (is_key && (text = after(line, length, "# triad-routes ", &n)))
		return take_tables(past, text, TRIAD_HISTORY_ROUTES);
	if (is_key && (text = after(line, length, "# triad-qos ", &n)))
		return take_tables(past, text, TRIAD_HISTORY_QOS);
	return true;
}

static bool take_comment(struct triad_past *past, const char *line, size_t length)
{
	struct triad_past_building *building = past->building;
	char copy[TRIAD_PROFILE_LINE_SIZE];
	const char *text;
	size_t n;

	/* sscanf() wants an end. */
	memcpy(copy, line, length);
	copy[length] = '\0';
	if ((text = after(copy, length, "# triad-image ", &n)))
		return take_head(past, text);
	if (!building->has_rows)
		return building->part >= TRIAD_PAST_BEFORE_KEY ||
			take_content(past, copy, length);
	if ((text = after(copy, length, "# triad-quiet ", &n)))
		return take_quiet(past, text);
	if ((text = after(copy, length, "# triad-full ", &n)))
		return take_full(past, text);
	return true;
}

void triad_past_begin(struct triad_past *past, enum triad_past_part part)
{
	struct triad_past_building *building = past->building;
	struct counted *ports;

	building->part = part;
	building->has_head = building->has_rows = false;
	building->time_us = 0;
	building->next = 0;
	if (part == TRIAD_PAST_KEY || !building->fabric)
		return;
	/* Alerts, links, outputs and quiet ports are those of the image alone. */
	past->n_alerts = part == TRIAD_PAST_IMAGE ? 0 : past->n_alerts;
	past->n_links = part == TRIAD_PAST_IMAGE ? 0 : past->n_links;
	past->n_keys = part == TRIAD_PAST_IMAGE ? 0 : past->n_keys;
	if (part == TRIAD_PAST_IMAGE)
		drop_outputs(past);
	ports = part_ports(past);
	if (part == TRIAD_PAST_BEFORE_KEY)
		memset(ports, 0, building->fabric->n_ports * sizeof(*ports));
	for (uint32_t i = 0; i < building->fabric->n_ports; i++)
		ports[i].quiet = ports[i].full = 0;
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
		if (building->part <= TRIAD_PAST_IMAGE)
			past->period_us = parser->info.period_us;
		return true;
	case TRIAD_PROFILE_HEADER:
		return take_header(past);
	case TRIAD_PROFILE_ROW:
		return building->fabric ? take_row(past, &parser->row)
					: fail(past, EPROTO, "it begins with a row");
	case TRIAD_PROFILE_COMMENT:
		return take_comment(past, line, length);
	default:
		return true;
	}
}

/* Ports that were not quiet were read then, also those that did not change. */
static void note_read(struct counted *ports, uint32_t n, uint64_t time_us)
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
		fail(past, EPROTO, "it is no image");
	if (building->error)
		return building->error;
	n = building->fabric->n_ports;
	note_read(part_ports(past), n, building->time_us);
	if (is_before) {
		past->before_us = building->time_us;
		return 0;
	}
	past->head = building->head;
	past->wall_us = building->time_us;
	/* The image before begins as this key, unless it has another one. */
	if (building->part == TRIAD_PAST_KEY)
		memcpy(building->before, building->ports, n * sizeof(*building->ports));
	return 0;
}

/* --- the view --- */

static void take_into_engine(struct triad_past *past, struct triad_engine *engine,
	uint32_t row, const struct counted *counted)
{
	struct triad_engine_report report = {
		.read_us = counted->read_us - (uint64_t)past->offset_us,
		.has = counted->has & ((1u << TRIAD_N_COUNTERS) - 1),
		.answered = counted->quiet == TRIAD_HISTORY_READ,
	};

	/* A counter at its maximum shows by what was read of it last. */
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		if (i < TRIAD_FIRST_WIDE_COUNTER && counted->full & 1u << i)
			report.raw[i] = triad_counter_max(i);
		report.base[i] = counted->total[i] - report.raw[i];
	}
	triad_engine_take(engine, row, &report);
}

static void fill(struct triad_past *past, struct triad_engine *engine)
{
	struct triad_past_building *building = past->building;
	struct triad_view *view = past->view;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		const struct counted *now = &building->ports[i];
		const struct counted *before = &building->before[i];

		if (past->before_us && before->read_us &&
			before->read_us < now->read_us)
			take_into_engine(past, engine, view->rows[i], before);
		if (now->read_us)
			take_into_engine(past, engine, view->rows[i], now);
		/* Which group was left out is not kept: such a port counts as one
		 * that can't be asked. */
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

	if (x->node_guid != y->node_guid)
		return x->node_guid < y->node_guid ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
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
	struct triad_engine *engine = triad_engine_new();
	uint64_t wall_us = past->wall_us - (uint64_t)past->offset_us;

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
	fill(past, engine);
	free_building(past);
	return 0;
}
