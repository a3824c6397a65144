/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/history_keeper.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/task.h"
#include "triad/clock.h"

/* How often the thread checks whether a sweep has ended. */
#define LOOK_US (TRIAD_US_PER_S / 10)
#define JOIN_US TRIAD_US_PER_S
#define BATCH 128u /* events at once */
/* After this time the process knows by itself. */
#define RESTORE_WITHIN_US (60 * TRIAD_US_PER_S)
#define US_PER_DAY (24 * 3600 * TRIAD_US_PER_S)

struct triad_history_keeper {
	struct triad_perf *perf;
	struct triad_recorder *recorder;
	triad_history_run *run;
	struct triad_service *service; /* run() is given it */
	struct triad_history_sources sources;
	struct triad_history_store *store;
	struct triad_history_reader *reader;
	struct triad_history_mirror *mirror;
	struct triad_log *log;
	uint64_t port_guid, started_us;
	atomic_bool is_ending;

	/* Of the thread alone. */
	uint64_t written_us; /* when the sweep written last began */
	uint64_t image_us;   /* of the image written last, wall clock */
	bool was_reading;    /* this process read counters at the last look */
	struct triad_alert *alerts;
	struct triad_timeline_event *events;
	struct triad_history_output outputs[TRIAD_HISTORY_MAX_OUTPUTS];
	struct triad_kept_list lists[TRIAD_N_KEPT];
	uint32_t n_alerts, n_events;
	size_t alerts_room, events_room;
	uint32_t n_left_out;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool wanted;                   /* there is a folder, or one is to be closed */
	const struct triad_conf *conf; /* referenced; NULL: none yet */
};

static uint64_t keep_history(void *context);

static void take_event(void *context, const struct triad_timeline_event *event)
{
	triad_recorder_take_copied(context, event);
}

struct triad_history_keeper *triad_history_keeper_new(struct triad_perf *perf,
	struct triad_recorder *recorder, const char *program, uint64_t port_guid,
	triad_history_run *run, struct triad_service *service,
	const struct triad_history_sources *sources, struct triad_log *log)
{
	struct triad_history_keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return NULL;
	keeper->perf = perf;
	keeper->recorder = recorder;
	keeper->run = run;
	keeper->service = service;
	keeper->sources = *sources;
	keeper->log = log;
	keeper->port_guid = port_guid;
	/* Cut to milliseconds, as it is written. */
	keeper->started_us = triad_clock_wall_us() / TRIAD_US_PER_MS * TRIAD_US_PER_MS;
	pthread_mutex_init(&keeper->lock, NULL);
	triad_task_init(
		&keeper->task, &keeper->lock, "triad-images", keep_history, keeper);
	keeper->store = triad_history_store_new(program, port_guid, log);
	if (keeper->store)
		triad_history_store_set_events_sink(keeper->store,
			&(struct triad_history_events_sink){
				.take = take_event, .context = recorder});
	if (keeper->store)
		keeper->reader = triad_history_reader_new(keeper->store);
	if (keeper->reader)
		keeper->mirror =
			triad_history_mirror_new(keeper->store, port_guid, log);
	if (keeper->mirror)
		return keeper;
	triad_history_keeper_free(keeper);
	return NULL;
}

void triad_history_keeper_close(struct triad_history_keeper *keeper)
{
	if (keeper)
		triad_history_reader_close(keeper->reader);
}

bool triad_history_keeper_stop(struct triad_history_keeper *keeper)
{
	bool ended;

	if (!keeper)
		return true;
	keeper->is_ending = true;
	ended = triad_history_reader_stop(keeper->reader);
	/* A stuck thread may go on after the carrier has been freed. */
	triad_history_mirror_set_carrier(keeper->mirror, NULL);
	return triad_task_stop(&keeper->task, JOIN_US) && ended;
}

void triad_history_keeper_free(struct triad_history_keeper *keeper)
{
	if (!keeper)
		return;
	triad_history_mirror_free(keeper->mirror);
	triad_history_reader_free(keeper->reader);
	triad_history_store_free(keeper->store);
	triad_task_clear(&keeper->task);
	triad_conf_unref(keeper->conf);
	pthread_mutex_destroy(&keeper->lock);
	free(keeper->alerts);
	free(keeper->events);
	for (unsigned i = 0; i < TRIAD_HISTORY_MAX_OUTPUTS; i++)
		triad_history_output_clear(&keeper->outputs[i]);
	for (unsigned i = 0; i < TRIAD_N_KEPT; i++)
		triad_kept_list_clear(&keeper->lists[i]);
	free(keeper);
}

/* --- an image's content besides counters --- */

/* Copies all alerts; counts those beyond the limit or without memory. */
static void copy_alerts(struct triad_history_keeper *keeper)
{
	struct triad_watch *watch = triad_perf_watch(keeper->perf);
	struct triad_alert alert;
	uint32_t cursor = 0;

	keeper->n_alerts = 0;
	while (triad_watch_next_alert(watch, &cursor, &alert)) {
		if (keeper->n_alerts == TRIAD_HISTORY_MAX_ALERTS ||
			triad_grow(&keeper->alerts, &keeper->alerts_room,
				keeper->n_alerts + 1, sizeof(alert), 16)) {
			keeper->n_left_out++;
			continue;
		}
		keeper->alerts[keeper->n_alerts++] = alert;
	}
}

/* Takes the events later than 'since_us'; they come newest first.  False: there are no
 * more of them. */
static bool take_events(struct triad_history_keeper *keeper,
	const struct triad_timeline_event *events, uint32_t n, uint64_t since_us)
{
	for (uint32_t i = 0; i < n; i++) {
		if (events[i].at_us <= since_us)
			return false;
		if (keeper->n_events == TRIAD_HISTORY_MAX_EVENTS ||
			triad_grow(&keeper->events, &keeper->events_room,
				keeper->n_events + 1, sizeof(*events), 16)) {
			keeper->n_left_out++;
			return false;
		}
		keeper->events[keeper->n_events++] = events[i];
	}
	return n > 0;
}

/* Copies the events of the last two hours: the hourly tier needs those of an hour.
 * Each tier writes those since its last image. */
static void copy_events(struct triad_history_keeper *keeper, uint64_t wall_us)
{
	const uint64_t most_us = 2 * 3600 * TRIAD_US_PER_S;
	struct triad_timeline_event batch[BATCH];
	uint64_t number = UINT64_MAX;
	uint32_t n;

	keeper->n_events = 0;
	do
		n = triad_recorder_copy(keeper->recorder, &number, batch, BATCH);
	while (take_events(keeper, batch, n, wall_us - most_us));
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

struct triad_totals_base triad_history_keeper_base(struct triad_history_keeper *keeper)
{
	uint64_t zeroed_us = triad_perf_zeroed_us(keeper->perf);

	return (struct triad_totals_base){
		.port_guid = keeper->port_guid,
		.started_us = keeper->started_us,
		.zeroed_us = zeroed_us
			? zeroed_us + (uint64_t)triad_clock_wall_offset_us()
			: 0,
	};
}

/* --- the thread --- */

static void write_image(struct triad_history_keeper *keeper, struct triad_view *view,
	const struct triad_collector_status *status, const struct triad_conf *conf)
{
	struct triad_watch *watch = triad_perf_watch(keeper->perf);
	int64_t offset_us = triad_clock_wall_offset_us();
	uint64_t wall_us = status->last_started_us + (uint64_t)offset_us;
	uint32_t n_links;
	struct triad_link *links = triad_watch_copy_links(watch, &n_links);
	struct triad_history_image image = {
		.head = {.sweep = status->n_sweeps,
			.generation = view->fabric->generation,
			.zeroed_us = triad_history_keeper_base(keeper).zeroed_us,
			.alerts = triad_watch_status(watch).alerts},
		.view = view,
		.since_us = status->last_started_us,
		/* Cut to milliseconds, as it is written. */
		.wall_us = wall_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS,
		.offset_us = offset_us,
		.port_guid = keeper->port_guid,
		.started_us = keeper->started_us,
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		.conf = conf,
		.links = links,
		.n_links = links ? n_links : 0,
		.sources = keeper->sources,
	};

	keeper->n_left_out = 0;
	copy_alerts(keeper);
	copy_events(keeper, wall_us);
	image.n_outputs =
		keeper->run(keeper->service, keeper->outputs, &keeper->n_left_out);
	image.outputs = keeper->outputs;
	if (keeper->sources.fill_lists)
		keeper->sources.fill_lists(
			keeper->sources.context, view, keeper->lists);
	image.lists = keeper->lists;
	if (image.n_links > TRIAD_HISTORY_MAX_LINKS) {
		keeper->n_left_out += image.n_links - TRIAD_HISTORY_MAX_LINKS;
		image.n_links = TRIAD_HISTORY_MAX_LINKS;
	}
	strcpy(image.head.sm, name_sm(triad_perf_sm(keeper->perf)));
	image.head.n_left_out = keeper->n_left_out;
	image.alerts = keeper->alerts;
	image.n_alerts = keeper->n_alerts;
	image.events = keeper->events;
	image.n_events = keeper->n_events;
	keeper->image_us = image.wall_us;
	/* The store logs and counts its errors. */
	(void)triad_history_store_write(keeper->store, &image);
	free(links);
}

static bool is_to_be_restored(struct triad_history_keeper *keeper,
	const struct triad_past *past, const struct triad_conf *conf)
{
	uint64_t now_us = triad_clock_wall_us(),
		 age_us = now_us > past->wall_us ? now_us - past->wall_us : 0;

	return past->wall_us > keeper->image_us && age_us < TRIAD_LINKS_FORGET_AFTER_US;
}

static void restore(struct triad_history_keeper *keeper, const struct triad_conf *conf)
{
	char message[TRIAD_HISTORY_MESSAGE_SIZE], time[TRIAD_CLOCK_TEXT_SIZE];
	struct triad_past *past = triad_history_reader_read(
		keeper->reader, triad_clock_wall_us(), message);

	/* The disk may have answered late. */
	if (keeper->is_ending) {
		triad_past_free(past);
		return;
	}
	if (keeper->sources.take_past)
		keeper->sources.take_past(keeper->sources.context,
			past ? past->view->fabric : NULL, past ? past->wall_us : 0);
	if (!past || !is_to_be_restored(keeper, past, conf)) {
		triad_past_free(past);
		return;
	}
	triad_clock_format(past->wall_us, time);
	triad_log_write(keeper->log, TRIAD_LOG_INFO,
		"history: what was wrong is known from the image of %s by port "
		"0x%016" PRIx64,
		time, past->port_guid);
	triad_perf_restore(keeper->perf, past);
}

/* Looks whether this process has begun to read counters. */
static void look_at_role(
	struct triad_history_keeper *keeper, const struct triad_conf *conf)
{
	bool is_reading = triad_perf_state(keeper->perf) == TRIAD_PERF_RUNNING;
	uint64_t since_us = triad_perf_reads_since(keeper->perf);

	if (is_reading && !keeper->was_reading && conf->history.dir[0] &&
		triad_clock_now_us() - since_us < RESTORE_WITHIN_US)
		restore(keeper, conf);
	keeper->was_reading = is_reading;
}

/* Writes the last sweep, unless it is written. */
static void write_sweep(
	struct triad_history_keeper *keeper, const struct triad_conf *conf)
{
	struct triad_collector_status status = triad_perf_status(keeper->perf);
	struct triad_view *view;

	triad_history_store_prepare(keeper->store);
	look_at_role(keeper, conf);
	if (triad_perf_is_restoring(keeper->perf))
		return;
	if (!status.n_sweeps || status.last_started_us == keeper->written_us)
		return;
	/* The disk may have answered late: parts that commands use may have ended. */
	if (keeper->is_ending)
		return;
	/* Without a folder no image is written, so no commands are run for one. */
	view = conf->history.dir[0] ? triad_perf_view(keeper->perf) : NULL;
	if (view)
		write_image(keeper, view, &status, conf);
	triad_view_unref(view);
	keeper->written_us = status.last_started_us;
}

static uint64_t keep_history(void *context)
{
	struct triad_history_keeper *keeper = context;
	const struct triad_conf *conf;
	uint64_t next_us, look_us;

	if (!keeper->wanted)
		return UINT64_MAX;
	conf = triad_conf_ref(keeper->conf);
	pthread_mutex_unlock(&keeper->lock);
	write_sweep(keeper, conf);
	next_us = triad_history_mirror_run(keeper->mirror, conf);
	triad_conf_unref(conf);
	look_us = triad_clock_now_us() + LOOK_US;
	pthread_mutex_lock(&keeper->lock);
	return next_us < look_us ? next_us : look_us;
}

void triad_history_keeper_configure(
	struct triad_history_keeper *keeper, const struct triad_conf *conf)
{
	struct triad_history_params params = {
		.limits = {
			.max_octets = conf->history.max_size_mb * UINT64_C(1000000),
			.keep_us = conf->history.keep_d * US_PER_DAY,
			.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		}};
	const struct triad_conf *old;
	int error = 0;

	memcpy(params.dir, conf->history.dir, sizeof(params.dir));
	params.has_copies = conf->history.replicate;
	triad_history_store_configure(keeper->store, &params);
	pthread_mutex_lock(&keeper->lock);
	old = keeper->conf;
	keeper->conf = triad_conf_ref(conf);
	/* Once true, it stays: the thread also closes the files of an old folder. */
	keeper->wanted |= params.dir[0] != '\0' || params.has_copies;
	if (keeper->wanted)
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

struct triad_history_status triad_history_keeper_status(
	struct triad_history_keeper *keeper)
{
	return triad_history_store_status(keeper->store);
}

/* --- copies --- */

static void wake_thread(struct triad_history_keeper *keeper)
{
	pthread_mutex_lock(&keeper->lock);
	triad_task_wake(&keeper->task);
	pthread_mutex_unlock(&keeper->lock);
}

void triad_history_keeper_set_carrier(struct triad_history_keeper *keeper,
	const struct triad_history_carrier *carrier)
{
	triad_history_mirror_set_carrier(keeper->mirror, carrier);
}

void triad_history_keeper_view(
	struct triad_history_keeper *keeper, const uint64_t *members, uint32_t n)
{
	triad_history_mirror_leave_view(keeper->mirror, members, n);
	wake_thread(keeper);
}

void triad_history_keeper_payload(struct triad_history_keeper *keeper, uint64_t sender,
	const void *payload, size_t size)
{
	if (triad_history_mirror_leave_payload(keeper->mirror, sender, payload, size))
		wake_thread(keeper);
}

struct triad_history_mirror_status triad_history_keeper_mirror_status(
	struct triad_history_keeper *keeper)
{
	return triad_history_mirror_status(keeper->mirror);
}

struct triad_history_reader *triad_history_keeper_reader(
	struct triad_history_keeper *keeper)
{
	return keeper->reader;
}
