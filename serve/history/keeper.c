/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "lib/task.h"
#include "serve/history/mirror.h"
#include "serve/history/rewinder.h"
#include "serve/history/store.h"
#include "triad/clock.h"

/* How soon a question is asked again that was not answered. */
#define AGAIN_US TRIAD_US_PER_S
/* After this time without an answer it is said. */
#define SILENT_US (15 * TRIAD_US_PER_S)
#define JOIN_US TRIAD_US_PER_S
#define US_PER_DAY (24 * 3600 * TRIAD_US_PER_S)
/* Segments end and are removed without sweeps, too. */
#define LOOK_US (60 * TRIAD_US_PER_S)

struct triad_keeper {
	struct triad_link_to *link;
	struct triad_log *log;
	void (*changed)(void *context);
	void *context; /* of changed() */
	struct triad_history_store *store;
	struct triad_history_mirror *mirror;
	struct triad_rewinder *rewinder;

	/* Of the thread that writes. */
	struct triad_link_upload copies, events;
	char why[256]; /* a question was not answered */
	uint64_t
		silent_us; /* since when it has been so; monotonic; 0: it was answered */

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool is_wanted; /* there is a folder, or one is to be closed */
	bool must_ask;
	uint64_t ask_us;               /* not before; monotonic */
	const struct triad_conf *conf; /* referenced; NULL: none yet */
	uint64_t port_guid;            /* of an SM; 0: an agent */
};

static uint64_t keep_images(void *context);

/* --- what goes to the asked process besides questions --- */

/* The carrier of the mirror. */
static int send_payload(void *context, const void *octets, size_t size)
{
	static const char *const words[] = {"copies"};
	struct triad_keeper *keeper = context;
	int error = 0;

	if (keeper->copies.fd < 0)
		error = triad_link_upload_open(keeper->link, &keeper->copies, 1, words);
	return error ? error
		     : triad_link_upload_put(&keeper->copies, octets, size, false);
}

/* Passes on the events of an image that was copied from another SM. */
static void take_event(void *context, const struct triad_timeline_event *event)
{
	static const char *const words[] = {"events"};
	struct triad_keeper *keeper = context;
	char line[TRIAD_PROFILE_LINE_SIZE];
	size_t n = triad_timeline_event_format(event, line);

	line[n++] = '\n';
	/* An error: the process has gone, and reads them from its file when it is back, or
	 * lacks them. */
	if (keeper->events.fd >= 0 ||
		!triad_link_upload_open(keeper->link, &keeper->events, 1, words))
		(void)triad_link_upload_put(&keeper->events, line, n, true);
}

/* --- life --- */

struct triad_keeper *triad_keeper_new(struct triad_link_to *link, struct triad_log *log,
	void (*changed)(void *context), void *context)
{
	struct triad_keeper *keeper = calloc(1, sizeof(*keeper));
	const struct triad_history_carrier carrier = {
		.send = send_payload, .context = keeper};

	if (!keeper)
		return NULL;
	keeper->link = link;
	keeper->log = log;
	keeper->changed = changed;
	keeper->context = context;
	keeper->copies.fd = keeper->events.fd = -1;
	pthread_mutex_init(&keeper->lock, NULL);
	triad_task_init(
		&keeper->task, &keeper->lock, "triadd-images", keep_images, keeper);
	keeper->store = triad_history_store_new(log);
	if (keeper->store) {
		triad_history_store_set_events_sink(keeper->store,
			&(struct triad_history_events_sink){
				.take = take_event, .context = keeper});
		keeper->rewinder = triad_rewinder_new(link, keeper->store);
		keeper->mirror = triad_history_mirror_new(keeper->store, &carrier, log);
	}
	if (keeper->rewinder && keeper->mirror)
		return keeper;
	(void)triad_keeper_free(keeper);
	return NULL;
}

bool triad_keeper_free(struct triad_keeper *keeper)
{
	bool ended;

	if (!keeper)
		return true;
	ended = triad_rewinder_stop(keeper->rewinder);
	if (!triad_task_stop(&keeper->task, JOIN_US) || !ended)
		return false;
	triad_link_upload_close(&keeper->copies);
	triad_link_upload_close(&keeper->events);
	triad_rewinder_free(keeper->rewinder);
	triad_history_mirror_free(keeper->mirror);
	triad_history_store_free(keeper->store);
	triad_task_clear(&keeper->task);
	triad_conf_unref(keeper->conf);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper);
	return true;
}

/* --- the thread --- */

/* A sink of 'image'. */
static int take_answer(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_keeper *keeper = context;

	if (type == TRIAD_FRAME_OUTPUT)
		triad_history_store_take(keeper->store, piece, size);
	else
		snprintf(keeper->why, sizeof(keeper->why), "%.*s",
			(int)strcspn(piece, "\n"), piece);
	return 0;
}

/* Whether the process can't make an image.  That it has no time yet is none at first, and
 * that it has ended is said elsewhere. */
static bool is_trouble(struct triad_keeper *keeper, int status)
{
	uint64_t now_us = triad_clock_now_us();

	if (status != TRIAD_CONTROL_TO_DO)
		keeper->silent_us = 0;
	else if (!keeper->silent_us)
		keeper->silent_us = now_us;
	return status == TRIAD_CONTROL_FAILED ||
		(status == TRIAD_CONTROL_TO_DO &&
			now_us >= keeper->silent_us + SILENT_US);
}

/* Asks for the image of the last sweep, and stores it.  False: there was no answer. */
static bool ask_for_image(struct triad_keeper *keeper)
{
	const struct triad_client_sink sink = {.take = take_answer, .context = keeper};
	char texts[TRIAD_HISTORY_QUESTION_WORDS][TRIAD_HISTORY_WORD_SIZE];
	const char *words[1 + TRIAD_HISTORY_QUESTION_WORDS] = {"image"};
	struct triad_history_question question;
	int status;

	keeper->why[0] = '\0';
	if (!triad_history_store_begin(keeper->store, triad_clock_wall_us(), &question))
		return true;
	triad_history_question_put(&question, texts);
	for (unsigned i = 0; i < TRIAD_HISTORY_QUESTION_WORDS; i++)
		words[1 + i] = texts[i];
	status = triad_link_ask(keeper->link, TRIAD_LINK_COMMAND_S,
		1 + TRIAD_HISTORY_QUESTION_WORDS, words, &sink);
	/* The store logs and counts its errors. */
	(void)triad_history_store_end(keeper->store, status == TRIAD_CONTROL_DONE,
		is_trouble(keeper, status) ? keeper->why : NULL);
	keeper->changed(keeper->context);
	return status == TRIAD_CONTROL_DONE;
}

static uint64_t keep_images(void *context)
{
	struct triad_keeper *keeper = context;
	const struct triad_conf *conf;
	uint64_t next_us, port_guid, now_us = triad_clock_now_us();
	bool must_ask, is_answered = true;

	if (!keeper->is_wanted)
		return UINT64_MAX;
	must_ask = keeper->must_ask && now_us >= keeper->ask_us;
	if (must_ask)
		keeper->must_ask = false;
	conf = triad_conf_ref(keeper->conf);
	port_guid = keeper->port_guid;
	pthread_mutex_unlock(&keeper->lock);
	if (must_ask)
		is_answered = ask_for_image(keeper);
	else
		triad_history_store_prepare(keeper->store);
	next_us = triad_history_mirror_run(keeper->mirror, conf, port_guid);
	if (keeper->events.fd >= 0)
		(void)triad_link_upload_end(&keeper->events);
	triad_conf_unref(conf);
	now_us = triad_clock_now_us();
	pthread_mutex_lock(&keeper->lock);
	if (!is_answered) {
		keeper->must_ask = true;
		keeper->ask_us = now_us + AGAIN_US;
	}
	if (keeper->must_ask && keeper->ask_us < next_us)
		next_us = keeper->ask_us;
	return next_us < now_us + LOOK_US ? next_us : now_us + LOOK_US;
}

void triad_keeper_configure(struct triad_keeper *keeper, const struct triad_conf *conf,
	const char *program, uint64_t port_guid)
{
	struct triad_history_params params = {.port_guid = port_guid,
		.has_copies = conf->history.replicate,
		.limits = {
			.max_octets = conf->history.max_size_mb * UINT64_C(1000000),
			.keep_us = conf->history.keep_d * US_PER_DAY,
			.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		}};
	const struct triad_conf *old;
	int error = 0;

	snprintf(params.program, sizeof(params.program), "%s", program);
	memcpy(params.dir, conf->history.dir, sizeof(params.dir));
	triad_history_store_configure(keeper->store, &params);
	pthread_mutex_lock(&keeper->lock);
	old = keeper->conf;
	keeper->conf = triad_conf_ref(conf);
	keeper->port_guid = strcmp(program, "OpenSM") ? 0 : port_guid;
	/* Once true, it stays: the thread also closes the files of an old folder. */
	keeper->is_wanted |= params.dir[0] != '\0' || params.has_copies;
	keeper->must_ask = true;
	if (keeper->is_wanted)
		error = triad_task_start(&keeper->task);
	triad_task_wake(&keeper->task);
	pthread_mutex_unlock(&keeper->lock);
	triad_conf_unref(old);
	if (error)
		triad_log_write(keeper->log, TRIAD_LOG_ERROR,
			"history: no thread for it: %s; no images are written, type "
			"'triadctl reload' to try again",
			strerror(error));
}

/* --- what the asked process tells --- */

static void wake_keeper(struct triad_keeper *keeper, bool must_ask)
{
	pthread_mutex_lock(&keeper->lock);
	keeper->must_ask |= must_ask;
	triad_task_wake(&keeper->task);
	pthread_mutex_unlock(&keeper->lock);
}

void triad_keeper_note_sweep(struct triad_keeper *keeper)
{
	wake_keeper(keeper, true);
}

void triad_keeper_take_job(struct triad_keeper *keeper, const char *text)
{
	triad_rewinder_take_job(keeper->rewinder, text);
}

void triad_keeper_take_members(struct triad_keeper *keeper, const char *text)
{
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	uint32_t n = 0;
	char *end;

	for (uint64_t guid; n < TRIAD_MIRROR_MAX_MEMBERS; text = end) {
		guid = strtoull(text, &end, 16);
		if (end == text)
			break;
		members[n++] = guid;
	}
	triad_history_mirror_leave_view(keeper->mirror, members, n);
	wake_keeper(keeper, false);
}

void triad_keeper_take_payload(struct triad_keeper *keeper, const char *text)
{
	uint8_t octets[TRIAD_MIRROR_PAYLOAD_SIZE];
	char *digits;
	uint64_t sender = strtoull(text, &digits, 16);
	size_t n = strlen(digits += *digits == ' ');

	if (n / 2 <= sizeof(octets) && triad_history_get_hex(digits, n, octets) &&
		triad_history_mirror_leave_payload(
			keeper->mirror, sender, octets, n / 2))
		wake_keeper(keeper, false);
}

struct triad_history_status triad_keeper_status(struct triad_keeper *keeper)
{
	return triad_history_store_status(keeper->store);
}

struct triad_history_mirror_status triad_keeper_copies(struct triad_keeper *keeper)
{
	return triad_history_mirror_status(keeper->mirror);
}
