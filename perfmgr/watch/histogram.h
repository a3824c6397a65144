/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A histogram of rates, of bounded size.
 *
 * Model: the octaves (powers of two) of a value are divided into 2^scale buckets of
 * equal width, with 'scale' at most 2: four buckets an octave.  Buckets from the first
 * to the last that counted something are kept. When they would become more than 'most',
 * neighbours are joined two by two, which takes 'scale' down by one; below 0 a bucket
 * has several octaves.  The middle of a bucket differs from a value in it by
 *
 *     1/2^(scale + 1) of the value at most, for a scale of 0 or more: 12.5 % at 2.
 *
 * Zeros are counted apart, because most values are 0.
 *
 * A rate is counted in steps of 1/4096 a second (triad_histogram_factor()), so that one
 * event in an hour differs from none.
 *
 * Invariants: 'scale' is the greatest that the values and 'most' allow, in whatever
 * order the values came.  So merging is exact (a count changes its bucket only when
 * buckets are joined), associative and commutative, while 'most' is the same.
 *
 * Thread-safety: none; the caller excludes writers.
 * Memory: 16 octets, and 8 for each bucket, doubled as needed; none while all are
 * zeros. */
#ifndef TRIAD_PERFMGR_HISTOGRAM_H
#define TRIAD_PERFMGR_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRIAD_HISTOGRAM_MAX_SCALE 2
#define TRIAD_HISTOGRAM_STEPS_PER_UNIT 4096
/* Room for every bucket there can be at the greatest scale. */
#define TRIAD_HISTOGRAM_MOST 252

/* All 0 but for 'most': an empty histogram. */
struct triad_histogram {
	uint64_t *counts; /* 'room' of them; NULL: no value but 0 yet */
	uint8_t first;    /* the bucket of counts[0], at the present scale */
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

/* The bucket of a positive value in steps, at the greatest scale: the exponent and the
 * first fraction bits of the double.  A value below one step counts as one. */
static inline unsigned triad_histogram_place(double steps)
{
	uint64_t bits;

	_Static_assert(sizeof(bits) == sizeof(steps), "IEEE 754");
	if (!(steps >= 1))
		return 0;
	if (steps >= 0x1p63)
		return TRIAD_HISTOGRAM_MOST - 1;
	memcpy(&bits, &steps, sizeof(bits));
	return (unsigned)(bits >> (52 - TRIAD_HISTOGRAM_MAX_SCALE)) -
		(1023u << TRIAD_HISTOGRAM_MAX_SCALE);
}

/* Makes room for the bucket of 'place'.  Returns false when memory is short. */
bool triad_histogram_reach(struct triad_histogram *histogram, unsigned place);

/* True when that bucket is kept. */
static inline bool triad_histogram_has(
	const struct triad_histogram *histogram, unsigned place)
{
	return (place >> histogram->joined) - histogram->first < histogram->n;
}

/* Adds one value; 'place' is triad_histogram_place() of it, the same for any histogram.
 * Returns false, with nothing changed, when memory is short. */
static inline bool triad_histogram_add(
	struct triad_histogram *histogram, unsigned place)
{
	if (!triad_histogram_has(histogram, place) &&
		!triad_histogram_reach(histogram, place))
		return false;
	histogram->counts[(place >> histogram->joined) - histogram->first]++;
	return true;
}

/* Adds the counts of 'from'.  Returns false, with nothing added, when memory is
 * short. */
bool triad_histogram_merge(
	struct triad_histogram *histogram, const struct triad_histogram *from);

/* Subtracts the counts of 'earlier', the same histogram at an earlier time.  Returns
 * false, with undefined counts, when it is not. */
bool triad_histogram_subtract(
	struct triad_histogram *histogram, const struct triad_histogram *earlier);

/* The n-th bucket, 0 to histogram->n - 1. */
struct triad_histogram_bucket triad_histogram_bucket(
	const struct triad_histogram *histogram, unsigned n);

/* The number of values that are not 0. */
uint64_t triad_histogram_count(const struct triad_histogram *histogram);

/* The quantile 'share' (0 to 1) of all values and of 'n_zeros' zeros: the middle of its
 * bucket. 0 if there are none. */
double triad_histogram_quantile(
	const struct triad_histogram *histogram, uint64_t n_zeros, double share);

/* The greatest relative error of a bucket's middle. */
double triad_histogram_error(const struct triad_histogram *histogram);

static inline int triad_histogram_scale(const struct triad_histogram *histogram)
{
	return TRIAD_HISTOGRAM_MAX_SCALE - histogram->joined;
}

/* The factor that turns a change into a rate in steps. */
static inline double triad_histogram_factor(double interval_us)
{
	return 1e6 * TRIAD_HISTOGRAM_STEPS_PER_UNIT / interval_us;
}

#endif
