/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/work_queue.h"

#include "qos/paths.h"
#include "triad/thread.h"

bool triad_work_queue_start(struct triad_work_queue *queue, const char *name,
	unsigned n_threads, void *(*run)(void *), void *context,
	const atomic_ulong *news)
{
	queue->context = context;
	queue->news = news;
	pthread_mutex_init(&queue->lock, NULL);
	triad_condition_init(&queue->filled);
	queue->turns = triad_fair_queue_new(TRIAD_WORK_QUEUE_ROOM, TRIAD_PATH_N_LIDS);
	if (!queue->turns)
		return false;
	for (unsigned i = 0; i < n_threads; i++) {
		if (triad_thread_start(&queue->threads[i], name, run, queue))
			break;
		queue->n_threads++;
	}
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

bool triad_work_queue_put(
	struct triad_work_queue *queue, const struct triad_work_queue_job *job)
{
	/* Who asks from no unicast LID has the turn of LID 0. */
	uint32_t source = job->lid < TRIAD_PATH_N_LIDS ? job->lid : 0, place;
	bool fits, wake;

	pthread_mutex_lock(&queue->lock);
	fits = !queue->stopped && triad_fair_queue_put(queue->turns, source, &place);
	if (fits)
		queue->jobs[place] = *job;
	wake = fits && queue->n_waiting;
	pthread_mutex_unlock(&queue->lock);
	if (wake)
		pthread_cond_signal(&queue->filled);
	return fits;
}

bool triad_work_queue_take_left(
	struct triad_work_queue *queue, struct triad_work_queue_job *job)
{
	uint32_t place;

	if (!queue->turns || !triad_fair_queue_take(queue->turns, &place))
		return false;
	*job = queue->jobs[place];
	return true;
}

/* What one thread takes at a time, under the lock: it must not leave the others idle. */
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
		(void)triad_condition_wait(&queue->filled, &queue->lock, UINT64_MAX);
		queue->n_waiting--;
	}
	goes_on = !queue->stopped;
	part = goes_on ? part_of(queue) : 0;
	while (*n < part && triad_work_queue_take_left(queue, &jobs[*n]))
		(*n)++;
	pthread_mutex_unlock(&queue->lock);
	return goes_on;
}

void triad_work_queue_wake(struct triad_work_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	pthread_cond_broadcast(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}
