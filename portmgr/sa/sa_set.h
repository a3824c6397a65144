/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The records of an SA (sa_record.h), or a copy of them.
 *
 * Model: a record is in the bucket that its key has by chance.  A bucket is octets, the
 * records in any order, and has a digest: the sum of theirs.  Buckets are in groups, whose
 * digests are again sums.  So two sets are compared by the digests of their groups, then
 * by those of buckets, and what differs is replaced bucket by bucket.
 *
 * What is over a cap is left out and counted.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: at most TRIAD_SA_SET_MAX_OCTETS of records, some 180 KiB besides, and while a
 * list of records is taken a second copy of what changed. */
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
	uint32_t n_left_out; /* of the list that was taken last */
};

/* How many records of a kind are taken. */
uint32_t triad_sa_set_limit(enum triad_sa_kind kind);

/* NULL: memory is short. */
struct triad_sa_set *triad_sa_set_new(void);
/* Accepts NULL. */
void triad_sa_set_free(struct triad_sa_set *set);

/* Takes a list of whole records as what there is now.  Sets bit i of changed[g] for each
 * bucket that is another than before.  Returns 0, or ENOMEM: all is as it was. */
int triad_sa_set_take(struct triad_sa_set *set, const uint8_t *octets, size_t size,
	uint64_t changed[TRIAD_SA_SET_N_GROUPS]);

/* Replaces one bucket.  Returns 0; EINVAL: these are no records, or their digest is
 * another; E2BIG: they are too many; ENOMEM.  On error it is as it was. */
int triad_sa_set_put(struct triad_sa_set *set, unsigned bucket, uint64_t digest,
	const uint8_t *octets, size_t size);

struct triad_sa_bucket triad_sa_set_bucket(
	const struct triad_sa_set *set, unsigned bucket);
uint64_t triad_sa_set_group_digest(const struct triad_sa_set *set, unsigned group);
struct triad_sa_counts triad_sa_set_counts(const struct triad_sa_set *set);

#endif
