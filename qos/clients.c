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

void triad_clients_count_not_taken(struct triad_clients *clients, uint16_t lid)
{
	if (lid < TRIAD_PATH_N_LIDS)
		atomic_fetch_add_explicit(
			&clients->of_lid[lid].n_not_taken, 1, memory_order_relaxed);
}

static uint64_t asked(const struct triad_path_client *client)
{
	return client->n_requests + client->n_not_taken;
}

/* Inserts 'client' into 'n' sorted clients; drops the last one when 'room' is
 * full.  Returns the new number. */
static size_t insert(struct triad_path_client *top, size_t n, size_t room,
	const struct triad_path_client *client)
{
	size_t at = n;

	while (at && asked(&top[at - 1]) < asked(client))
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
				&counts->n_refused, memory_order_relaxed),
			.n_not_taken = atomic_load_explicit(
				&counts->n_not_taken, memory_order_relaxed)};

		if (asked(&client))
			found = insert(top, found, n, &client);
	}
	return found;
}
