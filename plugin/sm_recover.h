/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What helps an SM in trouble (plugin/sm_watch.h), with sm.recover.
 *
 * Model: steps that OpenSM itself takes at other times, so that they do no harm where they don't
 * help.  When two SMs are master or a sweep has no end, a wait for a hand-over that can't come
 * is ended (triad_sm_end_vain_wait()).  When no SMP is answered, the thread that sends them is
 * woken.
 *
 * Nothing helps a master that waits for a lower one: OpenSM asks that one by trap 144 to hand
 * over, several times a second, and Triad in the lower one sweeps if elections say so.
 *
 * Thread-safety: one thread.  Takes OpenSM's lock only when it is free. */
#ifndef TRIAD_PLUGIN_SM_RECOVER_H
#define TRIAD_PLUGIN_SM_RECOVER_H

#include "plugin/sm_watch.h"

struct osm_opensm;

/* Takes the step.  Returns what was done, as words behind "Triad ", or NULL: nothing could be,
 * because there is no such wait, or OpenSM ends or holds its lock. */
const char *triad_sm_recover(struct osm_opensm *osm, enum triad_sm_trouble trouble);

/* Whether the SM at that port is a master that comes before this one, by what discovery last
 * had of it.  With OpenSM's lock. */
bool triad_sm_is_higher_master(const struct osm_opensm *osm, uint64_t other);

/* A master that met a lower one waits for that one to hand over.  When priorities change
 * meanwhile so that the other is the higher one, both wait; and OpenSM, which takes each answer
 * of a higher master while it waits as a reason to begin its sweep anew, sweeps for ever
 * (osm_sminfo_rcv.c, osm_state_mgr.c).  Returns whether this SM waited so, and ends the wait:
 * the next sweep that comes through hands over.  With OpenSM's lock, exclusively. */
bool triad_sm_end_vain_wait(struct osm_opensm *osm);

/* Has OpenSM sweep; it sees who has a higher priority, and hands over. */
void triad_sm_sweep(struct osm_opensm *osm);

#endif
