/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of collect.h, for its own files alone:
 *
 *     collect.c         its life, and requests of other threads
 *     collect_run.c     the PerfManager's hooks: the member in its thread
 *     collect_fabric.c  the fabric, and the part of it that is swept here
 *     collect_status.c  what other threads read of it
 *     collect_report.c  findings, alerts, clearing: what the member sends and carries
 *                       out */
#ifndef TRIAD_SERVICE_COLLECT_PARTS_H
#define TRIAD_SERVICE_COLLECT_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "perfmgr/collector.h"
#include "service/collect.h"

/* A job for the PerfManager's thread, for a caller that waits. */
/* For how long an agent may be silent and is not dead: it says four times in this that it lives,
 * and a busy host, or a broker that is lost, costs it a second or two. */
#define COLLECT_LIVENESS_US (3 * TRIAD_US_PER_S)

struct triad_collect_job {
	void (*run)(struct triad_collect *collect, struct triad_collect_job *job);
	bool is_done;
	int error;
	/* request */
	uint64_t node_guid;
	const struct triad_fabric *fabric;
	bool drain;
	struct triad_gather_request request;
	/* answer */
	uint64_t owner;
	uint8_t hops;
	uint64_t *owners;                /* of the nodes of 'fabric' */
	struct triad_kept_owner *listed; /* of the nodes of the fabric in force */
	uint32_t n_listed;
};

/* A request for histograms, one at a time. */
struct triad_collect_asked {
	uint64_t request; /* 0: none */
	bool is_done;
	struct triad_gather gather;
};

struct triad_collect {
	uint64_t port_guid;
	bool may_manage;
	struct triad_log *log;
	struct triad_perf *perf;
	struct triad_collector *collector;
	struct triad_bus *bus;
	struct triad_alerts_sink next_sink;
	_Atomic(unsigned) mode; /* in force: enum triad_conf_collect */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t answered;
	bool is_stopped;
	struct triad_collect_job *job;
	struct triad_collect_asked asked;
	struct triad_collect_status status;
	struct triad_fabric *shown_fabric; /* NULL: none */
	struct triad_collect_agent *agents;
	unsigned n_agents;

	/* For the PerfManager's thread alone. */
	const struct triad_conf *conf; /* in force in that thread; NULL: none yet */
	/* Conf's collect.mode; local after memory was short. */
	unsigned configured_mode;
	struct triad_aggregator *aggregator;
	struct triad_member *member;         /* NULL: nothing runs */
	struct triad_fabric *own_fabric;     /* this process's own; NULL: none */
	struct triad_fabric *topology;       /* from a manager; NULL: none */
	uint64_t topology_hash, topology_us; /* last message of a manager */
	struct triad_fabric *fabric;         /* in force */
	struct triad_view *view;             /* of 'aggregator' */
	uint64_t n_changes; /* triad_claims_changes() at the last part */
	uint64_t part_us;   /* when the last part was made */
	bool is_part_due;
	uint64_t pkeys_us;       /* when our port's P_Keys were read */
	uint32_t n_apart_logged; /* 'n_apart' of the last log line */
	uint32_t n_apart;        /* a manager: nodes apart from all agents, */
	uint64_t apart_us;       /* and since when there are so many */
	uint64_t n_sweeps;       /* of the collector, that are reported */
	uint64_t round_us, published_us, looked_us;
	uint64_t n_requests;
	/* Claims refused so far; when this series of refusals began; when the last look
	 * found new ones; when they were logged.  Times: 0: never. */
	uint64_t n_refused, refused_since_us, refused_us, refused_logged_us;
	/* Messages of other releases so far; when they were logged. */
	uint64_t n_other_version, other_logged_us;
	bool is_cut_off, is_unseen_logged, is_alert_due;
};

/* --- collect_report.c --- */

/* A sweep of the collector has ended. */
void triad_collect_report_sweep(
	struct triad_collect *collect, const struct triad_collector_status *status);
/* See struct triad_member_sink. */
int triad_collect_give_histogram(void *context,
	const struct triad_gather_request *request, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros);
void triad_collect_do_clear(void *context, const struct triad_collect_clear *clear);
void triad_collect_take_trap(void *context, const struct triad_collect_trap *trap);
/* See struct triad_aggregator_sink. */
void triad_collect_take_row(
	void *context, uint32_t port, uint32_t causes, uint64_t n_downs);
/* A manager: sets totals to 0 in its own rows and at all agents. */
void triad_collect_reset_all(
	struct triad_collect *collect, const struct triad_selection *selection);

/* --- collect_status.c --- */

/* Publishes what other threads read. */
void triad_collect_publish(struct triad_collect *collect, uint64_t now_us);

/* --- collect_fabric.c --- */

/* Collects from 'fabric' from now on; 'hash' is that of a manager's fabric, or 0. */
void triad_collect_put_fabric(
	struct triad_collect *collect, struct triad_fabric *fabric, uint64_t hash);
/* See struct triad_member_sink, and struct triad_perf_hooks. */
void triad_collect_take_topology(
	void *context, struct triad_fabric *fabric, uint64_t hash);
bool triad_collect_take_fabric(void *context, struct triad_fabric *fabric);
/* An agent: checks every 10 s whether its port's P_Keys have changed. */
void triad_collect_look_at_pkeys(struct triad_collect *collect, uint64_t now_us);
/* Whether a manager's fabric is in use and has not expired. */
bool triad_collect_is_handed(const struct triad_collect *collect, uint64_t now_us);
/* Returns to the own fabric when the manager's has expired. */
void triad_collect_check_topology(struct triad_collect *collect, uint64_t now_us);
/* Gives the collector the nodes that this agent owns, when these have changed.  Returns
 * when to call it again. */
uint64_t triad_collect_look_at_part(struct triad_collect *collect, uint64_t now_us);

/* --- collect_run.c --- */

/* Sends an agent's LEAVE, and frees the member, if there is one. */
void triad_collect_end_member(struct triad_collect *collect);

struct triad_perf_hooks triad_collect_hooks(struct triad_collect *collect);

#endif
