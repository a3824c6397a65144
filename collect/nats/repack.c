/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/nats/repack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1

/* --- octets --- */

bool triad_topology_is_packed(const uint8_t *octets, size_t n)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

	_Static_assert(ZSTD_MAGICNUMBER == 0xfd2fb528u, "zstd's frames begin so");
	return n >= sizeof(magic) && !memcmp(octets, magic, sizeof(magic));
}

/* Makes room for 'room' octets. */
static int begin_octets(const struct triad_topology_octets *from, size_t room,
	struct triad_topology_octets *to)
{
	*to = (struct triad_topology_octets){
		.hash = from->hash, .size = from->size, .octets = malloc(room)};
	return to->octets ? 0 : ENOMEM;
}

/* 'n': how many there are now, or zstd's error. */
static int end_octets(struct triad_topology_octets *to, size_t n, int error)
{
	if (!ZSTD_isError(n) && n <= TRIAD_TOPOLOGY_MAX_SIZE) {
		to->n_octets = (uint32_t)n;
		return 0;
	}
	triad_topology_octets_free(to);
	return error;
}

int triad_topology_pack(
	const struct triad_topology_octets *from, struct triad_topology_octets *to)
{
	size_t room = ZSTD_compressBound(from->n_octets);

	if (begin_octets(from, room, to))
		return ENOMEM;
	return end_octets(to,
		ZSTD_compress(to->octets, room, from->octets, from->n_octets, LEVEL),
		EOVERFLOW);
}

int triad_topology_unpack(
	const struct triad_topology_octets *from, struct triad_topology_octets *to)
{
	size_t n;

	if (from->size > TRIAD_TOPOLOGY_MAX_SIZE)
		return EPROTO;
	if (begin_octets(from, (size_t)from->size + 1, to))
		return ENOMEM;
	n = ZSTD_decompress(to->octets, from->size, from->octets, from->n_octets);
	if (!ZSTD_isError(n) &&
		(n != from->size || triad_topology_hash(to->octets, n) != from->hash))
		n = SIZE_MAX; /* as an error of zstd */
	return end_octets(to, n, EPROTO);
}

/* --- messages --- */

void triad_repack_clear(struct triad_repack *repack)
{
	for (unsigned i = 0; i < TRIAD_REPACK_SENDERS; i++)
		triad_topology_pieces_free(repack->senders[i].pieces);
	triad_topology_octets_free(&repack->whole);
	*repack =
		(struct triad_repack){.packs = repack->packs, .n_lost = repack->n_lost};
}

/* What a sender's pieces are put together in: instead of that of the one that was heard
 * longest ago, if it is new.  NULL: memory is short. */
static struct triad_topology_pieces *find_pieces(
	struct triad_repack *repack, uint64_t sender)
{
	unsigned found = 0;

	for (unsigned i = 0; i < TRIAD_REPACK_SENDERS; i++) {
		if (repack->senders[i].pieces && repack->senders[i].id == sender) {
			found = i;
			break;
		}
		if (repack->senders[i].used < repack->senders[found].used)
			found = i;
	}
	if (!repack->senders[found].pieces || repack->senders[found].id != sender) {
		triad_topology_pieces_free(repack->senders[found].pieces);
		repack->senders[found].pieces = triad_topology_pieces_new();
		repack->senders[found].id = sender;
	}
	repack->senders[found].used = ++repack->n_used;
	return repack->senders[found].pieces;
}

/* Begins to give out a fabric that is complete, in the other form. */
static void convert(struct triad_repack *repack, struct triad_topology_octets *whole)
{
	bool is_packed = triad_topology_is_packed(whole->octets, whole->n_octets);
	int error;

	triad_topology_octets_free(&repack->whole);
	repack->next_piece = 0;
	if (is_packed == repack->packs) {
		repack->whole = *whole;
		return;
	}
	error = repack->packs ? triad_topology_pack(whole, &repack->whole)
			      : triad_topology_unpack(whole, &repack->whole);
	repack->n_lost += error != 0;
	triad_topology_octets_free(whole);
}

bool triad_repack_put(
	struct triad_repack *repack, uint64_t sender, uint8_t *octets, size_t size)
{
	struct triad_topology_octets whole;
	struct triad_topology_pieces *pieces;
	struct triad_collect_head head;
	struct triad_wire body;
	int error;

	if (triad_collect_get_head(octets, size, &head, &body) !=
			TRIAD_COLLECT_HEAD_GOOD ||
		head.kind != TRIAD_COLLECT_TOPOLOGY)
		return false;
	pieces = find_pieces(repack, sender);
	error = pieces ? triad_topology_pieces_add(pieces, &body, 0, &whole) : ENOMEM;
	repack->n_lost += error == ENOMEM;
	if (!error) {
		repack->head = head;
		convert(repack, &whole);
	}
	/* What is malformed is counted by whom it was sent to. */
	return error != EPROTO;
}

size_t triad_repack_next(
	struct triad_repack *repack, uint8_t octets[TRIAD_COLLECT_MAX_SIZE])
{
	struct triad_topology_octets *whole = &repack->whole;

	if (!whole->octets)
		return 0;
	if (repack->next_piece == triad_topology_n_pieces(whole)) {
		triad_topology_octets_free(whole);
		return 0;
	}
	return triad_topology_write_piece(whole, repack->next_piece++, &repack->head,
		octets, TRIAD_COLLECT_MAX_SIZE);
}
