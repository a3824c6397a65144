/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A member of a group that collects counters together: an agent, or a manager at the
 * top of the tree.
 *
 * Model: the machine combines who owns which node (claims.h), which members exist
 * (peers.h), reports up the tree (reporter.h), reports from below (aggregator.h in a
 * manager; relayed by agents), histograms on their way up (gather.h) and the fabric
 * that a manager sends down (topology_message.h). Octets come in and octets go out; its
 * owner carries them.  Messages go to
 *
 *     ALL        every agent and manager; the sender ignores its own
 *     ONE        the agent or manager with an id
 *     MANAGERS   all managers
 *
 * The tree: an agent's master is the agent that its configuration names, or a manager.
 * While the master is silent, the master's own master takes its place, up to a manager.
 * Where masters name each other in a circle, the one with the lowest id reports to a
 * manager; messages that circle before they know this go to the managers after a while.
 *
 * A manager's id is the complement of its port's GUID, so that an agent may run beside
 * it on the same port.  All managers receive all reports; agents take the fabric from
 * the manager with the lowest id.
 *
 * Authority: the carrier names the sender of a message, not the octets: a broker can
 * bind that name to whom it has authenticated.  Messages in another's name are refused.
 * So are messages that the sender has no right to send: only managers send the fabric;
 * only managers and one's master request histograms or clear totals; and only members
 * on the sender's way up relay its reports, by the masters that the sender and those
 * between them named last.  So an agent announces a change of master before it sends
 * anything there, and a former master may relay for a while.  If the announcement was
 * lost, the manager requests again what it refused.
 *
 * Thread-safety: none; the thread of its owner's engine. Memory: that of the parts, and
 * TRIAD_MEMBER_MAX_GATHERS requests for histograms.
 * Source: [monitoring-rfc: Agent behavior], rows M9-M18, A13.4. */
#ifndef TRIAD_COLLECT_MEMBER_H
#define TRIAD_COLLECT_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/claims.h"
#include "collect/reporter.h"
#include "collect/detail_reporter.h"
#include "collect/gather.h"
#include "collect/aggregator.h"
#include "collect/peers.h"
#include "triad/fabric.h"

#define TRIAD_MEMBER_MAX_GATHERS 8u
#define TRIAD_MEMBER_MANAGERS 0 /* as a master: the managers */

struct triad_member;

enum triad_member_to {
	TRIAD_MEMBER_TO_ALL,
	TRIAD_MEMBER_TO_ONE,
	TRIAD_MEMBER_TO_MANAGERS,
};

/* The sender of a message, as the carrier knows it. */
struct triad_member_sender {
	uint64_t id;
	bool is_manager;
};

struct triad_member_sink {
	void *context;
	void (*send)(void *context, enum triad_member_to to, uint64_t id,
		const uint8_t *octets, size_t size);
	/* Agents: copy an own histogram, as triad_watch_histogram(). */
	int (*histogram)(void *context, const struct triad_gather_request *request,
		unsigned counter, struct triad_histogram *copy, uint64_t *n_zeros);
	/* Agents: clear totals, histograms or hardware counters. */
	void (*clear)(void *context, const struct triad_collect_clear *clear);
	/* Agents: a manager sent this fabric; the callback references it to keep it.
	 * It takes effect with triad_member_set_fabric().  NULL: it does not need one,
	 * and requests none. */
	void (*fabric)(void *context, struct triad_fabric *fabric, uint64_t hash);
	/* Managers. */
	void (*trap)(void *context, const struct triad_collect_trap *trap);
};

struct triad_member_params {
	uint64_t id;
	uint64_t incarnation;
	uint64_t port_guid; /* of the port that it reads from */
	bool is_manager;
	char name[TRIAD_COLLECT_NAME_SIZE];
	char address[TRIAD_COLLECT_NAME_SIZE];
	uint16_t port;
	uint32_t max_nodes; /* that an agent owns; 0: any number */
	uint64_t seed;
};

/* May change at any time. */
struct triad_member_settings {
	char master[TRIAD_COLLECT_NAME_SIZE]; /* name or GUID of an agent; "":
	                                          manager */
	struct triad_reporter_params reporter;
	uint32_t sweep_ms;
};

struct triad_member_counts {
	uint64_t n_received, n_sent;
	uint64_t octets_received, octets_sent;
	uint64_t n_foreign;       /* not a message of ours, or malformed */
	uint64_t n_other_version; /* of another version of Triad */
	uint64_t other;           /* the sender of the last of them, */
	unsigned other_version;   /* and its version; ours: a kind that is not known */
	uint64_t n_relayed;
	uint64_t n_traps;         /* sent, or received by a manager */
	uint64_t n_traps_refused; /* about nodes that another agent owns */
	uint64_t n_duplicate_ids; /* messages of another sender with its own id */
	uint64_t n_refused; /* in another's name, or beyond the sender's authority */
	uint64_t refused;   /* the sender of the last of them */
};

/* 'aggregator' is a manager's, NULL for agents.  'params' and 'sink' are copied.  NULL
 * when memory is short. */
struct triad_member *triad_member_new(const struct triad_member_params *params,
	const struct triad_member_sink *sink, struct triad_aggregator *aggregator,
	uint64_t liveness_us, uint64_t backoff_us);
void triad_member_free(struct triad_member *member);
void triad_member_configure(
	struct triad_member *member, const struct triad_member_settings *settings);

/* Sets the P_Keys of the port that an agent reads from, in force from the next
 * triad_member_set_fabric() on. A node that shares no partition with the port counts as
 * unreachable, so that another agent claims it.  No P_Keys: unknown, every node counts
 * as reachable.  At most TRIAD_PKEYS_MAX. Returns whether they changed. */
bool triad_member_set_pkeys(
	struct triad_member *member, const uint16_t *pkeys, uint32_t n);

/* Sets the fabric, referenced; 'hash' is that of a fabric from a manager, or 0.  A
 * manager sends it to agents that lack it.  Returns 0; or ENOMEM, and the last one
 * stays. */
int triad_member_set_fabric(struct triad_member *member, struct triad_fabric *fabric,
	uint64_t hash, uint64_t now_us);

void triad_member_receive(struct triad_member *member,
	const struct triad_member_sender *sender, uint8_t *octets, size_t size,
	uint64_t now_us);
/* Does what is due; returns when to call it again at the latest. */
uint64_t triad_member_step(struct triad_member *member, uint64_t now_us);

/* While cut off, no message can arrive or leave: no peer counts as dead, nothing is
 * claimed, and owned nodes stay owned. */
void triad_member_cut_off(
	struct triad_member *member, bool is_cut_off, uint64_t now_us);

void triad_member_drain(struct triad_member *member, bool drain, uint64_t now_us);
/* Announces the end of this member. */
void triad_member_leave(struct triad_member *member, uint64_t now_us);

/* --- agents --- */

/* Reports a sweep that ended. */
void triad_member_send_sweep(struct triad_member *member, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint32_t lag_ms, uint64_t now_us);
void triad_member_send_trap(struct triad_member *member,
	const struct triad_collect_trap *trap, uint64_t now_us);
/* Whether it owns the node (index in its fabric). */
bool triad_member_owns(const struct triad_member *member, uint32_t node);
/* The member that it reports to: an agent's id, or TRIAD_MEMBER_MANAGERS. */
uint64_t triad_member_master(const struct triad_member *member, uint64_t now_us);
/* Nodes that share no partition with its port. */
uint32_t triad_member_n_apart(const struct triad_member *member);
/* Ids of agents that own nodes next to its own, at most 'most'.  Returns how many there
 * are. */
unsigned triad_member_neighbours(
	const struct triad_member *member, uint64_t *ids, unsigned most);

/* --- managers --- */

/* Requests histograms.  'done' is called once, from triad_member_receive() or _step(),
 * when all have answered or 'wait_us' is over. Returns 0, EBUSY (too many requests at a
 * time) or ENOMEM. */
int triad_member_ask_histograms(struct triad_member *member,
	const struct triad_gather_request *request, uint64_t wait_us, uint64_t now_us,
	void (*done)(void *context, struct triad_gather *gather), void *context);
/* Sends a request to clear down the tree. */
void triad_member_clear(struct triad_member *member,
	const struct triad_collect_clear *clear, uint64_t now_us);

/* Nodes without an owner that, by the fabric's P_Keys, share no partition with any
 * living agent. */
uint32_t triad_member_n_apart_from_all(const struct triad_member *member);

/* Requests the DATA of 'agent' from 'number' on again. */
void triad_member_ask_again(
	struct triad_member *member, uint64_t agent, uint32_t number);

/* --- state --- */

/* The head of a message of its own. */
struct triad_collect_head triad_member_head(
	const struct triad_member *member, enum triad_collect_kind kind);

struct triad_claims *triad_member_claims(struct triad_member *member);
const struct triad_peers *triad_member_peers(const struct triad_member *member);
/* Whether a message of it came within the liveness time. */
bool triad_member_is_received(
	const struct triad_member *member, uint64_t id, uint64_t now_us);
uint64_t triad_member_topology(const struct triad_member *member);
struct triad_member_counts triad_member_counts(const struct triad_member *member);
struct triad_reporter_counts triad_member_reporter_counts(
	const struct triad_member *member);

#endif
