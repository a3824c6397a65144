/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/message.h"

#include <errno.h>

#include "triad/wire.h"

#define MAGIC 0x5472456cu
#define KNOWN_FLAGS                                                                    \
	(TRIAD_ELECTION_IS_ABLE | TRIAD_ELECTION_IS_WITNESS |                          \
		TRIAD_ELECTION_SM_IS_MASTER)

size_t triad_election_message_encode(const struct triad_election_message *message,
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE])
{
	const struct triad_blacklist *list = &message->blacklist;
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_ELECTION_MESSAGE_SIZE);
	triad_wire_put(&wire, 4, MAGIC);
	triad_wire_put(&wire, 1, TRIAD_ELECTION_VERSION);
	triad_wire_put(&wire, 1, message->kind);
	triad_wire_put(&wire, 1, message->state);
	triad_wire_put(&wire, 1, message->flags);
	triad_wire_put(&wire, 8, message->from);
	triad_wire_put(&wire, 8, message->to);
	triad_wire_put(&wire, 4, message->priority);
	triad_wire_put(&wire, 4, list->n);
	triad_wire_put(&wire, 8, message->round);
	triad_wire_put(&wire, 8, message->answers);
	triad_wire_put(&wire, 8, message->term);
	triad_wire_put(&wire, 8, message->claim);
	triad_wire_put(&wire, 8, message->grant);
	triad_wire_put(&wire, 8, message->generation);
	triad_wire_put(&wire, 8, message->hash);
	triad_wire_put(&wire, 8, message->newest);
	triad_wire_put(&wire, 4, message->lease_ms);
	triad_wire_put(&wire, 8, message->held);
	for (uint32_t i = 0; i < list->n; i++) {
		triad_wire_put(&wire, 8, list->entries[i].id);
		triad_wire_put(&wire, 4, list->entries[i].version);
		triad_wire_put(&wire, 1, list->entries[i].is_listed);
	}
	return wire.at;
}

static int read_blacklist(struct triad_wire *wire, struct triad_blacklist *list)
{
	if (list->n > TRIAD_BLACKLIST_MAX)
		return EINVAL;
	for (uint32_t i = 0; i < list->n; i++) {
		struct triad_blacklist_entry *entry = &list->entries[i];
		uint64_t is_listed;

		entry->id = triad_wire_get(wire, 8);
		entry->version = (uint32_t)triad_wire_get(wire, 4);
		is_listed = triad_wire_get(wire, 1);
		entry->is_listed = is_listed;
		if (!entry->id || !entry->version || is_listed > 1 ||
			(is_listed && entry->version == UINT32_MAX))
			return EINVAL;
	}
	return 0;
}

static bool is_sound(const struct triad_election_message *message)
{
	return message->kind >= TRIAD_ELECTION_STATUS &&
		message->kind <= TRIAD_ELECTION_CEDE &&
		message->state >= TRIAD_ELECTION_ELECTING &&
		message->state <= TRIAD_ELECTION_MASTER &&
		!(message->flags & ~KNOWN_FLAGS) && message->from &&
		message->claim <= message->term && message->grant <= message->term &&
		message->held <= message->term &&
		message->generation <= message->newest &&
		message->newest <= TRIAD_ELECTION_MAX_GENERATION &&
		message->term <= TRIAD_ELECTION_MAX_GENERATION &&
		message->lease_ms <= TRIAD_ELECTION_MAX_LEASE_MS;
}

int triad_election_message_decode(
	struct triad_election_message *message, const void *octets, size_t size)
{
	struct triad_wire wire;

	triad_wire_init(&wire, (void *)(uintptr_t)octets, size);
	if (triad_wire_get(&wire, 4) != MAGIC)
		return EINVAL;
	if (triad_wire_get(&wire, 1) != TRIAD_ELECTION_VERSION)
		return wire.failed ? EINVAL : EPROTONOSUPPORT;
	message->kind = (enum triad_election_kind)triad_wire_get(&wire, 1);
	message->state = (enum triad_election_state)triad_wire_get(&wire, 1);
	message->flags = (uint8_t)triad_wire_get(&wire, 1);
	message->from = triad_wire_get(&wire, 8);
	message->to = triad_wire_get(&wire, 8);
	message->priority = (uint32_t)triad_wire_get(&wire, 4);
	message->blacklist.n = (uint32_t)triad_wire_get(&wire, 4);
	message->round = triad_wire_get(&wire, 8);
	message->answers = triad_wire_get(&wire, 8);
	message->term = triad_wire_get(&wire, 8);
	message->claim = triad_wire_get(&wire, 8);
	message->grant = triad_wire_get(&wire, 8);
	message->generation = triad_wire_get(&wire, 8);
	message->hash = triad_wire_get(&wire, 8);
	message->newest = triad_wire_get(&wire, 8);
	message->lease_ms = (uint32_t)triad_wire_get(&wire, 4);
	message->held = triad_wire_get(&wire, 8);
	if (read_blacklist(&wire, &message->blacklist) || wire.failed ||
		wire.at != wire.size || !is_sound(message))
		return EINVAL;
	return 0;
}

const char *triad_election_state_name(enum triad_election_state state)
{
	static const char *const names[] = {
		[TRIAD_ELECTION_ELECTING] = "ELECTING",
		[TRIAD_ELECTION_STANDBY] = "STANDBY",
		[TRIAD_ELECTION_MASTER] = "MASTER",
	};

	return names[state];
}
