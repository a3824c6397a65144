/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What becomes of routes when links go.
 *
 * Model: an estimate, because the routing engine decides.  Paths that don't cross such a
 * link stay.  For the others, each switch on them takes one of the shortest ways that
 * are left, by the link that fewest pairs cross by then.
 *
 * Invariants: what is connected without the links arrives, as before.
 *
 * Thread-safety: functions without state.
 * Memory: as a check's (check.h); the result owns its arrays. */
#ifndef TRIAD_ROUTES_WITHOUT_H
#define TRIAD_ROUTES_WITHOUT_H

#include "routes/check.h"

#define TRIAD_ROUTES_MAX_LOST 16u /* hosts that are named */

struct triad_routes_without {
	uint64_t *
		pairs; /* for each of the fabric's ports: pairs that leave by it then */
	uint64_t n_moved;      /* pairs that take another path then */
	uint64_t n_lost;       /* pairs that arrive now, and not then */
	uint32_t n_hosts_lost; /* they have no path to or from anybody then */
	uint32_t hosts_lost[TRIAD_ROUTES_MAX_LOST]; /* the first; the fabric's ports */
};

/* Without the links of 'n' of the fabric's ports.  Returns 0 or ENOMEM. */
int triad_routes_without_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_without **without);
void triad_routes_without_free(struct triad_routes_without *without); /* accepts NULL */

#endif
