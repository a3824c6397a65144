/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/sm_notes.h"

/* A trap about a port may explain a finding there that is read so much later. */
#define PORT_NOTE_NEAR_US (UINT64_C(120) * 1000000)
/* A trap about a whole switch, or a heavy sweep, can only explain a loss, which is seen
 * at once. */
#define LOSS_NOTE_NEAR_US (UINT64_C(15) * 1000000)

void triad_sm_notes_add(struct triad_sm_notes *notes, const struct triad_sm_note *note)
{
	notes->last[notes->n++ % TRIAD_N_SM_NOTES] = *note;
}

static bool is_about(const struct triad_sm_note *note, const struct triad_alert *alert)
{
	for (unsigned e = 0; e < alert->n_ends; e++)
		if (note->lid == alert->ends[e].lid &&
			(!note->port || note->port == alert->ends[e].port))
			return true;
	return false;
}

/* The newest note that may have to do with the alert; a trap is preferred to a
 * sweep. */
static const struct triad_sm_note *find_note(
	const struct triad_sm_notes *notes, const struct triad_alert *alert)
{
	bool is_loss = triad_alert_is_loss(alert->findings[0].cause);
	const struct triad_sm_note *found = NULL;
	uint64_t since_us = alert->findings[0].since_us;
	unsigned n = notes->n < TRIAD_N_SM_NOTES ? notes->n : TRIAD_N_SM_NOTES;

	for (unsigned i = 1; i <= n; i++) {
		const struct triad_sm_note *note =
			&notes->last[(notes->n - i) % TRIAD_N_SM_NOTES];
		uint64_t near_us = note->port ? PORT_NOTE_NEAR_US : LOSS_NOTE_NEAR_US;

		if (note->at_us + near_us < since_us || (!note->port && !is_loss))
			continue;
		if (note->trap && is_about(note, alert))
			return note;
		if (!note->trap && !found)
			found = note;
	}
	return found;
}

void triad_sm_notes_correlate(
	const struct triad_sm_notes *notes, struct triad_alert *alert)
{
	const struct triad_sm_note *note = find_note(notes, alert);

	if (!note)
		return;
	alert->sm.kind = note->trap ? TRIAD_ALERT_SM_TRAP : TRIAD_ALERT_SM_SWEEP;
	alert->sm.trap = note->trap;
	alert->sm.at_us = note->at_us;
}
