/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The Poisson distribution: its tails, and exact confidence intervals of the mean from
 * a count of independent events.
 *
 * Model: the chance of more than n events where 'mean' are expected is the regularized
 * incomplete gamma function P(n + 1, mean) [DLMF 8.2.4, Johnson, Kemp, Kotz: Univariate
 * Discrete Distributions, 3rd edition, 4.7].  Below TRIAD_POISSON_EXACT events it is
 * computed by its series [DLMF 8.7.1] or its continued fraction [DLMF 8.9.2] to nine
 * digits.  From there on it is the normal approximation of Wilson and Hilferty (The
 * Distribution of Chi-Square, 1931): an interval's ends are then off by less than 1e-8
 * of the count, and by less than a millionth of the interval's width.
 *
 * The interval is Garwood's (Fiducial Limits for the Poisson Distribution, 1936): it
 * contains any mean with at least the given confidence.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_LIB_POISSON_H
#define TRIAD_LIB_POISSON_H

#include <stdint.h>

#define TRIAD_POISSON_EXACT UINT64_C(100000)

struct triad_poisson_interval {
	double low, high;
};

/* The chance of at most 'n' events where 'mean' (0 or more) are expected; NaN for an
 * invalid 'mean'. */
double triad_poisson_at_most(uint64_t n, double mean);

/* The confidence interval of the mean after 'n' events; 'low' is 0 for 0 events.
 * 'confidence' is above 0 and below 1, for instance 0.95; else both ends are NaN. */
struct triad_poisson_interval triad_poisson_interval(uint64_t n, double confidence);

#endif
