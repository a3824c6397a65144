/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/profile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/task.h"
#include "serve/profile_writer.h"
#include "triad/clock.h"

#define JOIN_US TRIAD_US_PER_S

struct triad_profile_keeper {
	struct triad_link_to *link;
	struct triad_log *log;
	struct triad_profile_writer *writer;
	char why[160]; /* the answer was cut; of the thread alone */

	pthread_mutex_t lock; /* of the task */
	struct triad_task task;
};

/* A sink of 'profile'. */
static int take_section(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_profile_keeper *keeper = context;

	if (type == TRIAD_FRAME_OUTPUT)
		return triad_profile_writer_take(keeper->writer, piece, size);
	snprintf(keeper->why, sizeof(keeper->why), "%.*s", (int)strcspn(piece, "\n"),
		piece);
	return 0;
}

static void write_profile(struct triad_profile_keeper *keeper)
{
	const struct triad_client_sink sink = {.take = take_section, .context = keeper};
	struct triad_profile_request request;
	const char *const words[] = {"profile", request.key, request.after};
	int status;

	if (!triad_profile_writer_begin(keeper->writer, triad_clock_wall_us(),
		    triad_clock_now_us(), &request))
		return;
	strcpy(keeper->why, "its end is missing");
	status = triad_link_ask(keeper->link, TRIAD_LINK_S, 3, words, &sink);
	if (status == TRIAD_CONTROL_FAILED)
		triad_profile_writer_refuse(keeper->writer, keeper->why);
	/* The writer logs and counts its errors. */
	(void)triad_profile_writer_end(keeper->writer, status == TRIAD_CONTROL_DONE,
		atomic_load(&keeper->link->is_ending) ? NULL : keeper->why);
}

static uint64_t write_profile_when_woken(void *context)
{
	struct triad_profile_keeper *keeper = context;

	pthread_mutex_unlock(&keeper->lock);
	write_profile(keeper);
	pthread_mutex_lock(&keeper->lock);
	return UINT64_MAX;
}

/* --- life --- */

struct triad_profile_keeper *triad_profile_keeper_new(
	struct triad_link_to *link, struct triad_log *log)
{
	struct triad_profile_keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return NULL;
	keeper->link = link;
	keeper->log = log;
	keeper->writer = triad_profile_writer_new(log);
	if (!keeper->writer) {
		free(keeper);
		return NULL;
	}
	pthread_mutex_init(&keeper->lock, NULL);
	triad_task_init(&keeper->task, &keeper->lock, "triadd-profile",
		write_profile_when_woken, keeper);
	return keeper;
}

void triad_profile_keeper_configure(
	struct triad_profile_keeper *keeper, const struct triad_conf *conf)
{
	struct triad_profile_params params = triad_profile_params(conf);
	int error = 0;

	triad_profile_writer_configure(keeper->writer, &params);
	pthread_mutex_lock(&keeper->lock);
	if (params.path[0])
		error = triad_task_start(&keeper->task);
	triad_task_wake(&keeper->task);
	pthread_mutex_unlock(&keeper->lock);
	if (error)
		triad_log_write(keeper->log, TRIAD_LOG_ERROR,
			"profile: no thread for it: %s; nothing is written, type 'triadctl "
			"reload' to try again",
			strerror(error));
}

void triad_profile_keeper_sweep(struct triad_profile_keeper *keeper)
{
	pthread_mutex_lock(&keeper->lock);
	triad_task_wake(&keeper->task);
	pthread_mutex_unlock(&keeper->lock);
}

struct triad_profile_status triad_profile_keeper_status(
	struct triad_profile_keeper *keeper)
{
	return triad_profile_writer_status(keeper->writer);
}

bool triad_profile_keeper_free(struct triad_profile_keeper *keeper)
{
	if (!keeper)
		return true;
	if (!triad_task_stop(&keeper->task, JOIN_US))
		return false;
	triad_profile_writer_free(keeper->writer);
	triad_task_clear(&keeper->task);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
	return true;
}
