/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM does what the election decided: its SM priority, and becoming master.
 *
 * Model: there is a wish (a priority, and whether this SM is to be master), and a
 * thread of its own, triad-sm, that brings OpenSM there and keeps it there: what it
 * calls takes OpenSM's locks, and must not keep the election waiting.
 *
 * - The priority is set in OpenSM's options, which a changed opensm.conf overrides for
 * a moment.
 * - A standby that is to be master, and hears in the election that another SM is it,
 * asks that one by trap 144: it sweeps and hands over.  A planned hand-over, in which
 * the old master finishes its sweep.
 * - When no SM says that it is master, the standby does at once what it would do when
 * its polling of the master had timed out: it discovers, and becomes master if no live
 *   master answers; so an SM without Triad is never pushed aside.  If one does answer,
 * it is asked as above: it may be cut off from the others, but not from the fabric.
 * - A master that is not to be one sweeps, which makes it see the other one and hand
 * over.
 *
 * Locks of OpenSM's taken: its state lock and its own lock, for a moment, with none of
 * ours held.  The thread touches OpenSM no more once OpenSM is exiting.
 *
 * Thread-safety: any thread; the functions only leave a note. */
#ifndef TRIAD_PLUGIN_ELECTION_SM_CONTROL_H
#define TRIAD_PLUGIN_ELECTION_SM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/log.h"

struct osm_opensm;
struct triad_sm_control;

struct triad_sm_wish {
	bool is_set;      /* false: OpenSM is left alone, with the priority it had */
	uint8_t priority; /* 0 to 15 */
	bool is_master;
	/* The port GUID of another SM that says in the election that it is the fabric's
	 * master; 0: none does. */
	uint64_t master;
};

struct triad_sm_control_status {
	uint8_t own_priority; /* that OpenSM had before */
	uint64_t n_priorities, n_take_overs, n_asked, n_sweeps;
};

struct triad_sm_control *triad_sm_control_new(
	struct osm_opensm *osm, struct triad_log *log);
/* Gives OpenSM its own priority back. */
void triad_sm_control_free(struct triad_sm_control *control);

void triad_sm_control_wish(
	struct triad_sm_control *control, const struct triad_sm_wish *wish);
struct triad_sm_control_status triad_sm_control_status(
	struct triad_sm_control *control);

#endif
