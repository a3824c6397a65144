/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the election reaches the other SMs: one interface, four transports.
 *
 * Model: a transport has members, each identified by the GUID of its SM's port, and
 * carries small payloads from one to all.  It reports its members (a view) and delivers
 * payloads in order, the sender's own included.  It does not look into payloads.
 *
 *     corosync   a process group of Corosync's: the same order for everybody,
 *                membership from the cluster
 *     peers      datagrams between addresses that the configuration lists, each
 *                authenticated; members are those received recently
 *     fabric     the same, as MADs from SM's port to SM's port
 *     none       this SM alone
 *
 * Rules that the election builds on:
 * - A payload is delivered to its own sender only after it was sent: with Corosync when it
 *   came back in the agreed order, with peers when the kernel accepted it.
 * - Payloads of one sender are delivered in the order in which they were sent, each at
 *   most once.
 * - One thread delivers views and payloads, one after the other.
 * - The transport delivers a view when it starts, and whenever something in it changes; its
 *   number grows.
 *
 * Thread-safety: send and status from any thread; they never block.  The transport has
 * a thread of its own; a stopped Corosync blocks only that thread.
 * Memory: a payload is borrowed for the call. */
#ifndef TRIAD_PORTMGR_CLUSTER_H
#define TRIAD_PORTMGR_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/log.h"

#define TRIAD_CLUSTER_MAX_MEMBERS 32u
#define TRIAD_CLUSTER_PAYLOAD_SIZE 1024u /* octets, at most */

/* The members at one time. */
struct triad_cluster_view {
	uint64_t number; /* grows with each view of this transport */
	/* False: the transport does not work (no Corosync, no socket); then the view
	 * has this member alone and no quorum. */
	bool is_connected;
	/* A majority of the configured voters is on this side. */
	bool is_quorate;
	/* Includes this member. 0 is a member whose id is not known yet; it counts,
	 * too. */
	uint32_t n_members;
	uint64_t members[TRIAD_CLUSTER_MAX_MEMBERS];
	/* The votes that make a majority of the configured voters, one vote a member.
	 * A view only says who can be reached, so this is the same in every view: any
	 * two majorities have a member in common.  More only while more members are
	 * here than are configured.  0: the number of voters is not known yet. */
	uint32_t n_votes_needed;
};

/* The votes that make a majority of 'n_voters'; 0 of 0. */
static inline uint32_t triad_cluster_majority(uint32_t n_voters)
{
	return n_voters ? n_voters / 2 + 1 : 0;
}

/* The transport's output, called from its thread. */
struct triad_cluster_sink {
	void *context;
	void (*view)(void *context, const struct triad_cluster_view *view);
	void (*message)(
		void *context, uint64_t sender, const void *payload, size_t size);
};

/* Counters and the present trouble, for 'status' and metrics. */
struct triad_cluster_status {
	uint64_t n_sent, n_received;
	uint64_t n_send_failed; /* not taken: queue full, or no connection */
	uint64_t n_forged;      /* authentication failed */
	uint64_t n_replayed;    /* authentic, but old: of an earlier sequence or
				 * session */
	/* Truncated, oversize, another magic; a part is missing. */
	uint64_t n_malformed;
	uint64_t n_versions;        /* of an unknown version */
	uint64_t n_unknown_senders; /* from an address that is not configured */
	uint64_t n_reconnects;
	char trouble[160]; /* what is wrong now, and what to do; empty: nothing */
};

struct triad_cluster;

struct triad_cluster_ops {
	const char *name; /* "corosync", "peers", "fabric", "none" */
	/* Queues a payload for all.  Returns 0, EMSGSIZE, ENOTCONN or ENOBUFS. */
	int (*send)(struct triad_cluster *cluster, const void *payload, size_t size);
	/* The same for payloads that can wait: returns EAGAIN when others are in the
	 * queue. */
	int (*send_spare)(
		struct triad_cluster *cluster, const void *payload, size_t size);
	void (*status)(
		struct triad_cluster *cluster, struct triad_cluster_status *status);
	/* Ends the thread and frees all.  If the thread hangs in a call for more than
	 * half a second, it leaves the thread and its memory, and returns false. */
	bool (*free)(struct triad_cluster *cluster);
};

/* Every transport's structure begins with this. */
struct triad_cluster {
	const struct triad_cluster_ops *ops;
};

/* Each returns NULL when memory or threads are short.  'status' reports other trouble;
 * it ends without a restart when its cause ends. */

/* Joins Corosync's process group 'group' (at most 100 characters).  'n_voters': how many
 * SMs the group has by configuration; 0: as many as Corosync expects votes. */
struct triad_cluster *triad_cluster_corosync_new(uint64_t id, const char *group,
	uint32_t n_voters, const struct triad_cluster_sink *sink,
	struct triad_log *log);

/* Datagrams over a carrier (carrier.h), which the transport frees.  'peers' has the
 * addresses of all members, this one included, and 'own' is this one's.  Both are in
 * the carrier's form: "HOST:PORT; ..." (numeric), or GUIDs of ports.  'key_file' has
 * the key.  A peer is a member for 'silence_ms' after its last datagram. */
struct triad_cluster_peers_conf {
	uint64_t id;
	const char *own;
	const char *peers;
	const char *key_file;
	uint32_t keepalive_ms; /* send at least this often */
	uint32_t silence_ms;
};
struct triad_carrier;
struct triad_cluster *triad_cluster_peers_new(
	const struct triad_cluster_peers_conf *conf, struct triad_carrier *carrier,
	const struct triad_cluster_sink *sink, struct triad_log *log);

/* A cluster of one, which always has a majority. */
struct triad_cluster *triad_cluster_alone_new(
	uint64_t id, const struct triad_cluster_sink *sink);

#endif
