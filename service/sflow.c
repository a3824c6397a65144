/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sflow.h"

#include <pthread.h>
#include <stdlib.h>

#include "triad/clock.h"
#include "triad/thread.h"

struct triad_sflow {
	struct triad_perf *perf;
	struct triad_sflow_sender *sender;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool started;
	bool configured; /* since the last run */
	bool stop;
};

struct triad_sflow *triad_sflow_new(
	struct triad_perf *perf, struct triad_sampler *sampler, struct triad_log *log)
{
	struct triad_sflow *sflow = calloc(1, sizeof(*sflow));

	if (!sflow)
		return NULL;
	sflow->perf = perf;
	sflow->sender = triad_sflow_sender_new(log, NULL, sampler);
	if (!sflow->sender) {
		free(sflow);
		return NULL;
	}
	pthread_mutex_init(&sflow->lock, NULL);
	triad_condition_init(&sflow->changed);
	return sflow;
}

void triad_sflow_stop(struct triad_sflow *sflow)
{
	bool started;

	if (!sflow)
		return;
	pthread_mutex_lock(&sflow->lock);
	sflow->stop = true;
	started = sflow->started;
	pthread_cond_signal(&sflow->changed);
	pthread_mutex_unlock(&sflow->lock);
	if (started)
		pthread_join(sflow->thread, NULL);
}

void triad_sflow_free(struct triad_sflow *sflow)
{
	if (!sflow)
		return;
	triad_sflow_sender_free(sflow->sender);
	pthread_cond_destroy(&sflow->changed);
	pthread_mutex_destroy(&sflow->lock);
	free(sflow);
}

/* Returns in how many microseconds to come again. */
static uint64_t send_due(struct triad_sflow *sflow)
{
	struct triad_view *view = NULL;
	uint64_t sleep_us;

	/* What nobody reads any more must not look as if nothing happened. */
	if (triad_perf_state(sflow->perf) == TRIAD_PERF_RUNNING)
		view = triad_perf_view(sflow->perf);
	sleep_us = triad_sflow_sender_run(sflow->sender, view, triad_clock_now_us());
	triad_view_unref(view);
	return sleep_us;
}

static void *run_thread(void *argument)
{
	struct triad_sflow *sflow = argument;

	pthread_mutex_lock(&sflow->lock);
	while (!sflow->stop) {
		uint64_t sleep_us, until_us;

		sflow->configured = false;
		pthread_mutex_unlock(&sflow->lock);
		sleep_us = send_due(sflow);
		until_us = sleep_us == UINT64_MAX ? UINT64_MAX
						  : triad_clock_now_us() + sleep_us;
		pthread_mutex_lock(&sflow->lock);
		while (!sflow->stop && !sflow->configured &&
			!triad_condition_wait(&sflow->changed, &sflow->lock, until_us))
			;
	}
	pthread_mutex_unlock(&sflow->lock);
	return NULL;
}

int triad_sflow_configure(
	struct triad_sflow *sflow, const struct triad_sflow_params *params)
{
	int error = triad_sflow_sender_configure(sflow->sender, params);

	if (error)
		return error;
	pthread_mutex_lock(&sflow->lock);
	sflow->configured = true;
	if (params->n_collectors && !sflow->started && !sflow->stop) {
		error = triad_thread_start(
			&sflow->thread, "triad-sflow", run_thread, sflow);
		sflow->started = !error;
	}
	pthread_cond_signal(&sflow->changed);
	pthread_mutex_unlock(&sflow->lock);
	return error;
}

struct triad_sflow_sender_status triad_sflow_status(struct triad_sflow *sflow)
{
	return triad_sflow_sender_status(sflow->sender);
}

struct triad_sflow_indices *triad_sflow_indices(struct triad_sflow *sflow)
{
	return triad_sflow_sender_indices(sflow->sender);
}
