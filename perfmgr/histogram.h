/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A histogram of rates, of bounded size.
 *
 * Model: the octaves (powers of two) of a value are divided into 2^scale buckets of
 * equal width, with 'scale' at most 2: four buckets an octave.  Buckets from the first
 * to the last that counted something are kept.  When they would become more than
 * 'most', neighbours are joined two by two, which takes 'scale' down by one; below 0 a
 * bucket has several octaves.  Who takes the middle of a bucket for its values errs by
 *
 *     1/2^(scale + 1) of the value at most, for a scale of 0 or more: 12.5 % at 2.
 *
 * Zeros are counted apart; they are most of what there is.
 *
 * A rate is counted in steps of 1/4096 a second (triad_histogram_of_rate()), so that
 * one event in an hour is told from none.
 *
 * Invariants: 'scale' is the greatest that the values and 'most' allow, whatever the
 * order they came in; so merging is exact (no count changes its bucket but by joining),
 * associative and commutative as long as 'most' is the same.
 *
 * Thread-safety: none; the caller excludes writers.
 * Memory: 16 octets, and 8 for each bucket, doubled as needed; none while all are
 * zeros. */
#ifndef TRIAD_PERFMGR_HISTOGRAM_H
#define TRIAD_PERFMGR_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_HISTOGRAM_MAX_SCALE 2
#define TRIAD_HISTOGRAM_STEPS_PER_UNIT 4096
/* Room for every bucket there can be at the greatest scale. */
#define TRIAD_HISTOGRAM_MOST 252

/* All 0 but for 'most' is an empty one. */
struct triad_histogram {
	uint64_t *counts; /* 'room' of them; NULL: no value but 0 yet */
	uint8_t first;    /* bucket that counts[0] is about, at 'joined' */
	uint8_t n;        /* buckets kept */
	uint8_t room;
	uint8_t joined; /* TRIAD_HISTOGRAM_MAX_SCALE - scale */
	uint8_t most;   /* buckets it may keep: 2-TRIAD_HISTOGRAM_MOST */
};

/* One bucket: values from 'low' to under 'high', in steps. */
struct triad_histogram_bucket {
	double low, high;
	uint64_t count;
};

void triad_histogram_init(struct triad_histogram *histogram, unsigned most);
void triad_histogram_clear(struct triad_histogram *histogram);

/* Adds 'value' (in steps, not 0).  Returns false when memory is short; then it is as
 * it was. */
bool triad_histogram_add(struct triad_histogram *histogram, uint64_t value);

/* Adds what 'from' counted.  Returns false when memory is short; then nothing was
 * added. */
bool triad_histogram_merge(
	struct triad_histogram *histogram, const struct triad_histogram *from);

/* The n-th bucket, 0 to histogram->n - 1. */
struct triad_histogram_bucket triad_histogram_bucket(
	const struct triad_histogram *histogram, unsigned n);

/* Values but for zeros. */
uint64_t triad_histogram_count(const struct triad_histogram *histogram);

/* The value that a share of 'share' (0 to 1) of all values is not above, as the middle
 * of its bucket, where there were 'n_zeros' besides.  0 when there are none. */
double triad_histogram_quantile(
	const struct triad_histogram *histogram, uint64_t n_zeros, double share);

static inline int triad_histogram_scale(const struct triad_histogram *histogram)
{
	return TRIAD_HISTOGRAM_MAX_SCALE - histogram->joined;
}

/* A rate per second in steps; what is more than none is one step at least. */
static inline uint64_t triad_histogram_of_rate(uint64_t change, float interval_us)
{
	double steps = (double)change * (1e6 * TRIAD_HISTOGRAM_STEPS_PER_UNIT) /
		(double)interval_us;

	return steps < 1 ? 1 : steps < 0x1p62 ? (uint64_t)steps : UINT64_C(1) << 62;
}

#endif
