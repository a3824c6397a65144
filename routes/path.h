/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists one path hop by hop, and the pairs that cross a link.
 *
 * Thread-safety: functions without state, on a layout that the caller holds. */
#ifndef TRIAD_ROUTES_PATH_H
#define TRIAD_ROUTES_PATH_H

#include "routes/credit.h"

#define TRIAD_ROUTES_MAX_HOPS 66u

/* One port that packets leave by. */
struct triad_routes_hop {
	/* Index in the fabric's ports; TRIAD_FABRIC_NONE: there is none. */
	uint32_t port;
	uint32_t node;   /* index in the fabric's nodes */
	uint8_t number;  /* of the port, 255: the switch has none for the LID */
	uint8_t in_port; /* by which they came in; 0 at the source */
	uint8_t vl;      /* 15: packets are dropped */
};

struct triad_routes_path {
	enum triad_routes_end end;
	uint32_t n_hops;
	struct triad_routes_hop hops[TRIAD_ROUTES_MAX_HOPS];
};

/* Finds the path from a host, or a switch's port 0, to the end port 'to' by its LID
 * 'lid'.  A path longer than TRIAD_ROUTES_MAX_HOPS counts as a circle. */
void triad_routes_path_find(const struct triad_routes_layout *layout, uint32_t from,
	uint32_t to, uint16_t lid, uint8_t sl, struct triad_routes_path *path);

/* Calls 'take' for each pair that leaves by 'port' (an index in the fabric's ports) and
 * arrives, until it returns false.  Returns 0 or ENOMEM. */
int triad_routes_over(const struct triad_routes_layout *layout, uint32_t port,
	bool (*take)(void *context, uint32_t from, uint32_t to, uint16_t lid),
	void *context);

#endif
