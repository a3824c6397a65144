/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/peers.h"

#include <stdlib.h>
#include <string.h>

#include "collect/incarnation.h"

static struct triad_peers_entry *find_peer(const struct triad_peers *peers, uint64_t id)
{
	for (unsigned i = 0; i < peers->n; i++)
		if (peers->entries[i].id == id)
			return (struct triad_peers_entry *)&peers->entries[i];
	return NULL;
}

/* The peer that has been silent longest; NULL unless that is longer than 'past_us'. */
static struct triad_peers_entry *stalest(
	struct triad_peers *peers, uint64_t past_us, uint64_t now_us)
{
	struct triad_peers_entry *found = &peers->entries[0];

	for (unsigned i = 1; i < peers->n; i++)
		if (peers->entries[i].received_us < found->received_us)
			found = &peers->entries[i];
	return now_us - found->received_us > past_us ? found : NULL;
}

bool triad_peers_receive(struct triad_peers *peers,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t past_us, uint64_t now_us)
{
	struct triad_peers_entry *entry = find_peer(peers, head->sender);
	struct triad_peers_entry sent = {
		.id = head->sender,
		.incarnation = head->incarnation,
		.received_us = now_us,
		.alive = *alive,
	};

	if (entry &&
		triad_incarnation_judge(head->incarnation, entry->incarnation,
			entry->received_us, past_us, now_us) == TRIAD_INCARNATION_PAST)
		return false;
	if (entry) {
		bool is_same = entry->alive.master == alive->master;

		/* Reports on their way may still come through the former master. */
		sent.former_master =
			is_same ? entry->former_master : entry->alive.master;
		sent.left_us = is_same ? entry->left_us : now_us;
	} else {
		entry = peers->n < TRIAD_PEERS_MAX ? &peers->entries[peers->n++]
						   : stalest(peers, past_us, now_us);
	}
	if (!entry)
		return false;
	*entry = sent;
	return true;
}

const struct triad_peers_entry *triad_peers_find(
	const struct triad_peers *peers, uint64_t id)
{
	return find_peer(peers, id);
}

const struct triad_peers_entry *triad_peers_find_name(
	const struct triad_peers *peers, const char *name, uint64_t since_us)
{
	char *end;
	uint64_t id = strtoull(name, &end, 0);
	bool is_id = end != name && !*end;

	for (unsigned i = 0; i < peers->n; i++) {
		const struct triad_peers_entry *entry = &peers->entries[i];

		if (entry->received_us >= since_us &&
			(is_id ? entry->id == id : !strcmp(entry->alive.name, name)))
			return entry;
	}
	return NULL;
}
