/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How long to wait before the next try: twice as long after each failure.
 *
 * Thread-safety: a function without state. */
#ifndef TRIAD_LIB_BACKOFF_H
#define TRIAD_LIB_BACKOFF_H

#include <stdint.h>

/* The wait after 'n' failures in a row, in the unit of 'first': that one after the first
 * failure, and at most 'most'.  'n' 0: 0. */
static inline uint64_t triad_backoff(uint32_t n, uint64_t first, uint64_t most)
{
	if (!n)
		return 0;
	return n - 1 < 64 && first <= most >> (n - 1) ? first << (n - 1) : most;
}

#endif
