/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/task.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define JOIN_US TRIAD_US_PER_S

enum job_kind { JOB_PAST, JOB_LISTS, JOB_LIST_SINCE, JOB_OUTPUTS, JOB_SERIES };

struct job {
	enum job_kind kind;
	bool is_done;
	bool is_left; /* its caller has given up; the thread frees it */
	uint64_t at_us;
	enum triad_kept_kind list;
	struct triad_history_request request;
	/* The result. */
	uint64_t since_us;
	struct triad_past *past;
	uint32_t n_points;
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
	char message[TRIAD_HISTORY_MESSAGE_SIZE];
};

struct triad_history_reader {
	struct triad_history_reading reading; /* of the thread alone */

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	pthread_cond_t changed; /* a job is done, or there is room for one */
	struct job *job;        /* NULL: none */
	bool is_closed;
};

static uint64_t run_wanted_job(void *context);

struct triad_history_reader *triad_history_reader_new(struct triad_history_store *store)
{
	struct triad_history_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->reading.store = store;
	reader->reading.frames = triad_frame_reader_new();
	if (!reader->reading.frames) {
		free(reader);
		return NULL;
	}
	pthread_mutex_init(&reader->lock, NULL);
	triad_condition_init(&reader->changed);
	triad_task_init(
		&reader->task, &reader->lock, "triad-rewind", run_wanted_job, reader);
	return reader;
}

void triad_history_reader_close(struct triad_history_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	reader->is_closed = true;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

bool triad_history_reader_stop(struct triad_history_reader *reader)
{
	if (!reader)
		return true;
	triad_history_reader_close(reader);
	return triad_task_stop(&reader->task, JOIN_US);
}

static void free_job(struct job *job)
{
	if (job)
		triad_past_free(job->past);
	free(job);
}

void triad_history_reader_free(struct triad_history_reader *reader)
{
	if (!reader)
		return;
	free_job(reader->job);
	triad_frame_reader_free(reader->reading.frames);
	triad_task_clear(&reader->task);
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* --- the thread --- */

static void do_job(struct triad_history_reading *reading, struct job *job)
{
	switch (job->kind) {
	case JOB_PAST:
		job->past = triad_history_read_past(reading, job->at_us);
		break;
	case JOB_LISTS:
		job->past = triad_history_read_lists(reading, job->at_us);
		break;
	case JOB_LIST_SINCE:
		job->since_us =
			triad_history_read_list_since(reading, job->list, job->at_us);
		break;
	case JOB_OUTPUTS:
		job->past = triad_history_read_outputs(reading, job->at_us);
		break;
	case JOB_SERIES:
		job->n_points =
			triad_history_read_series(reading, &job->request, job->points);
		break;
	}
	memcpy(job->message, reading->message, sizeof(job->message));
}

static uint64_t run_wanted_job(void *context)
{
	struct triad_history_reader *reader = context;
	struct job *job = reader->job;

	if (!job || job->is_done)
		return UINT64_MAX;
	pthread_mutex_unlock(&reader->lock);
	do_job(&reader->reading, job);
	pthread_mutex_lock(&reader->lock);
	job->is_done = true;
	if (job->is_left) {
		reader->job = NULL;
		free_job(job);
	}
	pthread_cond_broadcast(&reader->changed);
	return UINT64_MAX;
}

/* --- the caller --- */

/* Called with the lock.  Waits for the end of another caller's job. */
static bool wait_for_room(struct triad_history_reader *reader, uint64_t until_us)
{
	while (reader->job && !reader->is_closed)
		if (triad_condition_wait(&reader->changed, &reader->lock, until_us))
			break;
	return !reader->job && !reader->is_closed;
}

/* Called with the lock.  False: it takes too long; the thread frees the job later. */
static bool wait_for_end(
	struct triad_history_reader *reader, struct job *job, uint64_t until_us)
{
	while (!job->is_done && !reader->is_closed)
		if (triad_condition_wait(&reader->changed, &reader->lock, until_us))
			break;
	if (!job->is_done) {
		job->is_left = true;
		return false;
	}
	reader->job = NULL;
	pthread_cond_broadcast(&reader->changed);
	return true;
}

static const char *run_job(struct triad_history_reader *reader, struct job *job,
	uint64_t until_us, bool *is_left)
{
	static const char ending[] = "the program ends";
	static const char hanging[] = "the disk of history.dir has not answered for "
				      "long: look after it";
	const char *why = NULL;

	pthread_mutex_lock(&reader->lock);
	if (!wait_for_room(reader, until_us)) {
		why = reader->is_closed ? ending
					: "others are reading images: try again";
	} else if (triad_task_start(&reader->task)) {
		why = "there is no thread for it: try again";
	} else {
		reader->job = job;
		triad_task_wake(&reader->task);
		*is_left = !wait_for_end(reader, job, until_us);
		if (*is_left)
			why = reader->is_closed ? ending : hanging;
	}
	pthread_mutex_unlock(&reader->lock);
	return why;
}

/* Runs a copy of 'wanted' and returns it when it is done; the caller frees it.  NULL,
 * with a message. */
static struct job *run_copy_of_job(struct triad_history_reader *reader,
	const struct job *wanted, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	struct job *job = malloc(sizeof(*job));
	bool is_left = false;
	const char *why;

	snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE, "not enough memory; try again");
	if (!job)
		return NULL;
	*job = *wanted;
	why = run_job(
		reader, job, triad_clock_now_us() + TRIAD_HISTORY_WAIT_US, &is_left);
	if (why)
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE, "%s", why);
	if (why && !is_left)
		free_job(job);
	if (why)
		return NULL;
	memcpy(message, job->message, TRIAD_HISTORY_MESSAGE_SIZE);
	return job;
}

static struct triad_past *ask_past(struct triad_history_reader *reader,
	enum job_kind kind, uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	const struct job wanted = {.kind = kind, .at_us = at_us};
	struct job *job = run_copy_of_job(reader, &wanted, message);
	struct triad_past *past = job ? job->past : NULL;

	free(job);
	return past;
}

struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	return ask_past(reader, JOB_PAST, at_us, message);
}

struct triad_past *triad_history_reader_lists(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	return ask_past(reader, JOB_LISTS, at_us, message);
}

uint64_t triad_history_reader_list_since(struct triad_history_reader *reader,
	enum triad_kept_kind kind, uint64_t from_us)
{
	const struct job wanted = {
		.kind = JOB_LIST_SINCE, .list = kind, .at_us = from_us};
	char message[TRIAD_HISTORY_MESSAGE_SIZE];
	struct job *job = run_copy_of_job(reader, &wanted, message);
	uint64_t since_us = job ? job->since_us : 0;

	free(job);
	return since_us;
}

struct triad_past *triad_history_reader_outputs(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	return ask_past(reader, JOB_OUTPUTS, at_us, message);
}

uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	const struct job wanted = {.kind = JOB_SERIES, .request = *request};
	struct job *job = run_copy_of_job(reader, &wanted, message);
	uint32_t n = job ? job->n_points : 0;

	if (job)
		memcpy(points, job->points, n * sizeof(*points));
	free(job);
	return n;
}
