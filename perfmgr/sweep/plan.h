/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a sweep asks of each agent and port.
 *
 * Model: the mode and the agent's capabilities decide.  An agent that is not yet known
 * is asked for its ClassPortInfo first; one that can sum up its ports for the sums,
 * and its ports wait for them with their errors.  Answers add questions: a changed sum
 * that for the ports' errors, a counter near its maximum that for its reset.  A port
 * is through when nothing is to be asked or pending.
 *
 * Who was silent in several sweeps is left out of 1, 2, 4, ... TRIAD_BACKOFF_MOST
 * sweeps, and then asked one question first.  Ports that do not answer while their
 * agent does are left out likewise.
 *
 * Invariant: every port with a PMA is reported done exactly once a sweep.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect). */
#ifndef TRIAD_PERFMGR_PLAN_H
#define TRIAD_PERFMGR_PLAN_H

#include "perfmgr/sweep/sweep_agents.h"

#define TRIAD_BACKOFF_MOST 16

/* Begins a sweep, of all agents or of one that came in mid-sweep. */
void triad_plan_begin(struct triad_sweep_agents *agents);
void triad_plan_begin_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* Takes a port that is not wanted out of the sweep.  Returns whether it is wanted. */
bool triad_plan_want(struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Ends it: ports that are not through are unanswered. */
void triad_plan_cut(struct triad_sweep_agents *agents);

/* The agent's capabilities are known: what its ports are asked. */
void triad_plan_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* What one port is asked, at the beginning. */
uint8_t triad_plan_questions(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_port_plan *state);

/* The agent's next question (now pending), the port and the attribute that it is about,
 * or 0 when there is none at the moment. */
enum triad_question triad_plan_ask(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t *port,
	enum triad_pma_attribute *attribute);

/* The counters that a reset of 'port' by 'question' is to reset. */
uint32_t triad_plan_reset_mask(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port,
	enum triad_question question);

/* --- for answers --- */

/* The plan of the agent's port at 'offset'; NULL for one without a PMA. */
struct triad_port_plan *triad_plan_of(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t offset);

/* More is to be asked of 'port': 'todo', or what its sets of details have got. */
void triad_plan_add(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent,
	uint32_t port, uint8_t todo);

/* Reports the port done if it is. */
void triad_plan_finish_if_through(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Asks nothing more of a port; it is done when what is pending is. */
void triad_plan_give_up(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Reports the port done without its having been asked. */
void triad_plan_leave_out(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* One more sweep without an answer. */
void triad_backoff_miss(struct triad_backoff *backoff);

#endif
