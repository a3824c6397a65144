/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric as messages: a manager sends it to agents, which then need not discover
 * it.
 *
 * Model: the octets describe each node and port as far as agents need it to read and
 * show counters.  They are in the fabric's order, so that a far end is the index of a
 * port:
 *
 *     u32 nodes   u32 ports   u64 SM's port GUID
 *     a node:  u64 GUID   u8 type   u32 vendor   u16 device   text name
 *              v number of ports
 *     a port:  u8 number   u8 flags: 1 it has counters, 2 no GUID follows: it is that of
 *              the port before, 4 what it supports follows   u64 GUID   u16 LID
 *              u8 state   u8 physical state   u8 width   u8 speed   u8 extended speed
 *              u8 rate   u8 MTU   u8 SL
 *              (u8 supported widths   u8 speeds   u8 extended speeds)
 *              v far end's index and 1; 0: none
 *     and of port 0 of a switch, and of each port of other nodes:
 *              v P_Key table: 0 unknown; 1 it follows: v number, so many u16 P_Keys
 *              with the membership bit; 2 and more: the number less 2 is an index
 *              into the last TRIAD_RECENT_MOST tables, the latest first
 *              (ib/recent.h).  From it and its own port's table an agent chooses
 *              the P_Key of its requests (ib/partitions.h).
 *
 * They are cut into pieces, each of which is one message:
 *
 *    20  u64 hash    of all octets
 *    28  u32 size    of all octets      32  u32 how many octets the pieces have together
 *    36  u16 piece   from 0 on     38  u16 number of pieces
 *    40  octets of the piece
 *
 * The two sizes differ at the broker: there the octets are packed by zstd, and the hash
 * and the first size are of what they were before.  collect/nats/repack.h packs and
 * unpacks them, so that the process of the SM need not.
 *
 * A receiver assembles the pieces of one hash in any order; a piece with another hash
 * starts anew.
 *
 * Thread-safety: none.  Memory: what is being assembled, at most
 * TRIAD_TOPOLOGY_MAX_SIZE; checked. */
#ifndef TRIAD_COLLECT_TOPOLOGY_MESSAGE_H
#define TRIAD_COLLECT_TOPOLOGY_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "triad/fabric.h"

#define TRIAD_TOPOLOGY_MAX_SIZE ((size_t)128 << 20)
#define TRIAD_TOPOLOGY_PIECE_SIZE (128u * 1024)
#define TRIAD_TOPOLOGY_MAX_PKEYS 1024u /* of one port; others are left out */

/* A fabric as octets. */
struct triad_topology_octets {
	uint64_t hash; /* of the octets before they were packed */
	uint32_t size; /* how many they were then */
	uint32_t n_octets;
	uint8_t *octets; /* triad_topology_octets_free() frees them */
};

/* A hash like FNV: it only has to distinguish fabrics.  Never 0. */
uint64_t triad_topology_hash(const uint8_t *octets, size_t size);
void triad_topology_octets_free(struct triad_topology_octets *octets);

/* Returns 0, ENOMEM or EOVERFLOW: then there are no octets. */
int triad_topology_encode(
	const struct triad_fabric *fabric, struct triad_topology_octets *octets);
/* Gives a fabric with one reference, of octets that are not packed.  Returns 0, EPROTO
 * (malformed, or still packed) or ENOMEM. */
int triad_topology_decode(
	const struct triad_topology_octets *octets, struct triad_fabric **fabric);

/* --- sending --- */

unsigned triad_topology_n_pieces(const struct triad_topology_octets *octets);
/* One piece as a message; 'size' of TRIAD_TOPOLOGY_PIECE_SIZE + 64 is enough.  Returns
 * its octets. */
size_t triad_topology_write_piece(const struct triad_topology_octets *octets,
	unsigned piece, const struct triad_collect_head *head, uint8_t *to,
	size_t size);

/* --- receiving --- */

struct triad_topology_pieces;

/* NULL when memory is short. */
struct triad_topology_pieces *triad_topology_pieces_new(void);
void triad_topology_pieces_free(struct triad_topology_pieces *pieces);

/* Adds a piece; 'body' begins behind the head.  Returns 0 when all are there: then
 * '*whole' has them, and is the caller's; EAGAIN: pieces are missing; EALREADY: its hash
 * is 'known', and nothing is assembled; EPROTO: malformed; ENOMEM. */
int triad_topology_pieces_add(struct triad_topology_pieces *pieces,
	struct triad_wire *body, uint64_t known, struct triad_topology_octets *whole);

#endif
