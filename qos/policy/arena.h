/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory that is allocated piece by piece and freed all at once.
 *
 * Thread-safety: none.  Memory: returns NULL when memory is short, or an arena would
 * exceed TRIAD_ARENA_MAX_OCTETS. */
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

/* Enlarges 'old' to 'size' octets: in place if it was taken last, else by a copy.
 * 'old' (NULL when 'old_size' is 0) is invalid afterwards. */
void *triad_arena_grow(
	struct triad_arena *arena, void *old, size_t old_size, size_t size);

/* A copy with a 0 behind it. */
char *triad_arena_text(struct triad_arena *arena, const char *text, size_t length);

#endif
