/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The health of local ports, damped: a port that flaps is bad until it has been good
 * for long enough, so that it does not move mastership back and forth.
 *
 * Model: worse counts when it has lasted for TRIAD_HEALTH_WORSE_US, better when it has
 * lasted for TRIAD_HEALTH_BETTER_US, doubled with each time that it got worse again, up
 * to TRIAD_HEALTH_MAX_US; a quiet time of that length forgets the past.  The first look
 * counts at once.
 *
 * Document: [election-patent, "processes the local port state change event"].
 * Thread-safety: none.  Memory: none of its own; begin with zeroes. */
#ifndef TRIAD_PORTMGR_HEALTH_H
#define TRIAD_PORTMGR_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_HEALTH_WORSE_US UINT64_C(300000)
#define TRIAD_HEALTH_BETTER_US UINT64_C(5000000)
#define TRIAD_HEALTH_MAX_US UINT64_C(300000000)

struct triad_health {
	bool has_looked;
	uint32_t n_ports, n_good; /* as they count */
	uint32_t seen_good;       /* as they were seen last */
	uint64_t seen_since_us;
	uint64_t wait_us;  /* for better, at present */
	uint64_t worse_us; /* when it got worse last */
};

/* Takes what is seen at 'now_us'; true when what counts has changed. */
bool triad_health_look(struct triad_health *health, uint32_t n_ports, uint32_t n_good,
	uint64_t now_us);

#endif
