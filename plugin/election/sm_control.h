/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes OpenSM do what the election decided: its SM priority, and becoming master.
 *
 * Model: callers set a target (a priority, and whether this SM is to be master).  The
 * thread triad-sm brings OpenSM to it and keeps it there: it calls functions that take
 * OpenSM's locks, for which the election must not wait.
 *
 * - It sets the priority in OpenSM's options, which a changed opensm.conf overrides
 *   for a moment.
 * - When a standby is to be master, and another SM says in the election that it is the
 *   master, the standby asks that one by trap 144 to sweep and hand over: a planned
 *   hand-over, in which the old master finishes its sweep.
 * - One that says so over the fabric alone is asked in the same way.
 * - When no SM says that it is master, the standby at once does what it would do when
 *   its polling of the master timed out: it discovers, and becomes master if no live
 *   master answers.  So an SM without Triad is never pushed aside.  If one does
 *   answer, it is asked as above: it may be cut off from the others, but not from the
 *   fabric.
 * - An SM that hangs costs OpenSM's discovery 0.8 s: its port says that it has an SM,
 *   which is then asked four times.  So OpenSM is told to ignore other SMs
 *   (ignore_other_sm of its options) until this one is master, for two seconds at most,
 *   where that pushes nobody aside: the SM that rules our own port is dead for certain
 *   (portmgr/election/fabric_watch.h), this one was elected on a side with a majority,
 *   nobody in the election is master, and each other SM that OpenSM knows has said since
 *   that it is standby, or is dead for certain, too.  For such a word of members it waits
 *   a little: while the cluster finds together again, two may think they are elected.
 * - A master that is to yield sweeps, which makes it see the other one and hand over.
 *
 * Locks of OpenSM's taken: its state lock and its own lock, for a moment, with none of
 * ours held.  The thread does not touch OpenSM once OpenSM is exiting.
 *
 * Thread-safety: any thread; the functions only leave a note. */
#ifndef TRIAD_PLUGIN_ELECTION_SM_CONTROL_H
#define TRIAD_PLUGIN_ELECTION_SM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "portmgr/cluster/cluster.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_fabric_ask;
struct triad_sm_control;

struct triad_sm_wish {
	bool is_set;      /* false: OpenSM is left alone, with the priority it had */
	uint8_t priority; /* 0 to 15 */
	bool is_master;
	/* The port GUID of another SM that says in the election that it is the fabric's
	 * master; 0: none does. */
	uint64_t master;
	bool is_quorate;
	/* The other members; and those of them that have said, since this SM began to
	 * elect, that they are standby. */
	uint32_t n_members, n_standby;
	uint64_t members[TRIAD_CLUSTER_MAX_MEMBERS];
	uint64_t standby[TRIAD_CLUSTER_MAX_MEMBERS];
	/* So many have to say it until this SM has a majority behind it: a view may still
	 * have members that are dead. */
	uint32_t n_standby_needed;
};

struct triad_sm_control_status {
	uint8_t own_priority; /* that OpenSM had before */
	uint64_t n_priorities, n_take_overs, n_asked, n_sweeps;
	uint64_t n_unasked; /* take-overs in which OpenSM asked no other SM */
};

/* What it is given outlives it. */
struct triad_sm_control *triad_sm_control_new(
	struct osm_opensm *osm, struct triad_fabric_ask *fabric, struct triad_log *log);
/* Gives OpenSM its own priority back. */
void triad_sm_control_free(struct triad_sm_control *control);

void triad_sm_control_wish(
	struct triad_sm_control *control, const struct triad_sm_wish *wish);
struct triad_sm_control_status triad_sm_control_status(
	struct triad_sm_control *control);

#endif
