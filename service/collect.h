/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Collects counters together with other processes: runs a member of the tree
 * (collect/member.h) in the PerfManager's thread, over a bus (collect/nats/bus.h).
 *
 * Model: [collect] mode selects what this process is.
 *
 *     local      no member runs
 *     agent      the PerfManager sweeps the nodes that this agent owns; the fabric is
 *                its own or a manager's; the member reports the results up the tree
 *     manager    the PerfManager sweeps nothing: agents' reports fill the rows, the
 *                reports of one period count as a sweep, and agents' findings raise
 *                alerts
 *
 * The PerfManager's thread runs the member between two steps of the collector.
 * Commands queue jobs for that thread, or read what it published.
 *
 * Thread-safety: any thread, for all but new, sink, stop and free.
 * Memory: that of member.h, aggregator.h and bus.h. */
#ifndef TRIAD_SERVICE_COLLECT_H
#define TRIAD_SERVICE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/kept_owners.h"
#include "collect/member.h"
#include "collect/nats/bus.h"
#include "perfmgr/watch/alerts.h"
#include "service/perf.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_collect;

/* An agent, as a manager or another agent sees it. */
enum triad_collect_agent_state {
	TRIAD_AGENT_ALIVE,
	TRIAD_AGENT_DRAINING,
	TRIAD_AGENT_SILENT,  /* alive, but no DATA for two of its sweeps */
	TRIAD_AGENT_FOREIGN, /* most of its reports are not about this fabric */
	TRIAD_AGENT_DEAD,
};

struct triad_collect_agent {
	uint64_t id;
	char name[TRIAD_COLLECT_NAME_SIZE];
	char address[TRIAD_COLLECT_NAME_SIZE];
	uint16_t port;
	enum triad_collect_agent_state state;
	bool is_self;
	uint32_t n_nodes, n_ports, n_silent;
	uint64_t master;      /* id; 0: a manager */
	uint64_t received_us; /* last message received from it */
	/* At a manager: the age of its last DATA; else as it reports. */
	uint64_t lag_ms;
	double octets_per_s;
};

struct triad_collect_status {
	unsigned mode; /* in force: enum triad_conf_collect */
	uint64_t id;
	struct triad_bus_status bus;
	struct triad_member_counts counts;
	struct triad_claims_counts claims;
	struct triad_reporter_counts reporter;     /* agents */
	struct triad_aggregator_status aggregator; /* managers */
	uint32_t n_agents, n_alive;                /* known; of these, not dead */
	uint32_t n_mute; /* of n_alive: silent or foreign, so their counters are old */
	uint32_t n_managers; /* that send messages, this one included */
	uint32_t n_nodes, n_owned, n_unowned;
	/* An agent: nodes that share no partition with it.  A manager: unowned nodes
	 * that share no partition with any agent. */
	uint32_t n_apart;
	uint64_t master;
	bool is_draining;
	bool has_given_topology; /* a manager sends the fabric */
	uint32_t n_peers;
	uint64_t peers[16]; /* ids of the agents that own neighbouring nodes */
};

/* NULL when memory is short.  Nothing runs before triad_perf_configure(). */
struct triad_collect *triad_collect_new(
	uint64_t port_guid, bool may_manage, struct triad_log *log);

/* A sink for alerts that passes them on to 'next', and up the tree. */
struct triad_alerts_sink triad_collect_sink(
	struct triad_collect *collect, const struct triad_alerts_sink *next);

/* What it sends and receives by; never NULL. */
struct triad_bus *triad_collect_bus(struct triad_collect *collect);

/* Installs its hooks in 'perf'. */
void triad_collect_join(struct triad_collect *collect, struct triad_perf *perf);

/* Releases all callers that wait; before triad_perf_stop(). */
void triad_collect_stop(struct triad_collect *collect);
/* After triad_perf_stop().  Accepts NULL. */
void triad_collect_free(struct triad_collect *collect);

struct triad_collect_status triad_collect_status(struct triad_collect *collect);

/* The '*n' agents, in the order of their names; the caller frees them.  NULL when there
 * are none, or memory is short. */
struct triad_collect_agent *triad_collect_agents(
	struct triad_collect *collect, unsigned *n);

/* The whole fabric that all agents collect from, with one reference.  NULL: none, or
 * mode local. */
struct triad_fabric *triad_collect_fabric(struct triad_collect *collect);

/* The owner of a node; 0: none.  Returns 0, ENOENT (no such node), ENODATA (mode local,
 * or no fabric), ETIMEDOUT or ECANCELED. */
int triad_collect_owner_of(struct triad_collect *collect, uint64_t node_guid,
	uint64_t *owner, uint8_t *hops);

/* The owner of each node of 'fabric', in its order, 0: none; the caller frees them.
 * NULL in mode local, and when memory is short or 'collect' stops. */
uint64_t *triad_collect_owners(
	struct triad_collect *collect, const struct triad_fabric *fabric);

/* All nodes of the fabric with their owners, sorted by GUID; the caller frees them.
 * Returns 0, ENODATA (mode local), ENOMEM, ETIMEDOUT or ECANCELED. */
int triad_collect_list_owners(
	struct triad_collect *collect, struct triad_kept_owner **owners, uint32_t *n);

/* Begins or ends the drain of this agent.  Returns 0, ENODATA (not an agent), ETIMEDOUT
 * or ECANCELED. */
int triad_collect_drain(struct triad_collect *collect, bool drain);

/* As triad_watch_histogram(), summed over all agents; '*n_agents' of '*n_asked'
 * answered.  'group' is the name of a group, for that scope.  Waits for two seconds at
 * most.  Returns also EBUSY (another caller asks), ETIMEDOUT, ECANCELED. */
int triad_collect_histogram(struct triad_collect *collect,
	const struct triad_histograms_scope *scope, const char *group, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros, uint32_t *n_agents,
	uint32_t *n_asked);
/* Whether histograms come from agents, by triad_collect_histogram(). */
bool triad_collect_is_manager(struct triad_collect *collect);

/* Clears the histograms of all agents. */
int triad_collect_clear_histograms(struct triad_collect *collect);

const char *triad_collect_agent_state_name(enum triad_collect_agent_state state);

#endif
