/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ports did in the last interval between two readings, as congestion/ wants it: how
 * much of the time they sent and waited, and which VLs waited.
 *
 * Thread-safety: any thread.  Source: rows of a view. */
#ifndef TRIAD_SERVICE_CONGESTION_LOADS_H
#define TRIAD_SERVICE_CONGESTION_LOADS_H

#include "congestion/planes.h"
#include "congestion/roots.h"
#include "perfmgr/view.h"

/* For each port of 'fabric', which may be another one than the view's; the caller frees
 * it.  NULL when memory is short. */
struct triad_congestion_load *triad_congestion_loads_of(
	const struct triad_view *view, const struct triad_fabric *fabric);

/* Fills 'by_vl', whose 'waits' the caller frees: of those ports whose VLs were read in the
 * interval.  Returns 0 or ENOMEM. */
int triad_congestion_read_by_vl(const struct triad_view *view,
	const struct triad_fabric *fabric, const struct triad_congestion_load *loads,
	const struct triad_congestion_planes *planes,
	const struct triad_congestion_limits *limits,
	struct triad_congestion_by_vl *by_vl);

#endif
