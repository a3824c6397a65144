/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slow links as findings of alerts.
 *
 * Model: each link that is a fault (ib/slow_links.h) is a finding of its own, so that it joins
 * what else is wrong with its cable.  But links alike, of the same rate, that are more than
 * TRIAD_SLOW_MAX_ALONE have one reason, an old partition or a batch of cables: they are one
 * finding, at the first of them, with their number.
 * Links are compared once for each fabric.
 *
 * Thread-safety: none.  Memory: the slow links of one fabric, which is referenced. */
#ifndef TRIAD_PERFMGR_SLOW_FINDER_H
#define TRIAD_PERFMGR_SLOW_FINDER_H

#include "ib/slow_links.h"
#include "perfmgr/watch/finders.h"
#include "triad/fabric.h"

/* All zero at first. */
struct triad_slow_finder {
	struct triad_fabric *fabric;   /* NULL: none yet */
	struct triad_slow_links *slow; /* NULL: memory was short */
};

/* How many links are slow: faults; and slower than most because an end can't do better. */
struct triad_slow_counts {
	uint32_t n_faults, n_by_end;
};

/* Compares the links of 'fabric', which becomes the finder's. */
struct triad_slow_counts triad_slow_finder_look(
	struct triad_slow_finder *finder, struct triad_fabric *fabric);
/* Adds the slow links; none when memory was short. */
void triad_slow_finder_give(
	const struct triad_slow_finder *finder, struct triad_found *found);
void triad_slow_finder_clear(struct triad_slow_finder *finder);

#endif
