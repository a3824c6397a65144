/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Held links, as the master tells them to standbys, so that a new master holds them in its
 * first sweep.
 *
 * Model: the master sends the whole list in rounds, each in pieces, an empty one for no links.  A
 * standby holds what a piece names; when it has all pieces of a round, it lets go what none of
 * them named.  A piece that is lost changes nothing.  Times go as ages, since clocks differ.
 *
 * Octets, big-endian:
 *
 *     at    size
 *     0     4     magic "TrDm"
 *     4     1     version, 1
 *     5     1     reserved, 0
 *     6     2     which piece, from 0
 *     8     2     how many pieces the round has
 *     10    2     links in this one, at most TRIAD_DAMP_COPY_LINKS
 *     12    4     the round
 *     16    40 n  links: both nodes' GUIDs (8 each), both port numbers (1 each), flags (1;
 *                 bit 0: pinned; bit 1: by the port manager), number of holds (1), penalty
 *                 (4), its age, how long it is held, how long it must be up (4 each, s), number
 *                 of bounces (4)
 *
 * A receiver ignores what follows in a piece.
 *
 * Thread-safety: none. */
#ifndef TRIAD_DAMP_COPY_H
#define TRIAD_DAMP_COPY_H

#include "damp/links.h"

#define TRIAD_DAMP_COPY_MAGIC "TrDm"
#define TRIAD_DAMP_COPY_VERSION 1u
#define TRIAD_DAMP_COPY_SIZE 1024u /* of a piece, at most */
#define TRIAD_DAMP_COPY_LINKS 25u  /* in a piece */
#define TRIAD_DAMP_COPY_PIECES 64u /* of a round, at most */

/* What a standby has of a round.  Zeros at first. */
struct triad_damp_copy {
	uint32_t round;
	uint64_t pieces; /* a bit for each that came */
};

/* Writes piece 'piece' of the list as it is.  Returns its size; 0: there is none (piece 0
 * always is).  The links must not change between pieces of a round. */
size_t triad_damp_copy_write(struct triad_damp_links *links, uint32_t round,
	unsigned piece, uint64_t now_us, uint8_t octets[TRIAD_DAMP_COPY_SIZE]);

/* Takes a piece.  Returns 0; EPROTONOSUPPORT: of another version; or EINVAL. */
int triad_damp_copy_take(struct triad_damp_copy *copy, struct triad_damp_links *links,
	const void *octets, size_t size, uint64_t now_us);

#endif
