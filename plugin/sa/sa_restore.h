/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gives OpenSM a file to restore its SA from, and takes it back.
 *
 * OpenSM reads the file that opt.sa_db_file names in its first sweep as master, before its
 * SA answers.  Before that it empties its multicast groups and aliases, but not the
 * subscriptions and services that it had when it was master before: those are emptied
 * here, by OpenSM's own calls, when a standby is given a file, or a master that waits for
 * another one to hand over.  So what was taken back since at the other one is not there
 * again.
 *
 * What opensm.conf has as sa_db_file stays.  The name is ours: OpenSM frees the option at
 * its end, so it is taken back before; and the memory stays until then, because OpenSM
 * reads the pointer without a lock.
 *
 * Thread-safety: one thread.  Locks: osm->lock, exclusively, when a file is given to a
 * standby, for a moment. */
#ifndef TRIAD_PLUGIN_SA_RESTORE_H
#define TRIAD_PLUGIN_SA_RESTORE_H

#include <stdbool.h>

struct osm_opensm;
struct triad_sa_restore;

/* NULL: memory is short. */
struct triad_sa_restore *triad_sa_restore_new(struct osm_opensm *osm);
/* When OpenSM's sweeps are over.  Accepts NULL. */
void triad_sa_restore_free(struct triad_sa_restore *restore);

/* Whether opensm.conf names a file. */
bool triad_sa_restore_has_own(const struct triad_sa_restore *restore);

/* Names a file, which is there; 'is_own': it has this SM's own records, so nothing is to
 * be emptied.  Returns 0; EEXIST: opensm.conf names one; EAGAIN: this SM is no standby;
 * ENOMEM. */
int triad_sa_restore_give(
	struct triad_sa_restore *restore, const char *path, bool is_own);
bool triad_sa_restore_is_given(const struct triad_sa_restore *restore);
void triad_sa_restore_withdraw(struct triad_sa_restore *restore);

#endif
