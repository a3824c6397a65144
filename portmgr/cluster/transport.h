/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What all transports of cluster.h need: a thread, a queue of outgoing payloads, the
 * last view, counters.
 *
 * Model: a transport's structure begins with a 'struct triad_transport'.  send() queues
 * a payload and wakes the thread by 'event', which is readable while the queue is not
 * empty or the thread is to end.  The thread sends the payloads, and delivers views and
 * messages.
 *
 * End: once 'stop' is set, the thread delivers and logs nothing.  So a thread that
 * hung, was left, and wakes up much later ends without touching what its creator has
 * freed.  It never frees what it runs on.
 *
 * Thread-safety: _send and _status from any thread; _new, _start, _stop and _free by
 * the creator; the rest by the transport's thread.  One lock, held for a copy of a
 * payload. */
#ifndef TRIAD_PORTMGR_TRANSPORT_H
#define TRIAD_PORTMGR_TRANSPORT_H

#include <pthread.h>

#include "lib/ring.h"
#include "portmgr/cluster/cluster.h"

#define TRIAD_TRANSPORT_QUEUE 64u

struct triad_transport_payload {
	size_t size;
	uint8_t octets[TRIAD_CLUSTER_PAYLOAD_SIZE];
};

struct triad_transport {
	struct triad_cluster cluster; /* first */
	uint64_t id;
	struct triad_cluster_sink sink;
	struct triad_log *log;
	struct triad_log_limit limit;   /* because trouble may begin and end with
					 * each datagram */
	struct triad_cluster_view view; /* the last one delivered; number 0: none yet */
	pthread_t thread;
	int event;

	pthread_mutex_t lock; /* of what follows */
	bool stop;
	bool is_connected; /* as in the last view */
	struct triad_cluster_status status;
	struct triad_ring ring; /* of the queue */
	struct triad_transport_payload queue[TRIAD_TRANSPORT_QUEUE];
};

/* A zeroed structure of 'size' octets with its beginning initialised; 'log' may be
 * NULL. NULL when memory or descriptors are short. */
void *triad_transport_new(size_t size, const struct triad_cluster_ops *ops, uint64_t id,
	const struct triad_cluster_sink *sink, struct triad_log *log);

/* Returns 0 or an errno. */
int triad_transport_start(
	struct triad_transport *transport, const char *name, void *(*run)(void *));

/* Ends the thread.  False: it hangs; then nothing may be freed. */
bool triad_transport_stop(struct triad_transport *transport);

/* Only without a thread, or after _stop() returned true.  Accepts NULL. */
void triad_transport_free(struct triad_transport *transport);

/* The operations of cluster.h; triad_transport_end() is for transports with nothing
 * else to free. */
bool triad_transport_end(struct triad_cluster *cluster);
int triad_transport_send(
	struct triad_cluster *cluster, const void *payload, size_t size);
int triad_transport_send_spare(
	struct triad_cluster *cluster, const void *payload, size_t size);
void triad_transport_status(
	struct triad_cluster *cluster, struct triad_cluster_status *status);

/* --- for the thread --- */

/* Copies the oldest payload, which stays.  False: there is none. */
bool triad_transport_peek(
	struct triad_transport *transport, struct triad_transport_payload *payload);

/* Removes the oldest payload. */
void triad_transport_drop(struct triad_transport *transport);

/* Makes 'event' unreadable until the next send or stop; call it before looking at the
 * queue.  False: the thread is to end. */
bool triad_transport_drain(struct triad_transport *transport);

/* Numbers and delivers the view when it differs from the last one. */
void triad_transport_report_view(
	struct triad_transport *transport, const struct triad_cluster_view *view);

/* Delivers a view with this member alone: not connected, not quorate. */
void triad_transport_report_cut_off(
	struct triad_transport *transport, uint32_t n_votes_needed);

/* Delivers a payload, and counts it. */
void triad_transport_deliver(struct triad_transport *transport, uint64_t sender,
	const void *payload, size_t size);

/* Increments 'counter', one of 'status', or adds to it. */
void triad_transport_count(struct triad_transport *transport, uint64_t *counter);
void triad_transport_add(
	struct triad_transport *transport, uint64_t *counter, uint64_t n);

/* Sets what is wrong now, or ""; logged when it changes. */
void triad_transport_trouble(struct triad_transport *transport, const char *trouble);

#endif
