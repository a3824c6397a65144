/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The elector: runs the election (portmgr/election) in the plugin, and makes OpenSM
 * follow it.
 *
 * Threads: triad-election runs the machine.  It takes input from other threads (views
 * and payloads of the transport, events of OpenSM, operators' commands), reads the SM's
 * state and the last known health of local ports, carries out the machine's actions,
 * and sleeps until its next deadline.  Threads of their own run the transport, the
 * calls into OpenSM (sm_control.h), the reading of the ports' state (health_watch.h)
 * and the queries over the fabric (fabric_ask.h).  So neither a stopped Corosync, nor a
 * long sweep, nor a slow HCA delays the election.  A step waits only for files: the
 * state, the trace and the log.  The elector counts and logs steps that begin late.
 *
 * The caller's thread judges the permission to enforce, from a copy of the facts and
 * the present time.  So permission ends in time even if triad-election sleeps, or hangs
 * in a write.
 *
 * Time is CLOCK_BOOTTIME, so a lease also runs out while the machine is suspended.  It
 * does not run out while a hypervisor has stopped the machine, which no clock of the
 * machine shows.
 *
 * Locks: a step holds 'lock' of the elector, also while it writes the state to disk.
 * Callers that change something wait for that; the status is what the last step
 * published.  'facts_lock' and 'inbox_lock' are held for a copy.  No lock is held while
 * OpenSM is called. */
#ifndef TRIAD_PLUGIN_ELECTION_ELECTOR_H
#define TRIAD_PLUGIN_ELECTION_ELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/election/fabric_ask.h"
#include "plugin/election/sm_control.h"
#include "portmgr/election/election.h"
#include "triad/conf.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_elector;

struct triad_elector_status {
	bool is_on;
	const char *cluster; /* "corosync", "peers", "fabric", "none" */
	char trouble[512];   /* of state file or transport; empty: none */
	uint64_t id;
	uint64_t now_us;
	struct triad_election_status election;
	struct triad_permission_facts facts;
	struct triad_permission permission;
	struct triad_cluster_status transport;
	struct triad_sm_control_status sm;
	struct triad_fabric_report fabric;
	bool leads_part;    /* master of its part of a divided fabric (divided.h) */
	uint32_t n_cut_off; /* members that it reaches over the fabric only */
	uint32_t keepalive_ms;
	enum triad_check check;
	uint64_t check_age_us; /* of the last answer; UINT64_MAX: none */
	uint64_t generation, hash;
	uint32_t lease_ms; /* of this SM */
	uint32_t n_ports;
	uint32_t n_good;      /* damped, as the election counts them */
	uint32_t n_up;        /* good when they were read last */
	uint64_t absent_port; /* a port of election.ports that does not exist; 0:
			       * none */
	uint8_t preference;
	uint64_t n_dropped; /* payloads that found the queue full */
	uint64_t n_store_failed;
	uint64_t n_late; /* steps that began at least half a lease late */
	uint64_t longest_late_us;
};

/* NULL when memory or threads are short.  What it is given outlives it. */
struct triad_elector *triad_elector_new(
	struct osm_opensm *osm, uint64_t port_guid, struct triad_log *log);
/* Returns false when a thread hangs, in a write or in Corosync's libraries: then it
 * leaves the thread and the memory that the thread can reach. */
bool triad_elector_free(struct triad_elector *elector);

/* Applies the keys of [election].  Any thread, one at a time. */
void triad_elector_configure(
	struct triad_elector *elector, const struct triad_conf *conf);

/* From report(): never blocks. */
void triad_elector_note_up(struct triad_elector *elector);

/* Whether this SM may enforce now; any thread. */
struct triad_permission triad_elector_permission(struct triad_elector *elector);
struct triad_permission triad_elector_permission_in_term(
	struct triad_elector *elector, uint64_t term);
/* Why this SM may enforce nothing; NULL: it has permission, or there are no elections, and the
 * master alone has a say.  Any thread. */
const char *triad_elector_forbids(struct triad_elector *elector);

void triad_elector_status(
	struct triad_elector *elector, struct triad_elector_status *status);

/* Whether the election receives messages of a peer of 'status->fabric'. */
bool triad_elector_hears(const struct triad_elector_status *status,
	const struct triad_fabric_peer *peer);

/* Sets which expected configuration is in force here; 0: none.  Any thread. */
void triad_elector_set_config(
	struct triad_elector *elector, uint64_t generation, uint64_t hash);

/* Other users of the transport.  The transport's thread passes views, and payloads that
 * begin with the listener's magic, to the listener's 'sink', which is copied.  NULL
 * removes the listener; after the return its functions are no longer running. */
enum triad_elector_listener {
	TRIAD_ELECTOR_PORTS,  /* "TrPm" */
	TRIAD_ELECTOR_IMAGES, /* "TrHi" */
	TRIAD_ELECTOR_SA,     /* "TrSa" */
	TRIAD_ELECTOR_DAMP,   /* "TrDm" */
	TRIAD_ELECTOR_N_LISTENERS
};
void triad_elector_set_listener(struct triad_elector *elector,
	enum triad_elector_listener listener, const struct triad_cluster_sink *sink);

/* Sends to all members.  Returns as the transport's send; ENOTCONN when elections are
 * off. */
int triad_elector_send(struct triad_elector *elector, const void *payload, size_t size);
/* Sends what can wait.  Returns EAGAIN while SMs elect, while the queue is not empty,
 * or while the election's thread works.  Never waits. */
int triad_elector_send_spare(
	struct triad_elector *elector, const void *payload, size_t size);

/* Operators' commands; ENOTCONN when elections are off. */
int triad_elector_blacklist(struct triad_elector *elector, uint64_t id, bool is_listed);
int triad_elector_confirm(struct triad_elector *elector);
int triad_elector_verdict(struct triad_elector *elector, bool is_yes);

#endif
