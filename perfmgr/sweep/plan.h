/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a sweep asks of each agent and port.
 *
 * Model: the mode and the agent's capabilities decide.  An unknown agent is first asked for
 * its ClassPortInfo.  An agent that can sum up its ports is asked for the sums before its
 * ports are asked for errors.  Answers add questions: a changed sum adds the ports' errors,
 * a counter near its maximum adds its reset.  A port is done when no question is left or
 * pending.
 *
 * An agent that was silent in several sweeps is left out of 1, 2, 4, ... TRIAD_BACKOFF_MOST
 * sweeps, and then asked one question first.  Ports that do not answer although their agent
 * does are treated in the same way.
 *
 * Invariant: every port with a PMA is reported done exactly once a sweep.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect). */
#ifndef TRIAD_PERFMGR_PLAN_H
#define TRIAD_PERFMGR_PLAN_H

#include "perfmgr/sweep/sweep_agents.h"

#define TRIAD_BACKOFF_MOST 16

/* Begins a sweep of all agents, or of one that appeared in mid-sweep. */
void triad_plan_begin(struct triad_sweep_agents *agents);
void triad_plan_begin_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* Removes a port from the sweep if the sink does not want it.  Returns whether it is
 * wanted. */
bool triad_plan_want(struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Ends the sweep; ports that are not done count as unanswered. */
void triad_plan_cut(struct triad_sweep_agents *agents);

/* When the agent's capabilities are known: sets the questions for its ports. */
void triad_plan_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* The questions for one port at the beginning. */
uint8_t triad_plan_questions(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_port_plan *state);

/* Takes the agent's next question, which becomes pending, with its port and attribute; 0:
 * none at the moment. */
enum triad_question triad_plan_ask(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t *port,
	enum triad_pma_attribute *attribute);

/* The counters that the reset 'question' of 'port' selects. */
uint32_t triad_plan_reset_mask(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port,
	enum triad_question question);

/* --- for answers.c --- */

/* The plan of the agent's port at 'offset'; NULL for one without a PMA. */
struct triad_port_plan *triad_plan_of(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t offset);

/* Adds questions for 'port': 'todo', or those that were added to its sets of details. */
void triad_plan_add(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent,
	uint32_t port, uint8_t todo);

/* Reports the port as done, if it is. */
void triad_plan_finish_if_through(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Asks the port nothing more; it is done when its pending questions are. */
void triad_plan_give_up(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Reports the port as done without asking it. */
void triad_plan_leave_out(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* One more sweep without an answer. */
void triad_backoff_miss(struct triad_backoff *backoff);

#endif
