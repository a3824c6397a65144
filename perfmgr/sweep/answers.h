/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the answers of an agent mean for the rest of the sweep.
 *
 * Summary: while an agent's sums are what they were, so are the errors of its ports,
 * which then are not read.  A sum that stands at its maximum says nothing, nor does
 * one that is less than its ports were when they were read last (there are agents
 * whose sums stop early): then the ports are read.  A reset by others which other
 * ports make up for to the last error within one sweep is noticed with the next error.
 * The sum of PortXmitWait, which moves wherever there is traffic, does not have ports
 * read; rounds.h does, some at a time.
 *
 * Silence: an agent that does not answer the first question of a sweep, or more
 * ports in a row than are asked at a time, is not asked any more in this sweep.
 *
 * In each function 'question' was pending, and is not any more.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect), 13.5.2 (redirection). */
#ifndef TRIAD_PERFMGR_ANSWERS_H
#define TRIAD_PERFMGR_ANSWERS_H

#include "perfmgr/sweep/sweep_agents.h"

/* An agent that sends us on more often in one sweep sends us in circles. */
#define TRIAD_MAX_REDIRECTS 4

/* Whatever the answer is, the agent lives. */
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

/* It does not do what was asked. */
void triad_answer_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

/* What was asked at 'from' is to be asked at 'to'; the question stays pending and is to
 * be sent to agent->to.  Returns false when it sends us in circles. */
bool triad_answer_redirect(struct triad_sweep_agent *agent,
	const struct triad_mad_address *from, const struct triad_mad_address *to);

/* No answer came, in spite of all retries. */
void triad_answer_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

#endif
