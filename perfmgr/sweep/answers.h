/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Handles an agent's answers: what they change for the rest of the sweep.
 *
 * Summary: while an agent's sums are unchanged, so are the errors of its ports, which then
 * are not read.  A sum at its maximum is no evidence, nor is a sum less than the last
 * values of its ports (the sums of some agents stop early): then the ports are read.  A
 * reset by others, which errors of other ports compensate exactly within one sweep, is
 * noticed at the next error.  A changed sum of PortXmitWait, which changes wherever there
 * is traffic, does not cause ports to be read; rounds.h reads them, some at a time.
 *
 * Silence: an agent is not asked again in this sweep if it does not answer the first
 * question, or the questions about more ports in a row than are asked at a time.
 *
 * Each function removes 'question' from the pending ones.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect), 13.5.2 (redirection). */
#ifndef TRIAD_PERFMGR_ANSWERS_H
#define TRIAD_PERFMGR_ANSWERS_H

#include "perfmgr/sweep/sweep_agents.h"

/* An agent that redirects us more often in one sweep redirects in circles. */
#define TRIAD_MAX_REDIRECTS 4

/* Notes that the agent has answered, whatever the answer is. */
void triad_answer_note_life(struct triad_sweep_agent *agent);

void triad_answer_capabilities(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint16_t capabilities);
void triad_answer_summary(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, const struct triad_pma_reading *sums,
	uint64_t now_us);
void triad_answer_reading(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question,
	const struct triad_pma_reading *reading);
void triad_answer_reset(
	struct triad_sweep_agents *agents, uint32_t port, enum triad_question question);

/* The agent refused the question. */
void triad_answer_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

/* The agent redirects from 'from' to 'to'.  The question stays pending and must be sent to
 * agent->to.  Returns false if it redirects in circles. */
bool triad_answer_redirect(struct triad_sweep_agent *agent,
	const struct triad_mad_address *from, const struct triad_mad_address *to);

/* No answer came, in spite of all retries. */
void triad_answer_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

#endif
