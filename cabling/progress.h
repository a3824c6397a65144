/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a technician has done of what there was to do: comparisons of one plan with the fabric,
 * one after the other, ticked off.
 *
 * Model: a task is an item that was to be done [compare.h], known again by its kind and ports.
 * With each new comparison a task
 *
 *     stays open   it is still to be done, or nothing is known at its ports: as while a host's
 *                  cable is out
 *     is done      the fabric has the cables that it asks for, or has not the one to be taken out;
 *                  or all is as planned, though a node has been replaced
 *     is replaced  something else is to be done at its ports now
 *
 * and items that no open task has become tasks.  Numbers are not used again.
 *
 * Thread-safety: one thread.  Memory: the progress owns its tasks; checked. */
#ifndef TRIAD_CABLING_PROGRESS_H
#define TRIAD_CABLING_PROGRESS_H

#include "cabling/describe.h"

enum triad_cabling_task_state {
	TRIAD_CABLING_OPEN,
	TRIAD_CABLING_IS_DONE,
	TRIAD_CABLING_REPLACED,
};

/* A port that is known again in another fabric. */
struct triad_cabling_place {
	uint64_t guid; /* of the node */
	uint8_t number;
	bool is_switch;
};

struct triad_cabling_task {
	enum triad_cabling_task_state state;
	bool is_news; /* it has come to its state in the last comparison */
	enum triad_cabling_kind kind;
	uint8_t what;    /* of REPLACE */
	uint32_t number; /* from 1 on */
	uint32_t n_places;
	struct triad_cabling_place
		*places; /* the item's ports, or those of a ring's steps */
	char *text;      /* lines: the item, then its steps */
};

struct triad_cabling_progress {
	uint32_t n;
	size_t room;
	struct triad_cabling_task *tasks; /* by their numbers */
	uint32_t n_open, n_done;
};

/* Takes another comparison; the first one makes all of its items tasks.  'cables' as of
 * triad_cabling_compare().  Returns 0 or ENOMEM: then some are missing. */
int triad_cabling_progress_take(struct triad_cabling_progress *progress,
	const struct triad_cabling_view *view,
	const struct triad_cabling_cable *cables);
void triad_cabling_progress_clear(struct triad_cabling_progress *progress);

#endif
