/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/recorder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/counter.h"
#include "lib/steady_clock.h"
#include "perfmgr/reset_log.h"
#include "perfmgr/watch/alert_text.h"
#include "service/recorder_parts.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define LOOK_US TRIAD_US_PER_S
/* Time to write the last events, and then to end the writing thread. */
#define END_US TRIAD_US_PER_S
/* A copied event is compared with so many of the last ones. */
#define MAX_SAME 4096u

static uint64_t look_at_all(void *context);

/* --- events --- */

/* With the lock. */
static void add_event(
	struct triad_recorder *recorder, const struct triad_timeline_event *event)
{
	struct triad_timeline_event now = *event;

	if (!recorder->timeline || recorder->is_closed)
		return;
	if (!now.at_us)
		now.at_us = triad_clock_wall_us();
	triad_timeline_add(recorder->timeline, &now);
}

/* Whether to record an event of that kind now; if not, counts it. */
static bool admits(struct triad_recorder *recorder, enum triad_timeline_kind kind)
{
	return TRIAD_LOCKED(&recorder->lock,
		recorder->timeline &&
			triad_timeline_admits(
				recorder->timeline, kind, triad_clock_now_us()));
}

static void add_admitted(
	struct triad_recorder *recorder, const struct triad_timeline_event *event)
{
	pthread_mutex_lock(&recorder->lock);
	add_event(recorder, event);
	pthread_mutex_unlock(&recorder->lock);
}

void triad_recorder_note(
	struct triad_recorder *recorder, const struct triad_timeline_event *event)
{
	if (admits(recorder, event->kind))
		add_admitted(recorder, event);
}

void triad_recorder_note_text(struct triad_recorder *recorder,
	enum triad_timeline_kind kind, const char *format, ...)
{
	struct triad_timeline_event event = {.kind = (uint8_t)kind};
	va_list args;

	va_start(args, format);
	vsnprintf(event.text, sizeof(event.text), format, args);
	va_end(args);
	triad_recorder_note(recorder, &event);
}

/* --- what another SM recorded --- */

/* Whether an event is about the fabric, and so of use to other SMs.  Each SM records
 * its port manager's actions and its own QoS itself. */
static bool is_of_fabric(unsigned kind)
{
	switch (kind) {
	case TRIAD_TIMELINE_STARTED:
	case TRIAD_TIMELINE_ENDED:
	case TRIAD_TIMELINE_LOST:
	case TRIAD_TIMELINE_ROLE:
	case TRIAD_TIMELINE_LOOKS:
	case TRIAD_TIMELINE_LOOKS_NO_MORE:
	case TRIAD_TIMELINE_PORT_MANAGER:
	case TRIAD_TIMELINE_QOS:
	case TRIAD_TIMELINE_CLOCK:
		return false;
	default:
		return true;
	}
}

static bool is_same_event(
	const struct triad_timeline_event *a, const struct triad_timeline_event *b)
{
	return a->at_us == b->at_us && a->kind == b->kind && a->count == b->count &&
		a->ends[0].node_guid == b->ends[0].node_guid &&
		a->ends[0].port == b->ends[0].port && !strcmp(a->text, b->text);
}

/* Whether an event fits behind the newest one, and is not here yet.  With the lock. */
static bool is_timely(
	const struct triad_recorder *recorder, const struct triad_timeline_event *event)
{
	const struct triad_timeline *timeline = recorder->timeline;
	uint64_t number = triad_timeline_end(timeline), last = number - MAX_SAME;
	const struct triad_timeline_event *other;

	/* With an event of the future as the newest, all others would come too late. */
	if (event->at_us > triad_clock_wall_us() + TRIAD_RECORDER_LATE_US)
		return false;
	while (--number > last && (other = triad_timeline_get(timeline, number))) {
		if (other->at_us > event->at_us + TRIAD_RECORDER_LATE_US ||
			is_same_event(other, event))
			return false;
		if (other->at_us + TRIAD_RECORDER_LATE_US < event->at_us)
			return true;
	}
	return true;
}

void triad_recorder_take_copied(
	struct triad_recorder *recorder, const struct triad_timeline_event *event)
{
	pthread_mutex_lock(&recorder->lock);
	if (recorder->timeline && !recorder->is_closed && !recorder->was_looking &&
		is_of_fabric(event->kind) && is_timely(recorder, event) &&
		triad_timeline_admits(
			recorder->timeline, event->kind, triad_clock_now_us()))
		add_event(recorder, event);
	pthread_mutex_unlock(&recorder->lock);
}

/* --- life --- */

static void name_file(
	struct triad_recorder *recorder, const struct triad_recorder_params *params)
{
	triad_recorder_file_init(&recorder->file, "", "", 0);
	if (!*params->dir)
		return;
	triad_recorder_file_init(
		&recorder->file, params->dir, params->program, params->port_guid);
	recorder->has_file = recorder->is_reading = true;
}

static int start_recording(struct triad_recorder *recorder)
{
	const struct triad_timeline_event event = {
		.at_us = triad_clock_wall_us(), .kind = TRIAD_TIMELINE_STARTED};
	int error = 0;

	if (!recorder->timeline)
		return 0;
	recorder->unwritten = triad_timeline_end(recorder->timeline);
	triad_timeline_add(recorder->timeline, &event);
	if (recorder->has_file)
		error = triad_task_start(&recorder->write);
	return error;
}

struct triad_recorder *triad_recorder_new(
	const struct triad_recorder_params *params, struct triad_log *log)
{
	struct triad_recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return NULL;
	recorder->log = log;
	recorder->trouble = params->trouble;
	recorder->context = params->context;
	pthread_mutex_init(&recorder->lock, NULL);
	triad_task_init(&recorder->look, &recorder->lock, "triad-history", look_at_all,
		recorder);
	triad_task_init(&recorder->write, &recorder->lock, "triad-histfile",
		recorder_write, recorder);
	recorder->timeline = triad_timeline_new(params->room);
	if (!recorder->timeline)
		triad_log_write(log, TRIAD_LOG_ERROR,
			"history: not enough memory for %" PRIu32
			" events, so none is kept: restart %s to try again",
			params->room, params->program);
	name_file(recorder, params);
	if (!start_recording(recorder))
		return recorder;
	(void)triad_recorder_stop(recorder);
	triad_recorder_free(recorder);
	return NULL;
}

/* Records the end of the program and waits until all is written, or can't be. */
static void write_last(struct triad_recorder *recorder)
{
	const struct triad_timeline_event event = {
		.at_us = triad_clock_wall_us(), .kind = TRIAD_TIMELINE_ENDED};
	uint64_t until_us = triad_clock_now_us() + END_US;

	pthread_mutex_lock(&recorder->lock);
	if (recorder->timeline && !recorder->is_closed) {
		triad_timeline_report_omitted(recorder->timeline, triad_clock_now_us(),
			triad_clock_wall_us(), true);
		add_event(recorder, &event);
	}
	recorder->is_closed = true;
	triad_task_wake(&recorder->write);
	while (recorder->write.is_started &&
		recorder->unwritten < triad_timeline_end(recorder->timeline) &&
		!recorder->status.error)
		if (triad_condition_wait(
			    &recorder->write.changed, &recorder->lock, until_us))
			break;
	pthread_mutex_unlock(&recorder->lock);
}

bool triad_recorder_stop(struct triad_recorder *recorder)
{
	bool has_ended;

	if (!recorder)
		return true;
	/* This thread waits only for locks, so it ends. */
	has_ended = triad_task_stop(&recorder->look, UINT64_MAX);
	write_last(recorder);
	return triad_task_stop(&recorder->write, END_US) && has_ended;
}

void triad_recorder_free(struct triad_recorder *recorder)
{
	if (!recorder)
		return;
	triad_recorder_file_close(&recorder->file);
	triad_timeline_free(recorder->timeline);
	triad_task_clear(&recorder->look);
	triad_task_clear(&recorder->write);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}

/* --- events from the PerfManager --- */

static void describe_end(struct triad_timeline_end *end,
	const struct triad_fabric *fabric, uint32_t node, uint32_t port)
{
	end->node_guid = fabric->nodes[node].guid;
	end->port = port == TRIAD_FABRIC_NONE ? TRIAD_TIMELINE_NO_PORT
					      : fabric->ports[port].number;
	memcpy(end->node_name, fabric->nodes[node].name, sizeof(end->node_name));
}

static void take_change(void *context, enum triad_change change,
	const struct triad_fabric *fabric, uint32_t node, uint32_t port, uint64_t count)
{
	static const uint8_t kinds[] = {
		[TRIAD_CHANGE_LINK_DOWN] = TRIAD_TIMELINE_LINK_DOWN,
		[TRIAD_CHANGE_LINK_UP] = TRIAD_TIMELINE_LINK_UP,
		[TRIAD_CHANGE_NODE_LEFT] = TRIAD_TIMELINE_NODE_LEFT,
		[TRIAD_CHANGE_NODE_CAME] = TRIAD_TIMELINE_NODE_CAME,
		[TRIAD_CHANGE_COUNTED_DOWN] = TRIAD_TIMELINE_COUNTED_DOWN,
	};
	struct triad_timeline_event event = {.kind = kinds[change],
		.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX};
	struct triad_recorder *recorder = context;
	uint32_t far = port == TRIAD_FABRIC_NONE ? port : fabric->ports[port].remote;

	if (!admits(recorder, event.kind))
		return;
	describe_end(&event.ends[0], fabric, node, port);
	if (far != TRIAD_FABRIC_NONE)
		describe_end(&event.ends[1], fabric, fabric->ports[far].node, far);
	add_admitted(recorder, &event);
}

static void take_alert(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	static const uint8_t kinds[TRIAD_ALERT_N_CHANGES] = {
		[TRIAD_ALERT_RAISED] = TRIAD_TIMELINE_ALERT_RAISED,
		[TRIAD_ALERT_JOINED] = TRIAD_TIMELINE_ALERT_JOINED,
		[TRIAD_ALERT_ENDED] = TRIAD_TIMELINE_ALERT_CLEARED,
		[TRIAD_ALERT_SILENCED] = TRIAD_TIMELINE_ALERT_SILENCED,
		[TRIAD_ALERT_UNSILENCED] = TRIAD_TIMELINE_ALERT_UNSILENCED,
	};
	struct triad_recorder *recorder = context;
	struct triad_timeline_event event = {.kind = kinds[change]};

	/* The timeline and the logs had it when it was raised. */
	if (change == TRIAD_ALERT_RESTORED)
		return;
	if (admits(recorder, event.kind)) {
		/* TRIAD_ALERT_NO_PORT is TRIAD_TIMELINE_NO_PORT. */
		for (unsigned i = 0; i < alert->n_ends; i++) {
			event.ends[i].node_guid = alert->ends[i].node_guid;
			event.ends[i].port = alert->ends[i].port;
			memcpy(event.ends[i].node_name, alert->ends[i].node_name,
				sizeof(event.ends[i].node_name));
		}
		triad_alert_finding_format(
			alert, &alert->findings[0], event.text, sizeof(event.text));
		event.count = alert->n_findings;
		add_admitted(recorder, &event);
	}
	recorder->next_sink.take(recorder->next_sink.context, change, alert);
}

static void note_alerts_done(void *context)
{
	struct triad_recorder *recorder = context;

	if (recorder->next_sink.done)
		recorder->next_sink.done(recorder->next_sink.context);
}

struct triad_alerts_sink triad_recorder_sink(
	struct triad_recorder *recorder, const struct triad_alerts_sink *next)
{
	recorder->next_sink = *next;
	return (struct triad_alerts_sink){
		.context = recorder, .take = take_alert, .done = note_alerts_done};
}

void triad_recorder_join(struct triad_recorder *recorder, struct triad_perf *perf)
{
	const struct triad_changes_sink sink = {
		.take = take_change, .context = recorder};

	recorder->perf = perf;
	if (!recorder->timeline)
		return;
	triad_watch_set_changes(triad_perf_watch(perf), &sink);
	pthread_mutex_lock(&recorder->lock);
	if (triad_task_start(&recorder->look))
		triad_log_write(recorder->log, TRIAD_LOG_ERROR,
			"history: no thread for it: resets of counters are not in it");
	pthread_mutex_unlock(&recorder->lock);
}

/* --- the thread that looks --- */

static bool is_same_port(const struct triad_reset *a, const struct triad_reset *b)
{
	return a->node_guid == b->node_guid && a->port == b->port &&
		a->is_own == b->is_own;
}

/* Records the reset of 'n' counters of a port; 'reset' is the first of them. */
static void note_reset(struct triad_recorder *recorder,
	const struct triad_fabric *fabric, const struct triad_reset *reset, uint32_t n)
{
	struct triad_timeline_event event = {.kind = TRIAD_TIMELINE_RESET,
		.count = n,
		.at_us = triad_clock_to_wall_us(reset->at_us),
		.ends[0] = {.node_guid = reset->node_guid, .port = reset->port}};
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(fabric, reset->node_guid);

	if (!n || !admits(recorder, event.kind))
		return;
	if (node)
		memcpy(event.ends[0].node_name, node->name,
			sizeof(event.ends[0].node_name));
	snprintf(event.text, sizeof(event.text), "by %s; %s was %" PRIu64,
		reset->is_own ? "Triad" : "others", triad_counters[reset->counter].name,
		reset->value);
	add_admitted(recorder, &event);
}

/* Resets of several counters of a port at once are one event. */
static void look_at_resets(struct triad_recorder *recorder)
{
	struct triad_reset_log *log = triad_perf_resets(recorder->perf);
	uint64_t end = triad_reset_log_count(log), n_gone = 0;
	struct triad_reset first = {0}, reset;
	const struct triad_fabric *fabric;
	struct triad_view *view;
	uint32_t n = 0;

	/* The usual case: no resets. */
	if (recorder->n_resets == end)
		return;
	view = triad_perf_view(recorder->perf);
	fabric = view ? view->fabric : NULL;
	for (; recorder->n_resets < end; recorder->n_resets++) {
		if (!triad_reset_log_get(log, recorder->n_resets, &reset)) {
			n_gone++;
		} else if (n && is_same_port(&first, &reset)) {
			n++;
		} else {
			note_reset(recorder, fabric, &first, n);
			first = reset;
			n = 1;
		}
	}
	note_reset(recorder, fabric, &first, n);
	pthread_mutex_lock(&recorder->lock);
	if (n_gone)
		triad_timeline_note_more(recorder->timeline, TRIAD_TIMELINE_RESET,
			n_gone, triad_clock_now_us());
	pthread_mutex_unlock(&recorder->lock);
	triad_view_unref(view);
}

static void look_at_reading(struct triad_recorder *recorder)
{
	const char *trouble = recorder->trouble(recorder->context);
	struct triad_fabric_counts counts = {0};
	struct triad_view *view;

	if (recorder->was_looking == !trouble)
		return;
	pthread_mutex_lock(&recorder->lock);
	recorder->was_looking = !trouble;
	recorder->looked_us = triad_clock_wall_us();
	pthread_mutex_unlock(&recorder->lock);
	if (trouble) {
		triad_recorder_note_text(
			recorder, TRIAD_TIMELINE_LOOKS_NO_MORE, "%s", trouble);
		return;
	}
	view = triad_perf_view(recorder->perf);
	if (view)
		counts = triad_fabric_count(view->fabric);
	triad_view_unref(view);
	if (!counts.n_nodes)
		triad_recorder_note_text(
			recorder, TRIAD_TIMELINE_LOOKS, "no fabric is known yet");
	else
		triad_recorder_note_text(recorder, TRIAD_TIMELINE_LOOKS,
			"%" PRIu32 " nodes, %" PRIu32 " links", counts.n_nodes,
			counts.n_links);
}

static void look_at_disk(struct triad_recorder *recorder)
{
	bool is_hung = triad_recorder_status(recorder).hung_us;

	if (is_hung == recorder->was_hung)
		return;
	recorder->was_hung = is_hung;
	triad_log_write(recorder->log, is_hung ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
		"history: the disk of %s %s", recorder->file.path,
		is_hung ? "does not answer; what happens is kept in memory meanwhile: "
			  "look after that disk"
			: "answers again");
}

/* A clock that was set explains times that do not follow each other. */
static void look_at_clock(struct triad_recorder *recorder)
{
	int64_t clock_us = (int64_t)(triad_clock_wall_us() - triad_clock_boot_us());
	int64_t by_us = recorder->clock_us ? clock_us - recorder->clock_us : 0;
	char length[TRIAD_CLOCK_TEXT_SIZE];

	recorder->clock_us = clock_us;
	if (llabs(by_us) < (int64_t)TRIAD_STEADY_SLACK_US)
		return;
	triad_clock_format_length((uint64_t)llabs(by_us), length);
	triad_recorder_note_text(recorder, TRIAD_TIMELINE_CLOCK, "%s by %s",
		by_us > 0 ? "forward" : "back", length);
	triad_log_write(recorder->log, TRIAD_LOG_WARNING,
		"history: the wall clock was set %s by %s; images of before stay, and "
		"silences end as if it had not been, for an hour",
		by_us > 0 ? "forward" : "back", length);
}

static uint64_t look_at_all(void *context)
{
	struct triad_recorder *recorder = context;

	pthread_mutex_unlock(&recorder->lock);
	look_at_clock(recorder);
	look_at_reading(recorder);
	look_at_resets(recorder);
	look_at_disk(recorder);
	pthread_mutex_lock(&recorder->lock);
	triad_timeline_report_omitted(
		recorder->timeline, triad_clock_now_us(), triad_clock_wall_us(), false);
	return triad_clock_now_us() + LOOK_US;
}

/* --- reading --- */

uint32_t triad_recorder_copy(struct triad_recorder *recorder, uint64_t *number,
	struct triad_timeline_event *events, uint32_t room)
{
	const struct triad_timeline_event *event = NULL;
	uint32_t n = 0;

	pthread_mutex_lock(&recorder->lock);
	if (recorder->timeline && *number > triad_timeline_end(recorder->timeline))
		*number = triad_timeline_end(recorder->timeline);
	while (recorder->timeline && n < room) {
		event = triad_timeline_get(recorder->timeline, *number - 1);
		if (!event)
			break;
		events[n++] = *event;
		--*number;
	}
	pthread_mutex_unlock(&recorder->lock);
	return n;
}

struct triad_recorder_status triad_recorder_status(struct triad_recorder *recorder)
{
	struct triad_recorder_status status;
	uint64_t now_us;

	pthread_mutex_lock(&recorder->lock);
	/* With the lock: 'disk_since_us' must not be later. */
	now_us = triad_clock_now_us();
	status = recorder->status;
	status.is_on = recorder->timeline;
	status.is_reading = recorder->timeline && recorder->is_reading;
	status.looked_us = recorder->looked_us;
	if (recorder->timeline)
		status.events = triad_timeline_counts(recorder->timeline);
	status.hung_us = triad_disk_hung_us(recorder->disk_since_us, now_us);
	pthread_mutex_unlock(&recorder->lock);
	if (recorder->timeline && recorder->has_file)
		snprintf(status.path, sizeof(status.path), "%s", recorder->file.path);
	return status;
}
