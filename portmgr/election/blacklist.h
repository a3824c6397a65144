/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* SMs that must not be configuration manager, agreed upon by all members.
 *
 * Model: for each id that was ever listed, whether it is, and a version.  Who changes
 * an entry gives it the next version; of two entries for one id the higher version
 * holds, and of equal ones the listed.  So members that exchange what they have end up
 * with the same, in whatever order messages come, and nothing that was said on either
 * side of a partition is lost but for contradictions about one id.
 *
 * A full list forgets the id that is off for longest.  An id that is new here begins
 * above all versions here, so that what others remember of it does not undo what is
 * said of it now.
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

/* Says of 'id' whether it is listed.  Returns 0, EALREADY when it is so already, or
 * ENOSPC (all are listed, or there is no higher version). */
int triad_blacklist_set(struct triad_blacklist *list, uint64_t id, bool is_listed);

/* Takes what is newer in 'other'; true when anything changed. */
bool triad_blacklist_merge(
	struct triad_blacklist *list, const struct triad_blacklist *other);

#endif
