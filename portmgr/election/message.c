/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/message.h"

#include <errno.h>

#include "lib/fields.h"

#define KNOWN_FLAGS                                                                    \
	(TRIAD_ELECTION_IS_ABLE | TRIAD_ELECTION_IS_WITNESS |                          \
		TRIAD_ELECTION_SM_IS_MASTER)

#define FIELD(member, n) TRIAD_FIELD(struct triad_election_message, member, n)

/* Behind magic and version; entries of the blacklist follow. */
static const struct triad_field fields[] = {
	FIELD(kind, 1),
	FIELD(state, 1),
	FIELD(flags, 1),
	FIELD(from, 8),
	FIELD(to, 8),
	FIELD(priority, 4),
	FIELD(blacklist.n, 4),
	FIELD(round, 8),
	FIELD(answers, 8),
	FIELD(term, 8),
	FIELD(claim, 8),
	FIELD(grant, 8),
	FIELD(generation, 8),
	FIELD(hash, 8),
	FIELD(newest, 8),
	FIELD(lease_ms, 4),
	FIELD(held, 8),
};

size_t triad_election_message_encode(const struct triad_election_message *message,
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE])
{
	const struct triad_blacklist *list = &message->blacklist;
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_ELECTION_MESSAGE_SIZE);
	triad_wire_put(&wire, 4, TRIAD_ELECTION_MAGIC);
	triad_wire_put(&wire, 1, TRIAD_ELECTION_VERSION);
	TRIAD_FIELDS_PUT(&wire, fields, message);
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
		message->state <= TRIAD_ELECTION_MASTER && message->from &&
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
	if (triad_wire_get(&wire, 4) != TRIAD_ELECTION_MAGIC)
		return EINVAL;
	/* All versions share magic and version, and nothing else. */
	if (triad_wire_get(&wire, 1) != TRIAD_ELECTION_VERSION)
		return wire.failed ? EINVAL : EPROTONOSUPPORT;
	TRIAD_FIELDS_GET(&wire, fields, message);
	message->flags &= KNOWN_FLAGS;
	if (read_blacklist(&wire, &message->blacklist) || wire.failed ||
		!is_sound(message))
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
