/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/replica/replica_message.h"

#include <errno.h>

#include "lib/pieces.h"
#include "triad/wire.h"

static void put_digest(
	struct triad_wire *wire, const struct triad_replica_message *message)
{
	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		triad_wire_put(wire, 8, message->digest.buckets[i]);
	triad_wire_put(wire, 8, message->config.generation);
	triad_wire_put(wire, 8, message->config.hash);
	triad_wire_put(wire, 8, message->config.size);
	for (unsigned i = 0; message->has_latest && i < TRIAD_HISTORY_N_BUCKETS; i++)
		triad_wire_put(wire, 4, message->latest.buckets[i]);
	if (message->has_latest && message->has_terms) {
		triad_wire_put(wire, 8, message->term);
		triad_wire_put(wire, 8, message->heard_term);
	}
}

static void put_want(
	struct triad_wire *wire, const struct triad_replica_message *message)
{
	triad_wire_put(wire, 8, message->to);
	triad_wire_put(wire, 8, message->config.generation);
	triad_wire_put(wire, 8, message->config.hash);
	triad_wire_put(wire, 8, message->piece);
	triad_wire_put(wire, 4, message->n_pieces);
}

static void put_part(
	struct triad_wire *wire, const struct triad_replica_message *message)
{
	triad_wire_put(wire, 8, message->config.generation);
	triad_wire_put(wire, 8, message->config.hash);
	triad_wire_put(wire, 8, message->config.size);
	triad_wire_put(wire, 8, message->piece);
	triad_wire_put_octets(wire, message->octets, message->n_octets);
}

size_t triad_replica_message_encode(const struct triad_replica_message *message,
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, payload, TRIAD_CLUSTER_PAYLOAD_SIZE);
	triad_wire_put(&wire, 4, TRIAD_REPLICA_MAGIC);
	triad_wire_put(&wire, 1, TRIAD_REPLICA_VERSION);
	triad_wire_put(&wire, 1, message->kind);
	triad_wire_put(&wire, 2, 0);
	switch (message->kind) {
	case TRIAD_REPLICA_DIGEST:
		put_digest(&wire, message);
		break;
	case TRIAD_REPLICA_RECORDS:
		triad_wire_put_octets(&wire, message->octets, message->n_octets);
		break;
	case TRIAD_REPLICA_WANT:
		put_want(&wire, message);
		break;
	case TRIAD_REPLICA_PART:
		put_part(&wire, message);
		break;
	}
	return wire.failed ? 0 : wire.at;
}

/* --- decoding --- */

/* Refuses a size that does not fit into size_t. */
static void get_size(struct triad_wire *wire, struct triad_replica_config *config)
{
	uint64_t size = triad_wire_get(wire, 8);

	config->size = (size_t)size;
	if (config->size != size || size > TRIAD_REPLICA_MAX_GENERATION)
		wire->failed = true;
}

static void get_rest(struct triad_wire *wire, struct triad_replica_message *message)
{
	message->n_octets = wire->size - wire->at;
	message->octets = triad_wire_take(wire, message->n_octets);
}

static bool is_config(const struct triad_replica_config *config)
{
	return config->generation && config->generation <= TRIAD_REPLICA_MAX_GENERATION;
}

static bool get_digest(struct triad_wire *wire, struct triad_replica_message *message)
{
	struct triad_replica_config *config = &message->config;

	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		message->digest.buckets[i] = triad_wire_get(wire, 8);
	config->generation = triad_wire_get(wire, 8);
	config->hash = triad_wire_get(wire, 8);
	get_size(wire, config);
	message->has_latest = wire->size - wire->at >= TRIAD_HISTORY_N_BUCKETS * 4u;
	for (unsigned i = 0; message->has_latest && i < TRIAD_HISTORY_N_BUCKETS; i++)
		message->latest.buckets[i] = triad_wire_get(wire, 4);
	message->has_terms = message->has_latest && wire->size - wire->at >= 16;
	if (message->has_terms) {
		message->term = triad_wire_get(wire, 8);
		message->heard_term = triad_wire_get(wire, 8);
	}
	return is_config(config)
		? config->size > 0
		: !config->generation && !config->hash && !config->size;
}

static bool get_records(struct triad_wire *wire, struct triad_replica_message *message)
{
	get_rest(wire, message);
	return message->n_octets && message->octets &&
		message->octets[message->n_octets - 1] == '\n';
}

static bool get_want(struct triad_wire *wire, struct triad_replica_message *message)
{
	message->to = triad_wire_get(wire, 8);
	message->config.generation = triad_wire_get(wire, 8);
	message->config.hash = triad_wire_get(wire, 8);
	message->config.size = 0;
	message->piece = triad_wire_get(wire, 8);
	message->n_pieces = (uint32_t)triad_wire_get(wire, 4);
	return message->to && is_config(&message->config) && message->n_pieces &&
		message->n_pieces <= TRIAD_REPLICA_WINDOW &&
		message->piece <= UINT64_MAX / TRIAD_REPLICA_PIECE_SIZE;
}

static bool get_part(struct triad_wire *wire, struct triad_replica_message *message)
{
	message->config.generation = triad_wire_get(wire, 8);
	message->config.hash = triad_wire_get(wire, 8);
	get_size(wire, &message->config);
	message->piece = triad_wire_get(wire, 8);
	get_rest(wire, message);
	return is_config(&message->config) && message->n_octets &&
		message->n_octets ==
		triad_pieces_octets_of(
			message->config.size, TRIAD_REPLICA_PIECE_SIZE, message->piece);
}

static bool get_body(struct triad_wire *wire, struct triad_replica_message *message)
{
	switch (message->kind) {
	case TRIAD_REPLICA_DIGEST:
		return get_digest(wire, message);
	case TRIAD_REPLICA_RECORDS:
		return get_records(wire, message);
	case TRIAD_REPLICA_WANT:
		return get_want(wire, message);
	case TRIAD_REPLICA_PART:
		return get_part(wire, message);
	}
	return false;
}

int triad_replica_message_decode(
	struct triad_replica_message *message, const void *payload, size_t size)
{
	struct triad_wire wire;

	triad_wire_init(&wire, (void *)(uintptr_t)payload, size);
	if (size > TRIAD_CLUSTER_PAYLOAD_SIZE ||
		triad_wire_get(&wire, 4) != TRIAD_REPLICA_MAGIC)
		return EINVAL;
	if (triad_wire_get(&wire, 1) != TRIAD_REPLICA_VERSION)
		return wire.failed ? EINVAL : EPROTONOSUPPORT;
	message->kind = (enum triad_replica_kind)triad_wire_get(&wire, 1);
	(void)triad_wire_get(&wire, 2);
	if (wire.failed)
		return EINVAL;
	if (message->kind < TRIAD_REPLICA_DIGEST || message->kind > TRIAD_REPLICA_PART)
		return EPROTONOSUPPORT;
	if (!get_body(&wire, message) || wire.failed)
		return EINVAL;
	return 0;
}
