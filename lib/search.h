/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Binary search in any sorted sequence, however it is accessed.
 *
 *     uint32_t at;
 *
 *     TRIAD_SEARCH(at, 0, n_nodes, nodes[at].guid < guid);
 *     if (at < n_nodes && nodes[at].guid == guid)
 *             return &nodes[at];
 *
 * To find one item of an array, bsearch() is enough.
 *
 * Thread-safety: none; the caller excludes changes of the items. */
#ifndef TRIAD_LIB_SEARCH_H
#define TRIAD_LIB_SEARCH_H

#include <stdint.h>

/* Sets 'at', a uint32_t, to the first place from 'first' to below 'end' where
 * 'is_before', an expression in 'at', is false; to 'end' when there is none.  It must
 * be false at all places after that one, too.  It is evaluated at most log2(end -
 * first) + 1 times. */
#define TRIAD_SEARCH(at, first, end, is_before)                                        \
	for (uint32_t search_low = (first), search_high = (end);                       \
		(at) = search_low + (search_high - search_low) / 2,                    \
		      search_low < search_high;)                                       \
		if (is_before)                                                         \
			search_low = (at) + 1;                                         \
		else                                                                   \
			search_high = (at)

/* The order of two uint64_t, for qsort() and bsearch(). */
static inline int triad_order_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#endif
