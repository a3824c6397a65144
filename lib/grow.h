/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Arrays that grow as they are filled.
 *
 *     struct link *links;           NULL at first
 *     size_t n, room;               0
 *
 *     if (n == MAX_LINKS)
 *             return E2BIG;
 *     if (triad_grow(&links, &room, n + 1, sizeof(*links), 64))
 *             return ENOMEM;
 *     links[n++] = link;
 *
 * The caller caps whatever a file or the network sizes.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: the owner's, to be given to free(). */
#ifndef TRIAD_LIB_GROW_H
#define TRIAD_LIB_GROW_H

#include <stddef.h>

/* Makes room for 'n' items of 'size' octets.  'array' is the address of the array's
 * pointer, of any type.  Doubles '*room' (first 'least' items) until 'n' fit, and moves
 * the items if it must.  New items are not cleared.  Returns 0, or ENOMEM with nothing
 * changed. */
int triad_grow(void *array, size_t *room, size_t n, size_t size, size_t least);

#endif
