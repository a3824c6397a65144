/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds, from settings, a policy and a fabric, the snapshot that answers requests, and
 * puts the policy's tables into force. */
#include "plugin/opensm.h"

#include "plugin/qos/qos_parts.h"

#include <errno.h>

#include "plugin/qos/unmatched.h"
#include "plugin/takers.h"
#include "triad/clock.h"
#include "triad/log.h"

/* Threads that answer requests: one answers more than OpenSM can take in and send, and another
 * goes on where one waits for a lock of OpenSM. */
#define N_THREADS 2

/* The inputs of a snapshot; holds references to them. */
struct inputs {
	struct triad_qos_settings settings;
	struct triad_policy_now now;
	struct triad_policy *offered; /* the one read last; now.policy is in force */
	struct triad_fabric *fabric;
	unsigned long n_forgotten;
	struct triad_qos_moment before;
	bool settled, up;
};

static struct inputs copy_inputs(struct triad_qos *qos)
{
	struct inputs inputs = {.now = triad_policy_source_now(&qos->source)};

	pthread_mutex_lock(&qos->lock);
	inputs.settings = qos->settings;
	inputs.fabric = qos->fabric ? triad_fabric_ref(qos->fabric) : NULL;
	inputs.n_forgotten = qos->n_forgotten;
	inputs.before = qos->fabric_before;
	inputs.settled = qos->fabric_settled;
	inputs.up = qos->fabric_up;
	pthread_mutex_unlock(&qos->lock);
	return inputs;
}

static void set_state(struct triad_qos *qos, enum triad_qos_state state)
{
	enum triad_qos_state old;

	pthread_mutex_lock(&qos->lock);
	old = qos->status.state;
	qos->status.state = state;
	pthread_mutex_unlock(&qos->lock);
	if (state == old)
		return;
	triad_log_write(qos->log,
		state > TRIAD_QOS_ANSWERING ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
		"QoS answers: %s", triad_qos_state_name(state));
	triad_recorder_note_text(qos->recorder, TRIAD_TIMELINE_QOS, "answers: %s",
		triad_qos_state_name(state));
}

/* Puts the snapshot, or NULL, into force and takes over the caller's reference.  If
 * this SM ceased to be master while it was made, frees it and returns false: the old
 * one serves the remaining requests. */
static bool publish_snapshot(struct triad_qos *qos, struct triad_qos_snapshot *snapshot,
	unsigned long n_forgotten)
{
	struct triad_qos_snapshot *old = snapshot;
	bool is_past;

	pthread_mutex_lock(&qos->lock);
	is_past = snapshot && qos->n_forgotten != n_forgotten;
	if (!is_past) {
		old = qos->snapshot;
		qos->snapshot = snapshot;
		triad_qos_server_set_snapshot(qos->server, snapshot);
	}
	pthread_mutex_unlock(&qos->lock);
	triad_qos_snapshot_unref(old);
	return !is_past;
}

static void describe_snapshot(struct triad_qos *qos,
	const struct triad_qos_snapshot *snapshot, const struct inputs *inputs,
	uint64_t begun_us)
{
	struct triad_qos_status *status = &qos->status;

	pthread_mutex_lock(&qos->lock);
	status->generation = snapshot->generation;
	status->built_us = triad_clock_now_us() - begun_us;
	status->octets = snapshot->paths->octets +
		(snapshot->classifier ? triad_classifier_octets(snapshot->classifier)
				      : 0);
	status->has_policy = inputs->now.policy;
	status->n_rules = inputs->now.policy ? inputs->now.policy->n_rules : 0;
	status->n_levels = inputs->now.policy ? inputs->now.policy->n_levels : 0;
	status->n_groups = inputs->now.policy ? inputs->now.policy->n_groups : 0;
	pthread_mutex_unlock(&qos->lock);
}

static int make_snapshot(struct triad_qos *qos, const struct inputs *inputs,
	struct triad_qos_snapshot **snapshot)
{
	struct triad_classifier *classifier = NULL;
	struct triad_paths *paths = NULL;
	int error = 0;

	/* Reuse the paths, which are the larger part, if only the policy is new. */
	pthread_mutex_lock(&qos->lock);
	if (qos->snapshot && qos->snapshot->paths->fabric == inputs->fabric)
		paths = triad_paths_ref(qos->snapshot->paths);
	pthread_mutex_unlock(&qos->lock);
	if (!paths)
		error = triad_paths_build(inputs->fabric, &paths);
	if (!error && inputs->now.policy)
		error = triad_classifier_compile(
			inputs->now.policy, inputs->fabric, &classifier);
	if (error) {
		triad_paths_unref(paths);
		return error;
	}
	*snapshot = triad_qos_snapshot_new(paths, classifier, inputs->now.is_osm);
	return *snapshot ? 0 : ENOMEM;
}

/* Marks that came while new paths were built may have missed them: mark all these paths
 * then.  Paths that were in force before have received the marks. */
static void put_into_force(struct triad_qos *qos, const struct inputs *inputs,
	struct triad_qos_snapshot *snapshot)
{
	bool is_new = !qos->snapshot || qos->snapshot->paths != snapshot->paths;

	/* Publish first, then compare: the new paths receive a mark in between. */
	if (!publish_snapshot(qos, snapshot, inputs->n_forgotten))
		return;
	if (is_new && atomic_load(&qos->marks) != inputs->before.marks) {
		triad_paths_mark_all(snapshot->paths);
		return;
	}
	if (!inputs->settled || atomic_load(&qos->sweeps) != inputs->before.sweeps)
		return;
	triad_qos_server_set_sweeping(qos->server, false);
	/* Don't lose a sweep that began meanwhile. */
	if (atomic_load(&qos->sweeps) != inputs->before.sweeps)
		triad_qos_server_set_sweeping(qos->server, true);
}

/* Makes the server unless it exists; it stays until the end.  False: memory is
 * short. */
static bool make_server(struct triad_qos *qos)
{
	if (!qos->server)
		atomic_store(&qos->server,
			triad_qos_server_new(
				qos->osm, N_THREADS, qos->sampler, qos->hold));
	return qos->server;
}

static enum triad_qos_state build_snapshot(
	struct triad_qos *qos, const struct inputs *inputs)
{
	uint64_t begun_us = triad_clock_now_us();
	struct triad_qos_snapshot *snapshot = NULL;
	int error;

	if (!inputs->settings.enabled) {
		/* Here the hook only refuses paths to held ports. */
		if (inputs->settings.holds && make_server(qos))
			(void)triad_qos_server_install(qos->server);
		return TRIAD_QOS_OFF;
	}
	if (!make_server(qos))
		return TRIAD_QOS_NO_MEMORY;
	if (inputs->now.is_broken)
		return TRIAD_QOS_BROKEN;
	if (!inputs->fabric) {
		/* Requests wait for the first snapshot, so the hook must be there. */
		(void)triad_qos_server_install(qos->server);
		if (!triad_qos_server_answers_on(qos->server))
			(void)publish_snapshot(qos, NULL, 0);
		return TRIAD_QOS_WAITING;
	}
	error = make_snapshot(qos, inputs, &snapshot);
	if (error)
		return error == EOVERFLOW ? TRIAD_QOS_TOO_LARGE : TRIAD_QOS_NO_MEMORY;
	describe_snapshot(qos, snapshot, inputs, begun_us);
	put_into_force(qos, inputs, snapshot);
	error = triad_qos_server_install(qos->server);
	if (error)
		return error == ENOTCONN ? TRIAD_QOS_WAITING : TRIAD_QOS_REFUSED;
	return TRIAD_QOS_ANSWERING;
}

/* --- tables --- */

static void see_to_tables(struct triad_qos *qos, const struct inputs *inputs)
{
	/* Don't compare tables in mid-sweep: OpenSM has not sent all of them yet. */
	bool is_settled =
		inputs->up && atomic_load(&qos->sweeps) == inputs->before.sweeps;
	struct triad_tables_goal goal = {
		.policy = inputs->offered,
		.n_loads = inputs->now.n_loads,
		.is_enabled = inputs->settings.tables,
		.guarded = inputs->settings.tables_guard,
		.fabric = inputs->fabric,
		.is_settled = is_settled,
		.sweeps = &qos->sweeps,
		.n_sweeps = inputs->before.sweeps,
	};

	triad_tables_see_to(qos->tables, &goal);
}

static void accept_policy(struct triad_qos *qos, struct triad_policy *policy)
{
	triad_policy_unref(qos->accepted);
	qos->accepted = policy ? triad_policy_ref(policy) : NULL;
}

/* Levels of a policy need its tables.  So offers the tables first, and keeps the
 * accepted policy if they are refused. */
static void choose_policy(struct triad_qos *qos, struct inputs *inputs)
{
	bool is_refused = false;

	inputs->offered =
		inputs->now.policy ? triad_policy_ref(inputs->now.policy) : NULL;
	if (inputs->settings.tables && inputs->offered != qos->accepted) {
		see_to_tables(qos, inputs);
		is_refused = triad_tables_status(qos->tables).refused;
	}
	pthread_mutex_lock(&qos->lock);
	qos->status.is_refused = is_refused;
	pthread_mutex_unlock(&qos->lock);
	if (!is_refused) {
		accept_policy(qos, inputs->offered);
		return;
	}
	/* Refused: keep answering by the policy accepted before. */
	triad_policy_unref(inputs->now.policy);
	inputs->now.policy = qos->accepted ? triad_policy_ref(qos->accepted) : NULL;
}

/* Returns true when the tables refused the accepted policy after all: the caller then
 * repeats this without it. */
static bool work_once(struct triad_qos *qos)
{
	struct inputs inputs = copy_inputs(qos);
	enum triad_qos_state state;
	bool is_taken_back;

	choose_policy(qos, &inputs);
	state = build_snapshot(qos, &inputs);
	if (qos->server && state != TRIAD_QOS_ANSWERING && state != TRIAD_QOS_WAITING) {
		/* Keep the hook if it has to refuse paths to held ports. */
		if (!inputs.settings.holds)
			triad_taker_remove(TRIAD_TAKER_PATHS);
		(void)publish_snapshot(qos, NULL, 0);
	}
	if (qos->server)
		triad_qos_server_set_expects(qos->server,
			state == TRIAD_QOS_ANSWERING || state == TRIAD_QOS_WAITING);
	set_state(qos, state);
	/* Report these even without answers: tables and groups use the names, too. */
	if (inputs.now.policy && inputs.fabric &&
		triad_qos_wants_policy(&inputs.settings))
		triad_qos_report_unmatched(qos->log, inputs.now.policy, inputs.fabric,
			&qos->reported_not_found);
	see_to_tables(qos, &inputs);
	triad_broadcast_set_policy(
		qos->broadcast, inputs.settings.groups ? inputs.now.policy : NULL);
	/* A policy may be accepted before there is a fabric and be refused on it. */
	is_taken_back = inputs.offered && qos->accepted == inputs.offered &&
		inputs.settings.tables && triad_tables_status(qos->tables).refused;
	if (is_taken_back)
		accept_policy(qos, NULL);
	triad_policy_unref(inputs.now.policy);
	triad_policy_unref(inputs.offered);
	triad_fabric_unref(inputs.fabric);
	return is_taken_back;
}

void triad_qos_work(struct triad_qos *qos)
{
	if (work_once(qos))
		(void)work_once(qos);
}
