/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Metrics for Prometheus about Triad itself in OpenSM, beside those of the service.
 *
 * Thread-safety: any thread, while the instance lives. */
#ifndef TRIAD_PLUGIN_OWN_METRICS_H
#define TRIAD_PLUGIN_OWN_METRICS_H

struct triad_own_metrics;

/* The 'add_metrics' of struct triad_service_owner; 'context' is the plugin. */
void triad_plugin_add_metrics(void *context, struct triad_own_metrics *list);

#endif
