/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast trees that loop.
 *
 * Model: a switch sends a packet to a multicast LID out of all ports that its table has
 * for it, but the one by which it came [IBA 18.2.4.3.3].  A link in one direction leads
 * on to those that its packets are sent out of at its other end; a tree has no circle
 * of these.  What circles is copied again and again, and fills the fabric.
 *
 * The tables are those that the fabric was copied with: groups that hosts join later
 * are looked at after the next sweep.
 *
 * Thread-safety: functions without state.  Memory: some octets for each link, for the
 * call. */
#ifndef TRIAD_ROUTES_MULTICAST_H
#define TRIAD_ROUTES_MULTICAST_H

#include "routes/layout.h"

#define TRIAD_ROUTES_MAX_MULTICAST 8u       /* loops that are shown */
#define TRIAD_ROUTES_MAX_MULTICAST_HOPS 32u /* of each */

/* One circle in the tree of a multicast LID. */
struct triad_routes_multicast_loop {
	uint16_t mlid;
	uint32_t n_hops; /* of the circle; as many as there is room for are listed */
	uint32_t ports[TRIAD_ROUTES_MAX_MULTICAST_HOPS]; /* packets leave by these */
};

struct triad_routes_multicast {
	uint32_t n_mlids;   /* with a tree */
	uint32_t n_looping; /* of these, with a circle */
	bool is_cut;        /* some switch has more than a fabric keeps */
	uint32_t n_shown;
	struct triad_routes_multicast_loop loops[TRIAD_ROUTES_MAX_MULTICAST];
};

/* Returns 0 or ENOMEM. */
int triad_routes_multicast_find(const struct triad_routes_layout *layout,
	struct triad_routes_multicast *multicast);

#endif
