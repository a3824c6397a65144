/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/alert_log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring.h"
#include "lib/text.h"
#include "perfmgr/watch/alert_text.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/json.h"
#include "triad/line_file.h"
#include "triad/thread.h"

#define QUEUE_SIZE 512u
#define JOIN_US TRIAD_US_PER_S
/* How often a failed write is tried again. */
#define RETRY_US (10 * TRIAD_US_PER_S)
/* An alert of six findings has under 4,000 octets. */
#define LINE_SIZE 8192

/* Counts of a sweep's alerts that got no line of their own. */
struct rest {
	uint32_t n[TRIAD_ALERT_N_CHANGES]; /* by change */
	uint32_t of[TRIAD_ALERT_N_CAUSES]; /* raised ones, by their first cause */
};

struct item {
	bool is_rest;
	enum triad_alert_change change;
	union {
		struct triad_alert alert;
		struct rest rest;
	};
};

/* The log or the file: a queue and a thread that empties it. */
struct outlet {
	struct triad_alert_log *alert_log;
	void (*write)(struct triad_alert_log *, const struct item *, int64_t);
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t filled;
	bool stop;
	/* Of the file: wake without an item then; UINT64_MAX: never. */
	uint64_t again_us;
	unsigned burst; /* lines at once */
	struct item queue[QUEUE_SIZE];
	struct triad_ring ring; /* of the queue */
	unsigned n_at_once;     /* lines of this sweep so far */
	struct rest rest;
	uint64_t n_summarised;
	struct item item; /* the item that is written; of the thread alone */
};

struct triad_alert_log {
	struct triad_log *log;
	struct outlet to_log, to_file;

	pthread_mutex_t lock; /* of what follows */
	struct triad_line_file_params params;
	struct triad_alert_log_status status;
	/* When the write to the file began; 0: none is under way. */
	uint64_t file_since_us;

	/* Of the file's thread alone. */
	struct triad_line_file file;
	struct triad_file_report reported;
	char line[LINE_SIZE];
	size_t line_length;
	bool is_unwritten; /* 'line' could not be written */
};

static void *run_outlet(void *argument);
static void look_again(struct outlet *outlet, uint64_t at_us);
static void log_item(struct triad_alert_log *, const struct item *, int64_t);
static void file_item(struct triad_alert_log *, const struct item *, int64_t);
static void file_again(struct triad_alert_log *);

/* --- life --- */

static void init_outlet(struct outlet *outlet, struct triad_alert_log *alert_log,
	void (*write)(struct triad_alert_log *, const struct item *, int64_t),
	unsigned burst)
{
	outlet->alert_log = alert_log;
	outlet->write = write;
	outlet->burst = burst;
	outlet->again_us = UINT64_MAX;
	pthread_mutex_init(&outlet->lock, NULL);
	triad_condition_init(&outlet->filled);
}

/* Starts the thread, unless it was started.  Until then the outlet takes nothing. */
static bool start_outlet(struct outlet *outlet, const char *name)
{
	pthread_mutex_lock(&outlet->lock);
	if (!outlet->has_thread)
		outlet->has_thread =
			!triad_thread_start(&outlet->thread, name, run_outlet, outlet);
	pthread_mutex_unlock(&outlet->lock);
	return outlet->has_thread;
}

/* Returns false when its thread is stuck. */
static bool end_outlet(struct outlet *outlet)
{
	pthread_mutex_lock(&outlet->lock);
	outlet->stop = true;
	pthread_cond_signal(&outlet->filled);
	pthread_mutex_unlock(&outlet->lock);
	return !outlet->has_thread || !triad_thread_join(outlet->thread, JOIN_US);
}

struct triad_alert_log *triad_alert_log_new(struct triad_log *log)
{
	struct triad_alert_log *alert_log = calloc(1, sizeof(*alert_log));

	if (!alert_log)
		return NULL;
	alert_log->log = log;
	triad_line_file_init(&alert_log->file);
	pthread_mutex_init(&alert_log->lock, NULL);
	init_outlet(&alert_log->to_log, alert_log, log_item, TRIAD_ALERT_LOG_BURST);
	init_outlet(&alert_log->to_file, alert_log, file_item, UINT_MAX);
	if (start_outlet(&alert_log->to_log, "triad-alerts"))
		return alert_log;
	(void)triad_alert_log_free(alert_log);
	return NULL;
}

bool triad_alert_log_free(struct triad_alert_log *alert_log)
{
	bool log_ended, file_ended;

	if (!alert_log)
		return true;
	log_ended = end_outlet(&alert_log->to_log);
	file_ended = end_outlet(&alert_log->to_file);
	if (!log_ended || !file_ended)
		return false;
	triad_line_file_close(&alert_log->file);
	free(alert_log);
	return true;
}

void triad_alert_log_configure(
	struct triad_alert_log *alert_log, const struct triad_conf *conf)
{
	struct triad_line_file_params params = {
		.mode = 0640,
		.max_octets = TRIAD_ALERT_LOG_MAX_OCTETS,
		.keep = TRIAD_ALERT_LOG_KEEP,
	};

	memcpy(params.path, conf->alerts.file, sizeof(params.path));
	pthread_mutex_lock(&alert_log->lock);
	alert_log->params = params;
	pthread_mutex_unlock(&alert_log->lock);
	if (*params.path && !start_outlet(&alert_log->to_file, "triad-alertfile"))
		triad_log_write(alert_log->log, TRIAD_LOG_ERROR,
			"alerts.file: no thread for it; nothing is written, type "
			"'triadctl reload' to try again");
	look_again(&alert_log->to_file, 0);
}

static uint64_t n_summarised(struct outlet *outlet)
{
	return TRIAD_LOCKED(&outlet->lock, outlet->n_summarised);
}

struct triad_alert_log_status triad_alert_log_status(struct triad_alert_log *alert_log)
{
	struct triad_alert_log_status status;

	uint64_t now_us;
	bool has_file;

	pthread_mutex_lock(&alert_log->lock);
	now_us = triad_clock_now_us();
	status = alert_log->status;
	has_file = alert_log->params.path[0];
	status.file_hung_us = triad_disk_hung_us(alert_log->file_since_us, now_us);
	pthread_mutex_unlock(&alert_log->lock);
	status.n_summarised = n_summarised(&alert_log->to_log);
	/* Without a file its thread empties the queue all the same. */
	status.n_file_summarised = has_file ? n_summarised(&alert_log->to_file) : 0;
	return status;
}

/* --- the queues --- */

/* Called with the lock. */
static struct item *new_item(struct outlet *outlet)
{
	pthread_cond_signal(&outlet->filled);
	return &outlet->queue[triad_ring_put(&outlet->ring, QUEUE_SIZE)];
}

static void offer(struct outlet *outlet, enum triad_alert_change change,
	const struct triad_alert *alert)
{
	pthread_mutex_lock(&outlet->lock);
	/* Keep one place for the counts of the rest. */
	if (!outlet->has_thread) {
		/* Nobody wants them. */
	} else if (outlet->n_at_once < outlet->burst &&
		outlet->ring.n + 1 < QUEUE_SIZE) {
		struct item *item = new_item(outlet);

		outlet->n_at_once++;
		item->is_rest = false;
		item->change = change;
		item->alert = *alert;
	} else {
		/* No line of its own: the line that note_done() adds counts it. */
		outlet->rest.n[change]++;
		outlet->rest.of[alert->findings[0].cause] +=
			change == TRIAD_ALERT_RAISED;
		outlet->n_summarised++;
	}
	pthread_mutex_unlock(&outlet->lock);
}

static void offer_rest(struct outlet *outlet)
{
	static const struct rest none;

	pthread_mutex_lock(&outlet->lock);
	outlet->n_at_once = 0;
	/* If the queue is full, the counts wait for the end of the next sweep. */
	if (memcmp(outlet->rest.n, none.n, sizeof(none.n)) != 0 &&
		outlet->ring.n < QUEUE_SIZE) {
		struct item *item = new_item(outlet);

		item->is_rest = true;
		item->rest = outlet->rest;
		outlet->rest = none;
	}
	pthread_mutex_unlock(&outlet->lock);
}

static void queue_change(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	struct triad_alert_log *alert_log = context;

	offer(&alert_log->to_log, change, alert);
	offer(&alert_log->to_file, change, alert);
}

static void note_done(void *context)
{
	struct triad_alert_log *alert_log = context;

	offer_rest(&alert_log->to_log);
	offer_rest(&alert_log->to_file);
}

struct triad_alerts_sink triad_alert_log_sink(struct triad_alert_log *alert_log)
{
	return (struct triad_alerts_sink){
		.context = alert_log, .take = queue_change, .done = note_done};
}

static void look_again(struct outlet *outlet, uint64_t at_us)
{
	pthread_mutex_lock(&outlet->lock);
	outlet->again_us = triad_clock_earlier(outlet->again_us, at_us);
	pthread_cond_signal(&outlet->filled);
	pthread_mutex_unlock(&outlet->lock);
}

enum wake { ITEM, AGAIN, END };

static enum wake wait_for_item(struct outlet *outlet)
{
	enum wake wake = END;

	pthread_mutex_lock(&outlet->lock);
	while (!outlet->ring.n && !outlet->stop &&
		triad_clock_now_us() < outlet->again_us)
		triad_condition_wait(&outlet->filled, &outlet->lock, outlet->again_us);
	if (outlet->ring.n) {
		outlet->item =
			outlet->queue[triad_ring_take(&outlet->ring, QUEUE_SIZE)];
		wake = ITEM;
	} else if (!outlet->stop) {
		outlet->again_us = UINT64_MAX;
		wake = AGAIN;
	}
	pthread_mutex_unlock(&outlet->lock);
	return wake;
}

static void *run_outlet(void *argument)
{
	struct outlet *outlet = argument;
	enum wake wake;

	while ((wake = wait_for_item(outlet)) != END)
		if (wake == AGAIN)
			file_again(outlet->alert_log);
		else
			/* Read the offset for each item: the clock may have been
			 * set. */
			outlet->write(outlet->alert_log, &outlet->item,
				triad_clock_wall_offset_us());
	return NULL;
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
	if (rest->n[TRIAD_ALERT_SILENCED] || rest->n[TRIAD_ALERT_UNSILENCED])
		triad_text_append(text, sizeof(text),
			", %" PRIu32 " more silenced, %" PRIu32 " no longer",
			rest->n[TRIAD_ALERT_SILENCED], rest->n[TRIAD_ALERT_UNSILENCED]);
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

static void log_item(struct triad_alert_log *alert_log, const struct item *item,
	int64_t wall_offset_us)
{
	char text[TRIAD_ALERT_TEXT_SIZE];

	if (item->is_rest) {
		log_rest(alert_log, &item->rest);
		return;
	}
	triad_alert_format(
		item->change, &item->alert, wall_offset_us, text, sizeof(text));
	/* A silenced alert must not alarm those who watch the log for warnings. */
	triad_log_write(alert_log->log,
		item->alert.silence ? TRIAD_LOG_INFO : TRIAD_LOG_WARNING, "%s", text);
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
	triad_json_uint(json, "silenced", rest->n[TRIAD_ALERT_SILENCED]);
	triad_json_uint(json, "unsilenced", rest->n[TRIAD_ALERT_UNSILENCED]);
	triad_json_object_begin(json, "what");
	for (unsigned i = 0; i < TRIAD_ALERT_N_CAUSES; i++)
		if (rest->of[i])
			triad_json_uint(json, triad_alert_cause_name(i), rest->of[i]);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

static void make_line(struct triad_alert_log *alert_log, const struct item *item,
	int64_t wall_offset_us)
{
	struct triad_output output;
	struct triad_json json;

	alert_log->line_length = 0;
	triad_output_init(&output, append_line, alert_log);
	triad_json_init(&json, &output);
	if (item->is_rest)
		put_rest(&json, &item->rest);
	else
		triad_alert_json(&json, NULL, triad_alert_change_name(item->change),
			&item->alert, wall_offset_us);
	triad_json_end(&json);
	triad_output_flush(&output);
}

static void report_file(struct triad_alert_log *alert_log, int error)
{
	const struct triad_line_file *file = &alert_log->file;

	switch (triad_file_report(&alert_log->reported, file->params.path, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(alert_log->log, TRIAD_LOG_ERROR,
			"alerts: %s can't be written: %s; alerts are in the log and "
			"in 'triadctl alerts', and the file is tried again each 10 s",
			file->params.path, file->why);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(alert_log->log, TRIAD_LOG_INFO,
			"alerts: %s is written again", file->params.path);
		break;
	default:
		break;
	}
}

/* Writes the line; 'is_again': its first try has been counted as dropped. */
static void write_alert_line(struct triad_alert_log *alert_log, bool is_again)
{
	struct triad_alert_log_status *status = &alert_log->status;
	int error;

	pthread_mutex_lock(&alert_log->lock);
	alert_log->file_since_us = triad_clock_now_us();
	pthread_mutex_unlock(&alert_log->lock);
	error = triad_line_file_write(
		&alert_log->file, alert_log->line, alert_log->line_length);
	pthread_mutex_lock(&alert_log->lock);
	alert_log->file_since_us = 0;
	status->file_error = error;
	status->n_file_lines += !error;
	status->n_file_dropped += error && !is_again;
	status->n_file_dropped -= !error && is_again;
	pthread_mutex_unlock(&alert_log->lock);
	report_file(alert_log, error);
	alert_log->is_unwritten = error;
	if (error)
		look_again(&alert_log->to_file, triad_clock_now_us() + RETRY_US);
}

/* Puts the configuration of the file into force; only this thread uses the file.
 * Returns whether a file is configured. */
static bool apply_params(struct triad_alert_log *alert_log)
{
	struct triad_line_file_params params;

	pthread_mutex_lock(&alert_log->lock);
	params = alert_log->params;
	/* An error of the old file does not concern the new one. */
	if (strcmp(params.path, alert_log->file.params.path) != 0) {
		alert_log->status.file_error = 0;
		alert_log->is_unwritten = false;
	}
	pthread_mutex_unlock(&alert_log->lock);
	triad_line_file_configure(&alert_log->file, &params);
	return params.path[0];
}

static void file_item(struct triad_alert_log *alert_log, const struct item *item,
	int64_t wall_offset_us)
{
	if (!apply_params(alert_log))
		return;
	make_line(alert_log, item, wall_offset_us);
	write_alert_line(alert_log, false);
}

/* Called after a change of the configuration, and to write the last line again. */
static void file_again(struct triad_alert_log *alert_log)
{
	if (apply_params(alert_log) && alert_log->is_unwritten)
		write_alert_line(alert_log, true);
}
