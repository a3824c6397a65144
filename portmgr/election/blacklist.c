/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/blacklist.h"

#include <errno.h>

static struct triad_blacklist_entry *find_listed(
	struct triad_blacklist *list, uint64_t id)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->entries[i].id == id)
			return &list->entries[i];
	return NULL;
}

static bool is_newer(
	const struct triad_blacklist_entry *a, const struct triad_blacklist_entry *b)
{
	if (a->version != b->version)
		return a->version > b->version;
	return a->is_listed && !b->is_listed;
}

static uint32_t highest_version(const struct triad_blacklist *list)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->entries[i].version > highest &&
			list->entries[i].version < UINT32_MAX)
			highest = list->entries[i].version;
	return highest;
}

/* A free entry: at the end, or that of the oldest id that is no longer listed. */
static struct triad_blacklist_entry *take_free_entry(struct triad_blacklist *list)
{
	struct triad_blacklist_entry *oldest = NULL;

	if (list->n < TRIAD_BLACKLIST_MAX)
		return &list->entries[list->n++];
	for (uint32_t i = 0; i < list->n; i++) {
		struct triad_blacklist_entry *entry = &list->entries[i];

		if (!entry->is_listed && (!oldest || entry->version < oldest->version))
			oldest = entry;
	}
	return oldest;
}

bool triad_blacklist_has(const struct triad_blacklist *list, uint64_t id)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->entries[i].id == id)
			return list->entries[i].is_listed;
	return false;
}

int triad_blacklist_set(struct triad_blacklist *list, uint64_t id, bool is_listed)
{
	struct triad_blacklist_entry *entry = find_listed(list, id);
	uint32_t highest = entry ? entry->version : highest_version(list);

	if (triad_blacklist_has(list, id) == is_listed)
		return EALREADY;
	/* Reserve version UINT32_MAX for taking ids off: no later version could take
	 * off an id that was listed with it. */
	if (highest >= UINT32_MAX - is_listed)
		return ENOSPC;
	if (!entry)
		entry = take_free_entry(list);
	if (!entry)
		return ENOSPC;
	*entry = (struct triad_blacklist_entry){
		.id = id, .version = highest + 1, .is_listed = is_listed};
	return 0;
}

static bool merge_entry(
	struct triad_blacklist *list, const struct triad_blacklist_entry *theirs)
{
	struct triad_blacklist_entry *ours = find_listed(list, theirs->id);

	if (ours && !is_newer(theirs, ours))
		return false;
	/* Don't give up an entry of a full list for an id that is not listed. */
	if (!ours && list->n == TRIAD_BLACKLIST_MAX && !theirs->is_listed)
		return false;
	if (!ours)
		ours = take_free_entry(list);
	if (!ours)
		return false;
	*ours = *theirs;
	return true;
}

bool triad_blacklist_merge(
	struct triad_blacklist *list, const struct triad_blacklist *other)
{
	bool changed = false;

	for (uint32_t i = 0; i < other->n && i < TRIAD_BLACKLIST_MAX; i++)
		changed |= merge_entry(list, &other->entries[i]);
	return changed;
}
