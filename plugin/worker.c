/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/console.h"
#include "plugin/log_tail.h"
#include "plugin/opensm.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/osm_lookup.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/osm_defaults.h"
#include "plugin/sm_recover.h"
#include "plugin/sm_state.h"
#include "plugin/snapshot.h"
#include "service/perf.h"
#include "service/recorder.h"
#include "service/route_checker.h"
#include "service/sa_source.h"
#include "service/speeds.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* How often the worker looks around when nothing happens. */
#define TICK_US (TRIAD_US_PER_S / 4)
/* If a look is later than this, the process was stopped. */
#define PAUSE_US TRIAD_US_PER_S
/* How long after routing to copy the subnet if SUBNET_UP does not come. */
#define WITHOUT_SUBNET_UP_US (10 * TRIAD_US_PER_S)
/* A copy that failed. */
#define FAILED_AGAIN_US (5 * TRIAD_US_PER_S)
/* How many inconsistent snapshots in a row to discard before one is used. */
#define MAX_DISCARDED 3

struct triad_worker {
	struct osm_opensm *osm;
	struct triad_log *log;
	struct triad_events *events;
	struct triad_perf *perf;
	struct triad_sa_source *source;
	struct triad_qos *qos;
	struct triad_ports *ports;
	struct triad_recorder *recorder;
	struct triad_route_checker *routes;
	struct triad_speed_reader *speeds;
	_Atomic(struct triad_console *) console; /* NULL: none yet */
	pthread_t thread;
	atomic_ulong sweeps_begun;
	/* triad_clock_boot_us(): when the last heavy sweep began, and the last one of
	 * those whose discovery has finished. */
	atomic_uint_least64_t sweep_begun_us, discovery_begun_us;
	atomic_ulong sweeps_of_fabric; /* 'sweeps_begun' before the last copy */
	uint64_t snapshot_due_us;      /* UINT64_MAX: none */
	bool is_up;                    /* the sweep that the snapshot is due for has
				        * finished */
	unsigned n_discarded;          /* in a row */
	int snapshot_error;            /* the last error logged */
	bool is_sweeping; /* a heavy sweep began, and the subnet is not up */
	struct triad_sm_watch watch;
	atomic_bool recovers;
	const char *sm_state; /* seen last */
	enum triad_sm sm;     /* the same, as far as it matters */
	bool reads_as_standby;
	struct triad_fabric *fabric; /* the last snapshot */
	uint32_t n_aliases;          /* before the last that paths are of; 0: unknown */
	struct triad_log_tail osm_log;
	struct triad_sm_errors errors;

	pthread_mutex_t lock; /* protects what follows */
	struct triad_worker_status status;
	struct triad_fabric_qos defaults;
};

static void *run_worker(void *argument);

struct triad_worker *triad_worker_new(struct osm_opensm *osm, struct triad_log *log,
	struct triad_events *events, struct triad_perf *perf,
	struct triad_sa_source *source, struct triad_qos *qos,
	struct triad_ports *ports, struct triad_recorder *recorder,
	struct triad_route_checker *routes, struct triad_speed_reader *speeds)
{
	struct triad_worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->osm = osm;
	worker->log = log;
	worker->events = events;
	worker->perf = perf;
	worker->source = source;
	worker->qos = qos;
	worker->ports = ports;
	worker->recorder = recorder;
	worker->routes = routes;
	worker->speeds = speeds;
	worker->snapshot_due_us = UINT64_MAX;
	worker->sm_state = "";
	/* OpenSM never changes it. */
	triad_log_tail_init(&worker->osm_log, osm->log.log_file_name);
	triad_sm_errors_init(&worker->errors);
	pthread_mutex_init(&worker->lock, NULL);
	triad_osm_defaults_read(osm, &worker->defaults);
	if (!triad_thread_start(&worker->thread, "triad-worker", run_worker, worker))
		return worker;
	free(worker);
	return NULL;
}

void triad_worker_free(struct triad_worker *worker)
{
	if (!worker)
		return;
	triad_events_stop(worker->events);
	pthread_join(worker->thread, NULL);
	triad_fabric_unref(worker->fabric);
	triad_log_tail_clear(&worker->osm_log);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

void triad_worker_configure(struct triad_worker *worker, const struct triad_conf *conf)
{
	atomic_store(&worker->recovers, conf->sm.recover);
}

void triad_worker_set_console(
	struct triad_worker *worker, struct triad_console *console)
{
	atomic_store(&worker->console, console);
}

void triad_worker_note_sweep(struct triad_worker *worker)
{
	atomic_fetch_add(&worker->sweeps_begun, 1);
	atomic_store(&worker->sweep_begun_us, triad_clock_boot_us());
}

void triad_worker_note_discovered(struct triad_worker *worker)
{
	struct triad_fabric_qos defaults = {0};

	atomic_store(&worker->discovery_begun_us, atomic_load(&worker->sweep_begun_us));
	triad_osm_defaults_read(worker->osm, &defaults);
	pthread_mutex_lock(&worker->lock);
	worker->defaults = defaults;
	pthread_mutex_unlock(&worker->lock);
}

bool triad_worker_has_other_engine(const struct triad_worker_status *status)
{
	return *status->engine_wanted &&
		strcmp(status->engine, status->engine_wanted) != 0;
}

bool triad_worker_is_current(struct triad_worker *worker, uint64_t generation)
{
	return triad_worker_status(worker).generation == generation &&
		atomic_load(&worker->sweeps_begun) ==
		atomic_load(&worker->sweeps_of_fabric);
}

struct triad_worker_status triad_worker_status(struct triad_worker *worker)
{
	return TRIAD_LOCKED(&worker->lock, worker->status);
}

/* --- snapshots --- */

static void publish_fabric(struct triad_worker *worker, struct triad_fabric *fabric)
{
	struct triad_worker_status status = triad_worker_status(worker);
	struct triad_fabric_counts counts = triad_fabric_count(fabric);

	status.n_snapshots++;
	status.generation = fabric->generation;
	status.taken_us = fabric->taken_us;
	status.lock_us = fabric->lock_us;
	status.octets = triad_fabric_octets(fabric);
	status.n_nodes = counts.n_nodes;
	status.n_ports = counts.n_ports;
	status.n_switches = counts.n_switches;
	status.n_links = counts.n_links;
	if (worker->sm == TRIAD_SM_MASTER) {
		snprintf(status.engine, sizeof(status.engine), "%s", fabric->sa.engine);
		snprintf(status.engine_wanted, sizeof(status.engine_wanted), "%s",
			fabric->sa.engine_wanted);
	}
	/* First: who sees the new topology sees how many of its speeds are known. */
	triad_speed_reader_adopt(worker->speeds, fabric, TRIAD_SPEEDS_AGAIN_US);
	/* Write back the whole copy: only this thread changes the status. */
	pthread_mutex_lock(&worker->lock);
	worker->status = status;
	pthread_mutex_unlock(&worker->lock);
	triad_fabric_unref(worker->fabric);
	worker->fabric = fabric;
	triad_perf_set_fabric(worker->perf, fabric, worker->sm);
	/* A standby uses its fabric only for counters: only the master changes
	 * ports. */
	if (worker->sm == TRIAD_SM_MASTER) {
		triad_ports_set_fabric(worker->ports, fabric);
		triad_route_checker_set_fabric(worker->routes, fabric);
	}
	triad_log_write(worker->log, TRIAD_LOG_VERBOSE,
		"topology: %u nodes, %u switches, %u ports, %u links; the SM's lock "
		"was held for %lu us at most",
		status.n_nodes, status.n_switches, status.n_ports, status.n_links,
		(unsigned long)status.lock_us);
}

static void note_failed_snapshot(struct triad_worker *worker, int error)
{
	pthread_mutex_lock(&worker->lock);
	worker->status.n_failed++;
	pthread_mutex_unlock(&worker->lock);
	if (error != worker->snapshot_error)
		triad_log_write(worker->log, TRIAD_LOG_ERROR,
			"topology: it can't be copied from the SM: %s; the last copy "
			"is kept, and it is tried again each 5 s",
			strerror(error));
	worker->snapshot_error = error;
	worker->snapshot_due_us = triad_clock_now_us() + FAILED_AGAIN_US;
}

/* Copies the subnet, and gives every copy to the answers to requests for paths. */
static int snapshot(struct triad_worker *worker, enum triad_qos_phase phase,
	struct triad_fabric **fabric)
{
	/* Read all before the copy, so that a change during the copy counts as
	 * later. */
	uint64_t begun_us = atomic_load(&worker->discovery_begun_us);
	struct triad_qos_moment before = triad_qos_now(worker->qos);
	uint32_t n_aliases = triad_osm_lookup_n_aliases(worker->osm);
	struct triad_fabric_qos defaults;
	int error;

	defaults = TRIAD_LOCKED(&worker->lock, worker->defaults);
	error = triad_snapshot_take(
		worker->osm, worker->fabric, &defaults, &worker->sweeps_begun, fabric);
	if (!error) {
		(*fabric)->begun_us = begun_us;
		triad_speed_reader_lay_over(worker->speeds, *fabric);
	}
	if (!error && (*fabric)->consistent && worker->sm == TRIAD_SM_MASTER) {
		triad_qos_set_fabric(worker->qos, *fabric, &before, phase);
		worker->n_aliases = n_aliases;
	}
	return error;
}

/* After routing, paths are final.  Ports are not ACTIVE yet, so the copy is only for
 * paths, not for counters. */
static void copy_subnet_for_paths(struct triad_worker *worker)
{
	struct triad_fabric *fabric = NULL;

	if (triad_qos_wants_fabric(worker->qos) &&
		!snapshot(worker, TRIAD_QOS_ROUTED, &fabric))
		triad_fabric_unref(fabric);
}

static void copy_subnet(struct triad_worker *worker)
{
	struct triad_fabric *fabric = NULL;
	unsigned long sweeps = atomic_load(&worker->sweeps_begun);
	int error = snapshot(
		worker, worker->is_up ? TRIAD_QOS_UP : TRIAD_QOS_LATE, &fabric);

	worker->snapshot_due_us = UINT64_MAX;
	if (error == ECANCELED) {
		return; /* OpenSM ends */
	} else if (error) {
		note_failed_snapshot(worker, error);
	} else if (!fabric->consistent && worker->n_discarded < MAX_DISCARDED) {
		/* A sweep began meanwhile: copy again at its end, or after a time if it
		 * does not end. */
		worker->n_discarded++;
		pthread_mutex_lock(&worker->lock);
		worker->status.n_discarded++;
		pthread_mutex_unlock(&worker->lock);
		triad_fabric_unref(fabric);
		worker->snapshot_due_us = triad_clock_now_us() + WITHOUT_SUBNET_UP_US;
	} else {
		worker->n_discarded = 0;
		worker->snapshot_error = 0;
		atomic_store(&worker->sweeps_of_fabric, sweeps);
		publish_fabric(worker, fabric);
	}
}

/* --- OpenSM's log --- */

static void take_log_line(void *context, const char *line)
{
	struct triad_worker *worker = context;
	enum triad_sm_error kind =
		triad_sm_errors_take(&worker->errors, line, triad_clock_now_us());

	if (kind < TRIAD_SM_N_ERRORS)
		triad_recorder_note_text(worker->recorder, TRIAD_TIMELINE_SM, "%s",
			triad_sm_error_meaning(kind));
}

static void read_osm_log(struct triad_worker *worker)
{
	(void)triad_log_tail_read(&worker->osm_log, take_log_line, worker);
	pthread_mutex_lock(&worker->lock);
	worker->status.errors = worker->errors;
	worker->status.reads_log = triad_log_tail_is_open(&worker->osm_log);
	pthread_mutex_unlock(&worker->lock);
}

/* --- events --- */

/* This SM is not master: it routes nothing, and none of its sweeps will bring the subnet
 * up. */
static void forget_errors(struct triad_worker *worker)
{
	triad_sm_errors_up(&worker->errors);
	triad_sm_errors_up(&worker->errors);
	pthread_mutex_lock(&worker->lock);
	worker->status.errors = worker->errors;
	worker->status.engine[0] = worker->status.engine_wanted[0] = '\0';
	pthread_mutex_unlock(&worker->lock);
}

static void look_at_sm_state(struct triad_worker *worker)
{
	const char *state = triad_sm_state(worker->osm);

	if (state == worker->sm_state)
		return;
	if (worker->reads_as_standby)
		triad_sa_source_want(worker->source, TRIAD_SA_NOTHING);
	worker->sm_state = state;
	worker->sm = strcmp(state, "master") == 0 ? TRIAD_SM_MASTER
		: strcmp(state, "standby") == 0   ? TRIAD_SM_STANDBY
						  : TRIAD_SM_OTHER;
	if (worker->sm != TRIAD_SM_OTHER)
		triad_log_write(worker->log, TRIAD_LOG_INFO, "this SM is %s%s", state,
			triad_perf_wants(worker->perf, worker->sm)
				? ""
				: ": no counters are read here");
	/* Don't record the short states between master and standby. */
	if (worker->sm != TRIAD_SM_OTHER)
		triad_recorder_note_text(
			worker->recorder, TRIAD_TIMELINE_ROLE, "%s", state);
	if (worker->sm == TRIAD_SM_STANDBY)
		worker->is_sweeping = false; /* a standby has aborted its sweep */
	/* Another SM is master now: do not copy. */
	if (worker->sm != TRIAD_SM_MASTER) {
		worker->snapshot_due_us = UINT64_MAX;
		triad_qos_forget_fabric(worker->qos);
		triad_ports_set_fabric(worker->ports, NULL);
		triad_route_checker_set_fabric(worker->routes, NULL);
		forget_errors(worker);
	}
	worker->reads_as_standby = false;
	triad_perf_set_sm(worker->perf, worker->sm);
}

static void recover_sm(struct triad_worker *worker, enum triad_sm_trouble trouble)
{
	const char *done;

	if (!atomic_load(&worker->recovers) ||
		!triad_sm_watch_is_due(&worker->watch, trouble))
		return;
	done = triad_sm_recover(worker->osm, trouble);
	if (!done) {
		worker->watch.helped_us[trouble] = 0; /* try again at the next look */
		return;
	}
	pthread_mutex_lock(&worker->lock);
	worker->status.n_recoveries++;
	pthread_mutex_unlock(&worker->lock);
	triad_log_write(worker->log, TRIAD_LOG_WARNING,
		"SM: to get it out of its trouble, Triad %s (sm.recover)", done);
}

/* Looks for trouble with this SM.  While OpenSM holds its lock, keeps the other master
 * that was seen last. */
static void watch_sm(struct triad_worker *worker)
{
	struct triad_sm_sight sight = worker->watch.last;
	char text[400];
	uint32_t changed;

	sight.now_us = triad_clock_now_us();
	sight.is_master = worker->sm == TRIAD_SM_MASTER;
	sight.is_sweeping = worker->is_sweeping;
	sight.n_sweeps = (uint32_t)atomic_load(&worker->sweeps_begun);
	(void)triad_sm_other_master(worker->osm, &sight.other_master, &sight.waits);
	triad_sm_smps(worker->osm, &sight.n_outstanding, &sight.n_smps);
	changed = triad_sm_watch_look(&worker->watch, &sight);
	pthread_mutex_lock(&worker->lock);
	worker->status.sm = worker->watch;
	pthread_mutex_unlock(&worker->lock);
	for (unsigned i = 0; i < TRIAD_SM_N_TROUBLES; i++) {
		recover_sm(worker, i);
		if (!(changed >> i & 1))
			continue;
		triad_sm_watch_text(&worker->watch, i, text, sizeof(text));
		triad_log_write(worker->log,
			worker->watch.is_raised[i] ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
			"SM: %s", text);
	}
}

/* As standby, uses the fabric that this SM discovered, and then that of the master's
 * SA. */
static void look_at_role(struct triad_worker *worker)
{
	bool reads = worker->sm == TRIAD_SM_STANDBY &&
		triad_perf_wants(worker->perf, TRIAD_SM_STANDBY);

	if (reads == worker->reads_as_standby)
		return;
	worker->reads_as_standby = reads;
	if (reads) {
		copy_subnet(worker);
		triad_sa_source_set_key(worker->source, triad_sm_sa_key(worker->osm));
		/* false: this SM may have discovered the fabric long ago. */
		triad_sa_source_set_known(worker->source, worker->fabric, false);
	}
	triad_sa_source_want(
		worker->source, reads ? TRIAD_SA_TABLES : TRIAD_SA_NOTHING);
}

/* Aliases come and go without an event of OpenSM's. */
static void look_at_aliases(struct triad_worker *worker)
{
	uint32_t n;

	if (worker->sm != TRIAD_SM_MASTER || !worker->fabric ||
		!triad_qos_wants_fabric(worker->qos))
		return;
	n = triad_osm_lookup_n_aliases(worker->osm);
	if (triad_qos_take_outdated(worker->qos) || (n && n != worker->n_aliases))
		copy_subnet_for_paths(worker);
}

/* Copies the subnet again when ports have told speeds that OpenSM does not know; not
 * while a copy is due or a sweep under way, which ends with one. */
static void look_at_speeds(struct triad_worker *worker)
{
	if (worker->sm == TRIAD_SM_MASTER && !worker->is_sweeping &&
		worker->snapshot_due_us == UINT64_MAX &&
		triad_speed_reader_take_news(worker->speeds))
		worker->snapshot_due_us = triad_clock_now_us();
}

/* Passes the SM's reports to the alerts. */
static void note_traps(struct triad_worker *worker)
{
	struct triad_watch *watch = triad_perf_watch(worker->perf);
	struct triad_trap trap;

	while (triad_events_take_trap(worker->events, &trap))
		if (trap.lid)
			triad_watch_note_sm(
				watch, trap.number, trap.lid, trap.port, trap.at_us);
}

static void handle(struct triad_worker *worker, const struct triad_event *event)
{
	switch (event->kind) {
	case TRIAD_EVENT_SUBNET_UP:
		/* The lines of this sweep have been read before this event. */
		triad_sm_errors_up(&worker->errors);
		/* fall through */
	case TRIAD_EVENT_REROUTED:
		worker->is_sweeping &= event->kind == TRIAD_EVENT_REROUTED;
		worker->snapshot_due_us = event->at_us;
		worker->is_up = true;
		break;
	case TRIAD_EVENT_ROUTING_DONE:
		worker->snapshot_due_us = event->at_us + WITHOUT_SUBNET_UP_US;
		worker->is_up = false;
		copy_subnet_for_paths(worker);
		break;
	case TRIAD_EVENT_SWEEP_START:
		worker->is_sweeping = true;
		triad_watch_note_sm(
			triad_perf_watch(worker->perf), 0, 0, 0, event->at_us);
		break;
	case TRIAD_EVENT_TRAP:
		note_traps(worker);
		break;
	case TRIAD_EVENT_SWEEP_DONE:
	case TRIAD_EVENT_STATE_CHANGE:
	case TRIAD_N_EVENTS:
		break;
	}
}

static void *run_worker(void *argument)
{
	struct triad_worker *worker = argument;
	struct triad_console *console;
	struct triad_event event;
	uint64_t looked_us = triad_clock_now_us();
	bool has_one;

	while (!triad_events_are_stopped(worker->events)) {
		uint64_t now_us = triad_clock_now_us(), until_us = now_us + TICK_US;

		if (worker->snapshot_due_us < until_us)
			until_us = worker->snapshot_due_us > now_us
				? worker->snapshot_due_us
				: now_us;
		has_one = triad_events_take(worker->events, until_us, &event);
		read_osm_log(worker);
		/* From look to look, because the process may have been stopped at any
		 * point of the loop. */
		if (triad_clock_now_us() > looked_us + TICK_US + PAUSE_US)
			triad_qos_note_pause(worker->qos);
		looked_us = triad_clock_now_us();
		/* First of all, because only a master handles new routes. */
		look_at_sm_state(worker);
		if (has_one)
			handle(worker, &event);
		watch_sm(worker);
		look_at_role(worker);
		look_at_aliases(worker);
		look_at_speeds(worker);
		if (triad_clock_now_us() >= worker->snapshot_due_us)
			copy_subnet(worker);
		console = atomic_load(&worker->console);
		if (console)
			triad_console_arm(console);
	}
	return NULL;
}
