/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "triad/clock.h"
#include "triad/thread.h"

#define PATIENCE_US (TRIAD_US_PER_S / 2) /* how long to wait for the thread's end */

/* --- from outside --- */

void *triad_transport_new(size_t size, const struct triad_cluster_ops *ops, uint64_t id,
	const struct triad_cluster_sink *sink, struct triad_log *log)
{
	struct triad_transport *transport = calloc(1, size);

	if (!transport)
		return NULL;
	transport->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (transport->event < 0) {
		free(transport);
		return NULL;
	}
	pthread_mutex_init(&transport->lock, NULL);
	transport->cluster.ops = ops;
	transport->id = id;
	transport->sink = *sink;
	transport->log = log;
	transport->limit.burst = 10;
	transport->limit.period_us = 60 * TRIAD_US_PER_S;
	return transport;
}

/* libcpg puts a buffer of 1 MiB on the stack while they dispatch. */
#define STACK_SIZE (4u << 20)

int triad_transport_start(
	struct triad_transport *transport, const char *name, void *(*run)(void *))
{
	return triad_thread_start_with(
		&transport->thread, name, STACK_SIZE, run, transport);
}

/* Ignores a failed write: an eventfd whose counter is full is readable, too. */
static void wake(struct triad_transport *transport)
{
	const uint64_t one = 1;

	if (write(transport->event, &one, sizeof(one)) < 0)
		return;
}

bool triad_transport_stop(struct triad_transport *transport)
{
	pthread_mutex_lock(&transport->lock);
	transport->stop = true;
	pthread_mutex_unlock(&transport->lock);
	wake(transport);
	if (!triad_thread_join(transport->thread, PATIENCE_US))
		return true;
	/* The thread hangs with a stopped Corosync: leave it and the memory that it
	 * uses. */
	pthread_detach(transport->thread);
	return false;
}

void triad_transport_free(struct triad_transport *transport)
{
	if (!transport)
		return;
	pthread_mutex_destroy(&transport->lock);
	close(transport->event);
	free(transport);
}

bool triad_transport_end(struct triad_cluster *cluster)
{
	struct triad_transport *transport = (struct triad_transport *)cluster;

	if (!triad_transport_stop(transport))
		return false;
	triad_transport_free(transport);
	return true;
}

/* The caller holds the lock. */
static int queue_message(
	struct triad_transport *transport, const void *octets, size_t size)
{
	struct triad_transport_payload *payload;

	if (size > TRIAD_CLUSTER_PAYLOAD_SIZE)
		return EMSGSIZE;
	if (!transport->is_connected || transport->stop)
		return ENOTCONN;
	if (transport->ring.n == TRIAD_TRANSPORT_QUEUE)
		return ENOBUFS;
	payload = &transport->queue[triad_ring_put(
		&transport->ring, TRIAD_TRANSPORT_QUEUE)];
	payload->size = size;
	if (size)
		memcpy(payload->octets, octets, size);
	return 0;
}

static int send_message(struct triad_transport *transport, const void *payload,
	size_t size, bool is_spare)
{
	int error = EAGAIN;

	pthread_mutex_lock(&transport->lock);
	if (!is_spare || !transport->ring.n)
		error = queue_message(transport, payload, size);
	if (error && error != EAGAIN)
		transport->status.n_send_failed++;
	pthread_mutex_unlock(&transport->lock);
	if (!error)
		wake(transport);
	return error;
}

int triad_transport_send(
	struct triad_cluster *cluster, const void *payload, size_t size)
{
	return send_message((struct triad_transport *)cluster, payload, size, false);
}

int triad_transport_send_spare(
	struct triad_cluster *cluster, const void *payload, size_t size)
{
	return send_message((struct triad_transport *)cluster, payload, size, true);
}

void triad_transport_status(
	struct triad_cluster *cluster, struct triad_cluster_status *status)
{
	struct triad_transport *transport = (struct triad_transport *)cluster;

	*status = TRIAD_LOCKED(&transport->lock, transport->status);
}

/* --- the queue --- */

static bool is_stopping(struct triad_transport *transport)
{
	return TRIAD_LOCKED(&transport->lock, transport->stop);
}

bool triad_transport_peek(
	struct triad_transport *transport, struct triad_transport_payload *payload)
{
	const struct triad_transport_payload *oldest;
	bool has;

	pthread_mutex_lock(&transport->lock);
	has = transport->ring.n && !transport->stop;
	oldest = &transport->queue[transport->ring.first];
	if (has) {
		payload->size = oldest->size;
		memcpy(payload->octets, oldest->octets, oldest->size);
	}
	pthread_mutex_unlock(&transport->lock);
	return has;
}

void triad_transport_drop(struct triad_transport *transport)
{
	pthread_mutex_lock(&transport->lock);
	(void)triad_ring_take(&transport->ring, TRIAD_TRANSPORT_QUEUE);
	pthread_mutex_unlock(&transport->lock);
}

/* Removes all payloads; each counts as not sent. */
static void drop_all(struct triad_transport *transport)
{
	pthread_mutex_lock(&transport->lock);
	transport->status.n_send_failed += transport->ring.n;
	transport->ring.n = 0;
	pthread_mutex_unlock(&transport->lock);
}

/* Clears the event; false: the thread must stop.  Reads the event before 'stop', which
 * triad_transport_stop() sets before it wakes: so no stop is missed. */
bool triad_transport_drain(struct triad_transport *transport)
{
	uint64_t n;

	if (read(transport->event, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return false;
	return !is_stopping(transport);
}

/* --- delivery --- */

static bool is_as_reported(const struct triad_cluster_view *reported,
	const struct triad_cluster_view *view)
{
	return reported->number && reported->is_connected == view->is_connected &&
		reported->is_quorate == view->is_quorate &&
		reported->n_votes_needed == view->n_votes_needed &&
		reported->n_members == view->n_members &&
		memcmp(reported->members, view->members,
			view->n_members * sizeof(view->members[0])) == 0;
}

void triad_transport_report_view(
	struct triad_transport *transport, const struct triad_cluster_view *view)
{
	struct triad_cluster_view *reported = &transport->view;
	uint64_t number = reported->number + 1;
	bool stop;

	if (is_as_reported(reported, view))
		return;
	/* Copy 'is_connected' for send() in other threads.  Only this thread uses the
	 * view, so call the sink without the lock. */
	pthread_mutex_lock(&transport->lock);
	stop = transport->stop;
	transport->is_connected = view->is_connected;
	pthread_mutex_unlock(&transport->lock);
	if (stop)
		return;
	*reported = *view;
	reported->number = number;
	if (transport->sink.view)
		transport->sink.view(transport->sink.context, reported);
}

/* Reports that this member is alone and cut off.  Nothing is queued from then on; drops
 * the payloads in the queue, which were for the old members. */
void triad_transport_report_cut_off(
	struct triad_transport *transport, uint32_t n_votes_needed)
{
	struct triad_cluster_view view = {
		.n_members = 1, .n_votes_needed = n_votes_needed};

	view.members[0] = transport->id;
	triad_transport_report_view(transport, &view);
	drop_all(transport);
}

void triad_transport_deliver(struct triad_transport *transport, uint64_t sender,
	const void *payload, size_t size)
{
	bool stop;

	pthread_mutex_lock(&transport->lock);
	stop = transport->stop;
	if (!stop)
		transport->status.n_received++;
	pthread_mutex_unlock(&transport->lock);
	if (!stop && transport->sink.message)
		transport->sink.message(transport->sink.context, sender, payload, size);
}

void triad_transport_count(struct triad_transport *transport, uint64_t *counter)
{
	triad_transport_add(transport, counter, 1);
}

void triad_transport_add(
	struct triad_transport *transport, uint64_t *counter, uint64_t n)
{
	if (!n)
		return;
	pthread_mutex_lock(&transport->lock);
	*counter += n;
	pthread_mutex_unlock(&transport->lock);
}

void triad_transport_trouble(struct triad_transport *transport, const char *trouble)
{
	char *now = transport->status.trouble;
	unsigned long suppressed;
	bool is_new;

	pthread_mutex_lock(&transport->lock);
	is_new = !transport->stop &&
		strncmp(now, trouble, sizeof(transport->status.trouble) - 1) != 0;
	snprintf(now, sizeof(transport->status.trouble), "%s", trouble);
	pthread_mutex_unlock(&transport->lock);
	/* 'status' always shows it.  Log it when it changes, but not too often. */
	if (is_new)
		is_new = triad_log_limit_pass(
			&transport->limit, triad_clock_now_us(), &suppressed);
	if (is_new && *trouble)
		triad_log_write(transport->log, TRIAD_LOG_ERROR, "election by %s: %s",
			transport->cluster.ops->name, trouble);
	else if (is_new)
		triad_log_write(transport->log, TRIAD_LOG_INFO,
			"election by %s: nothing is wrong any more",
			transport->cluster.ops->name);
}
