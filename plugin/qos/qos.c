/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/qos_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/takers.h"
#include "plugin/sm_state.h"
#include "triad/clock.h"
#include "triad/log.h"
#include "triad/thread.h"

/* How often to retry installing the hook between OpenSM and its SA. */
#define RETRY_US (TRIAD_US_PER_S / 4)

/* With the lock.  Tables that were set off are Triad's until sweeps have given them back. */
static bool needs_thread(struct triad_qos *qos)
{
	return triad_qos_wants_policy(&qos->settings) || qos->settings.holds ||
		triad_tables_status(qos->tables).state != TRIAD_TABLES_OFF;
}

/* With the lock.  Returns 0 or an errno: there is no thread. */
static int wake(struct triad_qos *qos)
{
	int error = 0;

	qos->work_wanted = true;
	if (needs_thread(qos))
		error = triad_task_start(&qos->task);
	triad_task_wake(&qos->task);
	return error;
}

const char *triad_qos_state_name(enum triad_qos_state state)
{
	static const char *const names[TRIAD_QOS_N_STATES] = {
		[TRIAD_QOS_OFF] = "off",
		[TRIAD_QOS_WAITING] = "waiting for the subnet to come up",
		[TRIAD_QOS_STANDBY] = "not here: the master SM answers",
		[TRIAD_QOS_ANSWERING] = "answering",
		[TRIAD_QOS_BROKEN] = "the policy has mistakes: OpenSM answers",
		[TRIAD_QOS_TOO_LARGE] =
			"the policy is too large for this fabric: OpenSM answers",
		[TRIAD_QOS_NO_MEMORY] = "not enough memory: OpenSM answers",
		[TRIAD_QOS_REFUSED] = ("this OpenSM is laid out otherwise than the one "
				       "Triad was built for: OpenSM answers"),
	};

	return state < TRIAD_QOS_N_STATES ? names[state] : "unknown";
}

int triad_qos_load(struct triad_qos *qos, struct triad_diags *diags)
{
	int error = triad_policy_source_load(&qos->source, diags);

	pthread_mutex_lock(&qos->lock);
	(void)wake(qos);
	pthread_mutex_unlock(&qos->lock);
	return error;
}

static bool is_enabled(struct triad_qos *qos)
{
	return TRIAD_LOCKED(&qos->lock, triad_qos_wants_policy(&qos->settings));
}

static uint64_t renew_snapshot(void *context)
{
	struct triad_qos *qos = context;
	struct triad_diags *diags = NULL;
	bool look = atomic_exchange(&qos->look_wanted, false);
	/* Retry until OpenSM has bound its SA and the hook can be installed.  And drop
	 * a snapshot that is kept for a limited time. */
	bool retries = !look && qos->status.state == TRIAD_QOS_WAITING &&
		(qos->snapshot || !triad_taker_is_asked(TRIAD_TAKER_PATHS));
	bool is_due = qos->work_wanted || retries, loads;

	qos->work_wanted = false;
	/* Reading the file and the work take long; OpenSM's threads need the lock for
	 * their marks. */
	pthread_mutex_unlock(&qos->lock);
	loads = atomic_exchange(&qos->load_desired, false) ||
		(look && is_enabled(qos) &&
			triad_policy_source_has_changed(&qos->source));
	/* The list of mistakes is too large for the stack.  Free it: they are
	 * logged. */
	if (loads)
		diags = malloc(sizeof(*diags));
	if (diags)
		(void)triad_policy_source_load(&qos->source, diags);
	free(diags);
	if (is_due || loads)
		triad_qos_work(qos);
	pthread_mutex_lock(&qos->lock);
	if (!needs_thread(qos) && !qos->work_wanted)
		return TRIAD_TASK_DONE;
	return atomic_load(&qos->look_wanted) ? 0 : triad_clock_now_us() + RETRY_US;
}

/* --- life --- */

struct triad_qos *triad_qos_new(struct osm_opensm *osm, struct triad_sampler *sampler,
	struct triad_hold *hold, struct triad_recorder *recorder, struct triad_log *log)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	struct triad_qos *qos = calloc(1, sizeof(*qos));

	if (!qos)
		return NULL;
	qos->tables = triad_tables_new(osm, recorder, log);
	qos->broadcast = triad_broadcast_new(osm, log);
	if (!qos->tables || !qos->broadcast) {
		triad_tables_free(qos->tables);
		triad_broadcast_free(qos->broadcast);
		free(qos);
		return NULL;
	}
	qos->osm = osm;
	qos->recorder = recorder;
	qos->log = log;
	triad_policy_source_init(
		&qos->source, opt->qos ? opt->qos_policy_file : NULL, recorder, log);
	pthread_mutex_init(&qos->lock, NULL);
	triad_task_init(&qos->task, &qos->lock, "triad-qos", renew_snapshot, qos);
	qos->sampler = sampler;
	qos->hold = hold;
	return qos;
}

void triad_qos_free(struct triad_qos *qos)
{
	if (!qos)
		return;
	/* Stop our thread first, so that it does not install the hook again. */
	(void)triad_task_stop(&qos->task, UINT64_MAX);
	if (qos->server)
		triad_taker_remove(TRIAD_TAKER_PATHS);
	triad_qos_server_free(qos->server);
	triad_qos_snapshot_unref(qos->snapshot);
	triad_tables_free(qos->tables);
	triad_broadcast_free(qos->broadcast);
	triad_policy_unref(qos->accepted);
	triad_policy_source_clear(&qos->source);
	triad_fabric_unref(qos->fabric);
	triad_task_clear(&qos->task);
	pthread_mutex_destroy(&qos->lock);
	free(qos);
}

void triad_qos_configure(struct triad_qos *qos, const struct triad_conf *conf)
{
	struct triad_qos_settings settings = {
		.enabled = conf->qos.enabled,
		.tables = conf->qos.tables_enabled,
		.tables_guard = conf->qos.tables_guard,
		.groups = conf->qos.partition_groups,
		.holds = conf->port.enabled && conf->port.mode == TRIAD_PORT_ENFORCE,
	};
	bool wanted = triad_qos_wants_policy(&settings);
	int error;

	/* Another file or another default level makes another policy. */
	bool is_other = triad_policy_source_configure(
		&qos->source, conf->qos.policy_file, conf->qos.default_level);

	pthread_mutex_lock(&qos->lock);
	if (is_other || (wanted && !triad_qos_wants_policy(&qos->settings)))
		atomic_store(&qos->load_desired, wanted);
	qos->settings = settings;
	error = wake(qos);
	pthread_mutex_unlock(&qos->lock);
	if (error)
		triad_log_write(qos->log, TRIAD_LOG_ERROR,
			"qos: no thread for it: %s; type 'triadctl reload' to try again",
			strerror(error));
}

/* --- fabrics and marks --- */

bool triad_qos_wants_fabric(struct triad_qos *qos)
{
	return is_enabled(qos);
}

bool triad_qos_take_outdated(struct triad_qos *qos)
{
	struct triad_qos_server *server = qos->server;

	return server && triad_qos_server_take_outdated(server);
}

struct triad_qos_moment triad_qos_now(struct triad_qos *qos)
{
	return (struct triad_qos_moment){
		.sweeps = atomic_load(&qos->sweeps), .marks = atomic_load(&qos->marks)};
}

void triad_qos_set_fabric(struct triad_qos *qos, struct triad_fabric *fabric,
	const struct triad_qos_moment *before, enum triad_qos_phase phase)
{
	/* A new sweep may have begun since the last one finished. */
	bool is_up =
		phase == TRIAD_QOS_UP && atomic_load(&qos->sweeps_up) == before->sweeps;
	struct triad_fabric *old;
	bool goes_on;

	pthread_mutex_lock(&qos->lock);
	old = qos->fabric;
	qos->fabric = triad_fabric_ref(fabric);
	/* A second fabric of the same sweep keeps what the first one was: up or
	 * settled. */
	goes_on = old && qos->fabric_before.sweeps == before->sweeps;
	qos->fabric_up = is_up || (goes_on && qos->fabric_up);
	qos->fabric_settled =
		is_up || phase == TRIAD_QOS_LATE || (goes_on && qos->fabric_settled);
	qos->fabric_before = *before;
	(void)wake(qos);
	pthread_mutex_unlock(&qos->lock);
	triad_fabric_unref(old);
}

void triad_qos_forget_fabric(struct triad_qos *qos)
{
	struct triad_qos_server *server = qos->server;
	struct triad_fabric *old;

	triad_broadcast_forget(qos->broadcast);
	pthread_mutex_lock(&qos->lock);
	old = qos->fabric;
	qos->fabric = NULL;
	qos->n_forgotten += old != NULL;
	/* Start the time before triad-qos checks whether to drop the snapshot. */
	if (old && server)
		triad_qos_server_hand_over(server);
	(void)wake(qos);
	pthread_mutex_unlock(&qos->lock);
	triad_fabric_unref(old);
}

void triad_qos_note_sweep(struct triad_qos *qos)
{
	struct triad_qos_server *server = qos->server;

	atomic_fetch_add(&qos->sweeps, 1);
	if (server)
		triad_qos_server_set_sweeping(server, true);
	triad_tables_note_sweep(qos->tables);
	atomic_store(&qos->look_wanted, true);
	/* Signal without the lock: if the thread misses it, it looks after RETRY_US. */
	pthread_cond_signal(&qos->task.changed);
}

void triad_qos_note_discovered(struct triad_qos *qos)
{
	triad_tables_note_sweep(qos->tables);
}

void triad_qos_note_up(struct triad_qos *qos)
{
	struct triad_qos_server *server = qos->server;

	atomic_store(&qos->sweeps_up, atomic_load(&qos->sweeps));
	if (server)
		triad_qos_server_set_paused(server, false);
}

void triad_qos_note_pause(struct triad_qos *qos)
{
	struct triad_qos_server *server = qos->server;

	if (server)
		triad_qos_server_set_paused(server, true);
}

void triad_qos_note_routed(struct triad_qos *qos)
{
	triad_tables_note_routed(qos->tables);
	triad_broadcast_apply(qos->broadcast);
}

void triad_qos_note_port(struct triad_qos *qos, uint64_t guid)
{
	atomic_fetch_add(&qos->marks, 1);
	pthread_mutex_lock(&qos->lock);
	if (qos->snapshot)
		triad_paths_mark_port(qos->snapshot->paths, guid);
	pthread_mutex_unlock(&qos->lock);
}

void triad_qos_note_route(struct triad_qos *qos, uint64_t node_guid, unsigned block)
{
	atomic_fetch_add(&qos->marks, 1);
	pthread_mutex_lock(&qos->lock);
	if (qos->snapshot)
		triad_paths_mark_route(qos->snapshot->paths, node_guid, block);
	pthread_mutex_unlock(&qos->lock);
}

/* --- for commands --- */

struct triad_qos_status triad_qos_status(struct triad_qos *qos)
{
	struct triad_qos_status status;
	struct triad_policy_now now;

	status = TRIAD_LOCKED(&qos->lock, qos->status);
	if (status.state == TRIAD_QOS_WAITING && triad_sm_is_standby(qos->osm))
		status.state = TRIAD_QOS_STANDBY;
	now = triad_policy_source_now(&qos->source);
	triad_policy_unref(now.policy);
	memcpy(status.policy, now.file, sizeof(status.policy));
	status.is_edited =
		status.has_policy && triad_policy_source_has_changed(&qos->source);
	status.loaded_wall_us = now.loaded_wall_us;
	status.n_loads = now.n_loads;
	status.n_failed_loads = now.n_failed;
	status.has_failed = now.has_failed;
	memcpy(status.why, now.why, sizeof(status.why));
	if (qos->server)
		status.server = triad_qos_server_status(qos->server);
	return status;
}

struct triad_qos_snapshot *triad_qos_snapshot(struct triad_qos *qos)
{
	return TRIAD_LOCKED(&qos->lock,
		qos->snapshot ? triad_qos_snapshot_ref(qos->snapshot) : NULL);
}

struct triad_fabric *triad_qos_fabric(struct triad_qos *qos)
{
	return TRIAD_LOCKED(
		&qos->lock, qos->fabric ? triad_fabric_ref(qos->fabric) : NULL);
}

struct triad_policy *triad_qos_policy(struct triad_qos *qos)
{
	return triad_policy_source_now(&qos->source).policy;
}

struct triad_tables *triad_qos_tables(struct triad_qos *qos)
{
	return qos->tables;
}

struct triad_tables_status triad_qos_tables_status(struct triad_qos *qos)
{
	struct triad_tables_status status = triad_tables_status(qos->tables);
	struct triad_policy_now now = triad_policy_source_now(&qos->source);

	triad_policy_unref(now.policy);
	if (status.n_loads != now.n_loads &&
		(status.state == TRIAD_TABLES_IN_FORCE ||
			status.state == TRIAD_TABLES_DIFFERENT ||
			status.state == TRIAD_TABLES_ENGINE))
		status.state = TRIAD_TABLES_WAITING;
	return status;
}

const struct triad_clients *triad_qos_clients(struct triad_qos *qos)
{
	return qos->server ? triad_qos_server_clients(qos->server) : NULL;
}

const char *triad_qos_problem(const struct triad_qos_status *status)
{
	if (status->has_failed)
		return "the file read last has mistakes and is not in force; OpenSM's "
		       "log has them, and 'triadctl qos check FILE' shows them";
	if (status->is_refused)
		return "the policy read last is refused, rules and tables: it would "
		       "cut the SM off or close a credit loop; 'triadctl qos plan' shows "
		       "it";
	if (status->is_edited)
		return "the file was changed since it was read: 'triadctl qos apply' "
		       "or the SM's next heavy sweep reads it again";
	return NULL;
}
