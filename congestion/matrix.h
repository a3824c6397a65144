/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A traffic matrix: how much each host sends to which, estimated from the rates of
 * links and learnt from sweep to sweep.
 *
 * Model: a link carries the sum of the traffic of the pairs of hosts whose paths cross
 * it; the routes define these pairs.  A pair sends nothing if a link of its path
 * carries nothing, which leaves few pairs when only a part of the fabric is busy.  Of
 * the matrices that fit, the result is the one with the least relative entropy to the
 * prior.  The first prior is the host's sent traffic times the others' received
 * traffic; later ones are the sum of earlier estimates, of which each sweep forgets a
 * part.  It is found by repeatedly scaling pairs to the traffic of their links
 * (multiplicative algebraic reconstruction: Gordon, Bender, Herman, J. Theor. Biol.
 * 29, 1970; as tomography of networks: Zhang, Roughan, Lund, Donoho, SIGCOMM 2003).
 * Between two rounds large pairs are made larger and small ones smaller, because a host
 * sends to few others at a time.
 *
 * One sweep can't distinguish two hosts whose packets first take the same links: the
 * matrix with their goals exchanged fits, too.  A sweep in which one of the two pauses
 * distinguishes them.  So the matrix is used only for hosts whose rate has changed
 * TRIAD_CONGESTION_MIN_CHANGES times; tests/sim/congestion_trials.c has the figures.
 *
 * Thread-safety: none; the caller's.
 * Memory: some 100 octets for each pair that sends, TRIAD_CONGESTION_MAX_PAIRS of them
 * at most; with more pairs the matrix stays empty. */
#ifndef TRIAD_CONGESTION_MATRIX_H
#define TRIAD_CONGESTION_MATRIX_H

#include "congestion/turns.h"

#define TRIAD_CONGESTION_MAX_PAIRS (1u << 16)
#define TRIAD_CONGESTION_MIN_SWEEPS 8u
#define TRIAD_CONGESTION_MIN_CHANGES 3

struct triad_congestion_load;

struct triad_congestion_pair {
	uint32_t host, goal; /* indices of the layout's hosts and goals */
	uint32_t first, n;   /* its path's links, in 'paths'; n 0: silent now */
	double bps;          /* in the last sweep */
	double prior_sum;    /* the decaying sum of earlier estimates */
};

/* All 0: empty. */
struct triad_congestion_matrix {
	uint32_t n_pairs;
	struct triad_congestion_pair *pairs; /* by 'host', then by 'goal' */
	uint32_t n_path_links;
	uint32_t *paths;   /* ports: the host's first */
	uint32_t n_sweeps; /* sweeps that it learnt from */
	uint32_t n_hosts;
	float *sent;    /* each host's last rate */
	float *changes; /* how often that changed */
};

/* Empties it.  Call it for another layout, in which indices mean other hosts. */
void triad_congestion_matrix_clear(struct triad_congestion_matrix *matrix);

/* Learns from a sweep.  'turns' are of the same layout each time.  Returns 0, ENOMEM or
 * E2BIG (too many pairs); then it is empty. */
int triad_congestion_matrix_learn(struct triad_congestion_matrix *matrix,
	const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads);

/* The share of the traffic of 'host' (of the layout) that leaves by 'port', 0 to 1;
 * NAN: not known. */
double triad_congestion_matrix_share(
	const struct triad_congestion_matrix *matrix, uint32_t host, uint32_t port);

#endif
