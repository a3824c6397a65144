/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/roster.h"

#include <stdlib.h>
#include <string.h>

#include "collect/incarnation.h"

static struct triad_roster_entry *find(const struct triad_roster *roster, uint64_t id)
{
	for (unsigned i = 0; i < roster->n; i++)
		if (roster->entries[i].id == id)
			return (struct triad_roster_entry *)&roster->entries[i];
	return NULL;
}

/* Who was heard last the longest ago; NULL when that is not long. */
static struct triad_roster_entry *stalest(
	struct triad_roster *roster, uint64_t past_us, uint64_t now_us)
{
	struct triad_roster_entry *found = &roster->entries[0];

	for (unsigned i = 1; i < roster->n; i++)
		if (roster->entries[i].heard_us < found->heard_us)
			found = &roster->entries[i];
	return now_us - found->heard_us > past_us ? found : NULL;
}

static void note_master(struct triad_roster_entry *entry,
	const struct triad_roster_entry *before, uint64_t now_us)
{
	entry->former_master = before->former_master;
	entry->left_us = before->left_us;
	if (before->alive.master == entry->alive.master)
		return;
	entry->former_master = before->alive.master;
	entry->left_us = now_us;
}

bool triad_roster_hear(struct triad_roster *roster,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t past_us, uint64_t now_us)
{
	struct triad_roster_entry *entry = find(roster, head->sender);
	struct triad_roster_entry said = {
		.id = head->sender,
		.incarnation = head->incarnation,
		.heard_us = now_us,
		.alive = *alive,
	};

	if (entry &&
		triad_incarnation_judge(head->incarnation, entry->incarnation,
			entry->heard_us, past_us, now_us) == TRIAD_INCARNATION_PAST)
		return false;
	if (entry)
		note_master(&said, entry, now_us);
	else
		entry = roster->n < TRIAD_ROSTER_MAX ? &roster->entries[roster->n++]
						     : stalest(roster, past_us, now_us);
	if (!entry)
		return false;
	*entry = said;
	return true;
}

const struct triad_roster_entry *triad_roster_find(
	const struct triad_roster *roster, uint64_t id)
{
	return find(roster, id);
}

const struct triad_roster_entry *triad_roster_find_name(
	const struct triad_roster *roster, const char *name, uint64_t since_us)
{
	char *end;
	uint64_t id = strtoull(name, &end, 0);
	bool is_id = end != name && !*end;

	for (unsigned i = 0; i < roster->n; i++) {
		const struct triad_roster_entry *entry = &roster->entries[i];

		if (entry->heard_us >= since_us &&
			(is_id ? entry->id == id : !strcmp(entry->alive.name, name)))
			return entry;
	}
	return NULL;
}
