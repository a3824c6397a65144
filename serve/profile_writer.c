/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/profile_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/line_cutter.h"
#include "perfmgr/export/frame_writer.h"
#include "perfmgr/export/profile_file.h"
#include "perfmgr/export/profile_old.h"
#include "perfmgr/formats/profile.h"
#include "triad/clock.h"
#include "triad/file.h"

/* A file has a day at most: so it is found by its name, and one that is damaged costs no
 * more. */
#define MAX_AGE_US (UINT64_C(86400) * TRIAD_US_PER_S)
/* What the units let it write to. */
#define FOLDER "/var/lib/triadd"

/* The frame under construction. */
struct frame {
	bool has_head; /* the answer's first line has come */
	char key[sizeof(((struct triad_profile_request *)NULL)->key)];
	uint64_t wall_us, sweep, process; /* that the head says */
	uint64_t before; /* the sweep told before, perhaps to an earlier triadd */
	uint64_t n_rows;
	int error;
};

struct triad_profile_writer {
	struct triad_log *log;
	pthread_mutex_t lock; /* of these three */
	struct triad_profile_params next;
	struct triad_profile_status status;
	uint64_t at_disk_us; /* since when the disk is waited for; 0: it is not */

	/* Only for the owner's thread. */
	struct triad_profile_params params;
	struct triad_profile_file file;
	struct triad_frame_writer *out;
	struct frame frame;
	struct triad_line_cutter cutter;
	char line[TRIAD_PROFILE_LINE_SIZE];
	char key[sizeof(((struct triad_profile_request *)NULL)->key)];
	uint64_t told_us;     /* wall clock: when the sweep began that was told last */
	uint64_t sweep;       /* its number; 0: none */
	uint64_t process;     /* whose sweep it is */
	bool was_behind;      /* the log has that sweeps were skipped */
	uint64_t begun_us;    /* monotonic, when the file's first frame began */
	uint64_t last_octets; /* of the frame before */
	struct triad_file_report reported;
	uint64_t n_dropped_since;            /* it was said */
	char why[TRIAD_PROFILE_REASON_SIZE]; /* the error is that, in words */
};

struct triad_profile_params triad_profile_params(const struct triad_conf *conf)
{
	struct triad_profile_params params = {
		.max_size_octets = conf->profile.max_size_mb * UINT64_C(1000000),
		.max_age_us = MAX_AGE_US,
		.keep = conf->profile.keep,
	};

	memcpy(params.path, conf->profile.file, sizeof(params.path));
	return params;
}

struct triad_profile_writer *triad_profile_writer_new(struct triad_log *log)
{
	struct triad_profile_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->log = log;
	pthread_mutex_init(&writer->lock, NULL);
	triad_profile_file_init(&writer->file);
	writer->out = triad_frame_writer_new();
	if (writer->out)
		return writer;
	triad_profile_writer_free(writer);
	return NULL;
}

void triad_profile_writer_free(struct triad_profile_writer *writer)
{
	if (!writer)
		return;
	triad_profile_file_close(&writer->file);
	triad_frame_writer_free(writer->out);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

void triad_profile_writer_configure(
	struct triad_profile_writer *writer, const struct triad_profile_params *params)
{
	pthread_mutex_lock(&writer->lock);
	writer->next = *params;
	writer->status.is_on = params->path[0];
	pthread_mutex_unlock(&writer->lock);
}

struct triad_profile_status triad_profile_writer_status(
	struct triad_profile_writer *writer)
{
	struct triad_profile_status status;
	uint64_t since_us;

	pthread_mutex_lock(&writer->lock);
	status = writer->status;
	since_us = writer->at_disk_us;
	pthread_mutex_unlock(&writer->lock);
	if (since_us && triad_clock_now_us() >= since_us + TRIAD_PROFILE_HUNG_US) {
		status.error = ETIMEDOUT;
		snprintf(status.reason, sizeof(status.reason),
			"the disk of its file does not answer");
	}
	return status;
}

/* Notes that the disk may have to be waited for, or that it answered. */
static void note_disk(struct triad_profile_writer *writer, bool is_waited_for)
{
	pthread_mutex_lock(&writer->lock);
	writer->at_disk_us = is_waited_for ? triad_clock_now_us() : 0;
	pthread_mutex_unlock(&writer->lock);
}

/* --- the file --- */

static void note_opened(struct triad_profile_writer *writer)
{
	const struct triad_profile_file *file = &writer->file;

	pthread_mutex_lock(&writer->lock);
	writer->status.n_files++;
	pthread_mutex_unlock(&writer->lock);
	if (file->cut_octets)
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s ended within a sweep: %" PRIu64
			" octets were cut off, and it goes on behind the last whole "
			"one",
			file->path, file->cut_octets);
	if (file->must_be_aside)
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s is put aside and a new file begun: %s", file->path,
			file->size > TRIAD_PROFILE_WALK_OCTETS
				? "it is too large to look for its end"
				: "it has a damaged place, up to which it can be read");
}

static int open_profile(
	struct triad_profile_writer *writer, uint64_t wall_us, uint64_t now_us)
{
	int error = triad_profile_file_open(&writer->file, writer->params.path);
	uint64_t begun_us = writer->file.begun_us, age_us = 0;

	if (error)
		return error;
	/* How old the file is, by the wall clock; unknown if that went back. */
	if (begun_us && begun_us < wall_us)
		age_us = wall_us - begun_us;
	writer->begun_us = now_us > age_us ? now_us - age_us : 0;
	note_opened(writer);
	/* Each file must be readable alone, so it begins with all ports. */
	strcpy(writer->key, "0");
	return 0;
}

static bool must_be_aside(const struct triad_profile_writer *writer, uint64_t now_us)
{
	const struct triad_profile_params *params = &writer->params;
	const struct triad_profile_file *file = &writer->file;

	if (!file->size)
		return false;
	return file->must_be_aside ||
		file->size + writer->last_octets > params->max_size_octets ||
		now_us - writer->begun_us >= params->max_age_us;
}

static int prepare_file(
	struct triad_profile_writer *writer, uint64_t wall_us, uint64_t now_us)
{
	struct triad_profile_file *file = &writer->file;
	int error = 0;

	file->why = NULL;
	/* An administrator may have moved or removed the file. */
	if (strcmp(file->path, writer->params.path) != 0 ||
		!triad_profile_file_is_there(file)) {
		error = open_profile(writer, wall_us, now_us);
		/* A sweep that it has must not be in it twice. */
		if (!error)
			writer->told_us = file->last_us;
	}
	if (error || !must_be_aside(writer, now_us))
		return error;
	error = triad_profile_file_put_aside(file, wall_us);
	if (error)
		return error;
	/* Remove old files before the new one begins, to make room.  Write even if that
	 * fails. */
	error = triad_profile_remove_old(writer->params.path, writer->params.keep);
	if (error)
		triad_log_write(writer->log, TRIAD_LOG_ERROR,
			"profile: old files beside %s can't be removed: %s",
			writer->params.path, strerror(error));
	return open_profile(writer, wall_us, now_us);
}

/* Takes over an error, and what it is in words. */
static void note_error(struct triad_profile_writer *writer, int error)
{
	const char *why;

	writer->frame.error = error;
	if (!error)
		return;
	why = writer->file.why ? writer->file.why : strerror(error);
	if (error == EACCES || error == EPERM || error == EROFS)
		snprintf(writer->why, sizeof(writer->why),
			"triadd, as user %u, may not write it: %s; name a file in " FOLDER
			", or see profile.file in triad.conf(5)",
			(unsigned)geteuid(), why);
	else
		snprintf(writer->why, sizeof(writer->why), "%s", why);
}

/* Without a file: closes the present one, and clears its error. */
static void close_profile(struct triad_profile_writer *writer)
{
	triad_profile_file_close(&writer->file);
	/* Sweeps of which none is wanted are not skipped. */
	writer->process = 0;
	pthread_mutex_lock(&writer->lock);
	writer->status.error = 0;
	writer->status.reason[0] = '\0';
	writer->status.file_octets = 0;
	pthread_mutex_unlock(&writer->lock);
}

static bool take_line(void *context, const char *line, size_t length);

bool triad_profile_writer_begin(struct triad_profile_writer *writer, uint64_t wall_us,
	uint64_t now_us, struct triad_profile_request *request)
{
	pthread_mutex_lock(&writer->lock);
	writer->params = writer->next;
	pthread_mutex_unlock(&writer->lock);
	note_disk(writer, true);
	writer->frame = (struct frame){0};
	writer->cutter = (struct triad_line_cutter){.take = take_line,
		.context = writer,
		.buffer = writer->line,
		.room = sizeof(writer->line)};
	if (writer->params.path[0])
		note_error(writer, prepare_file(writer, wall_us, now_us));
	else
		close_profile(writer);
	note_disk(writer, false);
	if (!writer->frame.error)
		triad_frame_writer_begin(writer->out, &writer->file);
	snprintf(request->key, sizeof(request->key), "%s",
		*writer->key ? writer->key : "0");
	snprintf(request->after, sizeof(request->after), "%" PRIu64, writer->told_us);
	return writer->params.path[0];
}

/* --- a frame --- */

static bool take_head(struct triad_profile_writer *writer, const char *line)
{
	struct frame *frame = &writer->frame;

	frame->has_head =
		sscanf(line, "= profile %" SCNu64 " %47s %" SCNu64 " %" SCNu64,
			&frame->wall_us, frame->key, &frame->sweep,
			&frame->before) >= 3;
	if (!frame->has_head && !frame->error) {
		frame->error = EPROTO;
		snprintf(writer->why, sizeof(writer->why),
			"what was answered is no profile: is triadd of the same "
			"release?");
	}
	frame->process = strtoull(frame->key, NULL, 10);
	return frame->has_head;
}

static bool take_line(void *context, const char *line, size_t length)
{
	struct triad_profile_writer *writer = context;
	struct frame *frame = &writer->frame;
	char *room;

	/* Also after an error of the file the head tells which sweep is lost by it. */
	if ((frame->error && frame->has_head) || length >= TRIAD_PROFILE_LINE_SIZE)
		return false;
	room = triad_frame_writer_line(writer->out);
	memcpy(room, line, length);
	if (!frame->has_head) {
		room[length] = '\0';
		return take_head(writer, room) && !frame->error;
	}
	room[length] = '\n';
	triad_frame_writer_add(writer->out, length + 1);
	frame->n_rows += line[0] >= '0' && line[0] <= '9';
	note_error(writer, triad_frame_writer_error(writer->out));
	return !frame->error;
}

int triad_profile_writer_take(
	struct triad_profile_writer *writer, const char *piece, size_t size)
{
	bool goes_on;

	note_disk(writer, true);
	goes_on = triad_line_cutter_put(&writer->cutter, piece, size);
	note_disk(writer, false);
	return goes_on ? 0 : ECANCELED;
}

/* --- what became of it --- */

static void note_status(struct triad_profile_writer *writer, uint64_t n_skipped)
{
	struct triad_profile_status *status = &writer->status;
	const struct frame *frame = &writer->frame;

	pthread_mutex_lock(&writer->lock);
	status->error = frame->error;
	status->file_octets = writer->file.fd >= 0 ? writer->file.size : 0;
	status->n_skipped += n_skipped;
	snprintf(status->reason, sizeof(status->reason), "%s",
		frame->error ? writer->why : "");
	if (frame->error) {
		status->n_dropped += frame->has_head;
	} else {
		status->n_frames++;
		status->n_rows += frame->n_rows;
		status->n_text_octets += triad_frame_writer_text_octets(writer->out);
		status->n_octets += triad_frame_writer_octets(writer->out);
	}
	pthread_mutex_unlock(&writer->lock);
}

static void log_result(struct triad_profile_writer *writer, uint64_t n_skipped)
{
	const struct frame *frame = &writer->frame;
	const char *path = writer->params.path;

	if (n_skipped && !writer->was_behind)
		triad_log_write(writer->log, TRIAD_LOG_WARNING,
			"profile: %s lacks %" PRIu64
			" of the sweeps before sweep %" PRIu64
			": they had ended before they were asked for; later totals "
			"include theirs",
			path, n_skipped, frame->sweep);
	writer->was_behind = n_skipped;
	writer->n_dropped_since += frame->error && frame->has_head;
	switch (triad_file_report(&writer->reported, path, frame->error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(writer->log, TRIAD_LOG_ERROR,
			"profile: %s can't be written: %s; each sweep tries again, "
			"those until then are left out",
			path, writer->why);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(writer->log, TRIAD_LOG_INFO,
			"profile: %s is written again; %" PRIu64 " sweeps were left "
			"out",
			path, writer->n_dropped_since);
		break;
	default:
		break;
	}
	if (!frame->error)
		writer->n_dropped_since = 0;
}

/* Sweeps between the one told before, to this triadd or an earlier one, and this one. */
static uint64_t count_skipped(const struct triad_profile_writer *writer)
{
	const struct frame *frame = &writer->frame;

	uint64_t before =
		frame->process == writer->process ? writer->sweep : frame->before;

	return before && frame->sweep > before ? frame->sweep - before - 1 : 0;
}

/* Keeps the frame, or drops it. */
static void end_frame(
	struct triad_profile_writer *writer, bool is_whole, const char *why)
{
	struct frame *frame = &writer->frame;

	if (is_whole && !frame->error)
		note_error(writer, triad_frame_writer_end(writer->out));
	if (!is_whole && !frame->error) {
		frame->error = ECONNABORTED;
		snprintf(writer->why, sizeof(writer->why), "a sweep came in part: %s",
			why ? why : "triadd ends");
	}
	if (frame->error) {
		triad_profile_file_drop(&writer->file);
	} else {
		triad_profile_file_keep(&writer->file);
		writer->last_octets = triad_frame_writer_octets(writer->out);
	}
}

void triad_profile_writer_refuse(struct triad_profile_writer *writer, const char *why)
{
	if (writer->frame.has_head || writer->frame.error)
		return;
	writer->frame.error = EBUSY;
	snprintf(writer->why, sizeof(writer->why), "no sweep was told: %s", why);
}

int triad_profile_writer_end(
	struct triad_profile_writer *writer, bool is_whole, const char *why)
{
	struct frame *frame = &writer->frame;
	uint64_t n_skipped = 0;

	if (!frame->has_head && !frame->error)
		return 0;
	note_disk(writer, true);
	end_frame(writer, is_whole, why);
	note_disk(writer, false);
	if (frame->has_head) {
		n_skipped = count_skipped(writer);
		writer->sweep = frame->sweep;
		writer->process = frame->process;
		writer->told_us = frame->wall_us;
		strcpy(writer->key, frame->error ? "0" : frame->key);
	}
	note_status(writer, n_skipped);
	if (is_whole || why)
		log_result(writer, n_skipped);
	return frame->error;
}
