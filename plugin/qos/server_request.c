/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One request, from the queue to its answer. */
#include "plugin/opensm.h"

#include "plugin/qos/server_parts.h"
#include "plugin/takers.h"

#include <stdlib.h>

#include "plugin/ports/hold.h"
#include "plugin/qos/class_port_info.h"
#include "plugin/qos/osm_lookup.h"
#include "plugin/qos/sample.h"
#include "qos/restrict.h"
#include "triad/thread.h"

/* How often to check whether a first sweep is over: no event says so. */
#define LOOK_US (5 * TRIAD_US_PER_MS)

/* --- handing on --- */

static uint8_t *record_of(const osm_madw_t *madw)
{
	return ib_sa_mad_get_payload_ptr(osm_madw_get_sa_mad_ptr(madw));
}

/* Restricts a request, which OpenSM will answer, to what its QoS level allows.  Returns
 * false when no path is left.  Leaves requests for a multicast group unchanged: the
 * group has its own SL, MTU and rate. */
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
		/* OpenSM's items end after their record: the allocation is smaller than
		 * the struct. */
		void *memory = malloc(SA_ITEM_RESP_SIZE(path_rec));
		osm_sa_item_t *item = memory;

		/* When memory is short, send fewer paths; but an answer without any
		 * would deny that a path exists. */
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

static bool finds_nothing(const struct triad_answer *answer)
{
	return answer->kind == TRIAD_ANSWER_STATUS ||
		(answer->kind == TRIAD_ANSWER_RECORDS && !answer->n);
}

/* Whether each alias GUID that the request names still belongs to the same port. */
static bool aliases_are_unchanged(const struct worker *worker)
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

/* True when an alias GUID in a PathRecord is at another port in OpenSM than in the
 * snapshot.  Then sets the ends to OpenSM's, so that the level is chosen for these. */
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

/* Whether OpenSM has the ends of the paths where the snapshot has them; for a
 * MultiPathRecord, all ends. */
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

/* Leaves a request to OpenSM if the snapshot may be outdated.  Aliases may change at
 * any time, everything else only while the SM sweeps. */
static void revalidate(struct worker *worker)
{
	struct triad_answer *answer = &worker->answer;

	if (answer->kind != TRIAD_ANSWER_FALL_BACK &&
		worker->snapshot->paths->has_aliases &&
		!aliases_are_unchanged(worker)) {
		answer->kind = TRIAD_ANSWER_FALL_BACK;
		answer->fallback = TRIAD_FALLBACK_UNKNOWN;
	}
	if (answer->kind == TRIAD_ANSWER_FALL_BACK) {
		if (answer->fallback == TRIAD_FALLBACK_UNKNOWN && is_outdated(worker))
			atomic_store(&worker->server->outdated, true);
		return;
	}
	/* A standby's OpenSM has no newer facts. */
	if (!atomic_load(&worker->server->sweeping) ||
		!server_is_master(worker->server))
		return;
	/* If the answer is "no path", this sweep may just have found one. */
	if (!finds_nothing(answer) && ends_are_there(worker))
		return;
	answer->kind = TRIAD_ANSWER_FALL_BACK;
	answer->fallback = TRIAD_FALLBACK_CHANGED;
}

static enum triad_sa_status read_request(struct worker *worker, const osm_madw_t *madw)
{
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	uint64_t mask = cl_ntoh64(mad->comp_mask);
	size_t size = MAD_BLOCK_SIZE;

	if (mad->attr_id == IB_MAD_ATTR_PATH_RECORD)
		return triad_path_request_read(record_of(madw), mask,
			mad->method == IB_MAD_METHOD_GET, IB_MAX_RATE,
			&worker->request);
	/* A MultiPathRecord has as many GIDs as it says, so the MAD's end is
	 * checked. */
	if (madw->mad_size < size)
		size = madw->mad_size;
	if (size < IB_SA_MAD_HDR_SIZE)
		return TRIAD_SA_REQUEST_INVALID;
	return triad_multipath_request_read(record_of(madw), size - IB_SA_MAD_HDR_SIZE,
		mask, IB_MAX_RATE, &worker->request);
}

/* Whether the request names an end that is held. */
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

static void look_up_paths(struct worker *worker, const osm_madw_t *madw)
{
	struct triad_answer_snapshot snapshot = {.paths = worker->snapshot->paths,
		.classifier = worker->snapshot->classifier};
	uint16_t requester = cl_ntoh16(madw->mad_addr.dest_lid);

	/* The fast queue gives no engine.  If the answer needs it, it is
	 * TRIAD_FALLBACK_ENGINE, and fall_back() puts the request into the slow
	 * queue. */
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

	/* Use the slow queue if there is a policy, or if OpenSM is standby and answers
	 * nothing.  Otherwise OpenSM gives the same answer without that wait. */
	if (worker->answer.fallback == TRIAD_FALLBACK_ENGINE && !worker->is_slow &&
		(worker->snapshot->classifier || !server_is_master(server)) &&
		server_put_slow(server, job))
		return;
	/* In its first sweep OpenSM drops requests: let this one wait in the slow
	 * queue, so that the fast one continues. */
	if (server_is_in_first_sweep(server) && !worker->is_slow &&
		server_put_slow(server, job)) {
		server_count(&server->counts.waited);
		return;
	}
	server_count(&server->counts.fallbacks[worker->answer.fallback]);
	if (narrow(worker, job->madw)) {
		triad_taker_pass_on(TRIAD_TAKER_PATHS, job->madw);
		return;
	}
	/* No path fits the level: "no records" without asking OpenSM. */
	worker->answer.n = 0;
	respond_records(worker, job->madw);
	server_give_back(server, job->madw);
}

static void finish(struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	const struct triad_answer *answer = &worker->answer;

	if (answer->kind == TRIAD_ANSWER_FALL_BACK) {
		fall_back(worker, job);
		return;
	}
	/* Count the request in OpenSM's statistics, although OpenSM does not see it. */
	cl_atomic_inc(&server->osm->stats.sa_mads_rcvd);
	triad_clients_count(&server->clients, job->lid, finds_nothing(answer));
	if (answer->kind == TRIAD_ANSWER_STATUS) {
		osm_sa_send_error(&server->osm->sa, job->madw,
			cl_hton16((uint16_t)answer->status));
		server_count(&server->counts.refused);
	} else {
		respond_records(worker, job->madw);
		server_count(&server->counts.answered);
	}
	if (!server_is_master(server))
		server_count(&server->counts.handed_over);
	if (worker->is_slow)
		server_count(&server->counts.slow);
	else
		triad_latency_add(&server->latency, server_now_ns() - job->received_ns);
	server_give_back(server, job->madw);
}

/* For sFlow. */
static void sample(struct worker *worker, const osm_madw_t *madw)
{
	struct triad_sampled_request request;

	if (triad_sample_describe(madw, worker->snapshot->paths, &request))
		triad_sampler_put(worker->server->sampler, &request);
}

/* Takes the present snapshot.  Compares generations first, which needs no lock. */
void worker_refresh(struct worker *worker)
{
	struct triad_qos_server *server = worker->server;

	if (atomic_load_explicit(&server->generation, memory_order_acquire) ==
		worker_generation(worker))
		return;
	triad_qos_snapshot_unref(worker->snapshot);
	worker->snapshot = TRIAD_LOCKED(&server->lock,
		server->snapshot ? triad_qos_snapshot_ref(server->snapshot) : NULL);
}

/* When a request stops waiting: its client gives up then. */
static uint64_t patience_us(const struct triad_work_queue_job *job)
{
	return job->received_ns / 1000 + TRIAD_QOS_WAIT_US;
}

/* Waiting blocks no other request: those behind this one need the same snapshot. */
static void wait_for_snapshot(
	struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	uint64_t until_us = patience_us(job);

	if (!server_must_wait(server))
		return;
	server_count(&server->counts.waited);
	pthread_mutex_lock(&server->lock);
	while (server_must_wait(server) && !osm_exit_flag &&
		triad_clock_now_us() < until_us)
		(void)triad_condition_wait(&server->published, &server->lock, until_us);
	pthread_mutex_unlock(&server->lock);
	worker_refresh(worker);
}

static void look_up_and_revalidate(struct worker *worker, const osm_madw_t *madw)
{
	look_up_paths(worker, madw);
	revalidate(worker);
}

/* Waits until the first sweep ends, so that OpenSM answers, or a newer snapshot has the
 * answer. */
static void wait_for_first_sweep(
	struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	uint64_t until_us = patience_us(job), now_us;

	while (worker->snapshot && worker->answer.kind == TRIAD_ANSWER_FALL_BACK &&
		server_is_in_first_sweep(server) && !osm_exit_flag &&
		(now_us = triad_clock_now_us()) < until_us) {
		pthread_mutex_lock(&server->lock);
		(void)triad_condition_wait(
			&server->published, &server->lock, now_us + LOOK_US);
		pthread_mutex_unlock(&server->lock);
		if (atomic_load(&server->generation) == worker_generation(worker))
			continue;
		worker_refresh(worker);
		if (worker->snapshot)
			look_up_and_revalidate(worker, job->madw);
	}
}

void worker_handle(struct worker *worker, const struct triad_work_queue_job *job)
{
	struct triad_qos_server *server = worker->server;
	struct triad_answer *answer = &worker->answer;
	bool is_for_info = osm_madw_get_sa_mad_ptr(job->madw)->attr_id ==
		IB_MAD_ATTR_CLASS_PORT_INFO;
	enum triad_sa_status status;

	wait_for_snapshot(worker, job);
	/* Check this first, even without a snapshot: OpenSM would answer with a path to
	 * the held port. */
	if (!osm_exit_flag && !is_for_info && names_held(worker, job->madw)) {
		server_count(&server->counts.held);
		triad_clients_count(&server->clients, job->lid, true);
		worker->answer.n = 0;
		respond_records(worker, job->madw);
		server_give_back(server, job->madw);
		return;
	}
	/* The snapshot may have gone while the request was in the queue. */
	if (!worker->snapshot || !server_may_answer(server) || osm_exit_flag) {
		triad_taker_pass_on(TRIAD_TAKER_PATHS, job->madw);
		return;
	}
	if (is_for_info) {
		cl_atomic_inc(&server->osm->stats.sa_mads_rcvd);
		triad_class_port_info_answer(server->osm, job->madw);
		server_count(&server->counts.class_port_infos);
		server_give_back(server, job->madw);
		return;
	}
	if (triad_sampler_pick(server->sampler))
		sample(worker, job->madw);
	status = read_request(worker, job->madw);
	if (status) {
		answer->kind = TRIAD_ANSWER_STATUS;
		answer->status = status;
	} else {
		look_up_and_revalidate(worker, job->madw);
		if (worker->is_slow)
			wait_for_first_sweep(worker, job);
	}
	if (worker->snapshot)
		finish(worker, job);
	else
		triad_taker_pass_on(TRIAD_TAKER_PATHS, job->madw);
}
