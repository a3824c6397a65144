/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The P_Key tables met last, the latest first: most ports have one of a few.
 *
 * Model: a table is a slice of an array ('base') that its user keeps; looking one up
 * moves it to the front, and what does not fit falls out behind.  Two that are given
 * the same tables in the same order have them at the same places, so that a place says
 * which table is meant (collect/topology_message.h).
 *
 * Thread-safety: none.  Memory: fixed; 'base' is the user's. */
#ifndef TRIAD_IB_RECENT_H
#define TRIAD_IB_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_RECENT_MOST 16u

/* All zeros is empty. */
struct triad_recent {
	unsigned n;
	struct triad_fabric_slice slices[TRIAD_RECENT_MOST];
};

/* The place, from 0 on, where a table of these 'n' P_Keys was; it is at the front from
 * now on.  -1 when there is none. */
int triad_recent_find(struct triad_recent *recent, const uint16_t *base,
	const uint16_t *pkeys, uint32_t n);

/* Gives '*slice' the table at 'place', which moves to the front; false when there is
 * none. */
bool triad_recent_take(
	struct triad_recent *recent, unsigned place, struct triad_fabric_slice *slice);

/* Puts one that is not there to the front. */
void triad_recent_add(struct triad_recent *recent, struct triad_fabric_slice slice);

#endif
