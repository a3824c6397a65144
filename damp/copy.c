/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/copy.h"

#include <errno.h>
#include <string.h>

#include "triad/wire.h"

#define HEAD_SIZE 16u
#define LINK_SIZE 40u
#define IS_PINNED 1u
#define IS_BY_HEAL 2u
#define MAX_NUMBER 254u

/* --- writing --- */

static uint32_t in_s(uint64_t us)
{
	uint64_t s = us / TRIAD_US_PER_S;

	return s < UINT32_MAX ? (uint32_t)s : UINT32_MAX;
}

static void put_link(
	struct triad_wire *w, const struct triad_damp_link *link, uint64_t now_us)
{
	triad_wire_put(w, 8, link->ends.guid);
	triad_wire_put(w, 8, link->ends.far_guid);
	triad_wire_put(w, 1, link->ends.number);
	triad_wire_put(w, 1, link->ends.far_number);
	triad_wire_put(w, 1,
		(link->is_pinned ? IS_PINNED : 0) |
			(link->is_by_heal ? IS_BY_HEAL : 0));
	triad_wire_put(w, 1, link->n_holds < 255 ? link->n_holds : 255);
	triad_wire_put(w, 4, (uint32_t)link->penalty);
	triad_wire_put(w, 4, in_s(now_us - link->at_us));
	triad_wire_put(w, 4, in_s(now_us - link->held_us));
	triad_wire_put(w, 4, in_s(link->quiet_us));
	triad_wire_put(w, 4,
		link->n_bounces < UINT32_MAX ? (uint32_t)link->n_bounces : UINT32_MAX);
}

static size_t count_held(struct triad_damp_links *links)
{
	size_t n = 0;

	for (size_t i = 0; i < triad_damp_links_n(links); i++)
		n += triad_damp_links_at(links, i)->is_held;
	return n;
}

size_t triad_damp_copy_write(struct triad_damp_links *links, uint32_t round,
	unsigned piece, uint64_t now_us, uint8_t octets[TRIAD_DAMP_COPY_SIZE])
{
	size_t n_held = count_held(links), at = 0, n = 0,
	       n_pieces = n_held
		? (n_held + TRIAD_DAMP_COPY_LINKS - 1) / TRIAD_DAMP_COPY_LINKS
		: 1;
	struct triad_wire w;

	if (piece >= n_pieces || n_pieces > TRIAD_DAMP_COPY_PIECES)
		return 0;
	triad_wire_init(&w, octets, TRIAD_DAMP_COPY_SIZE);
	triad_wire_seek(&w, HEAD_SIZE);
	for (size_t i = 0; i < triad_damp_links_n(links); i++) {
		const struct triad_damp_link *link = triad_damp_links_at(links, i);

		if (!link->is_held || at++ / TRIAD_DAMP_COPY_LINKS != piece)
			continue;
		put_link(&w, link, now_us);
		n++;
	}
	triad_wire_seek(&w, 0);
	triad_wire_put_octets(&w, TRIAD_DAMP_COPY_MAGIC, 4);
	triad_wire_put(&w, 1, TRIAD_DAMP_COPY_VERSION);
	triad_wire_put(&w, 1, 0);
	triad_wire_put(&w, 2, piece);
	triad_wire_put(&w, 2, n_pieces);
	triad_wire_put(&w, 2, n);
	triad_wire_put(&w, 4, round);
	return HEAD_SIZE + n * LINK_SIZE;
}

/* --- taking --- */

struct head {
	unsigned piece, n_pieces, n;
	uint32_t round;
};

static int read_head(struct triad_wire *w, struct head *head)
{
	const uint8_t *magic = triad_wire_take(w, 4);
	unsigned version;

	if (!magic || memcmp(magic, TRIAD_DAMP_COPY_MAGIC, 4) != 0)
		return EINVAL;
	version = (unsigned)triad_wire_get(w, 1);
	(void)triad_wire_get(w, 1);
	head->piece = (unsigned)triad_wire_get(w, 2);
	head->n_pieces = (unsigned)triad_wire_get(w, 2);
	head->n = (unsigned)triad_wire_get(w, 2);
	head->round = (uint32_t)triad_wire_get(w, 4);
	if (w->failed)
		return EINVAL;
	if (version != TRIAD_DAMP_COPY_VERSION)
		return EPROTONOSUPPORT;
	return head->n_pieces && head->n_pieces <= TRIAD_DAMP_COPY_PIECES &&
			head->piece < head->n_pieces && head->n <= TRIAD_DAMP_COPY_LINKS
		? 0
		: EINVAL;
}

static uint64_t ago(struct triad_wire *w, uint64_t now_us)
{
	uint64_t age_us = triad_wire_get(w, 4) * TRIAD_US_PER_S;

	return age_us < now_us ? now_us - age_us : 1;
}

/* Reads a link; false: it is not one. */
static bool read_link(
	struct triad_wire *w, uint64_t now_us, struct triad_damp_link *link)
{
	struct triad_damp_ends ends;
	unsigned flags;

	memset(link, 0, sizeof(*link));
	link->ends.guid = triad_wire_get(w, 8);
	link->ends.far_guid = triad_wire_get(w, 8);
	link->ends.number = (uint8_t)triad_wire_get(w, 1);
	link->ends.far_number = (uint8_t)triad_wire_get(w, 1);
	flags = (unsigned)triad_wire_get(w, 1);
	link->is_pinned = flags & IS_PINNED;
	link->is_by_heal = flags & IS_BY_HEAL;
	link->n_holds = (uint32_t)triad_wire_get(w, 1);
	link->penalty = (double)triad_wire_get(w, 4);
	link->at_us = ago(w, now_us);
	link->held_us = ago(w, now_us);
	link->quiet_us = triad_wire_get(w, 4) * TRIAD_US_PER_S;
	link->n_bounces = triad_wire_get(w, 4);
	ends = triad_damp_ends_of(link->ends.guid, link->ends.number,
		link->ends.far_guid, link->ends.far_number);
	return !w->failed && triad_damp_is_same(&ends, &link->ends) &&
		link->ends.number && link->ends.number <= MAX_NUMBER &&
		link->ends.far_number && link->ends.far_number <= MAX_NUMBER &&
		link->n_holds && link->penalty <= TRIAD_DAMP_CEILING;
}

static void hold_link(struct triad_damp_links *links,
	const struct triad_damp_link *told, uint32_t round)
{
	struct triad_damp_link *link = triad_damp_links_find(links, &told->ends, true);

	if (!link)
		return;
	*link = *told;
	link->bounced_us = told->n_bounces ? told->at_us : 0;
	link->is_held = true;
	link->told_round = round;
}

static void let_others_go(
	struct triad_damp_links *links, uint32_t round, uint64_t now_us)
{
	for (size_t i = 0; i < triad_damp_links_n(links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(links, i);

		if (link->is_held && link->told_round != round)
			triad_damp_link_release(link, false, now_us);
	}
}

int triad_damp_copy_take(struct triad_damp_copy *copy, struct triad_damp_links *links,
	const void *octets, size_t size, uint64_t now_us)
{
	struct triad_damp_link told[TRIAD_DAMP_COPY_LINKS];
	struct triad_wire w;
	struct head head;
	int error;

	triad_wire_init(&w, (void *)octets, size);
	error = read_head(&w, &head);
	for (unsigned i = 0; !error && i < head.n; i++)
		if (!read_link(&w, now_us, &told[i]))
			error = EINVAL;
	if (error)
		return error;
	if (head.round != copy->round)
		*copy = (struct triad_damp_copy){.round = head.round};
	copy->pieces |= UINT64_C(1) << head.piece;
	for (unsigned i = 0; i < head.n; i++)
		hold_link(links, &told[i], head.round);
	if (copy->pieces == UINT64_MAX >> (64 - head.n_pieces))
		let_others_go(links, head.round, now_us);
	return 0;
}
