/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/nats/queue.h"

#include <stdlib.h>
#include <string.h>

#include "triad/thread.h"

void triad_bus_queue_init(struct triad_bus_queue *queue)
{
	pthread_mutex_init(&queue->lock, NULL);
	triad_condition_init(&queue->changed);
}

void triad_bus_queue_clear(struct triad_bus_queue *queue)
{
	while (queue->ring.n)
		free(queue->letters[triad_ring_take(
			&queue->ring, TRIAD_BUS_MAX_MESSAGES)]);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

bool triad_bus_queue_put(struct triad_bus_queue *queue,
	const struct triad_bus_envelope *envelope, const uint8_t *octets, size_t size)
{
	struct triad_bus_letter *letter = malloc(sizeof(*letter) + size);
	bool fits;

	/* Copy before taking the lock, to hold it only briefly. */
	if (letter) {
		*letter =
			(struct triad_bus_letter){.envelope = *envelope, .size = size};
		memcpy(letter->octets, octets, size);
	}
	pthread_mutex_lock(&queue->lock);
	fits = letter && queue->ring.n < TRIAD_BUS_MAX_MESSAGES &&
		queue->octets + size <= TRIAD_BUS_MAX_OCTETS;
	if (fits) {
		queue->letters[triad_ring_put(&queue->ring, TRIAD_BUS_MAX_MESSAGES)] =
			letter;
		queue->octets += size;
		pthread_cond_signal(&queue->changed);
	}
	queue->n_dropped += !fits;
	pthread_mutex_unlock(&queue->lock);
	if (!fits)
		free(letter);
	return fits;
}

struct triad_bus_letter *triad_bus_queue_take(
	struct triad_bus_queue *queue, uint64_t until_us)
{
	struct triad_bus_letter *letter = NULL;

	pthread_mutex_lock(&queue->lock);
	while (!queue->ring.n && !queue->is_stopped && until_us)
		if (triad_condition_wait(&queue->changed, &queue->lock, until_us))
			break;
	if (queue->ring.n) {
		letter = queue->letters[triad_ring_take(
			&queue->ring, TRIAD_BUS_MAX_MESSAGES)];
		queue->octets -= letter->size;
	}
	pthread_mutex_unlock(&queue->lock);
	return letter;
}

void triad_bus_letter_open(
	struct triad_bus_letter *letter, struct triad_bus_message *message)
{
	*message = (struct triad_bus_message){
		.speaker = {letter->envelope.id, letter->envelope.is_manager},
		.octets = letter->octets,
		.size = letter->size};
}

void triad_bus_give_back(struct triad_bus_message *message)
{
	free(message->octets - offsetof(struct triad_bus_letter, octets));
}

void triad_bus_queue_stop(struct triad_bus_queue *queue, bool stop)
{
	pthread_mutex_lock(&queue->lock);
	queue->is_stopped = stop;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

uint64_t triad_bus_queue_dropped(struct triad_bus_queue *queue)
{
	return TRIAD_LOCKED(&queue->lock, queue->n_dropped);
}
