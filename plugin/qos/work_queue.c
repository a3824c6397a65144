/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/work_queue.h"

#include "qos/paths.h"
#include "triad/thread.h"

/* An adaptive mutex spins briefly before it sleeps in the kernel: the lock is held for
 * some instructions only. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

bool triad_work_queue_start(struct triad_work_queue *queue, const char *name,
	unsigned n_threads, void *(*run)(void *), void *context,
	const atomic_ulong *news)
{
	queue->context = context;
	queue->news = news;
	init_lock(&queue->lock);
	triad_condition_init(&queue->filled);
	queue->turns = triad_fair_queue_new(TRIAD_WORK_QUEUE_ROOM, TRIAD_PATH_N_LIDS);
	if (!queue->turns)
		return false;
	/* With the lock: a thread divides the jobs by their number. */
	pthread_mutex_lock(&queue->lock);
	while (queue->n_threads < n_threads &&
		!triad_thread_start(
			&queue->threads[queue->n_threads], name, run, queue))
		queue->n_threads++;
	queue->n_back_soon = queue->n_threads;
	pthread_mutex_unlock(&queue->lock);
	return queue->n_threads;
}

void triad_work_queue_stop(struct triad_work_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->stopped = true;
	pthread_cond_broadcast(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
	for (unsigned i = 0; i < queue->n_threads; i++)
		pthread_join(queue->threads[i], NULL);
}

void triad_work_queue_clear(struct triad_work_queue *queue)
{
	triad_fair_queue_free(queue->turns);
	pthread_cond_destroy(&queue->filled);
	pthread_mutex_destroy(&queue->lock);
}

/* Whether to wake a sleeping thread.  The caller holds the lock. */
static bool is_one_needed(const struct triad_work_queue *queue)
{
	uint32_t n = triad_fair_queue_length(queue->turns);

	return n && queue->n_waiting &&
		(!queue->n_back_soon || n >= TRIAD_WORK_QUEUE_MANY);
}

bool triad_work_queue_put(
	struct triad_work_queue *queue, const struct triad_work_queue_job *job)
{
	/* Treat requests from LIDs that are not unicast as those of LID 0. */
	uint32_t source = job->lid < TRIAD_PATH_N_LIDS ? job->lid : 0, slot;
	bool fits, wake;

	pthread_mutex_lock(&queue->lock);
	fits = !queue->stopped && triad_fair_queue_put(queue->turns, source, &slot);
	if (fits)
		queue->jobs[slot] = *job;
	wake = fits && is_one_needed(queue);
	pthread_mutex_unlock(&queue->lock);
	if (wake)
		pthread_cond_signal(&queue->filled);
	return fits;
}

bool triad_work_queue_take_left(
	struct triad_work_queue *queue, struct triad_work_queue_job *job)
{
	uint32_t slot;

	if (!queue->turns || !triad_fair_queue_take(queue->turns, &slot))
		return false;
	*job = queue->jobs[slot];
	return true;
}

/* The number of jobs that a thread takes at a time: it leaves work for the others.  The
 * caller holds the lock. */
static unsigned part_of(const struct triad_work_queue *queue)
{
	uint32_t part = triad_fair_queue_length(queue->turns) / queue->n_threads + 1;

	return part < TRIAD_WORK_QUEUE_BATCH ? part : TRIAD_WORK_QUEUE_BATCH;
}

bool triad_work_queue_take(struct triad_work_queue *queue, unsigned long known,
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH], unsigned *n)
{
	unsigned part;
	bool goes_on;

	*n = 0;
	pthread_mutex_lock(&queue->lock);
	while (!triad_fair_queue_length(queue->turns) && !queue->stopped &&
		atomic_load(queue->news) == known) {
		queue->n_waiting++;
		queue->n_back_soon--;
		(void)triad_condition_wait(&queue->filled, &queue->lock, UINT64_MAX);
		queue->n_back_soon++;
		queue->n_waiting--;
	}
	goes_on = !queue->stopped;
	part = goes_on ? part_of(queue) : 0;
	while (*n < part && triad_work_queue_take_left(queue, &jobs[*n]))
		(*n)++;
	pthread_mutex_unlock(&queue->lock);
	return goes_on;
}

void triad_work_queue_begin_long(struct triad_work_queue *queue)
{
	bool wake;

	pthread_mutex_lock(&queue->lock);
	queue->n_back_soon--;
	wake = is_one_needed(queue);
	pthread_mutex_unlock(&queue->lock);
	if (wake)
		pthread_cond_signal(&queue->filled);
}

void triad_work_queue_end_long(struct triad_work_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->n_back_soon++;
	pthread_mutex_unlock(&queue->lock);
}

void triad_work_queue_wake(struct triad_work_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	pthread_cond_broadcast(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}
