/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The records of an SA (sa_record.h), or a copy of them.
 *
 * Model: a hash of a record's key selects its bucket.  A bucket has its records as
 * octets, in any order, and a digest: the sum of theirs.  Buckets form groups, whose
 * digests are again sums.  So two sets are compared by the digests of groups, then by
 * those of buckets; then buckets that differ are replaced.
 *
 * Records over a cap are left out and counted.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: at most TRIAD_SA_SET_MAX_OCTETS of records, some 180 KiB besides, and, while
 * a list of records is taken, a second copy of the changed buckets. */
#ifndef TRIAD_PORTMGR_SA_SET_H
#define TRIAD_PORTMGR_SA_SET_H

#include "portmgr/sa/sa_record.h"

#define TRIAD_SA_SET_N_GROUPS 64u
#define TRIAD_SA_SET_PER_GROUP 64u
#define TRIAD_SA_SET_N_BUCKETS (TRIAD_SA_SET_N_GROUPS * TRIAD_SA_SET_PER_GROUP)
#define TRIAD_SA_SET_MAX_OCTETS (32u << 20)
#define TRIAD_SA_BUCKET_MAX_OCTETS (256u << 10)

struct triad_sa_set;

struct triad_sa_bucket {
	uint64_t digest;
	uint32_t size;
	const uint8_t *octets; /* NULL: empty */
};

struct triad_sa_counts {
	uint32_t n[TRIAD_SA_KINDS_END]; /* by kind */
	uint32_t octets;
	uint32_t n_left_out; /* of the last list */
};

/* The most records of a kind that are kept. */
uint32_t triad_sa_set_limit(enum triad_sa_kind kind);

/* NULL: memory is short. */
struct triad_sa_set *triad_sa_set_new(void);
/* Accepts NULL. */
void triad_sa_set_free(struct triad_sa_set *set);

/* Replaces the contents by a list of complete records.  Sets bit i of changed[g] for
 * each bucket that changed.  Returns 0, or ENOMEM: then nothing changed. */
int triad_sa_set_take(struct triad_sa_set *set, const uint8_t *octets, size_t size,
	uint64_t changed[TRIAD_SA_SET_N_GROUPS]);

/* Replaces one bucket.  Returns 0, EINVAL (not records, or another digest), E2BIG (too
 * many) or ENOMEM. On error nothing changes. */
int triad_sa_set_put(struct triad_sa_set *set, unsigned bucket, uint64_t digest,
	const uint8_t *octets, size_t size);

struct triad_sa_bucket triad_sa_set_bucket(
	const struct triad_sa_set *set, unsigned bucket);
uint64_t triad_sa_set_group_digest(const struct triad_sa_set *set, unsigned group);
struct triad_sa_counts triad_sa_set_counts(const struct triad_sa_set *set);

#endif
