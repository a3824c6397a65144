/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slots in a queue of fixed size that serves its sources in turn.
 *
 * Model: as with lib/ring.h the owner has an array of 'room' items, and the queue says
 * which slots are in use.  Each item has a source, a number.  Items of one source
 * leave in the order in which they came.  Sources that have items give one each, in
 * turn.  So a source that puts a thousand items waits for its own thousand; one that
 * puts a single item waits for as many as there are sources.
 *
 * Room: a source gets a slot while it has fewer items than slots are free.  So one
 * source alone gets half of the room, and two that put all they can a third each.  A
 * source without items always gets a slot, until other sources with few items have
 * taken all.
 *
 * Invariants: room and n_sources are at most 65535.
 * Thread-safety: none; the caller excludes others.
 * Memory: 2 octets for each slot and 8 for each source, allocated once.
 * Source: for the turns, J. Nagle: On Packet Switches with Infinite Storage (RFC 970);
 * for the room, A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds for
 * Shared-Memory Packet Switches (1998), with a factor of 1. */
#ifndef TRIAD_LIB_FAIR_QUEUE_H
#define TRIAD_LIB_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct triad_fair_queue;

/* NULL when memory is short. */
struct triad_fair_queue *triad_fair_queue_new(uint32_t room, uint32_t n_sources);
/* Accepts NULL. */
void triad_fair_queue_free(struct triad_fair_queue *queue);

/* Sets '*slot' for one more item of 'source' (less than n_sources).  False: there is
 * no slot for it. */
bool triad_fair_queue_put(
	struct triad_fair_queue *queue, uint32_t source, uint32_t *slot);

/* Removes the item whose turn it is, and sets '*slot' to where it is; the next put may
 * reuse that.  False: the queue is empty. */
bool triad_fair_queue_take(struct triad_fair_queue *queue, uint32_t *slot);

/* Places in use. */
uint32_t triad_fair_queue_length(const struct triad_fair_queue *queue);

#endif
