/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/level_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes/layout.h"
#include "triad/clock.h"

#define NO_PAIR UINT8_MAX
#define HEAD "# triad-image "

/* What an image says of a port. */
struct sent {
	uint64_t words;
	bool is_known; /* of this image: it was read, and counts what it sends */
	bool has_words;
};

struct triad_level_sums {
	struct triad_past *past; /* the key that is read */
	struct triad_profile_parser parser;
	char message[192];

	/* Of the last key. */
	struct triad_fabric *fabric; /* referenced; NULL: none yet */
	/* Of each of its ports: to which pair of levels what it sends belongs, and whether that is
	 * up; NO_PAIR: it has no link.  */
	uint8_t *pair;
	bool *is_up;
	struct sent *of_key, *now, *before;
	uint32_t next; /* the port after that of the last row: rows are in order */

	struct triad_totals_base base, base_before;
	uint64_t time_us; /* of the image before; 0: none */
};

struct triad_level_sums *triad_level_sums_new(void)
{
	return calloc(1, sizeof(struct triad_level_sums));
}

static void free_ports(struct triad_level_sums *levels)
{
	free(levels->pair);
	free(levels->is_up);
	free(levels->of_key);
	free(levels->now);
	free(levels->before);
	triad_fabric_unref(levels->fabric);
}

void triad_level_sums_free(struct triad_level_sums *levels)
{
	if (!levels)
		return;
	free_ports(levels);
	triad_past_free(levels->past);
	free(levels);
}

const char *triad_level_sums_message(const struct triad_level_sums *levels)
{
	return levels->message;
}

static int fail_of_memory(struct triad_level_sums *levels)
{
	snprintf(levels->message, sizeof(levels->message),
		"not enough memory; try again");
	return ENOMEM;
}

/* --- a key --- */

int triad_level_sums_begin_key(struct triad_level_sums *levels)
{
	triad_past_free(levels->past);
	levels->past = triad_past_new(triad_clock_wall_offset_us());
	if (!levels->past)
		return fail_of_memory(levels);
	triad_profile_parser_init(&levels->parser);
	triad_past_begin(levels->past, TRIAD_PAST_KEY);
	return 0;
}

bool triad_level_sums_take_line(void *context, const char *line, size_t length)
{
	struct triad_level_sums *levels = context;
	enum triad_profile_line kind =
		triad_profile_parse(&levels->parser, line, length);

	/* A past without its rows is no image, and says so. */
	return kind != TRIAD_PROFILE_WRONG &&
		triad_past_take_line(levels->past, kind, &levels->parser, line, length);
}

/* Of a switch that no host reaches, as if it stood with the lowest. */
static unsigned level_of(const struct triad_routes_layout *layout, uint32_t node)
{
	uint32_t sw = layout->switch_of_node[node];
	unsigned level;

	if (sw == TRIAD_FABRIC_NONE)
		return 0;
	level = layout->switches[sw].level;
	if (level == TRIAD_ROUTES_NO_LEVEL)
		return 1;
	return level < TRIAD_LEVEL_SUMS_LEVELS ? level : TRIAD_LEVEL_SUMS_LEVELS - 1;
}

/* Of a link between two nodes of one level, up is away from the first. */
static int find_pairs(struct triad_level_sums *levels)
{
	struct triad_fabric *fabric = levels->fabric;
	struct triad_routes_layout *layout;
	int error = triad_routes_layout_make(fabric, &layout);

	if (error)
		return error;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t far = fabric->ports[i].remote;
		unsigned here, there;

		levels->pair[i] = NO_PAIR;
		if (far == TRIAD_FABRIC_NONE ||
			!triad_fabric_port_passes_data(&fabric->ports[i]))
			continue;
		here = level_of(layout, fabric->ports[i].node);
		there = level_of(layout, fabric->ports[far].node);
		levels->is_up[i] = here == there ? i < far : here < there;
		levels->pair[i] = (uint8_t)(here < there
				? here * TRIAD_LEVEL_SUMS_LEVELS + there
				: there * TRIAD_LEVEL_SUMS_LEVELS + here);
	}
	triad_routes_layout_free(layout);
	return 0;
}

/* Whether two ports, which are the same in their fabrics, lead to the same far end. */
static bool has_same_link(const struct triad_fabric *one, uint32_t port,
	const struct triad_fabric *other, uint32_t other_port)
{
	uint32_t far = one->ports[port].remote,
		 other_far = other->ports[other_port].remote;

	return far != TRIAD_FABRIC_NONE && other_far != TRIAD_FABRIC_NONE &&
		one->ports[far].number == other->ports[other_far].number &&
		one->nodes[one->ports[far].node].guid ==
		other->nodes[other->ports[other_far].node].guid;
}

/* Numbers what is known of the image before as the fabric of the new key does. */
static void renumber(
	struct triad_level_sums *levels, const struct triad_level_sums *old)
{
	for (uint32_t i = 0; old->fabric && i < levels->fabric->n_ports; i++) {
		uint32_t at =
			triad_fabric_find_same_port(old->fabric, levels->fabric, i);

		if (at != TRIAD_FABRIC_NONE &&
			has_same_link(levels->fabric, i, old->fabric, at))
			levels->before[i] = old->now[at];
	}
}

static void take_key(struct triad_level_sums *levels, const struct triad_view *view)
{
	for (uint32_t i = 0; i < levels->fabric->n_ports; i++) {
		struct triad_engine_row row;
		bool is_read = triad_view_read(view, i, &row);

		levels->of_key[i] = (struct sent){
			.words = is_read ? row.total[TRIAD_PORT_XMIT_DATA] : 0,
			.has_words = is_read && row.has & 1u << TRIAD_PORT_XMIT_DATA,
			.is_known = is_read && row.answered};
	}
}

static int take_fabric(struct triad_level_sums *levels, struct triad_fabric *fabric)
{
	struct triad_level_sums old = *levels;
	size_t n = fabric->n_ports + (size_t)1;

	levels->fabric = triad_fabric_ref(fabric);
	levels->pair = calloc(n, sizeof(*levels->pair));
	levels->is_up = calloc(n, sizeof(*levels->is_up));
	levels->of_key = calloc(n, sizeof(*levels->of_key));
	levels->now = calloc(n, sizeof(*levels->now));
	levels->before = calloc(n, sizeof(*levels->before));
	if (!levels->pair || !levels->is_up || !levels->of_key || !levels->now ||
		!levels->before || find_pairs(levels)) {
		free_ports(&old);
		return fail_of_memory(levels);
	}
	renumber(levels, &old);
	free_ports(&old);
	return 0;
}

int triad_level_sums_end_key(struct triad_level_sums *levels)
{
	struct triad_past *past = levels->past;
	int error = levels->parser.message[0] ? EPROTO : triad_past_end(past);

	if (!error)
		error = triad_past_finish(past);
	if (error)
		snprintf(levels->message, sizeof(levels->message), "%s",
			past->message[0] ? past->message : levels->parser.message);
	if (!error)
		error = take_fabric(levels, past->view->fabric);
	if (!error) {
		take_key(levels, past->view);
		memcpy(levels->now, levels->of_key,
			levels->fabric->n_ports * sizeof(*levels->now));
		levels->base = triad_past_base(past);
	}
	triad_past_free(past);
	levels->past = NULL;
	return error;
}

/* --- an image that has what differs from its key --- */

void triad_level_sums_begin_change(struct triad_level_sums *levels)
{
	levels->next = 0;
	for (uint32_t i = 0; i < levels->fabric->n_ports; i++) {
		levels->now[i] = levels->of_key[i];
		/* Which ports were not read is said in each image. */
		levels->now[i].is_known = levels->now[i].has_words;
	}
}

static struct sent *find_sent(
	struct triad_level_sums *levels, uint64_t guid, unsigned port)
{
	const struct triad_fabric *fabric = levels->fabric;
	uint32_t i = levels->next;

	while (i < fabric->n_ports && !fabric->ports[i].has_pma)
		i++;
	if (i >= fabric->n_ports || fabric->nodes[fabric->ports[i].node].guid != guid ||
		fabric->ports[i].number != port)
		i = triad_fabric_port_at(fabric, guid, port);
	if (i == TRIAD_FABRIC_NONE)
		return NULL;
	levels->next = i + 1;
	return &levels->now[i];
}

static void take_comment(
	struct triad_level_sums *levels, const char *line, size_t length)
{
	char copy[TRIAD_PROFILE_LINE_SIZE];
	struct triad_history_head head;
	struct sent *sent;
	uint64_t guid;
	unsigned port;
	uint32_t mask;

	memcpy(copy, line, length);
	copy[length] = '\0';
	if (!strncmp(copy, HEAD, sizeof(HEAD) - 1) &&
		!triad_past_read_head(copy + sizeof(HEAD) - 1, &head))
		levels->base.zeroed_us = head.zeroed_us;
	if (triad_past_read_note(copy, &guid, &port, &mask) &&
		mask & 1u << TRIAD_PORT_XMIT_DATA &&
		(sent = find_sent(levels, guid, port)))
		sent->is_known = false;
}

bool triad_level_sums_take_row(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	const struct triad_profile_row *row = &parser->row;
	struct triad_level_sums *levels = context;
	struct sent *sent;

	if (kind == TRIAD_PROFILE_INFO)
		levels->base.started_us = parser->info.started_us;
	if (kind == TRIAD_PROFILE_COMMENT && length < TRIAD_PROFILE_LINE_SIZE)
		take_comment(levels, line, length);
	if (kind == TRIAD_PROFILE_ROW &&
		(sent = find_sent(levels, row->node_guid, row->port)))
		*sent = (struct sent){.words = row->total[TRIAD_PORT_XMIT_DATA],
			.has_words = row->has & 1u << TRIAD_PORT_XMIT_DATA,
			.is_known = row->has & 1u << TRIAD_PORT_XMIT_DATA};
	return true;
}

/* --- sums --- */

/* A total that went back began anew, as when its port came back. */
static bool grew(const struct triad_level_sums *levels, uint32_t port)
{
	const struct sent *now = &levels->now[port], *before = &levels->before[port];

	return now->is_known && before->is_known && now->has_words &&
		before->has_words && now->words >= before->words;
}

/* 'is_of_one': totals of both images may be compared. */
static void add_link(const struct triad_level_sums *levels, uint32_t port,
	bool is_of_one, struct triad_history_sum *sum)
{
	uint32_t ends[2] = {port, levels->fabric->ports[port].remote};

	sum->n_links++;
	if (!is_of_one || !grew(levels, ends[0]) || !grew(levels, ends[1]))
		return;
	sum->n_known++;
	for (unsigned i = 0; i < 2; i++)
		*(levels->is_up[ends[i]] ? &sum->up : &sum->down) +=
			levels->now[ends[i]].words - levels->before[ends[i]].words;
}

static unsigned sum_links(const struct triad_level_sums *levels, uint64_t time_us,
	struct triad_history_sum *sums)
{
	bool is_of_one = triad_totals_are_of_one(&levels->base_before, levels->time_us,
				 &levels->base) &&
		time_us > levels->time_us;
	unsigned n = 0;

	memset(sums, 0, TRIAD_LEVEL_SUMS_MAX * sizeof(*sums));
	for (uint32_t i = 0; i < levels->fabric->n_ports; i++) {
		uint32_t far = levels->fabric->ports[i].remote;

		if (levels->pair[i] != NO_PAIR && i < far &&
			levels->pair[far] != NO_PAIR)
			add_link(levels, i, is_of_one, &sums[levels->pair[i]]);
	}
	for (unsigned i = 0; i < TRIAD_LEVEL_SUMS_MAX; i++) {
		struct triad_history_sum sum = sums[i];

		if (!sum.n_links)
			continue;
		sum.time_us = time_us;
		sum.before_us = levels->time_us;
		sum.low = i / TRIAD_LEVEL_SUMS_LEVELS;
		sum.high = i % TRIAD_LEVEL_SUMS_LEVELS;
		sums[n++] = sum;
	}
	return n;
}

unsigned triad_level_sums_end(struct triad_level_sums *levels, uint64_t time_us,
	uint64_t port_guid, struct triad_history_sum sums[TRIAD_LEVEL_SUMS_MAX])
{
	unsigned n;

	levels->base.port_guid = port_guid;
	n = levels->time_us ? sum_links(levels, time_us, sums) : 0;
	levels->base_before = levels->base;
	levels->time_us = time_us;
	memcpy(levels->before, levels->now,
		levels->fabric->n_ports * sizeof(*levels->before));
	return n;
}
