/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Profile files that were put aside: their names, and which are removed.
 *
 *     /var/lib/osmtriad/profile.csv.zst                    the one that is written
 *     /var/lib/osmtriad/profile-20260102T030405Z.csv.zst   put aside at that time
 *
 * The time, UTC, stands before the name's ".csv.zst", or else before its last dot.  It
 * is later than that of every file put aside before, even if the clock was set back: so
 * the order of names is that of files.  Files with other names are never removed.
 *
 * Thread-safety: functions without state; only one process does this for a path, see
 * profile_file.h.  Memory: 8 octets for each file there, at most 65,536 of them. */
#ifndef TRIAD_PERFMGR_EXPORT_PROFILE_OLD_H
#define TRIAD_PERFMGR_EXPORT_PROFILE_OLD_H

#include <stddef.h>
#include <stdint.h>

/* Renames 'path' by the wall time 'now_us', and writes the new name into 'name' ('size'
 * octets).  Returns 0 or an errno. */
int triad_profile_put_aside(const char *path, uint64_t now_us, char *name, size_t size);

/* Removes all but the newest 'keep' of the files put aside.  Returns 0, or the errno of
 * the first one that could not be removed; it still tries the others. */
int triad_profile_remove_old(const char *path, unsigned keep);

#endif
