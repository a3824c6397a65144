/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The links between the ports of profiles, and bundles of parallel links.
 *
 * Model: a link has two directions.  The traffic from A to B is what A sent or, if A
 * was not read, what B received.  A is the end with the lower GUID, then port number.
 *
 * Links between the same two nodes are a bundle; its imbalance is the busiest link's
 * mean rate divided by the mean of all, in the direction where that is greater.
 *
 * Thread-safety: none.  Memory: 72 octets a link. */
#ifndef TRIAD_CLI_PROFILE_LINKS_H
#define TRIAD_CLI_PROFILE_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/profile_stats.h"

enum { TRIAD_LINK_THERE, TRIAD_LINK_BACK, TRIAD_LINK_DIRECTIONS }; /* A to B, B to A */

struct triad_link {
	uint64_t guid[2]; /* of A's node and B's; B's 0: not known */
	uint8_t port[2];
	uint32_t mbps; /* 0: not known */
	double mean_bps[TRIAD_LINK_DIRECTIONS], peak_bps[TRIAD_LINK_DIRECTIONS];
	uint64_t peak_us[TRIAD_LINK_DIRECTIONS]; /* time of the peak; 0: none */
};

struct triad_bundle {
	size_t first; /* index of its first link; they are adjacent */
	unsigned n_links;
	unsigned direction;       /* direction of the imbalance */
	size_t busiest;           /* link in that direction */
	double mean_bps, max_bps; /* of its links, in that direction */
	double ratio;
};

struct triad_links {
	struct triad_link *links; /* in the order of their ends */
	size_t n_links;
	size_t *by_mean, *by_peak;    /* their indices, the busiest first */
	struct triad_bundle *bundles; /* with traffic, the greatest imbalance first */
	size_t n_bundles;
};

/* The greater of both directions. */
double triad_link_mean_bps(const struct triad_link *link);
double triad_link_peak_bps(const struct triad_link *link);

/* Makes the links of ports; after triad_stats_end().  Returns 0 or ENOMEM. */
int triad_links_make(struct triad_links *links, const struct triad_stats *stats);
void triad_links_clear(struct triad_links *links);

#endif
