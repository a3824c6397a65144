/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/clients.h"

#include <string.h>

void triad_clients_count(struct triad_clients *clients, uint16_t lid, int refused)
{
	struct triad_client_counts *counts;

	if (lid >= TRIAD_PATH_N_LIDS)
		return;
	counts = &clients->of_lid[lid];
	atomic_fetch_add_explicit(&counts->n_requests, 1, memory_order_relaxed);
	if (refused)
		atomic_fetch_add_explicit(&counts->n_refused, 1, memory_order_relaxed);
}

/* Inserts 'client' into the 'n' that are sorted already.  The last one is dropped when
 * 'room' is full.  Returns the new number. */
static size_t insert(struct triad_path_client *top, size_t n, size_t room,
	const struct triad_path_client *client)
{
	size_t at = n;

	while (at && top[at - 1].n_requests < client->n_requests)
		at--;
	if (at == room)
		return n;
	if (n == room)
		n--;
	memmove(top + at + 1, top + at, (n - at) * sizeof(*top));
	top[at] = *client;
	return n + 1;
}

size_t triad_clients_top(
	const struct triad_clients *clients, struct triad_path_client *top, size_t n)
{
	size_t found = 0;

	for (unsigned lid = 0; lid < TRIAD_PATH_N_LIDS; lid++) {
		const struct triad_client_counts *counts = &clients->of_lid[lid];
		struct triad_path_client client = {.lid = (uint16_t)lid,
			.n_requests = atomic_load_explicit(
				&counts->n_requests, memory_order_relaxed),
			.n_refused = atomic_load_explicit(
				&counts->n_refused, memory_order_relaxed)};

		if (client.n_requests)
			found = insert(top, found, n, &client);
	}
	return found;
}
