/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known to be of the fabric and is not in it now.
 *
 * The rule: a port without a link may be the only way to what is missing, and its link
 * may come back at any moment. So while something is missing, no such port is disabled
 * (plan.h). That costs nothing: when a link comes up there, the guards can judge it.
 *
 * Missing are: a switch that this SM, or one whose last image it has, saw within a day; a
 * switch that the configuration names; an SM (seen_sms.h).  What a far end was before is not remembered by port: the
 * link may have been moved, or another SM may have seen it.
 *
 * Thread-safety: none.  Memory: an entry for each switch, and for as many missing ones
 * as TRIAD_MISSING_MAX, the latest.  'now_us' is triad_clock_boot_us(). */
#ifndef TRIAD_PORTMGR_MISSING_H
#define TRIAD_PORTMGR_MISSING_H

#include "portmgr/plan/plan.h"

#define TRIAD_MISSING_MAX 1024u
#define TRIAD_MISSING_SIZE 160u

/* Switches that were seen; all zero at first. */
struct triad_seen_switches {
	uint32_t n;
	struct triad_seen_switch {
		uint64_t guid;
		uint64_t at_us; /* when it was seen last */
		char name[TRIAD_NODE_NAME_SIZE];
	} * all; /* sorted by GUID */
};

/* Notes the switches of a fabric of 'now_us', and forgets what was not seen for a day then.  Returns 0,
 * or ENOMEM: nothing has changed. */
int triad_seen_switches_look(struct triad_seen_switches *seen,
	const struct triad_fabric *fabric, uint64_t now_us);
void triad_seen_switches_free(struct triad_seen_switches *seen);

/* Says what is missing, with the number of others if there are more; "": nothing. */
void triad_missing_find(const struct triad_plan_input *input,
	const struct triad_seen_switches *seen, char who[TRIAD_MISSING_SIZE]);

#endif
