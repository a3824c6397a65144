/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sending the fabric down the tree, and receiving it. */
#include <errno.h>
#include <stdlib.h>

#include "collect/member_parts.h"
#include "triad/clock.h"

/* How long a manager waits, and 1 us for each octet, before it sends a fabric to all
 * again: one of a million ports, some 21 MB, each 23 s. */
#define HAND_DOWN_US (2 * TRIAD_US_PER_S)
/* How many pieces to send at once, and the pause after them: 32 MiB a second. */
#define PIECES_A_TURN 8u
#define PIECES_US (30 * TRIAD_US_PER_MS)
/* How long an agent waits before it asks for the fabric again. */
#define WANT_US (3 * TRIAD_US_PER_S)
#define PATIENCE_US (TRIAD_US_PER_S / 2)

/* --- managers --- */

void triad_member_encode(struct triad_member *member)
{
	struct triad_topology_octets encoded;

	/* If memory is short, agents keep the last fabric, or discover it. */
	if (triad_topology_encode(member->fabric, &encoded))
		return;
	member->hash = encoded.hash;
	if (encoded.hash == member->encoded.hash) {
		/* Nothing changed: go on sending the pieces. */
		triad_topology_octets_free(&encoded);
		return;
	}
	triad_topology_octets_free(&member->encoded);
	member->encoded = encoded;
	member->is_wanted = true;
	member->next_piece = member->n_pieces = 0;
}

void triad_member_receive_want_topology(struct triad_member *member)
{
	member->is_wanted = true;
}

static uint64_t hand_down(struct triad_member *member, uint64_t now_us)
{
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_TOPOLOGY);

	for (unsigned i = 0; i < PIECES_A_TURN && member->next_piece < member->n_pieces;
		i++)
		triad_member_send(member, TRIAD_MEMBER_TO_ALL, 0, member->octets,
			triad_topology_write_piece(&member->encoded,
				member->next_piece++, &head, member->octets,
				sizeof(member->octets)));
	/* Pause between pieces, or the queues on the way would overflow. */
	if (member->next_piece < member->n_pieces)
		return now_us + PIECES_US;
	member->n_pieces = 0;
	return UINT64_MAX;
}

static uint64_t step_manager(struct triad_member *member, uint64_t now_us)
{
	uint64_t pause_us = HAND_DOWN_US + member->encoded.n_octets;
	uint64_t due_us = member->handed_us ? member->handed_us + pause_us : now_us;

	if (member->n_pieces)
		return hand_down(member, now_us);
	if (!member->is_wanted || !member->encoded.octets)
		return UINT64_MAX;
	if (now_us < due_us)
		return due_us;
	member->is_wanted = false;
	member->handed_us = now_us;
	member->next_piece = 0;
	member->n_pieces = triad_topology_n_pieces(&member->encoded);
	return hand_down(member, now_us);
}

/* --- agents --- */

/* The manager whose fabric this agent uses: the lowest id of those that have one. */
static const struct triad_peers_entry *find_manager(
	const struct triad_member *member, uint64_t now_us)
{
	const struct triad_peers_entry *found = NULL;

	for (unsigned i = 0; i < member->peers.n; i++) {
		const struct triad_peers_entry *entry = &member->peers.entries[i];

		if (entry->alive.is_manager && entry->alive.topology &&
			(!found || entry->id < found->id) &&
			triad_member_is_received(member, entry->id, now_us))
			found = entry;
	}
	return found;
}

void triad_member_receive_topology(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	const struct triad_peers_entry *manager = find_manager(member, now_us);
	struct triad_topology_octets whole;
	struct triad_fabric *fabric;
	uint64_t hash;
	int error;

	/* With several managers, use only one's fabric. */
	if (member->params.is_manager || !member->sink.fabric ||
		(manager && manager->id != head->sender))
		return;
	error = triad_topology_pieces_add(member->pieces, body, member->hash, &whole);
	if (!error) {
		hash = whole.hash;
		error = triad_topology_decode(&whole, &fabric);
		triad_topology_octets_free(&whole);
	}
	if (error == EPROTO)
		member->counts.n_foreign++;
	if (error)
		return;
	member->sink.fabric(member->sink.context, fabric, hash);
	triad_fabric_unref(fabric);
}

static uint64_t step_agent(struct triad_member *member, uint64_t now_us)
{
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_WANT_TOPOLOGY);
	const struct triad_peers_entry *manager = find_manager(member, now_us);
	struct triad_wire w;

	if (!manager || !member->sink.fabric)
		return UINT64_MAX;
	if (manager->alive.topology == member->hash) {
		/* After a new hash the fabric is probably under way: from here on, wait
		 * a moment before requesting it. */
		member->wanted_us = now_us - WANT_US + PATIENCE_US;
		return UINT64_MAX;
	}
	if (now_us - member->wanted_us < WANT_US)
		return member->wanted_us + WANT_US;
	member->wanted_us = now_us;
	triad_wire_init(&w, member->octets, sizeof(member->octets));
	triad_collect_put_head(&w, &head);
	triad_member_send(member, TRIAD_MEMBER_TO_MANAGERS, 0, member->octets, w.at);
	return now_us + WANT_US;
}

uint64_t triad_member_step_topology(struct triad_member *member, uint64_t now_us)
{
	return member->params.is_manager ? step_manager(member, now_us)
					 : step_agent(member, now_us);
}
