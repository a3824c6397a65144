/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes OpenSM follow the election: sets its SM priority, makes it become master or
 * yield.
 *
 * Model: callers set a target (a priority, and whether this SM is to be master).  The
 * thread triad-sm brings OpenSM to the target and keeps it there; without a target there is
 * no thread.  It calls functions that take OpenSM's locks, and the election must not wait
 * for those.
 *
 * - It sets the priority in OpenSM's options, which a changed opensm.conf overrides
 *   for a moment.
 * - When a standby is to be master, and another SM reports in the election that it is the
 *   master, the standby asks that one by trap 144 to sweep and hand over.  In such a
 *   planned hand-over the old master finishes its sweep.
 * - A master that the election does not hear, but that answers over the fabric, is asked
 *   in the same way.
 * - A master of higher priority that does not elect is left alone, as long as it answers
 *   over the fabric as master; OpenSM's table of SMs, which is older, does not decide.
 * - When no SM reports that it is master, the standby at once does what OpenSM does when
 *   its polling of the master times out: it discovers, and becomes master if no live master
 *   answers.  So it never displaces an SM without Triad.  A master that does answer is
 *   asked as above: it may be cut off from the other members, but not from the fabric.
 * - A hanging SM delays OpenSM's discovery by 0.8 s: its port reports an SM, which OpenSM
 *   then asks four times.  So triad-sm makes OpenSM ignore other SMs (its option
 *   ignore_other_sm) until this one is master, for two seconds at most, if that displaces
 *   nobody: the SM that manages our own port is certainly dead
 *   (portmgr/election/fabric_watch.h), this SM was elected on a side with a majority,
 *   nobody in the election is master, and each other SM that OpenSM knows has since
 *   reported that it is standby, or is certainly dead, too.  It waits briefly for these
 *   reports, because while the cluster merges again two SMs may think that they are
 *   elected.
 * - A master that is to yield sweeps: so it finds the other SM and hands over.
 * - A master without a majority sweeps some times, less and less often: the fabric may be
 *   whole again, and nobody be able to tell it.
 *
 * OpenSM's locks: the thread takes the state lock and osm->lock briefly, with none of ours
 * held.  The thread does not touch OpenSM once OpenSM is exiting.
 *
 * Thread-safety: any thread; the functions only store the target. */
#ifndef TRIAD_PLUGIN_ELECTION_SM_CONTROL_H
#define TRIAD_PLUGIN_ELECTION_SM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "portmgr/cluster/cluster.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_fabric_ask;
struct triad_sm_control;

struct triad_sm_target {
	bool is_set;      /* false: OpenSM is left alone, with the priority it had */
	uint8_t priority; /* 0 to 15 */
	bool is_master;
	/* The port GUID of another SM that reports in the election that it is the
	 * fabric's master; 0: none does. */
	uint64_t other_master;
	bool is_quorate; /* this SM's side has a majority */
	/* The other members; and those that have reported, since this SM's election
	 * began, that they are standby. */
	uint32_t n_members, n_standby;
	uint64_t members[TRIAD_CLUSTER_MAX_MEMBERS];
	uint64_t standby[TRIAD_CLUSTER_MAX_MEMBERS];
	/* How many of them must have reported it so that they and this SM are a majority;
	 * not all, because the view may still have dead members. */
	uint32_t n_standby_needed;
};

struct triad_sm_control_status {
	uint8_t own_priority; /* the priority that OpenSM had before */
	uint64_t n_priorities, n_take_overs, n_sweeps;
	uint64_t n_unasked; /* take-overs in which OpenSM asked no other SM */
};

/* What it is given outlives it. */
struct triad_sm_control *triad_sm_control_new(
	struct osm_opensm *osm, struct triad_fabric_ask *fabric, struct triad_log *log);
/* Gives OpenSM its own priority back. */
void triad_sm_control_free(struct triad_sm_control *control);

void triad_sm_control_set(
	struct triad_sm_control *control, const struct triad_sm_target *target);
struct triad_sm_control_status triad_sm_control_status(
	struct triad_sm_control *control);

#endif
