/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The exports of counters: Prometheus, sFlow, a profile file.
 *
 * Each export has a thread of its own that reads published state: a stuck one holds up
 * neither the sweep nor the others.
 *
 * Thread-safety: any thread, for all but new, stop and free. */
#ifndef TRIAD_SERVICE_EXPORTS_H
#define TRIAD_SERVICE_EXPORTS_H

#include "perfmgr/export/http.h"
#include "perfmgr/export/metrics_handler.h"
#include "service/perf.h"
#include "service/profile.h"
#include "service/sflow.h"
#include "service/devices.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_exports;

/* 'perf' and 'devices' must outlive it; 'port_guid' is that of the local port.  Calls
 * 'own' and 'routes' (see struct triad_metrics_source) with 'context' until
 * triad_exports_stop().  NULL when memory is short. */
struct triad_exports *triad_exports_new(struct triad_perf *perf,
	struct triad_device_reader *devices, uint64_t port_guid,
	size_t (*own)(void *context, struct triad_metric *room, size_t n),
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric),
	void *context, struct triad_log *log);

/* Ends the threads; before triad_perf_free(), and before what own() reads goes.
 * Returns false when one is stuck in a write: then it and 'perf' must stay.  Accepts
 * NULL. */
bool triad_exports_stop(struct triad_exports *exports);

/* After triad_exports_stop() returned true.  Accepts NULL. */
void triad_exports_free(struct triad_exports *exports);

/* Logs what can't be put into force. */
void triad_exports_configure(
	struct triad_exports *exports, const struct triad_conf *conf);

/* The sampler of requests to the SA, for sFlow; valid until triad_exports_free(). */
struct triad_sampler *triad_exports_sampler(struct triad_exports *exports);

/* See triad_sflow_sender_indices(). */
struct triad_sflow_indices *triad_exports_sflow_indices(struct triad_exports *exports);

struct triad_http_status triad_exports_http_status(struct triad_exports *exports);
struct triad_profile_status triad_exports_profile_status(struct triad_exports *exports);
struct triad_sflow_sender_status triad_exports_sflow_status(
	struct triad_exports *exports);

#endif
