/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/speeds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ib/smp_mad.h"
#include "lib/task.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define TIMEOUT_MS 500
/* The kernel reports a missing answer itself; a simulator may not. */
#define PATIENCE_US ((TIMEOUT_MS + 50) * TRIAD_US_PER_MS)
/* How long a step waits for an answer. */
#define SLICE_US (100 * TRIAD_US_PER_MS)
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)

struct triad_speed_reader {
	uint64_t port_guid;
	struct triad_m_keys m_keys;
	struct triad_log *log;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	struct triad_speeds *speeds;

	/* Of the thread alone. */
	struct triad_umad *umad;
	int logged_error;
};

static uint64_t read_speeds_when_due(void *context);

struct triad_speed_reader *triad_speed_reader_new(
	uint64_t port_guid, const struct triad_m_keys *m_keys, struct triad_log *log)
{
	struct triad_speed_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->port_guid = port_guid;
	reader->m_keys = *m_keys;
	reader->log = log;
	pthread_mutex_init(&reader->lock, NULL);
	triad_task_init(&reader->task, &reader->lock, "triad-speeds",
		read_speeds_when_due, reader);
	reader->speeds = triad_speeds_new(m_keys->find);
	if (reader->speeds)
		return reader;
	triad_speed_reader_free(reader);
	return NULL;
}

void triad_speed_reader_stop(struct triad_speed_reader *reader)
{
	if (!reader)
		return;
	(void)triad_task_stop(&reader->task, UINT64_MAX);
	/* A late answer may still be on its way. */
	triad_umad_close(reader->umad, true);
	reader->umad = NULL;
}

void triad_speed_reader_free(struct triad_speed_reader *reader)
{
	if (!reader)
		return;
	triad_speeds_free(reader->speeds);
	triad_task_clear(&reader->task);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

void triad_speed_reader_lay_over(
	struct triad_speed_reader *reader, struct triad_fabric *fabric)
{
	pthread_mutex_lock(&reader->lock);
	triad_speeds_lay_over(reader->speeds, fabric);
	pthread_mutex_unlock(&reader->lock);
}

void triad_speed_reader_adopt(struct triad_speed_reader *reader,
	const struct triad_fabric *fabric, uint64_t again_us)
{
	int error;

	pthread_mutex_lock(&reader->lock);
	error = triad_speeds_adopt(
		reader->speeds, fabric, again_us, triad_clock_now_us());
	if (!error && triad_speeds_counts(reader->speeds).n_ports)
		error = triad_task_start(&reader->task);
	triad_task_wake(&reader->task);
	pthread_mutex_unlock(&reader->lock);
	if (error)
		triad_log_write(reader->log, TRIAD_LOG_ERROR,
			"speeds: ports can't be asked for speeds that the SM does not know: "
			"%s; tried again with the next topology",
			strerror(error));
}

bool triad_speed_reader_take_news(struct triad_speed_reader *reader)
{
	return TRIAD_LOCKED(&reader->lock,
		triad_speeds_take_news(reader->speeds, triad_clock_now_us()));
}

struct triad_speeds_counts triad_speed_reader_counts(struct triad_speed_reader *reader)
{
	return TRIAD_LOCKED(&reader->lock, triad_speeds_counts(reader->speeds));
}

/* --- the thread; none of these has the lock --- */

static bool open_smp_port(struct triad_speed_reader *reader)
{
	int error = 0;

	if (!reader->umad)
		error = triad_umad_open(
			reader->port_guid, TRIAD_MAD_CLASS_SUBNET_LID, &reader->umad);
	if (error && error != reader->logged_error)
		triad_log_write(reader->log, TRIAD_LOG_ERROR,
			"speeds: port 0x%016" PRIx64
			" can't be opened for MADs: %s; speeds that the SM does not know "
			"stay unknown until it can (tried each 5 s)",
			reader->port_guid, strerror(error));
	reader->logged_error = error;
	return !error;
}

/* Returns whether it was sent. */
static bool send_question(
	struct triad_speed_reader *reader, const struct triad_speeds_question *question)
{
	const struct triad_mad_transport *transport =
		triad_umad_transport(reader->umad);
	const struct triad_mad_address to = {.lid = question->lid};
	uint8_t mad[TRIAD_MAD_SIZE];
	uint64_t m_key = 0;

	if (reader->m_keys.find &&
		!reader->m_keys.find(reader->m_keys.context, question->node_guid,
			question->number, &m_key))
		return false;
	triad_smp_encode_get_by_lid(mad, TRIAD_SMP_PORT_INFO,
		TRIAD_SMP_EXTENDED_SPEEDS | question->number, m_key, question->tid);
	return !transport->send(transport->context, &to, mad, TIMEOUT_MS);
}

/* Waits for an answer.  Returns its transaction ID, or 0; 'info' is the PortInfo, '*has'
 * whether there is one. */
static uint32_t receive_answer(struct triad_speed_reader *reader, uint64_t wait_us,
	uint8_t info[TRIAD_SMP_DATA_SIZE], bool *has)
{
	const struct triad_mad_transport *transport =
		triad_umad_transport(reader->umad);
	struct triad_mad_reply reply;
	uint16_t status;

	*has = false;
	if (transport->receive(transport->context, wait_us, &reply))
		return 0;
	*has = !reply.status && reply.size == TRIAD_MAD_SIZE &&
		!triad_smp_decode(reply.mad, info, &status);
	return triad_pma_tid(reply.mad, reply.size);
}

/* --- with the lock, which they release while they wait --- */

static void send_due(struct triad_speed_reader *reader, uint64_t *due_us)
{
	struct triad_speeds_question question;

	while (!reader->task.must_end &&
		triad_speeds_next(
			reader->speeds, triad_clock_now_us(), &question, due_us)) {
		bool is_sent;

		pthread_mutex_unlock(&reader->lock);
		is_sent = send_question(reader, &question);
		pthread_mutex_lock(&reader->lock);
		if (!is_sent)
			triad_speeds_answer(reader->speeds, question.tid, NULL,
				triad_clock_now_us());
	}
}

static void take_speed_answer(struct triad_speed_reader *reader, uint64_t due_us)
{
	uint64_t now_us = triad_clock_now_us(), wait_us = SLICE_US;
	uint8_t info[TRIAD_SMP_DATA_SIZE];
	uint32_t tid;
	bool has;

	if (due_us < now_us + wait_us)
		wait_us = due_us > now_us ? due_us - now_us : 0;
	pthread_mutex_unlock(&reader->lock);
	tid = receive_answer(reader, wait_us, info, &has);
	pthread_mutex_lock(&reader->lock);
	now_us = triad_clock_now_us();
	triad_speeds_answer(reader->speeds, tid, has ? info : NULL, now_us);
	triad_speeds_expire(reader->speeds, PATIENCE_US, now_us);
}

static uint64_t read_speeds_when_due(void *context)
{
	struct triad_speed_reader *reader = context;
	uint64_t due_us = UINT64_MAX;
	bool is_open;

	pthread_mutex_unlock(&reader->lock);
	is_open = open_smp_port(reader);
	pthread_mutex_lock(&reader->lock);
	if (!is_open)
		return triad_clock_now_us() + OPEN_AGAIN_US;
	send_due(reader, &due_us);
	if (triad_speeds_n_asked(reader->speeds)) {
		take_speed_answer(reader, due_us);
		due_us = 0;
	}
	return due_us == UINT64_MAX ? TRIAD_TASK_DONE : due_us;
}
