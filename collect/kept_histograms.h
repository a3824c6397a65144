/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of counters as a list of rows that images keep (history/kept.h,
 * lib/kept_list.h): a row for each counter over all ports, and in each group.
 *
 *     text group ("": all ports), then the histogram as in HISTOGRAM (collect/gather.h)
 *
 * Thread-safety: functions without state.  Memory: the list's. */
#ifndef TRIAD_COLLECT_KEPT_HISTOGRAMS_H
#define TRIAD_COLLECT_KEPT_HISTOGRAMS_H

#include "collect/gather.h"
#include "lib/kept_list.h"

void triad_kept_histograms_add(struct triad_kept_list *list, const char *group,
	unsigned counter, const struct triad_histogram *histogram, uint64_t n_zeros);

/* Returns 0, ENOENT (none for that group and counter) or EPROTO (not such a list). */
int triad_kept_histograms_find(const struct triad_kept_list *list, const char *group,
	unsigned counter, struct triad_gather_piece *piece);

#endif
