/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A histogram of durations, with eight steps to each doubling.  A summary has
 * quantiles, and for Prometheus the counts below each doubling from 1 us to 1 s.
 *
 * Thread-safety: any number of threads add and read; a summary taken meanwhile may have
 * some of the additions.  Memory: fixed. */
#ifndef TRIAD_QOS_LATENCY_H
#define TRIAD_QOS_LATENCY_H

#include <stdatomic.h>
#include <stdint.h>

#define TRIAD_LATENCY_STEPS 8 /* to a doubling */
/* Up to 2^42 ns: 73 minutes. */
#define TRIAD_LATENCY_BUCKETS (40 * TRIAD_LATENCY_STEPS)

struct triad_latency {
	atomic_ulong buckets[TRIAD_LATENCY_BUCKETS];
	atomic_uint_fast64_t sum_ns;
};

#define TRIAD_LATENCY_N_ENDS 21

struct triad_latency_summary {
	uint64_t n;
	uint64_t p50_ns, p99_ns,
		max_ns; /* upper ends of buckets: at most 1/8 too much */
	uint64_t sum_ns;
	uint64_t n_below[TRIAD_LATENCY_N_ENDS]; /* less than triad_latency_end_ns() */
};

/* 1024 ns and its doublings; 'i' is less than TRIAD_LATENCY_N_ENDS. */
uint64_t triad_latency_end_ns(unsigned i);

void triad_latency_add(struct triad_latency *latency, uint64_t ns);
struct triad_latency_summary triad_latency_summarize(
	const struct triad_latency *latency);

#endif
