/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts, for each client's LID, how often it asks the SA for paths.
 *
 * Thread-safety: any number of threads count and read.  Memory: fixed, 1.1 MiB. */
#ifndef TRIAD_QOS_CLIENTS_H
#define TRIAD_QOS_CLIENTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "qos/paths.h"

struct triad_client_counts {
	atomic_ulong n_requests;
	atomic_ulong n_refused; /* answered with no path, or a status */
	/* Not among those: requests without room in the queue, because the client had
	 * too many waiting. */
	atomic_ulong n_not_taken;
};

struct triad_clients {
	struct triad_client_counts of_lid[TRIAD_PATH_N_LIDS];
};

/* One of those that ask most. */
struct triad_path_client {
	uint16_t lid;
	uint64_t n_requests, n_refused, n_not_taken;
};

void triad_clients_count(struct triad_clients *clients, uint16_t lid, int refused);

void triad_clients_count_not_taken(struct triad_clients *clients, uint16_t lid);

/* Fills 'top' with the 'n' LIDs that asked most, in that order; returns their number,
 * at most 'n'. */
size_t triad_clients_top(
	const struct triad_clients *clients, struct triad_path_client *top, size_t n);

#endif
