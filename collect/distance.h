/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How far nodes are from each other, and the part of a fabric that an agent reads.
 *
 * Thread-safety: functions without state.  Memory: checked. */
#ifndef TRIAD_COLLECT_DISTANCE_H
#define TRIAD_COLLECT_DISTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_DISTANCE_NONE UINT8_MAX /* there is no way, or one of 254 hops or more */

/* Writes for each node how many links it is from the port with that GUID, as
 * triad_fabric_hops() counts them; all are TRIAD_DISTANCE_NONE when there is no such
 * port.  Returns 0 or ENOMEM. */
int triad_distance_hops(
	const struct triad_fabric *fabric, uint64_t port_guid, uint8_t *hops);

/* Gives '*part' the nodes for which 'is_own' is true, as they are, and those at the
 * other ends of their links, of which no counters are asked for and only the ports of
 * these links are there.  One reference.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_distance_part(const struct triad_fabric *fabric, const bool *is_own,
	struct triad_fabric **part);

#endif
