/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/events.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/ring.h"
#include "triad/thread.h"

#define QUEUE_SIZE 256u
#define TRAPS_SIZE 64u

struct triad_events {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct triad_event queue[QUEUE_SIZE];
	struct triad_ring ring; /* positions in 'queue' */
	struct triad_trap traps[TRAPS_SIZE];
	struct triad_ring traps_ring;
	bool stopped;
	struct triad_events_counts counts;
};

struct triad_events *triad_events_new(void)
{
	struct triad_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	pthread_mutex_init(&events->lock, NULL);
	triad_condition_init(&events->filled);
	return events;
}

void triad_events_free(struct triad_events *events)
{
	if (!events)
		return;
	pthread_cond_destroy(&events->filled);
	pthread_mutex_destroy(&events->lock);
	free(events);
}

/* The caller holds the lock. */
static void append_event(
	struct triad_events *events, enum triad_event_kind kind, uint64_t now_us)
{
	struct triad_ring *ring = &events->ring;
	uint32_t last = triad_ring_at(ring, QUEUE_SIZE, ring->n - 1);

	/* Merge successive events of one kind: the worker looks at the present
	 * state. */
	events->counts.reported[kind]++;
	if (ring->n && events->queue[last].kind == kind) {
		events->queue[last].at_us = now_us;
	} else if (ring->n == QUEUE_SIZE) {
		events->counts.dropped++;
	} else {
		events->queue[triad_ring_put(ring, QUEUE_SIZE)] =
			(struct triad_event){.kind = kind, .at_us = now_us};
		pthread_cond_signal(&events->filled);
	}
}

void triad_events_put(
	struct triad_events *events, enum triad_event_kind kind, uint64_t now_us)
{
	pthread_mutex_lock(&events->lock);
	append_event(events, kind, now_us);
	pthread_mutex_unlock(&events->lock);
}

void triad_events_put_trap(struct triad_events *events, const struct triad_trap *trap)
{
	struct triad_ring *ring = &events->traps_ring;

	pthread_mutex_lock(&events->lock);
	append_event(events, TRIAD_EVENT_TRAP, trap->at_us);
	/* In a storm of traps, drop the oldest. */
	if (ring->n == TRAPS_SIZE)
		(void)triad_ring_take(ring, TRAPS_SIZE);
	events->traps[triad_ring_put(ring, TRAPS_SIZE)] = *trap;
	pthread_mutex_unlock(&events->lock);
}

bool triad_events_take_trap(struct triad_events *events, struct triad_trap *trap)
{
	bool some;

	pthread_mutex_lock(&events->lock);
	some = events->traps_ring.n;
	if (some)
		*trap = events->traps[triad_ring_take(&events->traps_ring, TRAPS_SIZE)];
	pthread_mutex_unlock(&events->lock);
	return some;
}

bool triad_events_take(
	struct triad_events *events, uint64_t until_us, struct triad_event *event)
{
	bool taken;

	pthread_mutex_lock(&events->lock);
	while (!events->ring.n && !events->stopped &&
		triad_condition_wait(&events->filled, &events->lock, until_us) !=
			ETIMEDOUT)
		continue;
	taken = events->ring.n && !events->stopped;
	if (taken)
		*event = events->queue[triad_ring_take(&events->ring, QUEUE_SIZE)];
	pthread_mutex_unlock(&events->lock);
	return taken;
}

void triad_events_stop(struct triad_events *events)
{
	pthread_mutex_lock(&events->lock);
	events->stopped = true;
	pthread_cond_broadcast(&events->filled);
	pthread_mutex_unlock(&events->lock);
}

bool triad_events_are_stopped(struct triad_events *events)
{
	return TRIAD_LOCKED(&events->lock, events->stopped);
}

struct triad_events_counts triad_events_counts(struct triad_events *events)
{
	return TRIAD_LOCKED(&events->lock, events->counts);
}
