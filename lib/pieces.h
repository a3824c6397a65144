/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Octets that travel in pieces of one size, of which the last has the rest, and that are put
 * together again in any order.
 *
 * Thread-safety: none.  Memory: what was begun is freed by triad_pieces_end(). */
#ifndef TRIAD_LIB_PIECES_H
#define TRIAD_LIB_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct triad_pieces {
	uint8_t *octets; /* NULL: nothing is being received */
	bool *has;
	size_t size, piece_size;
	uint64_t n, n_have;
	uint64_t missing; /* the first missing piece */
};

/* Pieces of 'size' octets. */
static inline uint64_t triad_pieces_n(size_t size, size_t piece_size)
{
	return size / piece_size + (size % piece_size != 0);
}

/* Octets of a piece; 0: there is no such piece. */
static inline size_t triad_pieces_octets_of(
	size_t size, size_t piece_size, uint64_t piece)
{
	if (piece >= triad_pieces_n(size, piece_size))
		return 0;
	size -= (size_t)piece * piece_size;
	return size < piece_size ? size : piece_size;
}

/* Drops what was received. */
static inline void triad_pieces_end(struct triad_pieces *pieces)
{
	free(pieces->octets);
	free(pieces->has);
	*pieces = (struct triad_pieces){0};
}

/* Returns false if memory is short: then nothing is being received. */
static inline bool triad_pieces_begin(
	struct triad_pieces *pieces, size_t size, size_t piece_size)
{
	triad_pieces_end(pieces);
	*pieces = (struct triad_pieces){.octets = malloc(size),
		.size = size,
		.piece_size = piece_size,
		.n = triad_pieces_n(size, piece_size)};
	pieces->has = calloc(pieces->n, sizeof(*pieces->has));
	if (!pieces->octets || !pieces->has)
		triad_pieces_end(pieces);
	return pieces->octets;
}

/* Adds a piece, one of those there are.  Returns false if it was there. */
static inline bool triad_pieces_put(
	struct triad_pieces *pieces, uint64_t piece, const uint8_t *octets)
{
	if (pieces->has[piece])
		return false;
	memcpy(pieces->octets + piece * pieces->piece_size, octets,
		triad_pieces_octets_of(pieces->size, pieces->piece_size, piece));
	pieces->has[piece] = true;
	pieces->n_have++;
	while (pieces->missing < pieces->n && pieces->has[pieces->missing])
		pieces->missing++;
	return true;
}

#endif
