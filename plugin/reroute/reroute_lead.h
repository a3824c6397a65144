/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Leads packets to a LID that no port has from this SM's port over a link between switches that is
 * out of routing, for a test (heal/data_test.h).  They end behind it: that switch has no entry.
 *
 * Entries are written as those of a repair are, under its conditions (rerouter.h), but for the
 * link's own port, which OpenSM does not have; they are in OpenSM's copies, too.  They are taken away
 * when the test ends; what can't be taken away OpenSM's next routing has not, and writes the block.
 * The next master writes all tables.  A LID is led only when OpenSM's copies have no entry for it at
 * any switch, so what is left of an earlier test is waited for.  A LID that a port gets meanwhile is
 * OpenSM's.
 *
 * The way is the shortest one that does not pass the switch behind the link, so that no packet goes
 * in a circle.  It may turn where no route does, but ends in a switch that takes all that comes: no
 * other packet waits for these, unless the link takes none.
 *
 * Thread-safety: one thread at a time for a lead.  OpenSM's lock is taken for copies.  Waits for
 * switches' answers. */
#ifndef TRIAD_PLUGIN_REROUTE_LEAD_H
#define TRIAD_PLUGIN_REROUTE_LEAD_H

#include "ib/route.h"
#include "plugin/reroute/rerouter.h"

struct triad_smp;

struct triad_reroute_lead {
	uint16_t lid; /* 0: nothing is led */
	uint8_t sl;   /* of the way to the near end */
	uint8_t n;    /* hops, which leave these switches by these ports */
	struct triad_reroute_hop {
		uint64_t guid;
		uint8_t port;
	} hops[TRIAD_ROUTE_MAX_HOPS + 1];
};

/* Leads packets to one of the LIDs from 'link's near end to its far one, with the caller's 'smp'.
 * Returns NULL with '*lead', or why not; '*is_final': that won't change by itself soon. */
const char *triad_reroute_lead(struct triad_rerouter *rerouter, struct triad_smp *smp,
	const struct triad_reroute_link *link, const uint16_t *lids, size_t n_lids,
	struct triad_reroute_lead *lead, bool *is_final);

/* Whether its LID is still no port's. */
bool triad_reroute_lead_is_free(
	struct triad_rerouter *rerouter, const struct triad_reroute_lead *lead);

/* Takes the entries away.  What can't be taken away OpenSM is told to write. */
void triad_reroute_lead_end(struct triad_rerouter *rerouter, struct triad_smp *smp,
	struct triad_reroute_lead *lead);

#endif
