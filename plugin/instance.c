/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/opensm.h"

#include "plugin/instance.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/console.h"
#include "plugin/control.h"
#include "plugin/election/elector.h"
#include "plugin/own_metrics.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/standby.h"
#include "plugin/worker.h"
#include "triad/clock.h"

#define STANDARD_CONF_PATH TRIAD_SYSCONFDIR "/triad.conf"

/* --- configuration --- */

/* Writes where the file is: 'conf=PATH' among event_plugin_options, else the standard
 * place when there is a file. */
static void find_conf(struct triad_plugin *plugin)
{
	const char *options = plugin->osm->subn.opt.event_plugin_options;
	const char *at = options ? strstr(options, "conf=") : NULL;

	if (at && (at == options || strchr(" \t,;", at[-1]))) {
		at += strlen("conf=");
		snprintf(plugin->conf_path, sizeof(plugin->conf_path), "%.*s",
			(int)strcspn(at, " \t,;"), at);
	} else if (access(STANDARD_CONF_PATH, F_OK) == 0) {
		snprintf(plugin->conf_path, sizeof(plugin->conf_path), "%s",
			STANDARD_CONF_PATH);
	}
}

static void log_diags(struct triad_plugin *plugin, const struct triad_diags *diags)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_log_write(plugin->log, TRIAD_LOG_ERROR, "%s", text);
	}
}

/* Puts the configuration into force that is in 'plugin'. */
static void apply_conf(struct triad_plugin *plugin)
{
	struct triad_conf conf = plugin->conf;

	if (plugin->conf_state == TRIAD_CONF_BROKEN) {
		/* Nothing goes out on the word of a file with mistakes. */
		triad_conf_init(&conf, plugin->port_guid);
		conf.log = plugin->conf.log;
		conf.control = plugin->conf.control;
		conf.perfmgr.enabled = false;
		conf.qos.enabled = false;
		conf.qos.tables_enabled = false;
		conf.qos.partition_groups = false;
		conf.election.enabled = false;
		conf.port.enabled = false;
	}
	atomic_store(&plugin->osmlog.log.level, (int)conf.log.level);
	atomic_store(&plugin->osmlog.syslog, conf.log.syslog);
	triad_alert_log_configure(plugin->alert_log, &conf);
	triad_exports_configure(plugin->exports, &conf);
	triad_qos_configure(plugin->qos, &conf);
	triad_elector_configure(plugin->elector, &conf);
	triad_ports_configure(plugin->ports, &conf);
	if (triad_perf_configure(plugin->perf, &conf))
		triad_log_write(plugin->log, TRIAD_LOG_ERROR,
			"not enough memory to put the configuration into force; type "
			"'triadctl reload' to try again");
	if (plugin->control)
		triad_control_set_max_clients(
			plugin->control, conf.control.max_clients);
}

static void load_first_conf(struct triad_plugin *plugin)
{
	find_conf(plugin);
	triad_conf_init(&plugin->conf, plugin->port_guid);
	plugin->conf_state = TRIAD_CONF_STANDARD;
	if (!plugin->conf_path[0])
		return;
	plugin->conf_state = TRIAD_CONF_LOADED;
	triad_diags_init(&plugin->conf_diags, plugin->conf_path);
	if (!triad_conf_load(plugin->conf_path, plugin->port_guid, &plugin->conf,
		    &plugin->conf_diags))
		return;
	plugin->conf_state = TRIAD_CONF_BROKEN;
	log_diags(plugin, &plugin->conf_diags);
	triad_log_write(plugin->log, TRIAD_LOG_ERROR,
		"%s: %zu mistake(s): Triad stays idle, OpenSM goes on without it; mend "
		"the file and type 'triadctl reload'",
		plugin->conf_path, plugin->conf_diags.n_total);
}

void triad_plugin_get_conf(struct triad_plugin *plugin, struct triad_conf *conf)
{
	pthread_mutex_lock(&plugin->conf_lock);
	*conf = plugin->conf;
	pthread_mutex_unlock(&plugin->conf_lock);
}

int triad_plugin_reload(struct triad_plugin *plugin, struct triad_diags *diags)
{
	struct triad_conf conf;
	int error;

	pthread_mutex_lock(&plugin->conf_lock);
	if (!plugin->conf_path[0])
		find_conf(plugin); /* there may be one by now */
	pthread_mutex_unlock(&plugin->conf_lock);
	triad_diags_init(diags, plugin->conf_path);
	if (!plugin->conf_path[0]) {
		triad_diags_add(diags, 0, 0,
			"the plugin was started without a configuration file: give it "
			"one in opensm.conf, event_plugin_options conf=PATH, or "
			"as " STANDARD_CONF_PATH " and restart OpenSM");
		return ENOENT;
	}
	error = triad_conf_load(plugin->conf_path, plugin->port_guid, &conf, diags);
	pthread_mutex_lock(&plugin->conf_lock);
	if (error) {
		plugin->conf_diags = *diags;
	} else {
		triad_conf_keep_start_only(&conf, &plugin->conf, diags);
		plugin->conf_diags.n = 0;
		plugin->conf = conf;
		plugin->conf_state = TRIAD_CONF_LOADED;
		apply_conf(plugin);
	}
	pthread_mutex_unlock(&plugin->conf_lock);
	if (error)
		log_diags(plugin, diags);
	triad_log_write(plugin->log, error ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO, "%s: %s",
		plugin->conf_path,
		error ? "not loaded; the configuration in force stays" : "loaded");
	return error ? EINVAL : 0;
}

int triad_plugin_set(struct triad_plugin *plugin, const char *key, const char *value,
	struct triad_diags *diags)
{
	int error;

	triad_diags_init(diags, "set");
	pthread_mutex_lock(&plugin->conf_lock);
	error = triad_conf_set(&plugin->conf, key, value, plugin->port_guid, diags);
	if (!error)
		apply_conf(plugin);
	pthread_mutex_unlock(&plugin->conf_lock);
	if (!error)
		triad_log_write(plugin->log, TRIAD_LOG_INFO,
			"%s = %s, until the next "
			"reload or restart",
			key, value);
	return error;
}

/* --- life --- */

static size_t give_own_metrics(void *context, struct triad_metric *room, size_t n)
{
	return triad_own_metrics(context, room, n);
}

static struct triad_perf *make_perf(struct triad_plugin *plugin)
{
	struct triad_alerts_sink sink = triad_alert_log_sink(plugin->alert_log);

	return triad_perf_new(plugin->port_guid, &sink, plugin->log);
}

struct triad_plugin *triad_plugin_new(struct osm_opensm *osm)
{
	struct triad_plugin *plugin = calloc(1, sizeof(*plugin));

	if (!plugin)
		return NULL;
	plugin->osm = osm;
	plugin->port_guid = cl_ntoh64(osm->subn.sm_port_guid);
	plugin->started_us = triad_clock_now_us();
	triad_osmlog_init(&plugin->osmlog, &osm->log);
	plugin->log = &plugin->osmlog.log;
	pthread_mutex_init(&plugin->conf_lock, NULL);
	load_first_conf(plugin);
	plugin->events = triad_events_new();
	plugin->alert_log = triad_alert_log_new(plugin->log);
	if (plugin->alert_log)
		plugin->perf = make_perf(plugin);
	if (plugin->perf)
		plugin->exports = triad_exports_new(
			plugin->perf, give_own_metrics, plugin, plugin->log);
	if (plugin->perf)
		plugin->standby =
			triad_standby_new(plugin->port_guid, plugin->perf, plugin->log);
	plugin->hold = triad_hold_new();
	if (plugin->exports && plugin->hold)
		plugin->qos = triad_qos_new(osm, plugin->conf.qos.threads,
			triad_exports_sampler(plugin->exports), plugin->hold,
			plugin->log);
	if (plugin->qos)
		plugin->elector =
			triad_elector_new(osm, plugin->port_guid, plugin->log);
	if (plugin->elector)
		plugin->ports = triad_ports_new(osm, plugin->port_guid, plugin->elector,
			plugin->hold, plugin->log);
	if (plugin->events && plugin->standby && plugin->ports)
		plugin->worker = triad_worker_new(osm, plugin->log, plugin->events,
			plugin->perf, plugin->standby, plugin->qos, plugin->ports);
	if (!plugin->worker) {
		triad_log_write(plugin->log, TRIAD_LOG_ERROR,
			"not enough memory or threads: Triad stays off");
		triad_perf_stop(plugin->perf);
		triad_plugin_free(plugin);
		return NULL;
	}
	apply_conf(plugin);
	triad_log_write(plugin->log, TRIAD_LOG_INFO,
		"Triad " PACKAGE_VERSION " on port 0x%016" PRIx64 ", configuration: %s",
		plugin->port_guid,
		plugin->conf_path[0] ? plugin->conf_path : "defaults");
	return plugin;
}

void triad_plugin_free(struct triad_plugin *plugin)
{
	bool ended = triad_exports_stop(plugin->exports);

	triad_worker_free(plugin->worker);
	/* It says what it did by the election's transport. */
	if (triad_ports_free(plugin->ports))
		ended &= triad_elector_free(plugin->elector);
	else
		ended = false;
	triad_qos_free(plugin->qos);
	if (ended)
		triad_hold_free(plugin->hold);
	triad_standby_free(plugin->standby);
	triad_console_free(plugin->console);
	if (ended) {
		triad_exports_free(plugin->exports);
		triad_perf_free(plugin->perf);
	}
	ended &= triad_alert_log_free(plugin->alert_log);
	triad_events_free(plugin->events);
	triad_log_write(plugin->log, TRIAD_LOG_INFO, "ended");
	/* A thread that is stuck in a write keeps what it reads until the process ends,
	 * which is soon; what it has to say would go to a log that OpenSM closed. */
	if (!ended) {
		atomic_store(&plugin->osmlog.log.level, -1);
		return;
	}
	pthread_mutex_destroy(&plugin->conf_lock);
	free(plugin);
}
