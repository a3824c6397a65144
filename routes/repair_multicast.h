/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which entries of multicast tables connect the trees of groups again that cross lost links.
 *
 * Model: a group's tree is the links between switches that the tables of both ends have for
 * it (multicast.h).  Lost links cut it into parts.  Those with members, or with hosts, who may
 * send to a group without being members, are connected again, one after the other to the
 * nearest, by a shortest way of links that are left, through other switches where that is
 * needed.  What else the tables have stays as it is, also for links to hosts.
 *
 * Steps: the first takes lost links out of the tables at both ends, the second puts the new
 * links in.  Each group has its own; its second begins when its first has been written.  In a
 * step, entries may be written in any order: all links that the tables then have, or a part of
 * them, are a part of one tree, so no packet circles, and none reaches a member twice.  That
 * is so even if the lost links are back; but a switch that could not be written to, and is
 * back, sends what its own hosts send by all of its old entries, once for each part.
 * A packet that is copied while the tables change may arrive in one part alone.
 *
 * Not looked at: credit loops by multicast packets, as check.h doesn't, nor OpenSM with most
 * engines; whether a switch's table has room for the LID.
 *
 * Thread-safety: functions without state.
 * Memory: some octets for each switch and port of one, for the call; the result owns its
 * arrays: at most TRIAD_ROUTES_MAX_MULTICAST_CHANGES, and TRIAD_FABRIC_MAX_MLIDS groups. */
#ifndef TRIAD_ROUTES_REPAIR_MULTICAST_H
#define TRIAD_ROUTES_REPAIR_MULTICAST_H

#include "routes/multicast.h"

#define TRIAD_ROUTES_MAX_MULTICAST_CHANGES (1u << 17)
#define TRIAD_ROUTES_MULTICAST_POSITIONS 16u /* of 16 ports each */

struct triad_routes_multicast_change {
	uint32_t sw; /* the switch's number (layout.h) */
	uint16_t mlid;
	uint8_t step; /* of the group: 0 takes out, 1 puts in */
	/* Ports, a bit each: bit n % 16 of entry n / 16. */
	uint16_t before[TRIAD_ROUTES_MULTICAST_POSITIONS],
		after[TRIAD_ROUTES_MULTICAST_POSITIONS];
};

enum triad_routes_group_state {
	TRIAD_ROUTES_GROUP_CONNECTED,
	TRIAD_ROUTES_GROUP_CUT,        /* some members have no way to the others */
	TRIAD_ROUTES_GROUP_ASYMMETRIC, /* nothing is changed: one end's table has a link that
				        * the other's has not */
	TRIAD_ROUTES_GROUP_LOOPS,      /* nothing is changed: the tree has a circle */
};

/* A group whose tree crosses a lost link. */
struct triad_routes_group_repair {
	uint16_t mlid;
	uint8_t state; /* enum triad_routes_group_state */
	uint32_t
		n_members; /* ports of hosts, and of switches themselves, in its tables */
	uint32_t n_cut;    /* of these, without a way to the largest part then */
	uint32_t n_changes;
};

struct triad_routes_repair_multicast {
	/* By group, the lowest LID first (0xc000 is IPoIB's broadcast group); then by step,
	 * switch. */
	struct triad_routes_multicast_change *changes;
	struct triad_routes_group_repair *groups; /* by LID */
	uint32_t n_changes, n_groups;
};

/* Around the links of 'n' of the fabric's ports.  Returns 0, ENOMEM or EOVERFLOW (too many
 * changes). */
int triad_routes_repair_multicast_make(const struct triad_routes_layout *layout,
	const uint32_t *ports, uint32_t n,
	struct triad_routes_repair_multicast **repair);
/* Whether the routing engine of that name (triad_fabric_sa.engine) makes trees by which, with its
 * paths, no credit loops are possible: another tree could have some. */
bool triad_routes_trees_are_free(const char *engine);
void triad_routes_repair_multicast_free(
	struct triad_routes_repair_multicast *repair); /* accepts NULL */

#endif
