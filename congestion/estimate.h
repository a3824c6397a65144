/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much turns from each link into each other one at a switch: an estimate by the
 * rates of its links.
 *
 * Model: counters have the sums only.  Pairs that turn are the first guess; rows and
 * columns are scaled in turn until both sums are right (iterative proportional fitting:
 * Deming, Stephan, Annals of Mathematical Statistics 11, 1940).  That is the most even
 * spread that fits.
 *
 * Thread-safety: none; the caller's.  Memory: that of one switch. */
#ifndef TRIAD_CONGESTION_ESTIMATE_H
#define TRIAD_CONGESTION_ESTIMATE_H

#include "congestion/turns.h"

struct triad_congestion_load;

struct triad_congestion_estimate {
	uint32_t sw; /* whose it is at present, or TRIAD_FABRIC_NONE */
	uint32_t n_links;
	double *bps;      /* by the number of the port in, then out */
	double *in, *out; /* of each port, bit/s */
};

/* Returns 0 or ENOMEM; clear in either case. */
int triad_congestion_estimate_init(struct triad_congestion_estimate *estimate,
	const struct triad_routes_layout *layout);
void triad_congestion_estimate_clear(struct triad_congestion_estimate *estimate);

/* Makes it the estimate of a switch. */
void triad_congestion_estimate_make(struct triad_congestion_estimate *estimate,
	const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads, uint32_t sw);

/* The share of what comes in by one port that leaves by another, and of what leaves by
 * one that came in by another; 0 to 1. */
double triad_congestion_share_of_in(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out);
double triad_congestion_share_of_out(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out);

/* What the link sends, bit/s; of a link whose rate is not known, as if it were 1. */
double triad_congestion_sent_bps(const struct triad_fabric *fabric,
	const struct triad_congestion_load *loads, uint32_t port);
double triad_congestion_link_bps(const struct triad_fabric *fabric, uint32_t port);

#endif
