/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much memory malloc() has given out. */
#ifndef TRIAD_TESTS_HEAP_H
#define TRIAD_TESTS_HEAP_H

#include <malloc.h>
#include <stddef.h>

/* mallinfo()'s numbers are ints, and may have wrapped; glibc has mallinfo2() since
 * 2.33. */
#if __GLIBC_PREREQ(2, 33)
#define HEAP_INFO mallinfo2
#else
#define HEAP_INFO mallinfo
#endif

/* Octets in use. */
static inline size_t heap_in_use(void)
{
	return (size_t)HEAP_INFO().uordblks;
}

/* Octets that the kernel gave, in use or not. */
static inline size_t heap_size(void)
{
	return (size_t)HEAP_INFO().arena + (size_t)HEAP_INFO().hblkhd;
}

#endif
