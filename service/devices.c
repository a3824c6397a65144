/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/devices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ib/pma.h"
#include "lib/task.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define TIMEOUT_MS 500
/* The kernel reports a missing answer itself; a simulator may not. */
#define PATIENCE_US ((TIMEOUT_MS + 50) * TRIAD_US_PER_MS)
/* How often a wait checks whether the thread must end. */
#define SLICE_US (100 * TRIAD_US_PER_MS)
#define LOOK_US TRIAD_US_PER_S
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)

enum { SMPS, REQUESTS, N_CLASSES };

struct triad_device_reader {
	struct triad_perf *perf;
	struct triad_collect *collect;
	uint64_t port_guid;
	struct triad_log *log;

	/* Changed with the lock.  Also read without it, so that callers need not take
	 * the lock for each port while this is off. */
	_Atomic bool is_enabled;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	struct triad_devices *devices;
	bool must_clear, is_reading;
	uint64_t gap_us; /* between two MADs */
	int error;

	/* Of the thread alone. */
	struct triad_umad *umads[N_CLASSES];
	struct triad_view *view; /* the adopted view, referenced; NULL: none */
	int logged_error;
};

static uint64_t read_devices_when_due(void *context);

struct triad_device_reader *triad_device_reader_new(struct triad_perf *perf,
	struct triad_collect *collect, uint64_t port_guid, struct triad_log *log)
{
	struct triad_device_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->perf = perf;
	reader->collect = collect;
	reader->port_guid = port_guid;
	reader->log = log;
	pthread_mutex_init(&reader->lock, NULL);
	triad_task_init(&reader->task, &reader->lock, "triad-devices",
		read_devices_when_due, reader);
	reader->devices = triad_devices_new();
	if (reader->devices)
		return reader;
	triad_device_reader_free(reader);
	return NULL;
}

/* From one MAD to the next: 50 a second are few beside those of sweeps, and ask 37,000 optical
 * cables in half an hour. */
#define GAP_US (TRIAD_US_PER_S / 50)

void triad_device_reader_configure(
	struct triad_device_reader *reader, const struct triad_conf *conf)
{
	int error = 0;

	pthread_mutex_lock(&reader->lock);
	/* The thread must also forget all if this was off only for a moment. */
	reader->must_clear |= !conf->devices.enabled;
	reader->is_enabled = conf->devices.enabled;
	reader->gap_us = GAP_US;
	triad_devices_set_period(
		reader->devices, conf->devices.period_s * TRIAD_US_PER_S);
	triad_devices_set_cables(reader->devices, conf->devices.cables);
	if (reader->is_enabled)
		error = triad_task_start(&reader->task);
	triad_task_wake(&reader->task);
	pthread_mutex_unlock(&reader->lock);
	if (error)
		triad_log_write(reader->log, TRIAD_LOG_ERROR,
			"devices: no thread for them: %s; nothing is asked, type 'triadctl "
			"reload' to try again",
			strerror(error));
}

void triad_device_reader_stop(struct triad_device_reader *reader)
{
	if (!reader)
		return;
	(void)triad_task_stop(&reader->task, UINT64_MAX);
	/* A late answer may still be on its way. */
	for (unsigned i = 0; i < N_CLASSES; i++) {
		triad_umad_close(reader->umads[i], true);
		reader->umads[i] = NULL;
	}
}

void triad_device_reader_free(struct triad_device_reader *reader)
{
	if (!reader)
		return;
	triad_devices_free(reader->devices);
	triad_view_unref(reader->view);
	triad_task_clear(&reader->task);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

/* --- one MAD and its answer --- */

/* Returns 0 or an errno. */
static int open_class(struct triad_device_reader *reader, unsigned class)
{
	static const int classes[N_CLASSES] = {
		[SMPS] = TRIAD_MAD_CLASS_SUBNET_LID,
		[REQUESTS] = TRIAD_DEVICE_CLASS,
	};
	int error = 0;

	if (!reader->umads[class])
		error = triad_umad_open(
			reader->port_guid, classes[class], &reader->umads[class]);
	if (error && error != reader->logged_error)
		triad_log_write(reader->log, TRIAD_LOG_ERROR,
			"devices: port 0x%016" PRIx64
			" can't be opened for MADs: %s; nothing is "
			"asked until it can (tried each 5 s)",
			reader->port_guid, strerror(error));
	reader->logged_error = error;
	return error;
}

static int open_both_classes(struct triad_device_reader *reader)
{
	int error = open_class(reader, SMPS);

	return error ? error : open_class(reader, REQUESTS);
}

static bool must_end(struct triad_device_reader *reader)
{
	return TRIAD_LOCKED(&reader->lock, reader->task.must_end);
}

/* Waits for the answer to MAD 'tid', and skips late answers to earlier ones.  Returns 0
 * with the result in 'reply', perhaps ETIMEDOUT as its status; or an errno. */
static int await(struct triad_device_reader *reader,
	const struct triad_mad_transport *transport, uint32_t tid,
	struct triad_mad_reply *reply)
{
	uint64_t until_us = triad_clock_now_us() + PATIENCE_US;

	while (!must_end(reader)) {
		uint64_t now_us = triad_clock_now_us();
		uint64_t left_us = until_us > now_us ? until_us - now_us : 0;
		int error;

		/* Also after the time: if this process was stopped meanwhile, the
		 * answer may have come in time. */
		error = transport->receive(transport->context,
			left_us < SLICE_US ? left_us : SLICE_US, reply);
		if (error && error != EAGAIN)
			return error;
		if (!error && triad_pma_tid(reply->mad, reply->size) == tid)
			return 0;
		if (error && !left_us) {
			reply->status = ETIMEDOUT;
			return 0;
		}
	}
	return ECANCELED;
}

static int ask_device(struct triad_device_reader *reader,
	const struct triad_devices_question *question, struct triad_mad_reply *reply)
{
	const struct triad_mad_transport *transport =
		triad_umad_transport(reader->umads[question->is_smp ? SMPS : REQUESTS]);
	int error = transport->send(
		transport->context, &question->to, question->mad, TIMEOUT_MS);

	return error ? error : await(reader, transport, question->tid, reply);
}

/* --- the thread --- */

/* The view of the nodes that this process reads; NULL: none, as at a manager, whose
 * view has what agents read. */
static struct triad_view *view_to_read(const struct triad_device_reader *reader)
{
	if (triad_perf_state(reader->perf) != TRIAD_PERF_RUNNING ||
		triad_collect_is_manager(reader->collect))
		return NULL;
	return triad_perf_view(reader->perf);
}

static void clear(struct triad_device_reader *reader)
{
	triad_devices_clear(reader->devices);
	triad_view_unref(reader->view);
	reader->view = NULL;
	reader->must_clear = false;
}

/* Adopts 'view', if it is another one.  When memory is short, the last one stays, and
 * the next step tries again. */
static void adopt(struct triad_device_reader *reader, struct triad_view *view)
{
	if (view == reader->view || triad_devices_adopt(reader->devices, view))
		return;
	triad_view_unref(reader->view);
	reader->view = triad_view_ref(view);
}

/* Sends one question, if one is due, and waits for the answer, with the lock released.
 * With the lock; returns when to call it again. */
static uint64_t read_next(struct triad_device_reader *reader)
{
	struct triad_devices_question question;
	struct triad_mad_reply reply = {0};
	uint64_t now_us = triad_clock_now_us(), due_us;
	bool is_sent;

	if (!triad_devices_next(reader->devices, now_us, &question, &due_us))
		return due_us < now_us + LOOK_US ? due_us : now_us + LOOK_US;
	pthread_mutex_unlock(&reader->lock);
	is_sent = !ask_device(reader, &question, &reply);
	pthread_mutex_lock(&reader->lock);
	now_us = triad_clock_now_us();
	triad_devices_answer(reader->devices, is_sent ? &reply : NULL, now_us);
	return now_us + reader->gap_us;
}

static uint64_t read_devices_when_due(void *context)
{
	struct triad_device_reader *reader = context;
	struct triad_view *view = NULL;
	bool is_enabled = reader->is_enabled;
	uint64_t due_us;
	int error = 0;

	if (reader->must_clear || !is_enabled)
		clear(reader);
	pthread_mutex_unlock(&reader->lock);
	if (is_enabled)
		view = view_to_read(reader);
	if (view)
		error = open_both_classes(reader);
	pthread_mutex_lock(&reader->lock);
	reader->is_reading = view && !error;
	reader->error = error;
	if (!is_enabled) {
		due_us = reader->is_enabled ? 0 : TRIAD_TASK_DONE;
	} else if (!view || error) {
		due_us = triad_clock_now_us() + (error ? OPEN_AGAIN_US : LOOK_US);
	} else {
		adopt(reader, view);
		due_us = read_next(reader);
	}
	triad_view_unref(view);
	return due_us;
}

/* --- reading --- */

struct triad_device_reader_status triad_device_reader_status(
	struct triad_device_reader *reader)
{
	struct triad_device_reader_status status;

	pthread_mutex_lock(&reader->lock);
	status = (struct triad_device_reader_status){
		.is_enabled = reader->is_enabled,
		.is_reading = reader->is_enabled && reader->is_reading,
		.error = reader->error,
		.counts = triad_devices_counts(reader->devices),
	};
	pthread_mutex_unlock(&reader->lock);
	return status;
}

bool triad_device_reader_read(struct triad_device_reader *reader, uint64_t guid,
	struct triad_device_known *copy)
{
	return TRIAD_LOCKED(
		&reader->lock, triad_devices_read(reader->devices, guid, copy));
}

bool triad_device_reader_read_port(struct triad_device_reader *reader, uint64_t guid,
	uint8_t number, struct triad_cable_known *copy)
{
	return TRIAD_LOCKED(&reader->lock,
		triad_devices_read_port(reader->devices, guid, number, copy));
}

bool triad_device_reader_judge(struct triad_device_reader *reader, uint64_t guid,
	uint8_t number, struct triad_hardware_finding *finding)
{
	bool is_wrong;

	if (!reader->is_enabled)
		return false;
	is_wrong = TRIAD_LOCKED(&reader->lock,
		triad_devices_judge(reader->devices, guid, number, finding));
	return is_wrong;
}
