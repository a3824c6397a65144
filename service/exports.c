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
	struct triad_sampler *sampler;
	struct triad_sflow *sflow;
	struct triad_profile *profile;
};

/* --- metrics --- */

#define MAX_OWN 512
#define PIECE_SIZE 16384

/* NULL while counters are not read: a frozen total would look idle.  Also NULL at an SM
 * that has become master again, until its first sweep has ended: its totals are old. */
static struct triad_view *find_view(struct triad_exports *exports)
{
	if (triad_perf_status(exports->perf).finished_us <
		triad_perf_reads_since(exports->perf))
		return NULL;
	return triad_perf_view(exports->perf);
}

static struct triad_silences *copy_silences(struct triad_exports *exports)
{
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

/* Triad's own, and the view of this moment. */
static struct triad_metrics *begin_metrics(struct triad_exports *exports,
	enum triad_exposition_format format, const struct triad_metrics_filter *filter,
	const struct triad_metrics_hardware *hardware)
{
	struct triad_metric *own = calloc(MAX_OWN, sizeof(*own));
	struct triad_metrics_params params = {
		.format = format, .filter = *filter, .own = own};
	struct triad_silences *silences;
	struct triad_metrics *metrics;
	struct triad_link *links;

	if (!own)
		return NULL;
	params.n_own = exports->own(exports->own_context, own, MAX_OWN);
	params.view = find_view(exports);
	params.links = links = triad_watch_copy_links(
		triad_perf_watch(exports->perf), &params.n_links);
	if (triad_device_reader_status(exports->devices).is_enabled)
		params.hardware = hardware;
	params.silences = silences = copy_silences(exports);
	if (params.view)
		params.routes =
			exports->routes(exports->own_context, params.view->fabric);
	metrics = triad_metrics_new(&params);
	free(silences);
	free(links);
	triad_view_unref(params.view);
	free(own);
	return metrics;
}

bool triad_exports_put_metrics(struct triad_exports *exports,
	enum triad_exposition_format format, const struct triad_metrics_filter *filter,
	struct triad_output *output)
{
	const struct triad_metrics_hardware hardware = {.read = read_device,
		.read_port = read_cable,
		.context = exports->devices};
	struct triad_metrics *metrics =
		begin_metrics(exports, format, filter, &hardware);
	char *piece = metrics ? malloc(PIECE_SIZE) : NULL;
	bool has_memory = piece;
	size_t n;

	while (piece && !output->failed &&
		(n = triad_metrics_fill(metrics, piece, PIECE_SIZE)))
		triad_output_put(output, piece, n);
	free(piece);
	triad_metrics_free(metrics);
	return has_memory;
}

/* --- life --- */

struct triad_exports *triad_exports_new(struct triad_perf *perf,
	struct triad_device_reader *devices, uint64_t port_guid,
	size_t (*own)(void *context, struct triad_metric *room, size_t n),
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric),
	void *context, struct triad_log *log)
{
	struct triad_exports *exports = calloc(1, sizeof(*exports));

	if (!exports)
		return NULL;
	exports->log = log;
	exports->perf = perf;
	exports->devices = devices;
	exports->own = own;
	exports->routes = routes;
	exports->own_context = context;
	exports->sampler = triad_sampler_new(triad_clock_wall_us());
	if (exports->sampler)
		exports->sflow = triad_sflow_new(perf, exports->sampler, log);
	exports->profile = triad_profile_new(perf, port_guid);
	if (exports->sflow && exports->profile)
		return exports;
	triad_exports_stop(exports);
	triad_exports_free(exports);
	return NULL;
}

void triad_exports_stop(struct triad_exports *exports)
{
	if (exports)
		triad_sflow_stop(exports->sflow);
}

void triad_exports_free(struct triad_exports *exports)
{
	if (!exports)
		return;
	triad_sflow_free(exports->sflow);
	triad_sampler_free(exports->sampler);
	triad_profile_free(exports->profile);
	free(exports);
}

/* --- configuration --- */

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

void triad_exports_configure(
	struct triad_exports *exports, const struct triad_conf *conf)
{
	configure_sflow(exports, conf);
	triad_profile_configure(exports->profile, conf);
}

struct triad_profile *triad_exports_profile(struct triad_exports *exports)
{
	return exports->profile;
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
