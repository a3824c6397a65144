/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/pkey_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "lib/search.h"
#define FULL 0x8000
#define MAX_SET 4096 /* the most P_Keys of one port */

static uint16_t base_of(uint16_t pkey)
{
	return pkey & 0x7fff;
}

/* --- building --- */

/* Sorts as OpenSM's maps do: by the P_Key in wire order, read as a number of this
 * host. */
static int compare_bases(const void *a, const void *b)
{
	uint16_t one = *(const uint16_t *)a, other = *(const uint16_t *)b;
	uint16_t key = __builtin_bswap16(base_of(one));
	uint16_t other_key = __builtin_bswap16(base_of(other));

	if (key != other_key)
		return key < other_key ? -1 : 1;
	return (one < other) - (one > other); /* full members first */
}

/* As compare_bases(), with the membership: for tables that may have both. */
static int compare_whole(const void *a, const void *b)
{
	uint16_t key = __builtin_bswap16(*(const uint16_t *)a);
	uint16_t other_key = __builtin_bswap16(*(const uint16_t *)b);

	return (key > other_key) - (key < other_key);
}

/* Copies the port's P_Keys to 'set', sorted.  Keeps only the full one of two in one
 * partition, unless OpenSM allows both. */
static uint32_t collect(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, uint16_t set[MAX_SET])
{
	uint32_t n = 0, kept = 0;

	/* A base of 0 is no P_Key, it marks an unused entry of the table. */
	for (uint32_t i = 0; i < port->pkeys.n && n < MAX_SET; i++) {
		uint16_t pkey = fabric->pkeys[port->pkeys.at + i];

		if (base_of(pkey))
			set[n++] = pkey;
	}
	qsort(set, n, sizeof(*set),
		fabric->sa.allow_both_pkeys ? compare_whole : compare_bases);
	for (uint32_t i = 0; i < n; i++) {
		bool again = kept &&
			(fabric->sa.allow_both_pkeys
					? set[kept - 1] == set[i]
					: base_of(set[kept - 1]) == base_of(set[i]));

		if (!again)
			set[kept++] = set[i];
	}
	return kept;
}

struct pool {
	uint32_t *heads; /* by hash; sets are chained by 'next' */
	uint32_t *next;
	uint32_t mask;
	size_t n_pkeys, room;
};

static uint32_t find_in_pool(const struct triad_paths *paths, const struct pool *pool,
	uint32_t slot, const uint16_t *set, uint32_t n)
{
	for (uint32_t i = pool->heads[slot]; i != TRIAD_FABRIC_NONE; i = pool->next[i])
		if (paths->pkey_sets[i].n == n &&
			!memcmp(paths->pkeys + paths->pkey_sets[i].at, set,
				n * sizeof(*set)))
			return i;
	return TRIAD_FABRIC_NONE;
}

/* Finds the index of the set with these P_Keys; adds it if it is new. */
static int find_or_add_set(struct triad_paths *paths, struct pool *pool,
	const uint16_t *set, uint32_t n, uint32_t *index)
{
	uint32_t slot =
		(uint32_t)triad_hash_octets(TRIAD_HASH_START, set, n * sizeof(*set)) &
		pool->mask;
	struct triad_pkey_set *added;

	*index = find_in_pool(paths, pool, slot, set, n);
	if (*index != TRIAD_FABRIC_NONE)
		return 0;
	/* An empty set needs no room, but memcpy() needs an address. */
	if (triad_grow(&paths->pkeys, &pool->room, n ? pool->n_pkeys + n : 1,
		    sizeof(*paths->pkeys), 256))
		return ENOMEM;
	memcpy(paths->pkeys + pool->n_pkeys, set, n * sizeof(*set));
	*index = paths->n_pkey_sets++;
	added = &paths->pkey_sets[*index];
	*added = (struct triad_pkey_set){.at = (uint32_t)pool->n_pkeys, .n = n};
	for (uint32_t i = 0; i < n && !added->any_full; i++)
		if (set[i] & FULL)
			added->any_full = set[i];
	pool->next[*index] = pool->heads[slot];
	pool->heads[slot] = *index;
	pool->n_pkeys += n;
	return 0;
}

static int fill_pool(struct triad_paths *paths, struct pool *pool)
{
	const struct triad_fabric *fabric = paths->fabric;
	uint16_t set[MAX_SET];

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t n;

		if (!paths->ends[i].is_end)
			continue;
		n = collect(fabric, &fabric->ports[i], set);
		if (find_or_add_set(paths, pool, set, n, &paths->ends[i].pkey_set))
			return ENOMEM;
	}
	paths->octets += pool->room * sizeof(*paths->pkeys);
	return 0;
}

int triad_pkey_sets_build(struct triad_paths *paths)
{
	/* At least as many as there are sets: each end port has an alias and adds at
	 * most one set. */
	uint32_t n_ends = paths->fabric->n_aliases + 1, slots = 64;
	struct pool pool;
	int error = ENOMEM;

	/* A power of 2, so that a mask turns a hash into a slot. */
	while (slots < n_ends)
		slots *= 2;
	pool = (struct pool){.heads = malloc(slots * sizeof(*pool.heads)),
		.next = malloc(n_ends * sizeof(*pool.next)),
		.mask = slots - 1};
	paths->pkey_sets = calloc(n_ends, sizeof(*paths->pkey_sets));
	paths->octets += n_ends * sizeof(*paths->pkey_sets);
	if (pool.heads && pool.next && paths->pkey_sets) {
		memset(pool.heads, 0xff, slots * sizeof(*pool.heads));
		error = fill_pool(paths, &pool);
	}
	free(pool.heads);
	free(pool.next);
	return error;
}

/* --- questions --- */

static const struct triad_pkey_set *set_of(
	const struct triad_paths *paths, uint32_t end)
{
	return &paths->pkey_sets[paths->ends[end].pkey_set];
}

/* One way to walk through two sorted tables in parallel. */
struct pass {
	uint8_t from_kinds, to_kinds; /* which memberships: bit 0 limited, bit 1 full */
	uint16_t key_bits;            /* the bits that both tables are sorted by */
};

/* The first P_Key of 'from' that has a partner in 'to'. */
static uint16_t first_common(const uint16_t *from, uint32_t n_from, const uint16_t *to,
	uint32_t n_to, const struct pass *pass)
{
	uint32_t i = 0, j = 0;

	while (i < n_from && j < n_to) {
		uint16_t key = __builtin_bswap16(from[i] & pass->key_bits);
		uint16_t other = __builtin_bswap16(to[j] & pass->key_bits);

		if (!(pass->from_kinds >> (from[i] >> 15) & 1)) {
			i++;
			continue;
		}
		if (!(pass->to_kinds >> (to[j] >> 15) & 1)) {
			j++;
			continue;
		}
		/* Two limited members of a partition may not talk [IBA 10.9.3]. */
		if (base_of(from[i]) == base_of(to[j]) && (from[i] | to[j]) & FULL)
			return from[i];
		i += key <= other;
		j += other <= key;
	}
	return 0;
}

uint16_t triad_paths_common_pkey(
	const struct triad_paths *paths, uint32_t from, uint32_t to)
{
	const struct triad_pkey_set *a = set_of(paths, from), *b = set_of(paths, to);
	const uint16_t *ours = paths->pkeys + a->at, *theirs = paths->pkeys + b->at;
	static const struct pass by_base = {3, 3, 0x7fff};
	/* For tables that may have both memberships.  OpenSM first searches for equal
	 * P_Keys and takes a usable pair that it meets; then it searches for others. */
	static const struct pass passes[] = {
		{3, 3, 0xffff}, {2, 1, 0x7fff}, {1, 2, 0x7fff}};
	uint16_t pkey = 0;

	/* Many ports have the same set: its first full membership is the answer. */
	if (a == b && a->any_full)
		return a->any_full;
	if (!paths->fabric->sa.allow_both_pkeys)
		return first_common(ours, a->n, theirs, b->n, &by_base);
	for (size_t i = 0; !pkey && i < sizeof(passes) / sizeof(passes[0]); i++)
		pkey = first_common(ours, a->n, theirs, b->n, &passes[i]);
	return pkey;
}

/* The P_Key of 'set' that equals 'pkey' in 'bits'; 0: none. */
static uint16_t find_in(const struct triad_paths *paths,
	const struct triad_pkey_set *set, uint16_t pkey, uint16_t bits)
{
	const uint16_t *pkeys = paths->pkeys + set->at;
	uint16_t key = __builtin_bswap16(pkey & bits);
	uint32_t at;

	TRIAD_SEARCH(at, 0, set->n, __builtin_bswap16(pkeys[at] & bits) < key);
	return at < set->n && (pkeys[at] & bits) == (pkey & bits) ? pkeys[at] : 0;
}

/* The P_Key of partition 'base', a full one rather than a limited one; 0: none. */
static uint16_t membership(const struct triad_paths *paths,
	const struct triad_pkey_set *set, uint16_t base)
{
	uint16_t full;

	if (!paths->fabric->sa.allow_both_pkeys)
		return find_in(paths, set, base, 0x7fff);
	full = find_in(paths, set, base | FULL, 0xffff);
	return full ? full : find_in(paths, set, base, 0xffff);
}

bool triad_paths_share_this_pkey(
	const struct triad_paths *paths, uint32_t a, uint32_t b, uint16_t pkey)
{
	uint16_t one = membership(paths, set_of(paths, a), base_of(pkey));
	uint16_t other = membership(paths, set_of(paths, b), base_of(pkey));

	return one && other && ((one | other) & FULL);
}

bool triad_paths_share_pkey(const struct triad_paths *paths, uint32_t a, uint32_t b)
{
	/* An empty set is a table that was never read: don't refuse for it. */
	if (a == b || !set_of(paths, a)->n || !set_of(paths, b)->n)
		return true;
	return triad_paths_common_pkey(paths, a, b);
}

uint8_t triad_paths_partition_sl(const struct triad_paths *paths, uint16_t pkey)
{
	const struct triad_fabric_partition *partitions = paths->fabric->partitions;
	uint32_t at;

	TRIAD_SEARCH(at, 0, paths->fabric->n_partitions,
		partitions[at].pkey < base_of(pkey));
	if (at < paths->fabric->n_partitions && partitions[at].pkey == base_of(pkey))
		return partitions[at].sl;
	return 0;
}
