/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/qos/class_port_info.h"
#include "plugin/qos/hook.h"
#include "plugin/qos/work_queue.h"
#include "plugin/ports/hold.h"
#include "plugin/qos/osm_lookup.h"
#include "plugin/qos/sample.h"
#include "qos/restrict.h"
#include "triad/thread.h"

struct counts {
	atomic_ulong received, answered, refused, overflowed, slow, class_port_infos;
	atomic_ulong held, waited, handed_over;
	atomic_ulong fallbacks[TRIAD_N_FALLBACKS];
};

struct triad_qos_server {
	struct osm_opensm *osm;
	struct triad_sampler *sampler;
	struct triad_hold *hold;
	struct triad_sa_hook hook;
	struct triad_work_queue fast, slow;
	struct counts counts;
	struct triad_latency latency;
	struct triad_clients clients;
	atomic_bool sweeping;
	atomic_bool has_policy;  /* that OpenSM has not */
	atomic_bool outdated;    /* OpenSM knows aliases otherwise than the snapshot */
	atomic_bool expects;     /* that there will be a snapshot */
	atomic_ulong generation; /* of 'snapshot'; 0: none */
	/* Until then 'snapshot' serves as standby; 0: this SM is still the master of whose
	 * fabric it is. */
	atomic_uint_fast64_t handed_over_until_us;
	pthread_mutex_t lock; /* of the pointer alone */
	pthread_cond_t published;
	struct triad_qos_snapshot *snapshot;
};

/* The callback that OpenSM's vendor calls knows OpenSM alone. */
static _Atomic(struct triad_qos_server *) installed;

/* One thread of a queue, and its own reference to the snapshot. */
struct worker {
	struct triad_qos_server *server;
	struct triad_qos_snapshot *snapshot;
	bool is_slow;
	struct triad_path_request request;
	struct triad_answer answer;
	struct triad_path_record records[TRIAD_ANSWER_MAX_RECORDS];
};

static void count(atomic_ulong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- what this SM is --- */

static bool is_master(const struct triad_qos_server *server)
{
	return server->osm->subn.sm_state == IB_SMINFO_STATE_MASTER;
}

void triad_qos_server_hand_over(struct triad_qos_server *server)
{
	uint_fast64_t none = 0;

	atomic_compare_exchange_strong(&server->handed_over_until_us, &none,
		triad_clock_now_us() + TRIAD_QOS_AFTER_HAND_OVER_US);
}

/* Whether there is a snapshot, and it may be answered from: as master, one of this time as
 * master; as standby, that of the time before, for a while. */
static bool has_snapshot(struct triad_qos_server *server)
{
	if (!atomic_load(&server->generation))
		return false;
	if (is_master(server))
		return !atomic_load(&server->handed_over_until_us);
	if (server->osm->subn.sm_state != IB_SMINFO_STATE_STANDBY)
		return false;
	/* The thread that learns of it is behind, and no request may be lost meanwhile. */
	triad_qos_server_hand_over(server);
	return triad_clock_now_us() < atomic_load(&server->handed_over_until_us);
}

/* Whether requests wait for a snapshot.  OpenSM would drop them. */
static bool is_awaited(struct triad_qos_server *server)
{
	return atomic_load(&server->expects) && is_master(server) &&
		server->osm->subn.first_time_master_sweep && !has_snapshot(server);
}

/* --- handing on --- */

static void give_back(struct triad_qos_server *server, osm_madw_t *madw)
{
	osm_mad_pool_put(&server->osm->mad_pool, madw);
}

static void pass_on(struct triad_qos_server *server, osm_madw_t *madw)
{
	server->hook.original(madw, &server->osm->sa.mad_ctrl, NULL);
}

static uint8_t *record_of(const osm_madw_t *madw)
{
	return ib_sa_mad_get_payload_ptr(osm_madw_get_sa_mad_ptr(madw));
}

/* Narrows a request that OpenSM will answer to what its QoS level allows.  Returns
 * false when that leaves nothing to be found.  Requests for a multicast group stay as
 * they are: SL, MTU and rate are those that the group was made with. */
static bool narrow(struct worker *worker, osm_madw_t *madw)
{
	const struct triad_qos_snapshot *snapshot = worker->snapshot;
	const struct triad_answer_snapshot answers = {
		.paths = snapshot->paths, .classifier = snapshot->classifier};
	ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	uint32_t from = worker->answer.source, to = worker->answer.destination;
	uint64_t mask = cl_ntoh64(mad->comp_mask);
	const struct triad_policy *policy;
	uint32_t level, rule;
	uint16_t pkey = 0;
	bool fits;

	if (!snapshot->classifier || snapshot->osm_has_it ||
		worker->answer.fallback == TRIAD_FALLBACK_MULTICAST)
		return true;
	policy = triad_classifier_policy(snapshot->classifier);
	level = triad_answer_level(&answers, &worker->request, from, to, &rule);
	if (from != TRIAD_FABRIC_NONE && to != TRIAD_FABRIC_NONE)
		pkey = triad_path_level_pkey(
			snapshot->paths, &policy->levels[level], from, to);
	fits = triad_request_restrict(
		&policy->levels[level], &worker->request, pkey, record_of(madw), &mask);
	if (fits)
		mad->comp_mask = cl_hton64(mask);
	return fits;
}

/* --- answers --- */

/* OpenSM's own function makes the MAD, so that its header is the same octet for octet,
 * and frees the items. */
static void respond_records(struct worker *worker, osm_madw_t *madw)
{
	struct triad_qos_server *server = worker->server;
	ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	cl_qlist_t list;

	cl_qlist_init(&list);
	for (uint32_t i = 0; i < worker->answer.n; i++) {
		/* OpenSM's items end with what they carry: no whole struct. */
		void *memory = malloc(SA_ITEM_RESP_SIZE(path_rec));
		osm_sa_item_t *item = memory;

		/* Without memory the client gets fewer paths.  None would say that there
		 * is no path. */
		if (!item && !i) {
			osm_sa_send_error(
				&server->osm->sa, madw, IB_SA_MAD_STATUS_NO_RESOURCES);
			return;
		}
		if (!item)
			break;
		triad_path_record_write(
			&worker->answer.records[i], (uint8_t *)&item->resp.path_rec);
		cl_qlist_insert_tail(&list, &item->list_item);
	}
	/* Answers to a MultiPathRecord are PathRecords [IBA o15-0.2.7]. */
	if (worker->request.multi)
		mad->attr_id = IB_MAD_ATTR_PATH_RECORD;
	osm_sa_respond(&server->osm->sa, madw, sizeof(ib_path_rec_t), &list);
}

static bool is_no(const struct triad_answer *answer)
{
	return answer->kind == TRIAD_ANSWER_STATUS ||
		(answer->kind == TRIAD_ANSWER_RECORDS && !answer->n);
}

/* Whether each alias GUID that the request names still belongs to the same port. */
static bool names_are_there(const struct worker *worker)
{
	const struct triad_fabric *fabric = worker->snapshot->paths->fabric;
	const struct triad_path_request *request = &worker->request;
	unsigned n = request->multi ? request->n_sources + request->n_destinations : 2;

	for (unsigned i = 0; i < n; i++) {
		uint64_t guid = request->gids[i].guid;
		uint32_t port = TRIAD_FABRIC_NONE;

		if (request->multi ||
			(i ? request->n_destinations : request->n_sources))
			port = triad_fabric_find_alias(fabric, guid);
		if (port != TRIAD_FABRIC_NONE && fabric->ports[port].guid != guid &&
			!triad_osm_lookup_has_alias(
				worker->server->osm, fabric, port, guid))
			return false;
	}
	return true;
}

/* True when OpenSM has an alias GUID that a PathRecord names at another port than the
 * snapshot has.  Then the ends are set to OpenSM's, so that the level fits them. */
static bool is_outdated(struct worker *worker)
{
	struct osm_opensm *osm = worker->server->osm;
	const struct triad_fabric *fabric = worker->snapshot->paths->fabric;
	const struct triad_path_request *request = &worker->request;
	uint32_t *ends[2] = {&worker->answer.source, &worker->answer.destination};
	bool outdated = false;

	for (unsigned i = 0; i < 2 && !request->multi; i++) {
		uint64_t guid = request->gids[i].guid;
		uint32_t live = TRIAD_FABRIC_NONE;

		if (i ? request->n_destinations : request->n_sources)
			live = triad_osm_lookup_find_alias(osm, fabric, guid);
		if (live == TRIAD_FABRIC_NONE ||
			live == triad_fabric_find_alias(fabric, guid))
			continue;
		*ends[i] = live;
		outdated = true;
	}
	return outdated;
}

/* Whether the ends of the paths are where the snapshot has them; of a MultiPathRecord,
 * all of them. */
static bool ends_are_there(const struct worker *worker)
{
	struct osm_opensm *osm = worker->server->osm;
	const struct triad_fabric *fabric = worker->snapshot->paths->fabric;
	const struct triad_path_request *request = &worker->request;
	const struct triad_answer *answer = &worker->answer;

	if (!request->multi)
		return triad_osm_lookup_is_same(osm, fabric, answer->source) &&
			triad_osm_lookup_is_same(osm, fabric, answer->destination);
	for (unsigned i = 0; i < request->n_sources + request->n_destinations; i++)
		if (!triad_osm_lookup_is_same(osm, fabric,
			    triad_fabric_find_alias(fabric, request->gids[i].guid)))
			return false;
	return true;
}

/* Leaves to OpenSM what the snapshot may be too old for.  Aliases may change at any
 * time, everything else only while the SM sweeps. */
static void revalidate(struct worker *worker)
{
	struct triad_answer *answer = &worker->answer;

	if (answer->kind != TRIAD_ANSWER_FALL_BACK &&
		worker->snapshot->paths->has_aliases && !names_are_there(worker)) {
		answer->kind = TRIAD_ANSWER_FALL_BACK;
		answer->fallback = TRIAD_FALLBACK_UNKNOWN;
	}
	if (answer->kind == TRIAD_ANSWER_FALL_BACK) {
		if (answer->fallback == TRIAD_FALLBACK_UNKNOWN && is_outdated(worker))
			atomic_store(&worker->server->outdated, true);
		return;
	}
	if (!atomic_load(&worker->server->sweeping))
		return;
	/* What this sweep has just found may turn a "no" into a path. */
	if (!is_no(answer) && ends_are_there(worker))
		return;
	answer->kind = TRIAD_ANSWER_FALL_BACK;
	answer->fallback = TRIAD_FALLBACK_CHANGED;
}

static enum triad_sa_status read_request(struct worker *worker, const osm_madw_t *madw)
{
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	uint64_t mask = cl_ntoh64(mad->comp_mask);
	const struct triad_request_rules rules = {.service_id = worker->snapshot
			? worker->snapshot->service_id
			: TRIAD_SERVICE_ID_BOTH,
		.max_rate = IB_MAX_RATE};
	size_t size = MAD_BLOCK_SIZE;

	if (mad->attr_id == IB_MAD_ATTR_PATH_RECORD)
		return triad_path_request_read(record_of(madw), mask,
			mad->method == IB_MAD_METHOD_GET, &rules, &worker->request);
	/* A MultiPathRecord has as many GIDs as it says, so the MAD's end is
	 * checked. */
	if (madw->mad_size < size)
		size = madw->mad_size;
	if (size < IB_SA_MAD_HDR_SIZE)
		return TRIAD_SA_REQUEST_INVALID;
	return triad_multipath_request_read(record_of(madw), size - IB_SA_MAD_HDR_SIZE,
		mask, &rules, &worker->request);
}

/* An end that the request names is held back. */
static bool names_held(struct worker *worker, const osm_madw_t *madw)
{
	const struct triad_path_request *request = &worker->request;
	struct triad_hold *hold = worker->server->hold;
	bool is_held = false;

	if (!triad_hold_has_any(hold) || read_request(worker, madw))
		return false;
	if (request->has & TRIAD_HAS_DLID)
		is_held |= triad_hold_has_end(hold, request->dlid, 0);
	if (request->has & TRIAD_HAS_SLID)
		is_held |= triad_hold_has_end(hold, request->slid, 0);
	for (unsigned i = 0; i < request->n_sources + request->n_destinations; i++)
		is_held |= triad_hold_has_end(hold, 0, request->gids[i].guid);
	return is_held;
}

static void work_out(struct worker *worker, const osm_madw_t *madw)
{
	struct triad_answer_snapshot snapshot = {.paths = worker->snapshot->paths,
		.classifier = worker->snapshot->classifier};
	uint16_t requester = cl_ntoh16(madw->mad_addr.dest_lid);

	/* Without an engine the answer may be TRIAD_FALLBACK_ENGINE, and the request
	 * goes to the slow queue (fall_back()). */
	if (!worker->is_slow) {
		triad_answer_path(
			&snapshot, &worker->request, requester, &worker->answer);
		return;
	}
	cl_plock_acquire(&worker->server->osm->lock);
	snapshot.engine = triad_osm_lookup_engine(worker->server->osm);
	triad_answer_path(&snapshot, &worker->request, requester, &worker->answer);
	cl_plock_release(&worker->server->osm->lock);
}

static void fall_back(struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;

	/* Only a policy makes the slow queue worth its wait: without one OpenSM answers
	 * the same. */
	if (worker->answer.fallback == TRIAD_FALLBACK_ENGINE && !worker->is_slow &&
		worker->snapshot->classifier &&
		triad_work_queue_put(&server->slow, job))
		return;
	count(&server->counts.fallbacks[worker->answer.fallback]);
	if (narrow(worker, job->madw)) {
		pass_on(server, job->madw);
		return;
	}
	/* No path fits the level: "no records" without asking OpenSM. */
	worker->answer.n = 0;
	respond_records(worker, job->madw);
	give_back(server, job->madw);
}

static void finish(struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	const struct triad_answer *answer = &worker->answer;

	if (answer->kind == TRIAD_ANSWER_FALL_BACK) {
		fall_back(worker, job);
		return;
	}
	/* OpenSM's statistics count all requests, also those that it does not see. */
	cl_atomic_inc(&server->osm->stats.sa_mads_rcvd);
	triad_clients_count(&server->clients, job->lid, is_no(answer));
	if (answer->kind == TRIAD_ANSWER_STATUS) {
		osm_sa_send_error(&server->osm->sa, job->madw,
			cl_hton16((uint16_t)answer->status));
		count(&server->counts.refused);
	} else {
		respond_records(worker, job->madw);
		count(&server->counts.answered);
	}
	if (!is_master(server))
		count(&server->counts.handed_over);
	if (worker->is_slow)
		count(&server->counts.slow);
	else
		triad_latency_add(&server->latency, now_ns() - job->received_ns);
	give_back(server, job->madw);
}

/* For sFlow. */
static void sample(struct worker *worker, const osm_madw_t *madw)
{
	struct triad_sampled_request request;

	if (triad_sample_describe(madw, worker->snapshot->paths, &request))
		triad_sampler_put(worker->server->sampler, &request);
}

static unsigned long generation_of(const struct worker *worker)
{
	return worker->snapshot ? worker->snapshot->generation : 0;
}

/* Takes the present snapshot.  The generation tells without the lock whether there is
 * another one. */
static void refresh(struct worker *worker)
{
	struct triad_qos_server *server = worker->server;

	if (atomic_load_explicit(&server->generation, memory_order_acquire) ==
		generation_of(worker))
		return;
	triad_qos_snapshot_unref(worker->snapshot);
	pthread_mutex_lock(&server->lock);
	worker->snapshot =
		server->snapshot ? triad_qos_snapshot_ref(server->snapshot) : NULL;
	pthread_mutex_unlock(&server->lock);
}

/* At most until the client gives up.  The job's thread has nothing else to do: what comes
 * behind it waits for the same. */
static void wait_for_snapshot(
	struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	uint64_t until_us = job->received_ns / 1000 + TRIAD_QOS_WAIT_US;

	if (!is_awaited(server))
		return;
	count(&server->counts.waited);
	pthread_mutex_lock(&server->lock);
	while (is_awaited(server) && !osm_exit_flag && triad_clock_now_us() < until_us)
		(void)triad_condition_wait(&server->published, &server->lock, until_us);
	pthread_mutex_unlock(&server->lock);
	refresh(worker);
}

static void handle(struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	struct triad_answer *answer = &worker->answer;
	bool is_for_info = osm_madw_get_sa_mad_ptr(job->madw)->attr_id ==
		IB_MAD_ATTR_CLASS_PORT_INFO;
	enum triad_sa_status status;

	wait_for_snapshot(worker, job);
	/* First of all, also without a snapshot: OpenSM would answer with a path to a
	 * port that is held back. */
	if (!osm_exit_flag && !is_for_info && names_held(worker, job->madw)) {
		count(&server->counts.held);
		worker->answer.n = 0;
		respond_records(worker, job->madw);
		give_back(server, job->madw);
		return;
	}
	/* The snapshot may have gone while the request was in the queue. */
	if (!worker->snapshot || !has_snapshot(server) || osm_exit_flag) {
		pass_on(server, job->madw);
		return;
	}
	if (is_for_info) {
		cl_atomic_inc(&server->osm->stats.sa_mads_rcvd);
		triad_class_port_info_answer(server->osm, job->madw);
		count(&server->counts.class_port_infos);
		give_back(server, job->madw);
		return;
	}
	if (triad_sampler_pick(server->sampler))
		sample(worker, job->madw);
	status = read_request(worker, job->madw);
	if (status) {
		answer->kind = TRIAD_ANSWER_STATUS;
		answer->status = status;
	} else {
		work_out(worker, job->madw);
		revalidate(worker);
	}
	finish(worker, job);
}

/* A request for all paths of some kind has up to thousands of them. */
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
	handle(worker, job);
	if (is_long)
		triad_work_queue_end_long(queue);
}

static void *serve(void *argument)
{
	struct triad_work_queue *queue = argument;
	struct triad_qos_server *server = queue->context;
	struct worker *worker = calloc(1, sizeof(*worker));
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH];
	unsigned n;

	/* Without memory of its own a thread hands on what it takes, so that no request
	 * stays in the queue. */
	if (!worker) {
		while (triad_work_queue_take(
			queue, atomic_load(&server->generation), jobs, &n))
			for (unsigned i = 0; i < n; i++)
				pass_on(server, jobs[i].madw);
		return NULL;
	}
	worker->server = server;
	worker->is_slow = queue == &server->slow;
	worker->answer.records = worker->records;
	worker->answer.room = TRIAD_ANSWER_MAX_RECORDS;
	/* A new snapshot wakes the thread, too: it lets go of the old one, though no
	 * request comes. */
	while (triad_work_queue_take(queue, generation_of(worker), jobs, &n)) {
		refresh(worker);
		for (unsigned i = 0; i < n; i++)
			handle_in(queue, worker, &jobs[i]);
	}
	triad_qos_snapshot_unref(worker->snapshot);
	free(worker);
	return NULL;
}

/* --- receiving --- */

/* What OpenSM checks of a request before it queues it; what fails there is left to it. */
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

/* OpenSM drops all requests during the whole first sweep of a master.  Paths are right as soon
 * as switches have their tables, when there is a snapshot: so after a fail-over nobody waits
 * for the rest of that sweep. */
static bool is_wanted(struct triad_qos_server *server, const ib_sa_mad_t *mad)
{
	const struct osm_subn *subn = &server->osm->subn;
	bool is_for_info = mad->attr_id == IB_MAD_ATTR_CLASS_PORT_INFO &&
		mad->method == IB_MAD_METHOD_GET;

	/* Without 'qos TRUE' OpenSM's ClassPortInfo denies that the SA knows QoS, which
	 * Triad does. */
	if (has_snapshot(server))
		return is_for_paths(mad) || (is_for_info && !subn->opt.qos);
	if (!is_for_paths(mad))
		return false;
	return is_awaited(server) ||
		(triad_hold_has_any(server->hold) && is_master(server) &&
			!subn->first_time_master_sweep);
}

/* On the vendor's receiving thread, under its lock. */
static void receive(struct osm_madw *madw, void *context, struct osm_madw *request)
{
	struct triad_qos_server *server = atomic_load(&installed);
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	struct triad_work_queue_job job = {
		.madw = madw, .lid = cl_ntoh16(madw->mad_addr.dest_lid)};

	/* With 'request' it is an answer to OpenSM. */
	if (request || !is_wanted(server, mad) || !is_accepted(server, mad)) {
		server->hook.original(madw, context, request);
		return;
	}
	count(&server->counts.received);
	job.received_ns = now_ns();
	if (triad_work_queue_put(&server->fast, &job))
		return;
	count(&server->counts.overflowed);
	triad_clients_count_not_taken(&server->clients, job.lid);
	/* OpenSM would answer it by no policy.  Who asked asks again. */
	if (atomic_load(&server->has_policy))
		give_back(server, madw);
	else
		server->hook.original(madw, context, request);
}

int triad_qos_server_install(struct triad_qos_server *server)
{
	/* First the server, as requests come from the moment the hook is there. */
	atomic_store(&installed, server);
	return triad_sa_hook_install(&server->hook, server->osm, receive);
}

void triad_qos_server_remove(struct triad_qos_server *server)
{
	triad_sa_hook_remove(&server->hook, receive);
}

/* --- life --- */

static void end_queue(struct triad_qos_server *server, struct triad_work_queue *queue)
{
	struct triad_work_queue_job job;

	triad_work_queue_stop(queue);
	while (triad_work_queue_take_left(queue, &job))
		give_back(server, job.madw);
	triad_work_queue_clear(queue);
}

struct triad_qos_server *triad_qos_server_new(struct osm_opensm *osm,
	unsigned n_threads, struct triad_sampler *sampler, struct triad_hold *hold)
{
	struct triad_qos_server *server = calloc(1, sizeof(*server));
	bool runs;

	if (!server)
		return NULL;
	server->osm = osm;
	server->sampler = sampler;
	server->hold = hold;
	pthread_mutex_init(&server->lock, NULL);
	triad_condition_init(&server->published);
	runs = triad_work_queue_start(&server->fast, "triad-sa", n_threads, serve,
		server, &server->generation);
	runs &= triad_work_queue_start(
		&server->slow, "triad-sa-slow", 1, serve, server, &server->generation);
	if (runs)
		return server;
	triad_qos_server_free(server);
	return NULL;
}

void triad_qos_server_free(struct triad_qos_server *server)
{
	if (!server)
		return;
	triad_qos_server_set_expects(server, false);
	end_queue(server, &server->fast);
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

	pthread_mutex_lock(&server->lock);
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
	triad_work_queue_wake(&server->slow);
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

bool triad_qos_server_is_installed(const struct triad_qos_server *server)
{
	return server->hook.installed;
}

struct triad_qos_server_status triad_qos_server_status(struct triad_qos_server *server)
{
	const struct counts *counts = &server->counts;
	struct triad_qos_server_status status = {
		.installed = server->hook.installed,
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
