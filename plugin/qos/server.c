/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/server_parts.h"

#include <stdlib.h>

#include "plugin/ports/hold.h"
#include "plugin/takers.h"
#include "triad/thread.h"

/* --- threads --- */

/* Answers to GetTable and GetMulti may have thousands of records. */
static bool may_take_long(const struct triad_work_queue_job *job)
{
	return osm_madw_get_sa_mad_ptr(job->madw)->method != IB_MAD_METHOD_GET;
}

static void handle_in(struct triad_work_queue *queue, struct worker *worker,
	const struct triad_work_queue_job *job)
{
	bool is_long = may_take_long(job);

	if (is_long)
		triad_work_queue_begin_long(queue);
	worker_handle(worker, job);
	if (is_long)
		triad_work_queue_end_long(queue);
}

static void *answer_jobs(void *argument)
{
	struct triad_work_queue *queue = argument;
	struct triad_qos_server *server = queue->context;
	struct worker *worker = calloc(1, sizeof(*worker));
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH];
	unsigned n;

	/* Memory is short: pass all requests on to OpenSM, so that none stays in the
	 * queue. */
	if (!worker) {
		while (triad_work_queue_take(
			queue, atomic_load(&server->generation), jobs, &n))
			for (unsigned i = 0; i < n; i++)
				triad_taker_pass_on(TRIAD_TAKER_PATHS, jobs[i].madw);
		return NULL;
	}
	worker->server = server;
	worker->is_slow = queue == &server->slow;
	worker->answer.records = worker->records;
	worker->answer.room = TRIAD_ANSWER_MAX_RECORDS;
	/* A new snapshot also wakes the thread, which then drops the old one even if no
	 * request comes. */
	while (triad_work_queue_take(queue, worker_generation(worker), jobs, &n)) {
		worker_refresh(worker);
		for (unsigned i = 0; i < n; i++)
			handle_in(queue, worker, &jobs[i]);
	}
	triad_qos_snapshot_unref(worker->snapshot);
	free(worker);
	return NULL;
}

/* --- receiving --- */

/* Does OpenSM's checks of a request; requests that fail them are left to OpenSM. */
static bool is_accepted(const struct triad_qos_server *server, const ib_sa_mad_t *mad)
{
	return !osm_exit_flag &&
		(!mad->sm_key || mad->sm_key == server->osm->subn.opt.sa_key);
}

static bool is_for_paths(const ib_sa_mad_t *mad)
{
	if (mad->attr_id == IB_MAD_ATTR_PATH_RECORD)
		return mad->method == IB_MAD_METHOD_GET ||
			mad->method == IB_MAD_METHOD_GETTABLE;
	return mad->attr_id == IB_MAD_ATTR_MULTIPATH_RECORD &&
		mad->method == IB_MAD_METHOD_GETMULTI &&
		mad->rmpp_flags & IB_RMPP_FLAG_ACTIVE;
}

/* OpenSM drops all requests during a master's first sweep.  But paths are valid as soon
 * as switches have their tables, and a snapshot exists then.  So take requests: after a
 * fail-over none waits for the rest of that sweep. */
static bool wants_request(struct triad_qos_server *server, const ib_sa_mad_t *mad)
{
	const struct osm_subn *subn = &server->osm->subn;
	bool is_for_info = mad->attr_id == IB_MAD_ATTR_CLASS_PORT_INFO &&
		mad->method == IB_MAD_METHOD_GET;

	/* Without 'qos TRUE' OpenSM's ClassPortInfo denies QoS in the SA: answer for
	 * it. */
	if (server_may_answer(server))
		return is_for_paths(mad) || (is_for_info && !subn->opt.qos);
	if (!is_for_paths(mad))
		return false;
	return server_must_wait(server) ||
		(triad_hold_has_any(server->hold) && server_is_master(server) &&
			!server_is_in_first_sweep(server));
}

/* A taker of requests. */
static bool take_request(void *context, struct osm_madw *madw, struct osm_madw *request)
{
	struct triad_qos_server *server = context;
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	struct triad_work_queue_job job = {
		.madw = madw, .lid = cl_ntoh16(madw->mad_addr.dest_lid)};

	(void)request;
	if (!wants_request(server, mad) || !is_accepted(server, mad))
		return false;
	server_count(&server->counts.received);
	job.received_ns = server_now_ns();
	if (triad_work_queue_put(&server->fast, &job))
		return true;
	server_count(&server->counts.overflowed);
	triad_clients_count_not_taken(&server->clients, job.lid);
	/* With a policy, drop the request, because OpenSM does not know the policy; the
	 * client repeats it. */
	if (!atomic_load(&server->has_policy))
		return false;
	server_give_back(server, madw);
	return true;
}

int triad_qos_server_install(struct triad_qos_server *server)
{
	return triad_taker_add(server->osm, TRIAD_TAKER_PATHS, take_request, server);
}

/* --- life --- */

static void end_queue(struct triad_qos_server *server, struct triad_work_queue *queue)
{
	struct triad_work_queue_job job;

	triad_work_queue_stop(queue);
	while (triad_work_queue_take_left(queue, &job))
		server_give_back(server, job.madw);
	triad_work_queue_clear(queue);
}

struct triad_qos_server *triad_qos_server_new(struct osm_opensm *osm,
	unsigned n_threads, struct triad_sampler *sampler, struct triad_hold *hold)
{
	struct triad_qos_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->osm = osm;
	server->sampler = sampler;
	server->hold = hold;
	pthread_mutex_init(&server->lock, NULL);
	triad_condition_init(&server->published);
	if (triad_work_queue_start(&server->fast, "triad-sa", n_threads, answer_jobs,
		    server, &server->generation))
		return server;
	triad_qos_server_free(server);
	return NULL;
}

/* Most routing engines need not be asked: until the first request that does, there is no
 * thread for it. */
bool server_put_slow(
	struct triad_qos_server *server, const struct triad_work_queue_job *job)
{
	bool has_slow;

	pthread_mutex_lock(&server->lock);
	if (!server->has_slow) {
		server->has_slow = triad_work_queue_start(&server->slow,
			"triad-sa-slow", 1, answer_jobs, server, &server->generation);
		if (!server->has_slow)
			triad_work_queue_clear(&server->slow);
	}
	has_slow = server->has_slow;
	pthread_mutex_unlock(&server->lock);
	return has_slow && triad_work_queue_put(&server->slow, job);
}

void triad_qos_server_free(struct triad_qos_server *server)
{
	if (!server)
		return;
	triad_qos_server_set_expects(server, false);
	end_queue(server, &server->fast);
	if (server->has_slow)
		end_queue(server, &server->slow);
	triad_qos_snapshot_unref(server->snapshot);
	pthread_cond_destroy(&server->published);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

void triad_qos_server_set_snapshot(
	struct triad_qos_server *server, struct triad_qos_snapshot *snapshot)
{
	struct triad_qos_snapshot *old;
	bool has_slow;

	pthread_mutex_lock(&server->lock);
	has_slow = server->has_slow;
	old = server->snapshot;
	server->snapshot = snapshot ? triad_qos_snapshot_ref(snapshot) : NULL;
	atomic_store(&server->generation, snapshot ? snapshot->generation : 0);
	atomic_store(&server->has_policy,
		snapshot && snapshot->classifier && !snapshot->osm_has_it);
	atomic_store(&server->handed_over_until_us, 0);
	pthread_cond_broadcast(&server->published);
	pthread_mutex_unlock(&server->lock);
	triad_qos_snapshot_unref(old);
	triad_work_queue_wake(&server->fast);
	if (has_slow)
		triad_work_queue_wake(&server->slow);
}

void triad_qos_server_set_paused(struct triad_qos_server *server, bool was_paused)
{
	atomic_store(&server->was_paused, was_paused);
	/* A request may have begun the time after a hand-over before the pause was
	 * noticed. */
	if (was_paused && atomic_load(&server->handed_over_until_us))
		atomic_store(&server->handed_over_until_us, triad_clock_now_us());
}

void triad_qos_server_set_expects(struct triad_qos_server *server, bool expects)
{
	pthread_mutex_lock(&server->lock);
	atomic_store(&server->expects, expects);
	pthread_cond_broadcast(&server->published);
	pthread_mutex_unlock(&server->lock);
}

void triad_qos_server_set_sweeping(struct triad_qos_server *server, bool sweeping)
{
	atomic_store(&server->sweeping, sweeping);
}

bool triad_qos_server_take_outdated(struct triad_qos_server *server)
{
	return atomic_exchange(&server->outdated, false);
}

struct triad_qos_server_status triad_qos_server_status(struct triad_qos_server *server)
{
	const struct server_counts *counts = &server->counts;
	struct triad_qos_server_status status = {
		.installed = triad_taker_is_asked(TRIAD_TAKER_PATHS),
		.n_received = atomic_load(&counts->received),
		.n_answered = atomic_load(&counts->answered),
		.n_refused = atomic_load(&counts->refused),
		.n_overflowed = atomic_load(&counts->overflowed),
		.n_slow = atomic_load(&counts->slow),
		.n_class_port_infos = atomic_load(&counts->class_port_infos),
		.n_waited = atomic_load(&counts->waited),
		.n_handed_over = atomic_load(&counts->handed_over),
		.n_held = atomic_load(&counts->held),
		.latency = triad_latency_summarize(&server->latency),
	};

	for (unsigned i = 0; i < TRIAD_N_FALLBACKS; i++)
		status.n_fallbacks[i] = atomic_load(&counts->fallbacks[i]);
	return status;
}

const struct triad_clients *triad_qos_server_clients(struct triad_qos_server *server)
{
	return &server->clients;
}
