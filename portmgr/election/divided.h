/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether this SM is to be master of its own part of a divided fabric, although the
 * election has a master.
 *
 * The SMs' network may be whole while the fabric is not.  Then the elected master can't
 * reach this part, which needs an SM, too.  OpenSM's polling would find that out after
 * most of a minute.
 *
 * Model: a standby whose master the election hears, and whose master's port is silent
 * over the fabric (fabric_watch.h), leads its part, unless an SM that it reaches over
 * the fabric is master there.  If a better candidate answers there, this SM first gives
 * that one time.  It leads until something at the master's port answers again, until an
 * SM here that is better is master, or until it is elected itself.
 *
 * This is safe even if the verdict is wrong: to lead means that OpenSM discovers, and a
 * master that it finds stays master.  Two parts may each have a master; permission to
 * enforce needs the lease, which one SM has at most.
 *
 * Time is the election's.  Thread-safety: none; pure. */
#ifndef TRIAD_PORTMGR_DIVIDED_H
#define TRIAD_PORTMGR_DIVIDED_H

#include "portmgr/election/election.h"
#include "portmgr/election/fabric_watch.h"

struct triad_divided {
	bool leads;
	uint64_t master;   /* the one that is silent; 0: none is */
	uint64_t since_us; /* when that was seen */
};

/* Looks at the election and at the SMs over the fabric.  Returns whether 'leads'
 * changed. */
bool triad_divided_look(struct triad_divided *divided,
	const struct triad_election_status *election,
	const struct triad_fabric_peer *peers, uint32_t n_peers, uint64_t now_us);

#endif
