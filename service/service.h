/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts that any process needs that reads counters: the configuration in force, the
 * PerfManager, alerts, exports, the topology from the SA, the control socket.  None of
 * them needs OpenSM.
 *
 * Model: an owner (the plugin, triad-agent) embeds a service, supplies callbacks and
 * texts for what differs between processes, and adds its own parts and commands.  Its
 * life, in this order: init (reads the configuration), start, the owner's parts,
 * put_in_force, open; then close, stop, the end of the owner's parts, free.
 *
 * Lock order: change_lock, then conf_lock, then any part's own lock.
 *
 * Thread-safety: any thread between open and close, for conf, reload and set. */
#ifndef TRIAD_SERVICE_SERVICE_H
#define TRIAD_SERVICE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/alert_log.h"
#include "service/collect.h"
#include "service/control.h"
#include "service/devices.h"
#include "service/exports.h"
#include "service/history_keeper.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "service/congestion_watcher.h"
#include "service/route_checker.h"
#include "service/sa_source.h"
#include "service/silence_keeper.h"
#include "service/web/web.h"
#include "service/webhook.h"
#include "triad/command.h"
#include "triad/conf.h"
#include "triad/output.h"

struct triad_health;
struct triad_own_metrics;
struct triad_service;

enum triad_conf_state {
	TRIAD_CONF_DEFAULT, /* no file: every key at its default */
	TRIAD_CONF_LOADED,
	TRIAD_CONF_BROKEN, /* the file at start had mistakes: nothing runs */
};

/* What differs between processes. */
struct triad_service_owner {
	void *context;
	const char *program;   /* what is restarted: "OpenSM" */
	const char *sm;        /* OSM_VERSION, "OpenSM 3.3.23"; NULL: none */
	bool may_manage;       /* it may be a manager, else only an agent */
	const char *no_fabric; /* why there is no topology, and what to do */
	const char *no_conf;   /* the same of a configuration file */
	const char *conf_path; /* its default path, if the file exists */
	const char *socket;    /* default of control.socket; NULL: the table's */

	/* Puts a configuration into force for the owner's own parts. */
	void (*put_in_force)(void *context, const struct triad_conf *conf);
	/* Adds the metrics of the owner's parts. */
	void (*add_metrics)(void *context, struct triad_own_metrics *metrics);
	/* Adds the health of the owner's parts. */
	void (*add_health)(void *context, struct triad_health *health);
	/* Runs a command; those that are the service's go to triad_service_run(). */
	int (*run)(void *context, const char *prefix,
		const struct triad_command *command, struct triad_output *output);
	/* Fills lists of the owner's commands for an image; NULL: it has none. */
	void (*fill_lists)(void *context, struct triad_kept_list *lists);
	/* Whether the owner has taken a port down; see struct triad_alerts_intent.  NULL: it
	 * takes none down. */
	bool (*took_down)(
		void *context, uint64_t node_guid, uint8_t number, bool is_disabled);
	/* What the check of routes asks; all NULL: nothing. */
	struct triad_route_source routes;
	/* What the SM here answers requests for paths; all NULL: nothing. */
	struct triad_path_source paths;
	/* Receives a topology from the SA; see struct triad_sa_source_user. */
	struct triad_sa_source_user source;
};

struct triad_service {
	const struct triad_service_owner *owner;
	uint64_t port_guid;
	uint64_t started_us;
	struct triad_log *log;
	struct triad_log_limit refused_limit; /* commands refused to readers */

	/* Held while a configuration is changed and put into force, which may take a while
	 * and waits for threads of the HTTP servers: so none of those may take it. */
	pthread_mutex_t change_lock;
	pthread_mutex_t conf_lock;     /* of the four that follow; held for a copy */
	const struct triad_conf *conf; /* NULL: there was no memory for it at init */
	enum triad_conf_state conf_state;
	struct triad_diags conf_diags; /* of the last load, if it failed */
	char conf_path[4096];          /* empty: none */

	struct triad_alert_log *alert_log;
	struct triad_webhook *webhook;
	struct triad_collect *collect;
	struct triad_perf *perf;
	struct triad_device_reader *devices;
	struct triad_silence_keeper *silences;
	struct triad_recorder *recorder;
	struct triad_history_keeper *history;
	struct triad_route_checker *routes;
	uint64_t recorded_routes; /* a hash; of the thread triad-routes alone */
	struct triad_congestion_watcher *congestion;
	struct triad_exports *exports;
	struct triad_web *web;
	struct triad_sa_source *source;
	/* NULL: off or failed.  Threads that started earlier read it. */
	_Atomic(struct triad_control *) control;
};

/* Reads the configuration from 'conf_path', or (NULL) from the owner's default path if
 * that file exists.  Mistakes are logged, and conf_state says so; then 'conf' has the
 * correct part.  'service' is zeros; 'owner' and 'log' outlive it. */
void triad_service_init(struct triad_service *service,
	const struct triad_service_owner *owner, uint64_t port_guid,
	const char *conf_path, struct triad_log *log);

/* Starts the threads; nothing is in force yet.  False when memory or threads are short;
 * call close, stop and free all the same. */
bool triad_service_start(struct triad_service *service);

/* Puts the configuration that was read into force, for the owner's parts too. */
void triad_service_put_in_force(struct triad_service *service);

/* Opens the control socket if the configuration has one. */
void triad_service_open(struct triad_service *service);

/* Ends reading counters, ends all waiting, and disconnects clients. */
void triad_service_close(struct triad_service *service);

/* After triad_service_close(): ends the exports, so that the owner's parts may end.
 * Returns false when a thread hangs in a write; it keeps what it reads. */
bool triad_service_stop(struct triad_service *service);

/* 'ended': all threads that read the service's parts have ended.  Returns false when
 * its own have not, or that is false: then 'service' and its log must stay. */
bool triad_service_free(struct triad_service *service, bool ended);

/* A reference to the configuration in force, for the caller to unref; after init, if
 * start succeeds. */
const struct triad_conf *triad_service_conf(struct triad_service *service);

/* The defaults, as triad_conf_new() makes them; for the caller to unref.  NULL: not
 * enough memory. */
const struct triad_conf *triad_service_standard(const struct triad_service *service);

enum triad_conf_state triad_service_conf_state(struct triad_service *service);

/* Reads the file as it is now, which changes nothing.  '*conf' is the caller's: as
 * triad_conf_load() leaves it, all defaults where there is no file, NULL where memory is
 * short.  Returns 0, ENODATA (there is no file) or another errno with the mistakes in
 * 'diags', whose 'source' is the file. */
int triad_service_read_file(struct triad_service *service, struct triad_conf **conf,
	struct triad_diags *diags);

/* Reads the file again.  Returns 0, with a line in 'diags' for each change that must
 * wait for a restart; ENOENT (there is no file) or EINVAL with the mistakes, or that
 * memory is short, in 'diags'; then the configuration in force stays. */
int triad_service_reload(struct triad_service *service, struct triad_diags *diags);

/* That parts are idle because of mistakes in the file, and what to do; NULL: they are
 * not. */
const char *triad_service_idle(struct triad_service *service);
/* Whether the key's value is in force all the same. */
bool triad_service_keeps_when_idle(const char *key);

/* Why counters are not read here, and what to do; NULL when they are. */
const char *triad_service_trouble(struct triad_service *service);

/* As triad_conf_set(), and puts it in force.  Also returns EBUSY while parts are idle
 * because of mistakes in the file, for keys that would not be in force. */
int triad_service_set(struct triad_service *service, const char *key, const char *value,
	struct triad_diags *diags);

/* The functions of a 'struct triad_runner'; 'context' is the service.  What a user may
 * do by the configuration in force: */
enum triad_role triad_service_role(void *context, const struct triad_peer *peer);

/* Parses words and has the owner run the command, unless the command changes something
 * and the user may only read. */
int triad_service_ask(void *context, const struct triad_asker *asker, int n_words,
	const char *const *words, struct triad_output *output);

/* Whether the command is answered in this process. */
bool triad_service_has(void *context, enum triad_command_verb verb);

/* Runs a command of the service's: help, health, perf, alerts, set, reload.  Returns
 * TRIAD_CONTROL_DONE, _FAILED or _USAGE; for other commands _FAILED, with a message. */
int triad_service_run(struct triad_service *service, const char *prefix,
	const struct triad_command *command, struct triad_output *output);

#endif
