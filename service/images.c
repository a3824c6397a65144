/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/images.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "triad/clock.h"

#define BATCH 128u   /* events at once */
#define MAX_TRIES 3u /* to learn what was known before */

struct triad_images {
	struct triad_perf *perf;
	struct triad_recorder *recorder;
	struct triad_history_reader *reader;
	triad_images_run *run;
	struct triad_service *service; /* run() is given it */
	struct triad_history_sources sources;
	struct triad_log *log;
	uint64_t port_guid, started_us;

	pthread_mutex_t lock; /* one at a time makes an image; of what follows */
	struct triad_history_answers answers;
	uint64_t image_us; /* of the image made last, wall clock */
	bool was_reading;  /* this process read counters at the last look */
	unsigned n_tries;  /* to learn what was known before, without an answer */
	struct triad_alert *alerts;
	struct triad_timeline_event *events;
	struct triad_history_output outputs[TRIAD_HISTORY_MAX_OUTPUTS];
	struct triad_kept_list lists[TRIAD_N_KEPT];
	uint32_t n_alerts, n_events;
	size_t alerts_room, events_room;
	uint32_t n_left_out;
};

struct triad_images *triad_images_new(struct triad_perf *perf,
	struct triad_recorder *recorder, struct triad_history_reader *reader,
	uint64_t port_guid, triad_images_run *run, struct triad_service *service,
	const struct triad_history_sources *sources, struct triad_log *log)
{
	struct triad_images *images = calloc(1, sizeof(*images));

	if (!images)
		return NULL;
	images->perf = perf;
	images->recorder = recorder;
	images->reader = reader;
	images->run = run;
	images->service = service;
	images->sources = *sources;
	images->log = log;
	images->port_guid = port_guid;
	/* Cut to milliseconds, as it is written. */
	images->started_us = triad_clock_wall_us() / TRIAD_US_PER_MS * TRIAD_US_PER_MS;
	/* No process before gave this number. */
	images->answers.n = images->started_us;
	pthread_mutex_init(&images->lock, NULL);
	return images;
}

void triad_images_free(struct triad_images *images)
{
	if (!images)
		return;
	triad_history_answers_clear(&images->answers);
	pthread_mutex_destroy(&images->lock);
	free(images->alerts);
	free(images->events);
	for (unsigned i = 0; i < TRIAD_HISTORY_MAX_OUTPUTS; i++)
		triad_history_output_clear(&images->outputs[i]);
	for (unsigned i = 0; i < TRIAD_N_KEPT; i++)
		triad_kept_list_clear(&images->lists[i]);
	free(images);
}

/* --- an image's content besides counters --- */

/* Copies all alerts; counts those beyond the limit or without memory. */
static void copy_alerts(struct triad_images *images)
{
	struct triad_watch *watch = triad_perf_watch(images->perf);
	struct triad_alert alert;
	uint32_t cursor = 0;

	images->n_alerts = 0;
	while (triad_watch_next_alert(watch, &cursor, &alert)) {
		if (images->n_alerts == TRIAD_HISTORY_MAX_ALERTS ||
			triad_grow(&images->alerts, &images->alerts_room,
				images->n_alerts + 1, sizeof(alert), 16)) {
			images->n_left_out++;
			continue;
		}
		images->alerts[images->n_alerts++] = alert;
	}
}

/* Takes the events later than 'since_us'; they come newest first.  False: there are no
 * more of them. */
static bool take_events(struct triad_images *images,
	const struct triad_timeline_event *events, uint32_t n, uint64_t since_us)
{
	for (uint32_t i = 0; i < n; i++) {
		if (events[i].at_us <= since_us)
			return false;
		if (images->n_events == TRIAD_HISTORY_MAX_EVENTS ||
			triad_grow(&images->events, &images->events_room,
				images->n_events + 1, sizeof(*events), 16)) {
			images->n_left_out++;
			return false;
		}
		images->events[images->n_events++] = events[i];
	}
	return n > 0;
}

/* Copies the events of the last two hours: the hourly tier needs those of an hour.
 * Each tier writes those since its last image. */
static void copy_events(struct triad_images *images, uint64_t wall_us)
{
	const uint64_t most_us = 2 * 3600 * TRIAD_US_PER_S;
	struct triad_timeline_event batch[BATCH];
	uint64_t number = UINT64_MAX;
	uint32_t n;

	images->n_events = 0;
	do
		n = triad_recorder_copy(images->recorder, &number, batch, BATCH);
	while (take_events(images, batch, n, wall_us - most_us));
}

static const char *name_sm(enum triad_sm sm)
{
	switch (sm) {
	case TRIAD_SM_MASTER:
		return "master";
	case TRIAD_SM_STANDBY:
		return "standby";
	case TRIAD_SM_ABSENT:
		return "none";
	default:
		return "other";
	}
}

struct triad_totals_base triad_images_base(struct triad_images *images)
{
	uint64_t zeroed_us = triad_perf_zeroed_us(images->perf);

	return (struct triad_totals_base){
		.port_guid = images->port_guid,
		.started_us = images->started_us,
		.zeroed_us = zeroed_us
			? zeroed_us + (uint64_t)triad_clock_wall_offset_us()
			: 0,
	};
}

/* --- an image --- */

/* Names the last sweep: no other one, nor one of an earlier process, has this number. */
static uint64_t mark_of(
	const struct triad_images *images, const struct triad_collector_status *status)
{
	return images->started_us + status->last_started_us;
}

static int put_image(struct triad_images *images, struct triad_view *view,
	const struct triad_collector_status *status, const struct triad_conf *conf,
	const struct triad_history_question *question, struct triad_output *output)
{
	struct triad_watch *watch = triad_perf_watch(images->perf);
	int64_t offset_us = triad_clock_wall_offset_us();
	uint64_t wall_us = status->last_started_us + (uint64_t)offset_us;
	uint32_t n_links;
	int error;
	struct triad_link *links = triad_watch_copy_links(watch, &n_links);
	struct triad_history_image image = {
		.head = {.sweep = status->n_sweeps,
			.generation = view->fabric->generation,
			.zeroed_us = triad_images_base(images).zeroed_us,
			.alerts = triad_watch_status(watch).alerts},
		.view = view,
		.since_us = status->last_started_us,
		.mark = mark_of(images, status),
		/* Cut to milliseconds, as it is written. */
		.wall_us = wall_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS,
		.offset_us = offset_us,
		.port_guid = images->port_guid,
		.started_us = images->started_us,
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		.conf = conf,
		.links = links,
		.n_links = links ? n_links : 0,
		.sources = images->sources,
	};

	images->n_left_out = 0;
	copy_alerts(images);
	copy_events(images, wall_us);
	image.n_outputs =
		images->run(images->service, images->outputs, &images->n_left_out);
	image.outputs = images->outputs;
	if (images->sources.fill_lists)
		images->sources.fill_lists(
			images->sources.context, view, images->lists);
	image.lists = images->lists;
	if (image.n_links > TRIAD_HISTORY_MAX_LINKS) {
		images->n_left_out += image.n_links - TRIAD_HISTORY_MAX_LINKS;
		image.n_links = TRIAD_HISTORY_MAX_LINKS;
	}
	strcpy(image.head.sm, name_sm(triad_perf_sm(images->perf)));
	image.head.n_left_out = images->n_left_out;
	image.alerts = images->alerts;
	image.n_alerts = images->n_alerts;
	image.events = images->events;
	image.n_events = images->n_events;
	images->image_us = image.wall_us;
	error = triad_history_answer(&images->answers, &image, question, output);
	free(links);
	return error;
}

/* --- what was known before --- */

static bool is_to_be_restored(
	const struct triad_images *images, const struct triad_past *past)
{
	uint64_t now_us = triad_clock_wall_us(),
		 age_us = now_us > past->wall_us ? now_us - past->wall_us : 0;

	return past->wall_us > images->image_us && age_us < TRIAD_LINKS_FORGET_AFTER_US;
}

/* Says why nothing is taken over.  False: there may be something, and it is asked for
 * again, some times. */
static bool note_no_past(
	struct triad_images *images, bool is_answered, const char *message)
{
	bool is_last = is_answered || ++images->n_tries == MAX_TRIES;

	triad_log_write(images->log, is_answered ? TRIAD_LOG_INFO : TRIAD_LOG_WARNING,
		"history: what was wrong before is not known: %s%s", message,
		is_last ? "" : "; it is asked for again");
	if (is_last)
		images->n_tries = 0;
	return is_last;
}

/* False: it is to be tried again. */
static bool restore_known(struct triad_images *images)
{
	char message[TRIAD_HISTORY_MESSAGE_SIZE], time[TRIAD_CLOCK_TEXT_SIZE];
	bool is_answered;
	struct triad_past *past = triad_history_reader_last(
		images->reader, triad_clock_wall_us(), &is_answered, message);

	if (!past && !note_no_past(images, is_answered, message))
		return false;
	if (images->sources.take_past)
		images->sources.take_past(images->sources.context,
			past ? past->view->fabric : NULL, past ? past->wall_us : 0);
	if (!past || !is_to_be_restored(images, past)) {
		triad_past_free(past);
		return true;
	}
	triad_clock_format(past->wall_us, time);
	triad_log_write(images->log, TRIAD_LOG_INFO,
		"history: what was wrong is known from the image of %s by port "
		"0x%016" PRIx64,
		time, past->port_guid);
	triad_perf_restore(images->perf, past);
	return true;
}

/* Looks whether this process has begun to read counters.  False: what was known before is
 * taken over first. */
static bool look_at_role(struct triad_images *images)
{
	bool is_reading = triad_perf_state(images->perf) == TRIAD_PERF_RUNNING;

	/* Who asks for an image is told of jobs, too, or soon. */
	if (!triad_history_reader_is_followed(images->reader))
		return false;
	/* Also if that was long ago, and triadd has come only now. */
	if (is_reading && !images->was_reading && !restore_known(images))
		return false;
	images->was_reading = is_reading;
	return !triad_perf_is_restoring(images->perf);
}

/* --- questions --- */

/* Called with the lock. */
static int answer_question(struct triad_images *images, const struct triad_conf *conf,
	const struct triad_history_question *question, struct triad_output *output)
{
	struct triad_collector_status status;
	struct triad_view *view;
	int error = 0;

	if (!look_at_role(images))
		return EAGAIN;
	status = triad_perf_status(images->perf);
	view = status.n_sweeps ? triad_perf_view(images->perf) : NULL;
	if (view && mark_of(images, &status) != question->mark)
		error = put_image(images, view, &status, conf, question, output);
	triad_view_unref(view);
	return error;
}

int triad_images_answer(struct triad_images *images, const struct triad_conf *conf,
	const struct triad_history_question *question, struct triad_output *output)
{
	int error = EBUSY;

	if (!pthread_mutex_trylock(&images->lock)) {
		error = answer_question(images, conf, question, output);
		pthread_mutex_unlock(&images->lock);
	}
	return error;
}
