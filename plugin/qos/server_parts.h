/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of 'struct triad_qos_server' share:
 *
 *     server.c          receives requests and has the threads
 *     server_request.c  what a thread does with one request
 *     server_state.c    what this SM is at the moment, and so whether it may answer */
#ifndef TRIAD_PLUGIN_QOS_SERVER_PARTS_H
#define TRIAD_PLUGIN_QOS_SERVER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "plugin/qos/server.h"
#include "plugin/qos/work_queue.h"

struct server_counts {
	atomic_ulong received, answered, refused, overflowed, slow, class_port_infos;
	atomic_ulong held, waited, handed_over;
	atomic_ulong fallbacks[TRIAD_N_FALLBACKS];
};

struct triad_qos_server {
	struct osm_opensm *osm;
	struct triad_sampler *sampler;
	struct triad_hold *hold;
	struct triad_work_queue fast, slow;
	struct server_counts counts;
	struct triad_latency latency;
	struct triad_clients clients;
	atomic_bool sweeping;
	atomic_bool has_policy;  /* there is a policy that OpenSM does not have */
	atomic_bool outdated;    /* OpenSM's aliases differ from the snapshot's */
	atomic_bool expects;     /* a snapshot is expected */
	atomic_bool was_paused;  /* the process was paused, and no sweep as master has
				  * ended since */
	atomic_ulong generation; /* of 'snapshot'; 0: none */
	/* Until this time this SM, as standby, answers from 'snapshot'; 0: it has not
	 * handed over. */
	atomic_uint_fast64_t handed_over_until_us;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t published;
	struct triad_qos_snapshot *snapshot;
	bool has_slow; /* 'slow' has its thread */
};

/* One thread of a queue, with its own reference to the snapshot. */
struct worker {
	struct triad_qos_server *server;
	struct triad_qos_snapshot *snapshot;
	bool is_slow;
	struct triad_path_request request;
	struct triad_answer answer;
	struct triad_path_record records[TRIAD_ANSWER_MAX_RECORDS];
};

static inline void server_count(atomic_ulong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- server.c --- */

/* Puts a job into the slow queue; false: it can't take it. */
bool server_put_slow(
	struct triad_qos_server *server, const struct triad_work_queue_job *job);

/* --- server_state.c --- */

uint64_t server_now_ns(void);

bool server_is_master(const struct triad_qos_server *server);

/* Whether there is a snapshot to answer from: as master, one from this time as master;
 * as standby, the one from before, for a limited time, which begins with this call. */
bool server_may_answer(struct triad_qos_server *server);

/* In a new master's first sweep OpenSM drops all requests. */
bool server_is_in_first_sweep(const struct triad_qos_server *server);

/* Whether requests wait for a snapshot. */
bool server_must_wait(struct triad_qos_server *server);

void server_give_back(struct triad_qos_server *server, osm_madw_t *madw);

/* The generation of the worker's snapshot; 0: it has none. */
static inline unsigned long worker_generation(const struct worker *worker)
{
	return worker->snapshot ? worker->snapshot->generation : 0;
}

/* Takes the present snapshot. */
void worker_refresh(struct worker *worker);

/* Answers a request, or passes it on.  The caller no longer owns the MAD. */
void worker_handle(struct worker *worker, const struct triad_work_queue_job *job);

#endif
