/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_reader.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/line_cutter.h"
#include "lib/text.h"
#include "service/served.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define ABSENT                                                                         \
	"triadd keeps the images, and is not connected: " TRIAD_SERVED_RESTART         \
	", where it must be installed"

#define MALFORMED "the image can't be read: its answer is malformed"

enum job_kind {
	JOB_PAST,
	JOB_LISTS,
	JOB_LIST_SINCE,
	JOB_OUTPUTS,
	JOB_SERIES,
	JOB_LEVELS
};

struct job {
	enum job_kind kind;
	uint64_t at_us;
	enum triad_kept_kind list;
	struct triad_history_request request;

	/* With the reader's lock: */
	uint64_t number;
	bool is_answered; /* the answer has begun */
	bool is_done;
	bool is_cut;  /* the answer is not whole */
	bool is_left; /* its caller has given up: who answers it frees it */

	/* Of who answers it, and then the result. */
	struct triad_profile_parser parser;
	char file[TRIAD_CONF_PATH_SIZE]; /* of the part that is read */
	bool has_part;
	uint64_t since_us;
	struct triad_past *past;
	uint32_t n_points, n_sums;
	union {
		struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
		struct triad_history_sum sums[TRIAD_HISTORY_MAX_SUMS];
	};
	char message[TRIAD_HISTORY_MESSAGE_SIZE];
};

struct triad_history_reader {
	/* Of who answers. */
	struct triad_line_cutter cutter;
	char line[TRIAD_PROFILE_LINE_SIZE];

	pthread_mutex_t lock;   /* of what follows */
	pthread_cond_t changed; /* a job is done, or there is room for one */
	struct job *job;        /* NULL: none */
	uint64_t n_jobs;
	unsigned n_there; /* who are told of jobs */
	bool is_closed;
};

static bool take_line(void *context, const char *line, size_t length);

struct triad_history_reader *triad_history_reader_new(void)
{
	struct triad_history_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	/* An answer to a job of an earlier process fits none of this one. */
	reader->n_jobs = triad_clock_wall_us();
	pthread_mutex_init(&reader->lock, NULL);
	triad_condition_init(&reader->changed);
	reader->cutter = (struct triad_line_cutter){.take = take_line,
		.context = reader,
		.buffer = reader->line,
		.room = sizeof(reader->line)};
	return reader;
}

void triad_history_reader_close(struct triad_history_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->is_closed = true;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
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
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* --- an answer --- */

static void __attribute__((format(printf, 2, 3)))
fail_job(struct job *job, const char *format, ...)
{
	va_list args;

	if (job->message[0])
		return;
	va_start(args, format);
	vsnprintf(job->message, sizeof(job->message), format, args);
	va_end(args);
}

static bool is_of_past(const struct job *job)
{
	return job->kind == JOB_PAST || job->kind == JOB_LISTS ||
		job->kind == JOB_OUTPUTS;
}

static void end_part(struct job *job)
{
	if (job->has_part && !job->message[0] && triad_past_end(job->past))
		fail_job(job, "the image can't be read: %.200s: %.190s", job->file,
			job->past->message);
	job->has_part = false;
}

static void begin_part(struct job *job, const char *text)
{
	char name[16] = "";
	unsigned part = 0;
	bool is_alone;
	int n = 0;

	end_part(job);
	(void)sscanf(text, "%15s %n", name, &n);
	is_alone = !strcmp(name, TRIAD_HISTORY_ALONE);
	while (part <= TRIAD_PAST_BEFORE &&
		strcmp(name, triad_past_part_name(part)) != 0)
		part++;
	if (!job->past || is_alone != (job->kind == JOB_OUTPUTS) ||
		(!is_alone && part > TRIAD_PAST_BEFORE))
		fail_job(job, MALFORMED);
	/* What follows an error is read, and dropped. */
	if (job->message[0])
		return;
	snprintf(job->file, sizeof(job->file), "%s", text + n);
	triad_text_clean(job->file);
	triad_profile_parser_init(&job->parser);
	job->has_part = true;
	if (is_alone)
		triad_past_begin_outputs(job->past);
	else
		triad_past_begin(job->past, part);
}

static void begin_past(struct job *job, const char *text)
{
	if (!is_of_past(job) || job->past)
		return;
	job->past = triad_past_new(triad_clock_wall_offset_us());
	if (!job->past) {
		fail_job(job, "the image can't be read: not enough memory; try again");
		return;
	}
	job->past->port_guid = strtoull(text, NULL, 16);
	job->past->wants_lists = job->kind == JOB_LISTS;
}

static void take_point(struct job *job, const char *text)
{
	struct triad_history_point point = {0};
	unsigned is_known;

	if (job->kind != JOB_SERIES || job->n_points == TRIAD_HISTORY_MAX_POINTS ||
		sscanf(text,
			"%" SCNu64 " %" SCNx64 " %" SCNu64 " %" SCNu64 " %1u %" SCNu64,
			&point.time_us, &point.base.port_guid, &point.base.started_us,
			&point.base.zeroed_us, &is_known, &point.total) != 6)
		return;
	point.is_known = is_known;
	job->points[job->n_points++] = point;
}

static void take_sum(struct job *job, const char *text)
{
	struct triad_history_sum sum;

	if (job->kind != JOB_LEVELS ||
		sscanf(text,
			"%" SCNu64 " %" SCNu64 " %u %u %" SCNu32 " %" SCNu32 " %" SCNu64
			" %" SCNu64,
			&sum.time_us, &sum.before_us, &sum.low, &sum.high, &sum.n_links,
			&sum.n_known, &sum.up, &sum.down) != 8)
		return;
	if (job->n_sums == TRIAD_HISTORY_MAX_SUMS)
		fail_job(job,
			"it has too many levels for so many times: choose less "
			"of it");
	else
		job->sums[job->n_sums++] = sum;
}

static void take_control_line(struct job *job, const char *name, const char *text)
{
	if (!strcmp(name, "port"))
		begin_past(job, text);
	else if (!strcmp(name, "part"))
		begin_part(job, text);
	else if (!strcmp(name, "since"))
		job->since_us = strtoull(text, NULL, 10);
	else if (!strcmp(name, "point"))
		take_point(job, text);
	else if (!strcmp(name, "sum"))
		take_sum(job, text);
	else if (!strcmp(name, "message")) {
		fail_job(job, "%s", text);
		triad_text_clean(job->message);
	}
}

static void take_line_of_part(struct job *job, const char *line, size_t length)
{
	enum triad_profile_line kind;

	if (!job->has_part || job->message[0])
		return;
	kind = triad_profile_parse(&job->parser, line, length);
	if (kind == TRIAD_PROFILE_WRONG)
		fail_job(job, "the image can't be read: %.200s: %.190s", job->file,
			job->parser.message);
	else
		/* What it returns is known again at the part's end. */
		(void)triad_past_take_line(job->past, kind, &job->parser, line, length);
}

static bool take_line(void *context, const char *line, size_t length)
{
	struct triad_history_reader *reader = context;
	struct job *job = reader->job;
	char text[TRIAD_PROFILE_LINE_SIZE], name[16];
	int n = 0;

	if (length < 2 || line[0] != '=' || line[1] != ' ') {
		take_line_of_part(job, line, length);
		return true;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(length - 2), line + 2);
	if (sscanf(text, "%15s %n", name, &n) == 1)
		take_control_line(job, name, text + n);
	return true;
}

static void finish_past(struct job *job)
{
	end_part(job);
	if (!job->message[0] && (!job->past || !job->file[0]))
		fail_job(job, MALFORMED);
	if (!job->message[0] && job->kind != JOB_OUTPUTS &&
		triad_past_finish(job->past))
		fail_job(job, "the image can't be read: not enough memory; try again");
	if (!job->message[0])
		return;
	triad_past_free(job->past);
	job->past = NULL;
}

void triad_history_reader_joined(struct triad_history_reader *reader, bool is_there)
{
	pthread_mutex_lock(&reader->lock);
	reader->n_there += is_there ? 1 : -1u;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

bool triad_history_reader_is_followed(struct triad_history_reader *reader)
{
	return TRIAD_LOCKED(&reader->lock, reader->n_there);
}

static void put_job(const struct job *job, char line[TRIAD_HISTORY_JOB_SIZE])
{
	const struct triad_history_request *request = &job->request;
	int n = snprintf(
		line, TRIAD_HISTORY_JOB_SIZE, "past %" PRIu64 " ", job->number);
	size_t room = TRIAD_HISTORY_JOB_SIZE - (size_t)n;

	switch (job->kind) {
	case JOB_PAST:
	case JOB_LISTS:
		snprintf(line + n, room, "image %" PRIu64 "\n", job->at_us);
		break;
	case JOB_OUTPUTS:
		snprintf(line + n, room, TRIAD_HISTORY_ALONE " %" PRIu64 "\n",
			job->at_us);
		break;
	case JOB_LIST_SINCE:
		snprintf(line + n, room, "since %s %" PRIu64 "\n",
			triad_kept_name(job->list), job->at_us);
		break;
	case JOB_SERIES:
		snprintf(line + n, room,
			"series 0x%016" PRIx64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu32
			"\n",
			request->node_guid, request->port, request->counter,
			request->from_us, request->to_us, request->n);
		break;
	case JOB_LEVELS:
		snprintf(line + n, room, "levels %" PRIu64 " %" PRIu64 " %" PRIu32 "\n",
			request->from_us, request->to_us, request->n);
		break;
	}
}

uint64_t triad_history_reader_wanted(struct triad_history_reader *reader, uint64_t told,
	char line[TRIAD_HISTORY_JOB_SIZE])
{
	line[0] = '\0';
	pthread_mutex_lock(&reader->lock);
	if (reader->job && reader->job->number > told) {
		told = reader->job->number;
		put_job(reader->job, line);
	}
	pthread_mutex_unlock(&reader->lock);
	return told;
}

bool triad_history_reader_begin(struct triad_history_reader *reader, uint64_t number)
{
	struct job *job;
	bool begins;

	pthread_mutex_lock(&reader->lock);
	job = reader->job;
	begins = job && job->number == number && !job->is_answered;
	if (begins)
		job->is_answered = true;
	pthread_mutex_unlock(&reader->lock);
	if (begins)
		reader->cutter.used = 0;
	return begins;
}

bool triad_history_reader_take(
	struct triad_history_reader *reader, const char *piece, size_t size)
{
	bool is_left;

	(void)triad_line_cutter_put(&reader->cutter, piece, size);
	is_left = TRIAD_LOCKED(&reader->lock, reader->job->is_left);
	return !is_left;
}

void triad_history_reader_end(struct triad_history_reader *reader, bool is_whole)
{
	struct job *job = reader->job;

	job->is_cut = !is_whole;
	if (!is_whole)
		fail_job(job, "triadd's answer was cut: try again, and see its log");
	if (is_of_past(job))
		finish_past(job);
	pthread_mutex_lock(&reader->lock);
	job->is_done = true;
	if (job->is_left) {
		reader->job = NULL;
		free_job(job);
	}
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
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

/* Called with the lock.  False: it takes too long, or nobody answers any more; if it is
 * being answered, who does that frees the job. */
static bool wait_for_end(struct triad_history_reader *reader, struct job *job,
	uint64_t until_us, bool *is_taken)
{
	while (!job->is_done && !reader->is_closed &&
		(reader->n_there || job->is_answered))
		if (triad_condition_wait(&reader->changed, &reader->lock, until_us))
			break;
	if (!job->is_done && job->is_answered) {
		job->is_left = *is_taken = true;
		return false;
	}
	reader->job = NULL;
	pthread_cond_broadcast(&reader->changed);
	return job->is_done;
}

static const char *run_job(struct triad_history_reader *reader, struct job *job,
	uint64_t until_us, bool *is_taken)
{
	static const char ending[] = "the program ends";
	static const char hanging[] =
		"triadd, which keeps the images, has not answered for long: see its log, and "
		"look after the disk of history.dir";
	const char *why = NULL;

	pthread_mutex_lock(&reader->lock);
	if (!reader->n_there && !reader->is_closed) {
		why = ABSENT;
	} else if (!wait_for_room(reader, until_us)) {
		why = reader->is_closed ? ending
					: "others are reading images: try again";
	} else {
		job->number = ++reader->n_jobs;
		reader->job = job;
		if (!wait_for_end(reader, job, until_us, is_taken))
			why = reader->is_closed   ? ending
				: reader->n_there ? hanging
						  : ABSENT;
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
	bool is_taken = false;
	const char *why;

	snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE, "not enough memory; try again");
	if (!job)
		return NULL;
	*job = *wanted;
	why = run_job(
		reader, job, triad_clock_now_us() + TRIAD_HISTORY_WAIT_US, &is_taken);
	if (why)
		snprintf(message, TRIAD_HISTORY_MESSAGE_SIZE, "%s", why);
	if (why && !is_taken)
		free_job(job);
	if (why)
		return NULL;
	memcpy(message, job->message, TRIAD_HISTORY_MESSAGE_SIZE);
	return job;
}

static struct triad_past *ask_past(struct triad_history_reader *reader,
	enum job_kind kind, uint64_t at_us, bool *is_answered,
	char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	const struct job wanted = {.kind = kind, .at_us = at_us};
	struct job *job = run_copy_of_job(reader, &wanted, message);
	struct triad_past *past = job ? job->past : NULL;

	*is_answered = job && !job->is_cut;
	free(job);
	return past;
}

struct triad_past *triad_history_reader_last(struct triad_history_reader *reader,
	uint64_t now_us, bool *is_answered, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	return ask_past(reader, JOB_PAST, now_us, is_answered, message);
}

struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	bool is_answered;

	return ask_past(reader, JOB_PAST, at_us, &is_answered, message);
}

struct triad_past *triad_history_reader_lists(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	bool is_answered;

	return ask_past(reader, JOB_LISTS, at_us, &is_answered, message);
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
	bool is_answered;

	return ask_past(reader, JOB_OUTPUTS, at_us, &is_answered, message);
}

uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	const struct job wanted = {.kind = JOB_SERIES, .request = *request};
	struct job *job = run_copy_of_job(reader, &wanted, message);
	uint32_t n = job && !job->message[0] ? job->n_points : 0;

	if (job)
		memcpy(points, job->points, n * sizeof(*points));
	free(job);
	return n;
}

uint32_t triad_history_reader_levels(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_sum sums[TRIAD_HISTORY_MAX_SUMS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE])
{
	const struct job wanted = {.kind = JOB_LEVELS, .request = *request};
	struct job *job = run_copy_of_job(reader, &wanted, message);
	uint32_t n = job && !job->message[0] ? job->n_sums : 0;

	if (job)
		memcpy(sums, job->sums, n * sizeof(*sums));
	free(job);
	return n;
}
