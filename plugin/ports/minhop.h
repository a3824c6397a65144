/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that OpenSM's min-hop must not count.
 *
 * Min-hop and DOR send nothing over a link that is marked as not healthy. But when they
 * count hops they take it for one hop between its two switches. If it is the only link
 * between these, all others send what is for the one through the other, which has no
 * way. So while hops are counted, the two ends are not linked in OpenSM's tables: OpenSM
 * holds its lock exclusively for the whole time, so nobody else sees that.
 *
 * Other engines that mind the mark do so when they count, too.
 *
 * Thread-safety: only in OpenSM's sweeping thread, which also runs what is installed
 * here.  Memory: the links of the last list. */
#ifndef TRIAD_PLUGIN_PORTS_MINHOP_H
#define TRIAD_PLUGIN_PORTS_MINHOP_H

#include <stdint.h>

struct osm_opensm;

/* The link of a switch's port, and its far end. */
struct triad_minhop_link {
	uint64_t guid, far_guid; /* of the nodes */
	uint8_t number, far_number;
};

/* Which links are not counted from now on; 'links' (NULL: none) is taken over, of malloc().
 * Installs itself before OpenSM's own function in the engines that need it. */
void triad_minhop_avoid(
	struct osm_opensm *osm, struct triad_minhop_link *links, uint32_t n);

#endif
