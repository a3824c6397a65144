/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Binary search in what is sorted, whatever it is and however one gets at it.
 *
 *     uint32_t at;
 *
 *     TRIAD_SEARCH(at, 0, n_nodes, nodes[at].guid < guid);
 *     if (at < n_nodes && nodes[at].guid == guid)
 *             return &nodes[at];
 *
 * Where the items are an array and one of them is to be found, bsearch() does.
 *
 * Thread-safety: none; the caller excludes who changes the items. */
#ifndef TRIAD_LIB_SEARCH_H
#define TRIAD_LIB_SEARCH_H

#include <stdint.h>

/* Sets 'at', a uint32_t, to the first place from 'first' to under 'end' of which
 * 'is_before', an expression about 'at', is false; to 'end' when there is none.  It must
 * be true of no place behind that one.  It is asked log2(end - first) + 1 times. */
#define TRIAD_SEARCH(at, first, end, is_before)                                        \
	for (uint32_t search_low = (first), search_high = (end);                       \
		(at) = search_low + (search_high - search_low) / 2,                    \
		      search_low < search_high;)                                       \
		if (is_before)                                                         \
			search_low = (at) + 1;                                         \
		else                                                                   \
			search_high = (at)

#endif
