/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The P_Key tables used last, the latest first: most ports have one of a few tables.
 *
 * Model: a table is a slice of an array ('base') that the user keeps.  A search moves
 * the table found to the front; the last one is dropped when there is no room.  Two
 * instances that get the same tables in the same order have them in the same slots, so
 * that a slot identifies a table (collect/topology_message.h).
 *
 * Thread-safety: none.
 * Memory: fixed; 'base' is the user's. */
#ifndef TRIAD_IB_RECENT_H
#define TRIAD_IB_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_RECENT_MOST 16u

/* All zeros: empty. */
struct triad_recent {
	unsigned n;
	struct triad_fabric_slice slices[TRIAD_RECENT_MOST];
};

/* Finds a table of these 'n' P_Keys and moves it to the front.  Returns the slot, from
 * 0 on, where it was; -1: there is none. */
int triad_recent_find(struct triad_recent *recent, const uint16_t *base,
	const uint16_t *pkeys, uint32_t n);

/* Copies the table at 'slot' to '*slice', and moves it to the front; false: there is
 * none. */
bool triad_recent_take(
	struct triad_recent *recent, unsigned slot, struct triad_fabric_slice *slice);

/* Adds a new table at the front. */
void triad_recent_add(struct triad_recent *recent, struct triad_fabric_slice slice);

#endif
