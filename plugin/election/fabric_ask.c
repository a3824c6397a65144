/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/fabric_ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/task.h"
#include "plugin/election/sm_places.h"
#include "service/local_port.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/wire.h"

#define PATIENCE_US (TRIAD_US_PER_S / 2) /* how long to wait for the thread's end */
/* The thread checks at least this often whether it must end, or has new input. */
#define SLICE_US (50 * TRIAD_US_PER_MS)
#define LOOK_US TRIAD_US_PER_S /* between looks at OpenSM's tables and the local port */
#define REOPEN_US TRIAD_US_PER_S /* between attempts to open the port */
/* The kernel gives up a little later than the watch, so that late answers still
 * arrive. */
#define TIMEOUT_MS 200u
#define MAX_AT_ONCE 64u /* questions and answers of one step */

/* In a MAD [IBA 13.4.2]. */
enum { AT_METHOD = 3, AT_ATTRIBUTE = 16 };
#define STATUS_INVALID 0x1cu /* class, method or attribute [IBA 13.4.7] */

struct triad_fabric_ask {
	struct osm_opensm *osm;
	struct triad_log *log;
	pthread_mutex_t lock; /* protects what follows */
	struct triad_task task;
	struct triad_fabric_watch watch;

	/* Used only by the thread. */
	struct triad_umad *umad;
	uint64_t open_us, look_us; /* when to try again, to look again */
	struct triad_log_limit limit;
	bool has_failed;
	uint32_t n_places;
	struct triad_sm_tables places[TRIAD_FABRIC_MAX_PEERS];
	struct triad_local_port local;
	uint16_t master_lid;
};

/* --- where they are --- */

static uint16_t read_master_lid(struct triad_fabric_ask *ask)
{
	unsigned long lid;

	if (umad_init() < 0 || !triad_local_port_locate(&ask->local) ||
		!triad_local_port_read(&ask->local, "sm_lid", &lid))
		return 0;
	return (uint16_t)lid;
}

/* The caller holds the lock; it is released while this reads OpenSM's tables. */
static void look_around(struct triad_fabric_ask *ask)
{
	uint64_t ids[TRIAD_FABRIC_MAX_PEERS], now_us = triad_clock_boot_us();
	bool has_tables;
	size_t n = 0;

	pthread_mutex_unlock(&ask->lock);
	(void)triad_sm_list(ask->osm, ids, TRIAD_FABRIC_MAX_PEERS, &n);
	pthread_mutex_lock(&ask->lock);
	for (size_t i = 0; i < n; i++)
		triad_fabric_watch_listed(&ask->watch, ids[i], now_us);
	ask->n_places = ask->watch.n_peers;
	for (uint32_t i = 0; i < ask->n_places; i++)
		ask->places[i] = (struct triad_sm_tables){.id = ask->watch.peers[i].id};
	pthread_mutex_unlock(&ask->lock);
	has_tables = triad_sm_places_read(ask->osm, ask->places, ask->n_places);
	ask->master_lid = read_master_lid(ask);
	now_us = triad_clock_boot_us();
	pthread_mutex_lock(&ask->lock);
	for (uint32_t i = 0; has_tables && i < ask->n_places; i++)
		triad_fabric_watch_address(&ask->watch, ask->places[i].id,
			ask->places[i].lid, ask->places[i].m_key, now_us);
	triad_fabric_watch_master_lid(&ask->watch, ask->master_lid,
		cl_ntoh64(ask->osm->subn.opt.m_key), now_us);
	ask->look_us = now_us + LOOK_US;
}

/* --- changes of verdicts --- */

struct change {
	uint64_t id;
	bool is_member, elects;
	enum triad_fabric_verdict from, to;
};

/* Returns the number of changes. */
static uint32_t judge_all(struct triad_fabric_watch *watch, uint64_t now_us,
	struct change changes[TRIAD_FABRIC_MAX_PEERS])
{
	uint32_t n = watch->n_peers, n_changes = 0;

	for (uint32_t i = 0; i < n; i++)
		changes[i] = (struct change){
			.id = watch->peers[i].id, .from = watch->peers[i].verdict};
	triad_fabric_watch_run(watch, now_us);
	for (uint32_t i = 0, j = 0; i < n && j < watch->n_peers; i++) {
		const struct triad_fabric_peer *peer = &watch->peers[j];

		if (changes[i].id != peer->id)
			continue; /* forgotten */
		j++;
		if (changes[i].from == peer->verdict)
			continue;
		changes[n_changes++] = (struct change){.id = peer->id,
			.is_member = peer->is_member,
			.elects = triad_fabric_peer_elects(peer),
			.from = changes[i].from,
			.to = peer->verdict};
	}
	return n_changes;
}

static void report_changes(
	struct triad_fabric_ask *ask, const struct change *changes, uint32_t n)
{
	unsigned long suppressed;

	for (uint32_t i = 0; i < n; i++)
		if (triad_log_limit_pass(
			    &ask->limit, triad_clock_now_us(), &suppressed))
			triad_log_write(ask->log, TRIAD_LOG_INFO,
				"election: SM 0x%016" PRIx64
				" over the fabric: %s, after %s%s (%lu more such lines "
				"were left out)",
				changes[i].id, triad_fabric_verdict_text(changes[i].to),
				triad_fabric_verdict_text(changes[i].from),
				changes[i].is_member ? ""
					: changes[i].elects
					? "; it has left the election"
					: "; it does not elect here",
				suppressed);
}

/* --- MADs --- */

static void close_port(struct triad_fabric_ask *ask)
{
	triad_umad_close(ask->umad, false);
	ask->umad = NULL;
}

static void note_failure(struct triad_fabric_ask *ask, const char *what, int error)
{
	close_port(ask);
	ask->open_us = triad_clock_boot_us() + REOPEN_US;
	if (!ask->has_failed)
		triad_log_write(ask->log, TRIAD_LOG_WARNING,
			"election: the local port: %s: %s; other SMs are not asked over "
			"the fabric until that works, which is tried each second",
			what, strerror(error));
	ask->has_failed = true;
}

static void note_success(struct triad_fabric_ask *ask)
{
	if (ask->has_failed)
		triad_log_write(ask->log, TRIAD_LOG_INFO,
			"election: the local port: other SMs are asked over the fabric "
			"again");
	ask->has_failed = false;
}

static bool open_umad(struct triad_fabric_ask *ask)
{
	int error = 0;

	if (ask->umad)
		return true;
	if (triad_clock_boot_us() < ask->open_us || osm_exit_flag)
		return false;
	error = triad_umad_open(
		ask->local.guid, TRIAD_MAD_CLASS_SUBNET_LID, &ask->umad);
	if (error)
		note_failure(ask, "it can't be opened", error);
	return !error;
}

/* Stops at the first failure; returns how many were sent. */
static uint32_t send_questions(struct triad_fabric_ask *ask,
	const struct triad_fabric_question *questions, uint32_t n)
{
	const struct triad_mad_transport *transport;

	if (!open_umad(ask))
		return 0;
	transport = triad_umad_transport(ask->umad);
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_mad_address to = {.lid = questions[i].lid};
		uint8_t mad[TRIAD_MAD_SIZE];
		int error;

		triad_smp_encode_get_by_lid(mad, questions[i].attribute, 0,
			questions[i].m_key, questions[i].tid);
		error = transport->send(transport->context, &to, mad, TIMEOUT_MS);
		if (error && error != EAGAIN)
			note_failure(ask, "it can't be sent from", error);
		if (error)
			return i;
	}
	return n;
}

/* False unless the MAD is an answer to a question. */
static bool read_answer(
	const struct triad_mad_reply *reply, struct triad_fabric_answer *answer)
{
	uint8_t data[TRIAD_SMP_DATA_SIZE];
	struct triad_sm_info info;
	uint16_t status;

	if (reply->status || reply->size != TRIAD_MAD_SIZE ||
		reply->mad[AT_METHOD] != TRIAD_MAD_METHOD_GET_RESPONSE)
		return false;
	*answer = (struct triad_fabric_answer){
		.tid = triad_pma_tid(reply->mad, reply->size)};
	/* Ignore other errors: an agent that is busy says nothing about its SM. */
	if (triad_smp_decode(reply->mad, data, &status)) {
		answer->is_refused = status & STATUS_INVALID;
		return answer->is_refused;
	}
	if (triad_wire_bits(reply->mad, AT_ATTRIBUTE * 8, 16) == TRIAD_SMP_NODE_INFO) {
		answer->guid = triad_node_info_port_guid(data);
		return true;
	}
	info = triad_sm_info_decode(data);
	answer->guid = info.guid;
	answer->state = info.state;
	answer->priority = info.priority;
	return true;
}

/* Receives answers until 'until_us', at most as many as for one step; returns their
 * number. */
static uint32_t receive_answers(struct triad_fabric_ask *ask, uint64_t until_us,
	struct triad_fabric_answer answers[MAX_AT_ONCE])
{
	const struct triad_mad_transport *transport = triad_umad_transport(ask->umad);
	uint32_t n = 0;

	while (n < MAX_AT_ONCE) {
		uint64_t now_us = triad_clock_boot_us();
		struct triad_mad_reply reply;
		int error;

		/* Wait only for the first answer; take others that have arrived without
		 * waiting.  So answers are judged at once. */
		error = transport->receive(transport->context,
			!n && until_us > now_us ? until_us - now_us : 0, &reply);
		if (error == EAGAIN)
			break;
		if (error) {
			note_failure(ask, "it can't be received from", error);
			break;
		}
		if (read_answer(&reply, &answers[n])) {
			note_success(ask);
			n++;
		}
		if (triad_clock_boot_us() >= until_us)
			break;
	}
	return n;
}

/* --- the thread --- */

/* With the lock held. */
static uint32_t take_questions(struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_question questions[MAX_AT_ONCE])
{
	uint32_t n = 0;

	while (n < MAX_AT_ONCE && triad_fabric_watch_next(watch, now_us, &questions[n]))
		n++;
	return n;
}

static uint64_t until(const struct triad_fabric_watch *watch, uint64_t now_us)
{
	uint64_t next_us = triad_fabric_watch_next_us(watch, now_us);

	return next_us < now_us + SLICE_US ? next_us : now_us + SLICE_US;
}

/* One round: sends the questions that are due, then receives answers until the next one
 * is.  The caller holds the lock, which is released during the wait. */
static void run_round(struct triad_fabric_ask *ask)
{
	struct change changes[TRIAD_FABRIC_MAX_PEERS];
	struct triad_fabric_question questions[MAX_AT_ONCE];
	struct triad_fabric_answer answers[MAX_AT_ONCE];
	uint64_t now_us = triad_clock_boot_us(), until_us;
	uint32_t n_changes = judge_all(&ask->watch, now_us, changes);
	uint32_t n_questions = take_questions(&ask->watch, now_us, questions);
	uint32_t n_sent, n_answers = 0;

	until_us = until(&ask->watch, now_us);
	pthread_mutex_unlock(&ask->lock);
	report_changes(ask, changes, n_changes);
	n_sent = send_questions(ask, questions, n_questions);
	if (ask->umad)
		n_answers = receive_answers(ask, until_us, answers);
	pthread_mutex_lock(&ask->lock);
	for (uint32_t i = n_sent; i < n_questions; i++)
		triad_fabric_watch_unsent(&ask->watch, questions[i].tid);
	now_us = triad_clock_boot_us();
	for (uint32_t i = 0; i < n_answers; i++)
		triad_fabric_watch_answer(&ask->watch, &answers[i], now_us);
}

static uint64_t watch_fabric(void *context)
{
	struct triad_fabric_ask *ask = context;
	uint64_t now_us = triad_clock_boot_us();

	if (!ask->watch.period_us || osm_exit_flag)
		return TRIAD_TASK_DONE;
	if (now_us >= ask->look_us)
		look_around(ask);
	/* Without peers there is nothing to ask, and no descriptor is needed. */
	if (!ask->watch.n_peers)
		return triad_clock_now_us() + LOOK_US;
	run_round(ask);
	/* run_round() has waited already, unless the port is not open. */
	return triad_clock_now_us() + (ask->umad ? 0 : SLICE_US);
}

/* --- from outside --- */

void triad_fabric_ask_begin(
	struct triad_fabric_ask *ask, uint32_t period_ms, uint32_t status_ms)
{
	int error = 0;

	pthread_mutex_lock(&ask->lock);
	triad_fabric_watch_init(&ask->watch, period_ms, status_ms);
	ask->look_us = 0;
	/* Who does not elect needs no thread. */
	if (period_ms)
		error = triad_task_start(&ask->task);
	triad_task_wake(&ask->task);
	pthread_mutex_unlock(&ask->lock);
	if (error)
		triad_log_write(ask->log, TRIAD_LOG_ERROR,
			"election: no thread that asks other SMs over the fabric: %s; all "
			"count as silent, type 'triadctl reload' to try again",
			strerror(error));
}

void triad_fabric_ask_members(struct triad_fabric_ask *ask,
	const struct triad_fabric_member *members, size_t n, uint64_t master)
{
	uint32_t n_before;

	pthread_mutex_lock(&ask->lock);
	n_before = ask->watch.n_peers;
	if (ask->watch.period_us)
		triad_fabric_watch_members(&ask->watch, members, n, master);
	/* Look up the place of a new peer at once; the others wait for their time. */
	if (ask->watch.n_peers != n_before) {
		ask->look_us = 0;
		triad_task_wake(&ask->task);
	}
	pthread_mutex_unlock(&ask->lock);
}

void triad_fabric_ask_dead(struct triad_fabric_ask *ask, struct triad_fabric_dead *dead)
{
	pthread_mutex_lock(&ask->lock);
	triad_fabric_watch_dead(&ask->watch, triad_clock_boot_us(), dead);
	pthread_mutex_unlock(&ask->lock);
}

bool triad_fabric_ask_peer(
	struct triad_fabric_ask *ask, uint64_t id, struct triad_fabric_peer *peer)
{
	bool is_known = false;

	pthread_mutex_lock(&ask->lock);
	for (uint32_t i = 0; i < ask->watch.n_peers && !is_known; i++) {
		is_known = ask->watch.peers[i].id == id;
		if (is_known)
			*peer = ask->watch.peers[i];
	}
	pthread_mutex_unlock(&ask->lock);
	return is_known;
}

uint64_t triad_fabric_ask_master(struct triad_fabric_ask *ask)
{
	uint64_t id = 0;

	pthread_mutex_lock(&ask->lock);
	for (uint32_t i = 0; i < ask->watch.n_peers; i++)
		if (ask->watch.peers[i].verdict == TRIAD_FABRIC_MASTER &&
			!ask->watch.peers[i].sm.n)
			id = ask->watch.peers[i].id;
	pthread_mutex_unlock(&ask->lock);
	return id;
}

void triad_fabric_ask_report(
	struct triad_fabric_ask *ask, struct triad_fabric_report *report)
{
	pthread_mutex_lock(&ask->lock);
	*report = (struct triad_fabric_report){
		.period_ms = (uint32_t)(ask->watch.period_us / TRIAD_US_PER_MS),
		.n_asked = ask->watch.n_asked,
		.n_missed = ask->watch.n_missed,
		.n_all = ask->watch.n_peers,
	};
	for (uint32_t i = 0; i < ask->watch.n_peers; i++)
		if (triad_fabric_peer_elects(&ask->watch.peers[i]))
			report->peers[report->n_peers++] = ask->watch.peers[i];
	for (uint32_t i = 0, n = report->n_peers; i < ask->watch.n_peers; i++)
		if (!triad_fabric_peer_elects(&ask->watch.peers[i]))
			report->peers[n++] = ask->watch.peers[i];
	pthread_mutex_unlock(&ask->lock);
}

/* --- life --- */

static void destroy_ask(struct triad_fabric_ask *ask)
{
	close_port(ask);
	triad_task_clear(&ask->task);
	pthread_mutex_destroy(&ask->lock);
	free(ask);
}

struct triad_fabric_ask *triad_fabric_ask_new(
	struct osm_opensm *osm, uint64_t port_guid, struct triad_log *log)
{
	struct triad_fabric_ask *ask = calloc(1, sizeof(*ask));

	if (!ask)
		return NULL;
	ask->osm = osm;
	ask->local.guid = port_guid;
	ask->log = log;
	ask->limit.burst = 20;
	ask->limit.period_us = 60 * TRIAD_US_PER_S;
	pthread_mutex_init(&ask->lock, NULL);
	triad_task_init(&ask->task, &ask->lock, "triad-fabric", watch_fabric, ask);
	return ask;
}

bool triad_fabric_ask_free(struct triad_fabric_ask *ask)
{
	if (!ask)
		return true;
	if (!triad_task_stop(&ask->task, PATIENCE_US))
		return false;
	destroy_ask(ask);
	return true;
}
