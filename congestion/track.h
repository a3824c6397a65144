/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Follows roots of congestion from sweep to sweep: which root is still the same, and
 * since when.
 *
 * Model: a root is identified by the GUID of its node, its port number and its VL. If
 * the VL is known in one sweep and not in another, it is still the same root.  A root
 * ends when TRIAD_CONGESTION_MISSES sweeps in a row don't find it.  If it is not found,
 * while another root begins for which mostly the same hosts wait, it has moved there
 * and keeps its start time.  How many hosts two roots share is estimated by the
 * smallest hashes of each (MinHash: Broder, SEQUENCES 1997).
 *
 * Thread-safety: none; the caller's.
 * Memory: TRIAD_CONGESTION_MAX_TRACKED roots, of a fixed size; others are not
 * followed. */
#ifndef TRIAD_CONGESTION_TRACK_H
#define TRIAD_CONGESTION_TRACK_H

#include "congestion/roots.h"

#define TRIAD_CONGESTION_MISSES 2u
#define TRIAD_CONGESTION_MAX_TRACKED (2 * TRIAD_CONGESTION_MAX_ROOTS)
#define TRIAD_CONGESTION_SKETCH 16u

struct triad_congestion_tracked {
	uint64_t node_guid;
	uint64_t since_us;  /* monotonic: the sweep that found it first */
	uint64_t from_guid; /* the node before it moved; 0: it has not moved */
	uint8_t from_port;
	uint8_t port;
	uint8_t vl;       /* or TRIAD_CONGESTION_NO_VL: never known so far */
	uint8_t begun_vl; /* the same, when it began here */
	/* It may have begun before 'since_us': nothing was known of it before. */
	bool since_at_least;
	/* As last found: */
	uint8_t kind; /* enum triad_congestion_kind */
	uint8_t n_missed;
	uint8_t n_hashes;
	uint32_t n_waiting;
	double loss_bps;
	uint64_t hashes[TRIAD_CONGESTION_SKETCH]; /* the smallest hashes of hosts
						   * that wait, ascending */
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

/* Adds the result of a sweep; NULL: nothing is known any more, so all roots end.  Calls
 * 'report' for each that begins, moves or ends. */
void triad_congestion_track_add(struct triad_congestion_track *track,
	const struct triad_fabric *fabric, const struct triad_congestion *found,
	uint64_t now_us,
	void (*report)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context);

/* NULL: it is not followed. */
const struct triad_congestion_tracked *triad_congestion_track_find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port,
	uint8_t vl);

#endif
