/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alert_store.h"

#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#define PER_CHUNK 1024u
#define N_CHUNKS (TRIAD_ALERTS_MAX / PER_CHUNK)
#define N_BUCKETS 16384u
#define MAX_PLACES (4 * TRIAD_ALERTS_MAX)

struct place {
	uint64_t guid;
	uint32_t alert;
	uint32_t next_in_bucket; /* or the next free one */
	uint32_t next_of_alert;
	uint8_t port;
};

struct triad_alert_store {
	struct triad_alert_entry *chunks[N_CHUNKS];
	uint32_t first_maybe_free, end; /* numbers; 'end' on were never used */
	struct place *places;
	uint32_t n_places; /* ever used */
	size_t room;
	uint32_t first_free;
	uint32_t buckets[N_BUCKETS];
};

struct triad_alert_store *triad_alert_store_new(void)
{
	struct triad_alert_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	/* Each bucket becomes TRIAD_ALERT_NONE. */
	memset(store->buckets, 0xff, sizeof(store->buckets));
	store->first_free = TRIAD_ALERT_NONE;
	return store;
}

void triad_alert_store_free(struct triad_alert_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < N_CHUNKS; i++)
		free(store->chunks[i]);
	free(store->places);
	free(store);
}

/* --- entries --- */

static struct triad_alert_entry *entry_at(
	const struct triad_alert_store *store, uint32_t number)
{
	return &store->chunks[number / PER_CHUNK][number % PER_CHUNK];
}

static uint32_t number_of(
	const struct triad_alert_store *store, const struct triad_alert_entry *entry)
{
	for (uint32_t i = 0; i < N_CHUNKS && store->chunks[i]; i++)
		if (entry >= store->chunks[i] && entry < store->chunks[i] + PER_CHUNK)
			return i * PER_CHUNK + (uint32_t)(entry - store->chunks[i]);
	return TRIAD_ALERT_NONE;
}

struct triad_alert_entry *triad_alert_store_add(struct triad_alert_store *store)
{
	struct triad_alert_entry **chunk, *entry;
	uint32_t number;

	/* The first number that is not in use; 'end' when all before it are. */
	while (store->first_maybe_free < store->end &&
		entry_at(store, store->first_maybe_free)->used)
		store->first_maybe_free++;
	number = store->first_maybe_free;
	if (number == TRIAD_ALERTS_MAX)
		return NULL;
	chunk = &store->chunks[number / PER_CHUNK];
	if (!*chunk)
		*chunk = calloc(PER_CHUNK, sizeof(**chunk));
	if (!*chunk)
		return NULL;
	if (number == store->end)
		store->end++;
	entry = entry_at(store, number);
	memset(entry, 0, sizeof(*entry));
	entry->used = true;
	entry->first_place = TRIAD_ALERT_NONE;
	return entry;
}

struct triad_alert_entry *triad_alert_store_next(
	const struct triad_alert_store *store, uint32_t *cursor)
{
	while (*cursor < store->end) {
		struct triad_alert_entry *entry = entry_at(store, (*cursor)++);

		if (entry->used)
			return entry;
	}
	return NULL;
}

/* --- places --- */

static uint32_t *bucket_of(
	const struct triad_alert_store *store, uint64_t guid, uint8_t port)
{
	uint64_t hash = (guid ^ (uint64_t)port << 56) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t *)&store->buckets[hash >> 32 & (N_BUCKETS - 1)];
}

static struct place *find_place(
	const struct triad_alert_store *store, uint64_t guid, uint8_t port)
{
	uint32_t at = *bucket_of(store, guid, port);

	while (at != TRIAD_ALERT_NONE &&
		(store->places[at].guid != guid || store->places[at].port != port))
		at = store->places[at].next_in_bucket;
	return at == TRIAD_ALERT_NONE ? NULL : &store->places[at];
}

static uint32_t allocate_place(struct triad_alert_store *store)
{
	uint32_t at = store->first_free;

	if (at != TRIAD_ALERT_NONE) {
		store->first_free = store->places[at].next_in_bucket;
		return at;
	}
	if (store->n_places == MAX_PLACES ||
		triad_grow(&store->places, &store->room, store->n_places + 1,
			sizeof(*store->places), 256))
		return TRIAD_ALERT_NONE;
	return store->n_places++;
}

bool triad_alert_store_place(struct triad_alert_store *store,
	struct triad_alert_entry *entry, uint64_t guid, uint8_t port)
{
	uint32_t *bucket = bucket_of(store, guid, port), at;

	if (find_place(store, guid, port))
		return false;
	at = allocate_place(store);
	if (at == TRIAD_ALERT_NONE)
		return false;
	store->places[at] = (struct place){
		.guid = guid,
		.port = port,
		.alert = number_of(store, entry),
		.next_in_bucket = *bucket,
		.next_of_alert = entry->first_place,
	};
	*bucket = entry->first_place = at;
	return true;
}

struct triad_alert_entry *triad_alert_store_find(
	const struct triad_alert_store *store, uint64_t guid, uint8_t port)
{
	const struct place *place = find_place(store, guid, port);

	return place ? entry_at(store, place->alert) : NULL;
}

void triad_alert_store_remove(
	struct triad_alert_store *store, struct triad_alert_entry *entry)
{
	uint32_t at = entry->first_place, number = number_of(store, entry), next;

	for (; at != TRIAD_ALERT_NONE; at = next) {
		struct place *place = &store->places[at];
		uint32_t *link = bucket_of(store, place->guid, place->port);

		next = place->next_of_alert;
		/* Out of its bucket, into the list of free places. */
		while (*link != at)
			link = &store->places[*link].next_in_bucket;
		*link = place->next_in_bucket;
		place->next_in_bucket = store->first_free;
		store->first_free = at;
	}
	entry->used = false;
	if (number < store->first_maybe_free)
		store->first_maybe_free = number;
}

void triad_alert_store_each_place(const struct triad_alert_store *store,
	void (*visit)(void *context, uint64_t guid, uint8_t port), void *context)
{
	for (unsigned i = 0; i < N_BUCKETS; i++)
		for (uint32_t at = store->buckets[i]; at != TRIAD_ALERT_NONE;
			at = store->places[at].next_in_bucket)
			visit(context, store->places[at].guid, store->places[at].port);
}

size_t triad_alert_store_octets(const struct triad_alert_store *store)
{
	size_t octets = sizeof(*store) + store->room * sizeof(struct place);

	for (unsigned i = 0; i < N_CHUNKS; i++)
		if (store->chunks[i])
			octets += PER_CHUNK * sizeof(struct triad_alert_entry);
	return octets;
}
