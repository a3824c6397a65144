/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether dependencies of links, added to others, lie in a circle.
 *
 * Model: links that depend on each other, directly or by others, are one component; a
 * dependency lies in a circle when both of its ends are in the same one (graph.h).
 * Circles of the old dependencies alone stay what they were: only the added ones are
 * judged, each by all dependencies together.  As each circle of channels, whatever their
 * VLs, is one of links, too, no channel is in a circle by an added dependency that is in
 * none.
 *
 * Thread-safety: functions without state.
 * Memory: 4 octets for each dependency, 32 for each link, for the call. */
#ifndef TRIAD_ROUTES_ADDED_H
#define TRIAD_ROUTES_ADDED_H

#include "routes/credit.h"

/* A circle by an added dependency: of the last link on the first. */
struct triad_routes_circle {
	uint32_t n_links; /* 0: there is no such circle */
	uint32_t n_shown; /* TRIAD_ROUTES_MAX_LOOP_STEPS at most */
	uint32_t ports
		[TRIAD_ROUTES_MAX_LOOP_STEPS]; /* of the fabric: packets leave by these */
};

/* Both dependencies are of the layout's links, of which those that are dead in 'layout' have
 * none.  'old_count', if packets that follow the added ones may have other VLs than those that
 * follow the old ones: an added dependency is judged even if it is an old one, too.  Returns 0
 * or ENOMEM. */
int triad_routes_added_find(const struct triad_routes_layout *layout,
	const struct triad_routes_deps *old, const struct triad_routes_deps *added,
	bool old_count, struct triad_routes_circle *circle);

#endif
