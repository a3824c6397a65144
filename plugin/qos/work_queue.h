/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue of requests, and the threads that process it.
 *
 * The queue is fair between clients (lib/fair_queue.h): a client that asks for all
 * paths of a large job at once delays only itself, and leaves room for others'
 * requests.
 *
 * To wake a thread costs more than to answer a request.  So as long as few jobs wait, a
 * sleeping thread is not woken if another one will soon take more jobs.
 *
 * Putting never waits and never allocates.  The queue refuses a job when it is full, or
 * when the client already has more requests in it than there is room left.
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
/* Jobs taken at once.  A job takes about a microsecond, and so does contention for the
 * lock. */
#define TRIAD_WORK_QUEUE_BATCH 16
/* More waiting jobs than this count as many; this number is done in less than 0.1
 * ms. */
#define TRIAD_WORK_QUEUE_MANY 64

struct osm_madw;

struct triad_work_queue_job {
	struct osm_madw *madw;
	uint64_t received_ns;
	uint16_t lid; /* who asks */
};

struct triad_work_queue {
	void *context; /* for its threads */
	/* Incremented when waiting threads must look at something new. */
	const atomic_ulong *news;
	pthread_mutex_t lock; /* of what follows */
	unsigned n_threads;
	pthread_t threads[TRIAD_WORK_QUEUE_MAX_THREADS];
	pthread_cond_t filled;
	bool stopped;
	unsigned n_waiting;             /* threads that sleep */
	unsigned n_back_soon;           /* threads that work, but not on a long job */
	struct triad_fair_queue *turns; /* the order of the jobs */
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_ROOM];
};

/* Starts 'n_threads' threads that run 'run' with the queue as argument.  True when at
 * least one could be started. */
bool triad_work_queue_start(struct triad_work_queue *queue, const char *name,
	unsigned n_threads, void *(*run)(void *), void *context,
	const atomic_ulong *news);

/* Ends the threads; the caller takes the jobs that are left. */
void triad_work_queue_stop(struct triad_work_queue *queue);

/* After triad_work_queue_stop(): takes a job that is left; false: there is none. */
bool triad_work_queue_take_left(
	struct triad_work_queue *queue, struct triad_work_queue_job *job);

/* After that. */
void triad_work_queue_clear(struct triad_work_queue *queue);

/* False when there is no room for it. */
bool triad_work_queue_put(
	struct triad_work_queue *queue, const struct triad_work_queue_job *job);

/* Waits for jobs, or until '*news' differs from 'known'.  Sets 'jobs' and their number
 * '*n': one job, or, when many wait, the caller's part of them, at most
 * TRIAD_WORK_QUEUE_BATCH; 0 if there is only news.  Returns false when the thread must
 * end. */
bool triad_work_queue_take(struct triad_work_queue *queue, unsigned long known,
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH], unsigned *n);

/* The calling thread begins, or ends, a job that may take long. */
void triad_work_queue_begin_long(struct triad_work_queue *queue);
void triad_work_queue_end_long(struct triad_work_queue *queue);

/* Wakes waiting threads to look at '*news'. */
void triad_work_queue_wake(struct triad_work_queue *queue);

#endif
