/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sa/shield.h"

#include <errno.h>
#include <opensm/osm_inform.h>
#include <opensm/osm_service.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/fair_queue.h"
#include "lib/ring.h"
#include "lib/task.h"
#include "plugin/sa/reports.h"
#include "plugin/sm_state.h"
#include "plugin/takers.h"
#include "shield/rate.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* How often to look whether OpenSM has bound its SA. */
#define RETRY_US (TRIAD_US_PER_S / 4)
/* How many requests OpenSM has at a time, so that those of others need not wait for many,
 * and how often to look whether it has fewer: enough for 80,000 a second. */
#define MAX_IN_OPENSM 16u
#define TURN_US 200
/* A table of the whole fabric goes to OpenSM when nothing waits there, or after this time:
 * while OpenSM sweeps, something waits most of the time. */
#define TABLE_US TRIAD_US_PER_S
#define MAX_TABLES 256u /* that wait */

/* A request for the thread.  With 'watch' it has gone to OpenSM: only its octets are
 * here. */
struct job {
	osm_madw_t *madw; /* NULL: to be counted only */
	struct triad_shield_judgement judgement;
	uint16_t lid;
	_Alignas(8) uint8_t mad[TRIAD_SHIELD_MAD_SIZE];
};

/* Whether the request that this thread passes on was counted for its rate. */
static _Thread_local bool is_counted;

struct client {
	atomic_ulong n_requests, n_refused;
	atomic_uchar reason;
};

/* Requests that wait for their clients' turns. */
struct lane {
	struct triad_fair_queue *turns;
	osm_madw_t **waiting;
};

struct triad_shield {
	struct osm_opensm *osm;
	struct triad_log *log;
	atomic_int mode;
	atomic_int
		error; /* why requests are not looked at; 0: OpenSM's SA is awaited */
	atomic_uint rate;
	int room_error; /* of the thread: the last one that was logged; 0: none */

	atomic_ulong n_requests, n_waited, n_refused[TRIAD_SHIELD_N_REASONS];
	struct client clients[TRIAD_SHIELD_N_LIDS];

	pthread_mutex_t lock; /* of what follows; held for a copy of one request */
	struct triad_shield_rate of_client;
	struct triad_task task;
	struct triad_ring ring; /* of the jobs */
	struct job jobs[TRIAD_SHIELD_ROOM];
	struct lane single, tables; /* tables of the whole fabric */
	uint64_t
		table_us; /* when the last one went to OpenSM, or began to wait alone */
	/* The last harmful requests, the newest first, one of each client. */
	struct triad_shield_harm harms[TRIAD_SHIELD_MAX_HARMS];
	size_t n_harms;
};

static void count(atomic_ulong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static struct client *find_client(struct triad_shield *shield, uint16_t lid)
{
	return &shield->clients[lid % TRIAD_SHIELD_N_LIDS];
}

/* Whether OpenSM could have ended, read what it has not, or kept the SM's lock for long. */
static bool is_harmful(enum triad_shield_reason reason)
{
	return reason == TRIAD_SHIELD_PATHS_OF_ALL ||
		reason == TRIAD_SHIELD_NO_SUCH_PORT ||
		reason == TRIAD_SHIELD_PORTS_OF_ALL ||
		reason == TRIAD_SHIELD_NOT_ROUTED ||
		reason == TRIAD_SHIELD_ALIAS_IN_USE ||
		reason == TRIAD_SHIELD_SHORT_LEASE;
}

static bool acts(const struct triad_shield *shield)
{
	return atomic_load(&shield->mode) == TRIAD_SHIELD_ACT;
}

static void count_refused(
	struct triad_shield *shield, uint16_t lid, enum triad_shield_reason reason)
{
	struct client *client = find_client(shield, lid);

	count(&shield->n_refused[reason]);
	count(&client->n_refused);
	atomic_store(&client->reason, (unsigned char)reason);
}

/* Puts a harm first.  Returns how many this client has done, with it. */
static uint64_t put_harm(struct triad_shield *shield, struct triad_shield_harm harm)
{
	size_t at = 0;

	while (at < shield->n_harms && shield->harms[at].lid != harm.lid)
		at++;
	if (at < shield->n_harms)
		harm.n = shield->harms[at].n + 1;
	else if (at < TRIAD_SHIELD_MAX_HARMS)
		shield->n_harms++;
	else
		at--;
	memmove(&shield->harms[1], shield->harms, at * sizeof(shield->harms[0]));
	shield->harms[0] = harm;
	return harm.n;
}

/* Whose LID it is now. */
static void find_sender(struct triad_shield *shield, struct triad_shield_harm *harm)
{
	const osm_port_t *port;

	cl_plock_acquire(&shield->osm->lock);
	port = osm_get_port_by_lid_ho(&shield->osm->subn, harm->lid);
	if (port) {
		harm->node_guid = cl_ntoh64(osm_node_get_node_guid(port->p_node));
		harm->port = port->p_physp->port_num;
	}
	cl_plock_release(&shield->osm->lock);
}

/* Remembers what could have ended OpenSM; logs the first of each client. */
static void note_harmful(struct triad_shield *shield, const struct job *job)
{
	const char *reason = triad_shield_reason_text(job->judgement.reason);
	struct triad_shield_harm harm = {.us = triad_clock_now_us(),
		.n = 1,
		.lid = job->lid,
		.reason = job->judgement.reason,
		.passed = !job->madw};
	uint64_t n;

	find_sender(shield, &harm);
	n = TRIAD_LOCKED(&shield->lock, put_harm(shield, harm));
	if (n == 1)
		triad_log_write(shield->log, TRIAD_LOG_WARNING,
			"shield: LID %u asked the SA for %s, which can stall or end "
			"OpenSM%s; 'triadctl shield' counts who does so",
			job->lid, reason,
			job->madw ? ", and got an answer from Triad"
				  : ", and OpenSM got it: shield.mode was watch");
}

/* --- in the receiving thread --- */

/* False: there is no room, or nobody who would see to it. */
static bool put_job(struct triad_shield *shield, const struct job *job)
{
	bool fits;

	pthread_mutex_lock(&shield->lock);
	fits = shield->ring.n < TRIAD_SHIELD_ROOM && !shield->task.must_end;
	if (fits) {
		shield->jobs[triad_ring_put(&shield->ring, TRIAD_SHIELD_ROOM)] = *job;
		triad_task_wake(&shield->task);
	}
	pthread_mutex_unlock(&shield->lock);
	return fits;
}

/* Drops a request, or only counts that it would be dropped.  Returns whether it did. */
static bool drop_request(
	struct triad_shield *shield, osm_madw_t *madw, enum triad_shield_reason reason)
{
	count_refused(shield, cl_ntoh16(madw->mad_addr.dest_lid), reason);
	if (!acts(shield))
		return false;
	osm_mad_pool_put(&shield->osm->mad_pool, madw);
	return true;
}

static bool is_too_often(struct triad_shield *shield, const osm_madw_t *madw)
{
	bool fits;

	pthread_mutex_lock(&shield->lock);
	fits = triad_shield_rate_take(&shield->of_client,
		cl_ntoh16(madw->mad_addr.dest_lid), atomic_load(&shield->rate),
		triad_clock_now_us());
	pthread_mutex_unlock(&shield->lock);
	return !fits;
}

/* OpenSM drops what it does not get as master, and what has another key. */
static bool is_for_us(const struct triad_shield *shield, const ib_sa_mad_t *mad)
{
	const struct osm_subn *subn = &shield->osm->subn;

	return !osm_exit_flag &&
		triad_osm_peek(&subn->sm_state) == IB_SMINFO_STATE_MASTER &&
		!triad_sm_is_in_first_sweep(shield->osm) &&
		(!mad->sm_key || mad->sm_key == subn->opt.sa_key);
}

/* Leaves a request for the thread.  Returns whether it was taken. */
static bool queue_job(struct triad_shield *shield, osm_madw_t *madw,
	struct triad_shield_judgement judgement)
{
	struct job job = {.madw = acts(shield) ? madw : NULL,
		.judgement = judgement,
		.lid = cl_ntoh16(madw->mad_addr.dest_lid)};

	memcpy(job.mad, osm_madw_get_sa_mad_ptr(madw), sizeof(job.mad));
	return put_job(shield, &job) ? job.madw != NULL
				     : drop_request(shield, madw, TRIAD_SHIELD_QUEUE);
}

/* The first taker of requests. */
static bool take_bad(void *context, struct osm_madw *madw, struct osm_madw *request)
{
	struct triad_shield *shield = context;
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);
	uint16_t lid = cl_ntoh16(madw->mad_addr.dest_lid);
	struct triad_shield_judgement judgement;

	(void)request;
	if (!is_for_us(shield, mad))
		return false;
	count(&shield->n_requests);
	count(&find_client(shield, lid)->n_requests);
	judgement = triad_shield_look((const uint8_t *)mad);
	if (judgement.verdict == TRIAD_SHIELD_PASS)
		return false; /* and is counted for its rate behind the other takers */
	if (is_too_often(shield, madw))
		return drop_request(shield, madw, TRIAD_SHIELD_RATE);
	return queue_job(shield, madw, judgement);
}

/* Whether OpenSM's threads have as much to do as 'n' MADs that wait for them. */
static bool has_waiting(const struct triad_shield *shield, uint32_t n)
{
	uint64_t waited_ms;
	uint32_t n_waiting;

	cl_disp_get_queue_status(
		shield->osm->sa.mad_ctrl.h_disp, &n_waiting, &waited_ms);
	return n_waiting >= n;
}

static uint32_t n_waiting(const struct triad_shield *shield)
{
	return triad_fair_queue_length(shield->single.turns) +
		triad_fair_queue_length(shield->tables.turns);
}

/* Has a request wait for its client's turn, if others wait or OpenSM is busy.  A table of
 * the whole fabric always waits for the thread.  Returns whether it was taken. */
static bool take_turn(struct triad_shield *shield, osm_madw_t *madw)
{
	bool is_table =
		triad_shield_is_table((const uint8_t *)osm_madw_get_sa_mad_ptr(madw));
	struct lane *lane = is_table ? &shield->tables : &shield->single;
	bool waits, fits = true;
	uint32_t slot, n;

	pthread_mutex_lock(&shield->lock);
	n = n_waiting(shield);
	waits = !shield->task.must_end &&
		(is_table || n || has_waiting(shield, MAX_IN_OPENSM));
	if (waits) {
		fits = triad_fair_queue_put(lane->turns,
			cl_ntoh16(madw->mad_addr.dest_lid) % TRIAD_SHIELD_N_LIDS,
			&slot);
		if (fits)
			lane->waiting[slot] = madw;
		if (fits && is_table && triad_fair_queue_length(lane->turns) == 1)
			shield->table_us = triad_clock_now_us();
		/* While some wait, the thread comes by itself. */
		if (!n)
			triad_task_wake(&shield->task);
	}
	pthread_mutex_unlock(&shield->lock);
	if (!fits)
		return drop_request(shield, madw, TRIAD_SHIELD_QUEUE);
	if (waits)
		count(&shield->n_waited);
	return waits;
}

/* The last taker: what it leaves reaches OpenSM at once.  On any thread that passes requests
 * on. */
static bool take_too_many(
	void *context, struct osm_madw *madw, struct osm_madw *request)
{
	struct triad_shield *shield = context;
	const ib_sa_mad_t *mad = osm_madw_get_sa_mad_ptr(madw);

	(void)request;
	if (!is_for_us(shield, mad))
		return false;
	if (!is_counted && is_too_often(shield, madw))
		return drop_request(shield, madw, TRIAD_SHIELD_RATE);
	return acts(shield) && take_turn(shield, madw);
}

/* --- in the shield's thread --- */

static void add_switch(struct triad_shield_facts *facts, const osm_switch_t *sw)
{
	uint16_t n = osm_node_get_num_physp(sw->p_node);

	facts->least = !facts->has_switch || n < facts->least ? n : facts->least;
	facts->most = n > facts->most ? n : facts->most;
	facts->has_switch = true;
	facts->has_unrouted |= !sw->new_lft;
}

static void find_switches(
	struct triad_shield_facts *facts, struct osm_subn *subn, uint16_t lid)
{
	const osm_port_t *port;

	if (lid) {
		port = osm_get_port_by_lid_ho(subn, lid);
		if (port && port->p_node->sw)
			add_switch(facts, port->p_node->sw);
		return;
	}
	for (cl_map_item_t *item = cl_qmap_head(&subn->sw_guid_tbl);
		item != cl_qmap_end(&subn->sw_guid_tbl); item = cl_qmap_next(item))
		add_switch(facts, (const osm_switch_t *)item);
}

static bool is_in_group(const osm_port_t *port, ib_net64_t guid)
{
	for (cl_list_item_t *item = cl_qlist_head(&port->mcm_list);
		item != cl_qlist_end(&port->mcm_list); item = cl_qlist_next(item)) {
		osm_mcm_port_t *member = cl_item_obj(item, member, list_item);

		if (osm_mgrp_get_mcm_alias_guid(member->mgrp, guid))
			return true;
	}
	return false;
}

static void find_aliases(struct triad_shield_facts *facts, struct osm_subn *subn,
	uint16_t lid, const ib_guidinfo_record_t *record)
{
	const osm_port_t *port = osm_get_port_by_lid_ho(subn, lid);
	const ib_net64_t *guids;
	unsigned first = record->block_num * TRIAD_SHIELD_N_ALIASES;

	if (!port || !port->p_physp->p_guids)
		return;
	guids = *port->p_physp->p_guids;
	for (unsigned i = 0; i < TRIAD_SHIELD_N_ALIASES &&
		first + i < port->p_physp->port_info.guid_cap;
		i++)
		if (guids[first + i] && is_in_group(port, guids[first + i]))
			facts->used_aliases[i] = cl_ntoh64(guids[first + i]);
}

static void find_subscriptions(
	struct triad_shield_facts *facts, struct osm_subn *subn, ib_net16_t lid)
{
	facts->n_reports = triad_reports_room(subn->p_osm->p_vendor);
	facts->n_all_subscriptions = cl_qlist_count(&subn->sa_infr_list);
	for (cl_list_item_t *item = cl_qlist_head(&subn->sa_infr_list);
		item != cl_qlist_end(&subn->sa_infr_list); item = cl_qlist_next(item))
		facts->n_subscriptions +=
			((const osm_infr_t *)item)->report_addr.dest_lid == lid;
}

/* Goes through the list, as OpenSM does for each, only when there is no room. */
static void find_services(struct triad_shield_facts *facts, struct osm_subn *subn,
	ib_service_record_t *record)
{
	facts->n_services = cl_qlist_count(&subn->sa_sr_list);
	if (facts->n_services >= TRIAD_SHIELD_MAX_SERVICES)
		facts->has_service =
			osm_svcr_get_by_rid(subn, &subn->p_osm->log, record) != NULL;
}

/* With the SM's lock, shared. */
static struct triad_shield_facts find_facts(struct osm_subn *subn, struct job *job)
{
	struct triad_shield_facts facts = {0};
	ib_sa_mad_t *mad = (ib_sa_mad_t *)job->mad;
	void *record = ib_sa_mad_get_payload_ptr(mad);
	uint16_t lid = triad_shield_lid(job->mad);

	switch (mad->attr_id) {
	case IB_MAD_ATTR_GUIDINFO_RECORD:
		find_aliases(&facts, subn, lid, record);
		break;
	case IB_MAD_ATTR_INFORM_INFO:
		find_subscriptions(&facts, subn, cl_hton16(job->lid));
		break;
	case IB_MAD_ATTR_SERVICE_RECORD:
		find_services(&facts, subn, record);
		break;
	case IB_MAD_ATTR_PATH_RECORD:
		facts.n_ports = cl_qmap_count(&subn->port_guid_tbl);
		break;
	default:
		find_switches(&facts, subn, lid);
	}
	return facts;
}

static struct triad_shield_judgement judge(struct triad_shield *shield, struct job *job)
{
	struct triad_shield_facts facts;

	cl_plock_acquire(&shield->osm->lock);
	facts = find_facts(&shield->osm->subn, job);
	cl_plock_release(&shield->osm->lock);
	return triad_shield_judge(job->mad, &facts);
}

static void answer(struct triad_shield *shield, const struct job *job)
{
	cl_qlist_t none;

	cl_atomic_inc(&shield->osm->stats.sa_mads_rcvd);
	if (job->judgement.status) {
		osm_sa_send_error(
			&shield->osm->sa, job->madw, cl_hton16(job->judgement.status));
	} else {
		cl_qlist_init(&none);
		osm_sa_respond(&shield->osm->sa, job->madw,
			sizeof(ib_slvl_table_record_t), &none);
	}
}

static void handle_job(struct triad_shield *shield, struct job *job)
{
	if (job->judgement.verdict == TRIAD_SHIELD_ASK && !osm_exit_flag)
		job->judgement = judge(shield, job);
	if (job->judgement.verdict == TRIAD_SHIELD_ANSWER) {
		count_refused(shield, job->lid, job->judgement.reason);
		if (is_harmful(job->judgement.reason))
			note_harmful(shield, job);
	}
	if (!job->madw)
		return;
	if (osm_exit_flag) {
		osm_mad_pool_put(&shield->osm->mad_pool, job->madw);
	} else if (job->judgement.verdict == TRIAD_SHIELD_ANSWER) {
		answer(shield, job);
		osm_mad_pool_put(&shield->osm->mad_pool, job->madw);
	} else {
		is_counted = true;
		triad_taker_pass_on(TRIAD_TAKER_SHIELD, job->madw);
		is_counted = false;
	}
}

/* Passes on the one whose turn it is; gives up the lock for that.  False: there is none. */
static bool pass_turn(struct triad_shield *shield, struct lane *lane)
{
	osm_madw_t *madw;
	uint32_t slot;

	if (!triad_fair_queue_take(lane->turns, &slot))
		return false;
	madw = lane->waiting[slot];
	pthread_mutex_unlock(&shield->lock);
	if (osm_exit_flag)
		osm_mad_pool_put(&shield->osm->mad_pool, madw);
	else
		triad_taker_pass_on(TRIAD_TAKER_RATE, madw);
	pthread_mutex_lock(&shield->lock);
	return true;
}

/* Passes on those whose turn it is, as many as OpenSM should have; one in any case: what
 * OpenSM's threads have to do may be its own.  Then one table: others may wait behind it. */
static void pass_turns(struct triad_shield *shield)
{
	uint64_t now_us = triad_clock_now_us();

	for (bool is_first = true; is_first || !has_waiting(shield, MAX_IN_OPENSM);
		is_first = false)
		if (!pass_turn(shield, &shield->single))
			break;
	if ((!has_waiting(shield, 1) || now_us - shield->table_us >= TABLE_US) &&
		pass_turn(shield, &shield->tables))
		shield->table_us = now_us;
}

/* Without room fewer subscriptions are accepted. */
static void make_room_for_reports(struct triad_shield *shield)
{
	int error = triad_reports_make_room(shield->osm->p_vendor);

	if (error && error != shield->room_error)
		triad_log_write(shield->log, TRIAD_LOG_WARNING,
			"shield: there is no more room for reports that wait for an answer: "
			"%s; hosts may have %zu subscriptions in all",
			error == ENOTSUP ? triad_shield_explain(error)
					 : strerror(error),
			triad_reports_room(shield->osm->p_vendor) /
				TRIAD_SHIELD_N_EVENTS);
	shield->room_error = error;
}

static void remove_takers(void)
{
	triad_taker_remove(TRIAD_TAKER_SHIELD);
	triad_taker_remove(TRIAD_TAKER_RATE);
}

/* Returns whether it is to be tried again. */
static bool see_to_hook(struct triad_shield *shield)
{
	int error;

	if (atomic_load(&shield->mode) == TRIAD_SHIELD_OFF) {
		remove_takers();
		return false;
	}
	if (acts(shield))
		make_room_for_reports(shield);
	if (triad_taker_is_asked(TRIAD_TAKER_RATE))
		return false;
	error = triad_taker_add(shield->osm, TRIAD_TAKER_SHIELD, take_bad, shield);
	if (!error)
		error = triad_taker_add(
			shield->osm, TRIAD_TAKER_RATE, take_too_many, shield);
	atomic_store(&shield->error, error == ENOTCONN ? 0 : error);
	if (error && error != ENOTCONN)
		triad_log_write(shield->log, TRIAD_LOG_ERROR,
			"shield: requests to the SA can't be looked at: %s; OpenSM gets "
			"them all",
			triad_shield_explain(error));
	return error == ENOTCONN;
}

static uint64_t handle_jobs(void *context)
{
	struct triad_shield *shield = context;
	struct job job;
	bool retries;

	while (shield->ring.n && !shield->task.must_end) {
		job = shield->jobs[triad_ring_take(&shield->ring, TRIAD_SHIELD_ROOM)];
		pthread_mutex_unlock(&shield->lock);
		handle_job(shield, &job);
		pthread_mutex_lock(&shield->lock);
	}
	pass_turns(shield);
	if (n_waiting(shield))
		return triad_clock_now_us() + TURN_US;
	pthread_mutex_unlock(&shield->lock);
	retries = see_to_hook(shield);
	pthread_mutex_lock(&shield->lock);
	/* What a taker that was removed just now may still put in waits for the end, or for
	 * the next start; its client asks again. */
	if (atomic_load(&shield->mode) == TRIAD_SHIELD_OFF)
		return TRIAD_TASK_DONE;
	return retries ? triad_clock_now_us() + RETRY_US : UINT64_MAX;
}

/* --- life --- */

static bool make_lane(struct lane *lane, uint32_t room)
{
	lane->turns = triad_fair_queue_new(room, TRIAD_SHIELD_N_LIDS);
	lane->waiting = calloc(room, sizeof(*lane->waiting));
	return lane->turns && lane->waiting;
}

static void drain_lane(struct triad_shield *shield, struct lane *lane)
{
	uint32_t slot;

	while (triad_fair_queue_take(lane->turns, &slot))
		osm_mad_pool_put(&shield->osm->mad_pool, lane->waiting[slot]);
}

static void clear_lane(struct lane *lane)
{
	triad_fair_queue_free(lane->turns);
	free(lane->waiting);
}

static void free_memory(struct triad_shield *shield)
{
	clear_lane(&shield->single);
	clear_lane(&shield->tables);
	free(shield);
}

struct triad_shield *triad_shield_new(struct osm_opensm *osm, struct triad_log *log)
{
	struct triad_shield *shield = calloc(1, sizeof(*shield));

	if (!shield)
		return NULL;
	if (!make_lane(&shield->single, TRIAD_SHIELD_MAX_WAITING) ||
		!make_lane(&shield->tables, MAX_TABLES)) {
		free_memory(shield);
		return NULL;
	}
	shield->osm = osm;
	shield->log = log;
	pthread_mutex_init(&shield->lock, NULL);
	triad_task_init(
		&shield->task, &shield->lock, "triad-shield", handle_jobs, shield);
	return shield;
}

void triad_shield_stop(struct triad_shield *shield)
{
	if (!shield)
		return;
	remove_takers();
	(void)triad_task_stop(&shield->task, UINT64_MAX);
	/* A taker that was removed just now may still run. */
	pthread_mutex_lock(&shield->lock);
	while (shield->ring.n) {
		struct job *job = &shield->jobs[triad_ring_take(
			&shield->ring, TRIAD_SHIELD_ROOM)];

		if (job->madw)
			osm_mad_pool_put(&shield->osm->mad_pool, job->madw);
	}
	drain_lane(shield, &shield->single);
	drain_lane(shield, &shield->tables);
	pthread_mutex_unlock(&shield->lock);
}

void triad_shield_free(struct triad_shield *shield)
{
	if (!shield)
		return;
	triad_task_clear(&shield->task);
	pthread_mutex_destroy(&shield->lock);
	free_memory(shield);
}

void triad_shield_configure(struct triad_shield *shield, const struct triad_conf *conf)
{
	int error = 0;

	atomic_store(&shield->rate, conf->shield.rate);
	atomic_store(&shield->mode, conf->shield.mode);
	pthread_mutex_lock(&shield->lock);
	if (conf->shield.mode != TRIAD_SHIELD_OFF)
		error = triad_task_start(&shield->task);
	triad_task_wake(&shield->task);
	/* The thread says what else there is. */
	if (error)
		atomic_store(&shield->error, error);
	pthread_mutex_unlock(&shield->lock);
	if (error)
		triad_log_write(shield->log, TRIAD_LOG_ERROR,
			"shield: requests to the SA can't be looked at: %s; OpenSM gets "
			"them all, type 'triadctl reload' to try again",
			triad_shield_explain(error));
}

/* --- what is known --- */

const char *triad_shield_explain(int error)
{
	return error == ENOTSUP
		? "this OpenSM is laid out otherwise than the one that Triad "
		  "was built for"
		: "there is no thread for it";
}

struct triad_shield_status triad_shield_status(struct triad_shield *shield)
{
	struct triad_shield_status status = {0};

	pthread_mutex_lock(&shield->lock);
	status.n_harms = shield->n_harms;
	memcpy(status.harms, shield->harms, sizeof(status.harms));
	pthread_mutex_unlock(&shield->lock);
	status.mode = (enum triad_shield_mode)atomic_load(&shield->mode);
	status.is_installed = triad_taker_is_asked(TRIAD_TAKER_SHIELD);
	status.error = status.is_installed ? 0 : atomic_load(&shield->error);
	status.n_requests = atomic_load(&shield->n_requests);
	status.n_waited = atomic_load(&shield->n_waited);
	for (unsigned i = 0; i < TRIAD_SHIELD_N_REASONS; i++)
		status.n_refused[i] = atomic_load(&shield->n_refused[i]);
	return status;
}

size_t triad_shield_clients(
	struct triad_shield *shield, struct triad_shield_client *top, size_t n)
{
	size_t n_found = 0, at;

	for (uint32_t lid = 0; lid < TRIAD_SHIELD_N_LIDS; lid++) {
		struct client *client = &shield->clients[lid];
		struct triad_shield_client found = {.lid = (uint16_t)lid,
			.reason = atomic_load(&client->reason),
			.n_requests = atomic_load(&client->n_requests),
			.n_refused = atomic_load(&client->n_refused)};

		if (!found.n_refused ||
			(n_found == n && top[n - 1].n_refused >= found.n_refused))
			continue;
		at = n_found < n ? n_found++ : n - 1;
		for (; at && top[at - 1].n_refused < found.n_refused; at--)
			top[at] = top[at - 1];
		top[at] = found;
	}
	return n_found;
}

void triad_shield_give(void *context, struct triad_found *found)
{
	struct triad_shield_status status = triad_shield_status(context);
	uint64_t now_us = triad_clock_now_us();

	for (size_t i = 0; i < status.n_harms; i++) {
		const struct triad_shield_harm *harm = &status.harms[i];

		if (harm->node_guid && now_us - harm->us < TRIAD_SHIELD_HARM_US)
			triad_found_add(found, harm->node_guid, harm->port, harm->lid,
				&(struct triad_alert_finding){
					.cause = TRIAD_ALERT_ROUTES,
					.routes = TRIAD_ALERT_REQUESTS,
					.judged = true,
					.value = (float)harm->n});
	}
}
