/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds multicast trees that loop.
 *
 * Model: a switch sends a packet to a multicast LID out of all ports that its table has
 * for the LID, except the one by which it came [IBA 18.2.4.3.3].  So each directed link
 * leads to the links by which the switch at its end forwards its packets.  In a correct
 * tree these have no circle.  Packets in a circle are copied endlessly, and fill the
 * fabric.
 *
 * The tables are those in the copied fabric: groups that hosts join later are checked
 * after the next sweep.
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
	uint32_t n_hops; /* of the circle; 'ports' may have fewer */
	uint32_t ports[TRIAD_ROUTES_MAX_MULTICAST_HOPS]; /* packets leave by these */
};

struct triad_routes_multicast {
	uint32_t n_mlids;   /* multicast LIDs with a tree */
	uint32_t n_looping; /* of these, LIDs whose tree has a circle */
	bool is_cut;        /* some switch has more entries than a fabric keeps */
	uint32_t n_shown;
	struct triad_routes_multicast_loop loops[TRIAD_ROUTES_MAX_MULTICAST];
};

/* The table's ports from 16 * 'position' on, a bit each, for a multicast LID from 0xc000 on; 0
 * where the table has none. */
uint16_t triad_routes_multicast_ports(const struct triad_routes_layout *layout,
	uint32_t sw, uint16_t mlid, unsigned position);

/* Whether packets of the group, a multicast LID from 0xc000 on, cross the link of one of 'n'
 * of the fabric's ports. */
bool triad_routes_multicast_crosses(const struct triad_routes_layout *layout,
	const uint32_t *ports, uint32_t n, uint16_t mlid);

/* Returns 0 or ENOMEM. */
int triad_routes_multicast_find(const struct triad_routes_layout *layout,
	struct triad_routes_multicast *multicast);

#endif
