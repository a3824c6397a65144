/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Distances between nodes, and the part of a fabric that an agent reads.
 *
 * Thread-safety: functions without state.  Memory: checked. */
#ifndef TRIAD_COLLECT_DISTANCE_H
#define TRIAD_COLLECT_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_DISTANCE_NONE UINT8_MAX /* not reachable, or only in 254 hops or more */

/* Writes for each node its distance in links from the port with that GUID, as
 * triad_fabric_hops() counts them; TRIAD_DISTANCE_NONE for all when there is no such
 * port.  Returns 0 or ENOMEM. */
int triad_distance_hops(
	const struct triad_fabric *fabric, uint64_t port_guid, uint8_t *hops);

/* Makes '*part', with one reference: the nodes for which 'is_own' is true, unchanged;
 * and the nodes at the other ends of their links, with only the ports of these links,
 * and without counters to read.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_distance_part(const struct triad_fabric *fabric, const bool *is_own,
	struct triad_fabric **part);

#endif
