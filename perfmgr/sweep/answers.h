/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Handles an agent's answers: what they change for the rest of the sweep.
 *
 * Summary: while the sums over an agent's ports do not change, nor do the errors of its
 * ports, and the sweep does not read them.  A sum says nothing when it is at its
 * maximum, or less than the sum of the ports' last readings (some agents' sums stop
 * early), or without data though its ports have some (some agents answer with zeros):
 * then the ports are read.  Sums of 64 bits have no maximum, but those of data
 * counters, which come with them, must not be less either.  If somebody resets a port,
 * and other ports count
 * exactly as many errors within one sweep, the reset is noticed with the next error.
 * PortXmitWait moves wherever there is traffic: with waits_apart its sum does not have
 * all ports read; waits.h says which are.
 *
 * Silence: a sweep stops asking an agent that leaves its first question unanswered, or
 * more ports in a row than are asked at a time.
 *
 * Each function but triad_answer_redirect() ends the pending 'question'.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect), 13.5.2 (redirection). */
#ifndef TRIAD_PERFMGR_ANSWERS_H
#define TRIAD_PERFMGR_ANSWERS_H

#include "perfmgr/sweep/sweep_agents.h"

/* An agent that redirects us more often in one sweep redirects in circles. */
#define TRIAD_MAX_REDIRECTS 4

/* Notes that the agent answered, whatever the answer is. */
void triad_answer_note_life(struct triad_sweep_agent *agent);

void triad_answer_capabilities(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t capabilities);
void triad_answer_summary(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, const struct triad_pma_reading *sums,
	uint64_t now_us);
/* 'moved': what sink.reading returned. */
void triad_answer_reading(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question,
	const struct triad_pma_reading *reading, uint32_t moved);
/* The port's wide errors were compared with PortCounters, read before them;
 * 'is_believed': none of these is above. */
void triad_answer_comparison(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, bool is_believed);
void triad_answer_reset(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port,
	enum triad_question question);

/* The agent refused the question. */
void triad_answer_refusal(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

/* The agent at 'from' redirects us to 'to'.  The question stays pending: send it to
 * agent->to.  Returns false when the agent redirects in circles. */
bool triad_answer_redirect(struct triad_sweep_agent *agent,
	const struct triad_mad_address *from, const struct triad_mad_address *to);

/* No answer came, after all retries. */
void triad_answer_silence(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port, enum triad_question question);

#endif
