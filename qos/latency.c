/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/latency.h"

/* Below TRIAD_LATENCY_STEPS each number has its own bucket.  Above, each doubling has 8
 * buckets, chosen by the three bits after the highest one. */
static unsigned bucket_of(uint64_t ns)
{
	unsigned shift, bucket;

	if (ns < TRIAD_LATENCY_STEPS)
		return (unsigned)ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - 3;
	bucket = (shift + 1) * TRIAD_LATENCY_STEPS +
		(unsigned)(ns >> shift) % TRIAD_LATENCY_STEPS;
	return bucket < TRIAD_LATENCY_BUCKETS ? bucket : TRIAD_LATENCY_BUCKETS - 1;
}

static uint64_t end_of_bucket(unsigned bucket)
{
	unsigned shift = bucket / TRIAD_LATENCY_STEPS;

	if (!shift)
		return bucket;
	return ((uint64_t)(bucket % TRIAD_LATENCY_STEPS + TRIAD_LATENCY_STEPS + 1)
		       << (shift - 1)) -
		1;
}

/* The doubling of the first of TRIAD_LATENCY_N_ENDS. */
#define FIRST_END_SHIFT 10

uint64_t triad_latency_end_ns(unsigned i)
{
	return UINT64_C(1) << (FIRST_END_SHIFT + i);
}

void triad_latency_add(struct triad_latency *latency, uint64_t ns)
{
	atomic_fetch_add_explicit(
		&latency->buckets[bucket_of(ns)], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&latency->sum_ns, ns, memory_order_relaxed);
}

static void count_below(struct triad_latency_summary *summary, const uint64_t *counts)
{
	uint64_t n = 0;

	for (unsigned bucket = 0, i = 0; i < TRIAD_LATENCY_N_ENDS; i++) {
		for (; bucket < bucket_of(triad_latency_end_ns(i)); bucket++)
			n += counts[bucket];
		summary->n_below[i] = n;
	}
}

static uint64_t quantile(const uint64_t *counts, uint64_t n, double part)
{
	uint64_t wanted = (uint64_t)((double)n * part), seen = 0;

	for (unsigned i = 0; i < TRIAD_LATENCY_BUCKETS; i++) {
		seen += counts[i];
		if (seen > wanted)
			return end_of_bucket(i);
	}
	return 0;
}

struct triad_latency_summary triad_latency_summarize(
	const struct triad_latency *latency)
{
	struct triad_latency_summary summary = {0};
	uint64_t counts[TRIAD_LATENCY_BUCKETS];

	/* Work on a copy: other threads add meanwhile, and quantiles need counts that
	 * fit their sum. */
	for (unsigned i = 0; i < TRIAD_LATENCY_BUCKETS; i++) {
		counts[i] = atomic_load_explicit(
			&latency->buckets[i], memory_order_relaxed);
		summary.n += counts[i];
		if (counts[i])
			summary.max_ns = end_of_bucket(i);
	}
	if (!summary.n)
		return summary;
	summary.sum_ns = atomic_load_explicit(&latency->sum_ns, memory_order_relaxed);
	count_below(&summary, counts);
	summary.p50_ns = quantile(counts, summary.n, 0.5);
	summary.p99_ns = quantile(counts, summary.n, 0.99);
	return summary;
}
