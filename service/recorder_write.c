/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that writes a recorder's events to its file: only it waits for the
 * disk. */
#include <errno.h>
#include <string.h>

#include "service/recorder_parts.h"
#include "triad/clock.h"

#define PERIOD_US TRIAD_US_PER_S
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)

static void begin_disk(struct triad_recorder *recorder)
{
	recorder->disk_since_us = triad_clock_now_us();
	pthread_mutex_unlock(&recorder->lock);
}

/* Ends a disk access and reports its result. */
static void end_disk(struct triad_recorder *recorder, int error)
{
	const struct triad_recorder_file *file = &recorder->file;

	switch (triad_file_report(&recorder->reported, file->path, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(recorder->log, TRIAD_LOG_ERROR,
			"history: %s; what happens is kept in memory meanwhile, and the "
			"file is tried again",
			file->reason);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(recorder->log, TRIAD_LOG_INFO,
			"history: %s is written again", file->path);
		break;
	default:
		break;
	}
	pthread_mutex_lock(&recorder->lock);
	recorder->disk_since_us = 0;
	recorder->status.error = error;
	memcpy(recorder->status.reason, file->reason, sizeof(file->reason));
	if (!error)
		recorder->status.reason[0] = '\0';
}

/* --- reading it at the start --- */

/* Adds the missing end of a program that was killed, or whose machine lost power. */
static void prepend_end(struct triad_recorder *recorder,
	const struct triad_timeline *older, uint64_t alive_us)
{
	struct triad_timeline_event event = {
		.at_us = alive_us, .kind = TRIAD_TIMELINE_LOST};
	const struct triad_timeline_event *last =
		triad_timeline_get(older, triad_timeline_end(older) - 1);

	if (!last || last->kind == TRIAD_TIMELINE_ENDED)
		return;
	if (event.at_us < last->at_us)
		event.at_us = last->at_us;
	if (triad_timeline_prepend(recorder->timeline, &event))
		recorder->unwritten = triad_timeline_first(recorder->timeline);
}

/* Adds the events of the file before those in memory; in slices, because other threads
 * wait for the lock. */
static void prepend_older(
	struct triad_recorder *recorder, const struct triad_timeline *older)
{
	uint64_t number = triad_timeline_end(older);
	bool is_put = true;

	while (is_put && number > triad_timeline_first(older)) {
		is_put = triad_timeline_prepend(
			recorder->timeline, triad_timeline_get(older, --number));
		if (number % RECORDER_BATCH == 0) {
			pthread_mutex_unlock(&recorder->lock);
			pthread_mutex_lock(&recorder->lock);
		}
	}
}

static bool open_recording(struct triad_recorder *recorder)
{
	uint32_t room = triad_timeline_counts(recorder->timeline).room;
	struct triad_timeline *older;
	uint64_t alive_us = 0;
	int error;

	begin_disk(recorder);
	older = triad_timeline_new(room);
	error = older ? triad_recorder_file_open(&recorder->file, older, &alive_us)
		      : ENOMEM;
	if (!older)
		strcpy(recorder->file.reason, "not enough memory to read it");
	if (!error && recorder->file.n_bad)
		triad_log_write(recorder->log, TRIAD_LOG_ERROR,
			"history: %s: %lu lines can't be read and are left out",
			recorder->file.path, (unsigned long)recorder->file.n_bad);
	end_disk(recorder, error);
	recorder->open_again_us = triad_clock_now_us() + OPEN_AGAIN_US;
	if (!error) {
		recorder->status.n_bad = recorder->file.n_bad;
		prepend_end(recorder, older, alive_us);
		prepend_older(recorder, older);
		recorder->anew_lines = 2 * (uint64_t)room;
		recorder->touched_us = triad_clock_now_us();
	}
	recorder->is_reading = false;
	triad_timeline_free(older);
	return !error;
}

/* --- writing --- */

/* Copies events from '*number' on, and sets '*number' behind them. */
static uint32_t copy_events(struct triad_recorder *recorder, uint64_t *number)
{
	const struct triad_timeline_event *event;
	uint32_t n = 0;

	for (; n < RECORDER_BATCH; n++) {
		event = triad_timeline_get(recorder->timeline, *number);
		if (!event)
			break;
		recorder->events[n] = *event;
		++*number;
	}
	return n;
}

/* Without the lock. */
static size_t make_lines(struct triad_recorder *recorder, uint32_t n)
{
	size_t size = 0;

	for (uint32_t i = 0; i < n; i++) {
		size += triad_timeline_event_format(
			&recorder->events[i], recorder->lines + size);
		recorder->lines[size++] = '\n'; /* in the place of its 0 */
	}
	return size;
}

static int write_anew(struct triad_recorder *recorder)
{
	struct triad_recorder_file *file = &recorder->file;
	uint64_t number = triad_timeline_first(recorder->timeline);
	int error;
	uint32_t n;

	begin_disk(recorder);
	error = triad_recorder_file_new_begin(file);
	while (!error) {
		pthread_mutex_lock(&recorder->lock);
		/* Meanwhile memory may have dropped the oldest. */
		if (number < triad_timeline_first(recorder->timeline))
			number = triad_timeline_first(recorder->timeline);
		n = copy_events(recorder, &number);
		pthread_mutex_unlock(&recorder->lock);
		if (!n)
			break;
		error = triad_recorder_file_new_append(
			file, recorder->lines, make_lines(recorder, n), n);
	}
	if (!error)
		error = triad_recorder_file_new_end(file);
	end_disk(recorder, error);
	if (!error)
		recorder->unwritten = number;
	return error;
}

static int append_batch(struct triad_recorder *recorder)
{
	uint64_t first = triad_timeline_first(recorder->timeline), number;
	uint32_t n;
	int error;

	if (recorder->unwritten < first) {
		recorder->status.n_lost += first - recorder->unwritten;
		recorder->unwritten = first;
	}
	number = recorder->unwritten;
	n = copy_events(recorder, &number);
	begin_disk(recorder);
	error = triad_recorder_file_append(
		&recorder->file, recorder->lines, make_lines(recorder, n), n);
	end_disk(recorder, error == ESTALE ? 0 : error);
	if (error == ESTALE)
		return write_anew(recorder);
	if (!error) {
		recorder->unwritten = number;
		recorder->status.n_lines += n;
	}
	return error;
}

static void write_new(struct triad_recorder *recorder)
{
	uint64_t now_us = triad_clock_now_us();
	bool is_some = recorder->unwritten < triad_timeline_end(recorder->timeline);
	int error = 0;

	while (!error && recorder->unwritten < triad_timeline_end(recorder->timeline))
		error = append_batch(recorder);
	if (!error && recorder->file.n_lines >= recorder->anew_lines) {
		uint32_t room = triad_timeline_counts(recorder->timeline).room;

		/* After an error, try again after 'room' more lines. */
		error = write_anew(recorder);
		recorder->anew_lines = room + (error ? recorder->file.n_lines : room);
	}
	if (is_some && !error)
		recorder->touched_us = now_us;
	if (now_us - recorder->touched_us >= TRIAD_RECORDER_TOUCH_US) {
		recorder->touched_us = now_us;
		recorder->disk_since_us = now_us;
		pthread_mutex_unlock(&recorder->lock);
		triad_recorder_file_touch(&recorder->file);
		pthread_mutex_lock(&recorder->lock);
		recorder->disk_since_us = 0;
	}
}

uint64_t recorder_write(void *context)
{
	struct triad_recorder *recorder = context;
	uint64_t now_us = triad_clock_now_us();

	if (recorder->file.fd >= 0 ||
		((now_us >= recorder->open_again_us || recorder->is_closed) &&
			open_recording(recorder)))
		write_new(recorder);
	/* triad_recorder_stop() waits for this. */
	pthread_cond_broadcast(&recorder->write.changed);
	return triad_clock_now_us() + PERIOD_US;
}
