/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Questions to ports besides their counters: detail attributes (ib/detail.h), and
 * PortXmitWait if only that has changed.
 *
 * Model: details that explain a total are read when that total has changed, in the same
 * sweep.  All details are also read in rounds: a round of a kind covers all ports in its
 * period, some in each sweep.  It advances in large steps, so that the ports of one sweep
 * are on different switches.
 *
 * All rounds together may add a share to the queries of a sweep.  If that is too little for
 * their periods, they alternate and last longer.  So their cost is bounded in any fabric.
 *
 * Some agents refuse an attribute that they do not have, others do not answer at all.  So
 * an attribute that an agent has never answered is first tried at one port, once; its other
 * ports wait for the result.  If the agent refuses it, or twice does not answer although it
 * answers other questions, it is not asked for it again until it was completely silent:
 * then it may be another device.
 *
 * Internal to the scheduler; thread-safety: none. */
#ifndef TRIAD_PERFMGR_ROUNDS_H
#define TRIAD_PERFMGR_ROUNDS_H

#include "perfmgr/sweep/sweep_agents.h"

struct triad_rounds {
	uint32_t n_ports, stride; /* of the fabric; steps of 'stride' reach each port */
	uint32_t at[TRIAD_N_ROUNDS];
	double want[TRIAD_N_ROUNDS]; /* ports still to ask */
	double credit;               /* queries that may be added; below 0: overdrawn */
	uint64_t n_asked;            /* queries added to the present sweep */
};

/* Call it at the start of a sweep of all ports, after triad_plan_begin().  'n_sent': the
 * number of queries in the last sweep. */
void triad_rounds_begin(struct triad_rounds *rounds, struct triad_sweep_agents *agents,
	uint64_t n_sent);

/* Adds questions for those of 'attributes' (TRIAD_DETAIL_BIT()) that the port may have.
 * Returns their number. */
unsigned triad_details_want(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, uint32_t attributes);

/* --- answers --- */

/* 'is_near_full': the attribute should be reset, if resets are enabled.  'after_reset':
 * this answers its reset. */
void triad_details_answer(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute, bool is_near_full, bool after_reset);
void triad_details_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute);
void triad_details_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port,
	enum triad_pma_attribute attribute);

#endif
