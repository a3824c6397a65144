/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ports are asked beside their counters: detail attributes (ib/detail.h), and
 * PortXmitWait where it alone has moved.
 *
 * Model: details that explain a total are asked for when that total has moved, in the
 * same sweep.  All others, and these too, are asked for in rounds: a round of a kind
 * goes over all ports in its period, some in each sweep.  Its steps are wide, so that
 * ports asked in one sweep are of different switches.
 *
 * Rounds together may add a share to the queries of a sweep.  Where that is too little
 * for their periods, they take turns and last longer.  So what they cost is bounded,
 * whatever the fabric is like.
 *
 * There are agents that refuse an attribute that they do not have, and others that do
 * not answer at all.  So an attribute that an agent never answered is first tried at one
 * port, once; its other ports wait for what comes of that.  An agent that refuses it, or leaves it without an answer
 * twice while it answers other questions, is not asked for it again until it was silent
 * as a whole: then it may be another device.
 *
 * Internal to the scheduler; thread-safety: none. */
#ifndef TRIAD_PERFMGR_ROUNDS_H
#define TRIAD_PERFMGR_ROUNDS_H

#include "perfmgr/sweep/sweep_agents.h"

struct triad_rounds {
	uint32_t n_ports, stride; /* of the fabric; steps of 'stride' reach each port */
	uint32_t at[TRIAD_N_ROUNDS];
	double want[TRIAD_N_ROUNDS]; /* ports to ask */
	double credit;               /* queries that may be added; below 0: owed */
	uint64_t n_asked;            /* queries added to the present sweep */
};

/* A sweep of all ports begins, after triad_plan_begin().  'n_sent': the queries of the last
 * one. */
void triad_rounds_begin(struct triad_rounds *rounds, struct triad_sweep_agents *agents,
	uint64_t n_sent);

/* Adds those of 'attributes' (TRIAD_DETAIL_BIT()) that the port can be asked for.
 * Returns how many. */
unsigned triad_details_want(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, uint32_t attributes);

/* --- answers --- */

/* 'is_near_full': it is to be reset, if that is wanted.  'after_reset': it has been. */
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
