/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Places in a queue of fixed size.
 *
 * Model: the owner has an array of 'room' items; the ring says which of its places are
 * in use: 'n' of them, the oldest at 'first'.
 *
 *     if (ring.n < ROOM)
 *             items[triad_ring_put(&ring, ROOM)] = item;
 *     if (ring.n)
 *             item = items[triad_ring_take(&ring, ROOM)];
 *
 * A log of the last items that also counts all of them needs no ring:
 * items[n++ % ROOM].
 *
 * Invariants: first < room, n <= room, room <= 2^31, the same in each call.
 * Thread-safety: none; the caller excludes others.
 * Memory: none; the items are the owner's. */
#ifndef TRIAD_LIB_RING_H
#define TRIAD_LIB_RING_H

#include <stdint.h>

/* All zeros: empty. */
struct triad_ring {
	uint32_t first, n;
};

/* The place of item 'i', counted from the oldest one. */
static inline uint32_t triad_ring_at(
	const struct triad_ring *ring, uint32_t room, uint32_t i)
{
	return (ring->first + i) % room;
}

/* Returns the place for a new item, after the others; n < room. */
static inline uint32_t triad_ring_put(struct triad_ring *ring, uint32_t room)
{
	return triad_ring_at(ring, room, ring->n++);
}

/* Removes the oldest item and returns its place; n > 0. */
static inline uint32_t triad_ring_take(struct triad_ring *ring, uint32_t room)
{
	uint32_t at = ring->first;

	ring->first = triad_ring_at(ring, room, 1);
	ring->n--;
	return at;
}

#endif
