/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/event_heap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *at(const struct event_heap *heap, unsigned i)
{
	return heap->octets + heap->size * i;
}

static bool is_before(const uint64_t *a, const uint64_t *b)
{
	return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static void make_room(struct event_heap *heap)
{
	if (heap->n < heap->max)
		return;
	heap->max = heap->max * 2 + 64;
	heap->octets = realloc(heap->octets, heap->max * heap->size);
	if (heap->octets)
		return;
	fprintf(stderr, "simulation: out of memory\n");
	abort();
}

void event_heap_push(struct event_heap *heap, const void *event)
{
	const uint64_t key[2] = {*(const uint64_t *)event, heap->number++};
	unsigned i;

	make_room(heap);
	for (i = heap->n++; i && is_before(key, at(heap, (i - 1) / 2)); i = (i - 1) / 2)
		memcpy(at(heap, i), at(heap, (i - 1) / 2), heap->size);
	memcpy(at(heap, i), event, heap->size);
	memcpy(at(heap, i), key, sizeof(key));
}

void event_heap_pop(struct event_heap *heap, void *event)
{
	const void *last = at(heap, --heap->n);
	unsigned i = 0, child;

	memcpy(event, heap->octets, heap->size);
	while ((child = 2 * i + 1) < heap->n) {
		if (child + 1 < heap->n &&
			is_before(at(heap, child + 1), at(heap, child)))
			child++;
		if (!is_before(at(heap, child), last))
			break;
		memcpy(at(heap, i), at(heap, child), heap->size);
		i = child;
	}
	memmove(at(heap, i), last, heap->size);
}

uint64_t event_heap_next_us(const struct event_heap *heap)
{
	return heap->n ? *(const uint64_t *)at(heap, 0) : UINT64_MAX;
}

void event_heap_clear(struct event_heap *heap)
{
	free(heap->octets);
	heap->octets = NULL;
	heap->n = heap->max = 0;
}
