/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/exports.h"

#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"
#include "triad/lists.h"

struct triad_exports {
	struct triad_log *log;
	struct triad_sflow *sflow;
};

struct triad_exports *triad_exports_new(struct triad_perf *perf, struct triad_log *log)
{
	struct triad_exports *exports = calloc(1, sizeof(*exports));

	if (!exports)
		return NULL;
	exports->log = log;
	exports->sflow = triad_sflow_new(perf, log);
	if (exports->sflow)
		return exports;
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
	free(exports);
}

/* What triad.conf has was checked, so its lists can be read. */
static void configure_sflow(
	struct triad_exports *exports, const struct triad_conf *conf)
{
	struct triad_sflow_params params = {
		.interval_us = conf->sflow.interval_s * TRIAD_US_PER_S,
		.mtu = conf->sflow.mtu,
		.has_agent = conf->sflow.agent[0],
	};
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t n = 0;
	int error;

	(void)triad_addresses_parse(conf->sflow.collectors, TRIAD_CONF_SFLOW_PORT,
		params.collectors, TRIAD_SFLOW_MAX_COLLECTORS, &n, reason,
		sizeof(reason));
	params.n_collectors = (unsigned)n;
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
}

struct triad_sflow_sender_status triad_exports_sflow_status(
	struct triad_exports *exports)
{
	return triad_sflow_status(exports->sflow);
}

struct triad_sflow_indices *triad_exports_sflow_indices(struct triad_exports *exports)
{
	return triad_sflow_indices(exports->sflow);
}
