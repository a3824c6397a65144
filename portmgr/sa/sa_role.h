/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which role an SM has for the copier (sa_copier.h), while mastership goes from one SM to
 * another.
 *
 * Model: a master that has brought its subnet up gives its records, and a standby takes those
 * of the master.  OpenSM forgets an SA's records when another SM hands over to it, and
 * restores them from the file, so it matters what the file has at that moment:
 *
 * - A master that waits for another one to hand over takes that one's records.
 * - A master that holds the election's lease does not: the other one is back from a pause,
 *   and has older records.
 * - Such a master may even hand over to the other one, as long as that one's SM priority is the
 *   higher, and gets mastership back some milliseconds later.  So who stands back with the
 *   lease keeps its own records for TRIAD_SA_KEEP_US.
 *
 * On a loaded machine the lease may run out for a moment, so it counts for TRIAD_SA_LEASE_US
 * more.  Where nobody holds it, as without a quorum, the first and the last rule are all there
 * is: a master that hands over and gets mastership back at once has lost its records.
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

/* What is so now. */
struct triad_sa_facts {
	enum triad_sa_sm sm;
	bool is_up; /* a master's first sweep is through: the SA has its records */
	/* Standby: the master that OpenSM follows.  Master: who is to hand over to it.
	 * 0: nobody. */
	uint64_t other;
	bool has_lease;
};

/* What was so; begin with zeroes. */
struct triad_sa_past {
	bool was_master;    /* since it last took another one's records */
	uint64_t master_us; /* when it was, last */
	uint64_t lease_us;  /* when it held the lease, last */
};

enum triad_sa_role triad_sa_role(const struct triad_sa_past *past,
	const struct triad_sa_facts *facts, uint64_t now_us);

/* To be called some times a second.  True: the records of this SM's time as master do not
 * count any more. */
bool triad_sa_past_note(struct triad_sa_past *past, const struct triad_sa_facts *facts,
	uint64_t now_us);

#endif
