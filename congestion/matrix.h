/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who sends to whom, as far as the rates of links tell: learnt from sweep to sweep.
 *
 * Model: what a link carries is the sum of what pairs of hosts send over it; routes say
 * which pairs those are.  A pair sends nothing when a link of its way carries nothing,
 * which leaves few pairs where a part of the fabric is busy.  Of the matrices of traffic
 * that fit, the one is taken that differs least (by its relative entropy) from what was
 * known before: at first from what the host sends times what others get, then from the
 * sum of earlier estimates, of which each sweep forgets a part.  It is found by scaling
 * pairs to what their links carry, again and again (multiplicative algebraic
 * reconstruction: Gordon, Bender, Herman, J. Theor. Biol. 29, 1970; as tomography of
 * networks: Zhang, Roughan, Lund, Donoho, SIGCOMM 2003).  Between two rounds large pairs
 * are made larger and small ones smaller, because a host sends to few at a time.
 *
 * One sweep does not tell two hosts apart that send over the same links first: both
 * matrices fit, the one and the other with their goals exchanged.  A sweep in which one
 * of the two pauses does.  So the matrix is believed about hosts whose rate has changed
 * TRIAD_CONGESTION_MIN_CHANGES times; tests/sim/congestion_trials.c has the figures.
 *
 * Thread-safety: none; the caller's.
 * Memory: some 100 octets for each pair that sends, TRIAD_CONGESTION_MAX_PAIRS of them
 * at most; with more nothing is known. */
#ifndef TRIAD_CONGESTION_MATRIX_H
#define TRIAD_CONGESTION_MATRIX_H

#include "congestion/turns.h"

#define TRIAD_CONGESTION_MAX_PAIRS (1u << 16)
#define TRIAD_CONGESTION_MIN_SWEEPS 8u
#define TRIAD_CONGESTION_MIN_CHANGES 3

struct triad_congestion_load;

struct triad_congestion_pair {
	uint32_t host, goal; /* in the layout's */
	uint32_t first, n;   /* links of its way, in 'ways'; 0: it sends nothing now */
	double bps;          /* in the last sweep */
	double known;        /* the sum of earlier ones, as far as not forgotten */
};

/* All 0: empty. */
struct triad_congestion_matrix {
	uint32_t n_pairs;
	struct triad_congestion_pair *pairs; /* by 'host', then by 'goal' */
	uint32_t n_ways;
	uint32_t *ways;    /* ports: the host's first */
	uint32_t n_sweeps; /* that it was learnt from */
	uint32_t n_hosts;
	float *sent,
		*changes; /* of each host: its last rate, and how often that changed */
};

/* Empties it: indices of another layout mean others. */
void triad_congestion_matrix_clear(struct triad_congestion_matrix *matrix);

/* Learns from a sweep.  'turns' are of the same layout each time.  Returns 0, ENOMEM or
 * E2BIG (too many pairs); then it is empty. */
int triad_congestion_matrix_learn(struct triad_congestion_matrix *matrix,
	const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads);

/* The share of what 'host' (of the layout) sends that leaves by 'port', 0 to 1; NAN: it
 * is not known. */
double triad_congestion_matrix_share(
	const struct triad_congestion_matrix *matrix, uint32_t host, uint32_t port);

#endif
