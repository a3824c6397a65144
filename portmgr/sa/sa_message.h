/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages between SMs that copy the SA's records (sa_copier.h), and their octets.
 *
 * Octets, big-endian; a payload of another version is refused as a whole.  Within a
 * version, a receiver ignores what it does not know behind STATE and LEAVES, and in
 * reserved octets; kinds that it does not know count as another version:
 *
 *     at    size
 *     0     4     magic "TrSa"
 *     4     1     version, 1
 *     5     1     kind
 *     6     2     reserved, 0
 *
 *     STATE: what the master's SA has
 *     8     8     its wall clock, us since 1970
 *     16    8     era: higher than all eras that it knew when it became master, and at
 *                 least the seconds since 1970
 *     24    4     number of records left out because of a cap
 *     28    4     number of this STATE in that era, from 1
 *     32    512   digests of the groups of buckets (sa_set.h), 64 of 8
 *
 *     ASK: requests digests and buckets
 *     8     8     the only member that answers
 *     16    8     groups whose buckets' digests are requested, bit i: group i
 *     24    2*n   requested buckets, at most TRIAD_SA_MESSAGE_MAX_ASKED
 *
 *     LEAVES: digests of the buckets of a group
 *     8     1     group
 *     9     7     reserved, 0
 *     16    512   64 of 8
 *
 *     PIECES: of buckets, one behind the other
 *           2     bucket
 *           2     octets of this piece
 *           4     octets of the bucket
 *           4     offset of this piece in the bucket
 *           8     the bucket's digest
 *           n     the piece
 *
 * Thread-safety: functions without state.  Memory: what was decoded borrows the
 * payload. */
#ifndef TRIAD_PORTMGR_SA_MESSAGE_H
#define TRIAD_PORTMGR_SA_MESSAGE_H

#include "portmgr/sa/sa_set.h"

#define TRIAD_SA_MAGIC "TrSa"
#define TRIAD_SA_MAGIC_NUMBER 0x54725361u
#define TRIAD_SA_VERSION 1u
#define TRIAD_SA_PAYLOAD_SIZE 1024u
#define TRIAD_SA_MESSAGE_MAX_ASKED 256u
#define TRIAD_SA_MESSAGE_PIECES_AT 8u /* where pieces begin */
#define TRIAD_SA_MESSAGE_PIECE_HEAD 20u

enum triad_sa_message_kind {
	TRIAD_SA_STATE = 1,
	TRIAD_SA_ASK,
	TRIAD_SA_LEAVES,
	TRIAD_SA_PIECES,
};

struct triad_sa_message_piece {
	uint16_t bucket;
	uint16_t n;
	uint32_t size, at;
	uint64_t digest;
	const uint8_t *octets; /* when adding, the bucket's; when taking, the piece's */
};

struct triad_sa_message {
	enum triad_sa_message_kind kind;
	uint64_t wall_us;                        /* STATE */
	uint64_t era;                            /* STATE */
	uint32_t n_left_out;                     /* STATE */
	uint32_t number;                         /* STATE */
	uint64_t digests[TRIAD_SA_SET_N_GROUPS]; /* STATE, LEAVES */
	uint8_t group;                           /* LEAVES */
	uint64_t to;                             /* ASK */
	uint64_t groups;                         /* ASK */
	uint32_t n_buckets;                      /* ASK */
	uint16_t buckets[TRIAD_SA_MESSAGE_MAX_ASKED];
	const uint8_t *pieces; /* PIECES: for triad_sa_message_take_piece() */
	size_t pieces_size;
};

/* Encodes all kinds except PIECES. Returns the octets written. */
size_t triad_sa_message_encode(
	const struct triad_sa_message *message, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE]);

/* Returns 0, EINVAL (not one), or EPROTONOSUPPORT (of another version); 'message' is
 * undefined then. */
int triad_sa_message_decode(
	struct triad_sa_message *message, const void *payload, size_t size);

/* The first function begins PIECES. The second adds a piece after 'at' octets of
 * payload: as much of it as fits, and sets 'piece->n' to that.  Returns the octets of
 * the payload; 'at' and n 0 if nothing fits. */
size_t triad_sa_message_begin_pieces(uint8_t payload[TRIAD_SA_PAYLOAD_SIZE]);
size_t triad_sa_message_add_piece(uint8_t payload[TRIAD_SA_PAYLOAD_SIZE], size_t at,
	struct triad_sa_message_piece *piece);

/* Takes the next piece.  False: there is none. */
bool triad_sa_message_take_piece(
	struct triad_sa_message *message, struct triad_sa_message_piece *piece);

#endif
