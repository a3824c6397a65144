/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/lane.h"

#include "triad/thread.h"

bool triad_lane_start(struct triad_lane *lane, const char *name, unsigned n_threads,
	void *(*run)(void *), void *context, const atomic_ulong *news)
{
	lane->context = context;
	lane->news = news;
	pthread_mutex_init(&lane->lock, NULL);
	triad_condition_init(&lane->filled);
	for (unsigned i = 0; i < n_threads; i++) {
		if (triad_thread_start(&lane->threads[i], name, run, lane))
			break;
		lane->n_threads++;
	}
	return lane->n_threads;
}

void triad_lane_stop(struct triad_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	lane->stopped = true;
	pthread_cond_broadcast(&lane->filled);
	pthread_mutex_unlock(&lane->lock);
	for (unsigned i = 0; i < lane->n_threads; i++)
		pthread_join(lane->threads[i], NULL);
}

void triad_lane_clear(struct triad_lane *lane)
{
	pthread_cond_destroy(&lane->filled);
	pthread_mutex_destroy(&lane->lock);
}

bool triad_lane_put(struct triad_lane *lane, const struct triad_lane_job *job)
{
	bool fits, wake;

	pthread_mutex_lock(&lane->lock);
	fits = lane->n < TRIAD_LANE_ROOM && !lane->stopped;
	if (fits)
		lane->jobs[(lane->first + lane->n++) % TRIAD_LANE_ROOM] = *job;
	wake = fits && lane->n_waiting;
	pthread_mutex_unlock(&lane->lock);
	if (wake)
		pthread_cond_signal(&lane->filled);
	return fits;
}

bool triad_lane_take_left(struct triad_lane *lane, struct triad_lane_job *job)
{
	if (!lane->n)
		return false;
	*job = lane->jobs[lane->first];
	lane->first = (lane->first + 1) % TRIAD_LANE_ROOM;
	lane->n--;
	return true;
}

bool triad_lane_take(
	struct triad_lane *lane, unsigned long known, struct triad_lane_job *job)
{
	bool goes_on;

	job->madw = NULL;
	pthread_mutex_lock(&lane->lock);
	while (!lane->n && !lane->stopped && atomic_load(lane->news) == known) {
		lane->n_waiting++;
		(void)triad_condition_wait(&lane->filled, &lane->lock, UINT64_MAX);
		lane->n_waiting--;
	}
	goes_on = !lane->stopped;
	if (goes_on)
		(void)triad_lane_take_left(lane, job);
	pthread_mutex_unlock(&lane->lock);
	return goes_on;
}

void triad_lane_wake(struct triad_lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	pthread_cond_broadcast(&lane->filled);
	pthread_mutex_unlock(&lane->lock);
}
