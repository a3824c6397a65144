/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of every process that reads counters: the configuration in force, the
 * PerfManager, alerts, exports, the topology from the SA, the control socket.  None of
 * them needs OpenSM.
 *
 * Model: an owner (the plugin, triad-agent) embeds a service, supplies callbacks and
 * texts for what differs between processes, and adds its own parts and commands.  It
 * calls, in this order: init (reads the configuration), start; then it starts its own
 * parts; put_in_force, open.  At the end: close, stop; then it ends its own parts;
 * free.
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
#include "service/image_bus.h"
#include "service/images.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "service/state_probe.h"
#include "service/congestion_watcher.h"
#include "service/route_checker.h"
#include "service/sa_source.h"
#include "service/silence_keeper.h"
#include "service/speeds.h"
#include "service/served.h"
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
	TRIAD_CONF_BROKEN, /* the file at start had mistakes: all parts are idle */
};

/* What differs between processes. */
/* A link that is held out of routing. */
#define TRIAD_MAX_HELD_LINKS 256u
struct triad_held_link {
	uint64_t node_guids[2];
	uint8_t ports[2];
};

struct triad_service_owner {
	void *context;
	const char *program;   /* the process that users restart: "OpenSM" */
	const char *sm;        /* OSM_VERSION, "OpenSM 3.3.23"; NULL: none */
	bool may_manage;       /* collect.mode may be manager; false: agent */
	const char *no_fabric; /* why there is no topology, and what to do */
	const char *no_conf;   /* why there is no configuration file, and what to do */
	const char *conf_path; /* default configuration file; need not exist */
	const char *socket;    /* default of control.socket; NULL: the table's */

	/* Puts a configuration into force for the owner's own parts. */
	void (*put_in_force)(void *context, const struct triad_conf *conf);
	/* Adds the metrics of the owner's parts. */
	void (*add_metrics)(void *context, struct triad_own_metrics *metrics);
	/* Adds the health of the owner's parts. */
	void (*add_health)(void *context, struct triad_health *health);
	/* Runs a command; passes the service's commands to triad_service_run(). */
	int (*run)(void *context, const char *prefix,
		const struct triad_command *command, struct triad_output *output);
	/* Runs a request of triadd's about the bus, as triad_bus_relay_run(); NULL: this
	 * process is connected to the broker itself. */
	int (*run_bus)(struct triad_bus *bus, const char *verb,
		const struct triad_asker *asker, const atomic_bool *is_ending,
		struct triad_output *output);
	/* Fills lists of the owner's commands for an image; NULL: it has none. */
	void (*fill_lists)(void *context, struct triad_kept_list *lists);
	/* Whether the owner has taken a port down; see struct triad_alerts_intent.
	 * NULL: the owner takes no ports down. */
	bool (*took_down)(
		void *context, uint64_t node_guid, uint8_t number, bool is_disabled);
	/* Copies the links that are held out of routing now, at most 'room'; returns how
	 * many.  NULL: the owner holds none. */
	size_t (*copy_held)(void *context, struct triad_held_link *links, size_t room);
	/* Copies the port GUIDs of other SMs, at most 'room'; returns how many.  NULL: none are
	 * known. */
	size_t (*copy_sms)(void *context, uint64_t *port_guids, size_t room);
	/* Is given the fabric of the last image; see struct triad_history_sources.  NULL:
	 * the owner needs none. */
	void (*take_past)(void *context, struct triad_fabric *fabric, uint64_t wall_us);
	/* Callbacks of the check of routes; all NULL: none. */
	struct triad_route_source routes;
	/* For questions about speeds. */
	struct triad_m_keys m_keys;
	/* Receives a topology from the SA; see struct triad_sa_source_user. */
	struct triad_sa_source_user source;
};

struct triad_service {
	const struct triad_service_owner *owner;
	uint64_t port_guid;
	uint64_t started_us;
	uint64_t start; /* the wall clock then: differs for each start */
	struct triad_log *log;
	struct triad_log_limit refused_limit; /* commands refused to readers */

	/* Held while a configuration is changed and put into force, which may take a
	 * while. */
	pthread_mutex_t change_lock;
	pthread_mutex_t conf_lock;     /* of the six that follow; held for a copy */
	const struct triad_conf *conf; /* NULL: there was no memory for it at init */
	enum triad_conf_state conf_state;
	struct triad_diags conf_diags; /* of the last load, if it failed */
	char conf_path[4096];          /* empty: none */
	/* What the parts have, and how many they had; NULL: none yet. */
	const struct triad_conf *in_force;
	uint64_t n_configured;

	struct triad_alert_log *alert_log;
	struct triad_webhook *webhook;
	struct triad_collect *collect;
	struct triad_perf *perf;
	struct triad_device_reader *devices;
	struct triad_speed_reader *speeds;
	struct triad_silence_keeper *silences;
	struct triad_recorder *recorder;
	struct triad_state_probe *state_probe; /* of state.dir */
	struct triad_history_reader *past;     /* triadd is asked */
	struct triad_images *images;
	struct triad_image_bus *image_bus;
	struct triad_route_checker *routes;
	atomic_uint_fast64_t recorded_routes; /* a hash */
	struct triad_congestion_watcher *congestion;
	struct triad_exports *exports;
	/* Of triadd, by its last report. */
	pthread_mutex_t served_lock;
	struct triad_served served;
	atomic_uint n_followers; /* who asked for 'changes' and is connected */
	atomic_uint_fast64_t joined_us, left_us; /* when one did last; monotonic */
	atomic_bool is_closing;
	struct triad_sa_source *source;
	/* NULL: off or failed.  Threads that started earlier read it. */
	_Atomic(struct triad_control *) control;
	struct triad_control *outside;           /* triadd's socket; NULL: as above */
	struct triad_control_listener *listener; /* of both */
};

/* Reads the configuration from 'conf_path', or (NULL) from the owner's default path if
 * that file exists.  If the file has mistakes, logs them, sets conf_state to
 * TRIAD_CONF_BROKEN, and 'conf' has the correct part.  The caller has zeroed 'service';
 * 'owner' and 'log' outlive it. */
void triad_service_init(struct triad_service *service,
	const struct triad_service_owner *owner, uint64_t port_guid,
	const char *conf_path, struct triad_log *log);

/* Starts the threads, without a configuration yet.  False when memory or threads are
 * short; call close, stop and free all the same. */
bool triad_service_start(struct triad_service *service);

/* Puts 'conf' into force in all parts, the owner's included. */
void triad_service_put_in_force(struct triad_service *service);

/* Opens the control socket if the configuration has one. */
void triad_service_open(struct triad_service *service);

/* Ends reading counters, releases all callers that wait, and disconnects clients. */
void triad_service_close(struct triad_service *service);

/* After triad_service_close(): ends the exports, so that the owner's parts may end.
 * Returns false when a thread hangs in a write; then what it reads must stay. */
bool triad_service_stop(struct triad_service *service);

/* 'ended': the owner's threads that use the service have ended.  Returns false when
 * 'ended' is false or a thread of the service still runs; then 'service' and its log
 * must stay. */
bool triad_service_free(struct triad_service *service, bool ended);

/* A reference to the configuration in force; the caller unrefs it.  Only after start
 * has succeeded. */
const struct triad_conf *triad_service_conf(struct triad_service *service);

/* What all parts have been given, and its number; the caller unrefs it.  NULL: nothing
 * yet. */
const struct triad_conf *triad_service_in_force(
	struct triad_service *service, uint64_t *number);

/* Whether triadd is to keep images of the fabric, by what is in force. */
bool triad_service_keeps_images(struct triad_service *service);

/* The default configuration of this process; the caller unrefs it.  NULL: not enough
 * memory. */
const struct triad_conf *triad_service_defaults(const struct triad_service *service);

enum triad_conf_state triad_service_conf_state(struct triad_service *service);

/* Reads the file as it is now, without putting it into force.  The caller owns '*conf':
 * what triad_conf_load() made of the file; the defaults when there is no file; NULL
 * when memory is short.  Returns 0, ENODATA (no file) or another errno with the
 * mistakes in 'diags', whose 'source' is the file. */
int triad_service_read_file(struct triad_service *service, struct triad_conf **conf,
	struct triad_diags *diags);

/* Reads the file again and puts it into force.  Returns 0, with a line in 'diags' for
 * each change that waits for a restart.  Returns ENOENT (no file) or EINVAL (mistakes,
 * or memory is short), with lines in 'diags', and keeps the configuration in force. */
int triad_service_reload(struct triad_service *service, struct triad_diags *diags);

/* A text that parts are idle because the file has mistakes, and what to do; NULL: they
 * are not idle. */
const char *triad_service_idle(struct triad_service *service);
/* Whether the key's value is in force even while parts are idle. */
bool triad_service_keeps_when_idle(const char *key);

/* Why counters are not read here, and what to do; NULL when they are. */
const char *triad_service_trouble(struct triad_service *service);

/* As triad_conf_set(), and puts it in force.  Returns EBUSY while parts are idle, for a
 * key of an idle part. */
int triad_service_set(struct triad_service *service, const char *key, const char *value,
	struct triad_diags *diags);

/* The functions of a 'struct triad_runner'; 'context' is the service.  The role that
 * the configuration in force gives a user: */
enum triad_role triad_service_role(void *context, const struct triad_peer *peer);

/* Parses words and has the owner run the command.  Refuses a reader's command that
 * changes something. */
int triad_service_ask(void *context, const struct triad_asker *asker, int n_words,
	const char *const *words, struct triad_output *output);

/* Whether this process has the command. */
bool triad_service_has(void *context, enum triad_command_verb verb);

/* Runs a command of the service's: help, health, perf, alerts, set, reload.  Returns
 * TRIAD_CONTROL_DONE, _FAILED or _USAGE; for other commands _FAILED, with a message. */
int triad_service_run(struct triad_service *service, const char *prefix,
	const struct triad_command *command, struct triad_output *output);

#endif
