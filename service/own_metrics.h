/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Metrics of Triad itself for Prometheus, beside the counters of ports.
 *
 * Thread-safety: any thread, while the service lives. */
#ifndef TRIAD_SERVICE_OWN_METRICS_H
#define TRIAD_SERVICE_OWN_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "perfmgr/formats/metrics.h"
#include "service/fact.h"

struct triad_service;

/* A list that metrics are appended to; it counts those that have no room. */
struct triad_own_metrics {
	struct triad_metric *room;
	size_t n, most;
	size_t n_dropped;
	struct triad_metric nowhere; /* takes metrics that have no room */
};

/* Fills 'room' with at most 'n' metrics, those of the service's owner first, and
 * returns how many. */
size_t triad_own_metrics(
	struct triad_service *service, struct triad_metric *room, size_t n);

/* Appends a metric, to which the caller may add labels.  'name' and 'help' must outlive
 * the list. */
struct triad_metric *triad_own_add(struct triad_own_metrics *list,
	enum triad_metric_type type, const char *name, const char *help, double value);
void triad_own_count(struct triad_own_metrics *list, const char *name, const char *help,
	uint64_t value);
void triad_own_gauge(struct triad_own_metrics *list, const char *name, const char *help,
	double value);

/* The facts of a table that have a metric (service/fact.h), in its order; times that
 * never were are left out. */
void triad_own_facts(struct triad_own_metrics *list, const struct triad_fact *facts,
	const void *status);

double triad_own_seconds(uint64_t us);

#endif
