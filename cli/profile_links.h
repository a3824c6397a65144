/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links, made of the ports that profiles have; and which of them are parallel.
 *
 * Model: a link has two directions.  What goes from A to B is what A sent or, where A
 * was not read, what B received.  The end with the lower GUID, then port number, is A.
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

enum { TRIAD_LINK_THERE, TRIAD_LINK_BACK, TRIAD_LINK_WAYS }; /* A to B, B to A */

struct triad_link {
	uint64_t guid[2]; /* of A's node and B's; B's 0: not known */
	uint8_t port[2];
	uint32_t mbps; /* 0: not known */
	double mean_bps[TRIAD_LINK_WAYS], peak_bps[TRIAD_LINK_WAYS];
	uint64_t peak_us[TRIAD_LINK_WAYS]; /* when it was; 0: never */
};

struct triad_bundle {
	size_t first; /* of its links, in the order of their ends */
	unsigned n_links;
	unsigned way;             /* where the imbalance is */
	size_t busiest;           /* link of that way */
	double mean_bps, max_bps; /* of links, that way */
	double ratio;
};

struct triad_links {
	struct triad_link *links; /* in the order of their ends */
	size_t n_links;
	size_t *by_mean, *by_peak;    /* their indices, the busiest first */
	struct triad_bundle *bundles; /* with traffic, the most unlike first */
	size_t n_bundles;
};

/* The greater of both ways. */
double triad_link_mean_bps(const struct triad_link *link);
double triad_link_peak_bps(const struct triad_link *link);

/* Of ports that triad_stats_end() sorted.  Returns 0 or ENOMEM. */
int triad_links_make(struct triad_links *links, const struct triad_stats *stats);
void triad_links_clear(struct triad_links *links);

#endif
