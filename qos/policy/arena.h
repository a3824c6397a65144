/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory that is taken piece by piece and given back at once.
 *
 * Thread-safety: none.  Memory: NULL is returned when there is none, or when an arena
 * would take more than TRIAD_ARENA_MAX_OCTETS. */
#ifndef TRIAD_QOS_ARENA_H
#define TRIAD_QOS_ARENA_H

#include <stddef.h>

#define TRIAD_ARENA_MAX_OCTETS ((size_t)512 << 20)

struct triad_arena;

struct triad_arena *triad_arena_new(void);

/* Accepts NULL. */
void triad_arena_free(struct triad_arena *arena);

/* Aligned for anything, not cleared. */
void *triad_arena_take(struct triad_arena *arena, size_t size);

/* 'old' with room for 'size' octets: grown in place if it was taken last, else copied.
 * 'old' (NULL when 'old_size' is 0) must not be used any more. */
void *triad_arena_grow(
	struct triad_arena *arena, void *old, size_t old_size, size_t size);

/* A copy with a 0 behind it. */
char *triad_arena_text(struct triad_arena *arena, const char *text, size_t length);

#endif
