/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SM's last reports, and which of them may be related to an alert.
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
	unsigned n; /* ever */
};

void triad_sm_notes_add(struct triad_sm_notes *notes, const struct triad_sm_note *note);

/* Sets alert->sm to what was reported near the time that its first finding began. */
void triad_sm_notes_correlate(
	const struct triad_sm_notes *notes, struct triad_alert *alert);

#endif
