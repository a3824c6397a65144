/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads what a device tells the SM by itself [IBA 13.4.8.2, 14.2.5.1]. */
#ifndef TRIAD_PLUGIN_TRAP_MAD_H
#define TRIAD_PLUGIN_TRAP_MAD_H

#include "plugin/opensm.h"

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_TRAP_LINK_STATE 128u

struct triad_trap_mad {
	uint16_t lid; /* of the sender */
	uint16_t
		kind; /* the trap's number, TRIAD_TRAPS_OF_VENDORS for all that have none */
};

/* False: the MAD is no trap, or this SM is not the master, or ends.  In any thread. */
bool triad_trap_read(
	struct osm_opensm *osm, const osm_madw_t *madw, struct triad_trap_mad *trap);

#endif
