/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/history.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 16u

struct entry {
	struct triad_record record;
	uint64_t hash;  /* of the record's line */
	uint64_t taken; /* its place in the order in which records were taken, from 1 */
};

/* The ports of a bucket.  'index' is a hash table of twice their room: a port's place
 * plus 1, or 0: free. */
struct bucket {
	struct entry *entries;
	uint32_t *index;
	uint32_t n, room;
};

struct triad_history {
	struct bucket buckets[TRIAD_HISTORY_N_BUCKETS];
	struct triad_history_digest digest;
	uint32_t n;
	uint64_t term, number; /* the newest */
	uint64_t n_taken;
	struct triad_record latest[TRIAD_HISTORY_N_LATEST]; /* a ring */
};

struct triad_history *triad_history_new(void)
{
	return calloc(1, sizeof(struct triad_history));
}

void triad_history_free(struct triad_history *history)
{
	if (!history)
		return;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++) {
		free(history->buckets[i].entries);
		free(history->buckets[i].index);
	}
	free(history);
}

/* --- numbers that are the same on all machines --- */

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t hash_port(uint64_t node_guid, uint8_t port)
{
	return mix(node_guid + port * UINT64_C(0x9e3779b97f4a7c15));
}

/* Hashes the record's line, which has every field and the same octets on every machine.
 * Mixes the FNV-1a hash once more, because digests are exclusive-ored. */
static uint64_t hash_record(const struct triad_record *record)
{
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(record, line);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)line[i]) * UINT64_C(0x100000001b3);
	return mix(hash);
}

static unsigned bucket_of(uint64_t hash)
{
	return hash % TRIAD_HISTORY_N_BUCKETS;
}

/* --- a bucket --- */

/* The port's slot in the index, or the free one for it. */
static uint32_t slot_of(const struct bucket *bucket, uint64_t node_guid, uint8_t port)
{
	/* Use the high bits of the hash: the low ones have chosen the bucket. */
	uint32_t mask = bucket->room * 2 - 1;
	uint32_t slot = (uint32_t)(hash_port(node_guid, port) >> 32) & mask;

	for (;; slot = (slot + 1) & mask) {
		const struct triad_record *record;

		if (!bucket->index[slot])
			return slot;
		record = &bucket->entries[bucket->index[slot] - 1].record;
		if (record->node_guid == node_guid && record->port == port)
			return slot;
	}
}

static struct entry *find_entry(
	const struct triad_history *history, uint64_t node_guid, uint8_t port)
{
	const struct bucket *bucket =
		&history->buckets[bucket_of(hash_port(node_guid, port))];
	uint32_t place;

	if (!bucket->room)
		return NULL;
	place = bucket->index[slot_of(bucket, node_guid, port)];
	return place ? &bucket->entries[place - 1] : NULL;
}

static void put_in_index(struct bucket *bucket, uint32_t i)
{
	const struct triad_record *record = &bucket->entries[i].record;

	bucket->index[slot_of(bucket, record->node_guid, record->port)] = i + 1;
}

static int grow(struct bucket *bucket)
{
	uint32_t room = bucket->room ? bucket->room * 2 : FIRST_ROOM;
	struct entry *entries;
	uint32_t *index = calloc(room * 2, sizeof(*index));

	if (!index)
		return ENOMEM;
	entries = realloc(bucket->entries, room * sizeof(*entries));
	if (!entries) {
		free(index);
		return ENOMEM;
	}
	/* Change the bucket only now: nothing can fail any more. */
	free(bucket->index);
	bucket->entries = entries;
	bucket->index = index;
	bucket->room = room;
	for (uint32_t i = 0; i < bucket->n; i++)
		put_in_index(bucket, i);
	return 0;
}

static int add(struct triad_history *history, const struct triad_record *record,
	struct entry **entry)
{
	struct bucket *bucket = &history->buckets[bucket_of(
		hash_port(record->node_guid, record->port))];

	if (history->n == TRIAD_HISTORY_MAX_PORTS)
		return ENOSPC;
	if (bucket->n == bucket->room && grow(bucket))
		return ENOMEM;
	*entry = &bucket->entries[bucket->n];
	**entry = (struct entry){.record = *record};
	put_in_index(bucket, bucket->n++);
	history->n++;
	return 0;
}

/* --- the history --- */

static void replace_record(struct triad_history *history, struct entry *entry,
	const struct triad_record *record)
{
	uint64_t port_hash = hash_port(record->node_guid, record->port);
	uint64_t before = entry->hash;

	/* Remove the old line from the digest and add the new one.  The hash of a new
	 * entry is 0. */
	entry->record = *record;
	entry->hash = hash_record(record);
	history->digest.buckets[bucket_of(port_hash)] ^= before ^ entry->hash;
	history->latest[history->n_taken++ % TRIAD_HISTORY_N_LATEST] = *record;
	entry->taken = history->n_taken;
	if (record->term > history->term ||
		(record->term == history->term && record->number > history->number)) {
		history->term = record->term;
		history->number = record->number;
	}
}

int triad_history_merge(
	struct triad_history *history, const struct triad_record *record)
{
	struct triad_record clean = *record;
	struct entry *entry = find_entry(history, record->node_guid, record->port);
	int error = 0;

	/* Compare the cleaned record: it must equal its copy that was read from a
	 * line. */
	triad_record_clean(&clean);
	if (entry && triad_record_compare(&clean, &entry->record) <= 0)
		return EALREADY;
	if (!entry)
		error = add(history, &clean, &entry);
	if (!error)
		replace_record(history, entry, &clean);
	return error;
}

const struct triad_record *triad_history_find(
	const struct triad_history *history, uint64_t node_guid, uint8_t port)
{
	const struct entry *entry = find_entry(history, node_guid, port);

	return entry ? &entry->record : NULL;
}

const struct triad_record *triad_history_at(
	const struct triad_history *history, unsigned bucket, uint32_t i)
{
	if (bucket >= TRIAD_HISTORY_N_BUCKETS || i >= history->buckets[bucket].n)
		return NULL;
	return &history->buckets[bucket].entries[i].record;
}

uint32_t triad_history_n(const struct triad_history *history)
{
	return history->n;
}

void triad_history_newest(
	const struct triad_history *history, uint64_t *term, uint64_t *number)
{
	*term = history->term;
	*number = history->number;
}

void triad_history_digest(
	const struct triad_history *history, struct triad_history_digest *digest)
{
	*digest = history->digest;
}

const struct triad_record *triad_history_latest(
	const struct triad_history *history, uint32_t i)
{
	if (i >= TRIAD_HISTORY_N_LATEST || i >= history->n_taken)
		return NULL;
	return &history->latest[(history->n_taken - 1 - i) % TRIAD_HISTORY_N_LATEST];
}

bool triad_history_is_in_latest(
	const struct triad_history *history, uint64_t node_guid, uint8_t port)
{
	const struct entry *entry = find_entry(history, node_guid, port);

	return entry && history->n_taken - entry->taken < TRIAD_HISTORY_N_LATEST;
}
