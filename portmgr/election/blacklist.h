/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SMs that must not become configuration manager; all members agree on the list.
 *
 * Model: an entry for each id that was ever listed has a version, and whether the id is
 * listed now.  A member that changes an entry increments its version.  Of two entries
 * for one id the higher version wins, and of equal versions the one that lists the id.
 * So members that exchange their lists end up with the same list, in whatever order
 * messages come.  Changes on both sides of a partition survive, unless they contradict
 * each other about one id.
 *
 * A full list forgets the unlisted id with the lowest version.  A new id begins above
 * all versions of this list, so that an entry that other members remember of it does
 * not undo the change.
 *
 * Thread-safety: none.  Memory: none of its own; at most TRIAD_BLACKLIST_MAX ids. */
#ifndef TRIAD_PORTMGR_BLACKLIST_H
#define TRIAD_PORTMGR_BLACKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_BLACKLIST_MAX 32u

struct triad_blacklist_entry {
	uint64_t id;
	uint32_t version; /* from 1 */
	bool is_listed;
};

struct triad_blacklist {
	uint32_t n;
	struct triad_blacklist_entry entries[TRIAD_BLACKLIST_MAX];
};

bool triad_blacklist_has(const struct triad_blacklist *list, uint64_t id);

/* Lists or unlists 'id'.  Returns 0, EALREADY (no change), or ENOSPC (all entries are
 * listed, or there is no higher version). */
int triad_blacklist_set(struct triad_blacklist *list, uint64_t id, bool is_listed);

/* Takes the newer entries of 'other'; true when anything changed. */
bool triad_blacklist_merge(
	struct triad_blacklist *list, const struct triad_blacklist *other);

#endif
