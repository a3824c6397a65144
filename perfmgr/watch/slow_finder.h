/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slow links as findings of alerts.
 *
 * Model: each link that is a fault (ib/slow_links.h) is a finding of its own, so that it joins
 * what else is wrong with its cable.  But links alike, of the same rate, that are more than
 * TRIAD_SLOW_MAX_ALONE have one reason, an old partition or a batch of cables: they are one
 * finding, at the first of them, with their number.
 *
 * Thread-safety: the caller's of 'found'. */
#ifndef TRIAD_PERFMGR_SLOW_FINDER_H
#define TRIAD_PERFMGR_SLOW_FINDER_H

#include "perfmgr/watch/finders.h"
#include "triad/fabric.h"

/* Adds the fabric's slow links; none when memory is short. */
void triad_slow_links_give(
	const struct triad_fabric *fabric, struct triad_found *found);

#endif
