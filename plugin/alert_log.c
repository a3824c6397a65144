/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/alert_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "perfmgr/alert_text.h"
#include "plugin/thread.h"
#include "triad/clock.h"
#include "triad/json.h"

#define QUEUE_SIZE 512u
#define JOIN_US TRIAD_US_PER_S
/* An alert of six findings has under 4,000 octets. */
#define LINE_SIZE 8192

/* Alerts of one sweep that there was no line for, in the log or in the file. */
struct rest {
	uint32_t n[TRIAD_ALERT_ENDED + 1]; /* by what happened */
	uint32_t of[TRIAD_ALERT_N_CAUSES]; /* raised ones, by what headed them */
};

enum { IN_LOG, IN_FILE, N_OUTLETS };

struct item {
	bool is_rest;
	bool is_quiet; /* no line in the log */
	enum triad_alert_change change;
	union {
		struct triad_alert alert;
		struct rest rest[N_OUTLETS];
	};
};

struct triad_alert_log {
	struct triad_log *log;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t filled;
	bool stop;
	char path[TRIAD_CONF_PATH_SIZE];
	unsigned burst;
	struct item queue[QUEUE_SIZE];
	unsigned first, n;
	unsigned n_at_once; /* so far */
	struct rest rest[N_OUTLETS];
	struct triad_alert_log_status status;

	/* Of the thread alone. */
	struct item item; /* the one that is written */
	int fd;           /* -1: none */
	char open_path[TRIAD_CONF_PATH_SIZE];
	char line[LINE_SIZE];
	size_t line_length;
	int error_said;
};

static void *run(void *argument);

struct triad_alert_log *triad_alert_log_new(struct triad_log *log)
{
	struct triad_alert_log *alert_log = calloc(1, sizeof(*alert_log));

	if (!alert_log)
		return NULL;
	alert_log->log = log;
	alert_log->fd = -1;
	pthread_mutex_init(&alert_log->lock, NULL);
	triad_condition_init(&alert_log->filled);
	if (!triad_thread_start(&alert_log->thread, "triad-alerts", run, alert_log))
		return alert_log;
	free(alert_log);
	return NULL;
}

void triad_alert_log_free(struct triad_alert_log *alert_log)
{
	if (!alert_log)
		return;
	pthread_mutex_lock(&alert_log->lock);
	alert_log->stop = true;
	pthread_cond_signal(&alert_log->filled);
	pthread_mutex_unlock(&alert_log->lock);
	if (triad_thread_join(alert_log->thread, JOIN_US))
		return;
	if (alert_log->fd >= 0)
		close(alert_log->fd);
	pthread_cond_destroy(&alert_log->filled);
	pthread_mutex_destroy(&alert_log->lock);
	free(alert_log);
}

void triad_alert_log_configure(
	struct triad_alert_log *alert_log, const struct triad_conf *conf)
{
	pthread_mutex_lock(&alert_log->lock);
	memcpy(alert_log->path, conf->alerts.file, sizeof(alert_log->path));
	alert_log->burst = conf->alerts.burst;
	pthread_mutex_unlock(&alert_log->lock);
}

struct triad_alert_log_status triad_alert_log_status(struct triad_alert_log *alert_log)
{
	struct triad_alert_log_status status;

	pthread_mutex_lock(&alert_log->lock);
	status = alert_log->status;
	pthread_mutex_unlock(&alert_log->lock);
	return status;
}

/* --- the queue --- */

/* Called with the lock. */
static struct item *new_item(struct triad_alert_log *alert_log)
{
	pthread_cond_signal(&alert_log->filled);
	return &alert_log->queue[(alert_log->first + alert_log->n++) % QUEUE_SIZE];
}

static void count_rest(struct rest *rest, enum triad_alert_change change,
	const struct triad_alert *alert)
{
	rest->n[change]++;
	rest->of[alert->findings[0].cause] += change == TRIAD_ALERT_RAISED;
}

static void take(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	struct triad_alert_log *alert_log = context;
	bool has_room, has_line;

	pthread_mutex_lock(&alert_log->lock);
	has_room = alert_log->n + 1 < QUEUE_SIZE; /* one is kept for the rest */
	has_line = has_room && alert_log->n_at_once < alert_log->burst;
	alert_log->n_at_once++;
	if (has_room) {
		struct item *item = new_item(alert_log);

		item->is_rest = false;
		item->is_quiet = !has_line;
		item->change = change;
		item->alert = *alert;
	} else {
		count_rest(&alert_log->rest[IN_FILE], change, alert);
	}
	if (!has_line) {
		count_rest(&alert_log->rest[IN_LOG], change, alert);
		alert_log->status.n_summarised++;
	}
	pthread_mutex_unlock(&alert_log->lock);
}

static bool is_some(const struct rest *rest)
{
	static const struct rest none;

	return memcmp(rest->n, none.n, sizeof(none.n)) != 0;
}

static void take_done(void *context)
{
	struct triad_alert_log *alert_log = context;

	pthread_mutex_lock(&alert_log->lock);
	alert_log->n_at_once = 0;
	/* A queue that is full of what came before: the next time, then. */
	if (is_some(&alert_log->rest[IN_LOG]) && alert_log->n < QUEUE_SIZE) {
		struct item *item = new_item(alert_log);

		item->is_rest = true;
		memcpy(item->rest, alert_log->rest, sizeof(item->rest));
		memset(alert_log->rest, 0, sizeof(alert_log->rest));
	}
	pthread_mutex_unlock(&alert_log->lock);
}

struct triad_alerts_sink triad_alert_log_sink(struct triad_alert_log *alert_log)
{
	return (struct triad_alerts_sink){
		.context = alert_log, .take = take, .done = take_done};
}

/* Waits for one; false at the end. */
static bool take_item(struct triad_alert_log *alert_log)
{
	bool some;

	pthread_mutex_lock(&alert_log->lock);
	while (!alert_log->n && !alert_log->stop)
		triad_condition_wait(&alert_log->filled, &alert_log->lock, UINT64_MAX);
	some = alert_log->n;
	if (some) {
		alert_log->item = alert_log->queue[alert_log->first];
		alert_log->first = (alert_log->first + 1) % QUEUE_SIZE;
		alert_log->n--;
	}
	memcpy(alert_log->open_path, alert_log->path, sizeof(alert_log->open_path));
	pthread_mutex_unlock(&alert_log->lock);
	return some;
}

/* --- the log --- */

static void log_rest(struct triad_alert_log *alert_log, const struct rest *rest)
{
	const char *separator = ": ";
	char text[TRIAD_ALERT_TEXT_SIZE];

	snprintf(text, sizeof(text),
		"alerts: %" PRIu32 " more raised, %" PRIu32 " more joined and %" PRIu32
		" more cleared at once",
		rest->n[TRIAD_ALERT_RAISED], rest->n[TRIAD_ALERT_JOINED],
		rest->n[TRIAD_ALERT_ENDED]);
	for (unsigned i = 0; i < TRIAD_ALERT_N_CAUSES; i++) {
		if (!rest->of[i])
			continue;
		triad_text_append(text, sizeof(text), "%s%" PRIu32 " %s", separator,
			rest->of[i], triad_alert_cause_name(i));
		separator = ", ";
	}
	triad_log_write(alert_log->log, TRIAD_LOG_WARNING,
		"%s; 'triadctl alerts' lists them", text);
}

static void log_item(struct triad_alert_log *alert_log, int64_t wall_offset_us)
{
	const struct item *item = &alert_log->item;
	char text[TRIAD_ALERT_TEXT_SIZE];

	if (item->is_rest) {
		log_rest(alert_log, &item->rest[IN_LOG]);
	} else if (!item->is_quiet) {
		triad_alert_format(
			item->change, &item->alert, wall_offset_us, text, sizeof(text));
		triad_log_write(alert_log->log, TRIAD_LOG_WARNING, "%s", text);
	}
}

/* --- the file --- */

static bool append_line(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct triad_alert_log *alert_log = context;

	if (size > LINE_SIZE - alert_log->line_length)
		return false;
	memcpy(alert_log->line + alert_log->line_length, data, size);
	alert_log->line_length += size;
	return true;
}

static void put_rest(struct triad_json *json, const struct rest *rest)
{
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "event", "more");
	triad_json_uint(json, "raised", rest->n[TRIAD_ALERT_RAISED]);
	triad_json_uint(json, "joined", rest->n[TRIAD_ALERT_JOINED]);
	triad_json_uint(json, "cleared", rest->n[TRIAD_ALERT_ENDED]);
	triad_json_object_begin(json, "what");
	for (unsigned i = 0; i < TRIAD_ALERT_N_CAUSES; i++)
		if (rest->of[i])
			triad_json_uint(json, triad_alert_cause_name(i), rest->of[i]);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

static void make_line(struct triad_alert_log *alert_log, int64_t wall_offset_us)
{
	const struct item *item = &alert_log->item;
	struct triad_output output;
	struct triad_json json;

	alert_log->line_length = 0;
	triad_output_init(&output, append_line, alert_log);
	triad_json_init(&json, &output);
	if (item->is_rest)
		put_rest(&json, &item->rest[IN_FILE]);
	else
		triad_alert_json(&json, NULL, triad_alert_change_name(item->change),
			&item->alert, wall_offset_us);
	triad_json_end(&json);
	triad_output_flush(&output);
}

/* True when what is open is what the path leads to. */
static bool is_open(const struct triad_alert_log *alert_log)
{
	struct stat there, ours;

	return alert_log->fd >= 0 && !stat(alert_log->open_path, &there) &&
		!fstat(alert_log->fd, &ours) && there.st_dev == ours.st_dev &&
		there.st_ino == ours.st_ino;
}

static int open_file(struct triad_alert_log *alert_log)
{
	if (is_open(alert_log))
		return 0;
	if (alert_log->fd >= 0)
		close(alert_log->fd);
	/* Not to wait for the other end of a FIFO. */
	alert_log->fd = open(alert_log->open_path,
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		0640);
	return alert_log->fd < 0 ? errno : 0;
}

/* A line that fits only in part is taken back. */
static int write_line(struct triad_alert_log *alert_log)
{
	off_t before = lseek(alert_log->fd, 0, SEEK_END);
	ssize_t n = write(alert_log->fd, alert_log->line, alert_log->line_length);

	if (n == (ssize_t)alert_log->line_length)
		return 0;
	if (n < 0)
		return errno;
	return before < 0 || ftruncate(alert_log->fd, before) ? EIO : ENOSPC;
}

static void note_written(struct triad_alert_log *alert_log, int error)
{
	pthread_mutex_lock(&alert_log->lock);
	alert_log->status.file_error = error;
	alert_log->status.n_file_lines += !error;
	alert_log->status.n_file_dropped += error != 0;
	pthread_mutex_unlock(&alert_log->lock);
	if (error && error != alert_log->error_said)
		triad_log_write(alert_log->log, TRIAD_LOG_ERROR,
			"alerts: %s can't be written: %s; alerts are in OpenSM's log and "
			"in 'triadctl alerts', and the file is tried again with each",
			alert_log->open_path, strerror(error));
	alert_log->error_said = error;
}

static void file_item(struct triad_alert_log *alert_log, int64_t wall_offset_us)
{
	int error;

	if (!alert_log->open_path[0]) {
		if (alert_log->fd >= 0)
			close(alert_log->fd);
		alert_log->fd = -1;
		return;
	}
	if (alert_log->item.is_rest && !is_some(&alert_log->item.rest[IN_FILE]))
		return;
	error = open_file(alert_log);
	if (!error) {
		make_line(alert_log, wall_offset_us);
		error = write_line(alert_log);
	}
	note_written(alert_log, error);
}

static void *run(void *argument)
{
	struct triad_alert_log *alert_log = argument;

	while (take_item(alert_log)) {
		int64_t wall_offset_us =
			(int64_t)(triad_clock_wall_us() - triad_clock_now_us());

		log_item(alert_log, wall_offset_us);
		file_item(alert_log, wall_offset_us);
	}
	return NULL;
}
