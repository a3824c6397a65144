/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PER_OCTAVE (1u << TRIAD_HISTOGRAM_MAX_SCALE)
#define FIRST_ROOM 4u

_Static_assert(63 * PER_OCTAVE == TRIAD_HISTOGRAM_MOST, "room for values to 2^63");

void triad_histogram_init(struct triad_histogram *histogram, unsigned most)
{
	*histogram = (struct triad_histogram){.most = (uint8_t)most};
}

void triad_histogram_clear(struct triad_histogram *histogram)
{
	free(histogram->counts);
	triad_histogram_init(histogram, histogram->most);
}

/* Where bucket 'n', at the greatest scale, begins. */
static double begin_of(unsigned n)
{
	double octave = ldexp(1, (int)(n / PER_OCTAVE));

	return octave + octave * (n % PER_OCTAVE) / PER_OCTAVE;
}

/* --- making room --- */

/* Joins neighbouring buckets two by two, 'times' times. */
static void join_buckets(struct triad_histogram *histogram, unsigned times)
{
	unsigned first = histogram->first >> times, n = 0;

	for (unsigned i = 0; i < histogram->n; i++) {
		unsigned to = ((histogram->first + i) >> times) - first;
		uint64_t count = histogram->counts[i];

		if (to != i)
			histogram->counts[i] = 0;
		if (to == n) {
			histogram->counts[to] = count;
			n++;
		} else {
			histogram->counts[to] += count;
		}
	}
	histogram->first = (uint8_t)first;
	histogram->n = (uint8_t)n;
	histogram->joined = (uint8_t)(histogram->joined + times);
}

static bool make_room_for_buckets(struct triad_histogram *histogram, unsigned n)
{
	unsigned room = histogram->room ? histogram->room : FIRST_ROOM;
	uint64_t *counts;

	if (n <= histogram->room)
		return true;
	while (room < n)
		room *= 2;
	if (room > histogram->most)
		room = histogram->most;
	counts = realloc(histogram->counts, room * sizeof(*counts));
	if (!counts)
		return false;
	histogram->counts = counts;
	histogram->room = (uint8_t)room;
	return true;
}

/* Makes room for buckets 'low' to 'high' of the present scale, beside those kept
 * already. */
static bool reach(struct triad_histogram *histogram, unsigned low, unsigned high)
{
	unsigned before, n, times = 0;

	if (histogram->n) {
		unsigned last = histogram->first + histogram->n - 1u;

		low = low < histogram->first ? low : histogram->first;
		high = high > last ? high : last;
	}
	/* Join neighbours until the buckets are few enough. */
	while ((high >> times) - (low >> times) >= histogram->most)
		times++;
	n = (high >> times) - (low >> times) + 1;
	/* Allocate first: on failure nothing has changed. */
	if (!make_room_for_buckets(histogram, n))
		return false;
	if (times)
		join_buckets(histogram, times);
	before = histogram->n ? histogram->first - (low >> times) : 0;
	memmove(histogram->counts + before, histogram->counts,
		histogram->n * sizeof(*histogram->counts));
	memset(histogram->counts, 0, before * sizeof(*histogram->counts));
	memset(histogram->counts + before + histogram->n, 0,
		(n - before - histogram->n) * sizeof(*histogram->counts));
	histogram->first = (uint8_t)(low >> times);
	histogram->n = (uint8_t)n;
	return true;
}

/* --- counting --- */

bool triad_histogram_reach(struct triad_histogram *histogram, unsigned place)
{
	unsigned bucket = place >> histogram->joined;

	return reach(histogram, bucket, bucket);
}

bool triad_histogram_merge(
	struct triad_histogram *histogram, const struct triad_histogram *from)
{
	unsigned low = from->first, high = from->first + from->n - 1u, times;

	if (!from->n)
		return true;
	if (histogram->joined < from->joined) {
		/* First make it as coarse as the other one. */
		times = from->joined - histogram->joined;
		join_buckets(histogram, times);
	} else {
		times = histogram->joined - from->joined;
		low >>= times;
		high >>= times;
	}
	if (!reach(histogram, low, high))
		return false;
	times = histogram->joined - from->joined;
	for (unsigned i = 0; i < from->n; i++) {
		unsigned bucket = (from->first + i) >> times;

		histogram->counts[bucket - histogram->first] += from->counts[i];
	}
	return true;
}

/* Drops empty buckets at both ends. */
static void trim_buckets(struct triad_histogram *histogram)
{
	unsigned n_before = 0;

	while (histogram->n && !histogram->counts[histogram->n - 1])
		histogram->n--;
	while (n_before < histogram->n && !histogram->counts[n_before])
		n_before++;
	if (!n_before)
		return;
	histogram->n = (uint8_t)(histogram->n - n_before);
	histogram->first = (uint8_t)(histogram->first + n_before);
	memmove(histogram->counts, histogram->counts + n_before,
		histogram->n * sizeof(*histogram->counts));
}

bool triad_histogram_subtract(
	struct triad_histogram *histogram, const struct triad_histogram *earlier)
{
	unsigned times = histogram->joined - earlier->joined;

	/* Buckets are only ever joined, so the earlier one can't be coarser. */
	if (histogram->joined < earlier->joined)
		return false;
	for (unsigned i = 0; i < earlier->n; i++) {
		unsigned bucket = (earlier->first + i) >> times;

		if (!earlier->counts[i])
			continue;
		if (bucket - histogram->first >= histogram->n ||
			histogram->counts[bucket - histogram->first] <
				earlier->counts[i])
			return false;
		histogram->counts[bucket - histogram->first] -= earlier->counts[i];
	}
	trim_buckets(histogram);
	return true;
}

/* --- reading --- */

struct triad_histogram_bucket triad_histogram_bucket(
	const struct triad_histogram *histogram, unsigned n)
{
	unsigned bucket = histogram->first + n;

	return (struct triad_histogram_bucket){
		.low = begin_of(bucket << histogram->joined),
		.high = begin_of((bucket + 1) << histogram->joined),
		.count = histogram->counts[n],
	};
}

uint64_t triad_histogram_count(const struct triad_histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < histogram->n; i++)
		count += histogram->counts[i];
	return count;
}

double triad_histogram_quantile(
	const struct triad_histogram *histogram, uint64_t n_zeros, double share)
{
	uint64_t n = triad_histogram_count(histogram) + n_zeros, passed = n_zeros;
	double wanted = share * (double)n;

	if ((double)passed >= wanted)
		return 0;
	for (unsigned i = 0; i < histogram->n; i++) {
		struct triad_histogram_bucket bucket =
			triad_histogram_bucket(histogram, i);

		passed += bucket.count;
		if ((double)passed >= wanted)
			return (bucket.low + bucket.high) / 2;
	}
	return 0;
}

double triad_histogram_error(const struct triad_histogram *histogram)
{
	int scale = triad_histogram_scale(histogram);

	/* A bucket is a part of an octave, or several octaves. */
	return scale >= 0 ? ldexp(1, -(scale + 1)) : (exp2(ldexp(1, -scale)) - 1) / 2;
}
