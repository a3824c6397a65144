/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast a field of details (ib/detail.h) grows at how many ports, VLs, SLs or lanes.
 *
 * Model: one value for each counter of the field: its change per second between its last
 * two readings.  What was not read twice has none.  So, unlike the histograms of counters,
 * which add up sweeps (histograms.h), it is of one moment: details are read too seldom to
 * add them up, and a manager has all that its agents read.
 *
 * Thread-safety: functions without state; see triad_details_read(). */
#ifndef TRIAD_PERFMGR_DETAIL_HISTOGRAM_H
#define TRIAD_PERFMGR_DETAIL_HISTOGRAM_H

#include "perfmgr/watch/histograms.h"

/* Of triad_detail_fields[field], at the ports of 'scope', into 'copy' (to be cleared by
 * the caller), its zeros into '*n_zeros'.  Returns 0; ENOENT: there is no such node or
 * port; ENOMEM. */
int triad_detail_histogram(const struct triad_view *view,
	const struct triad_histograms_scope *scope, unsigned field,
	struct triad_histogram *copy, uint64_t *n_zeros);

#endif
