/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a view of the fabric must be newer than before anything acts on it.
 *
 * Model: an act is a Set to a switch port, answered or not, or a link that is taken out of
 * routing, by any SM that had permission.  A plan judges all that it does on one view together, so its acts may
 * follow each other.  The next plan must see them: it needs a view that the SM began to
 * read when the last act was over.  Otherwise two plans, each harmless by itself, may
 * take down both links of a switch.
 *
 * The last act is the latest of: a Set of this SM; a record of another SM's act, when it
 * arrived here; the beginning of the term, because the last holder of the lease may have
 * acted until then.
 *
 * Thread-safety: none.  All times are of triad_clock_boot_us(). */
#ifndef TRIAD_PORTMGR_LAST_ACT_H
#define TRIAD_PORTMGR_LAST_ACT_H

#include "portmgr/history/record.h"
#include "triad/fabric.h"

struct triad_last_act {
	uint64_t at_us; /* 0: none is known */
};

static inline void triad_last_act_note(struct triad_last_act *last, uint64_t now_us)
{
	if (now_us > last->at_us)
		last->at_us = now_us;
}

/* Whether the record is of an act: by an intent alone it can't be known that nothing was
 * sent. */
static inline bool triad_last_act_is_by(const struct triad_record *record)
{
	return record->outcome != TRIAD_OUTCOME_DROPPED &&
		(record->action == TRIAD_ACTION_DISABLE ||
			record->action == TRIAD_ACTION_ENABLE ||
			record->action == TRIAD_ACTION_BOUNCE ||
			record->action == TRIAD_ACTION_TAKE);
}

/* Whether the view shows what the last act did. */
static inline bool triad_last_act_is_seen(
	const struct triad_last_act *last, const struct triad_fabric *view)
{
	return view->begun_us > last->at_us;
}

#endif
