/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/track.h"

#include <string.h>

static uint32_t find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port)
{
	for (uint32_t i = 0; i < track->n; i++)
		if (track->roots[i].node_guid == node_guid &&
			track->roots[i].port == port)
			return i;
	return TRIAD_FABRIC_NONE;
}

const struct triad_congestion_tracked *triad_congestion_track_find(
	const struct triad_congestion_track *track, uint64_t node_guid, uint8_t port)
{
	uint32_t i = find(track, node_guid, port);

	return i == TRIAD_FABRIC_NONE ? NULL : &track->roots[i];
}

void triad_congestion_track_add(struct triad_congestion_track *track,
	const struct triad_fabric *fabric, const struct triad_congestion *found,
	uint64_t now_us,
	void (*tell)(void *context, enum triad_congestion_change change,
		const struct triad_congestion_tracked *root),
	void *context)
{
	uint32_t n_left = 0;

	for (uint32_t i = 0; i < track->n; i++)
		track->roots[i].n_missed++;
	for (uint32_t i = 0; found && i < found->n_roots; i++) {
		const struct triad_fabric_port *port =
			&fabric->ports[found->roots[i].port];
		struct triad_congestion_tracked root = {
			.node_guid = fabric->nodes[port->node].guid,
			.since_us = now_us,
			.port = port->number,
			.kind = found->roots[i].kind};
		uint32_t at = find(track, root.node_guid, root.port);

		if (at != TRIAD_FABRIC_NONE) {
			track->roots[at].n_missed = 0;
			track->roots[at].kind = root.kind;
		} else if (track->n < TRIAD_CONGESTION_MAX_TRACKED) {
			track->roots[track->n++] = root;
			tell(context, TRIAD_CONGESTION_BEGUN, &root);
		}
	}
	for (uint32_t i = 0; i < track->n; i++) {
		if (found && track->roots[i].n_missed < TRIAD_CONGESTION_MISSES)
			track->roots[n_left++] = track->roots[i];
		else
			tell(context, TRIAD_CONGESTION_ENDED, &track->roots[i]);
	}
	track->n = n_left;
}
