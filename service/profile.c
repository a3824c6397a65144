/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/task.h"
#include "triad/clock.h"

/* How often the thread checks whether a sweep has ended. */
#define LOOK_US (TRIAD_US_PER_S / 10)
#define JOIN_US TRIAD_US_PER_S

struct triad_profile {
	struct triad_perf *perf;
	struct triad_profile_writer *writer;
	/* When the sweep written last began; of the thread alone. */
	uint64_t written_us;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool wanted; /* there is a file */
};

static uint64_t write_profile_when_due(void *context);

struct triad_profile *triad_profile_new(
	struct triad_perf *perf, uint64_t port_guid, struct triad_log *log)
{
	struct triad_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->perf = perf;
	profile->writer = triad_profile_writer_new(port_guid, log);
	if (!profile->writer) {
		free(profile);
		return NULL;
	}
	pthread_mutex_init(&profile->lock, NULL);
	triad_task_init(&profile->task, &profile->lock, "triad-profile",
		write_profile_when_due, profile);
	return profile;
}

bool triad_profile_stop(struct triad_profile *profile)
{
	return !profile || triad_task_stop(&profile->task, JOIN_US);
}

void triad_profile_free(struct triad_profile *profile)
{
	if (!profile)
		return;
	triad_profile_writer_free(profile->writer);
	triad_task_clear(&profile->task);
	pthread_mutex_destroy(&profile->lock);
	free(profile);
}

/* Writes the last sweep, unless it is written. */
static void write_sweep(struct triad_profile *profile)
{
	struct triad_collector_status status = triad_perf_status(profile->perf);
	uint64_t begun_us = status.last_started_us;
	uint64_t ago_us = triad_clock_now_us() - begun_us;
	struct triad_view *view;

	if (!status.n_sweeps || begun_us == profile->written_us)
		return;
	view = triad_perf_view(profile->perf);
	if (view)
		/* The writer logs and counts its errors. */
		(void)triad_profile_writer_write(profile->writer, view,
			triad_clock_wall_us() - ago_us, begun_us);
	triad_view_unref(view);
	profile->written_us = begun_us;
}

static uint64_t write_profile_when_due(void *context)
{
	struct triad_profile *profile = context;

	if (!profile->wanted) {
		/* Closes the file, and clears its error. */
		pthread_mutex_unlock(&profile->lock);
		(void)triad_profile_writer_apply(profile->writer);
		pthread_mutex_lock(&profile->lock);
		return UINT64_MAX;
	}
	pthread_mutex_unlock(&profile->lock);
	write_sweep(profile);
	pthread_mutex_lock(&profile->lock);
	return triad_clock_now_us() + LOOK_US;
}

int triad_profile_configure(
	struct triad_profile *profile, const struct triad_conf *conf)
{
	struct triad_profile_params params = triad_profile_params(conf);
	int error = 0;

	triad_profile_writer_configure(profile->writer, &params);
	pthread_mutex_lock(&profile->lock);
	profile->wanted = params.path[0];
	if (profile->wanted)
		error = triad_task_start(&profile->task);
	triad_task_wake(&profile->task);
	pthread_mutex_unlock(&profile->lock);
	return error;
}

struct triad_profile_status triad_profile_status(struct triad_profile *profile)
{
	return triad_profile_writer_status(profile->writer);
}
