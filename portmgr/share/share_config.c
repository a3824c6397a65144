/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "portmgr/share/share_parts.h"

/* Without a piece for so long another member is asked. */
#define ASK_AGAIN_US (200 * TRIAD_US_PER_MS)
/* Members that want the same ask one after the other, and hear each other. */
#define TURN_US (TRIAD_US_PER_MS / 2)
/* For so long what was said may be on its way. */
#define GIVEN_US (20 * TRIAD_US_PER_MS)
/* How often all that have it are asked in vain, and for how long what could not be had
 * is left alone. */
#define MAX_ROUNDS 3u
#define SHUN_US (5 * TRIAD_US_PER_S)

static bool is_same_config(
	const struct triad_share_config *a, const struct triad_share_config *b)
{
	return a->generation == b->generation && a->hash == b->hash;
}

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t most = a > b ? a : b;

	return most > c ? most : c;
}

/* --- fetching --- */

static void end_fetch(struct triad_share *share)
{
	free(share->fetch.octets);
	free(share->fetch.has);
	share->fetch = (struct share_fetch){.n = 0};
}

static void shun(struct triad_share *share)
{
	share->shunned = share->fetch.config;
	share->shunned_until_us = share->now_us + SHUN_US;
	end_fetch(share);
}

static bool is_wanted(
	const struct triad_share *share, const struct triad_share_config *config)
{
	if (config->generation <=
		max3(share->own.generation, share->ready.generation, share->taken))
		return false;
	return config->size <= share->conf.max_config_size &&
		(share->now_us >= share->shunned_until_us ||
			!is_same_config(config, &share->shunned));
}

/* The next of those that have it, by their ids, behind who was asked; 0: nobody. */
static uint64_t next_source(const struct triad_share *share)
{
	const struct share_fetch *fetch = &share->fetch;
	uint64_t first = 0, next = 0;

	for (uint32_t i = 0; i < share->n_members; i++) {
		const struct share_member *member = &share->members[i];
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
	struct triad_share *share, const struct triad_share_config *config)
{
	struct share_fetch *fetch = &share->fetch;

	end_fetch(share);
	fetch->octets = malloc(config->size);
	fetch->n_pieces = triad_share_n_pieces(config->size);
	fetch->has = calloc(fetch->n_pieces, sizeof(*fetch->has));
	if (!fetch->octets || !fetch->has) {
		end_fetch(share);
		return;
	}
	fetch->config = *config;
	fetch->ask_us = share->now_us + share->rank * TURN_US;
}

/* The newest that anybody has, if it is newer than what is being fetched. */
static void choose(struct triad_share *share)
{
	const struct triad_share_config *best = NULL;

	for (uint32_t i = 0; i < share->n_members; i++) {
		const struct triad_share_config *config = &share->members[i].config;

		if (share->members[i].has_digest && is_wanted(share, config) &&
			(!best || config->generation > best->generation))
			best = config;
	}
	if (best && best->generation > share->fetch.config.generation)
		begin_fetch(share, best);
}

void share_config_heard(struct triad_share *share, const struct share_member *member)
{
	if (member->config.size > share->conf.max_config_size &&
		member->config.generation > share->own.generation)
		share->status.n_offers_refused++;
	choose(share);
}

/* The first pieces in a row that are not here. */
static void ask(struct triad_share *share)
{
	struct share_fetch *fetch = &share->fetch;

	while (fetch->has[fetch->missing])
		fetch->missing++;
	fetch->first = fetch->missing;
	for (fetch->n = 1; fetch->n < TRIAD_SHARE_WINDOW &&
		fetch->first + fetch->n < fetch->n_pieces &&
		!fetch->has[fetch->first + fetch->n];)
		fetch->n++;
	fetch->is_asked = fetch->is_due = true;
	fetch->ask_us = share->now_us + ASK_AGAIN_US;
}

void share_config_run(struct triad_share *share)
{
	struct share_fetch *fetch = &share->fetch;

	if (!fetch->config.generation || share->now_us < fetch->ask_us)
		return;
	fetch->n_tries += fetch->is_asked;
	if (!fetch->source || fetch->is_asked)
		fetch->source = next_source(share);
	if (!fetch->source) {
		/* Who had it is gone; it may come back with it. */
		end_fetch(share);
		choose(share);
	} else if (fetch->n_tries > MAX_ROUNDS * (share->n_members + 1)) {
		shun(share);
		choose(share);
	}
	if (fetch->config.generation && !fetch->source)
		fetch->source = next_source(share);
	if (fetch->config.generation && share->now_us >= fetch->ask_us)
		ask(share);
}

uint64_t share_config_next_us(const struct triad_share *share)
{
	if (!share->fetch.config.generation)
		return UINT64_MAX;
	return share->fetch.is_due ? share->now_us : share->fetch.ask_us;
}

size_t share_config_take_want(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	struct share_fetch *fetch = &share->fetch;
	struct triad_share_message message = {.kind = TRIAD_SHARE_WANT,
		.to = fetch->source,
		.config = fetch->config,
		.piece = fetch->first,
		.n_pieces = fetch->n};

	if (!fetch->is_due)
		return 0;
	fetch->is_due = false;
	return triad_share_message_encode(&message, payload);
}

/* --- a configuration that is whole --- */

/* The first octets of its SHA-256. */
static uint64_t hash_of(const uint8_t *octets, size_t size)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize digest_size = sizeof(digest);
	uint64_t hash = 0;

	g_checksum_update(sum, octets, (gssize)size);
	g_checksum_get_digest(sum, digest, &digest_size);
	g_checksum_free(sum);
	for (unsigned i = 0; i < 8; i++)
		hash = hash << 8 | digest[i];
	return hash;
}

static void finish(struct triad_share *share)
{
	struct share_fetch *fetch = &share->fetch;

	if (hash_of(fetch->octets, fetch->config.size) != fetch->config.hash) {
		share->status.n_configs_bad++;
		shun(share);
		choose(share);
		return;
	}
	free(share->ready_octets);
	share->ready = fetch->config;
	share->ready_octets = fetch->octets;
	fetch->octets = NULL;
	end_fetch(share);
}

bool triad_share_take_config(
	struct triad_share *share, struct triad_share_config *config, uint8_t **octets)
{
	if (!share->ready.generation)
		return false;
	*config = share->ready;
	*octets = share->ready_octets;
	share->taken = share->ready.generation;
	share->ready = (struct triad_share_config){.generation = 0};
	share->ready_octets = NULL;
	return true;
}

/* Pieces that others asked for count, too. */
void share_config_part(
	struct triad_share *share, const struct triad_share_message *message)
{
	struct share_fetch *fetch = &share->fetch;
	uint64_t piece = message->piece;

	if (!fetch->config.generation ||
		!is_same_config(&message->config, &fetch->config) ||
		message->config.size != fetch->config.size)
		return;
	if (!fetch->has[piece]) {
		memcpy(fetch->octets + piece * TRIAD_SHARE_PIECE_SIZE, message->octets,
			message->n_octets);
		fetch->has[piece] = true;
		fetch->n_have++;
		fetch->n_tries = 0;
	}
	if (fetch->n_have == fetch->n_pieces) {
		finish(share);
		return;
	}
	if (!fetch->is_asked)
		return;
	fetch->ask_us = share->now_us + ASK_AGAIN_US;
	if (piece == fetch->first + fetch->n - 1) {
		fetch->is_asked = false;
		fetch->ask_us = share->now_us + share->rank * TURN_US;
	}
}

/* --- giving --- */

/* Whether it is under way, or was said just now: several want the same at a time. */
static bool is_given(const struct triad_share *share, uint64_t first, uint64_t end)
{
	for (uint32_t i = 0; i < share->n_ranges; i++)
		if (share->ranges[i].first <= first && end <= share->ranges[i].end)
			return true;
	return share->given.first == first && share->given.end == end &&
		share->now_us < share->given_us + GIVEN_US;
}

static void add_range(struct triad_share *share, uint64_t first, uint64_t end)
{
	uint64_t n_pieces = triad_share_n_pieces(share->own.size);

	if (end > n_pieces)
		end = n_pieces;
	if (first < end && share->n_ranges < SHARE_MAX_RANGES &&
		!is_given(share, first, end))
		share->ranges[share->n_ranges++] =
			(struct share_range){first, first, end};
}

void share_config_want(
	struct triad_share *share, const struct triad_share_message *message)
{
	struct share_fetch *fetch = &share->fetch;
	uint64_t end = message->piece + message->n_pieces;

	if (message->to == share->conf.id) {
		if (is_same_config(&message->config, &share->own))
			add_range(share, message->piece, end);
		return;
	}
	if (!fetch->config.generation || fetch->is_asked ||
		!is_same_config(&message->config, &fetch->config))
		return;
	while (fetch->has[fetch->missing])
		fetch->missing++;
	if (message->piece > fetch->missing || end <= fetch->missing)
		return;
	/* Another one has asked for what would be asked for here. */
	fetch->first = message->piece;
	fetch->n = message->n_pieces;
	if (end > fetch->n_pieces)
		fetch->n = (uint32_t)(fetch->n_pieces - fetch->first);
	fetch->is_asked = true;
	fetch->ask_us = share->now_us + ASK_AGAIN_US;
}

size_t share_config_take_part(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	struct triad_share_message message = {
		.kind = TRIAD_SHARE_PART, .config = share->own};

	if (!share->n_ranges)
		return 0;
	message.piece = share->ranges[0].at++;
	message.octets = share->own_octets + message.piece * TRIAD_SHARE_PIECE_SIZE;
	message.n_octets = triad_share_piece_size(share->own.size, message.piece);
	if (share->ranges[0].at == share->ranges[0].end) {
		share->given = share->ranges[0];
		share->given_us = share->now_us;
		memmove(&share->ranges[0], &share->ranges[1],
			--share->n_ranges * sizeof(share->ranges[0]));
	}
	return triad_share_message_encode(&message, payload);
}

int triad_share_offer(struct triad_share *share,
	const struct triad_share_config *config, const void *octets, uint64_t now_us)
{
	uint8_t *copy = NULL;

	share->now_us = now_us;
	if (config->generation) {
		copy = malloc(config->size ? config->size : 1);
		if (!copy)
			return ENOMEM;
		if (config->size)
			memcpy(copy, octets, config->size);
	}
	free(share->own_octets);
	share->own = config->generation && config->size
		? *config
		: (struct triad_share_config){.generation = 0};
	share->own_octets = copy;
	share->n_ranges = 0;
	share->given_us = 0;
	if (share->ready.generation <= share->own.generation) {
		free(share->ready_octets);
		share->ready_octets = NULL;
		share->ready = (struct triad_share_config){.generation = 0};
	}
	if (share->fetch.config.generation <= share->own.generation)
		end_fetch(share);
	share_send_digest(share, now_us);
	return 0;
}

void share_config_free(struct triad_share *share)
{
	end_fetch(share);
	free(share->own_octets);
	free(share->ready_octets);
}

void triad_share_status(
	const struct triad_share *share, struct triad_share_status *status)
{
	const struct share_fetch *fetch = &share->fetch;

	*status = share->status;
	status->wanted = fetch->config;
	status->n_octets_here = (size_t)fetch->n_have * TRIAD_SHARE_PIECE_SIZE;
	if (status->n_octets_here > fetch->config.size)
		status->n_octets_here = fetch->config.size;
}
