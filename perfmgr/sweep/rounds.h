/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks ports for more than counters: detail attributes (ib/detail.h).
 *
 * Model: when a total moves, details that explain it are asked for in the same sweep.
 * These and all others are also asked for in rounds: within its period, a round of a
 * kind goes over all ports, some in each sweep.  Its steps are wide, so that ports
 * asked in one sweep are of different switches.
 *
 * All rounds together may add a share to the queries of a sweep, of which waits.h takes
 * what it needs, up to three quarters.  Where the rest is too little for their periods,
 * rounds take turns and last longer.  So their cost is bounded on any fabric.
 *
 * Some agents refuse an attribute that they do not have, others do not answer at all.
 * So an attribute that an agent never answered is first tried at one port, once; its
 * other ports wait for the result.  An agent that refuses it, or twice leaves it
 * unanswered while it answers other questions, is not asked for it again until the
 * agent was silent as a whole: then it may be another device.
 *
 * Internal to the scheduler; thread-safety: none. */
#ifndef TRIAD_PERFMGR_ROUNDS_H
#define TRIAD_PERFMGR_ROUNDS_H

#include "perfmgr/sweep/sweep_agents.h"

struct triad_rounds {
	uint32_t n_ports, stride; /* of the fabric; steps of 'stride' reach each port */
	uint32_t at[TRIAD_N_ROUNDS];
	double want[TRIAD_N_ROUNDS]; /* ports still to be asked */
	double credit;               /* queries that may be added; below 0: owed */
	uint64_t n_asked;            /* queries added to the present sweep */
};

/* Begins a sweep of all ports, after triad_plan_begin().  'n_sent': the queries of the
 * last such sweep. */
void triad_rounds_begin(struct triad_rounds *rounds, struct triad_sweep_agents *agents,
	uint64_t n_sent);

/* Adds those of 'attributes' (TRIAD_DETAIL_BIT()) that the port may have.  Returns how
 * many. */
unsigned triad_details_want(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, uint32_t attributes);

/* --- answers --- */

/* 'is_near_full': the attribute is reset if params.reset_near_full.  'after_reset':
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
