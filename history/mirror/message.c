/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/mirror/message.h"

#include <errno.h>
#include <string.h>

#include "lib/pieces.h"
#include "triad/wire.h"

#define MAGIC_SIZE (sizeof(TRIAD_MIRROR_MAGIC) - 1)
#define OWNED_SIZE 48u
#define LISTED_SIZE 24u

/* --- encoding --- */

static void put_state(struct triad_wire *wire, const struct triad_mirror_state *state)
{
	triad_wire_put(wire, 8, state->max_octets);
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		triad_wire_put(wire, 8, state->floor_us[tier]);
	for (uint32_t i = 0; i < state->n; i++) {
		const struct triad_mirror_owned *owned = &state->owned[i];

		triad_wire_put(wire, 8, owned->port_guid);
		triad_wire_put(wire, 8, owned->octets);
		triad_wire_put(wire, 8, owned->newest_us);
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			triad_wire_put(wire, 8, owned->digests[tier]);
	}
}

static void put_list(
	struct triad_wire *wire, const struct triad_mirror_message *message)
{
	triad_wire_put(wire, 8, message->owner);
	triad_wire_put(wire, 8, message->before_us);
	triad_wire_put(wire, 1, message->list.is_last);
	triad_wire_put(wire, 7, 0);
	for (uint32_t i = 0; i < message->list.n; i++) {
		triad_wire_put(wire, 8, message->list.listed[i].begun_us);
		triad_wire_put(wire, 8, message->list.listed[i].octets);
		triad_wire_put(wire, 8, message->list.listed[i].last_us);
	}
}

static void put_image(struct triad_wire *wire, const struct triad_mirror_image *image)
{
	triad_wire_put(wire, 8, image->owner);
	triad_wire_put(wire, 8, image->begun_us);
	triad_wire_put(wire, 8, image->offset);
}

static void put_body(
	struct triad_wire *wire, const struct triad_mirror_message *message)
{
	switch (message->kind) {
	case TRIAD_MIRROR_STATE:
		put_state(wire, &message->state);
		break;
	case TRIAD_MIRROR_ASK_LIST:
		triad_wire_put(wire, 8, message->to);
		triad_wire_put(wire, 8, message->owner);
		triad_wire_put(wire, 8, message->before_us);
		break;
	case TRIAD_MIRROR_LIST:
		put_list(wire, message);
		break;
	case TRIAD_MIRROR_ASK:
		triad_wire_put(wire, 8, message->to);
		put_image(wire, &message->image);
		triad_wire_put(wire, 4, message->piece);
		triad_wire_put(wire, 4, message->n_pieces);
		break;
	case TRIAD_MIRROR_PIECE:
		put_image(wire, &message->image);
		triad_wire_put(wire, 4, message->image.size);
		triad_wire_put(wire, 4, message->piece);
		triad_wire_put_octets(wire, message->octets, message->n_octets);
		break;
	}
}

size_t triad_mirror_message_encode(const struct triad_mirror_message *message,
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, payload, TRIAD_MIRROR_PAYLOAD_SIZE);
	triad_wire_put_octets(&wire, TRIAD_MIRROR_MAGIC, MAGIC_SIZE);
	triad_wire_put(&wire, 1, TRIAD_MIRROR_VERSION);
	triad_wire_put(&wire, 1, message->kind);
	triad_wire_put(&wire, 1, message->tier);
	triad_wire_put(&wire, 1, 0);
	put_body(&wire, message);
	return wire.failed ? 0 : wire.at;
}

/* --- decoding --- */

static bool get_state(struct triad_wire *wire, struct triad_mirror_state *state)
{
	size_t n;

	state->max_octets = triad_wire_get(wire, 8);
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		state->floor_us[tier] = triad_wire_get(wire, 8);
	n = (wire->size - wire->at) / OWNED_SIZE;
	if (n > TRIAD_HISTORY_MAX_OWNERS || (wire->size - wire->at) % OWNED_SIZE)
		return false;
	for (state->n = 0; state->n < n; state->n++) {
		struct triad_mirror_owned *owned = &state->owned[state->n];

		owned->port_guid = triad_wire_get(wire, 8);
		owned->octets = triad_wire_get(wire, 8);
		owned->newest_us = triad_wire_get(wire, 8);
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			owned->digests[tier] = triad_wire_get(wire, 8);
		if (!owned->port_guid)
			return false;
	}
	return true;
}

static bool get_list(struct triad_wire *wire, struct triad_mirror_message *message)
{
	struct triad_mirror_list *list = &message->list;
	size_t n;

	message->owner = triad_wire_get(wire, 8);
	message->before_us = triad_wire_get(wire, 8);
	list->is_last = triad_wire_get(wire, 1);
	(void)triad_wire_get(wire, 7);
	n = (wire->size - wire->at) / LISTED_SIZE;
	if (n > TRIAD_MIRROR_LIST_ROOM || (wire->size - wire->at) % LISTED_SIZE ||
		(!n && !list->is_last))
		return false;
	for (list->n = 0; list->n < n; list->n++) {
		struct triad_mirror_listed *listed = &list->listed[list->n];

		listed->begun_us = triad_wire_get(wire, 8);
		listed->octets = triad_wire_get(wire, 8);
		listed->last_us = triad_wire_get(wire, 8);
		/* Require descending times, so that paging through a list ends. */
		if (listed->begun_us >=
			(list->n ? listed[-1].begun_us : message->before_us))
			return false;
	}
	return message->owner;
}

static bool get_image(struct triad_wire *wire, struct triad_mirror_message *message)
{
	message->owner = triad_wire_get(wire, 8);
	message->image = (struct triad_mirror_image){
		.owner = message->owner, .tier = message->tier};
	message->image.begun_us = triad_wire_get(wire, 8);
	message->image.offset = triad_wire_get(wire, 8);
	return message->owner && message->image.offset <= INT64_MAX;
}

static bool get_ask(struct triad_wire *wire, struct triad_mirror_message *message)
{
	bool is_good;

	message->to = triad_wire_get(wire, 8);
	is_good = get_image(wire, message);
	message->piece = (uint32_t)triad_wire_get(wire, 4);
	message->n_pieces = (uint32_t)triad_wire_get(wire, 4);
	return is_good && message->to && message->n_pieces &&
		message->n_pieces <= TRIAD_MIRROR_WINDOW &&
		message->piece <= TRIAD_MIRROR_MAX_IMAGE;
}

static bool get_piece(struct triad_wire *wire, struct triad_mirror_message *message)
{
	bool is_good = get_image(wire, message);

	message->image.size = (uint32_t)triad_wire_get(wire, 4);
	message->piece = (uint32_t)triad_wire_get(wire, 4);
	message->n_octets = wire->size - wire->at;
	message->octets = triad_wire_take(wire, message->n_octets);
	return is_good && message->image.size <= TRIAD_MIRROR_MAX_IMAGE &&
		message->n_octets &&
		message->n_octets ==
		triad_pieces_octets_of(
			message->image.size, TRIAD_MIRROR_PIECE_SIZE, message->piece);
}

static bool get_body(struct triad_wire *wire, struct triad_mirror_message *message)
{
	switch (message->kind) {
	case TRIAD_MIRROR_STATE:
		return get_state(wire, &message->state);
	case TRIAD_MIRROR_ASK_LIST:
		message->to = triad_wire_get(wire, 8);
		message->owner = triad_wire_get(wire, 8);
		message->before_us = triad_wire_get(wire, 8);
		return message->to && message->owner;
	case TRIAD_MIRROR_LIST:
		return get_list(wire, message);
	case TRIAD_MIRROR_ASK:
		return get_ask(wire, message);
	case TRIAD_MIRROR_PIECE:
		return get_piece(wire, message);
	}
	return false;
}

int triad_mirror_message_decode(
	struct triad_mirror_message *message, const void *payload, size_t size)
{
	struct triad_wire wire;

	triad_wire_init(&wire, (void *)(uintptr_t)payload, size);
	if (size < MAGIC_SIZE || size > TRIAD_MIRROR_PAYLOAD_SIZE ||
		memcmp(payload, TRIAD_MIRROR_MAGIC, MAGIC_SIZE) != 0)
		return EINVAL;
	triad_wire_seek(&wire, MAGIC_SIZE);
	if (triad_wire_get(&wire, 1) != TRIAD_MIRROR_VERSION)
		return wire.failed ? EINVAL : EPROTONOSUPPORT;
	message->kind = (enum triad_mirror_kind)triad_wire_get(&wire, 1);
	message->tier = (enum triad_history_tier)triad_wire_get(&wire, 1);
	(void)triad_wire_get(&wire, 1);
	if (wire.failed)
		return EINVAL;
	if (message->kind < TRIAD_MIRROR_STATE || message->kind > TRIAD_MIRROR_PIECE)
		return EPROTONOSUPPORT;
	if (message->tier >= TRIAD_HISTORY_N_TIERS || !get_body(&wire, message) ||
		wire.failed)
		return EINVAL;
	return 0;
}
