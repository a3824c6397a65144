/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_message.h"

#include <errno.h>
#include <string.h>

#include "triad/wire.h"

/* --- encoding --- */

static void put_message_head(struct triad_wire *wire, enum triad_sa_message_kind kind)
{
	triad_wire_put(wire, 4, TRIAD_SA_MAGIC_NUMBER);
	triad_wire_put(wire, 1, TRIAD_SA_VERSION);
	triad_wire_put(wire, 1, kind);
	triad_wire_put(wire, 2, 0);
}

static void put_digests(struct triad_wire *wire, const uint64_t *digests)
{
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		triad_wire_put(wire, 8, digests[i]);
}

size_t triad_sa_message_encode(
	const struct triad_sa_message *message, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, payload, TRIAD_SA_PAYLOAD_SIZE);
	put_message_head(&wire, message->kind);
	switch (message->kind) {
	case TRIAD_SA_STATE:
		triad_wire_put(&wire, 8, message->wall_us);
		triad_wire_put(&wire, 8, message->era);
		triad_wire_put(&wire, 4, message->n_left_out);
		triad_wire_put(&wire, 4, message->number);
		put_digests(&wire, message->digests);
		break;
	case TRIAD_SA_ASK:
		triad_wire_put(&wire, 8, message->to);
		triad_wire_put(&wire, 8, message->groups);
		for (uint32_t i = 0; i < message->n_buckets; i++)
			triad_wire_put(&wire, 2, message->buckets[i]);
		break;
	case TRIAD_SA_LEAVES:
		triad_wire_put(&wire, 1, message->group);
		triad_wire_put(&wire, 7, 0);
		put_digests(&wire, message->digests);
		break;
	case TRIAD_SA_PIECES:
		return 0;
	}
	return wire.failed ? 0 : wire.at;
}

size_t triad_sa_message_begin_pieces(uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, payload, TRIAD_SA_PAYLOAD_SIZE);
	put_message_head(&wire, TRIAD_SA_PIECES);
	return wire.at;
}

size_t triad_sa_message_add_piece(uint8_t payload[TRIAD_SA_PAYLOAD_SIZE], size_t at,
	struct triad_sa_message_piece *piece)
{
	size_t room = TRIAD_SA_PAYLOAD_SIZE - at, n = piece->size - piece->at;
	struct triad_wire wire;
	uint8_t *place;

	/* An empty bucket makes a piece without octets. */
	if (room < TRIAD_SA_MESSAGE_PIECE_HEAD + (n != 0)) {
		piece->n = 0;
		return at;
	}
	if (n > room - TRIAD_SA_MESSAGE_PIECE_HEAD)
		n = room - TRIAD_SA_MESSAGE_PIECE_HEAD;
	piece->n = (uint16_t)n;
	triad_wire_init(&wire, payload + at, room);
	triad_wire_put(&wire, 2, piece->bucket);
	triad_wire_put(&wire, 2, piece->n);
	triad_wire_put(&wire, 4, piece->size);
	triad_wire_put(&wire, 4, piece->at);
	triad_wire_put(&wire, 8, piece->digest);
	place = triad_wire_take(&wire, n);
	if (place && n)
		memcpy(place, piece->octets + piece->at, n);
	return at + wire.at;
}

/* --- decoding --- */

static int get_ask(struct triad_wire *wire, struct triad_sa_message *message)
{
	message->to = triad_wire_get64(wire);
	message->groups = triad_wire_get64(wire);
	while (!wire->failed && wire->size - wire->at >= 2 &&
		message->n_buckets < TRIAD_SA_MESSAGE_MAX_ASKED) {
		uint16_t bucket = triad_wire_get16(wire);

		if (bucket >= TRIAD_SA_SET_N_BUCKETS)
			return EINVAL;
		message->buckets[message->n_buckets++] = bucket;
	}
	return 0;
}

static int get_digests(struct triad_wire *wire, struct triad_sa_message *message)
{
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		message->digests[i] = triad_wire_get64(wire);
	return message->group < TRIAD_SA_SET_N_GROUPS ? 0 : EINVAL;
}

static bool get_piece(struct triad_wire *wire, struct triad_sa_message_piece *piece)
{
	piece->bucket = triad_wire_get16(wire);
	piece->n = triad_wire_get16(wire);
	piece->size = triad_wire_get32(wire);
	piece->at = triad_wire_get32(wire);
	piece->digest = triad_wire_get64(wire);
	piece->octets = triad_wire_take(wire, piece->n);
	return !wire->failed && piece->bucket < TRIAD_SA_SET_N_BUCKETS &&
		piece->size <= TRIAD_SA_BUCKET_MAX_OCTETS && piece->at <= piece->size &&
		piece->n <= piece->size - piece->at && (piece->n || !piece->size);
}

/* Checks all pieces first, so that a payload is valid or invalid as a whole. */
static int get_pieces(struct triad_wire *wire, struct triad_sa_message *message)
{
	struct triad_sa_message_piece piece;

	message->pieces = wire->start + wire->at;
	message->pieces_size = wire->size - wire->at;
	while (wire->at < wire->size)
		if (!get_piece(wire, &piece))
			return EINVAL;
	return 0;
}

static int get_body(struct triad_wire *wire, struct triad_sa_message *message)
{
	switch (message->kind) {
	case TRIAD_SA_STATE:
		message->wall_us = triad_wire_get64(wire);
		message->era = triad_wire_get64(wire);
		message->n_left_out = triad_wire_get32(wire);
		message->number = triad_wire_get32(wire);
		return get_digests(wire, message);
	case TRIAD_SA_ASK:
		return get_ask(wire, message);
	case TRIAD_SA_LEAVES:
		message->group = triad_wire_get8(wire);
		(void)triad_wire_take(wire, 7);
		return get_digests(wire, message);
	case TRIAD_SA_PIECES:
		return get_pieces(wire, message);
	}
	return EPROTONOSUPPORT;
}

int triad_sa_message_decode(
	struct triad_sa_message *message, const void *payload, size_t size)
{
	struct triad_wire wire;
	unsigned version;
	int error;

	memset(message, 0, sizeof(*message));
	/* It is only read. */
	triad_wire_init(&wire, (void *)(uintptr_t)payload, size);
	if (triad_wire_get32(&wire) != TRIAD_SA_MAGIC_NUMBER ||
		size > TRIAD_SA_PAYLOAD_SIZE)
		return EINVAL;
	version = triad_wire_get8(&wire);
	message->kind = (enum triad_sa_message_kind)triad_wire_get8(&wire);
	(void)triad_wire_get16(&wire);
	if (wire.failed)
		return EINVAL;
	if (version != TRIAD_SA_VERSION)
		return EPROTONOSUPPORT;
	error = get_body(&wire, message);
	return !error && wire.failed ? EINVAL : error;
}

bool triad_sa_message_take_piece(
	struct triad_sa_message *message, struct triad_sa_message_piece *piece)
{
	struct triad_wire wire;

	if (!message->pieces_size)
		return false;
	triad_wire_init(
		&wire, (uint8_t *)(uintptr_t)message->pieces, message->pieces_size);
	if (!get_piece(&wire, piece))
		return false;
	message->pieces += wire.at;
	message->pieces_size -= wire.at;
	return true;
}
