/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One Triad in one OpenSM: what the plugin's parts share.
 *
 * Life: entry.c makes it in OpenSM's create(), opens the ways to ask it (access.h), and
 * ends them and then it in delete().  The parts are made in the order of the members.
 *
 * Lock order: conf_lock before any part's own lock.  OpenSM's lock is taken
 * with none of ours held; ARCHITECTURE.md says where. */
#ifndef TRIAD_PLUGIN_INSTANCE_H
#define TRIAD_PLUGIN_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/alert_log.h"
#include "plugin/events.h"
#include "plugin/exports.h"
#include "plugin/osmlog.h"
#include "plugin/perf.h"
#include "triad/conf.h"
#include "triad/fabric.h"

struct osm_opensm;
struct triad_elector;
struct triad_hold;
struct triad_ports;
struct triad_qos;
struct triad_standby;
struct triad_worker;
struct triad_control;
struct triad_console;

enum triad_conf_state {
	TRIAD_CONF_STANDARD, /* no file: every key at its default */
	TRIAD_CONF_LOADED,
	TRIAD_CONF_BROKEN, /* the file at start had mistakes: nothing runs */
};

struct triad_plugin {
	struct osm_opensm *osm;
	uint64_t port_guid;
	uint64_t started_us;
	struct triad_osmlog osmlog;
	struct triad_log *log; /* &osmlog.log */

	pthread_mutex_t conf_lock; /* of the four that follow */
	struct triad_conf conf;
	enum triad_conf_state conf_state;
	struct triad_diags conf_diags; /* of the last load, if it failed */
	char conf_path[4096];          /* empty: none */

	struct triad_events *events;
	struct triad_alert_log *alert_log;
	struct triad_perf *perf;
	struct triad_exports *exports;
	struct triad_standby *standby;
	struct triad_qos *qos;
	struct triad_elector *elector;
	struct triad_hold *hold;
	struct triad_ports *ports;
	struct triad_worker *worker;
	/* Of access.c; NULL: off or failed.  Threads that were there before look. */
	_Atomic(struct triad_control *) control;
	_Atomic(struct triad_console *) console;
};

/* Returns NULL when OpenSM is not what the plugin was built for, or memory is short;
 * OpenSM then goes on without the plugin. */
struct triad_plugin *triad_plugin_new(struct osm_opensm *osm);

/* After triad_perf_stop() and triad_access_stop(). */
void triad_plugin_free(struct triad_plugin *plugin);

/* A copy of the configuration in force. */
void triad_plugin_get_conf(struct triad_plugin *plugin, struct triad_conf *conf);

/* Reads the file again.  Returns 0, with a line in 'diags' for each change that must
 * wait for a restart of OpenSM; ENOENT (there is no file) or EINVAL with the mistakes
 * in 'diags'; then the configuration in force stays. */
int triad_plugin_reload(struct triad_plugin *plugin, struct triad_diags *diags);

/* As triad_conf_set(), and puts it in force. */
int triad_plugin_set(struct triad_plugin *plugin, const char *key, const char *value,
	struct triad_diags *diags);

#endif
