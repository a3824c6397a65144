/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/tiers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes/layout.h"
#include "triad/clock.h"

#define NO_TIER UINT8_MAX
#define HEAD "# triad-image "

/* What an image says of a port. */
struct sent {
	uint64_t words;
	bool is_known; /* of this image: it was read, and counts what it sends */
	bool has_words;
};

struct triad_tiers {
	struct triad_past *past; /* the key that is read */
	struct triad_profile_parser parser;
	char message[192];

	/* Of the last key. */
	struct triad_fabric *fabric; /* referenced; NULL: none yet */
	/* Of each of its ports: to which tier what it sends belongs, and whether that is
	 * up; NO_TIER: it has no link.  */
	uint8_t *tier;
	bool *is_up;
	struct sent *of_key, *now, *before;
	uint32_t next; /* the port after that of the last row: rows are in order */

	struct triad_totals_base base, base_before;
	uint64_t time_us; /* of the image before; 0: none */
};

struct triad_tiers *triad_tiers_new(void)
{
	return calloc(1, sizeof(struct triad_tiers));
}

static void free_ports(struct triad_tiers *tiers)
{
	free(tiers->tier);
	free(tiers->is_up);
	free(tiers->of_key);
	free(tiers->now);
	free(tiers->before);
	triad_fabric_unref(tiers->fabric);
}

void triad_tiers_free(struct triad_tiers *tiers)
{
	if (!tiers)
		return;
	free_ports(tiers);
	triad_past_free(tiers->past);
	free(tiers);
}

const char *triad_tiers_message(const struct triad_tiers *tiers)
{
	return tiers->message;
}

static int fail_of_memory(struct triad_tiers *tiers)
{
	snprintf(
		tiers->message, sizeof(tiers->message), "not enough memory; try again");
	return ENOMEM;
}

/* --- a key --- */

int triad_tiers_begin_key(struct triad_tiers *tiers)
{
	triad_past_free(tiers->past);
	tiers->past = triad_past_new(triad_clock_wall_offset_us());
	if (!tiers->past)
		return fail_of_memory(tiers);
	triad_profile_parser_init(&tiers->parser);
	triad_past_begin(tiers->past, TRIAD_PAST_KEY);
	return 0;
}

bool triad_tiers_take_line(void *context, const char *line, size_t length)
{
	struct triad_tiers *tiers = context;
	enum triad_profile_line kind =
		triad_profile_parse(&tiers->parser, line, length);

	/* A past without its rows is no image, and says so. */
	return kind != TRIAD_PROFILE_WRONG &&
		triad_past_take_line(tiers->past, kind, &tiers->parser, line, length);
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
	return level < TRIAD_TIERS_LEVELS ? level : TRIAD_TIERS_LEVELS - 1;
}

/* Of a link between two nodes of one level, up is away from the first. */
static int find_tiers(struct triad_tiers *tiers)
{
	struct triad_fabric *fabric = tiers->fabric;
	struct triad_routes_layout *layout;
	int error = triad_routes_layout_make(fabric, &layout);

	if (error)
		return error;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t far = fabric->ports[i].remote;
		unsigned here, there;

		tiers->tier[i] = NO_TIER;
		if (far == TRIAD_FABRIC_NONE ||
			!triad_fabric_port_passes_data(&fabric->ports[i]))
			continue;
		here = level_of(layout, fabric->ports[i].node);
		there = level_of(layout, fabric->ports[far].node);
		tiers->is_up[i] = here == there ? i < far : here < there;
		tiers->tier[i] =
			(uint8_t)(here < there ? here * TRIAD_TIERS_LEVELS + there
					       : there * TRIAD_TIERS_LEVELS + here);
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
static void renumber(struct triad_tiers *tiers, const struct triad_tiers *old)
{
	for (uint32_t i = 0; old->fabric && i < tiers->fabric->n_ports; i++) {
		uint32_t at =
			triad_fabric_find_same_port(old->fabric, tiers->fabric, i);

		if (at != TRIAD_FABRIC_NONE &&
			has_same_link(tiers->fabric, i, old->fabric, at))
			tiers->before[i] = old->now[at];
	}
}

static void take_key(struct triad_tiers *tiers, const struct triad_view *view)
{
	for (uint32_t i = 0; i < tiers->fabric->n_ports; i++) {
		struct triad_engine_row row;
		bool is_read = triad_view_read(view, i, &row);

		tiers->of_key[i] = (struct sent){
			.words = is_read ? row.total[TRIAD_PORT_XMIT_DATA] : 0,
			.has_words = is_read && row.has & 1u << TRIAD_PORT_XMIT_DATA,
			.is_known = is_read && row.answered};
	}
}

static int take_fabric(struct triad_tiers *tiers, struct triad_fabric *fabric)
{
	struct triad_tiers old = *tiers;
	size_t n = fabric->n_ports + (size_t)1;

	tiers->fabric = triad_fabric_ref(fabric);
	tiers->tier = calloc(n, sizeof(*tiers->tier));
	tiers->is_up = calloc(n, sizeof(*tiers->is_up));
	tiers->of_key = calloc(n, sizeof(*tiers->of_key));
	tiers->now = calloc(n, sizeof(*tiers->now));
	tiers->before = calloc(n, sizeof(*tiers->before));
	if (!tiers->tier || !tiers->is_up || !tiers->of_key || !tiers->now ||
		!tiers->before || find_tiers(tiers)) {
		free_ports(&old);
		return fail_of_memory(tiers);
	}
	renumber(tiers, &old);
	free_ports(&old);
	return 0;
}

int triad_tiers_end_key(struct triad_tiers *tiers)
{
	struct triad_past *past = tiers->past;
	int error = tiers->parser.message[0] ? EPROTO : triad_past_end(past);

	if (!error)
		error = triad_past_finish(past);
	if (error)
		snprintf(tiers->message, sizeof(tiers->message), "%s",
			past->message[0] ? past->message : tiers->parser.message);
	if (!error)
		error = take_fabric(tiers, past->view->fabric);
	if (!error) {
		take_key(tiers, past->view);
		memcpy(tiers->now, tiers->of_key,
			tiers->fabric->n_ports * sizeof(*tiers->now));
		tiers->base = triad_past_base(past);
	}
	triad_past_free(past);
	tiers->past = NULL;
	return error;
}

/* --- an image that has what differs from its key --- */

void triad_tiers_begin_change(struct triad_tiers *tiers)
{
	tiers->next = 0;
	for (uint32_t i = 0; i < tiers->fabric->n_ports; i++) {
		tiers->now[i] = tiers->of_key[i];
		/* Which ports were not read is said in each image. */
		tiers->now[i].is_known = tiers->now[i].has_words;
	}
}

static struct sent *find_sent(struct triad_tiers *tiers, uint64_t guid, unsigned port)
{
	const struct triad_fabric *fabric = tiers->fabric;
	uint32_t i = tiers->next;

	while (i < fabric->n_ports && !fabric->ports[i].has_pma)
		i++;
	if (i >= fabric->n_ports || fabric->nodes[fabric->ports[i].node].guid != guid ||
		fabric->ports[i].number != port)
		i = triad_fabric_port_at(fabric, guid, port);
	if (i == TRIAD_FABRIC_NONE)
		return NULL;
	tiers->next = i + 1;
	return &tiers->now[i];
}

static void take_comment(struct triad_tiers *tiers, const char *line, size_t length)
{
	char copy[TRIAD_PROFILE_LINE_SIZE];
	struct triad_history_head head;
	struct sent *sent;
	uint64_t guid;
	unsigned port;

	memcpy(copy, line, length);
	copy[length] = '\0';
	if (!strncmp(copy, HEAD, sizeof(HEAD) - 1) &&
		!triad_past_read_head(copy + sizeof(HEAD) - 1, &head))
		tiers->base.zeroed_us = head.zeroed_us;
	if (sscanf(copy, "# triad-quiet 0x%16" SCNx64 ",%3u", &guid, &port) == 2 &&
		(sent = find_sent(tiers, guid, port)))
		sent->is_known = false;
}

bool triad_tiers_take_row(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	const struct triad_profile_row *row = &parser->row;
	struct triad_tiers *tiers = context;
	struct sent *sent;

	if (kind == TRIAD_PROFILE_INFO)
		tiers->base.started_us = parser->info.started_us;
	if (kind == TRIAD_PROFILE_COMMENT && length < TRIAD_PROFILE_LINE_SIZE)
		take_comment(tiers, line, length);
	if (kind == TRIAD_PROFILE_ROW &&
		(sent = find_sent(tiers, row->node_guid, row->port)))
		*sent = (struct sent){.words = row->total[TRIAD_PORT_XMIT_DATA],
			.has_words = row->has & 1u << TRIAD_PORT_XMIT_DATA,
			.is_known = row->has & 1u << TRIAD_PORT_XMIT_DATA};
	return true;
}

/* --- sums --- */

/* A total that went back began anew, as when its port came back. */
static bool grew(const struct triad_tiers *tiers, uint32_t port)
{
	const struct sent *now = &tiers->now[port], *before = &tiers->before[port];

	return now->is_known && before->is_known && now->has_words &&
		before->has_words && now->words >= before->words;
}

/* 'is_of_one': totals of both images may be compared. */
static void add_link(const struct triad_tiers *tiers, uint32_t port, bool is_of_one,
	struct triad_history_sum *sum)
{
	uint32_t ends[2] = {port, tiers->fabric->ports[port].remote};

	sum->n_links++;
	if (!is_of_one || !grew(tiers, ends[0]) || !grew(tiers, ends[1]))
		return;
	sum->n_known++;
	for (unsigned i = 0; i < 2; i++)
		*(tiers->is_up[ends[i]] ? &sum->up : &sum->down) +=
			tiers->now[ends[i]].words - tiers->before[ends[i]].words;
}

static unsigned sum_links(const struct triad_tiers *tiers, uint64_t time_us,
	struct triad_history_sum *sums)
{
	bool is_of_one = triad_totals_are_of_one(
				 &tiers->base_before, tiers->time_us, &tiers->base) &&
		time_us > tiers->time_us;
	unsigned n = 0;

	memset(sums, 0, TRIAD_TIERS_MAX_SUMS * sizeof(*sums));
	for (uint32_t i = 0; i < tiers->fabric->n_ports; i++) {
		uint32_t far = tiers->fabric->ports[i].remote;

		if (tiers->tier[i] != NO_TIER && i < far && tiers->tier[far] != NO_TIER)
			add_link(tiers, i, is_of_one, &sums[tiers->tier[i]]);
	}
	for (unsigned i = 0; i < TRIAD_TIERS_MAX_SUMS; i++) {
		struct triad_history_sum sum = sums[i];

		if (!sum.n_links)
			continue;
		sum.time_us = time_us;
		sum.before_us = tiers->time_us;
		sum.low = i / TRIAD_TIERS_LEVELS;
		sum.high = i % TRIAD_TIERS_LEVELS;
		sums[n++] = sum;
	}
	return n;
}

unsigned triad_tiers_end(struct triad_tiers *tiers, uint64_t time_us,
	uint64_t port_guid, struct triad_history_sum sums[TRIAD_TIERS_MAX_SUMS])
{
	unsigned n;

	tiers->base.port_guid = port_guid;
	n = tiers->time_us ? sum_links(tiers, time_us, sums) : 0;
	tiers->base_before = tiers->base;
	tiers->time_us = time_us;
	memcpy(tiers->before, tiers->now,
		tiers->fabric->n_ports * sizeof(*tiers->before));
	return n;
}
