/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Many agents and their manager in one process: the members, collectors and the
 * manager's engine are the real ones; the PMAs (pmas.h), the network and the clock are
 * simulated.
 *
 * Messages take GATHERING_DELAY_US, are lost by dice, and don't pass between the groups
 * of a parted network; what comes to an agent that is dead or paused is lost.  The
 * fabric is known to all: it is not handed down.
 *
 * Counters begin at 0 and are never reset, so that a total, wherever it is, should be
 * what the hardware says.
 *
 * Memory that is short ends the process. */
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
	uint64_t master; /* id that it is told to report to; 0: the manager */
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
	/* what was seen */
	uint64_t broadcast_octets, up_octets, manager_cpu_us;
	struct letter *first, **last;
};

struct gathering *gathering_new(const struct gathering_params *params);
void gathering_free(struct gathering *g);

/* What agents tell; see reporter.h. */
void gathering_configure(struct gathering *g, uint32_t min_change_kb, uint32_t refresh);

/* Has it report to another agent; itself: to the manager. */
void gathering_set_master(struct gathering *g, unsigned agent, unsigned master);

void gathering_run(struct gathering *g, uint64_t for_us);
/* Until every node has one owner, in the eyes of its owner and of the manager; returns
 * how long it took, or GATHERING_NEVER after 'limit_us'. */
uint64_t gathering_settle(struct gathering *g, uint64_t limit_us);
/* Each agent that is alive sweeps what it owns, once, at a time of its own within the
 * period, and tells of it. */
void gathering_sweep(struct gathering *g);
/* The manager goes through its rows, as it does once in a period. */
void gathering_look(struct gathering *g);

void gathering_kill(struct gathering *g, unsigned agent);
void gathering_start(struct gathering *g, unsigned agent);

/* Words that members refused. */
uint64_t gathering_n_refused(const struct gathering *g);
/* Ports of which the top has a reading. */
uint64_t gathering_n_read(const struct gathering *g);
/* Ports whose total at the top is not what the hardware says. */
uint64_t gathering_count_wrong(const struct gathering *g, unsigned counter);
/* Ports whose total at the top is more than that. */
uint64_t gathering_count_over(const struct gathering *g, unsigned counter);

#endif
