/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the transports of cluster.h have in common: the thread, the queue of payloads
 * that are to go out, what was told and counted.
 *
 * Model: a transport's structure begins with a 'struct triad_transport'.  send() leaves
 * a payload in the queue and wakes the thread by 'event', which is readable while there
 * is something in the queue or the thread is to end.  The thread takes payloads out,
 * and tells views and messages.
 *
 * The end: once 'stop' is set nothing is told and nothing logged any more, so that a
 * thread that hung, was left and wakes up much later finds its way out without touching
 * what its maker has freed meanwhile.  It never frees what it runs on.
 *
 * Thread-safety: _send and _status by any thread; _new, _start, _stop and _free by the
 * maker; the rest by the transport's thread.  One lock, held for a copy of a
 * payload. */
#ifndef TRIAD_PORTMGR_TRANSPORT_H
#define TRIAD_PORTMGR_TRANSPORT_H

#include <pthread.h>

#include "portmgr/cluster/cluster.h"

#define TRIAD_TRANSPORT_QUEUE 64u

struct triad_payload {
	size_t size;
	uint8_t octets[TRIAD_CLUSTER_PAYLOAD_SIZE];
};

struct triad_transport {
	struct triad_cluster cluster; /* first */
	uint64_t id;
	struct triad_cluster_sink sink;
	struct triad_log *log;
	struct triad_log_limit limit;   /* trouble may come and go with each datagram */
	struct triad_cluster_view view; /* told last; number 0: none yet */
	pthread_t thread;
	int event;

	pthread_mutex_t lock; /* of what follows */
	bool stop;
	bool is_connected; /* as told */
	struct triad_cluster_status status;
	uint32_t first, n;
	struct triad_payload queue[TRIAD_TRANSPORT_QUEUE];
};

/* A zeroed structure of 'size' octets whose beginning is made; 'log' may be NULL.  NULL
 * when memory or descriptors are short. */
void *triad_transport_new(size_t size, const struct triad_cluster_ops *ops, uint64_t id,
	const struct triad_cluster_sink *sink, struct triad_log *log);

/* Returns 0 or an errno. */
int triad_transport_start(
	struct triad_transport *transport, const char *name, void *(*run)(void *));

/* Ends the thread.  False: it hangs, and is left; nothing may be freed then. */
bool triad_transport_stop(struct triad_transport *transport);

/* Without a thread, or after a stop that was true.  Accepts NULL. */
void triad_transport_free(struct triad_transport *transport);

/* The operations of cluster.h; 'end' for who has nothing else to free. */
bool triad_transport_end(struct triad_cluster *cluster);
int triad_transport_send(
	struct triad_cluster *cluster, const void *payload, size_t size);
void triad_transport_status(
	struct triad_cluster *cluster, struct triad_cluster_status *status);

/* --- for the thread --- */

bool triad_transport_is_stopping(struct triad_transport *transport);

/* Copies the oldest payload, which stays.  False: there is none. */
bool triad_transport_peek(
	struct triad_transport *transport, struct triad_payload *payload);

/* Takes the oldest away. */
void triad_transport_drop(struct triad_transport *transport);

/* Takes all away, each of them not sent. */
void triad_transport_drop_all(struct triad_transport *transport);

/* Makes 'event' unreadable until the next send or stop; to be called before the queue
 * is looked at.  False: the thread is to end. */
bool triad_transport_drain(struct triad_transport *transport);

/* Tells the view, numbered, when something in it is not as it was told last. */
void triad_transport_report_view(
	struct triad_transport *transport, const struct triad_cluster_view *view);

/* This member alone: not connected, not quorate. */
void triad_transport_report_cut_off(
	struct triad_transport *transport, uint32_t n_votes_needed);

/* Hands a payload over, and counts it. */
void triad_transport_deliver(struct triad_transport *transport, uint64_t sender,
	const void *payload, size_t size);

/* One more; 'counter' is one of 'status'. */
void triad_transport_count(struct triad_transport *transport, uint64_t *counter);

/* What is wrong now, or "": logged when it is another than before. */
void triad_transport_trouble(struct triad_transport *transport, const char *trouble);

#endif
