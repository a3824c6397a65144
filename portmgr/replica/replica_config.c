/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#include "portmgr/replica/replica_parts.h"

/* After this time without a piece, ask another member. */
#define ASK_AGAIN_US (200 * TRIAD_US_PER_MS)
/* The wait for each lower rank: members that need the same configuration ask one after
 * the other and see each other's requests. */
#define TURN_US (TRIAD_US_PER_MS / 2)
/* How long a message may be on its way. */
#define GIVEN_US (20 * TRIAD_US_PER_MS)
/* How many rounds to ask all members that have a configuration, and how long to ignore
 * one that could not be fetched. */
#define MAX_ROUNDS 3u
#define SHUN_US (5 * TRIAD_US_PER_S)

static bool is_same_config(
	const struct triad_replica_config *a, const struct triad_replica_config *b)
{
	return a->generation == b->generation && a->hash == b->hash;
}

/* --- fetching --- */

static void end_fetch(struct triad_replica *replica)
{
	triad_pieces_end(&replica->fetch.pieces);
	replica->fetch = (struct replica_fetch){.n = 0};
}

/* Ignores for a while a configuration that could not be fetched. */
static void shun(struct triad_replica *replica)
{
	replica->shunned = replica->fetch.config;
	replica->shunned_until_us = replica->now_us + SHUN_US;
	end_fetch(replica);
}

static bool is_wanted_config(
	const struct triad_replica *replica, const struct triad_replica_config *config)
{
	/* It must be newer than the one in force, the one that is ready and the last
	 * one taken. */
	if (config->generation <= replica->own.generation ||
		config->generation <= replica->ready.generation ||
		config->generation <= replica->taken)
		return false;
	return config->size <= replica->conf.max_config_size &&
		(replica->now_us >= replica->shunned_until_us ||
			!is_same_config(config, &replica->shunned));
}

/* The next member, by id, that has the configuration, after the one asked last; 0:
 * none. */
static uint64_t next_source(const struct triad_replica *replica)
{
	const struct replica_fetch *fetch = &replica->fetch;
	uint64_t first = 0, next = 0;

	for (uint32_t i = 0; i < replica->n_members; i++) {
		const struct replica_member *member = &replica->members[i];
		uint64_t id = member->id;

		if (!member->has_digest ||
			!is_same_config(&member->config, &fetch->config))
			continue;
		if (!first || id < first)
			first = id;
		if (id > fetch->source && (!next || id < next))
			next = id;
	}
	return next ? next : first;
}

static void begin_fetch(
	struct triad_replica *replica, const struct triad_replica_config *config)
{
	struct replica_fetch *fetch = &replica->fetch;

	end_fetch(replica);
	if (!triad_pieces_begin(&fetch->pieces, config->size, TRIAD_REPLICA_PIECE_SIZE))
		return;
	fetch->config = *config;
	fetch->ask_us = replica->now_us + replica->rank * TURN_US;
}

/* Fetches the newest configuration of all members if it is newer than the present
 * one. */
static void choose_config(struct triad_replica *replica)
{
	const struct triad_replica_config *best = NULL;

	for (uint32_t i = 0; i < replica->n_members; i++) {
		const struct triad_replica_config *config = &replica->members[i].config;

		if (replica->members[i].has_digest &&
			is_wanted_config(replica, config) &&
			(!best || config->generation > best->generation))
			best = config;
	}
	if (best && best->generation > replica->fetch.config.generation)
		begin_fetch(replica, best);
}

void replica_config_received(
	struct triad_replica *replica, const struct replica_member *member)
{
	if (member->config.size > replica->conf.max_config_size &&
		member->config.generation > replica->own.generation)
		replica->status.n_offers_refused++;
	choose_config(replica);
}

/* Requests the first row of missing pieces. */
static void request_pieces(struct triad_replica *replica)
{
	struct replica_fetch *fetch = &replica->fetch;
	const struct triad_pieces *pieces = &fetch->pieces;

	fetch->first = pieces->missing;
	for (fetch->n = 1; fetch->n < TRIAD_REPLICA_WINDOW &&
		fetch->first + fetch->n < pieces->n &&
		!pieces->has[fetch->first + fetch->n];)
		fetch->n++;
	fetch->is_asked = fetch->is_due = true;
	fetch->ask_us = replica->now_us + ASK_AGAIN_US;
}

void replica_config_run(struct triad_replica *replica)
{
	struct replica_fetch *fetch = &replica->fetch;

	if (!fetch->config.generation || replica->now_us < fetch->ask_us)
		return;
	/* The member did not answer: try the next one that has the configuration. */
	fetch->n_tries += fetch->is_asked;
	if (!fetch->source || fetch->is_asked)
		fetch->source = next_source(replica);
	if (!fetch->source) {
		/* Nobody has it any more.  Don't ignore it: its member may return. */
		end_fetch(replica);
		choose_config(replica);
	} else if (fetch->n_tries > MAX_ROUNDS * (replica->n_members + 1)) {
		shun(replica);
		choose_config(replica);
	}
	if (fetch->config.generation && !fetch->source)
		fetch->source = next_source(replica);
	if (fetch->config.generation && replica->now_us >= fetch->ask_us)
		request_pieces(replica);
}

uint64_t replica_config_next_us(const struct triad_replica *replica)
{
	if (!replica->fetch.config.generation)
		return UINT64_MAX;
	return replica->fetch.is_due ? replica->now_us : replica->fetch.ask_us;
}

size_t replica_config_take_want(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	struct replica_fetch *fetch = &replica->fetch;
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_WANT,
		.to = fetch->source,
		.config = fetch->config,
		.piece = fetch->first,
		.n_pieces = fetch->n};

	if (!fetch->is_due)
		return 0;
	fetch->is_due = false;
	return triad_replica_message_encode(&message, payload);
}

/* --- a configuration that is whole --- */

static void finish(struct triad_replica *replica)
{
	struct replica_fetch *fetch = &replica->fetch;

	/* Only the whole can be checked, because pieces may come from several
	 * members. */
	if (triad_hash_sha256(fetch->pieces.octets, fetch->config.size) !=
		fetch->config.hash) {
		replica->status.n_configs_bad++;
		shun(replica);
		choose_config(replica);
		return;
	}
	free(replica->ready_octets);
	replica->ready = fetch->config;
	replica->ready_octets = fetch->pieces.octets;
	fetch->pieces.octets = NULL;
	end_fetch(replica);
}

bool triad_replica_take_config(struct triad_replica *replica,
	struct triad_replica_config *config, uint8_t **octets)
{
	if (!replica->ready.generation)
		return false;
	*config = replica->ready;
	*octets = replica->ready_octets;
	replica->taken = replica->ready.generation;
	replica->ready = (struct triad_replica_config){.generation = 0};
	replica->ready_octets = NULL;
	return true;
}

/* Also takes pieces that other members asked for. */
void replica_config_part(
	struct triad_replica *replica, const struct triad_replica_message *message)
{
	struct replica_fetch *fetch = &replica->fetch;
	uint64_t piece = message->piece;

	if (!fetch->config.generation ||
		!is_same_config(&message->config, &fetch->config) ||
		message->config.size != fetch->config.size)
		return;
	if (triad_pieces_put(&fetch->pieces, piece, message->octets))
		fetch->n_tries = 0;
	if (fetch->pieces.n_have == fetch->pieces.n) {
		finish(replica);
		return;
	}
	if (!fetch->is_asked)
		return;
	/* Wait while pieces come; ask again after the last requested one. */
	fetch->ask_us = replica->now_us + ASK_AGAIN_US;
	if (piece == fetch->first + fetch->n - 1) {
		fetch->is_asked = false;
		fetch->ask_us = replica->now_us + replica->rank * TURN_US;
	}
}

/* --- giving --- */

/* Whether these pieces are queued or were just sent: several members may ask for
 * them. */
static bool is_given(const struct triad_replica *replica, uint64_t first, uint64_t end)
{
	for (uint32_t i = 0; i < replica->n_ranges; i++)
		if (replica->ranges[i].first <= first && end <= replica->ranges[i].end)
			return true;
	return replica->given.first == first && replica->given.end == end &&
		replica->now_us < replica->given_us + GIVEN_US;
}

static void add_range(struct triad_replica *replica, uint64_t first, uint64_t end)
{
	uint64_t n_pieces = triad_pieces_n(replica->own.size, TRIAD_REPLICA_PIECE_SIZE);

	if (end > n_pieces)
		end = n_pieces;
	if (first < end && replica->n_ranges < REPLICA_MAX_RANGES &&
		!is_given(replica, first, end))
		replica->ranges[replica->n_ranges++] =
			(struct replica_range){first, first, end};
}

void replica_config_want(
	struct triad_replica *replica, const struct triad_replica_message *message)
{
	struct replica_fetch *fetch = &replica->fetch;
	uint64_t end = message->piece + message->n_pieces;

	if (message->to == replica->conf.id) {
		if (is_same_config(&message->config, &replica->own))
			add_range(replica, message->piece, end);
		return;
	}
	if (!fetch->config.generation || fetch->is_asked ||
		!is_same_config(&message->config, &fetch->config))
		return;
	if (message->piece > fetch->pieces.missing || end <= fetch->pieces.missing)
		return;
	/* Another member has asked for our next pieces: wait, because pieces go to
	 * all. */
	fetch->first = message->piece;
	fetch->n = message->n_pieces;
	if (end > fetch->pieces.n)
		fetch->n = (uint32_t)(fetch->pieces.n - fetch->first);
	fetch->is_asked = true;
	fetch->ask_us = replica->now_us + ASK_AGAIN_US;
}

size_t replica_config_take_part(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	struct triad_replica_message message = {
		.kind = TRIAD_REPLICA_PART, .config = replica->own};

	if (!replica->n_ranges)
		return 0;
	message.piece = replica->ranges[0].at++;
	message.octets = replica->own_octets + message.piece * TRIAD_REPLICA_PIECE_SIZE;
	message.n_octets = triad_pieces_octets_of(
		replica->own.size, TRIAD_REPLICA_PIECE_SIZE, message.piece);
	if (replica->ranges[0].at == replica->ranges[0].end) {
		replica->given = replica->ranges[0];
		replica->given_us = replica->now_us;
		memmove(&replica->ranges[0], &replica->ranges[1],
			--replica->n_ranges * sizeof(replica->ranges[0]));
	}
	return triad_replica_message_encode(&message, payload);
}

int triad_replica_offer(struct triad_replica *replica,
	const struct triad_replica_config *config, const void *octets, uint64_t now_us)
{
	uint8_t *copy = NULL;

	replica->now_us = now_us;
	if (config->generation) {
		copy = malloc(config->size ? config->size : 1);
		if (!copy)
			return ENOMEM;
		if (config->size)
			memcpy(copy, octets, config->size);
	}
	free(replica->own_octets);
	replica->own = config->generation && config->size
		? *config
		: (struct triad_replica_config){.generation = 0};
	replica->own_octets = copy;
	/* Drop the ranges, which are of the old configuration, and a fetched one that
	 * is not newer. */
	replica->n_ranges = 0;
	replica->given_us = 0;
	if (replica->ready.generation <= replica->own.generation) {
		free(replica->ready_octets);
		replica->ready_octets = NULL;
		replica->ready = (struct triad_replica_config){.generation = 0};
	}
	if (replica->fetch.config.generation <= replica->own.generation)
		end_fetch(replica);
	replica_send_digest(replica, now_us);
	return 0;
}

void replica_config_free(struct triad_replica *replica)
{
	end_fetch(replica);
	free(replica->own_octets);
	free(replica->ready_octets);
}

void triad_replica_status(
	const struct triad_replica *replica, struct triad_replica_status *status)
{
	const struct replica_fetch *fetch = &replica->fetch;

	*status = replica->status;
	status->wanted = fetch->config;
	status->n_octets_here = (size_t)fetch->pieces.n_have * TRIAD_REPLICA_PIECE_SIZE;
	if (status->n_octets_here > fetch->config.size)
		status->n_octets_here = fetch->config.size;
}
