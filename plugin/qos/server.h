/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers the SA's requests for paths, in threads of our own.
 *
 * Model: the vendor's receiving thread gives each MAD to receive(), which puts requests
 * for paths into the fast queue and hands everything else on to OpenSM at once.  The
 * threads of that queue answer requests from the present snapshot, without any lock of
 * OpenSM's.  What they can't answer (answer.h: FALLBACK) they hand on to OpenSM, as if
 * it had just come, narrowed to what the QoS level allows; what needs the routing
 * engine's word on SLs goes to the slow queue, whose one thread takes the SM's lock for
 * it, shared, and may have to wait.
 *
 *     receive ──> fast queue ──> osm_vendor_send
 *        │             ├───> slow queue ──> osm_vendor_send
 *        └─────────────┴───> OpenSM's own callback, its dispatcher
 *
 * While a sweep runs, an end of a path is compared with what OpenSM has, if its lock is
 * free that moment; and whatever would be answered with "no" is left to OpenSM, which
 * may know better.
 *
 * At a hand-over no request is lost.  Until the new master has written its own LID into a
 * port's PortInfo, the port's host asks the old one, which is a standby by then, and whose
 * OpenSM drops requests: it goes on answering for TRIAD_QOS_AFTER_HAND_OVER_US, unless it was
 * stopped before: then what it knows is old.  The new
 * master's OpenSM drops requests, too, during its whole first sweep: there they wait for the
 * first snapshot, in the queue; and those that OpenSM has to answer wait for the sweep's end,
 * in the slow queue.  None waits longer than TRIAD_QOS_WAIT_US.
 *
 * Requests that name an end which is held back (plugin/ports/hold.h) find no records,
 * also while there is no snapshot and all others go to OpenSM.
 *
 * A queue has room for TRIAD_WORK_QUEUE_ROOM requests.  When it is full, a request is
 * counted and goes to OpenSM; with a policy, which OpenSM does not have, it is dropped,
 * and the requester asks again.
 *
 * Lock order: a queue's lock is held for the copy of one pointer, with nothing taken
 * under it.  Memory: each thread has 1 MiB for records; the answers' MADs are
 * OpenSM's. */
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

/* The new master writes PortInfos when it has discovered the whole fabric.  Until then nothing
 * of what paths follow from changes. */
#define TRIAD_QOS_AFTER_HAND_OVER_US (30 * TRIAD_US_PER_S)
/* The time-out of IPoIB, and less than that of other clients. */
#define TRIAD_QOS_WAIT_US TRIAD_US_PER_S

struct triad_qos_server_status {
	bool installed;
	uint64_t n_received; /* taken before OpenSM */
	uint64_t n_answered; /* by us, with records or none */
	uint64_t n_refused;  /* by us, with a status */
	/* To OpenSM, by reason; and with no records, where the QoS level leaves no path. */
	uint64_t n_fallbacks[TRIAD_N_FALLBACKS];
	uint64_t n_overflowed; /* there was no room in the queue */
	uint64_t n_slow;       /* answered under the SM's lock */
	uint64_t n_class_port_infos;
	uint64_t n_waited;      /* for the first snapshot of a new master */
	uint64_t n_handed_over; /* answered after this SM had handed over */
	uint64_t n_held;        /* found no records because an end is held back */
	struct triad_latency_summary latency; /* from receiving to sent, without slow */
};

/* 'n_threads' of the fast queue, 1 to TRIAD_WORK_QUEUE_MAX_THREADS; 'sampler' picks
 * requests for sFlow; 'hold' has ports that nobody may have a path to; both outlive it.
 * One server a process.  NULL: no memory or threads. */
struct triad_qos_server *triad_qos_server_new(struct osm_opensm *osm,
	unsigned n_threads, struct triad_sampler *sampler, struct triad_hold *hold);

/* Ends the threads; what is queued is dropped.  After OpenSM unbound its SA, or after
 * triad_qos_server_remove(). */
void triad_qos_server_free(struct triad_qos_server *server);

/* The snapshot for requests from now on; NULL: everything goes to OpenSM. */
void triad_qos_server_set_snapshot(
	struct triad_qos_server *server, struct triad_qos_snapshot *snapshot);

/* Whether there will be a snapshot once this SM is master and knows its routes: requests then
 * wait for it. */
void triad_qos_server_set_expects(struct triad_qos_server *server, bool expects);

/* Whether this process was stopped, and no sweep of this master has ended since: who hands over
 * then answers nobody any more. */
void triad_qos_server_set_paused(struct triad_qos_server *server, bool was_paused);

/* This SM is not the master any more: the snapshot serves who still asks it, for a while. */
void triad_qos_server_hand_over(struct triad_qos_server *server);
/* Whether that while lasts. */
bool triad_qos_server_answers_on(struct triad_qos_server *server);

/* Begins to take requests.  As triad_sa_hook_install(). */
int triad_qos_server_install(struct triad_qos_server *server);

/* Gives OpenSM back what it had. */
void triad_qos_server_remove(struct triad_qos_server *server);

/* A heavy sweep runs: from its start until a snapshot is in force whose fabric was
 * copied after its end. */
void triad_qos_server_set_sweeping(struct triad_qos_server *server, bool sweeping);

/* True, once, when a request showed that aliases are not those of the snapshot any
 * more. */
bool triad_qos_server_take_outdated(struct triad_qos_server *server);

bool triad_qos_server_is_installed(const struct triad_qos_server *server);

struct triad_qos_server_status triad_qos_server_status(struct triad_qos_server *server);

/* Who asked, since the start. */
const struct triad_clients *triad_qos_server_clients(struct triad_qos_server *server);

#endif
