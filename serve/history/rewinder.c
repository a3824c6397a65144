/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/rewinder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/task.h"
#include "serve/history/read.h"
#include "triad/clock.h"

#define JOIN_US TRIAD_US_PER_S

/* An answer on its way. */
struct answering {
	struct triad_link_upload upload;
	size_t used;
	char octets[TRIAD_UPLOAD_SIZE];
};

struct triad_rewinder {
	struct triad_link_to *link;
	struct triad_history_reading reading; /* of the thread alone, as is this: */
	struct answering answering;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	char job[TRIAD_HISTORY_JOB_SIZE]; /* "": none */
};

static uint64_t do_job(void *context);

struct triad_rewinder *triad_rewinder_new(
	struct triad_link_to *link, struct triad_history_store *store)
{
	struct triad_rewinder *rewinder = calloc(1, sizeof(*rewinder));

	if (!rewinder)
		return NULL;
	rewinder->link = link;
	rewinder->reading.store = store;
	rewinder->reading.frames = triad_frame_reader_new();
	if (!rewinder->reading.frames) {
		free(rewinder);
		return NULL;
	}
	pthread_mutex_init(&rewinder->lock, NULL);
	triad_task_init(
		&rewinder->task, &rewinder->lock, "triadd-rewind", do_job, rewinder);
	return rewinder;
}

bool triad_rewinder_stop(struct triad_rewinder *rewinder)
{
	return !rewinder || triad_task_stop(&rewinder->task, JOIN_US);
}

void triad_rewinder_free(struct triad_rewinder *rewinder)
{
	if (!rewinder)
		return;
	triad_frame_reader_free(rewinder->reading.frames);
	triad_task_clear(&rewinder->task);
	pthread_mutex_destroy(&rewinder->lock);
	free(rewinder);
}

/* --- an answer --- */

static bool send_octets(struct answering *answering)
{
	bool is_sent = !answering->used ||
		!triad_link_upload_put(
			&answering->upload, answering->octets, answering->used, true);

	answering->used = 0;
	return is_sent;
}

/* Sends a line; false when nobody waits for it any more. */
static bool send_line(void *context, const char *line, size_t length)
{
	struct answering *answering = context;

	if (length >= TRIAD_PROFILE_LINE_SIZE)
		return true;
	if (answering->used + length + 1 > sizeof(answering->octets) &&
		!send_octets(answering))
		return false;
	memcpy(answering->octets + answering->used, line, length);
	answering->used += length;
	answering->octets[answering->used++] = '\n';
	return true;
}

/* --- jobs --- */

static uint64_t do_job(void *context)
{
	struct triad_rewinder *rewinder = context;
	struct answering *answering = &rewinder->answering;
	char job[TRIAD_HISTORY_JOB_SIZE], number[24];
	const char *const words[] = {"answer", number};
	int n = 0;

	memcpy(job, rewinder->job, sizeof(job));
	rewinder->job[0] = '\0';
	if (sscanf(job, "%23s %n", number, &n) != 1)
		return UINT64_MAX;
	pthread_mutex_unlock(&rewinder->lock);
	answering->used = 0;
	if (!triad_link_upload_open(rewinder->link, &answering->upload, 2, words)) {
		triad_history_read_job(
			&rewinder->reading, job + n, send_line, answering);
		if (send_octets(answering))
			(void)triad_link_upload_end(&answering->upload);
		triad_link_upload_close(&answering->upload);
	}
	pthread_mutex_lock(&rewinder->lock);
	return UINT64_MAX;
}

void triad_rewinder_take_job(struct triad_rewinder *rewinder, const char *text)
{
	pthread_mutex_lock(&rewinder->lock);
	snprintf(rewinder->job, sizeof(rewinder->job), "%s", text);
	/* Without a thread the asker waits in vain, and says so. */
	(void)triad_task_start(&rewinder->task);
	triad_task_wake(&rewinder->task);
	pthread_mutex_unlock(&rewinder->lock);
}
