/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_copier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backoff.h"
#include "lib/hash.h"
#include "triad/clock.h"

#define STATE_US TRIAD_US_PER_S /* how often digests are sent */
#define BURST_OCTETS 65536u     /* the most octets to send at once */
/* An answer takes some milliseconds, unless others send much. */
#define ASK_AGAIN_US (200 * TRIAD_US_PER_MS)
#define ASK_AGAIN_MAX_US (2 * TRIAD_US_PER_S)
/* Send changed buckets before the digests with which receivers check that they have
 * all. */
#define SETTLE_US (20 * TRIAD_US_PER_MS)
/* If more buckets change at once, send none: receivers request what they lack. */
#define MAX_PUSHED 512u

/* A giver sends something each second; after this silence it counts as gone. */
#define SILENT_US (3 * STATE_US)

#define PER_GROUP TRIAD_SA_SET_PER_GROUP

/* A bucket that comes in several pieces. */
struct partial {
	uint8_t *octets; /* NULL: none */
	uint16_t bucket;
	uint32_t size, n;
	uint64_t digest;
};

struct triad_sa_copier {
	struct triad_sa_copier_conf conf;
	struct triad_sa_copier_status status;
	struct triad_sa_set *set;
	uint64_t now_us, wall_us;
	uint64_t filled_us;
	int64_t tokens;       /* octets that may be sent now */
	uint64_t highest_era; /* the highest received era */

	/* While this SM gives. */
	uint64_t newer_us; /* last message of a member of a higher era; 0: never */
	uint64_t state_us; /* when to send the digests */
	uint32_t n_states; /* STATEs sent in this era */
	uint64_t leaves_due;
	uint64_t buckets_due[TRIAD_SA_SET_N_GROUPS];
	uint32_t sent; /* octets sent of the first of 'buckets_due' */
	uint64_t sent_digest;

	/* While this SM takes. */
	uint64_t preferred;                      /* the member to follow, if it gives */
	uint64_t digests[TRIAD_SA_SET_N_GROUPS]; /* as 'source' sent them */
	uint32_t number;                         /* of that STATE */
	uint64_t leaves[TRIAD_SA_SET_N_GROUPS][PER_GROUP];
	uint64_t has_leaves;
	uint64_t asked_leaves;
	uint64_t asked[TRIAD_SA_SET_N_GROUPS]; /* requested, but not received yet */
	uint64_t ask_us;                       /* when to ask */
	uint32_t n_asked;                      /* in a row, without an answer */
	struct partial partial;
};

struct triad_sa_copier *triad_sa_copier_new(const struct triad_sa_copier_conf *conf)
{
	struct triad_sa_copier *copier = calloc(1, sizeof(*copier));

	if (!copier)
		return NULL;
	copier->conf = *conf;
	copier->tokens = BURST_OCTETS;
	copier->set = triad_sa_set_new();
	if (copier->set)
		return copier;
	free(copier);
	return NULL;
}

void triad_sa_copier_free(struct triad_sa_copier *copier)
{
	if (!copier)
		return;
	free(copier->partial.octets);
	triad_sa_set_free(copier->set);
	free(copier);
}

/* --- small things --- */

static bool has_bit(const uint64_t *masks, unsigned bucket)
{
	return masks[bucket / PER_GROUP] >> bucket % PER_GROUP & 1;
}

static void set_bit(uint64_t *masks, unsigned bucket)
{
	masks[bucket / PER_GROUP] |= UINT64_C(1) << bucket % PER_GROUP;
}

static void clear_bit(uint64_t *masks, unsigned bucket)
{
	masks[bucket / PER_GROUP] &= ~(UINT64_C(1) << bucket % PER_GROUP);
}

static bool has_any(const uint64_t *masks)
{
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		if (masks[i])
			return true;
	return false;
}

static void drop_partial(struct triad_sa_copier *copier)
{
	free(copier->partial.octets);
	memset(&copier->partial, 0, sizeof(copier->partial));
}

static void look_whether_complete(struct triad_sa_copier *copier)
{
	struct triad_sa_copier_status *status = &copier->status;

	if (status->role != TRIAD_SA_TAKES || !status->received_us)
		return;
	status->is_complete = true;
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		status->is_complete &=
			copier->digests[i] == triad_sa_set_group_digest(copier->set, i);
}

/* --- roles --- */

static void begin_taking(struct triad_sa_copier *copier, uint64_t source)
{
	copier->status.source = source;
	copier->status.received_us = 0;
	copier->status.is_complete = false;
	copier->has_leaves = 0;
	copier->asked_leaves = 0;
	memset(copier->asked, 0, sizeof(copier->asked));
	copier->ask_us = 0;
	copier->n_asked = 0;
	drop_partial(copier);
}

/* The next era: at least the seconds since 1970, because a process that has just
 * started may not know the last one. */
static uint64_t next_era(struct triad_sa_copier *copier)
{
	uint64_t now_s = copier->wall_us / TRIAD_US_PER_S;

	copier->highest_era++;
	if (copier->highest_era < now_s)
		copier->highest_era = now_s;
	return copier->highest_era;
}

static void begin_giving(struct triad_sa_copier *copier)
{
	copier->status.source = copier->conf.id;
	copier->status.era = next_era(copier);
	copier->newer_us = 0;
	copier->status.is_complete = false;
	copier->status.equal_us = 0;
	copier->status.received_us = 0;
	copier->status.ahead_us = 0;
	copier->state_us = UINT64_MAX; /* not before there are records */
	copier->n_states = 0;
	copier->leaves_due = 0;
	memset(copier->buckets_due, 0, sizeof(copier->buckets_due));
	copier->sent = 0;
	drop_partial(copier);
}

void triad_sa_copier_set_role(
	struct triad_sa_copier *copier, enum triad_sa_role role, uint64_t preferred)
{
	struct triad_sa_copier_status *status = &copier->status;

	if (role == TRIAD_SA_GIVES && status->role != role)
		begin_giving(copier);
	/* While this SM rested, the same master may have continued. */
	if (role == TRIAD_SA_TAKES && status->source == copier->conf.id)
		begin_taking(copier, 0);
	status->role = role;
	copier->preferred = preferred;
}

/* Follows the preferred SM as soon as it gives, and before that the latest giver.
 * OpenSM may prefer, by polling it, an SM that is no master; and of two masters one may
 * be dead. */
static bool may_follow(
	const struct triad_sa_copier *copier, uint64_t sender, uint64_t era)
{
	const struct triad_sa_copier_status *status = &copier->status;

	return sender == copier->preferred || !status->received_us ||
		copier->now_us - status->received_us > SILENT_US ||
		(status->source != copier->preferred && era > status->era);
}

static void send_state_soon(struct triad_sa_copier *copier)
{
	if (copier->state_us > copier->now_us)
		copier->state_us = copier->now_us;
}

int triad_sa_copier_set_records(
	struct triad_sa_copier *copier, const uint8_t *octets, size_t size)
{
	uint64_t changed[TRIAD_SA_SET_N_GROUPS];
	unsigned n = 0;
	int error = triad_sa_set_take(copier->set, octets, size, changed);

	if (error || copier->status.role != TRIAD_SA_GIVES)
		return error;
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		n += (unsigned)__builtin_popcountll(changed[i]);
	for (unsigned i = 0; n <= MAX_PUSHED && i < TRIAD_SA_SET_N_GROUPS; i++)
		copier->buckets_due[i] |= changed[i];
	copier->status.n_left_out = triad_sa_set_counts(copier->set).n_left_out;
	if (n || copier->state_us == UINT64_MAX)
		send_state_soon(copier);
	return 0;
}

void triad_sa_copier_note_view(struct triad_sa_copier *copier)
{
	if (copier->state_us != UINT64_MAX)
		send_state_soon(copier);
}

/* --- input, as giver --- */

static void receive_ask(
	struct triad_sa_copier *copier, const struct triad_sa_message *ask)
{
	if (ask->to != copier->conf.id || copier->status.role != TRIAD_SA_GIVES)
		return;
	copier->leaves_due |= ask->groups;
	for (uint32_t i = 0; i < ask->n_buckets; i++)
		set_bit(copier->buckets_due, ask->buckets[i]);
}

/* --- input, as taker --- */

/* After an answer: waits for the rest, or soon asks again if all requested buckets
 * came. */
static void note_answer(struct triad_sa_copier *copier)
{
	bool waits = copier->asked_leaves || has_any(copier->asked);

	copier->n_asked = 0;
	copier->ask_us = copier->now_us + (waits ? ASK_AGAIN_US : SETTLE_US);
}

static void receive_state(
	struct triad_sa_copier *copier, const struct triad_sa_message *message)
{
	struct triad_sa_copier_status *status = &copier->status;

	/* A late one would restore old digests. */
	if (status->received_us && message->era == status->era &&
		message->number <= copier->number)
		return;
	copier->number = message->number;
	memcpy(copier->digests, message->digests, sizeof(copier->digests));
	status->received_us = copier->now_us;
	status->ahead_us = (int64_t)(message->wall_us - copier->wall_us);
	status->n_left_out = message->n_left_out;
	status->era = message->era;
	look_whether_complete(copier);
	if (status->is_complete)
		status->equal_us = copier->now_us;
}

static void receive_leaves(
	struct triad_sa_copier *copier, const struct triad_sa_message *message)
{
	uint64_t group = UINT64_C(1) << message->group;

	memcpy(copier->leaves[message->group], message->digests,
		sizeof(message->digests));
	copier->has_leaves |= group;
	copier->asked_leaves &= ~group;
	note_answer(copier);
}

static void take_bucket(struct triad_sa_copier *copier,
	const struct triad_sa_message_piece *piece, const uint8_t *octets)
{
	int error = triad_sa_set_put(
		copier->set, piece->bucket, piece->digest, octets, piece->size);

	if (error == E2BIG || error == ENOMEM)
		copier->status.n_refused++;
	clear_bit(copier->asked, piece->bucket);
	note_answer(copier);
}

static void add_to_partial(
	struct triad_sa_copier *copier, const struct triad_sa_message_piece *piece)
{
	struct partial *partial = &copier->partial;

	if (!piece->at) {
		drop_partial(copier);
		partial->octets = malloc(piece->size);
		if (!partial->octets)
			copier->status.n_refused++;
		partial->bucket = piece->bucket;
		partial->size = piece->size;
		partial->digest = piece->digest;
	}
	/* A piece was lost, or the bucket has changed meanwhile: ask for it again. */
	if (!partial->octets || piece->bucket != partial->bucket ||
		piece->size != partial->size || piece->digest != partial->digest ||
		piece->at != partial->n)
		return;
	memcpy(partial->octets + partial->n, piece->octets, piece->n);
	partial->n += piece->n;
	note_answer(copier);
	if (partial->n < partial->size)
		return;
	take_bucket(copier, piece, partial->octets);
	drop_partial(copier);
}

static void receive_pieces(
	struct triad_sa_copier *copier, struct triad_sa_message *message)
{
	struct triad_sa_message_piece piece;

	copier->status.n_taken_octets += message->pieces_size;
	while (triad_sa_message_take_piece(message, &piece)) {
		struct triad_sa_bucket has =
			triad_sa_set_bucket(copier->set, piece.bucket);

		if (has.digest == piece.digest && has.size == piece.size) {
			clear_bit(copier->asked, piece.bucket);
			note_answer(copier);
		} else if (piece.n == piece.size) {
			take_bucket(copier, &piece, piece.octets);
		} else {
			add_to_partial(copier, &piece);
		}
	}
	look_whether_complete(copier);
	if (copier->status.is_complete)
		copier->status.equal_us = copier->now_us;
}

static void note_era(struct triad_sa_copier *copier, uint64_t era)
{
	/* Ignore very high eras: a faulty member must not use them up. */
	if (era > copier->highest_era && era < UINT64_MAX / 2)
		copier->highest_era = era;
	if (copier->status.role == TRIAD_SA_GIVES && era > copier->status.era)
		copier->newer_us = copier->now_us;
}

void triad_sa_copier_payload(struct triad_sa_copier *copier, uint64_t sender,
	const void *payload, size_t size)
{
	struct triad_sa_message message;
	int error = triad_sa_message_decode(&message, payload, size);

	copier->status.n_malformed += error == EINVAL;
	copier->status.n_versions += error == EPROTONOSUPPORT;
	if (error || sender == copier->conf.id)
		return;
	if (message.kind == TRIAD_SA_ASK) {
		receive_ask(copier, &message);
		return;
	}
	if (message.kind == TRIAD_SA_STATE)
		note_era(copier, message.era);
	if (copier->status.role != TRIAD_SA_TAKES)
		return;
	if (message.kind == TRIAD_SA_STATE && sender != copier->status.source &&
		may_follow(copier, sender, message.era))
		begin_taking(copier, sender);
	if (sender != copier->status.source)
		return;
	if (message.kind == TRIAD_SA_STATE)
		receive_state(copier, &message);
	else if (message.kind == TRIAD_SA_LEAVES)
		receive_leaves(copier, &message);
	else
		receive_pieces(copier, &message);
}

/* --- time --- */

void triad_sa_copier_run(
	struct triad_sa_copier *copier, uint64_t now_us, uint64_t wall_us)
{
	uint64_t passed_us = copier->filled_us ? now_us - copier->filled_us : 0;

	copier->now_us = now_us;
	copier->wall_us = wall_us;
	if (passed_us > TRIAD_US_PER_S)
		passed_us = TRIAD_US_PER_S;
	copier->filled_us = now_us;
	copier->tokens +=
		(int64_t)(passed_us * copier->conf.rate_octets_s / TRIAD_US_PER_S);
	if (copier->tokens > BURST_OCTETS)
		copier->tokens = BURST_OCTETS;
}

static bool wants_to_ask(const struct triad_sa_copier *copier)
{
	return copier->status.role == TRIAD_SA_TAKES && copier->status.received_us &&
		!copier->status.is_complete;
}

static bool has_to_send(const struct triad_sa_copier *copier)
{
	return copier->leaves_due || has_any(copier->buckets_due);
}

uint64_t triad_sa_copier_next_us(const struct triad_sa_copier *copier)
{
	uint64_t next_us = UINT64_MAX, soon_us = copier->now_us + TRIAD_US_PER_MS;

	if (wants_to_ask(copier))
		next_us = copier->ask_us;
	if (copier->status.role == TRIAD_SA_GIVES)
		next_us = has_to_send(copier) ? soon_us : copier->state_us;
	/* This also covers a lack of tokens: new ones come each millisecond. */
	return next_us > soon_us ? next_us : soon_us;
}

/* --- output, as giver --- */

static size_t take_state(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	struct triad_sa_message message = {.kind = TRIAD_SA_STATE,
		.wall_us = copier->wall_us,
		.era = copier->status.era,
		.number = ++copier->n_states,
		.n_left_out = copier->status.n_left_out};

	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		message.digests[i] = triad_sa_set_group_digest(copier->set, i);
	copier->state_us = copier->now_us + STATE_US;
	return triad_sa_message_encode(&message, payload);
}

static size_t take_leaves(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	struct triad_sa_message message = {.kind = TRIAD_SA_LEAVES,
		.group = (uint8_t)__builtin_ctzll(copier->leaves_due)};

	for (unsigned i = 0; i < PER_GROUP; i++)
		message.digests[i] =
			triad_sa_set_bucket(copier->set, message.group * PER_GROUP + i)
				.digest;
	copier->leaves_due &= copier->leaves_due - 1;
	return triad_sa_message_encode(&message, payload);
}

/* The first bucket that is due from 'bucket' on, or TRIAD_SA_SET_N_BUCKETS. */
static unsigned find_due(const struct triad_sa_copier *copier, unsigned bucket)
{
	while (bucket < TRIAD_SA_SET_N_BUCKETS && !has_bit(copier->buckets_due, bucket))
		bucket++;
	return bucket;
}

static size_t take_pieces(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	size_t at = triad_sa_message_begin_pieces(payload);

	for (unsigned i = find_due(copier, 0); i < TRIAD_SA_SET_N_BUCKETS;
		i = find_due(copier, i)) {
		struct triad_sa_bucket from = triad_sa_set_bucket(copier->set, i);
		struct triad_sa_message_piece piece = {.bucket = (uint16_t)i,
			.size = from.size,
			.digest = from.digest,
			.octets = from.octets};
		size_t before = at;

		/* Continue the bucket, unless it has changed since its first piece:
		 * then send it from the beginning. */
		if (copier->sent && copier->sent_digest == from.digest)
			piece.at = copier->sent;
		at = triad_sa_message_add_piece(payload, at, &piece);
		if (at == before)
			break;
		copier->sent = piece.at + piece.n;
		copier->sent_digest = from.digest;
		if (copier->sent < from.size)
			break; /* the payload is full */
		copier->sent = 0;
		clear_bit(copier->buckets_due, i);
	}
	return at;
}

/* --- output, as taker --- */

static uint64_t sum_leaves(const uint64_t leaves[PER_GROUP])
{
	uint64_t all = 0;

	for (unsigned i = 0; i < PER_GROUP; i++)
		all += leaves[i];
	return all;
}

/* Adds the buckets of a group that differ; the digests of its buckets are known. */
static void ask_for_buckets(
	struct triad_sa_copier *copier, unsigned group, struct triad_sa_message *ask)
{
	for (unsigned i = 0; i < PER_GROUP; i++) {
		unsigned bucket = group * PER_GROUP + i;

		if (ask->n_buckets == TRIAD_SA_MESSAGE_MAX_ASKED)
			return;
		if (triad_sa_set_bucket(copier->set, bucket).digest ==
			copier->leaves[group][i])
			continue;
		ask->buckets[ask->n_buckets++] = (uint16_t)bucket;
		set_bit(copier->asked, bucket);
	}
}

static size_t take_ask(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	struct triad_sa_message ask = {
		.kind = TRIAD_SA_ASK, .to = copier->status.source};

	memset(copier->asked, 0, sizeof(copier->asked));
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++) {
		uint64_t group = UINT64_C(1) << i;

		if (copier->digests[i] == triad_sa_set_group_digest(copier->set, i))
			continue;
		/* Ask for buckets only if their digests fit the group's present one. */
		if (copier->has_leaves & group &&
			sum_leaves(copier->leaves[i]) == copier->digests[i])
			ask_for_buckets(copier, i, &ask);
		else
			ask.groups |= group;
	}
	copier->asked_leaves = ask.groups;
	copier->n_asked += copier->n_asked < UINT32_MAX;
	copier->ask_us = copier->now_us +
		triad_backoff(copier->n_asked, ASK_AGAIN_US, ASK_AGAIN_MAX_US);
	return triad_sa_message_encode(&ask, payload);
}

/* --- output --- */

static size_t take_next(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	bool is_due = copier->state_us <= copier->now_us;
	/* Send a late STATE first: buckets for receivers that lack many would delay it
	 * for all. */
	bool is_late = is_due && copier->now_us - copier->state_us >= STATE_US;

	if (wants_to_ask(copier) && copier->ask_us <= copier->now_us)
		return take_ask(copier, payload);
	if (copier->status.role != TRIAD_SA_GIVES)
		return 0;
	if (is_late)
		return take_state(copier, payload);
	if (copier->leaves_due)
		return take_leaves(copier, payload);
	/* Send changed buckets before the digests that they are compared with. */
	if (has_any(copier->buckets_due))
		return take_pieces(copier, payload);
	return is_due ? take_state(copier, payload) : 0;
}

size_t triad_sa_copier_take_payload(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE])
{
	size_t size = copier->tokens > 0 ? take_next(copier, payload) : 0;

	copier->tokens -= (int64_t)size;
	if (copier->status.role == TRIAD_SA_GIVES)
		copier->status.n_given_octets += size;
	return size;
}

/* --- state --- */

const struct triad_sa_set *triad_sa_copier_set(const struct triad_sa_copier *copier)
{
	return copier->set;
}

uint64_t triad_sa_copier_digest(const struct triad_sa_copier *copier)
{
	uint64_t digest = TRIAD_HASH_START;

	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		digest = triad_hash_word(
			digest, triad_sa_set_group_digest(copier->set, i));
	return digest;
}

void triad_sa_copier_status(
	const struct triad_sa_copier *copier, struct triad_sa_copier_status *status)
{
	*status = copier->status;
	status->is_outdated = status->role == TRIAD_SA_GIVES && copier->newer_us &&
		copier->now_us - copier->newer_us <= SILENT_US;
	status->counts = triad_sa_set_counts(copier->set);
}
