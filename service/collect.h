/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Collecting together with others: a member of the tree (collect/member.h) in the
 * PerfManager's thread, over NATS (collect/nats/bus.h).
 *
 * Model: [collect] mode says what this one is.
 *
 *     local      nothing here runs
 *     agent      of the fabric that is known, or that a manager hands down, the
 *                PerfManager sweeps the nodes that are owned; what it finds goes up
 *     manager    the PerfManager sweeps nothing: rows are what agents tell, rounds of
 *                theirs count as sweeps, and alerts are raised on their word
 *
 * The machine is turned by the PerfManager's thread, between two turns of the
 * collector.  Commands leave jobs for that thread, or read what it published.
 *
 * Thread-safety: any thread, for all but new, sink, stop and free.
 * Memory: that of member.h, aggregator.h and bus.h. */
#ifndef TRIAD_SERVICE_COLLECT_H
#define TRIAD_SERVICE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/member.h"
#include "collect/nats/bus.h"
#include "perfmgr/watch/alerts.h"
#include "service/perf.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_collect;

/* What a manager knows of an agent, and agents of each other. */
enum triad_collect_agent_state {
	TRIAD_AGENT_ALIVE,
	TRIAD_AGENT_DRAINING,
	TRIAD_AGENT_SILENT,  /* heard, but no DATA for two of its sweeps */
	TRIAD_AGENT_FOREIGN, /* most of what it tells of is not in this fabric */
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
	uint64_t master; /* id; 0: a manager */
	uint64_t heard_us;
	uint64_t lag_ms; /* a manager: the age of its last DATA; else as it says */
	double octets_per_s;
};

struct triad_collect_status {
	unsigned mode; /* enum triad_conf_collect, as far as it is in force */
	uint64_t id;
	struct triad_bus_status bus;
	struct triad_member_counts counts;
	struct triad_claims_counts claims;
	struct triad_reporter_counts reporter;     /* agents */
	struct triad_aggregator_status aggregator; /* managers */
	uint32_t n_agents, n_alive;                /* known; of these */
	uint32_t n_managers;                       /* heard, this one included */
	uint32_t n_nodes, n_owned, n_unowned;
	/* Nodes that share no partition with this agent; at a manager those of
	 * 'n_unowned' that share none with any. */
	uint32_t n_apart;
	uint64_t master;
	bool is_draining;
	bool has_given_topology; /* the fabric is one that a manager handed down */
	uint32_t n_peers;
	uint64_t peers[16]; /* ids, of those on the perimeter */
};

/* NULL when memory is short.  Nothing runs before triad_perf_configure(). */
struct triad_collect *triad_collect_new(
	uint64_t port_guid, bool may_manage, struct triad_log *log);

/* What alerts are to be given to: they go on to 'next', and up the tree. */
struct triad_alerts_sink triad_collect_sink(
	struct triad_collect *collect, const struct triad_alerts_sink *next);

/* Installs its hooks in 'perf'. */
void triad_collect_join(struct triad_collect *collect, struct triad_perf *perf);

/* Lets those go who wait; before triad_perf_stop(). */
void triad_collect_stop(struct triad_collect *collect);
/* After triad_perf_stop().  Accepts NULL. */
void triad_collect_free(struct triad_collect *collect);

struct triad_collect_status triad_collect_status(struct triad_collect *collect);

/* Agents, in the order of their names; to be freed.  '*n' is how many.  NULL when there
 * are none, or memory is short. */
struct triad_collect_agent *triad_collect_agents(
	struct triad_collect *collect, unsigned *n);

/* The fabric that is collected from, all of it, at an agent too; one reference.  NULL:
 * none. */
struct triad_fabric *triad_collect_fabric(struct triad_collect *collect);

/* Who owns the node; 0: nobody.  Returns 0, ENOENT (no such node), ENODATA (nothing is
 * collected together) or ECANCELED. */
int triad_collect_owner(struct triad_collect *collect, uint64_t node_guid,
	uint64_t *owner, uint8_t *hops);

/* Gives all nodes away, or takes some again.  Returns 0, ENODATA or ECANCELED. */
int triad_collect_drain(struct triad_collect *collect, bool drain);

/* As triad_watch_histogram(), over all agents; '*n_agents' of '*n_asked' have answered.
 * 'group' is the name of a group, for that scope.  Waits for two seconds at most.
 * Returns also EBUSY, ETIMEDOUT, ECANCELED. */
int triad_collect_histogram(struct triad_collect *collect,
	const struct triad_histograms_scope *scope, const char *group, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros, uint32_t *n_agents,
	uint32_t *n_asked);
/* Whether histograms are to be asked for so. */
bool triad_collect_is_manager(struct triad_collect *collect);

/* Has all agents forget their histograms. */
int triad_collect_clear_histograms(struct triad_collect *collect);

const char *triad_collect_agent_state_name(enum triad_collect_agent_state state);

#endif
