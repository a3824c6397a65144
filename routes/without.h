/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Estimates how routes change when links are taken down.
 *
 * Model: only an estimate, because the routing engine decides.  Tables change as
 * triad_routes_repair_make_shortest() has it (repair.h); then all pairs are counted again.
 *
 * Invariants: pairs that are still connected without the links still arrive.
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
	uint64_t n_lost;       /* pairs that arrive now, but not then */
	uint32_t n_hosts_lost; /* hosts without any path then */
	uint32_t hosts_lost[TRIAD_ROUTES_MAX_LOST]; /* the first of them; indices in
						     * the fabric's ports */
};

/* Without the links of 'n' of the fabric's ports.  Returns as triad_routes_repair_make(). */
int triad_routes_without_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_without **without);
void triad_routes_without_free(struct triad_routes_without *without); /* accepts NULL */

#endif
