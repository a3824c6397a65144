/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last reports of the SM, and which of them may have to do with an alert.
 *
 * Internal to alerts.c, which says who may call when. */
#ifndef TRIAD_PERFMGR_SM_NOTES_H
#define TRIAD_PERFMGR_SM_NOTES_H

#include "perfmgr/watch/alerts.h"

#define TRIAD_N_SM_NOTES 64u

struct triad_sm_note {
	uint64_t at_us;
	uint16_t trap, lid; /* 0: a heavy sweep */
	uint8_t port;       /* 0: the trap is about the switch as a whole */
};

struct triad_sm_notes {
	struct triad_sm_note last[TRIAD_N_SM_NOTES];
	unsigned n; /* added so far */
};

void triad_sm_notes_add(struct triad_sm_notes *notes, const struct triad_sm_note *note);

/* Sets alert->sm to the report near the time at which its first finding began, if
 * any. */
void triad_sm_notes_correlate(
	const struct triad_sm_notes *notes, struct triad_alert *alert);

#endif
