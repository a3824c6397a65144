/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Estimates how much traffic turns from each link of a switch into each other one, from
 * the links' rates.
 *
 * Model: counters give only the sums of each link.  The numbers of pairs that turn are
 * the first guess.  Rows and columns are scaled alternately until both sums are right
 * (iterative proportional fitting: Deming, Stephan, Annals of Mathematical Statistics
 * 11, 1940).  The result is the most even spread that fits.
 *
 * Thread-safety: none; the caller's.  Memory: that of one switch. */
#ifndef TRIAD_CONGESTION_ESTIMATE_H
#define TRIAD_CONGESTION_ESTIMATE_H

#include "congestion/turns.h"

struct triad_congestion_load;

struct triad_congestion_estimate {
	uint32_t sw; /* the present switch, or TRIAD_FABRIC_NONE */
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

/* The share of the traffic into port 'in' that leaves by port 'out'; and of the traffic
 * out of 'out' that came in by 'in'; 0 to 1. */
double triad_congestion_share_of_in(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out);
double triad_congestion_share_of_out(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out);

/* The traffic that the port sends, and its link's rate, in bit/s; an unknown rate
 * counts as 1. */
double triad_congestion_sent_bps(const struct triad_fabric *fabric,
	const struct triad_congestion_load *loads, uint32_t port);
double triad_congestion_link_bps(const struct triad_fabric *fabric, uint32_t port);

#endif
