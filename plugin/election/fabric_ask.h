/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks other SMs' ports over the fabric
 * (portmgr/election/fabric_watch.h), in a thread of its own.
 *
 * The thread triad-fabric sends SMPs by LID and waits for the answers.  It uses a
 * descriptor of its own, because in OpenSM's queue its SMPs would wait behind those of
 * a sweep.  It takes their LIDs, and the SMs that do not elect, from OpenSM's tables, and the master's LID from
 * the local port, because a standby's tables may be older.  If the local port is down
 * or absent, it tries again later.
 *
 * OpenSM's locks: osm->lock, shared, once a second; it tries, and never waits.
 *
 * Thread-safety: any thread; only triad_fabric_ask_free() waits for an answer. */
#ifndef TRIAD_PLUGIN_ELECTION_FABRIC_ASK_H
#define TRIAD_PLUGIN_ELECTION_FABRIC_ASK_H

#include "portmgr/election/fabric_watch.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_fabric_ask;

/* For display. */
struct triad_fabric_report {
	uint32_t period_ms; /* 0: nobody is asked */
	uint64_t n_asked, n_missed;
	uint32_t n_peers; /* those that elect, or did; others follow */
	uint32_t n_all;
	struct triad_fabric_peer peers[TRIAD_FABRIC_MAX_PEERS];
};

/* It asks nobody yet.  NULL when memory or threads are short. */
struct triad_fabric_ask *triad_fabric_ask_new(
	struct osm_opensm *osm, uint64_t port_guid, struct triad_log *log);
/* Returns false when the thread hangs in the driver: then it leaves the thread and the
 * memory that the thread can reach. */
bool triad_fabric_ask_free(struct triad_fabric_ask *ask);

/* Forgets all, and from now on asks every 'period_ms' (0: never).  'status_ms': how
 * often members send STATUS in the election. */
void triad_fabric_ask_begin(
	struct triad_fabric_ask *ask, uint32_t period_ms, uint32_t status_ms);

/* As triad_fabric_watch_members(). */
void triad_fabric_ask_members(struct triad_fabric_ask *ask,
	const struct triad_fabric_member *members, size_t n, uint64_t master);

/* Who is dead for certain at this moment. */
void triad_fabric_ask_dead(
	struct triad_fabric_ask *ask, struct triad_fabric_dead *dead);

/* What is known of the SM at that port; false: nothing is. */
bool triad_fabric_ask_peer(
	struct triad_fabric_ask *ask, uint64_t id, struct triad_fabric_peer *peer);

/* An SM that answers over the fabric as master; 0: none does. */
uint64_t triad_fabric_ask_master(struct triad_fabric_ask *ask);

void triad_fabric_ask_report(
	struct triad_fabric_ask *ask, struct triad_fabric_report *report);

#endif
