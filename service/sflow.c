/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sflow.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/task.h"
#include "triad/clock.h"

struct triad_sflow {
	struct triad_perf *perf;
	struct triad_sflow_sender *sender;
	pthread_mutex_t lock; /* of the task */
	struct triad_task task;
};

static uint64_t send_when_due(void *context);

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
	triad_task_init(
		&sflow->task, &sflow->lock, "triad-sflow", send_when_due, sflow);
	return sflow;
}

void triad_sflow_stop(struct triad_sflow *sflow)
{
	if (sflow)
		(void)triad_task_stop(&sflow->task, UINT64_MAX);
}

void triad_sflow_free(struct triad_sflow *sflow)
{
	if (!sflow)
		return;
	triad_sflow_sender_free(sflow->sender);
	triad_task_clear(&sflow->task);
	pthread_mutex_destroy(&sflow->lock);
	free(sflow);
}

static uint64_t send_when_due(void *context)
{
	struct triad_sflow *sflow = context;
	struct triad_view *view = NULL;
	uint64_t sleep_us;

	pthread_mutex_unlock(&sflow->lock);
	/* No samples while counters are not read: a frozen total would look idle. */
	if (triad_perf_state(sflow->perf) == TRIAD_PERF_RUNNING)
		view = triad_perf_view(sflow->perf);
	sleep_us = triad_sflow_sender_run(sflow->sender, view, triad_clock_now_us());
	triad_view_unref(view);
	pthread_mutex_lock(&sflow->lock);
	/* UINT64_MAX: there are no collectors. */
	return sleep_us == UINT64_MAX ? TRIAD_TASK_DONE
				      : triad_clock_now_us() + sleep_us;
}

int triad_sflow_configure(
	struct triad_sflow *sflow, const struct triad_sflow_params *params)
{
	int error = triad_sflow_sender_configure(sflow->sender, params);

	if (error)
		return error;
	pthread_mutex_lock(&sflow->lock);
	if (params->n_collectors)
		error = triad_task_start(&sflow->task);
	triad_task_wake(&sflow->task);
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
