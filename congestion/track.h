/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion from one sweep to the next: which is still the same, since when.
 *
 * Model: a root is known by the GUID of its node, its port number and its VL; a VL may be
 * known in one sweep and not in another, which changes nothing.  It stays while
 * sweeps find it; it is over when TRIAD_CONGESTION_MISSES in a row don't.  One that is not
 * found, while another begins for which mostly the same hosts wait, has moved there: it
 * keeps the time since when it is there.  How many hosts two roots share is estimated by
 * the smallest hashes of each (MinHash: Broder, SEQUENCES 1997).
 *
 * Thread-safety: none; the caller's.
 * Memory: TRIAD_CONGESTION_MAX_TRACKED roots, of a fixed size; more are not followed. */
#ifndef TRIAD_CONGESTION_TRACK_H
#define TRIAD_CONGESTION_TRACK_H

#include "congestion/roots.h"

#define TRIAD_CONGESTION_MISSES 2u
#define TRIAD_CONGESTION_MAX_TRACKED (2 * TRIAD_CONGESTION_MAX_ROOTS)
#define TRIAD_CONGESTION_SKETCH 16u

struct triad_congestion_tracked {
	uint64_t node_guid;
	uint64_t since_us;  /* monotonic: the sweep that found it first */
	uint64_t from_guid; /* where it was before it moved; 0: it has not */
	uint8_t from_port;
	uint8_t port;
	uint8_t vl;       /* or TRIAD_CONGESTION_NO_VL: it was never known */
	uint8_t begun_vl; /* the same, when it began here */
	/* When it was found last: */
	uint8_t kind; /* enum triad_congestion_kind */
	uint8_t n_missed;
	uint8_t n_hashes;
	uint32_t n_waiting;
	double loss_bps;
	uint64_t hashes[TRIAD_CONGESTION_SKETCH]; /* of hosts that wait, ascending */
};

enum triad_congestion_change {
	TRIAD_CONGESTION_BEGUN,
	TRIAD_CONGESTION_MOVED,
	TRIAD_CONGESTION_ENDED
};

struct triad_congestion_track {
	uint32_t n;
	struct triad_congestion_tracked roots[TRIAD_CONGESTION_MAX_TRACKED];
};

/* Takes what a sweep found, or (NULL) that nothing is known any more: then all are over.
 * Calls 'tell' for each that begins, moves or ends. */
void triad_congestion_track_add(struct triad_congestion_track *track,
	const struct triad_fabric *fabric, const struct triad_congestion *found,
	uint64_t now_us,
	void (*tell)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context);

/* NULL: it is not followed. */
const struct triad_congestion_tracked *triad_congestion_track_find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port,
	uint8_t vl);

#endif
