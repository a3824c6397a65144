/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Many agents and their manager in one process: the members, collectors and the
 * manager's engine are the real ones; the PMAs (pmas.h), the network and the clock are
 * simulated.
 *
 * Messages take GATHERING_DELAY_US, are lost at random, and don't pass between the
 * groups of a partitioned network.  Messages to a dead or paused agent are lost.  All
 * agents know the fabric: no message contains it.
 *
 * Counters begin at 0 and are never reset, so each total should equal the hardware's
 * counter.
 *
 * Ends the process when memory is short. */
#ifndef TRIAD_TESTS_SIM_GATHERING_H
#define TRIAD_TESTS_SIM_GATHERING_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/member.h"
#include "tests/sim/pmas.h"

#define GATHERING_MAX_AGENTS 200u
#define GATHERING_DELAY_US UINT64_C(5000)
#define GATHERING_STEP_US UINT64_C(25000)
#define GATHERING_NEVER UINT64_MAX

struct gathering_params {
	struct triad_fabric *fabric;
	unsigned n_agents; /* on hosts spread over it */
	uint64_t liveness_us, backoff_us, sweep_us;
	uint64_t seed;
};

struct gathering_peer {
	uint64_t id;
	struct triad_member *member; /* NULL: dead */
	struct triad_collector *collector;
	struct pma_client *client;
	struct triad_fabric *part; /* that the collector sweeps; NULL: none yet */
	uint64_t changes, incarnation;
	uint64_t master; /* id that it must report to; 0: the manager */
	bool is_paused;
	unsigned group;
};

struct gathering {
	struct gathering_params params;
	struct triad_member_settings settings;
	struct pmas *pmas;
	struct gathering_peer agents[GATHERING_MAX_AGENTS];
	struct gathering_peer manager; /* its collector is NULL */
	struct triad_engine *top;
	struct triad_view *top_view;
	struct triad_aggregator *aggregator;
	uint64_t now_us;
	unsigned lost_percent; /* of messages */
	/* counts */
	uint64_t broadcast_octets, up_octets, manager_cpu_us;
	struct letter *first, **last;
};

struct gathering *gathering_new(const struct gathering_params *params);
void gathering_free(struct gathering *g);

/* What agents report; see reporter.h. */
void gathering_configure(struct gathering *g, uint32_t min_change_kb, uint32_t refresh);

/* Makes it report to another agent; 'itself': to the manager. */
void gathering_set_master(struct gathering *g, unsigned agent, unsigned master);

void gathering_run(struct gathering *g, uint64_t for_us);
/* Runs until each node has one owner, by its owner's view and the manager's.  Returns
 * how long that took, or GATHERING_NEVER after 'limit_us'. */
uint64_t gathering_settle(struct gathering *g, uint64_t limit_us);
/* Each living agent sweeps its nodes once, at its own time within the period, and
 * reports them. */
void gathering_sweep(struct gathering *g);
/* The manager visits its rows, as it does once in a period. */
void gathering_look(struct gathering *g);

void gathering_kill(struct gathering *g, unsigned agent);
void gathering_start(struct gathering *g, unsigned agent);

/* Messages that members refused. */
uint64_t gathering_n_refused(const struct gathering *g);
/* Ports of which the manager has a reading. */
uint64_t gathering_n_read(const struct gathering *g);
/* Ports whose total at the manager differs from the hardware's counter. */
uint64_t gathering_count_wrong(const struct gathering *g, unsigned counter);
/* Ports whose total at the manager exceeds the hardware's counter. */
uint64_t gathering_count_over(const struct gathering *g, unsigned counter);

#endif
