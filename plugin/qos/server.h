/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers the SA's requests for paths, in threads of our own.
 *
 * Model: the vendor's receiving thread passes each request to take_request(), which puts
 * requests for paths into the fast queue and passes everything else to OpenSM at once.
 * The threads of that queue answer requests from the present snapshot, without any lock
 * of OpenSM's.  Requests that they can't answer (answer.h: FALLBACK) they pass to
 * OpenSM, as if the requests had just come, but narrowed to what the QoS level allows.
 * Requests for which the routing engine must choose the SL go to the slow queue.  Its
 * only thread begins with the first of these; it takes the SM's lock, shared, and may have
 * to wait for it.
 *
 *     take_request ──> fast queue ──> osm_vendor_send
 *        │             ├───> slow queue ──> osm_vendor_send
 *        └─────────────┴───> OpenSM's own callback, its dispatcher
 *
 * While a sweep runs, the ends of a path are compared with OpenSM's subnet, if OpenSM's
 * lock is free at that moment.  Requests that Triad would refuse then go to OpenSM,
 * which may know newer facts.
 *
 * At a hand-over no request is lost.  Until the new master has set MasterSMLID in a
 * port's PortInfo, that port's host asks the old master.  The old master is standby by
 * then, and its OpenSM drops requests; so Triad there continues to answer for
 * TRIAD_QOS_AFTER_HAND_OVER_US, unless its process was paused, so that its snapshot may
 * be old.  The new master's OpenSM also drops requests during its whole first sweep.
 * So requests wait in its queue for the first snapshot; those that OpenSM must answer
 * wait in the slow queue for the end of the sweep.  No request waits longer than
 * TRIAD_QOS_WAIT_US.
 *
 * A request that names an end port which is held back (plugin/ports/hold.h) is answered
 * with no records, even while there is no snapshot and all other requests go to OpenSM.
 *
 * A queue has room for TRIAD_WORK_QUEUE_ROOM requests.  When it is full, a request is
 * counted and passed to OpenSM. But if there is a policy, which OpenSM does not have,
 * the request is dropped, and the requester asks again.
 *
 * Lock order: a queue's lock is held for the copy of TRIAD_WORK_QUEUE_BATCH jobs at
 * most; no lock is taken under it.  Memory: each thread has 1 MiB for records; the
 * answers' MADs are OpenSM's. */
#ifndef TRIAD_PLUGIN_QOS_SERVER_H
#define TRIAD_PLUGIN_QOS_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/export/sampler.h"
#include "plugin/qos/qos_snapshot.h"
#include "qos/clients.h"
#include "qos/latency.h"
#include "triad/clock.h"

struct osm_opensm;
struct triad_hold;
struct triad_qos_server;

/* The new master writes PortInfos only after it has discovered the whole fabric.  Until
 * then nothing changes that paths depend on. */
#define TRIAD_QOS_AFTER_HAND_OVER_US (30 * TRIAD_US_PER_S)
/* The time-out of IPoIB, and less than that of other clients. */
#define TRIAD_QOS_WAIT_US TRIAD_US_PER_S

struct triad_qos_server_status {
	bool installed;
	uint64_t n_received; /* received before OpenSM */
	uint64_t n_answered; /* by us, with records or none */
	uint64_t n_refused;  /* by us, with a status */
	/* Passed to OpenSM, by reason; or answered with no records, if the QoS level
	 * allows no path. */
	uint64_t n_fallbacks[TRIAD_N_FALLBACKS];
	uint64_t n_overflowed; /* there was no room in the queue */
	uint64_t n_slow;       /* answered under the SM's lock */
	uint64_t n_class_port_infos;
	uint64_t n_waited;      /* for the first snapshot of a new master */
	uint64_t n_handed_over; /* answered after this SM handed over */
	uint64_t n_held;        /* answered with no records because an end is held
				 * back */
	struct triad_latency_summary latency; /* from receiving to sending; not of
					       * the slow queue */
};

/* 'n_threads' of the fast queue, 1 to TRIAD_WORK_QUEUE_MAX_THREADS; 'sampler' picks
 * requests for sFlow; 'hold' has the ports that are held back; both outlive the server.
 * One server a process.  NULL: no memory or threads. */
struct triad_qos_server *triad_qos_server_new(struct osm_opensm *osm,
	unsigned n_threads, struct triad_sampler *sampler, struct triad_hold *hold);

/* Ends the threads and drops queued requests.  Call it after OpenSM unbound its SA, or
 * after the taker was removed. */
void triad_qos_server_free(struct triad_qos_server *server);

/* The snapshot for requests from now on; NULL: everything goes to OpenSM. */
void triad_qos_server_set_snapshot(
	struct triad_qos_server *server, struct triad_qos_snapshot *snapshot);

/* Sets whether there will be a snapshot once this SM is master and knows its routes:
 * then requests wait for it. */
void triad_qos_server_set_expects(struct triad_qos_server *server, bool expects);

/* Sets whether this process was paused, and no sweep as master has ended since.  Its
 * snapshot may then be old, so an SM that becomes standby stops answering at once. */
void triad_qos_server_set_paused(struct triad_qos_server *server, bool was_paused);

/* This SM is no longer the master: it answers requests from the snapshot for a limited
 * time. */
void triad_qos_server_hand_over(struct triad_qos_server *server);
/* Whether it still answers after a hand-over. */
bool triad_qos_server_answers_on(struct triad_qos_server *server);

/* Begins to take requests, as TRIAD_TAKER_PATHS (plugin/takers.h). */
int triad_qos_server_install(struct triad_qos_server *server);

/* Sets whether a heavy sweep counts as running: from its start until a snapshot is in
 * force whose fabric was copied after its end. */
void triad_qos_server_set_sweeping(struct triad_qos_server *server, bool sweeping);

/* True, once, when a request showed that the snapshot's aliases are outdated. */
bool triad_qos_server_take_outdated(struct triad_qos_server *server);

struct triad_qos_server_status triad_qos_server_status(struct triad_qos_server *server);

/* Who asked, since the start. */
const struct triad_clients *triad_qos_server_clients(struct triad_qos_server *server);

#endif
