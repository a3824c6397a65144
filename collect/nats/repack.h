/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packs TOPOLOGY messages on their way to the broker, and unpacks them on their way from
 * it (collect/topology_message.h).
 *
 * Model: the pieces of a fabric are put together, in any order; when all are there, they
 * are packed or unpacked and cut into pieces again.  All other messages, and a fabric
 * that has that form already, pass as they are.  Two managers can send at the same time.
 *
 * Thread-safety: none.  Memory: for each of TRIAD_REPACK_SENDERS what is being assembled,
 * and once what is given out: at most TRIAD_TOPOLOGY_MAX_SIZE each. */
#ifndef TRIAD_COLLECT_NATS_REPACK_H
#define TRIAD_COLLECT_NATS_REPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/topology_message.h"

#define TRIAD_REPACK_SENDERS 4u

/* Packs or unpacks.  The octets of '*to' are the caller's.  Returns 0, EPROTO (malformed),
 * EOVERFLOW or ENOMEM: then '*to' has none. */
int triad_topology_pack(
	const struct triad_topology_octets *from, struct triad_topology_octets *to);
int triad_topology_unpack(
	const struct triad_topology_octets *from, struct triad_topology_octets *to);
/* Whether such octets are packed: by the number that begins each frame of zstd, which is
 * larger than a number of nodes can be.  'n' of 4 is enough to see it. */
bool triad_topology_is_packed(const uint8_t *octets, size_t n);

struct triad_repack {
	bool packs; /* else it unpacks */
	struct {
		uint64_t id, used; /* 'used': the higher, the later */
		struct triad_topology_pieces *pieces;
	} senders[TRIAD_REPACK_SENDERS];
	uint64_t n_used;
	uint64_t n_lost; /* fabrics that were malformed, or memory was short */
	/* What is given out. */
	struct triad_topology_octets whole;
	struct triad_collect_head head;
	unsigned next_piece;
};

/* The rest is 0 at first. */
void triad_repack_clear(struct triad_repack *repack);

/* Is given a message of a sender.  Returns whether it was taken: what comes instead is to
 * be taken by triad_repack_next().  False: the message passes as it is.  A fabric that is
 * lost is counted; agents ask again. */
bool triad_repack_put(
	struct triad_repack *repack, uint64_t sender, uint8_t *octets, size_t size);
/* Writes the next message; returns its size, 0: there is none. */
size_t triad_repack_next(
	struct triad_repack *repack, uint8_t octets[TRIAD_COLLECT_MAX_SIZE]);

#endif
