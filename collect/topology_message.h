/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric as octets: what a manager hands down, so that agents need not discover.
 *
 * Model: of each node and port what reading counters and showing them takes, in the
 * order of the fabric, so that a far end is the index of a port:
 *
 *     u32 nodes   u32 ports   u64 SM's port GUID
 *     a node:  u64 GUID   u8 type   u32 vendor   u16 device   text name
 *              v number of ports
 *     a port:  u8 number   u8 flags: 1 it has counters, 2 no GUID follows: it's that of
 *              the port before   u64 GUID   u16 LID   u8 state   u8 physical state
 *              u8 width   u8 speed   u8 extended speed   u8 rate   u8 MTU
 *              u8 SL   v far end's index and 1; 0: none
 *     and of port 0 of a switch, and each port of other nodes, whose LID is asked:
 *              v P_Key table: 0 none is known; 1 it follows: v number, so many u16
 *              P_Keys with the membership bit; 2 and more: that number less 2 is the
 *              place among the last TRIAD_RECENT_MOST that were said, the latest
 *              first (lib/recent.h).  An agent chooses by it and its own port's
 *              table with which P_Key it asks (ib/partitions.h).
 *
 * packed by zstd, and cut into pieces that are messages of their own:
 *
 *    20  u64 hash    of all octets before they were packed
 *    28  u32 size    then          32  u32 packed size, of all pieces
 *    36  u16 piece   from 0 on     38  u16 number of pieces
 *    40  octets of the piece
 *
 * A receiver puts the pieces of one hash together, in whatever order they come; those
 * of another one begin anew.
 *
 * Thread-safety: none.  Memory: what is being put together, at most
 * TRIAD_TOPOLOGY_MAX_SIZE twice; checked. */
#ifndef TRIAD_COLLECT_TOPOLOGY_MESSAGE_H
#define TRIAD_COLLECT_TOPOLOGY_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "triad/fabric.h"

#define TRIAD_TOPOLOGY_MAX_SIZE ((size_t)128 << 20)
#define TRIAD_TOPOLOGY_PIECE_SIZE (128u * 1024)
#define TRIAD_TOPOLOGY_MAX_PKEYS 1024u /* of one port; others are left out */

/* --- handing down --- */

/* A fabric, packed; to be freed. */
struct triad_topology_packed {
	uint64_t hash;
	uint32_t size, packed_size;
	uint8_t *octets;
};

/* Returns 0, ENOMEM or EOVERFLOW. */
int triad_topology_pack(
	const struct triad_fabric *fabric, struct triad_topology_packed *packed);
unsigned triad_topology_n_pieces(const struct triad_topology_packed *packed);
/* One piece as a message; 'size' of TRIAD_TOPOLOGY_PIECE_SIZE + 64 is enough.  Returns
 * its octets. */
size_t triad_topology_write_piece(const struct triad_topology_packed *packed,
	unsigned piece, const struct triad_collect_head *head, uint8_t *to,
	size_t size);

/* --- taking --- */

/* The fabric, one reference.  'size' and 'packed_size' are at most
 * TRIAD_TOPOLOGY_MAX_SIZE.  Returns 0, EPROTO: it makes no sense, or ENOMEM. */
int triad_topology_unpack(
	const struct triad_topology_packed *packed, struct triad_fabric **fabric);

struct triad_topology_pieces;

struct triad_topology_pieces *triad_topology_pieces_new(void);
void triad_topology_pieces_free(struct triad_topology_pieces *pieces);

/* Takes a piece ('body' stands behind the head).  Returns 0 when the fabric is whole:
 * then it is in '*fabric', one reference, its hash in '*hash'; EAGAIN: more is to come;
 * EALREADY: it is 'known' and nothing is put together; EPROTO: it makes no sense;
 * ENOMEM. */
int triad_topology_pieces_add(struct triad_topology_pieces *pieces,
	struct triad_wire *body, uint64_t known, struct triad_fabric **fabric,
	uint64_t *hash);

#endif
