/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "triad/clock.h"
#include "triad/thread.h"

/* How often it looks whether a sweep has ended. */
#define LOOK_US (TRIAD_US_PER_S / 10)
#define JOIN_US TRIAD_US_PER_S

struct triad_profile {
	struct triad_perf *perf;
	struct triad_profile_writer *writer;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool started;
	bool wanted; /* there is a file */
	bool stop;
};

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
	triad_condition_init(&profile->changed);
	return profile;
}

bool triad_profile_stop(struct triad_profile *profile)
{
	bool started;

	if (!profile)
		return true;
	pthread_mutex_lock(&profile->lock);
	profile->stop = true;
	started = profile->started;
	profile->started = false;
	pthread_cond_signal(&profile->changed);
	pthread_mutex_unlock(&profile->lock);
	return !started || !triad_thread_join(profile->thread, JOIN_US);
}

void triad_profile_free(struct triad_profile *profile)
{
	if (!profile)
		return;
	triad_profile_writer_free(profile->writer);
	pthread_cond_destroy(&profile->changed);
	pthread_mutex_destroy(&profile->lock);
	free(profile);
}

/* Writes the last sweep, when it is not 'written_us', the beginning of the one that was
 * written last.  Returns the beginning of the one that is now. */
static uint64_t write_sweep(struct triad_profile *profile, uint64_t written_us)
{
	struct triad_collector_status status = triad_perf_status(profile->perf);
	uint64_t begun_us = status.last_started_us;
	uint64_t ago_us = triad_clock_now_us() - begun_us;
	struct triad_view *view;

	if (!status.n_sweeps || begun_us == written_us)
		return written_us;
	view = triad_perf_view(profile->perf);
	if (view)
		/* What fails is logged and counted there. */
		(void)triad_profile_writer_write(profile->writer, view,
			triad_clock_wall_us() - ago_us, begun_us);
	triad_view_unref(view);
	return begun_us;
}

static void *run_thread(void *argument)
{
	struct triad_profile *profile = argument;
	uint64_t written_us = 0;

	pthread_mutex_lock(&profile->lock);
	while (!profile->stop) {
		bool wanted = profile->wanted;

		pthread_mutex_unlock(&profile->lock);
		if (wanted)
			written_us = write_sweep(profile, written_us);
		pthread_mutex_lock(&profile->lock);
		if (!profile->stop)
			triad_condition_wait(&profile->changed, &profile->lock,
				wanted ? triad_clock_now_us() + LOOK_US : UINT64_MAX);
	}
	pthread_mutex_unlock(&profile->lock);
	return NULL;
}

int triad_profile_configure(
	struct triad_profile *profile, const struct triad_conf *conf)
{
	struct triad_profile_params params = triad_profile_params(conf);
	int error = 0;

	triad_profile_writer_configure(profile->writer, &params);
	pthread_mutex_lock(&profile->lock);
	profile->wanted = params.path[0];
	if (profile->wanted && !profile->started && !profile->stop) {
		error = triad_thread_start(
			&profile->thread, "triad-profile", run_thread, profile);
		profile->started = !error;
	}
	pthread_cond_signal(&profile->changed);
	pthread_mutex_unlock(&profile->lock);
	return error;
}

struct triad_profile_status triad_profile_status(struct triad_profile *profile)
{
	return triad_profile_writer_status(profile->writer);
}
