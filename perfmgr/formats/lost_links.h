/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that went down, indexed by port, and those of their ends that have left the
 * fabric.
 *
 * Thread-safety: none; immutable after init.
 * Memory: a copy of the links, and an index of 16 octets for each end. */
#ifndef TRIAD_PERFMGR_LOST_LINKS_H
#define TRIAD_PERFMGR_LOST_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/watch/links.h"

struct triad_lost_end {
	const struct triad_link *link;
	unsigned end; /* index in link->ends */
};

struct triad_lost_links {
	struct triad_link *links;
	struct triad_lost_end *ends; /* all, sorted by node GUID and port */
	struct triad_lost_end *gone; /* those whose ports left the fabric, in the same
	                              * order */
	uint32_t n_ends, n_gone;
};

/* Copies 'n' links; 'fabric' may be NULL.  Returns false when memory is short. */
bool triad_lost_links_init(struct triad_lost_links *lost,
	const struct triad_link *links, uint32_t n, const struct triad_fabric *fabric);
void triad_lost_links_clear(struct triad_lost_links *lost);

/* The end at a port; NULL: its link never went down. */
const struct triad_lost_end *triad_lost_links_find(
	const struct triad_lost_links *lost, uint64_t node_guid, uint8_t port);

static inline const struct triad_link_end *triad_lost_end_near(
	const struct triad_lost_end *end)
{
	return &end->link->ends[end->end];
}

static inline const struct triad_link_end *triad_lost_end_far(
	const struct triad_lost_end *end)
{
	return &end->link->ends[!end->end];
}

#endif
