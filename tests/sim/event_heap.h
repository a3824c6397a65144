/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The events of a simulation in the order of their times; events of the same time in
 * the order in which they were added.
 *
 * An event is any struct that begins with 'uint64_t at_us, number': its time, and which
 * it is, which the heap sets.  Memory that is short ends the process. */
#ifndef TRIAD_TESTS_SIM_EVENT_HEAP_H
#define TRIAD_TESTS_SIM_EVENT_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct event_heap {
	size_t size; /* of an event, in octets; the rest begins with zeros */
	uint8_t *octets;
	unsigned n, max;
	uint64_t number;
};

void event_heap_push(struct event_heap *heap, const void *event);

/* Moves the first event into 'event'; there must be one. */
void event_heap_pop(struct event_heap *heap, void *event);

/* The time of the first one; UINT64_MAX: there is none. */
uint64_t event_heap_next_us(const struct event_heap *heap);

/* Frees the heap's memory, not what events point to. */
void event_heap_clear(struct event_heap *heap);

#endif
