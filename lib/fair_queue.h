/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Places in a queue of fixed size, whose sources take turns.
 *
 * Model: as with lib/ring.h the owner has an array of 'room' items, and the queue says which
 * of its places are in use.  Each item has a source, a number.  Items of one source leave in
 * the order in which they came; of those that have any, each source in turn gives one.  So
 * a source that puts a thousand waits for its thousand, and one that puts a single item
 * waits for as many as there are sources.
 *
 * Room: a source gets a place while it has fewer than are free.  So one source alone has half
 * of the room, two that put all they can have a third each, and there is always a place for
 * a source that has none, until every place is taken by others that had none or few.
 *
 * Invariants: room and n_sources are at most 65535.
 * Thread-safety: none; the caller excludes others.
 * Memory: 2 octets for each place and 8 for each source, allocated once.
 * Source: for the turns, J. Nagle: On Packet Switches with Infinite Storage (RFC 970); for
 * the room, A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches (1998), with a factor of 1. */
#ifndef TRIAD_LIB_FAIR_QUEUE_H
#define TRIAD_LIB_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct triad_fair_queue;

/* NULL when memory is short. */
struct triad_fair_queue *triad_fair_queue_new(uint32_t room, uint32_t n_sources);
/* Accepts NULL. */
void triad_fair_queue_free(struct triad_fair_queue *queue);

/* Sets the place for one more item of 'source', less than n_sources.  False: it gets none. */
bool triad_fair_queue_put(
	struct triad_fair_queue *queue, uint32_t source, uint32_t *place);

/* Sets the place of the item whose turn it is, which leaves: the next put may use it.  False:
 * there is none. */
bool triad_fair_queue_take(struct triad_fair_queue *queue, uint32_t *place);

/* Places in use. */
uint32_t triad_fair_queue_length(const struct triad_fair_queue *queue);

#endif
