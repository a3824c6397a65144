/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/history.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "lib/search.h"

#define FIRST_ROOM 16u

struct entry {
	struct triad_record record;
	uint64_t hash; /* of the record's line */
};

/* The ports of a bucket.  'index' is a hash table of twice their room: a port's place
 * plus 1, or 0: free. */
struct bucket {
	struct entry *entries;
	uint32_t *index;
	uint32_t n, room;
};

/* The latest records.  'order' has their places in 'entries', sorted by
 * triad_record_compare(): a ring, in which the oldest is at 'first'. */
struct latest {
	struct entry entries[TRIAD_HISTORY_N_LATEST];
	uint16_t order[TRIAD_HISTORY_N_LATEST];
	uint32_t first, n;
	struct triad_history_digest digest;
};

struct triad_history {
	struct bucket buckets[TRIAD_HISTORY_N_BUCKETS];
	struct triad_history_digest digest;
	uint32_t n;
	struct latest latest;
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

/* Records about a port's link are kept beside those about the port itself. */
static bool is_of_link(const struct triad_record *record)
{
	return record->action == TRIAD_ACTION_TAKE ||
		record->action == TRIAD_ACTION_RETURN;
}

static uint64_t hash_port(uint64_t node_guid, uint8_t port)
{
	return triad_hash_mix(node_guid + port * UINT64_C(0x9e3779b97f4a7c15));
}

/* Hashes the record's line, which has every field and the same octets on every machine.
 * Mixes the FNV-1a hash once more, because digests are exclusive-ored. */
static uint64_t hash_record(const struct triad_record *record)
{
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(record, line);

	return triad_hash_mix(triad_hash_octets(TRIAD_HASH_START, line, length));
}

static unsigned bucket_of(uint64_t hash)
{
	return hash % TRIAD_HISTORY_N_BUCKETS;
}

/* --- a bucket --- */

/* The slot in the index of the port, or of its link, or the free one for it. */
static uint32_t slot_of(
	const struct bucket *bucket, uint64_t node_guid, uint8_t port, bool of_link)
{
	/* Use the high bits of the hash: the low ones have chosen the bucket. */
	uint32_t mask = bucket->room * 2 - 1;
	uint32_t slot = (uint32_t)(hash_port(node_guid, port) >> 32) & mask;

	for (;; slot = (slot + 1) & mask) {
		const struct triad_record *record;

		if (!bucket->index[slot])
			return slot;
		record = &bucket->entries[bucket->index[slot] - 1].record;
		if (record->node_guid == node_guid && record->port == port &&
			is_of_link(record) == of_link)
			return slot;
	}
}

static struct entry *find_entry(const struct triad_history *history, uint64_t node_guid,
	uint8_t port, bool of_link)
{
	const struct bucket *bucket =
		&history->buckets[bucket_of(hash_port(node_guid, port))];
	uint32_t place;

	if (!bucket->room)
		return NULL;
	place = bucket->index[slot_of(bucket, node_guid, port, of_link)];
	return place ? &bucket->entries[place - 1] : NULL;
}

static void put_in_index(struct bucket *bucket, uint32_t i)
{
	const struct triad_record *record = &bucket->entries[i].record;

	bucket->index[slot_of(
		bucket, record->node_guid, record->port, is_of_link(record))] = i + 1;
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

static int add_entry(struct triad_history *history, const struct triad_record *record,
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

/* --- the latest records --- */

/* Where 'order' has the place of entry 'i', the oldest first. */
static uint32_t latest_at(const struct latest *latest, uint32_t i)
{
	return (latest->first + i) % TRIAD_HISTORY_N_LATEST;
}

static const struct entry *latest_entry(const struct latest *latest, uint32_t i)
{
	return &latest->entries[latest->order[latest_at(latest, i)]];
}

/* How many are older than the record. */
static uint32_t latest_n_older(
	const struct latest *latest, const struct triad_record *record)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, latest->n,
		triad_record_compare(&latest_entry(latest, at)->record, record) < 0);
	return at;
}

static void latest_change_digest(struct latest *latest, uint64_t hash)
{
	latest->digest.buckets[bucket_of(hash)] ^= hash >> 32;
}

/* Returns false if the record is there, or older than all of them and there is no
 * room. */
static bool latest_add(
	struct latest *latest, const struct triad_record *record, uint64_t hash)
{
	uint32_t n_older = latest_n_older(latest, record);
	uint16_t place = (uint16_t)latest->n;

	if (n_older < latest->n &&
		!triad_record_compare(&latest_entry(latest, n_older)->record, record))
		return false;
	if (latest->n == TRIAD_HISTORY_N_LATEST) {
		if (!n_older)
			return false;
		/* It takes the place of the oldest. */
		place = latest->order[latest->first];
		latest_change_digest(latest, latest->entries[place].hash);
		latest->first = latest_at(latest, 1);
		latest->n--;
		n_older--;
	}
	for (uint32_t i = latest->n++; i > n_older; i--)
		latest->order[latest_at(latest, i)] =
			latest->order[latest_at(latest, i - 1)];
	latest->order[latest_at(latest, n_older)] = place;
	latest->entries[place] = (struct entry){*record, hash};
	latest_change_digest(latest, hash);
	return true;
}

/* --- the history --- */

int triad_history_merge(
	struct triad_history *history, const struct triad_record *record)
{
	struct triad_record clean = *record;
	struct entry *entry = find_entry(
		history, record->node_guid, record->port, is_of_link(record));
	uint64_t hash;
	int error;

	/* Compare the cleaned record: it must equal its copy that was read from a
	 * line. */
	triad_record_clean(&clean);
	hash = hash_record(&clean);
	if (entry && triad_record_compare(&clean, &entry->record) <= 0)
		return latest_add(&history->latest, &clean, hash) ? ESTALE : EALREADY;
	error = entry ? 0 : add_entry(history, &clean, &entry);
	if (error)
		return error;
	/* Remove the old line from the digest and add the new one.  The hash of a new
	 * entry is 0. */
	history->digest.buckets[bucket_of(hash_port(clean.node_guid, clean.port))] ^=
		entry->hash ^ hash;
	*entry = (struct entry){clean, hash};
	(void)latest_add(&history->latest, &clean, hash);
	return 0;
}

const struct triad_record *triad_history_find(
	const struct triad_history *history, uint64_t node_guid, uint8_t port)
{
	const struct entry *entry = find_entry(history, node_guid, port, false);

	return entry ? &entry->record : NULL;
}

bool triad_history_is_last(
	const struct triad_history *history, const struct triad_record *record)
{
	const struct entry *entry = find_entry(
		history, record->node_guid, record->port, is_of_link(record));

	return entry && !triad_record_compare(record, &entry->record);
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
	const struct triad_record *newest = triad_history_latest(history, 0);

	*term = newest ? newest->term : 0;
	*number = newest ? newest->number : 0;
}

void triad_history_digest(
	const struct triad_history *history, struct triad_history_digest *digest)
{
	*digest = history->digest;
}

void triad_history_latest_digest(
	const struct triad_history *history, struct triad_history_digest *digest)
{
	*digest = history->latest.digest;
}

const struct triad_record *triad_history_latest(
	const struct triad_history *history, uint32_t i)
{
	const struct latest *latest = &history->latest;

	return i < latest->n ? &latest_entry(latest, latest->n - 1 - i)->record : NULL;
}

const struct triad_record *triad_history_latest_in(
	const struct triad_history *history, unsigned bucket, uint32_t *i)
{
	const struct latest *latest = &history->latest;

	while (*i < latest->n) {
		const struct entry *entry =
			latest_entry(latest, latest->n - 1 - (*i)++);

		if (bucket_of(entry->hash) == bucket)
			return &entry->record;
	}
	return NULL;
}

bool triad_history_is_in_latest(
	const struct triad_history *history, const struct triad_record *record)
{
	const struct latest *latest = &history->latest;

	/* Whatever was not cut is among them. */
	return latest->n < TRIAD_HISTORY_N_LATEST ||
		triad_record_compare(record, &latest_entry(latest, 0)->record) >= 0;
}
