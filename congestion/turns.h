/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many pairs of hosts turn from one link into another, at each switch.
 *
 * Model: a turn is a switch, a port that packets come in by and a port that they leave
 * by.  Pairs are those of routes/check.h that arrive.  Where no pair turns from a link
 * into another, what waits on the one can't be held up by the other.
 *
 * Thread-safety: made by one thread, then immutable.
 * Memory: 4 octets for each two ports of each switch, TRIAD_CONGESTION_MAX_TURNS of them
 * at most; the layout is borrowed. */
#ifndef TRIAD_CONGESTION_TURNS_H
#define TRIAD_CONGESTION_TURNS_H

#include "routes/layout.h"

#define TRIAD_CONGESTION_MAX_TURNS (1u << 28)

struct triad_congestion_turns {
	const struct triad_routes_layout *layout;
	size_t *first;   /* in 'pairs', of each switch */
	uint32_t *pairs; /* by the number of the port in, then out */
	uint32_t
		*ports; /* of each of the layout's links: index in the fabric's ports */
	uint32_t *from; /* of each of the layout's links: the port at its other end */
};

/* 'is_stopped' is asked now and then, may be NULL.  Returns 0, ECANCELED or ENOMEM (or
 * there are too many). */
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
