/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/exports.h"

#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"
#include "triad/lists.h"

struct triad_exports {
	struct triad_log *log;
	struct triad_perf *perf;
	size_t (*own)(void *context, struct triad_metric *room, size_t n);
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric);
	void *own_context;
	struct triad_device_reader *devices;
	struct triad_metrics_hardware hardware; /* of 'devices' */
	struct triad_metrics_source metrics;
	struct triad_http_handler handler; /* of 'metrics' */
	struct triad_http *http;
	struct triad_sampler *sampler;
	struct triad_sflow *sflow;
	struct triad_profile *profile;
};

/* --- for the HTTP server --- */

/* NULL while counters are not read: a frozen total would look idle.  Also NULL at an SM
 * that has become master again, until its first sweep has ended: its totals are old. */
static struct triad_view *give_view(void *context)
{
	struct triad_exports *exports = context;

	if (triad_perf_status(exports->perf).finished_us <
		triad_perf_reads_since(exports->perf))
		return NULL;
	return triad_perf_view(exports->perf);
}

static struct triad_link *give_links(void *context, uint32_t *n)
{
	const struct triad_exports *exports = context;

	return triad_watch_copy_links(triad_perf_watch(exports->perf), n);
}

static struct triad_silences *give_silences(void *context)
{
	const struct triad_exports *exports = context;
	struct triad_watch *watch = triad_perf_watch(exports->perf);
	struct triad_silences *silences = NULL;

	if (triad_watch_status(watch).n_silences)
		silences = malloc(sizeof(*silences));
	if (silences)
		triad_watch_copy_silences(watch, silences);
	return silences;
}

static bool read_device(void *context, uint64_t guid, struct triad_device_known *copy)
{
	return triad_device_reader_read(context, guid, copy);
}

static bool read_cable(
	void *context, uint64_t guid, uint8_t number, struct triad_cable_known *copy)
{
	return triad_device_reader_read_port(context, guid, number, copy);
}

static const struct triad_metrics_hardware *give_hardware(void *context)
{
	const struct triad_exports *exports = context;

	return triad_device_reader_status(exports->devices).is_enabled
		? &exports->hardware
		: NULL;
}

static uint64_t *give_routes(void *context, const struct triad_fabric *fabric)
{
	struct triad_exports *exports = context;

	return exports->routes(exports->own_context, fabric);
}

static size_t give_own(void *context, struct triad_metric *room, size_t n)
{
	struct triad_exports *exports = context;

	return exports->own(exports->own_context, room, n);
}

/* --- life --- */

struct triad_exports *triad_exports_new(struct triad_perf *perf,
	struct triad_device_reader *devices, uint64_t port_guid,
	size_t (*own)(void *context, struct triad_metric *room, size_t n),
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric),
	void *context, struct triad_log *log)
{
	struct triad_exports *exports = calloc(1, sizeof(*exports));
	struct triad_http_callbacks callbacks = {
		.section = "prometheus", .what = "counters are", .path = "metrics"};

	if (!exports)
		return NULL;
	exports->log = log;
	exports->perf = perf;
	exports->devices = devices;
	exports->hardware = (struct triad_metrics_hardware){
		.read = read_device, .read_port = read_cable, .context = devices};
	exports->own = own;
	exports->routes = routes;
	exports->own_context = context;
	exports->metrics = (struct triad_metrics_source){.view = give_view,
		.links = give_links,
		.silences = give_silences,
		.hardware = give_hardware,
		.routes = give_routes,
		.own = give_own,
		.context = exports};
	exports->handler = triad_metrics_handler(&exports->metrics);
	callbacks.handler = &exports->handler;
	exports->http = triad_http_new(&callbacks, log);
	exports->sampler = triad_sampler_new(triad_clock_wall_us());
	if (exports->sampler)
		exports->sflow = triad_sflow_new(perf, exports->sampler, log);
	exports->profile = triad_profile_new(perf, port_guid, log);
	if (exports->http && exports->sflow && exports->profile)
		return exports;
	(void)triad_exports_stop(exports);
	triad_exports_free(exports);
	return NULL;
}

bool triad_exports_stop(struct triad_exports *exports)
{
	if (!exports)
		return true;
	triad_sflow_stop(exports->sflow);
	/* NULL stops the server; its status can still be read. */
	if (exports->http)
		(void)triad_http_configure(exports->http, NULL);
	return triad_profile_stop(exports->profile);
}

void triad_exports_free(struct triad_exports *exports)
{
	if (!exports)
		return;
	triad_http_free(exports->http);
	triad_sflow_free(exports->sflow);
	triad_sampler_free(exports->sampler);
	triad_profile_free(exports->profile);
	free(exports);
}

/* --- configuration --- */

/* Clients of /metrics: scrapers are few, and addresses that were served come in before
 * others. */
#define MAX_CLIENTS 16

/* Octets of a datagram with its headers: it passes Ethernet whole, by a tunnel, too. */
#define SFLOW_MTU 1400

/* Parses lists of triad.conf; reading the file has checked them. */
static void configure_sflow(
	struct triad_exports *exports, const struct triad_conf *conf)
{
	struct triad_sflow_params params = {
		.interval_us = conf->sflow.interval_s * TRIAD_US_PER_S,
		.mtu = SFLOW_MTU,
		.has_agent = conf->sflow.agent[0],
	};
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t n = 0;
	int error;

	(void)triad_addresses_parse(conf->sflow.collectors, TRIAD_CONF_SFLOW_PORT,
		params.collectors, TRIAD_SFLOW_MAX_COLLECTORS, &n, reason,
		sizeof(reason));
	params.n_collectors = (unsigned)n;
	triad_sampler_set_rate(exports->sampler, n ? conf->sflow.sampling_rate : 0);
	if (params.has_agent)
		(void)triad_ip_parse(
			conf->sflow.agent, &params.agent, reason, sizeof(reason));
	error = triad_sflow_configure(exports->sflow, &params);
	if (error)
		triad_log_write(exports->log, TRIAD_LOG_ERROR,
			"sflow: no thread for it: %s; no samples are sent, type 'triadctl "
			"reload' to try again",
			strerror(error));
}

static void configure_profile(
	struct triad_exports *exports, const struct triad_conf *conf)
{
	int error = triad_profile_configure(exports->profile, conf);

	if (error)
		triad_log_write(exports->log, TRIAD_LOG_ERROR,
			"profile: no thread for it: %s; nothing is written, type 'triadctl "
			"reload' to try again",
			strerror(error));
}

void triad_exports_configure(
	struct triad_exports *exports, const struct triad_conf *conf)
{
	/* Ignore an error: http logs an address or a file that it can't use, and goes
	 * on as before. */
	(void)triad_http_configure_listener(
		exports->http, &conf->prometheus, MAX_CLIENTS, conf->web.names);
	configure_sflow(exports, conf);
	configure_profile(exports, conf);
}

struct triad_profile_status triad_exports_profile_status(struct triad_exports *exports)
{
	return triad_profile_status(exports->profile);
}

struct triad_http_status triad_exports_http_status(struct triad_exports *exports)
{
	return triad_http_status(exports->http);
}

struct triad_sflow_sender_status triad_exports_sflow_status(
	struct triad_exports *exports)
{
	return triad_sflow_status(exports->sflow);
}

struct triad_sampler *triad_exports_sampler(struct triad_exports *exports)
{
	return exports->sampler;
}

struct triad_sflow_indices *triad_exports_sflow_indices(struct triad_exports *exports)
{
	return triad_sflow_indices(exports->sflow);
}
