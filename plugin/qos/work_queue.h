/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue of requests and the threads that work on it.
 *
 * Clients take turns (lib/fair_queue.h): one that asks for all paths of a large job at once
 * makes nobody wait but itself, and leaves room for the others' requests.
 *
 * Putting never waits and never allocates; a full queue refuses, and so it does with a client
 * that has more requests in it than there is room left.
 *
 * Thread-safety: any thread puts and wakes; the queue's own threads take.
 * Memory: fixed, 0.8 MiB, and the MADs in it. */
#ifndef TRIAD_PLUGIN_QOS_WORK_QUEUE_H
#define TRIAD_PLUGIN_QOS_WORK_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/fair_queue.h"

#define TRIAD_WORK_QUEUE_ROOM 16384
#define TRIAD_WORK_QUEUE_MAX_THREADS 16
/* A job takes a microsecond, and so does a fight for the lock. */
#define TRIAD_WORK_QUEUE_BATCH 16

struct osm_madw;

struct triad_work_queue_job {
	struct osm_madw *madw;
	uint64_t received_ns;
	uint16_t lid; /* who asks */
};

struct triad_work_queue {
	void *context; /* for its threads */
	const atomic_ulong
		*news; /* moves when threads that wait have news to look at */
	unsigned n_threads;
	pthread_t threads[TRIAD_WORK_QUEUE_MAX_THREADS];
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t filled;
	bool stopped;
	unsigned n_waiting;
	struct triad_fair_queue *turns; /* of the jobs */
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_ROOM];
};

/* Starts 'n_threads' of 'run', which is given the queue.  True when there is one at
 * least. */
bool triad_work_queue_start(struct triad_work_queue *queue, const char *name,
	unsigned n_threads, void *(*run)(void *), void *context,
	const atomic_ulong *news);

/* Ends the threads; what is queued is for the caller to take. */
void triad_work_queue_stop(struct triad_work_queue *queue);

/* After triad_work_queue_stop(): false when nothing is left. */
bool triad_work_queue_take_left(
	struct triad_work_queue *queue, struct triad_work_queue_job *job);

/* After that. */
void triad_work_queue_clear(struct triad_work_queue *queue);

/* False when there is no room for it. */
bool triad_work_queue_put(
	struct triad_work_queue *queue, const struct triad_work_queue_job *job);

/* Waits for jobs, or until '*news' is not 'known'.  Sets 'jobs' and their number '*n', 0 for
 * news alone: one, or, when many wait, the caller's part of them, but at most
 * TRIAD_WORK_QUEUE_BATCH.  False to end. */
bool triad_work_queue_take(struct triad_work_queue *queue, unsigned long known,
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH], unsigned *n);

/* Has those that wait look at '*news'. */
void triad_work_queue_wake(struct triad_work_queue *queue);

#endif
