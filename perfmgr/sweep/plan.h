/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans what a sweep asks each agent and port.
 *
 * Model: the mode and the agent's capabilities decide.  An unknown agent is first asked
 * for its ClassPortInfo.  One that can sum up its ports is asked for the sums;
 * questions about its ports' errors wait for these.  Answers add questions: a changed
 * sum those for the ports' errors, a counter near its maximum one for its reset.  A
 * port is done when it has no question left or pending.
 *
 * Wide errors: a port of an agent that has 64-bit errors is asked for
 * PortCountersExtended alone, which has all of its counters; in the mode of errors such
 * an agent sums that attribute up.  Some agents may promise them and answer zeros.  So
 * in its first sweep, and after TRIAD_WIDE_BELIEVED to twice as many others, a port is
 * asked for PortCounters first: if one of these is above the wide one read next, the
 * agent's wide errors are not believed until it was silent, and PortCounters are read.
 *
 * An agent that was silent in several sweeps is left out of the next 1, 2, 4, ...
 * TRIAD_BACKOFF_MOST ones, and then gets a single question first.  Ports that do not
 * answer though their agent does are left out in the same way.
 *
 * Invariant: every port with a PMA that the sink wants is reported done exactly once a
 * sweep.
 * Internal to the scheduler; thread-safety: none.
 * Spec: IBA volume 1, 16.1.3.5 (AllPortSelect). */
#ifndef TRIAD_PERFMGR_PLAN_H
#define TRIAD_PERFMGR_PLAN_H

#include "perfmgr/sweep/sweep_agents.h"

#define TRIAD_BACKOFF_MOST 16
#define TRIAD_WIDE_BELIEVED 60u

/* Begins a sweep for all agents, or for one that came in mid-sweep. */
void triad_plan_begin(struct triad_sweep_agents *agents);
void triad_plan_begin_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* Asks the sink whether it wants the port in this sweep; if not, takes it out.  Returns
 * the sink's answer. */
bool triad_plan_want(struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Ends the sweep: ports that are not done are unanswered. */
void triad_plan_cut(struct triad_sweep_agents *agents);

/* Plans the agent's ports, once its capabilities are known. */
void triad_plan_agent(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* The questions with which a port begins the sweep. */
uint8_t triad_plan_questions(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, const struct triad_port_plan *state);

/* Returns the agent's next question (now pending), with its port and attribute; 0 when
 * there is none at the moment. */
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

/* Adds the questions 'todo' of 'port'.  Call it with 0 after details were added to the
 * port's sets. */
void triad_plan_add(struct triad_sweep_agents *agents, struct triad_sweep_agent *agent,
	uint32_t port, uint8_t todo);

/* Reports the port as done, if it is. */
void triad_plan_finish_if_through(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Asks nothing more of a port; it is done when its pending questions are. */
void triad_plan_give_up(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* Reports the port done, unanswered, without asking it. */
void triad_plan_leave_out(
	struct triad_sweep_agents *agents, struct triad_port_plan *state);

/* One more sweep without an answer. */
void triad_backoff_miss(struct triad_backoff *backoff);

#endif
