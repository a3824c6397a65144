/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "perfmgr/watch/losses.h"
#include "triad/clock.h"

#define N_BUCKETS 16384u
#define NO_RECORD UINT32_MAX

struct record {
	struct triad_link link;
	/* In the bucket of each end: twice the record, plus the end. */
	uint32_t next[2];
	bool is_over;
};

struct triad_links {
	struct triad_fabric *fabric; /* referenced; NULL: none yet */
	bool is_part;
	uint64_t forget_after_us;
	struct record *records;
	size_t room;
	uint32_t n;
	struct triad_links_counts counts;
	/* Each is a list of ends: twice the number of a record, plus the end. */
	uint32_t buckets[N_BUCKETS];
};

struct triad_links *triad_links_new(void)
{
	struct triad_links *links = calloc(1, sizeof(*links));

	if (!links)
		return NULL;
	/* Each bucket becomes NO_RECORD. */
	memset(links->buckets, 0xff, sizeof(links->buckets));
	links->forget_after_us = UINT64_MAX;
	return links;
}

void triad_links_free(struct triad_links *links)
{
	if (!links)
		return;
	triad_fabric_unref(links->fabric);
	free(links->records);
	free(links);
}

/* --- records --- */

static uint32_t *bucket_of(const struct triad_links *links, uint64_t guid, uint8_t port)
{
	uint64_t hash = triad_hash_word(guid, port);

	return (uint32_t *)&links->buckets[hash % N_BUCKETS];
}

static void index_record(struct triad_links *links, uint32_t number)
{
	struct record *record = &links->records[number];

	for (unsigned i = 0; i < 2; i++) {
		const struct triad_link_end *end = &record->link.ends[i];
		uint32_t *bucket = bucket_of(links, end->node_guid, end->port);

		record->next[i] = *bucket;
		*bucket = 2 * number + i;
	}
}

/* The record of the link at a port, and which of its ends that is; or NULL. */
static struct record *find_record(
	const struct triad_links *links, uint64_t guid, uint8_t port, unsigned *end)
{
	uint32_t at = *bucket_of(links, guid, port);

	while (at != NO_RECORD) {
		struct record *record = &links->records[at / 2];

		*end = at % 2;
		if (record->link.ends[*end].node_guid == guid &&
			record->link.ends[*end].port == port)
			return record;
		at = record->next[*end];
	}
	return NULL;
}

void triad_link_end_describe(struct triad_link_end *end,
	const struct triad_fabric *fabric, const struct triad_fabric_port *port)
{
	const struct triad_fabric_node *node = &fabric->nodes[port->node];

	*end = (struct triad_link_end){.node_guid = node->guid,
		.port_guid = port->guid,
		.lid = port->lid,
		.node_type = node->type,
		.port = port->number};
	memcpy(end->node_name, node->name, sizeof(end->node_name));
}

/* Room for a record, which is no part of the list yet; NULL: there is none. */
static struct record *add_record(struct triad_links *links)
{
	if (links->n == TRIAD_LINKS_MAX ||
		triad_grow(&links->records, &links->room, links->n + 1,
			sizeof(*links->records), 64)) {
		links->counts.n_not_kept++;
		return NULL;
	}
	return &links->records[links->n];
}

/* The record of the link at 'port' of 'fabric', which has a far end; made when there is
 * none.  NULL: there is no room. */
static struct record *need(
	struct triad_links *links, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *a = &fabric->ports[port];
	uint32_t low = port < a->remote ? port : a->remote;
	const struct triad_fabric_port *first = &fabric->ports[low];
	struct record *record;
	unsigned end;

	record = find_record(links, fabric->nodes[a->node].guid, a->number, &end);
	if (record)
		return record;
	record = add_record(links);
	if (!record)
		return NULL;
	*record = (struct record){.link.rate = triad_link_rate_active(first)};
	/* A fabric's ports are sorted by node GUID and number. */
	triad_link_end_describe(&record->link.ends[0], fabric, first);
	triad_link_end_describe(
		&record->link.ends[1], fabric, &fabric->ports[first->remote]);
	index_record(links, links->n++);
	return record;
}

/* Drops the records that are over, and counts the others, so that readers of the counts
 * need no walk. */
static void compact(struct triad_links *links)
{
	struct triad_links_counts *counts = &links->counts;
	uint32_t n = 0;

	memset(links->buckets, 0xff, sizeof(links->buckets));
	counts->n_down = counts->n_unreachable = 0;
	for (uint32_t i = 0; i < links->n; i++) {
		uint8_t state = links->records[i].link.state;

		if (links->records[i].is_over)
			continue;
		counts->n_down += state == TRIAD_LINK_DOWN;
		counts->n_unreachable += state == TRIAD_LINK_UNREACHABLE;
		if (n != i)
			links->records[n] = links->records[i];
		index_record(links, n++);
	}
	links->n = n;
}

/* --- a new fabric --- */

struct adoption {
	struct triad_links *links;
	const struct triad_fabric *fabric; /* the new one */
	uint64_t now_us;
};

static void note_down(
	const struct adoption *adoption, uint32_t old_port, enum triad_link_state state)
{
	struct record *record =
		need(adoption->links, adoption->links->fabric, old_port);

	if (!record || record->link.state != TRIAD_LINK_UP)
		return;
	record->link.state = state;
	record->link.down_us = adoption->now_us;
	/* A link gone with both its nodes may be up, unseen. */
	if (state == TRIAD_LINK_DOWN)
		record->link.n_seen++;
}

/* Links between two nodes that are gone. */
static void note_inner_links(const struct adoption *adoption, uint32_t node)
{
	const struct triad_fabric *old = adoption->links->fabric;
	const struct triad_fabric_node *at = &old->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++) {
		uint32_t far = old->ports[i].remote;

		if (far != TRIAD_FABRIC_NONE && far > i &&
			triad_fabric_find_node(adoption->fabric,
				old->nodes[old->ports[far].node].guid) ==
				TRIAD_FABRIC_NONE)
			note_down(adoption, i, TRIAD_LINK_UNREACHABLE);
	}
}

static void take_loss(void *context, const struct triad_loss *loss)
{
	const struct adoption *adoption = context;

	for (uint32_t i = 0; i < loss->n_links; i++)
		note_down(adoption, loss->ends[i], TRIAD_LINK_DOWN);
	for (uint32_t i = 0; loss->nodes_gone && i < loss->n_nodes; i++)
		note_inner_links(adoption, loss->nodes[i]);
}

/* Updates the ends: LIDs and names may have changed. */
static void refresh_ends(struct triad_link *link, const struct triad_fabric *fabric,
	const uint32_t *ports)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t n_counted = link->ends[i].n_counted;

		triad_link_end_describe(
			&link->ends[i], fabric, &fabric->ports[ports[i]]);
		link->ends[i].n_counted = n_counted;
	}
}

/* Updates the record of a link from the new fabric. */
static void update_record(struct record *record, const struct adoption *adoption)
{
	const struct triad_fabric *fabric = adoption->fabric;
	struct triad_link *link = &record->link;
	uint32_t ports[2];
	unsigned n_present = 0, n_plugged = 0;

	for (unsigned i = 0; i < 2; i++) {
		ports[i] = triad_fabric_port_at(
			fabric, link->ends[i].node_guid, link->ends[i].port);
		if (ports[i] == TRIAD_FABRIC_NONE)
			continue;
		n_present++;
		n_plugged += fabric->ports[ports[i]].remote != TRIAD_FABRIC_NONE;
	}
	if (n_plugged == 2 && fabric->ports[ports[0]].remote == ports[1]) {
		if (link->state != TRIAD_LINK_UP)
			link->up_us = adoption->now_us;
		link->state = TRIAD_LINK_UP;
		link->rate = triad_link_rate_active(&fabric->ports[ports[0]]);
		refresh_ends(link, fabric, ports);
	} else if (n_plugged) {
		record->is_over = true; /* the cable is elsewhere */
	} else if (link->state == TRIAD_LINK_UNREACHABLE && n_present) {
		link->state = TRIAD_LINK_DOWN;
	}
}

int triad_links_adopt(
	struct triad_links *links, struct triad_fabric *fabric, uint64_t now_us)
{
	struct adoption adoption = {.links = links, .fabric = fabric, .now_us = now_us};
	uint32_t *new_port = NULL;
	int error = 0;

	if (links->fabric && !links->is_part) {
		new_port = malloc(
			((size_t)links->fabric->n_ports + 1) * sizeof(*new_port));
		if (!new_port)
			return ENOMEM;
		triad_losses_match_ports(links->fabric, fabric, new_port);
		error = triad_losses_find(
			links->fabric, fabric, new_port, take_loss, &adoption);
		free(new_port);
	}
	if (error)
		return error;
	for (uint32_t i = 0; i < links->n && !links->is_part; i++)
		update_record(&links->records[i], &adoption);
	compact(links);
	triad_fabric_unref(links->fabric);
	links->fabric = triad_fabric_ref(fabric);
	return 0;
}

int triad_links_restore(struct triad_links *links, struct triad_fabric *past,
	const struct triad_link *known, uint32_t n, uint64_t now_us)
{
	struct triad_fabric *present = links->fabric;
	int error = 0;

	if (links->is_part)
		return 0;
	links->n = 0;
	compact(links);
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_link_end *end = &known[i].ends[0];
		struct record *record;
		unsigned which;

		if (find_record(links, end->node_guid, end->port, &which))
			continue;
		record = add_record(links);
		if (!record)
			break;
		*record = (struct record){.link = known[i]};
		record->link.down_us =
			triad_clock_not_to_come(known[i].down_us, now_us);
		index_record(links, links->n++);
	}
	links->fabric = triad_fabric_ref(past);
	if (present)
		error = triad_links_adopt(links, present, now_us);
	else
		compact(links);
	triad_fabric_unref(present);
	return error;
}

void triad_links_configure(
	struct triad_links *links, bool is_part, uint64_t forget_after_us)
{
	links->is_part = is_part;
	links->forget_after_us = forget_after_us;
}

void triad_links_forget(struct triad_links *links, uint64_t now_us)
{
	bool some = false;

	for (uint32_t i = 0; i < links->n; i++) {
		struct record *record = &links->records[i];

		record->is_over = record->link.state != TRIAD_LINK_UP &&
			now_us - record->link.down_us >= links->forget_after_us;
		some |= record->is_over;
	}
	if (some)
		compact(links);
}

/* --- counters of the ends --- */

void triad_links_count(
	struct triad_links *links, uint32_t port, uint64_t n, uint64_t now_us)
{
	const struct triad_fabric *fabric = links->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	uint64_t guid = fabric->nodes[at->node].guid;
	struct triad_link_end *counting;
	struct record *record;
	unsigned end;

	if (at->remote != TRIAD_FABRIC_NONE && !need(links, fabric, port))
		return;
	/* Without a far end it may be one whose link went down before. */
	record = find_record(links, guid, at->number, &end);
	if (!record)
		return;
	counting = &record->link.ends[end];
	counting->n_counted += n < UINT32_MAX - counting->n_counted
		? (uint32_t)n
		: UINT32_MAX - counting->n_counted;
	record->link.counted_us = now_us;
}

/* --- reading --- */

bool triad_links_next(
	const struct triad_links *links, uint32_t *cursor, struct triad_link *copy)
{
	if (*cursor >= links->n)
		return false;
	*copy = links->records[(*cursor)++].link;
	return true;
}

bool triad_links_find(const struct triad_links *links, uint64_t node_guid, uint8_t port,
	struct triad_link *copy)
{
	unsigned end;
	const struct record *record = find_record(links, node_guid, port, &end);

	if (record)
		*copy = record->link;
	return record;
}

uint32_t triad_links_n(const struct triad_links *links)
{
	return links->n;
}

struct triad_links_counts triad_links_counts(const struct triad_links *links)
{
	return links->counts;
}

size_t triad_links_octets(const struct triad_links *links)
{
	return sizeof(*links) + links->room * sizeof(struct record);
}

uint32_t triad_link_n_downs(const struct triad_link *link)
{
	uint32_t n = link->n_seen;

	for (unsigned i = 0; i < 2; i++)
		if (link->ends[i].n_counted > n)
			n = link->ends[i].n_counted;
	return n;
}

uint64_t triad_link_last_down_us(const struct triad_link *link)
{
	/* Times before the machine's start wrap around. */
	bool has_counted_later = link->counted_us &&
		(!link->down_us || (int64_t)(link->counted_us - link->down_us) > 0);

	return has_counted_later ? link->counted_us : link->down_us;
}
