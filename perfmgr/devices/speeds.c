/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/devices/speeds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/link.h"
#include "ib/node_label.h"
#include "ib/rates.h"
#include "lib/backoff.h"
#include "lib/search.h"
#include "triad/wire.h"

#define MAX_AGAIN_US (64 * TRIAD_SPEEDS_AGAIN_US)
/* How long answers may wait for others before the fabric is made again. */
#define NEWS_US (5 * TRIAD_US_PER_S)

/* PortInfo:PortState is in the lower half of an octet. */
#define AT_STATE 32

struct entry {
	uint64_t guid, far_guid; /* of the nodes */
	uint64_t due_us;         /* UINT64_MAX: not before the next sweep */
	uint64_t read_us;        /* the last answer; 0: none */
	uint16_t lid;
	uint8_t number, far_number, width;
	/* Of the answer. */
	uint8_t speed, speed_ext;
	uint8_t width_supported, speed_supported, speed_ext_supported;
	uint8_t n_missed; /* in a row */
	bool is_asked;    /* now */
	bool may_ask;
};

struct slot {
	uint64_t guid, sent_us;
	uint32_t tid; /* 0: free */
	uint8_t number;
};

struct triad_speeds {
	bool m_keys;
	uint32_t n;
	struct entry *entries; /* sorted by GUID and number */
	struct slot slots[TRIAD_SPEEDS_WINDOW];
	uint32_t tid;
	uint64_t sent_us; /* the last question */
	/* A pass looks at all entries: first for those of which nothing is known, then
	 * at the others.  The next one begins at 'pass_us'. */
	uint32_t at;
	bool are_others;
	uint64_t pass_us, next_pass_us;
	bool has_news;
	uint64_t news_us; /* the first of them */
	struct triad_speeds_counts counts;
};

struct triad_speeds *triad_speeds_new(bool m_keys)
{
	struct triad_speeds *speeds = calloc(1, sizeof(*speeds));

	if (speeds)
		speeds->m_keys = m_keys;
	return speeds;
}

void triad_speeds_free(struct triad_speeds *speeds)
{
	if (speeds)
		free(speeds->entries);
	free(speeds);
}

/* --- ports --- */

/* The port that has the capabilities of 'port'. */
static const struct triad_fabric_port *capable_port(
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	return &fabric->ports[node->type == TRIAD_NODE_SWITCH ? node->first_port
							      : port];
}

/* Whether the port has a link whose extended speed it may tell. */
static bool has_extended_speed(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	bool is_port0 = !at->number;

	return !is_port0 && at->state >= TRIAD_PORT_INIT &&
		capable_port(fabric, port)->rate_caps & TRIAD_RATE_CAP_EXTENDED;
}

static struct entry entry_of(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	struct entry entry = {
		.guid = fabric->nodes[at->node].guid,
		.lid = at->lid,
		.number = at->number,
		.width = at->width,
	};

	if (at->remote != TRIAD_FABRIC_NONE) {
		entry.far_guid = fabric->nodes[fabric->ports[at->remote].node].guid;
		entry.far_number = fabric->ports[at->remote].number;
	}
	return entry;
}

static struct entry *find_port_entry(
	const struct triad_speeds *speeds, uint64_t guid, uint8_t number)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, speeds->n,
		speeds->entries[at].guid < guid ||
			(speeds->entries[at].guid == guid &&
				speeds->entries[at].number < number));
	if (at == speeds->n || speeds->entries[at].guid != guid ||
		speeds->entries[at].number != number)
		return NULL;
	return &speeds->entries[at];
}

/* What is known of the port, if it has the same link; NULL: nothing. */
static struct entry *find_known(const struct triad_speeds *speeds,
	const struct triad_fabric *fabric, uint32_t port)
{
	struct entry now = entry_of(fabric, port);
	struct entry *entry = find_port_entry(speeds, now.guid, now.number);

	if (!entry || entry->far_guid != now.far_guid ||
		entry->far_number != now.far_number || entry->width != now.width)
		return NULL;
	return entry;
}

void triad_speeds_lay_over(
	const struct triad_speeds *speeds, struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_fabric_port *port = &fabric->ports[i];
		const struct entry *entry;

		if (port->speed_ext || port->speed_ext_supported ||
			!has_extended_speed(fabric, i))
			continue;
		entry = find_known(speeds, fabric, i);
		port->source_speed = port->speed;
		port->speed = port->speed_supported = 0;
		/* What is enabled is withheld, too. */
		port->width_enabled = port->speed_enabled = 0;
		/* Until the port has told its speed, 'rate' stays: paths need one, and
		 * the source's is the lower one. */
		if (!entry || !entry->read_us)
			continue;
		port->speed = entry->speed;
		port->speed_ext = entry->speed_ext;
		port->width_supported = entry->width_supported;
		port->speed_supported = entry->speed_supported;
		port->speed_ext_supported = entry->speed_ext_supported;
		port->rate = triad_rate_of_link(triad_link_rate_active(port));
	}
}

/* --- what is to be asked --- */

/* An entry for a port in question, or one that was.  A source that asks by bit 31 only now
 * and then, as OpenSM's Set does, knows a speed and forgets it again: so what it knew is
 * kept. */
static bool make_entry(const struct triad_speeds *speeds,
	const struct triad_fabric *fabric, uint32_t port, uint64_t again_us,
	uint64_t now_us, struct entry *entry)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct entry *known = find_known(speeds, fabric, port);
	bool may_ask = speeds->m_keys || !capable_port(fabric, port)->needs_m_key;

	/* A source may have a speed and not understand it. */
	if (!has_extended_speed(fabric, port) ||
		(!known && (!at->source_speed || at->speed_ext)))
		return false;
	*entry = known ? *known : entry_of(fabric, port);
	entry->lid = at->lid;
	entry->may_ask = may_ask && at->lid;
	if (!at->source_speed) {
		entry->speed = at->speed;
		entry->speed_ext = at->speed_ext;
		entry->width_supported = at->width_supported;
		entry->speed_supported = at->speed_supported;
		entry->speed_ext_supported = at->speed_ext_supported;
		entry->read_us = now_us;
		entry->due_us = UINT64_MAX;
	} else if (entry->due_us == UINT64_MAX) {
		entry->due_us = entry->read_us + again_us;
	}
	return true;
}

static void count_entry(
	struct triad_speeds *speeds, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	struct triad_speeds_counts *counts = &speeds->counts;

	if (!at->source_speed)
		return;
	counts->n_ports++;
	counts->n_known += at->speed || at->speed_ext;
	if (!at->speed_ext || counts->n_faster++)
		return;
	snprintf(counts->label, sizeof(counts->label), "%s",
		triad_port_label(fabric, port).text);
	triad_link_rate_format(
		triad_link_rate_active(at), counts->rate, sizeof(counts->rate));
	triad_link_rate_format((struct triad_link_rate){at->width,
				       triad_link_speed(at->source_speed, 0)},
		counts->source_rate, sizeof(counts->source_rate));
}

/* Whether the port has told something since the fabric was laid over. */
static bool is_news(const struct triad_fabric_port *at, const struct entry *entry)
{
	return entry->read_us &&
		(at->speed != entry->speed || at->speed_ext != entry->speed_ext ||
			at->width_supported != entry->width_supported ||
			at->speed_supported != entry->speed_supported ||
			at->speed_ext_supported != entry->speed_ext_supported);
}

int triad_speeds_adopt(struct triad_speeds *speeds, const struct triad_fabric *fabric,
	uint64_t again_us, uint64_t now_us)
{
	struct triad_speeds_counts counts = {.n_questions = speeds->counts.n_questions,
		.n_unanswered = speeds->counts.n_unanswered};
	struct entry entry, *entries = NULL;
	bool has_news = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += make_entry(speeds, fabric, i, again_us, now_us, &entry);
	if (n)
		entries = calloc(n, sizeof(*entries));
	if (n && !entries)
		return ENOMEM;
	speeds->counts = counts;
	n = 0;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		count_entry(speeds, fabric, i);
		if (!make_entry(speeds, fabric, i, again_us, now_us, &entry))
			continue;
		has_news |= is_news(&fabric->ports[i], &entry);
		entries[n++] = entry;
	}
	free(speeds->entries);
	speeds->entries = entries;
	speeds->n = n;
	speeds->at = 0;
	speeds->are_others = false;
	speeds->pass_us = now_us;
	speeds->next_pass_us = UINT64_MAX;
	speeds->has_news = has_news;
	speeds->news_us = now_us;
	return 0;
}

/* --- asking --- */

static bool is_entry_due(
	struct triad_speeds *speeds, const struct entry *entry, uint64_t now_us)
{
	if (!entry->may_ask || entry->is_asked)
		return false;
	if (entry->due_us <= now_us)
		return speeds->are_others || !entry->read_us;
	speeds->next_pass_us = triad_clock_earlier(speeds->next_pass_us, entry->due_us);
	return false;
}

/* The next entry of this pass; NULL: there is none more. */
static struct entry *find_due(struct triad_speeds *speeds, uint64_t now_us)
{
	for (;;) {
		while (speeds->at < speeds->n) {
			struct entry *entry = &speeds->entries[speeds->at++];

			if (is_entry_due(speeds, entry, now_us))
				return entry;
		}
		if (speeds->are_others)
			return NULL;
		speeds->are_others = true;
		speeds->at = 0;
		speeds->next_pass_us = UINT64_MAX;
	}
}

static struct slot *find_tid_slot(struct triad_speeds *speeds, uint32_t tid)
{
	for (unsigned i = 0; i < TRIAD_SPEEDS_WINDOW; i++)
		if (speeds->slots[i].tid == tid)
			return &speeds->slots[i];
	return NULL;
}

bool triad_speeds_next(struct triad_speeds *speeds, uint64_t now_us,
	struct triad_speeds_question *question, uint64_t *due_us)
{
	struct slot *slot = find_tid_slot(speeds, 0);
	struct entry *entry;

	*due_us = UINT64_MAX;
	if (!slot)
		return false;
	*due_us = speeds->sent_us + TRIAD_SPEEDS_GAP_US;
	if (speeds->pass_us > *due_us)
		*due_us = speeds->pass_us;
	if (*due_us > now_us)
		return false;
	entry = find_due(speeds, now_us);
	if (!entry) {
		*due_us = speeds->pass_us = speeds->next_pass_us;
		speeds->at = 0;
		speeds->are_others = false;
		return false;
	}
	if (!++speeds->tid)
		speeds->tid = 1;
	*slot = (struct slot){entry->guid, now_us, speeds->tid, entry->number};
	*question = (struct triad_speeds_question){
		entry->guid, entry->lid, entry->number, speeds->tid};
	entry->is_asked = true;
	speeds->sent_us = now_us;
	speeds->counts.n_questions++;
	return true;
}

unsigned triad_speeds_n_asked(const struct triad_speeds *speeds)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TRIAD_SPEEDS_WINDOW; i++)
		n += speeds->slots[i].tid != 0;
	return n;
}

/* Returns whether the answer tells something new. */
static bool take_port_info(struct entry *entry, const uint8_t *info, uint64_t now_us)
{
	struct triad_fabric_port told = {0};
	bool is_new;

	triad_link_read(info, &told);
	is_new = !entry->read_us || entry->speed != told.speed ||
		entry->speed_ext != told.speed_ext ||
		entry->width_supported != told.width_supported ||
		entry->speed_supported != told.speed_supported ||
		entry->speed_ext_supported != told.speed_ext_supported;
	entry->speed = told.speed;
	entry->speed_ext = told.speed_ext;
	entry->width_supported = told.width_supported;
	entry->speed_supported = told.speed_supported;
	entry->speed_ext_supported = told.speed_ext_supported;
	entry->read_us = now_us;
	entry->due_us = UINT64_MAX;
	entry->n_missed = 0;
	return is_new;
}

void triad_speeds_answer(
	struct triad_speeds *speeds, uint32_t tid, const uint8_t *info, uint64_t now_us)
{
	struct slot *slot = tid ? find_tid_slot(speeds, tid) : NULL;
	struct entry *entry =
		slot ? find_port_entry(speeds, slot->guid, slot->number) : NULL;

	if (slot)
		slot->tid = 0;
	if (slot && !info)
		speeds->counts.n_unanswered++;
	if (!entry || !entry->is_asked)
		return;
	entry->is_asked = false;
	/* A link that has gone down meanwhile has no speed. */
	if (!info || (info[AT_STATE] & 0xf) < TRIAD_PORT_INIT) {
		entry->n_missed += entry->n_missed < UINT8_MAX;
		entry->due_us = now_us +
			triad_backoff(
				entry->n_missed, TRIAD_SPEEDS_AGAIN_US, MAX_AGAIN_US);
		speeds->pass_us = triad_clock_earlier(speeds->pass_us, entry->due_us);
		if (entry->due_us < speeds->next_pass_us)
			speeds->next_pass_us = entry->due_us;
	} else if (take_port_info(entry, info, now_us) && !speeds->has_news) {
		speeds->has_news = true;
		speeds->news_us = now_us;
	}
}

void triad_speeds_expire(
	struct triad_speeds *speeds, uint64_t patience_us, uint64_t now_us)
{
	for (unsigned i = 0; i < TRIAD_SPEEDS_WINDOW; i++)
		if (speeds->slots[i].tid &&
			now_us - speeds->slots[i].sent_us >= patience_us)
			triad_speeds_answer(speeds, speeds->slots[i].tid, NULL, now_us);
}

bool triad_speeds_take_news(struct triad_speeds *speeds, uint64_t now_us)
{
	bool is_over = (speeds->are_others || speeds->pass_us > now_us) &&
		!triad_speeds_n_asked(speeds);

	if (!speeds->has_news || (!is_over && now_us - speeds->news_us < NEWS_US))
		return false;
	speeds->has_news = false;
	return true;
}

struct triad_speeds_counts triad_speeds_counts(const struct triad_speeds *speeds)
{
	return speeds->counts;
}
