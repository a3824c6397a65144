/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The exports of counters: the text for Prometheus, sFlow, sections of profiles.
 *
 * sFlow has a thread of its own that reads published state.
 *
 * Thread-safety: any thread, for all but new, stop and free. */
#ifndef TRIAD_SERVICE_EXPORTS_H
#define TRIAD_SERVICE_EXPORTS_H

#include "perfmgr/formats/metrics.h"
#include "service/perf.h"
#include "service/profile.h"
#include "service/sflow.h"
#include "service/devices.h"
#include "triad/conf.h"
#include "triad/log.h"
#include "triad/output.h"

struct triad_exports;

/* 'perf' and 'devices' must outlive it; 'port_guid' is that of the local port.  Calls
 * 'own', which fills 'room' with at most 'n' metrics and returns how many, and 'routes'
 * (see struct triad_metrics_params) with 'context'.  NULL when memory is short. */
struct triad_exports *triad_exports_new(struct triad_perf *perf,
	struct triad_device_reader *devices, uint64_t port_guid,
	size_t (*own)(void *context, struct triad_metric *room, size_t n),
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric),
	void *context, struct triad_log *log);

/* Ends the thread; before triad_perf_free(), and before what own() reads goes.  Accepts
 * NULL. */
void triad_exports_stop(struct triad_exports *exports);

/* After triad_exports_stop().  Accepts NULL. */
void triad_exports_free(struct triad_exports *exports);

/* Logs what can't be put into force. */
void triad_exports_configure(
	struct triad_exports *exports, const struct triad_conf *conf);

/* The sampler of requests to the SA, for sFlow; valid until triad_exports_free(). */
struct triad_sampler *triad_exports_sampler(struct triad_exports *exports);

/* See triad_sflow_sender_indices(). */
struct triad_sflow_indices *triad_exports_sflow_indices(struct triad_exports *exports);

/* Writes the text for Prometheus as it is now.  False: memory is short. */
bool triad_exports_put_metrics(struct triad_exports *exports,
	enum triad_exposition_format format, const struct triad_metrics_filter *filter,
	struct triad_output *output);

/* Valid until triad_exports_free(). */
struct triad_profile *triad_exports_profile(struct triad_exports *exports);
struct triad_sflow_sender_status triad_exports_sflow_status(
	struct triad_exports *exports);

#endif
