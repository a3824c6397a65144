/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/share/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/share/share_parts.h"

/* Between two digests of a member, whatever happens; and when one is said to answer
 * another. */
#define GAP_US (5 * TRIAD_US_PER_MS)
#define ANSWER_GAP_US (50 * TRIAD_US_PER_MS)
/* Before records are said to who lacks some: a time for what is under way; another for
 * each member that may do it instead; and between two times. */
#define SETTLE_US (5 * TRIAD_US_PER_MS)
#define TURN_US (5 * TRIAD_US_PER_MS)
#define PASS_GAP_US (100 * TRIAD_US_PER_MS)
#define LINES_SIZE (TRIAD_CLUSTER_PAYLOAD_SIZE - 8u)
#define NEVER UINT64_MAX

struct triad_share *triad_share_new(
	const struct triad_share_conf *conf, struct triad_memory *memory)
{
	struct triad_share *share = calloc(1, sizeof(*share));

	if (!share)
		return NULL;
	share->conf = *conf;
	share->memory = memory;
	share->answer_us = NEVER;
	return share;
}

void triad_share_free(struct triad_share *share)
{
	if (!share)
		return;
	share_config_free(share);
	free(share);
}

void share_send_digest(struct triad_share *share, uint64_t at_us)
{
	if (share->said_digest_us && at_us < share->said_digest_us + GAP_US)
		at_us = share->said_digest_us + GAP_US;
	if (at_us < share->digest_us)
		share->digest_us = at_us;
}

/* --- views --- */

static struct share_member *find_member(struct triad_share *share, uint64_t id)
{
	for (uint32_t i = 0; i < share->n_members; i++)
		if (share->members[i].id == id)
			return &share->members[i];
	return NULL;
}

void triad_share_view(struct triad_share *share, const struct triad_cluster_view *view,
	uint64_t now_us)
{
	struct share_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	uint32_t n = 0;

	share->now_us = now_us;
	share->has_view = true;
	share->rank = 0;
	for (uint32_t i = 0; i < view->n_members; i++) {
		uint64_t id = view->members[i];
		const struct share_member *known = find_member(share, id);

		if (!id || id == share->conf.id)
			continue;
		share->rank += id < share->conf.id;
		members[n++] = known ? *known : (struct share_member){.id = id};
	}
	memcpy(share->members, members, n * sizeof(*members));
	share->n_members = n;
	share_send_digest(share, now_us);
}

uint32_t triad_share_n_same(const struct triad_share *share, uint64_t since_us)
{
	struct triad_memory_digest own;
	uint32_t n = share->has_view;

	triad_memory_digest(share->memory, &own);
	for (uint32_t i = 0; i < share->n_members; i++) {
		const struct share_member *member = &share->members[i];

		n += member->has_digest && member->heard_us > since_us &&
			!memcmp(&member->digest, &own, sizeof(own));
	}
	return n;
}

uint32_t triad_share_n_same_config(const struct triad_share *share)
{
	uint32_t n = share->has_view;

	for (uint32_t i = 0; i < share->n_members; i++) {
		const struct share_member *member = &share->members[i];

		n += member->has_digest &&
			member->config.generation == share->own.generation &&
			member->config.hash == share->own.hash;
	}
	return n;
}

/* --- digests --- */

/* Buckets in which they differ, a bit for each. */
static uint64_t differing(
	const struct triad_memory_digest *a, const struct triad_memory_digest *b)
{
	uint64_t buckets = 0;

	for (unsigned i = 0; i < TRIAD_MEMORY_N_BUCKETS; i++)
		if (a->buckets[i] != b->buckets[i])
			buckets |= UINT64_C(1) << i;
	return buckets;
}

/* Those that have something to say. */
static uint64_t filled(const struct triad_share *share)
{
	uint64_t buckets = 0;

	for (unsigned i = 0; i < TRIAD_MEMORY_N_BUCKETS; i++)
		if (triad_memory_at(share->memory, i, 0))
			buckets |= UINT64_C(1) << i;
	return buckets;
}

static uint64_t fingerprint(
	const struct triad_memory_digest *a, const struct triad_memory_digest *b)
{
	uint64_t print = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < TRIAD_MEMORY_N_BUCKETS; i++) {
		print = (print ^ a->buckets[i]) * UINT64_C(0x100000001b3);
		print = (print ^ b->buckets[i]) * UINT64_C(0x100000001b3);
	}
	return print | 1;
}

/* Records are said to who lacks some, unless others do it first. */
static void plan_answer(struct triad_share *share)
{
	if (share->pass || share->answer_us != NEVER)
		return;
	share->answer_us = share->now_us + SETTLE_US + share->rank * TURN_US;
	if (share->passed_us && share->answer_us < share->passed_us + PASS_GAP_US)
		share->answer_us = share->passed_us + PASS_GAP_US;
	share->answer_latest_us = share->answer_us + share->conf.interval_us;
}

/* It may be this one that lacks some: then the others have to know.  It is told once of
 * the same two digests, or all would answer each other without end. */
static void answer_digest(struct triad_share *share, struct share_member *member)
{
	struct triad_memory_digest own;
	uint64_t buckets, print;

	triad_memory_digest(share->memory, &own);
	buckets = differing(&own, &member->digest);
	if (!buckets)
		return;
	print = fingerprint(&own, &member->digest);
	if (print != member->answered) {
		uint64_t at_us = share->said_digest_us + ANSWER_GAP_US;

		member->answered = print;
		share_send_digest(share, at_us > share->now_us ? at_us : share->now_us);
	}
	if (buckets & filled(share))
		plan_answer(share);
}

static void receive_digest(struct triad_share *share, struct share_member *member,
	const struct triad_share_message *message)
{
	if (!member)
		return;
	member->digest = message->digest;
	member->config = message->config;
	member->has_digest = true;
	member->heard_us = share->now_us;
	answer_digest(share, member);
	share_config_heard(share, member);
}

static void begin_pass(struct triad_share *share)
{
	struct triad_memory_digest own;
	uint64_t buckets = 0;

	share->answer_us = NEVER;
	triad_memory_digest(share->memory, &own);
	for (uint32_t i = 0; i < share->n_members; i++)
		if (share->members[i].has_digest)
			buckets |= differing(&own, &share->members[i].digest);
	share->pass = buckets & filled(share);
	share->pass_at = 0;
}

/* --- records --- */

/* False: there is no room for one that is news. */
static bool receive_record(
	struct triad_share *share, const struct triad_record *record, bool *is_known)
{
	const struct triad_record *own =
		triad_memory_find(share->memory, record->node_guid, record->port);

	if (own && !triad_record_compare(record, own))
		return true;
	*is_known = false;
	if (share->n_news == SHARE_MAX_NEWS)
		return false;
	if (triad_memory_merge(share->memory, record))
		return true;
	share->news[(share->news_at + share->n_news++) % SHARE_MAX_NEWS] = *record;
	share->status.n_records_heard++;
	share_send_digest(share, share->now_us);
	return true;
}

/* Whether all lines are records; those that are, are heard. */
static bool receive_lines(struct triad_share *share, const char *lines, size_t size)
{
	bool is_good = true, is_known = true;
	struct triad_record record;

	while (size) {
		const char *end = memchr(lines, '\n', size);
		size_t length = (size_t)(end - lines);

		if (triad_record_parse(lines, length, &record))
			is_good = false;
		else if (!receive_record(share, &record, &is_known))
			break;
		lines += length + 1;
		size -= length + 1;
	}
	/* Somebody says already what would be said here. */
	if (is_good && is_known && share->answer_us != NEVER) {
		uint64_t at_us = share->now_us + SETTLE_US +
			(share->rank + SHARE_BUDGET) * TURN_US / 4;

		if (at_us > share->answer_latest_us)
			at_us = share->answer_latest_us;
		if (at_us > share->answer_us)
			share->answer_us = at_us;
	}
	return is_good;
}

void triad_share_send(
	struct triad_share *share, const struct triad_record *record, uint64_t now_us)
{
	share->now_us = now_us;
	/* Where there is no room the others hear of it by the digest. */
	if (share->n_said < SHARE_MAX_SAID)
		share->said[(share->said_at + share->n_said++) % SHARE_MAX_SAID] =
			*record;
	share_send_digest(share, now_us);
}

bool triad_share_take_record(struct triad_share *share, struct triad_record *record)
{
	if (!share->n_news)
		return false;
	*record = share->news[share->news_at];
	share->news_at = (share->news_at + 1) % SHARE_MAX_NEWS;
	share->n_news--;
	return true;
}

/* --- in --- */

void triad_share_payload(struct triad_share *share, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us)
{
	struct triad_share_message message;
	int error;

	share->now_us = now_us;
	if (sender == share->conf.id)
		return;
	error = triad_share_message_decode(&message, payload, size);
	if (error == EPROTONOSUPPORT)
		share->status.n_versions++;
	else if (error)
		share->status.n_malformed++;
	else if (message.kind == TRIAD_SHARE_DIGEST)
		receive_digest(share, find_member(share, sender), &message);
	else if (message.kind == TRIAD_SHARE_WANT)
		share_config_want(share, &message);
	else if (message.kind == TRIAD_SHARE_PART)
		share_config_part(share, &message);
	else if (!receive_lines(share, (const char *)message.octets, message.n_octets))
		share->status.n_malformed++;
}

void triad_share_run(struct triad_share *share, uint64_t now_us)
{
	share->now_us = now_us;
	if (now_us >= share->refill_us) {
		share->budget = SHARE_BUDGET;
		share->refill_us = now_us + SHARE_REFILL_US;
	}
	if (now_us >= share->answer_us)
		begin_pass(share);
	share_config_run(share);
}

uint64_t triad_share_next_us(const struct triad_share *share)
{
	uint64_t next_us = share->digest_us;
	uint64_t config_us = share_config_next_us(share);

	if (share->answer_us < next_us)
		next_us = share->answer_us;
	if ((share->pass || share->n_ranges) && share->refill_us < next_us)
		next_us = share->refill_us;
	if (share->n_said || share->n_news)
		next_us = share->now_us;
	return config_us < next_us ? config_us : next_us;
}

/* --- out --- */

struct lines {
	char octets[LINES_SIZE];
	size_t n;
};

static bool add_line(struct lines *lines, const struct triad_record *record)
{
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(record, line);

	if (length + 1 > sizeof(lines->octets) - lines->n)
		return false;
	memcpy(lines->octets + lines->n, line, length);
	lines->n += length;
	lines->octets[lines->n++] = '\n';
	return true;
}

static void add_own(struct triad_share *share, struct lines *lines)
{
	while (share->n_said && add_line(lines, &share->said[share->said_at])) {
		share->said_at = (share->said_at + 1) % SHARE_MAX_SAID;
		share->n_said--;
	}
}

static void add_pass(struct triad_share *share, struct lines *lines)
{
	while (share->pass) {
		unsigned bucket = (unsigned)__builtin_ctzll(share->pass);
		const struct triad_record *record =
			triad_memory_at(share->memory, bucket, share->pass_at);

		if (record && !add_line(lines, record))
			return;
		share->pass_at++;
		if (record)
			continue;
		share->pass &= share->pass - 1;
		share->pass_at = 0;
		share->passed_us = share->now_us;
	}
}

static size_t take_lines(struct triad_share *share,
	void (*add)(struct triad_share *share, struct lines *lines), uint8_t *payload)
{
	struct lines lines = {.n = 0};
	struct triad_share_message message = {.kind = TRIAD_SHARE_RECORDS};

	add(share, &lines);
	message.octets = (const uint8_t *)lines.octets;
	message.n_octets = lines.n;
	return lines.n ? triad_share_message_encode(&message, payload) : 0;
}

static size_t take_digest(struct triad_share *share, uint8_t *payload)
{
	struct triad_share_message message = {
		.kind = TRIAD_SHARE_DIGEST, .config = share->own};

	if (share->now_us < share->digest_us)
		return 0;
	share->said_digest_us = share->now_us;
	share->digest_us = share->now_us + share->conf.interval_us;
	triad_memory_digest(share->memory, &message.digest);
	return triad_share_message_encode(&message, payload);
}

size_t triad_share_take_payload(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	size_t size;

	if (share->n_news)
		return 0;
	size = take_lines(share, add_own, payload);
	if (!size)
		size = take_digest(share, payload);
	if (!size)
		size = share_config_take_want(share, payload);
	if (size || !share->budget)
		return size;
	if (share->pass)
		size = take_lines(share, add_pass, payload);
	if (!size)
		size = share_config_take_part(share, payload);
	share->budget -= size > 0;
	return size;
}
