/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT _Alignof(max_align_t)
#define CHUNK_OCTETS ((size_t)64 << 10)

struct chunk {
	struct chunk *next;
	size_t used, size; /* in octets */
	_Alignas(max_align_t) unsigned char octets[];
};

struct triad_arena {
	struct chunk *chunks; /* the first one is in use */
	size_t total;
};

struct triad_arena *triad_arena_new(void)
{
	return calloc(1, sizeof(struct triad_arena));
}

void triad_arena_free(struct triad_arena *arena)
{
	struct chunk *chunk, *next;

	if (!arena)
		return;
	for (chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(arena);
}

static size_t align(size_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct chunk *add_chunk(struct triad_arena *arena, size_t size)
{
	struct chunk *chunk;

	/* The rest of the last chunk is lost, so chunks are much larger than most
	 * pieces. */
	if (size < CHUNK_OCTETS)
		size = CHUNK_OCTETS;
	if (size > TRIAD_ARENA_MAX_OCTETS - arena->total)
		return NULL;
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	chunk->used = 0;
	chunk->size = size;
	arena->chunks = chunk;
	arena->total += size;
	return chunk;
}

void *triad_arena_take(struct triad_arena *arena, size_t size)
{
	struct chunk *chunk = arena->chunks;
	void *taken;

	/* Check before align(), which would overflow near SIZE_MAX. */
	if (size > TRIAD_ARENA_MAX_OCTETS)
		return NULL;
	size = align(size);
	if (!chunk || size > chunk->size - chunk->used)
		chunk = add_chunk(arena, size);
	if (!chunk)
		return NULL;
	taken = chunk->octets + chunk->used;
	chunk->used += size;
	return taken;
}

/* True when 'old' is the piece that was taken last. */
static bool is_last(const struct chunk *chunk, const void *old, size_t old_size)
{
	return old_size && align(old_size) <= chunk->used &&
		chunk->octets + chunk->used - align(old_size) ==
		(const unsigned char *)old;
}

void *triad_arena_grow(
	struct triad_arena *arena, void *old, size_t old_size, size_t size)
{
	struct chunk *chunk = arena->chunks;
	void *taken;

	if (chunk && size <= TRIAD_ARENA_MAX_OCTETS && is_last(chunk, old, old_size) &&
		align(size) - align(old_size) <= chunk->size - chunk->used) {
		chunk->used += align(size) - align(old_size);
		return old;
	}
	/* The old piece stays, unused, until the arena is freed. */
	taken = triad_arena_take(arena, size);
	if (taken && old_size)
		memcpy(taken, old, old_size);
	return taken;
}

char *triad_arena_text(struct triad_arena *arena, const char *text, size_t length)
{
	char *copy = triad_arena_take(arena, length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}
