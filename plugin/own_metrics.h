/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What Prometheus is told of Triad itself, beside the counters of ports.
 *
 * Thread-safety: any thread, while the instance lives. */
#ifndef TRIAD_PLUGIN_OWN_METRICS_H
#define TRIAD_PLUGIN_OWN_METRICS_H

#include <stddef.h>

#include "perfmgr/formats/metrics.h"

struct triad_plugin;

/* Fills 'room' with at most 'n' metrics and returns how many. */
size_t triad_own_metrics(
	struct triad_plugin *plugin, struct triad_metric *room, size_t n);

#endif
