/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Helps an SM in trouble (plugin/sm_watch.h), if sm.recover is on.
 *
 * Model: each recovery is a step that OpenSM itself takes at other times, so it does no
 * harm if it doesn't help.  If two SMs are master or a sweep does not end, Triad ends a
 * wait for a hand-over that can't come (triad_sm_end_vain_wait()).  If no SMP is
 * answered, it wakes the thread that sends SMPs.
 *
 * Triad does nothing for a master that waits for one of lower priority: OpenSM already
 * asks that one by trap 144 to hand over, several times a second, and Triad in the
 * lower one sweeps if the election requires it.
 *
 * Nothing helps against sweeps that are asked for too often.
 *
 * Thread-safety: one thread.  Takes OpenSM's lock only when it is free. */
#ifndef TRIAD_PLUGIN_SM_RECOVER_H
#define TRIAD_PLUGIN_SM_RECOVER_H

#include "plugin/sm_watch.h"

struct osm_opensm;

/* Takes the step.  Returns what it did, as words to follow "Triad ".  Returns NULL if
 * it did nothing: there is no such wait, OpenSM is ending, or its lock is not free. */
const char *triad_sm_recover(struct osm_opensm *osm, enum triad_sm_trouble trouble);

/* Whether the SM at port 'other' is a master with precedence over this SM, as discovery
 * last found it.  The caller holds OpenSM's lock. */
bool triad_sm_is_higher_master(const struct osm_opensm *osm, uint64_t other);

/* A master that finds one of lower priority waits for that one to hand over.  If
 * priorities change meanwhile so that the other one is the higher, both wait.  OpenSM
 * then sweeps for ever: while it waits, each answer of a higher master makes it restart
 * its sweep (osm_sminfo_rcv.c, osm_state_mgr.c).  This function ends such a wait, so
 * that the next sweep that finishes hands over.  Returns whether this SM waited so.
 * The caller holds OpenSM's lock exclusively. */
bool triad_sm_end_vain_wait(struct osm_opensm *osm);

/* Makes OpenSM sweep: it then finds a master of higher priority, and hands over to
 * it. */
void triad_sm_sweep(struct osm_opensm *osm);
/* The same if this SM is the master, and does not end; else false. */
bool triad_sm_sweep_as_master(struct osm_opensm *osm);

/* Makes OpenSM compute all forwarding tables afresh, as 'reroute' at its console. */
void triad_sm_reroute(struct osm_opensm *osm);

#endif
