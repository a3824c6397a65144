/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A list while it is being taken over: the contents of each bucket. */
struct intake {
	uint64_t digests[TRIAD_SA_SET_N_BUCKETS];
	uint32_t sizes[TRIAD_SA_SET_N_BUCKETS];
	uint8_t *fresh[TRIAD_SA_SET_N_BUCKETS]; /* contents of buckets that change */
	struct triad_sa_counts counts;
};

struct bucket {
	uint64_t digest;
	uint32_t size;
	uint8_t *octets;
};

struct triad_sa_set {
	struct bucket buckets[TRIAD_SA_SET_N_BUCKETS];
	uint64_t group_digests[TRIAD_SA_SET_N_GROUPS];
	struct triad_sa_counts counts;
	struct intake intake;
};

uint32_t triad_sa_set_limit(enum triad_sa_kind kind)
{
	/* When OpenSM becomes master, it restores subscriptions and services and
	 * searches all others for each.  The time grows with their square, to about a
	 * second for these limits. */
	static const uint32_t limits[TRIAD_SA_KINDS_END] = {
		[TRIAD_SA_GUIDS] = 65536,
		[TRIAD_SA_GROUP] = 16384,
		[TRIAD_SA_MEMBER] = 200000,
		[TRIAD_SA_SUBSCRIPTION] = 4096,
		[TRIAD_SA_SERVICE] = 4096,
	};

	return (unsigned)kind < TRIAD_SA_KINDS_END ? limits[kind] : 0;
}

struct triad_sa_set *triad_sa_set_new(void)
{
	return calloc(1, sizeof(struct triad_sa_set));
}

void triad_sa_set_free(struct triad_sa_set *set)
{
	if (!set)
		return;
	for (unsigned i = 0; i < TRIAD_SA_SET_N_BUCKETS; i++)
		free(set->buckets[i].octets);
	free(set);
}

/* --- state --- */

struct triad_sa_bucket triad_sa_set_bucket(
	const struct triad_sa_set *set, unsigned bucket)
{
	const struct bucket *from = &set->buckets[bucket];

	return (struct triad_sa_bucket){from->digest, from->size, from->octets};
}

uint64_t triad_sa_set_group_digest(const struct triad_sa_set *set, unsigned group)
{
	return set->group_digests[group];
}

struct triad_sa_counts triad_sa_set_counts(const struct triad_sa_set *set)
{
	return set->counts;
}

/* --- one bucket --- */

static void replace_bucket(
	struct triad_sa_set *set, unsigned at, const struct bucket *with)
{
	struct bucket *bucket = &set->buckets[at];

	set->group_digests[at / TRIAD_SA_SET_PER_GROUP] +=
		with->digest - bucket->digest;
	free(bucket->octets);
	*bucket = *with;
}

/* 0 for an unknown kind: it is kept for members that know it, and counts only as
 * octets. */
static unsigned record_kind_of(const uint8_t *octets)
{
	return octets[0] < TRIAD_SA_KINDS_END ? octets[0] : 0;
}

/* Adds the records to 'counts', or subtracts them.  False: the octets are no
 * records. */
static bool count_records(struct triad_sa_counts *counts, const uint8_t *octets,
	size_t size, bool adds, uint64_t *digest)
{
	size_t at = 0, n;

	*digest = 0;
	for (; at < size; at += n) {
		n = triad_sa_record_size(octets + at, size - at);
		if (!n)
			return false;
		*digest += triad_sa_record_digest(octets + at, n);
		counts->n[record_kind_of(octets + at)] += adds ? 1u : -1u;
	}
	counts->octets += (uint32_t)(adds ? size : -size);
	return true;
}

static bool is_over_limit(const struct triad_sa_counts *counts)
{
	for (unsigned kind = 1; kind < TRIAD_SA_KINDS_END; kind++)
		if (counts->n[kind] > triad_sa_set_limit((enum triad_sa_kind)kind))
			return true;
	return counts->octets > TRIAD_SA_SET_MAX_OCTETS;
}

int triad_sa_set_put(struct triad_sa_set *set, unsigned bucket, uint64_t digest,
	const uint8_t *octets, size_t size)
{
	const struct bucket *old = &set->buckets[bucket];
	struct bucket with = {.digest = digest, .size = (uint32_t)size};
	struct triad_sa_counts counts = set->counts;
	uint64_t found;

	if (size > TRIAD_SA_BUCKET_MAX_OCTETS)
		return E2BIG;
	(void)count_records(&counts, old->octets, old->size, false, &found);
	if (!count_records(&counts, octets, size, true, &found) || found != digest)
		return EINVAL;
	if (is_over_limit(&counts))
		return E2BIG;
	if (size) {
		with.octets = malloc(size);
		if (!with.octets)
			return ENOMEM;
		memcpy(with.octets, octets, size);
	}
	replace_bucket(set, bucket, &with);
	set->counts = counts;
	return 0;
}

/* --- a list --- */

static void begin_intake(struct intake *intake)
{
	memset(intake->sizes, 0, sizeof(intake->sizes));
	memset(&intake->counts, 0, sizeof(intake->counts));
}

/* Finds the bucket of a record and adds the record to its size.  Returns
 * TRIAD_SA_SET_N_BUCKETS if a limit is exceeded.  Two passes over a list give the same
 * results. */
static unsigned place_record(struct intake *intake, const uint8_t *octets, size_t size)
{
	struct triad_sa_counts *counts = &intake->counts;
	unsigned kind = record_kind_of(octets);
	unsigned bucket =
		(unsigned)(triad_sa_record_key(octets, size) % TRIAD_SA_SET_N_BUCKETS);

	if (counts->n[kind] >= triad_sa_set_limit((enum triad_sa_kind)kind) ||
		intake->sizes[bucket] + size > TRIAD_SA_BUCKET_MAX_OCTETS ||
		counts->octets + size > TRIAD_SA_SET_MAX_OCTETS) {
		counts->n_left_out++;
		return TRIAD_SA_SET_N_BUCKETS;
	}
	counts->n[kind]++;
	counts->octets += (uint32_t)size;
	intake->sizes[bucket] += (uint32_t)size;
	return bucket;
}

static void sum_up(struct intake *intake, const uint8_t *octets, size_t size)
{
	size_t at = 0, n;

	begin_intake(intake);
	memset(intake->digests, 0, sizeof(intake->digests));
	for (; (n = triad_sa_record_size(octets + at, size - at)); at += n) {
		unsigned bucket = place_record(intake, octets + at, n);

		if (bucket < TRIAD_SA_SET_N_BUCKETS)
			intake->digests[bucket] +=
				triad_sa_record_digest(octets + at, n);
	}
}

static bool is_changed(const struct triad_sa_set *set, unsigned bucket)
{
	return set->buckets[bucket].digest != set->intake.digests[bucket] ||
		set->buckets[bucket].size != set->intake.sizes[bucket];
}

/* Allocates the buckets that change.  Returns their number, or -1: memory is short. */
static int make_fresh(struct triad_sa_set *set)
{
	struct intake *intake = &set->intake;
	int n = 0;

	memset(intake->fresh, 0, sizeof(intake->fresh));
	for (unsigned i = 0; i < TRIAD_SA_SET_N_BUCKETS; i++) {
		if (!is_changed(set, i))
			continue;
		n++;
		if (!intake->sizes[i])
			continue;
		intake->fresh[i] = malloc(intake->sizes[i]);
		if (intake->fresh[i])
			continue;
		while (i--)
			free(intake->fresh[i]);
		return -1;
	}
	return n;
}

static void fill_fresh(struct intake *intake, const uint8_t *octets, size_t size)
{
	size_t at = 0, n;

	begin_intake(intake);
	for (; (n = triad_sa_record_size(octets + at, size - at)); at += n) {
		unsigned bucket = place_record(intake, octets + at, n);

		if (bucket < TRIAD_SA_SET_N_BUCKETS && intake->fresh[bucket])
			memcpy(intake->fresh[bucket] + intake->sizes[bucket] - n,
				octets + at, n);
	}
}

int triad_sa_set_take(struct triad_sa_set *set, const uint8_t *octets, size_t size,
	uint64_t changed[TRIAD_SA_SET_N_GROUPS])
{
	struct intake *intake = &set->intake;
	int n;

	memset(changed, 0, TRIAD_SA_SET_N_GROUPS * sizeof(*changed));
	sum_up(intake, octets, size);
	n = make_fresh(set);
	if (n < 0)
		return ENOMEM;
	if (n)
		fill_fresh(intake, octets, size);
	for (unsigned i = 0; n && i < TRIAD_SA_SET_N_BUCKETS; i++) {
		const struct bucket with = {
			intake->digests[i], intake->sizes[i], intake->fresh[i]};

		if (!is_changed(set, i))
			continue;
		replace_bucket(set, i, &with);
		changed[i / TRIAD_SA_SET_PER_GROUP] |= UINT64_C(1)
			<< i % TRIAD_SA_SET_PER_GROUP;
	}
	set->counts = intake->counts;
	return 0;
}
