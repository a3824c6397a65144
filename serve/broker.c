/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/nats/record.h"
#include "lib/task.h"
#include "service/bus_relay.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define AGAIN_US TRIAD_US_PER_S
/* How soon a change of the connection is told. */
#define LOOK_US (TRIAD_US_PER_S / 4)

struct triad_broker {
	struct triad_link_to *link;
	struct triad_log *log;
	struct triad_bus *bus;

	/* Of the thread that follows: */
	struct triad_bus_reader reader;
	char why[256]; /* what it was told when 'bus-out' ended */

	/* Of the task, which passes on: */
	struct triad_link_upload upload;
	uint64_t opened_us;           /* when it was tried last */
	struct triad_bus_status told; /* what was told, and when; 0: nothing in this */
	uint64_t told_us;             /* upload */
	uint64_t n_lost;              /* received, and dropped here */
	char octets[TRIAD_UPLOAD_SIZE]; /* to be sent */
	size_t used;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct triad_task task;
	bool is_on, has_follower;
	pthread_t follower;
};

static uint64_t pass_on(void *context);

/* --- what is to be sent --- */

static bool is_on(struct triad_broker *broker)
{
	return TRIAD_LOCKED(&broker->lock, broker->is_on);
}

static void connect_to(
	struct triad_broker *broker, const struct triad_bus_params *params)
{
	int error = triad_bus_configure(broker->bus, params);

	if (error && error != ENOTSUP)
		triad_log_write(broker->log, TRIAD_LOG_ERROR,
			"collect: no thread for the connection to the broker: %s; it is "
			"tried again",
			strerror(error));
}

static void take_record(void *context, const struct triad_bus_record *record)
{
	struct triad_broker *broker = context;
	struct triad_bus_params params;

	if (record->kind == TRIAD_BUS_MESSAGE)
		triad_bus_send(broker->bus, (enum triad_member_to)record->detail,
			record->id, record->octets, record->size);
	else if (record->kind == TRIAD_BUS_PARAMS &&
		triad_bus_record_get_params(record, &params))
		connect_to(broker, record->detail ? &params : NULL);
}

/* A sink of 'bus-out'. */
static int take_piece(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_broker *broker = context;

	if (type != TRIAD_FRAME_OUTPUT) {
		snprintf(broker->why, sizeof(broker->why), "%.*s",
			(int)strcspn(piece, "\n"), piece);
		return 0;
	}
	if (!is_on(broker))
		return ECANCELED;
	if (!triad_bus_reader_put(&broker->reader, piece, size))
		return 0;
	snprintf(broker->why, sizeof(broker->why),
		"what the plugin sends is malformed: both must be of one release");
	return ECANCELED;
}

/* Waits until it is enabled, but a moment at least; false at the end. */
static bool wait_until_on(struct triad_broker *broker)
{
	uint64_t until_us = triad_clock_now_us() + AGAIN_US;

	pthread_mutex_lock(&broker->lock);
	while (!atomic_load(&broker->link->is_ending) &&
		(!broker->is_on || triad_clock_now_us() < until_us))
		(void)triad_condition_wait(&broker->changed, &broker->lock,
			triad_clock_now_us() + AGAIN_US / 5);
	pthread_mutex_unlock(&broker->lock);
	return !atomic_load(&broker->link->is_ending);
}

static void *follow(void *context)
{
	static const char *const words[] = {TRIAD_BUS_OUT};
	struct triad_broker *broker = context;
	const struct triad_client_sink sink = {.take = take_piece, .context = broker};
	char said[sizeof(broker->why)] = "";
	int status;

	do {
		broker->reader.used = 0;
		broker->why[0] = '\0';
		status = triad_link_ask(broker->link, TRIAD_LINK_S, 1, words, &sink);
		/* At the broker there is no manager whose plugin is not there. */
		if (status == TRIAD_CLIENT_NO_ANSWER || !is_on(broker))
			connect_to(broker, NULL);
		if (broker->why[0] && is_on(broker) && strcmp(said, broker->why) &&
			!atomic_load(&broker->link->is_ending))
			triad_log_write(broker->log, TRIAD_LOG_WARNING,
				"collect: %s; it is tried again each second",
				broker->why);
		memcpy(said, broker->why, sizeof(said));
	} while (wait_until_on(broker));
	return NULL;
}

/* --- what was received --- */

static void send_octets(struct triad_broker *broker)
{
	/* An error: the upload is closed, and begun anew. */
	if (broker->used && broker->upload.fd >= 0)
		(void)triad_link_upload_put(
			&broker->upload, broker->octets, broker->used, true);
	broker->used = 0;
}

static void put_octets(struct triad_broker *broker, const uint8_t *octets, size_t size)
{
	while (size) {
		size_t room = sizeof(broker->octets) - broker->used;
		size_t n = size < room ? size : room;

		memcpy(broker->octets + broker->used, octets, n);
		broker->used += n;
		octets += n;
		size -= n;
		if (broker->used == sizeof(broker->octets))
			send_octets(broker);
	}
}

static void put_record(
	struct triad_broker *broker, const struct triad_bus_record *record)
{
	uint8_t header[TRIAD_BUS_HEADER_SIZE];

	triad_bus_record_put_header(record, header);
	put_octets(broker, header, sizeof(header));
	put_octets(broker, record->octets, record->size);
}

/* What has been added to the numbers since they were told. */
static struct triad_bus_status subtract(
	const struct triad_bus_status *now, const struct triad_bus_status *told)
{
	struct triad_bus_status added = *now;

	added.n_connects -= told->n_connects;
	added.n_sent -= told->n_sent;
	added.n_received -= told->n_received;
	added.n_send_dropped -= told->n_send_dropped;
	added.n_receive_dropped -= told->n_receive_dropped;
	added.n_oversize -= told->n_oversize;
	return added;
}

/* Tells how the connection is, if that has changed or it is time. */
static void put_state(struct triad_broker *broker)
{
	struct triad_bus_status now = triad_bus_status(broker->bus), added;
	uint64_t now_us = triad_clock_now_us();
	uint8_t octets[TRIAD_BUS_FIELDS_SIZE];
	struct triad_bus_record record = {.kind = TRIAD_BUS_STATE, .octets = octets};

	if (broker->told_us && now_us < broker->told_us + TRIAD_BUS_BEAT_US &&
		now.is_connected == broker->told.is_connected &&
		!strcmp(now.reason, broker->told.reason))
		return;
	now.n_receive_dropped += broker->n_lost;
	added = subtract(&now, &broker->told);
	record.size = (uint32_t)triad_bus_record_put_state(&added, octets);
	put_record(broker, &record);
	broker->told = now;
	broker->told_us = now_us;
}

static void pass_received(struct triad_broker *broker)
{
	struct triad_bus_message message;

	while (triad_bus_take(broker->bus, &message)) {
		const struct triad_bus_record record = {.kind = TRIAD_BUS_MESSAGE,
			.detail = message.speaker.is_manager,
			.id = message.speaker.id,
			.size = (uint32_t)message.size,
			.octets = message.octets};

		if (broker->upload.fd >= 0)
			put_record(broker, &record);
		broker->n_lost += broker->upload.fd < 0;
		triad_bus_give_back(&message);
	}
}

static void open_upload(struct triad_broker *broker)
{
	static const char *const words[] = {TRIAD_BUS_IN};
	uint64_t now_us = triad_clock_now_us();

	if (broker->upload.fd >= 0 || now_us < broker->opened_us + AGAIN_US)
		return;
	broker->opened_us = now_us;
	broker->told_us = 0;
	broker->used = 0;
	/* An error: the thread that follows logs what is wrong. */
	(void)triad_link_upload_open(broker->link, &broker->upload, 1, words);
}

static uint64_t pass_on(void *context)
{
	struct triad_broker *broker = context;
	bool is_on = broker->is_on;

	pthread_mutex_unlock(&broker->lock);
	if (is_on) {
		open_upload(broker);
		if (broker->upload.fd >= 0)
			put_state(broker);
		pass_received(broker);
		send_octets(broker);
	} else {
		triad_link_upload_close(&broker->upload);
	}
	pthread_mutex_lock(&broker->lock);
	return is_on ? triad_clock_now_us() + LOOK_US : UINT64_MAX;
}

/* From threads of the bus. */
static void wake(void *context)
{
	struct triad_broker *broker = context;

	pthread_mutex_lock(&broker->lock);
	triad_task_wake(&broker->task);
	pthread_mutex_unlock(&broker->lock);
}

/* --- life --- */

struct triad_broker *triad_broker_new(struct triad_link_to *link, struct triad_log *log)
{
	struct triad_broker *broker = calloc(1, sizeof(*broker));

	if (!broker)
		return NULL;
	broker->bus = triad_bus_new(wake, broker, log);
	if (!broker->bus) {
		free(broker);
		return NULL;
	}
	broker->link = link;
	broker->log = log;
	broker->upload.fd = -1;
	broker->reader.take = take_record;
	broker->reader.context = broker;
	pthread_mutex_init(&broker->lock, NULL);
	triad_condition_init(&broker->changed);
	triad_task_init(&broker->task, &broker->lock, "triadd-broker", pass_on, broker);
	return broker;
}

void triad_broker_free(struct triad_broker *broker)
{
	if (!broker)
		return;
	if (broker->has_follower)
		pthread_join(broker->follower, NULL);
	(void)triad_task_stop(&broker->task, UINT64_MAX);
	triad_link_upload_close(&broker->upload);
	triad_bus_free(broker->bus);
	triad_task_clear(&broker->task);
	pthread_cond_destroy(&broker->changed);
	pthread_mutex_destroy(&broker->lock);
	free(broker);
}

void triad_broker_enable(struct triad_broker *broker, bool is_on)
{
	int error = 0;

	pthread_mutex_lock(&broker->lock);
	broker->is_on = is_on;
	if (is_on)
		error = triad_task_start(&broker->task);
	if (is_on && !error && !broker->has_follower) {
		error = triad_thread_start(
			&broker->follower, "triadd-bus-out", follow, broker);
		broker->has_follower = !error;
	}
	triad_task_wake(&broker->task);
	pthread_cond_broadcast(&broker->changed);
	pthread_mutex_unlock(&broker->lock);
	if (error)
		triad_log_write(broker->log, TRIAD_LOG_ERROR,
			"collect: no thread for the broker: %s; nothing comes from "
			"agents, type 'triadctl reload' to try again",
			strerror(error));
}
