/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Chooses an SM's role for the copier (sa_copier.h), also while mastership moves
 * between SMs.
 *
 * Model: a master that has brought its subnet up gives its records, and a standby takes
 * those of the master.  OpenSM drops its SA's records when another SM hands over to it,
 * and restores them from the file.  So the file's contents at that moment matter:
 *
 * - A master that waits for another one to hand over takes the other one's records.
 * - A master that holds the election's lease does not: the other one has returned from a
 *   pause, and has older records.
 * - Such a master may even hand over to the other one while that one's SM priority is
 *   higher, and gets mastership back some milliseconds later.  So an SM that becomes
 *   standby while it holds the lease keeps its own records for TRIAD_SA_KEEP_US.
 *
 * On a loaded machine the lease may run out for a moment, so it counts for
 * TRIAD_SA_LEASE_US longer.  If nobody holds the lease, for example without a quorum, a
 * master that hands over and gets mastership back at once has lost its records.
 *
 * Time: any monotonic clock in us.  Thread-safety: none.  Memory: none of its own. */
#ifndef TRIAD_PORTMGR_SA_ROLE_H
#define TRIAD_PORTMGR_SA_ROLE_H

#include <stdbool.h>

#include "portmgr/sa/sa_copier.h"
#include "triad/clock.h"

#define TRIAD_SA_KEEP_US (10 * TRIAD_US_PER_S)
#define TRIAD_SA_LEASE_US TRIAD_US_PER_S

/* OpenSM's state. */
enum triad_sa_sm {
	TRIAD_SA_SM_OTHER,
	TRIAD_SA_SM_STANDBY,
	TRIAD_SA_SM_MASTER,
};

/* The present facts. */
struct triad_sa_facts {
	enum triad_sa_sm sm;
	bool is_up; /* the master's first sweep is done, so its SA has its records */
	/* As standby: the master that OpenSM follows.  As master: the SM that is to
	 * hand over to it. 0: none. */
	uint64_t other;
	bool has_lease;
};

/* The past that matters; begin with zeroes. */
struct triad_sa_past {
	bool was_master;    /* since it last took another one's records */
	uint64_t master_us; /* when it was last master */
	uint64_t lease_us;  /* when it last held the lease */
};

enum triad_sa_role triad_sa_role(const struct triad_sa_past *past,
	const struct triad_sa_facts *facts, uint64_t now_us);

/* Call it several times a second. */
void triad_sa_past_note(struct triad_sa_past *past, const struct triad_sa_facts *facts,
	uint64_t now_us);

#endif
