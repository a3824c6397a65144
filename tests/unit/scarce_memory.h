/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulates a shortage of memory: refuses one allocation.  The program must be linked
 * with -Wl,--wrap=malloc and so on. */
#ifndef TRIAD_TESTS_UNIT_SCARCE_MEMORY_H
#define TRIAD_TESTS_UNIT_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* The linker replaces malloc() and so on with these (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned n_left; /* the 'n_left'th allocation from now is refused; 0: none */
static bool was_refused;

static bool is_refused(void)
{
	if (!n_left || --n_left)
		return false;
	was_refused = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return is_refused() ? NULL : __real_realloc(memory, size);
}

/* Refuses the 'n'th allocation from now on. */
static inline void refuse(unsigned n)
{
	n_left = n;
	was_refused = false;
}

/* Whether an allocation was refused.  No further one will be. */
static inline bool refused(void)
{
	n_left = 0;
	return was_refused;
}

#endif
