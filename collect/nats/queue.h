/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue of messages, bounded in number and octets.
 *
 * Thread-safety: its own lock, held for a few instructions and a copy. */
#ifndef TRIAD_COLLECT_NATS_QUEUE_H
#define TRIAD_COLLECT_NATS_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/nats/bus.h"
#include "lib/ring.h"

/* The receiver, or the sender. */
struct triad_bus_envelope {
	enum triad_member_to to;
	uint64_t id;
	bool is_manager; /* the sender */
};

struct triad_bus_letter {
	struct triad_bus_envelope envelope;
	size_t size;
	uint8_t octets[];
};

struct triad_bus_queue {
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct triad_bus_letter *letters[TRIAD_BUS_MAX_MESSAGES];
	struct triad_ring ring; /* of the letters */
	size_t octets;
	uint64_t n_dropped;
	bool is_stopped;
};

/* Of memory that is 0: so that a queue that is never used costs none. */
void triad_bus_queue_init(struct triad_bus_queue *queue);
void triad_bus_queue_clear(struct triad_bus_queue *queue);

/* Returns false, and counts, when there is no room or memory. */
bool triad_bus_queue_put(struct triad_bus_queue *queue,
	const struct triad_bus_envelope *envelope, const uint8_t *octets, size_t size);
/* Takes the next message, which the caller frees; NULL: none came until 'until_us' (0:
 * don't wait), or the queue was stopped. */
struct triad_bus_letter *triad_bus_queue_take(
	struct triad_bus_queue *queue, uint64_t until_us);
/* Makes a message of it, which triad_bus_give_back() frees. */
void triad_bus_letter_open(
	struct triad_bus_letter *letter, struct triad_bus_message *message);
/* With 'stop', makes all that wait in take() return. */
void triad_bus_queue_stop(struct triad_bus_queue *queue, bool stop);
uint64_t triad_bus_queue_dropped(struct triad_bus_queue *queue);

#endif
