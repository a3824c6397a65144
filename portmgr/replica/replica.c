/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/replica/replica.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "portmgr/replica/replica_parts.h"

/* The shortest time between two digests; and between two that answer others. */
#define GAP_US (5 * TRIAD_US_PER_MS)
#define ANSWER_GAP_US (50 * TRIAD_US_PER_MS)
/* Before sending records to a member that lacks some, wait: for messages under way;
 * longer for each member that may send them instead; and between two attempts. */
#define SETTLE_US (5 * TRIAD_US_PER_MS)
#define TURN_US (5 * TRIAD_US_PER_MS)
#define PASS_GAP_US (100 * TRIAD_US_PER_MS)
/* The shortest and the longest time between two attempts to send a member the latest
 * records that it lacks. */
#define LATEST_GAP_US TRIAD_US_PER_S
#define LATEST_MAX_GAP_US (64 * TRIAD_US_PER_S)
#define LINES_SIZE (TRIAD_CLUSTER_PAYLOAD_SIZE - 8u)
#define NEVER UINT64_MAX

struct triad_replica *triad_replica_new(
	const struct triad_replica_conf *conf, struct triad_history *history)
{
	struct triad_replica *replica = calloc(1, sizeof(*replica));

	if (!replica)
		return NULL;
	replica->conf = *conf;
	replica->history = history;
	replica->answer_us = NEVER;
	return replica;
}

void triad_replica_free(struct triad_replica *replica)
{
	if (!replica)
		return;
	replica_config_free(replica);
	free(replica);
}

void replica_send_digest(struct triad_replica *replica, uint64_t at_us)
{
	/* Changes come in bursts: one digest covers a burst. */
	if (replica->digest_sent_us && at_us < replica->digest_sent_us + GAP_US)
		at_us = replica->digest_sent_us + GAP_US;
	if (at_us < replica->digest_us)
		replica->digest_us = at_us;
}

/* --- views --- */

static struct replica_member *find_member(struct triad_replica *replica, uint64_t id)
{
	for (uint32_t i = 0; i < replica->n_members; i++)
		if (replica->members[i].id == id)
			return &replica->members[i];
	return NULL;
}

void triad_replica_view(struct triad_replica *replica,
	const struct triad_cluster_view *view, uint64_t now_us)
{
	struct replica_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	uint32_t n = 0;

	replica->now_us = now_us;
	replica->has_view = true;
	replica->rank = 0;
	/* Keep the state of members that stay.  'rank', this member's place by id,
	 * makes members act one after the other. */
	for (uint32_t i = 0; i < view->n_members; i++) {
		uint64_t id = view->members[i];
		const struct replica_member *known = find_member(replica, id);

		if (!id || id == replica->conf.id)
			continue;
		replica->rank += id < replica->conf.id;
		members[n++] = known ? *known : (struct replica_member){.id = id};
	}
	memcpy(replica->members, members, n * sizeof(*members));
	replica->n_members = n;
	replica_send_digest(replica, now_us);
}

void triad_replica_set_term(
	struct triad_replica *replica, uint64_t term, uint64_t now_us)
{
	if (term && term != replica->term)
		replica_send_digest(replica, now_us);
	replica->term = term;
}

/* Whether the member's digest was made after 'since_us', when this one's term began.  The
 * time when it was received says so only if the network holds nothing back. */
static bool has_said(
	const struct replica_member *member, uint64_t since_us, uint64_t term)
{
	return member->has_digest && member->received_us > since_us &&
		(!member->has_terms || member->heard_term >= term);
}

uint32_t triad_replica_n_same(const struct triad_replica *replica, uint64_t since_us)
{
	struct triad_history_digest own;
	uint32_t n = replica->has_view;

	triad_history_digest(replica->history, &own);
	for (uint32_t i = 0; i < replica->n_members; i++) {
		const struct replica_member *member = &replica->members[i];

		n += has_said(member, since_us, replica->term) &&
			!memcmp(&member->digest, &own, sizeof(own));
	}
	return n;
}

uint32_t triad_replica_n_same_config(
	const struct triad_replica *replica, uint64_t since_us)
{
	uint32_t n = replica->has_view;

	for (uint32_t i = 0; i < replica->n_members; i++) {
		const struct replica_member *member = &replica->members[i];

		n += has_said(member, since_us, replica->term) &&
			member->config.generation == replica->own.generation &&
			member->config.hash == replica->own.hash;
	}
	return n;
}

/* --- digests --- */

/* The buckets that differ, a bit for each. */
static uint64_t differing(
	const struct triad_history_digest *a, const struct triad_history_digest *b)
{
	uint64_t buckets = 0;

	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		if (a->buckets[i] != b->buckets[i])
			buckets |= UINT64_C(1) << i;
	return buckets;
}

/* The buckets that have records here, a bit for each. */
static uint64_t filled(const struct triad_replica *replica)
{
	uint64_t buckets = 0;

	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		if (triad_history_at(replica->history, i, 0))
			buckets |= UINT64_C(1) << i;
	return buckets;
}

static uint64_t fingerprint(
	const struct triad_history_digest *a, const struct triad_history_digest *b)
{
	uint64_t print =
		triad_hash_words(TRIAD_HASH_START, a->buckets, TRIAD_HISTORY_N_BUCKETS);

	return triad_hash_words(print, b->buckets, TRIAD_HISTORY_N_BUCKETS) | 1;
}

/* Plans to send records: after the members of lower rank, unless these have sent them.
 * While these send, waits, but not for longer than 'patience_us'. */
static void plan_answer(struct triad_replica *replica, uint64_t patience_us)
{
	replica->answer_us = replica->now_us + SETTLE_US + replica->rank * TURN_US;
	if (replica->passed_us && replica->answer_us < replica->passed_us + PASS_GAP_US)
		replica->answer_us = replica->passed_us + PASS_GAP_US;
	replica->answer_latest_us = replica->answer_us + patience_us;
}

/* The buckets of last records that differ from the member's. */
static uint64_t differing_last(
	const struct triad_replica *replica, const struct replica_member *member)
{
	struct triad_history_digest own;

	triad_history_digest(replica->history, &own);
	return differing(&own, &member->digest);
}

/* The buckets of latest records that differ, though all last records are equal. */
static uint64_t differing_latest(
	const struct triad_replica *replica, const struct replica_member *member)
{
	struct triad_history_digest own;

	if (!member->has_latest || differing_last(replica, member))
		return 0;
	triad_history_latest_digest(replica->history, &own);
	return differing(&own, &member->latest);
}

/* If 'member' has another digest, sends ours and plans to send records. */
static void answer_digest(struct triad_replica *replica, struct replica_member *member)
{
	struct triad_history_digest own;
	uint64_t buckets, print;

	triad_history_digest(replica->history, &own);
	buckets = differing(&own, &member->digest);
	if (!buckets)
		return;
	/* Send our digest, because we may be the member that lacks records.  Send it
	 * once for the same two digests, or members would answer each other for
	 * ever. */
	print = fingerprint(&own, &member->digest);
	if (print != member->answered) {
		uint64_t at_us = replica->digest_sent_us + ANSWER_GAP_US;

		member->answered = print;
		replica_send_digest(
			replica, at_us > replica->now_us ? at_us : replica->now_us);
	}
	if (buckets & filled(replica) && !replica->pass && !replica->answers_last) {
		replica->answers_last = true;
		plan_answer(replica, replica->conf.interval_us);
	}
}

/* The same about the latest records, without sending our digest at once. */
static void answer_latest(struct triad_replica *replica, struct replica_member *member)
{
	if (!differing_latest(replica, member))
		member->latest_gap_us = 0;
	else if (replica->now_us >= member->latest_us && !replica->latest_pass &&
		replica->answer_us == NEVER)
		plan_answer(replica, LATEST_GAP_US);
}

static void receive_digest(struct triad_replica *replica, struct replica_member *member,
	const struct triad_replica_message *message)
{
	if (!member)
		return;
	member->digest = message->digest;
	member->latest = message->latest;
	member->has_latest = message->has_latest;
	member->has_terms = message->has_terms;
	member->heard_term = message->heard_term;
	member->config = message->config;
	member->has_digest = true;
	member->received_us = replica->now_us;
	if (message->has_terms && message->term > replica->heard_term) {
		replica->heard_term = message->term;
		replica_send_digest(replica, replica->now_us);
	}
	answer_digest(replica, member);
	answer_latest(replica, member);
	replica_config_received(replica, member);
}

static void begin_latest_pass(struct triad_replica *replica)
{
	for (uint32_t i = 0; i < replica->n_members; i++) {
		struct replica_member *member = &replica->members[i];
		uint64_t buckets = differing_latest(replica, member);

		if (!buckets || replica->now_us < member->latest_us)
			continue;
		replica->latest_pass |= buckets;
		member->latest_gap_us = member->latest_gap_us
			? member->latest_gap_us * 2
			: LATEST_GAP_US;
		if (member->latest_gap_us > LATEST_MAX_GAP_US)
			member->latest_gap_us = LATEST_MAX_GAP_US;
		member->latest_us = replica->now_us + member->latest_gap_us;
	}
	replica->latest_at = 0;
}

static void begin_pass(struct triad_replica *replica)
{
	uint64_t buckets = 0;

	replica->answer_us = NEVER;
	if (!replica->answers_last) {
		begin_latest_pass(replica);
		return;
	}
	replica->answers_last = false;
	for (uint32_t i = 0; i < replica->n_members; i++)
		if (replica->members[i].has_digest)
			buckets |= differing_last(replica, &replica->members[i]);
	replica->pass = buckets & filled(replica);
	replica->pass_at = 0;
}

/* --- records --- */

/* Queues a record that is new here; false: there is no room for it. */
static bool receive_record(struct triad_replica *replica,
	const struct triad_record *record, bool *is_known)
{
	uint64_t later_us = replica->digest_sent_us + ANSWER_GAP_US;
	int error;

	if (replica->news_ring.n == REPLICA_MAX_NEWS)
		return false;
	error = triad_history_merge(replica->history, record);
	/* Whoever sends an older record than ours may lack what we are about to send. */
	if (error != EALREADY ||
		(replica->answers_last &&
			!triad_history_is_last(replica->history, record)))
		*is_known = false;
	if (error && error != ESTALE)
		return true;
	replica->news[triad_ring_put(&replica->news_ring, REPLICA_MAX_NEWS)] =
		(struct triad_replica_news){*record, !error};
	replica->status.n_records_received++;
	/* Somebody may wait for a record that decides. */
	replica_send_digest(replica,
		error && later_us > replica->now_us ? later_us : replica->now_us);
	return true;
}

/* Receives the lines that are records; returns whether all are. */
static bool receive_lines(struct triad_replica *replica, const char *lines, size_t size)
{
	bool is_good = true, is_known = true;
	struct triad_record record;

	while (size) {
		const char *end = memchr(lines, '\n', size);
		size_t length = (size_t)(end - lines);

		if (triad_record_parse(lines, length, &record))
			is_good = false;
		else if (!receive_record(replica, &record, &is_known))
			break;
		lines += length + 1;
		size -= length + 1;
	}
	/* Another member sends records that we have: let it send the rest, but don't
	 * wait for ever.  A digest that shows the latest records comes a little later. */
	if (is_good && is_known && replica->answer_us != NEVER) {
		uint64_t at_us = replica->now_us + SETTLE_US +
			(replica->rank + REPLICA_BUDGET) * TURN_US / 4 +
			(replica->answers_last ? 0 : ANSWER_GAP_US);

		at_us = triad_clock_earlier(at_us, replica->answer_latest_us);
		if (at_us > replica->answer_us)
			replica->answer_us = at_us;
	}
	return is_good;
}

void triad_replica_send(struct triad_replica *replica,
	const struct triad_record *record, uint64_t now_us)
{
	replica->now_us = now_us;
	/* Without room, the others learn of it by the digest. */
	if (replica->outgoing_ring.n < REPLICA_MAX_OUTGOING)
		replica->outgoing[triad_ring_put(
			&replica->outgoing_ring, REPLICA_MAX_OUTGOING)] = *record;
	replica_send_digest(replica, now_us);
}

bool triad_replica_take_news(
	struct triad_replica *replica, struct triad_replica_news *news)
{
	if (!replica->news_ring.n)
		return false;
	*news = replica->news[triad_ring_take(&replica->news_ring, REPLICA_MAX_NEWS)];
	return true;
}

/* --- in --- */

void triad_replica_payload(struct triad_replica *replica, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us)
{
	struct triad_replica_message message;
	int error;

	replica->now_us = now_us;
	if (sender == replica->conf.id)
		return;
	error = triad_replica_message_decode(&message, payload, size);
	if (error == EPROTONOSUPPORT)
		replica->status.n_versions++;
	else if (error)
		replica->status.n_malformed++;
	else if (message.kind == TRIAD_REPLICA_DIGEST)
		receive_digest(replica, find_member(replica, sender), &message);
	else if (message.kind == TRIAD_REPLICA_WANT)
		replica_config_want(replica, &message);
	else if (message.kind == TRIAD_REPLICA_PART)
		replica_config_part(replica, &message);
	else if (!receive_lines(
			 replica, (const char *)message.octets, message.n_octets))
		replica->status.n_malformed++;
}

void triad_replica_run(struct triad_replica *replica, uint64_t now_us)
{
	replica->now_us = now_us;
	if (now_us >= replica->refill_us) {
		replica->budget = REPLICA_BUDGET;
		replica->refill_us = now_us + REPLICA_REFILL_US;
	}
	if (now_us >= replica->answer_us)
		begin_pass(replica);
	replica_config_run(replica);
}

uint64_t triad_replica_next_us(const struct triad_replica *replica)
{
	uint64_t next_us = replica->digest_us;
	uint64_t config_us = replica_config_next_us(replica);

	next_us = triad_clock_earlier(next_us, replica->answer_us);
	if ((replica->pass || replica->latest_pass || replica->n_ranges) &&
		replica->refill_us < next_us)
		next_us = replica->refill_us;
	if (replica->outgoing_ring.n || replica->news_ring.n)
		next_us = replica->now_us;
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

static void add_own(struct triad_replica *replica, struct lines *lines)
{
	struct triad_ring *ring = &replica->outgoing_ring;

	while (ring->n && add_line(lines, &replica->outgoing[ring->first]))
		(void)triad_ring_take(ring, REPLICA_MAX_OUTGOING);
}

static void add_pass(struct triad_replica *replica, struct lines *lines)
{
	while (replica->pass) {
		unsigned bucket = (unsigned)__builtin_ctzll(replica->pass);
		const struct triad_record *record =
			triad_history_at(replica->history, bucket, replica->pass_at);

		if (record && !add_line(lines, record))
			return;
		replica->pass_at++;
		if (record)
			continue;
		replica->pass &= replica->pass - 1;
		replica->pass_at = 0;
		replica->passed_us = replica->now_us;
	}
}

/* Bucket by bucket, so that whoever sends next sees which ones are equal by then. */
static void add_latest(struct triad_replica *replica, struct lines *lines)
{
	while (replica->latest_pass) {
		unsigned bucket = (unsigned)__builtin_ctzll(replica->latest_pass);
		uint32_t at = replica->latest_at;
		const struct triad_record *record =
			triad_history_latest_in(replica->history, bucket, &at);

		if (record && !add_line(lines, record))
			return;
		replica->latest_at = at;
		if (record)
			continue;
		replica->latest_pass &= replica->latest_pass - 1;
		replica->latest_at = 0;
	}
}

static size_t write_lines(struct triad_replica *replica,
	void (*add)(struct triad_replica *replica, struct lines *lines),
	uint8_t *payload)
{
	struct lines lines = {.n = 0};
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_RECORDS};

	add(replica, &lines);
	message.octets = (const uint8_t *)lines.octets;
	message.n_octets = lines.n;
	return lines.n ? triad_replica_message_encode(&message, payload) : 0;
}

static size_t write_digest(struct triad_replica *replica, uint8_t *payload)
{
	struct triad_replica_message message = {.kind = TRIAD_REPLICA_DIGEST,
		.config = replica->own,
		.has_latest = true,
		.term = replica->term,
		.heard_term = replica->heard_term,
		.has_terms = true};

	if (replica->now_us < replica->digest_us)
		return 0;
	replica->digest_sent_us = replica->now_us;
	replica->digest_us = replica->now_us + replica->conf.interval_us;
	triad_history_digest(replica->history, &message.digest);
	triad_history_latest_digest(replica->history, &message.latest);
	return triad_replica_message_encode(&message, payload);
}

size_t triad_replica_take_payload(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE])
{
	size_t size;

	/* Send nothing before new records are in the journal: a digest would claim that
	 * they are. */
	if (replica->news_ring.n)
		return 0;
	/* Send short and urgent payloads first.  A budget limits the many records and
	 * pieces for others. */
	size = write_lines(replica, add_own, payload);
	if (!size)
		size = write_digest(replica, payload);
	if (!size)
		size = replica_config_take_want(replica, payload);
	if (size || !replica->budget)
		return size;
	if (replica->pass)
		size = write_lines(replica, add_pass, payload);
	if (!size)
		size = replica_config_take_part(replica, payload);
	if (!size && replica->latest_pass)
		size = write_lines(replica, add_latest, payload);
	replica->budget -= size > 0;
	return size;
}
