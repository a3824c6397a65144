/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports congestion to 'health', to Prometheus and to alerts.
 *
 * Thread-safety: any thread, while the service lives. */
#ifndef TRIAD_SERVICE_HEALTH_CONGESTION_H
#define TRIAD_SERVICE_HEALTH_CONGESTION_H

struct triad_found;
struct triad_health;
struct triad_own_metrics;
struct triad_service;

void triad_congestion_add_health(
	struct triad_health *health, struct triad_service *service);
void triad_congestion_add_metrics(
	struct triad_own_metrics *list, struct triad_service *service);

/* For struct triad_finder; 'context' is the service. */
void triad_congestion_give(void *context, struct triad_found *found);

#endif
