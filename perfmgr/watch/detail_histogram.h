/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of how fast a detail field (ib/detail.h) grows at ports, VLs, SLs or
 * lanes.
 *
 * Model: each counter of the field gives one value: its change per second between its
 * last two readings; a counter not read twice gives none.  Unlike the histograms of
 * counters, which add up sweeps (histograms.h), this one shows one moment: details are
 * read too seldom to add up, and a manager has the details of all its agents.
 *
 * Thread-safety: functions without state; see triad_details_read(). */
#ifndef TRIAD_PERFMGR_DETAIL_HISTOGRAM_H
#define TRIAD_PERFMGR_DETAIL_HISTOGRAM_H

#include "perfmgr/watch/histograms.h"

/* Fills 'copy' (the caller clears it) with triad_detail_fields[field] at the ports of
 * 'scope', and '*n_zeros' with its zeros.  Returns 0; ENOENT: there is no such node or
 * port; ENOMEM. */
int triad_detail_histogram(const struct triad_view *view,
	const struct triad_histograms_scope *scope, unsigned field,
	struct triad_histogram *copy, uint64_t *n_zeros);

#endif
