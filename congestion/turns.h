/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts, at each switch, how many pairs of hosts turn from one link into another.
 *
 * Model: a turn is a switch, the port by which packets enter it, and the port by which
 * they leave.  Pairs are those of routes/check.h that arrive.  If no pair turns from
 * one link into another, the second link can't hold up packets on the first.
 *
 * Thread-safety: made by one thread, then immutable.
 * Memory: 4 octets for each two ports of each switch, TRIAD_CONGESTION_MAX_TURNS of
 * them at most; the layout is borrowed. */
#ifndef TRIAD_CONGESTION_TURNS_H
#define TRIAD_CONGESTION_TURNS_H

#include "routes/layout.h"

#define TRIAD_CONGESTION_MAX_TURNS (1u << 28)

struct triad_congestion_turns {
	const struct triad_routes_layout *layout;
	size_t *first;   /* each switch's offset in 'pairs' */
	uint32_t *pairs; /* by the number of the port in, then out */
	/* Of each of the layout's links: index in the fabric's ports. */
	uint32_t *ports;
	uint32_t *from; /* of each of the layout's links: the port at its other end */
};

/* 'is_stopped' is called from time to time; may be NULL. Returns 0, ECANCELED, or
 * ENOMEM (also for too many turns). */
int triad_congestion_turns_make(const struct triad_routes_layout *layout,
	bool (*is_stopped)(void *context), void *context,
	struct triad_congestion_turns **turns);
void triad_congestion_turns_free(struct triad_congestion_turns *turns); /* or NULL */

static inline uint32_t triad_congestion_turn(const struct triad_congestion_turns *turns,
	uint32_t sw, uint32_t in, uint32_t out)
{
	return turns->pairs[turns->first[sw] +
		(size_t)in * turns->layout->switches[sw].n_links + out];
}

#endif
