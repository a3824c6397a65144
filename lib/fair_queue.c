/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/fair_queue.h"

#include <stdlib.h>

struct source {
	uint16_t n;           /* its items */
	uint16_t first, last; /* their slots, if it has any */
	uint16_t next;        /* the source whose turn is next */
};

struct triad_fair_queue {
	uint32_t room, n;
	/* For each slot: the next slot of its source, or the next free one. */
	uint16_t *next;
	uint16_t free; /* the first, if n < room */
	/* Sources with items form a circle; 'last' is the one whose turn comes last. */
	struct source *sources;
	uint16_t last;
};

struct triad_fair_queue *triad_fair_queue_new(uint32_t room, uint32_t n_sources)
{
	struct triad_fair_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->room = room;
	queue->next = calloc(room, sizeof(*queue->next));
	queue->sources = calloc(n_sources, sizeof(*queue->sources));
	if (!queue->next || !queue->sources) {
		triad_fair_queue_free(queue);
		return NULL;
	}
	for (uint32_t i = 0; i < room; i++)
		queue->next[i] = (uint16_t)(i + 1);
	return queue;
}

void triad_fair_queue_free(struct triad_fair_queue *queue)
{
	if (!queue)
		return;
	free(queue->next);
	free(queue->sources);
	free(queue);
}

/* Adds 'source' to the circle, with the last turn. */
static void join_circle(struct triad_fair_queue *queue, uint16_t source)
{
	struct source *joins = &queue->sources[source];

	if (queue->n) {
		joins->next = queue->sources[queue->last].next;
		queue->sources[queue->last].next = source;
	} else {
		joins->next = source;
	}
	queue->last = source;
}

bool triad_fair_queue_put(
	struct triad_fair_queue *queue, uint32_t source, uint32_t *slot)
{
	struct source *from = &queue->sources[source];
	uint16_t at = queue->free;

	if (from->n >= queue->room - queue->n)
		return false;
	queue->free = queue->next[at];
	if (from->n) {
		queue->next[from->last] = at;
	} else {
		join_circle(queue, (uint16_t)source);
		from->first = at;
	}
	from->last = at;
	from->n++;
	queue->n++;
	*slot = at;
	return true;
}

bool triad_fair_queue_take(struct triad_fair_queue *queue, uint32_t *slot)
{
	struct source *before, *from;
	uint16_t source, at;

	if (!queue->n)
		return false;
	before = &queue->sources[queue->last];
	source = before->next;
	from = &queue->sources[source];
	at = from->first;
	from->first = queue->next[at];
	from->n--;
	/* The source moves to the end of the circle, or leaves it when it is empty. */
	if (from->n)
		queue->last = source;
	else
		before->next = from->next;
	queue->next[at] = queue->free;
	queue->free = at;
	queue->n--;
	*slot = at;
	return true;
}

uint32_t triad_fair_queue_length(const struct triad_fair_queue *queue)
{
	return queue->n;
}
