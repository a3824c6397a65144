/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports the check of routes to 'health', to Prometheus and to alerts.
 *
 * Thread-safety: any thread, while the service lives. */
#ifndef TRIAD_SERVICE_HEALTH_ROUTES_H
#define TRIAD_SERVICE_HEALTH_ROUTES_H

#include <stdint.h>

#include "perfmgr/watch/watch.h"
#include "triad/fabric.h"

struct triad_health;
struct triad_own_metrics;
struct triad_service;

void triad_routes_add_health(
	struct triad_health *health, struct triad_service *service);
void triad_routes_add_metrics(
	struct triad_own_metrics *list, struct triad_service *service);

/* For struct triad_finder; 'context' is the service. */
void triad_routes_give(void *context, struct triad_found *found);

/* How many pairs of hosts have their route out of each port of 'fabric'; the caller
 * frees it.  NULL: not known for this fabric. */
uint64_t *triad_routes_copy_pairs(
	struct triad_service *service, const struct triad_fabric *fabric);

#endif
