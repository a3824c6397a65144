/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion from one sweep to the next: which is still the same, since when.
 *
 * Model: a root is known by the GUID of its node and its port number.  It stays while
 * sweeps find it; it is over when TRIAD_CONGESTION_MISSES in a row don't.  A root that moves
 * to another port is another one.
 *
 * Thread-safety: none; the caller's.
 * Memory: TRIAD_CONGESTION_MAX_TRACKED roots, of a fixed size; more are not followed. */
#ifndef TRIAD_CONGESTION_TRACK_H
#define TRIAD_CONGESTION_TRACK_H

#include "congestion/roots.h"

#define TRIAD_CONGESTION_MISSES 2u
#define TRIAD_CONGESTION_MAX_TRACKED (2 * TRIAD_CONGESTION_MAX_ROOTS)

struct triad_congestion_tracked {
	uint64_t node_guid;
	uint64_t since_us; /* monotonic: the sweep that found it first */
	uint8_t port;
	uint8_t kind; /* enum triad_congestion_kind, when it was found last */
	uint8_t n_missed;
};

enum triad_congestion_change { TRIAD_CONGESTION_BEGUN, TRIAD_CONGESTION_ENDED };

struct triad_congestion_track {
	uint32_t n;
	struct triad_congestion_tracked roots[TRIAD_CONGESTION_MAX_TRACKED];
};

/* Takes what a sweep found, or (NULL) that nothing is known any more: then all are over.
 * Calls 'tell' for each that begins or ends. */
void triad_congestion_track_add(struct triad_congestion_track *track,
	const struct triad_fabric *fabric, const struct triad_congestion *found,
	uint64_t now_us,
	void (*tell)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context);

/* NULL: it is not followed. */
const struct triad_congestion_tracked *triad_congestion_track_find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port);

#endif
