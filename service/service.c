/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf_keys.h"
#include "service/command/outputs.h"
#include "service/health_congestion.h"
#include "service/health_routes.h"
#include "service/history_sources.h"
#include "service/outside.h"
#include "service/own_metrics.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/lists.h"
#include "triad/thread.h"

/* --- configuration --- */

static void log_diags(struct triad_service *service, enum triad_log_level level,
	const struct triad_diags *diags)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_log_write(service->log, level, "%s", text);
	}
}

static void find_default_conf(struct triad_service *service)
{
	if (access(service->owner->conf_path, F_OK) == 0)
		snprintf(service->conf_path, sizeof(service->conf_path), "%s",
			service->owner->conf_path);
}

/* Every key at its default.  NULL: not enough memory. */
static struct triad_conf *make_default(const struct triad_service *service)
{
	struct triad_conf *conf = triad_conf_new(service->port_guid);

	if (conf && service->owner->socket)
		snprintf(conf->control.socket, sizeof(conf->control.socket), "%s",
			service->owner->socket);
	return conf;
}

/* Reads 'path' into 'conf', which has the defaults; NULL: there was no memory for
 * it.  If it returns 0, 'diags' has notes. */
static int load(const struct triad_service *service, const char *path,
	struct triad_conf *conf, struct triad_diags *diags)
{
	char reason[TRIAD_FILE_REASON_SIZE];
	int error;

	triad_diags_init(diags, path);
	if (!conf) {
		triad_diags_add(diags, 0, 0, "not enough memory");
		return ENOMEM;
	}
	if (triad_file_check_trusted(path, false, reason) == EPERM) {
		triad_diags_add(diags, 0, 0, "%s", reason);
		return EPERM;
	}
	if (!(error = triad_conf_load(path, service->port_guid, conf, diags)) &&
		conf->gone[0])
		triad_diags_add(diags, 0, 0,
			"no longer does anything, and can be removed: %s", conf->gone);
	return error;
}

static void load_first_conf(struct triad_service *service)
{
	struct triad_conf *conf = make_default(service);

	service->conf = conf;
	service->conf_state = TRIAD_CONF_DEFAULT;
	if (!conf || !service->conf_path[0])
		return;
	service->conf_state = TRIAD_CONF_LOADED;
	if (load(service, service->conf_path, conf, &service->conf_diags)) {
		service->conf_state = TRIAD_CONF_BROKEN;
		log_diags(service, TRIAD_LOG_ERROR, &service->conf_diags);
		return;
	}
	log_diags(service, TRIAD_LOG_WARNING, &service->conf_diags);
	triad_diags_init(&service->conf_diags, "");
}

/* The configuration for the parts, with a reference.  If the file has mistakes, it is
 * one that keeps the parts idle, because no part may trust such a file.  NULL: not
 * enough memory. */
static const struct triad_conf *make_effective(const struct triad_service *service)
{
	struct triad_conf *conf;

	if (service->conf_state != TRIAD_CONF_BROKEN)
		return triad_conf_ref(service->conf);
	conf = make_default(service);
	if (!conf)
		return NULL;
	/* These stay as configured, so that users can see the mistakes and mend
	 * them. */
	conf->log = service->conf->log;
	conf->control = service->conf->control;
	conf->perfmgr.enabled = false;
	conf->devices.enabled = false;
	conf->history.dir[0] = '\0';
	conf->routes.enabled = false;
	conf->congestion.enabled = false;
	conf->qos.enabled = false;
	conf->qos.tables_enabled = false;
	conf->qos.partition_groups = false;
	conf->election.enabled = false;
	conf->port.enabled = false;
	return conf;
}

static struct triad_control_params control_params(const struct triad_conf *conf)
{
	return (struct triad_control_params){
		.is_shared = *conf->control.group || *conf->control.admin_group,
		.groups = "control.group or control.admin_group",
	};
}

void triad_service_put_in_force(struct triad_service *service)
{
	const struct triad_conf *conf = make_effective(service), *former;

	if (!conf) {
		triad_log_write(service->log, TRIAD_LOG_ERROR,
			"not enough memory to put the configuration into force; type "
			"'triadctl reload' to try again");
		return;
	}
	atomic_store(&service->log->level, (int)conf->log.level);
	triad_alert_log_configure(service->alert_log, conf);
	triad_webhook_configure(service->webhook, conf);
	triad_exports_configure(service->exports, conf);
	triad_image_bus_enable(
		service->image_bus, conf->history.dir[0] && conf->history.replicate);
	triad_route_checker_configure(service->routes, conf);
	triad_congestion_watcher_configure(service->congestion, conf);
	service->owner->put_in_force(service->owner->context, conf);
	triad_perf_configure(service->perf, conf);
	triad_device_reader_configure(service->devices, conf);
	if (service->control) {
		struct triad_control_params params = control_params(conf);

		triad_control_configure(service->control, &params);
	}
	pthread_mutex_lock(&service->conf_lock);
	former = service->in_force;
	service->in_force = conf;
	service->n_configured++;
	pthread_mutex_unlock(&service->conf_lock);
	triad_conf_unref(former);
}

const struct triad_conf *triad_service_in_force(
	struct triad_service *service, uint64_t *number)
{
	const struct triad_conf *conf = NULL;

	pthread_mutex_lock(&service->conf_lock);
	if (service->in_force)
		conf = triad_conf_ref(service->in_force);
	*number = service->n_configured;
	pthread_mutex_unlock(&service->conf_lock);
	return conf;
}

bool triad_service_keeps_images(struct triad_service *service)
{
	return TRIAD_LOCKED(&service->conf_lock,
		service->in_force && service->in_force->history.dir[0]);
}

const struct triad_conf *triad_service_conf(struct triad_service *service)
{
	return TRIAD_LOCKED(&service->conf_lock, triad_conf_ref(service->conf));
}

const struct triad_conf *triad_service_defaults(const struct triad_service *service)
{
	return make_default(service);
}

enum triad_conf_state triad_service_conf_state(struct triad_service *service)
{
	return TRIAD_LOCKED(&service->conf_lock, service->conf_state);
}

int triad_service_read_file(struct triad_service *service, struct triad_conf **conf,
	struct triad_diags *diags)
{
	char path[sizeof(service->conf_path)];

	pthread_mutex_lock(&service->conf_lock);
	memcpy(path, service->conf_path, sizeof(path));
	pthread_mutex_unlock(&service->conf_lock);
	/* A file written since the start: a reload would find it, too. */
	if (!path[0] && !access(service->owner->conf_path, F_OK))
		snprintf(path, sizeof(path), "%s", service->owner->conf_path);
	*conf = make_default(service);
	if (path[0])
		return load(service, path, *conf, diags);
	triad_diags_init(diags, "");
	return ENODATA;
}

enum triad_role triad_service_role(void *context, const struct triad_peer *peer)
{
	struct triad_service *service = context;
	const struct triad_conf *conf;
	enum triad_role role;

	if (triad_peer_is_own(peer))
		return TRIAD_ROLE_ADMIN;
	conf = triad_service_conf(service);
	role = triad_peer_role(peer, conf->control.group, conf->control.admin_group);
	triad_conf_unref(conf);
	return role;
}

int triad_service_reload(struct triad_service *service, struct triad_diags *diags)
{
	const struct triad_conf *unused;
	struct triad_conf *conf;
	int error;

	pthread_mutex_lock(&service->conf_lock);
	if (!service->conf_path[0])
		find_default_conf(service); /* there may be one by now */
	pthread_mutex_unlock(&service->conf_lock);
	triad_diags_init(diags, service->conf_path);
	if (!service->conf_path[0]) {
		triad_diags_add(diags, 0, 0, "%s", service->owner->no_conf);
		return ENOENT;
	}
	conf = make_default(service);
	error = load(service, service->conf_path, conf, diags);
	/* From here on with the lock; the file was read without it: a disk may hang. */
	pthread_mutex_lock(&service->change_lock);
	if (!error)
		triad_conf_keep_start_only(
			conf, service->conf, service->owner->program, diags);
	pthread_mutex_lock(&service->conf_lock);
	if (error) {
		service->conf_diags = *diags;
		unused = conf;
	} else {
		triad_diags_init(&service->conf_diags, "");
		service->conf_state = TRIAD_CONF_LOADED;
		unused = service->conf;
		service->conf = conf;
	}
	pthread_mutex_unlock(&service->conf_lock);
	if (!error)
		triad_service_put_in_force(service);
	pthread_mutex_unlock(&service->change_lock);
	triad_conf_unref(unused);
	log_diags(service, error ? TRIAD_LOG_ERROR : TRIAD_LOG_WARNING, diags);
	triad_log_write(service->log, error ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
		"%s: %s", service->conf_path,
		error ? "not loaded; the configuration in force stays" : "loaded");
	return error ? EINVAL : 0;
}

#define IDLE                                                                           \
	"the configuration has mistakes (see 'config diff'): mend it and type 'reload'"

const char *triad_service_idle(struct triad_service *service)
{
	return triad_service_conf_state(service) == TRIAD_CONF_BROKEN ? IDLE : NULL;
}

const char *triad_service_trouble(struct triad_service *service)
{
	if (triad_service_idle(service))
		return IDLE;
	switch (triad_perf_state(service->perf)) {
	case TRIAD_PERF_RUNNING:
		return NULL;
	case TRIAD_PERF_DISABLED:
		return "the PerfManager is off: 'set perfmgr.enabled true' starts it";
	case TRIAD_PERF_OTHER_ROLE:
		return triad_perf_wants(service->perf, TRIAD_SM_MASTER)
			? "this SM is not the master: ask on the host of the master"
			: "this SM is not a standby, as perfmgr.role wants it: ask on "
			  "the host of a standby";
	case TRIAD_PERF_NO_FABRIC:
		return service->owner->no_fabric;
	case TRIAD_PERF_NO_TRANSPORT:
		return "the local port can't be opened for MADs: see the log";
	}
	return "unknown";
}

/* The sections that make_effective() keeps. */
bool triad_service_keeps_when_idle(const char *key)
{
	return triad_conf_key_is_of(key, "log") || triad_conf_key_is_of(key, "control");
}

/* With 'change_lock': nobody else changes the configuration meanwhile. */
static int change_key(struct triad_service *service, const char *key, const char *value,
	struct triad_diags *diags, struct triad_conf **changed)
{
	if (service->conf_state == TRIAD_CONF_BROKEN &&
		!triad_service_keeps_when_idle(key)) {
		triad_diags_add(diags, 0, 0, "%s would not be in force: " IDLE, key);
		return EBUSY;
	}
	return triad_conf_set(service->conf, key, value, service->port_guid,
		service->owner->program, diags, changed);
}

int triad_service_set(struct triad_service *service, const char *key, const char *value,
	struct triad_diags *diags)
{
	const struct triad_conf *old = NULL;
	struct triad_conf_entry shown = {0};
	struct triad_conf *changed;
	int error;

	triad_diags_init(diags, "set");
	pthread_mutex_lock(&service->change_lock);
	error = change_key(service, key, value, diags, &changed);
	if (!error) {
		pthread_mutex_lock(&service->conf_lock);
		old = service->conf;
		service->conf = changed;
		pthread_mutex_unlock(&service->conf_lock);
		(void)triad_conf_get(changed, key, &shown, NULL, 0);
		triad_service_put_in_force(service);
	}
	pthread_mutex_unlock(&service->change_lock);
	triad_conf_unref(old);
	if (!error)
		triad_log_write(service->log, TRIAD_LOG_INFO,
			"%s = %s, until the next "
			"reload or restart",
			key, shown.value);
	return error;
}

/* --- life --- */

void triad_service_init(struct triad_service *service,
	const struct triad_service_owner *owner, uint64_t port_guid,
	const char *conf_path, struct triad_log *log)
{
	service->owner = owner;
	service->port_guid = port_guid;
	service->started_us = triad_clock_now_us();
	service->start = triad_clock_to_wall_us(service->started_us);
	pthread_mutex_init(&service->served_lock, NULL);
	service->log = log;
	service->refused_limit =
		(struct triad_log_limit){.burst = 5, .period_us = 60 * TRIAD_US_PER_S};
	pthread_mutex_init(&service->change_lock, NULL);
	pthread_mutex_init(&service->conf_lock, NULL);
	triad_diags_init(&service->conf_diags, "");
	if (conf_path)
		snprintf(service->conf_path, sizeof(service->conf_path), "%s",
			conf_path);
	else
		find_default_conf(service);
	load_first_conf(service);
}

static size_t give_own_metrics(void *context, struct triad_metric *room, size_t n)
{
	return triad_own_metrics(context, room, n);
}

static uint64_t *give_routes(void *context, const struct triad_fabric *fabric)
{
	return triad_routes_copy_pairs(context, fabric);
}

/* Whether the alerts of this process are of the present.  An SM that is no longer the
 * master has old ones. */
static bool may_report_alerts(void *context)
{
	struct triad_service *service = context;
	enum triad_perf_state state = triad_perf_state(service->perf);

	return state == TRIAD_PERF_RUNNING || state == TRIAD_PERF_NO_TRANSPORT ||
		triad_perf_is_idle_master(service->perf);
}

static struct triad_perf *make_perf(struct triad_service *service)
{
	struct triad_alerts_sink log = triad_alert_log_sink(service->alert_log);
	struct triad_alerts_sink recorder =
		triad_recorder_sink(service->recorder, &log);
	struct triad_alerts_sink webhook =
		triad_webhook_sink(service->webhook, &recorder);
	struct triad_alerts_sink sink = triad_collect_sink(service->collect, &webhook);
	struct triad_perf *perf =
		triad_perf_new(service->port_guid, &sink, service->log);

	if (perf)
		triad_collect_join(service->collect, perf);
	return perf;
}

static const char *trouble_of(void *context)
{
	return triad_service_trouble(context);
}

/* Weeks of a large fabric, in 16 MiB of memory and some 20 MB of disk at most. */
#define EVENTS_KEPT 65536u

static struct triad_recorder *make_recorder(struct triad_service *service)
{
	/* A file with mistakes may name the wrong folder. */
	bool is_broken = service->conf_state == TRIAD_CONF_BROKEN;
	const struct triad_recorder_params params = {
		.room = EVENTS_KEPT,
		.dir = is_broken ? "" : service->conf->state.dir,
		.program = service->owner->program,
		.port_guid = service->port_guid,
		.trouble = trouble_of,
		.context = service,
	};

	return triad_recorder_new(&params, service->log);
}

/* At least a page of events, or some silences. */
#define PROBED_OCTETS 4096u

static struct triad_state_probe *make_state_probe(struct triad_service *service)
{
	static const struct triad_state_probe_params params = {
		.part = "state",
		.consequence =
			"events are kept in memory alone, and silences end with this "
			"program, until it can: see state.dir",
		.size = PROBED_OCTETS,
	};
	const struct triad_recorder_status status =
		triad_recorder_status(service->recorder);
	struct triad_state_probe *probe = triad_state_probe_new(&params, service->log);

	if (probe && strlen(status.path) < TRIAD_CONF_PATH_SIZE)
		triad_state_probe_set(probe, status.path);
	return probe;
}

/* Records an event for each change of the forwarding tables, even if all routes are
 * good. */
static void record_routes(struct triad_service *service)
{
	struct triad_route_result *result = triad_route_checker_result(service->routes);
	uint64_t n_lost, n_loops;

	/* The thread that checks routes calls this, and whoever changes what is
	 * checked. */
	if (!result ||
		atomic_exchange(&service->recorded_routes, result->hash) ==
			result->hash) {
		triad_route_result_unref(result);
		return;
	}
	n_lost = result->check->problems[TRIAD_ROUTES_UNREACHABLE].n;
	n_loops = result->check->credit.n_loops;
	triad_route_result_unref(result);
	if (n_lost || n_loops)
		triad_recorder_note_text(service->recorder, TRIAD_TIMELINE_ROUTES,
			"changed: unreachable pairs %" PRIu64 ", credit loops %" PRIu64,
			n_lost, n_loops);
	else
		triad_recorder_note_text(
			service->recorder, TRIAD_TIMELINE_ROUTES, "changed");
}

static void note_routes(void *context)
{
	struct triad_service *service = context;

	record_routes(service);
	triad_congestion_watcher_look(service->congestion);
	triad_perf_note_findings(service->perf);
}

static void note_sweep(void *context)
{
	struct triad_service *service = context;

	triad_congestion_watcher_look(service->congestion);
}

static void add_finders(struct triad_service *service)
{
	const struct triad_finder routes = {
		.read = triad_routes_give, .context = service};
	const struct triad_finder congestion = {
		.read = triad_congestion_give, .context = service};

	triad_watch_add_finder(triad_perf_watch(service->perf), &routes);
	triad_watch_add_finder(triad_perf_watch(service->perf), &congestion);
	triad_route_checker_set_listener(service->routes, note_routes, service);
	triad_perf_set_listener(service->perf, note_sweep, service);
}

static bool judge_hardware(void *context, uint64_t guid, uint8_t number,
	struct triad_hardware_finding *finding)
{
	struct triad_service *service = context;

	return triad_device_reader_judge(service->devices, guid, number, finding);
}

bool triad_service_start(struct triad_service *service)
{
	const struct triad_watch_hardware hardware = {
		.judge = judge_hardware, .context = service};
	const struct triad_alerts_intent intent = {
		.took_down = service->owner->took_down,
		.context = service->owner->context};
	const struct triad_history_sources sources = triad_history_sources_of(service);

	if (!service->conf)
		return false;
	service->alert_log = triad_alert_log_new(service->log);
	service->webhook = triad_webhook_new(may_report_alerts, service, service->log);
	service->collect = triad_collect_new(
		service->port_guid, service->owner->may_manage, service->log);
	service->recorder = make_recorder(service);
	if (service->recorder && service->alert_log && service->webhook &&
		service->collect)
		service->state_probe = make_state_probe(service);
	if (service->state_probe)
		service->perf = make_perf(service);
	if (!service->perf)
		return false;
	service->devices = triad_device_reader_new(
		service->perf, service->collect, service->port_guid, service->log);
	if (!service->devices)
		return false;
	service->speeds = triad_speed_reader_new(
		service->port_guid, &service->owner->m_keys, service->log);
	if (!service->speeds)
		return false;
	triad_watch_set_hardware(triad_perf_watch(service->perf), &hardware);
	service->silences = triad_silence_keeper_new(triad_perf_watch(service->perf),
		service->owner->program, service->port_guid, service->log);
	if (!service->silences ||
		!triad_silence_keeper_start(
			service->silences, service->conf->state.dir))
		return false;
	triad_recorder_join(service->recorder, service->perf);
	service->past = triad_history_reader_new();
	service->image_bus = triad_image_bus_new();
	if (!service->past || !service->image_bus)
		return false;
	service->images = triad_images_new(service->perf, service->recorder,
		service->past, service->port_guid, triad_outputs_run, service, &sources,
		service->log);
	if (!service->images)
		return false;
	service->routes =
		triad_route_checker_new(&service->owner->routes, service->log);
	if (!service->routes)
		return false;
	service->congestion = triad_congestion_watcher_new(
		service->perf, service->routes, service->log);
	if (!service->congestion)
		return false;
	triad_watch_set_intent(triad_perf_watch(service->perf), &intent);
	add_finders(service);
	service->exports =
		triad_exports_new(service->perf, service->devices, service->port_guid,
			give_own_metrics, give_routes, service, service->log);
	service->source = triad_sa_source_new(
		service->port_guid, &service->owner->source, service->log);
	return service->exports && service->source;
}

void triad_service_open(struct triad_service *service)
{
	const struct triad_runner runner = {.context = service,
		.role = triad_service_role,
		.run = triad_service_ask};
	const struct triad_conf *conf = triad_service_conf(service);
	const struct triad_control_params params = control_params(conf);

	atomic_store(&service->control,
		triad_control_new(
			conf->control.socket, &params, &runner, service->log));
	service->outside = triad_outside_open(service, conf);
	service->listener =
		triad_control_listen(service->control, service->outside, service->log);
	triad_conf_unref(conf);
}

void triad_service_close(struct triad_service *service)
{
	/* First release what commands wait for; then the threads of commands can
	 * end. */
	if (service->collect)
		triad_collect_stop(service->collect);
	triad_history_reader_close(service->past);
	triad_perf_stop(service->perf);
	triad_device_reader_stop(service->devices);
	triad_speed_reader_stop(service->speeds);
	atomic_store(&service->is_closing, true);
	triad_control_listen_no_more(service->listener);
	service->listener = NULL;
	triad_control_free(service->outside);
	service->outside = NULL;
	triad_control_free(service->control);
	atomic_store(&service->control, NULL);
}

bool triad_service_stop(struct triad_service *service)
{
	bool ended;

	triad_exports_stop(service->exports);
	ended = triad_congestion_watcher_stop(service->congestion);
	ended &= triad_route_checker_stop(service->routes);
	return triad_silence_keeper_stop(service->silences) && ended;
}

bool triad_service_free(struct triad_service *service, bool ended)
{
	/* It reads other parts, and they record events until they have ended. */
	ended &= triad_recorder_stop(service->recorder);
	ended &= triad_state_probe_free(service->state_probe);
	/* If a thread hangs, all that it may use stays until the process ends. */
	triad_sa_source_free(service->source);
	if (ended) {
		triad_exports_free(service->exports);
		triad_images_free(service->images);
		triad_history_reader_free(service->past);
		triad_image_bus_free(service->image_bus);
		triad_congestion_watcher_free(service->congestion);
		triad_route_checker_free(service->routes);
		triad_silence_keeper_free(service->silences);
		triad_collect_free(service->collect);
		triad_device_reader_free(service->devices);
		triad_speed_reader_free(service->speeds);
		triad_perf_free(service->perf);
		triad_webhook_free(service->webhook);
		triad_recorder_free(service->recorder);
	}
	ended &= triad_alert_log_free(service->alert_log);
	if (ended) {
		triad_conf_unref(service->in_force);
		triad_conf_unref(service->conf);
		pthread_mutex_destroy(&service->served_lock);
		pthread_mutex_destroy(&service->conf_lock);
		pthread_mutex_destroy(&service->change_lock);
	}
	return ended;
}
