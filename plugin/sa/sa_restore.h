/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names a file to OpenSM to restore its SA from, and withdraws it.
 *
 * In its first sweep as master, before its SA answers, OpenSM reads the file that
 * opt.sa_db_file names.  Before that it empties its multicast groups and aliases, but
 * not the subscriptions and services from an earlier time as master.  So Triad empties
 * those, with OpenSM's own functions, when it names a file to a standby, or to a master
 * that waits for another one to hand over.  Otherwise records that clients have since
 * removed at the other master would reappear.
 *
 * Triad does not replace a sa_db_file from opensm.conf.  The memory of the name is
 * Triad's.  OpenSM frees the option at its end, so Triad withdraws the name before;
 * until then it keeps the memory, because OpenSM reads the pointer without a lock.
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

/* Names a file that exists.  'is_own': it has this SM's own records, so nothing is
 * emptied.  Returns 0, EEXIST (opensm.conf names one), EAGAIN (this SM is not standby)
 * or ENOMEM. */
int triad_sa_restore_give(
	struct triad_sa_restore *restore, const char *path, bool is_own);
bool triad_sa_restore_is_given(const struct triad_sa_restore *restore);
void triad_sa_restore_withdraw(struct triad_sa_restore *restore);

#endif
