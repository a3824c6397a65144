/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory that is short: one allocation is refused.  For a program that is linked with
 * -Wl,--wrap=malloc and so on. */
#ifndef TRIAD_TESTS_UNIT_SCARCE_MEMORY_H
#define TRIAD_TESTS_UNIT_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* The linker puts these in the place of malloc() and so on. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned n_left; /* that are granted before one is refused; 0: all are */
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

/* The 'n'th from now on. */
static inline void refuse(unsigned n)
{
	n_left = n;
	was_refused = false;
}

/* Whether one was; none is any more. */
static inline bool refused(void)
{
	n_left = 0;
	return was_refused;
}

#endif
