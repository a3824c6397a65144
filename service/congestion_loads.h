/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The load of ports between their last two readings, as input of congestion/: which
 * part of the time they sent and waited, and which VLs waited.
 *
 * Thread-safety: any thread.  Source: the rows of a view, and its details by VL. */
#ifndef TRIAD_SERVICE_CONGESTION_LOADS_H
#define TRIAD_SERVICE_CONGESTION_LOADS_H

#include "congestion/planes.h"
#include "congestion/roots.h"
#include "perfmgr/view.h"

/* The load of each port of 'fabric', which need not be the view's; the caller frees it.
 * NULL when memory is short. */
struct triad_congestion_load *triad_congestion_loads_of(
	const struct triad_view *view, const struct triad_fabric *fabric);

/* Fills 'by_vl' with the waiting ports whose VLs were read in the interval; the caller
 * frees its 'waits'.  Returns 0 or ENOMEM. */
int triad_congestion_read_by_vl(const struct triad_view *view,
	const struct triad_fabric *fabric, const struct triad_congestion_load *loads,
	const struct triad_congestion_planes *planes,
	const struct triad_congestion_limits *limits,
	struct triad_congestion_by_vl *by_vl);

#endif
