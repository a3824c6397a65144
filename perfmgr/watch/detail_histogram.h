/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A histogram of how fast a field of details (ib/detail.h) grows, over ports, VLs, SLs or
 * lanes.
 *
 * Model: one value for each counter of the field: its change per second between its last
 * two readings.  A counter that was not read twice has none.  Histograms of counters add up
 * sweeps (histograms.h), but this one is of one moment: details are read too rarely to add
 * them up, and a manager has all details of its agents.
 *
 * Thread-safety: functions without state; see triad_details_read(). */
#ifndef TRIAD_PERFMGR_DETAIL_HISTOGRAM_H
#define TRIAD_PERFMGR_DETAIL_HISTOGRAM_H

#include "perfmgr/watch/histograms.h"

/* Makes the histogram of triad_detail_fields[field] at the ports of 'scope' in 'copy',
 * which the caller clears; '*n_zeros' gets its zeros.  Returns 0; ENOENT: there is no such
 * node or port; ENOMEM. */
int triad_detail_histogram(const struct triad_view *view,
	const struct triad_histograms_scope *scope, unsigned field,
	struct triad_histogram *copy, uint64_t *n_zeros);

#endif
