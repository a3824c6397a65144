/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the ports of the election's members over the fabric (portmgr/election/fabric_watch.h),
 * in a thread of its own.
 *
 * The thread triad-fabric sends SMPs by LID through a descriptor of its own, not through
 * OpenSM's queue, in which they would wait behind a sweep's, and it alone waits for
 * answers.  Where members are it takes from OpenSM's tables, and the master's LID from the
 * local port, which a standby's tables may be older than.  A port that is down or away is
 * tried again.
 *
 * Locks of OpenSM's: its own lock, shared and only tried, once a second.
 *
 * Thread-safety: any thread; nothing waits for an answer, but triad_fabric_ask_free(). */
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
	uint32_t n_peers;
	struct triad_fabric_peer peers[TRIAD_FABRIC_MAX_PEERS];
};

/* Nobody is asked yet.  NULL when memory or threads are short. */
struct triad_fabric_ask *triad_fabric_ask_new(
	struct osm_opensm *osm, uint64_t port_guid, struct triad_log *log);
/* False when the thread hangs in the driver: it is left, with what it can reach. */
bool triad_fabric_ask_free(struct triad_fabric_ask *ask);

/* Forgets all, and asks every 'period_ms' from now on (0: never).  'status_ms': how often
 * the election hears members. */
void triad_fabric_ask_begin(
	struct triad_fabric_ask *ask, uint32_t period_ms, uint32_t status_ms);

/* As triad_fabric_watch_members(). */
void triad_fabric_ask_members(struct triad_fabric_ask *ask,
	const struct triad_fabric_member *members, size_t n, uint64_t master);

/* Who is dead for certain at this moment. */
void triad_fabric_ask_dead(
	struct triad_fabric_ask *ask, struct triad_fabric_dead *dead);

/* The LID at which that SM last answered, within a few seconds; 0: it did not. */
uint16_t triad_fabric_ask_lid(struct triad_fabric_ask *ask, uint64_t id);

/* An SM that answers over the fabric as master; 0: none does. */
uint64_t triad_fabric_ask_master(struct triad_fabric_ask *ask);

void triad_fabric_ask_report(
	struct triad_fabric_ask *ask, struct triad_fabric_report *report);

#endif
