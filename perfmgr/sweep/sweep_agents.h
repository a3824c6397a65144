/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agents (PMAs) of a fabric that a sweep asks, and the state of each.
 *
 * Model: an agent is a PMA behind one LID, with the ports that it answers for: all of a
 * switch, one of a CA.  In a sweep, each agent and each port has a set of questions to
 * be asked ('todo') and a set of questions without an answer yet ('pending'); plan.h
 * fills the first, answers.h empties the second.
 *
 * The scheduler asks agents in turn, port by port: an agent answers one question after
 * the other, so it is faster to ask many agents at a time than to ask one agent much.
 *
 * In a new fabric, agents and ports that were in the last one, with the same LID, keep
 * their state, even in mid-sweep.
 *
 * Internal to the scheduler (sweep.h), which keeps the queries and the time.
 * Thread-safety: none. */
#ifndef TRIAD_PERFMGR_SWEEP_AGENTS_H
#define TRIAD_PERFMGR_SWEEP_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/sweep/sweep.h"

/* Questions: bits, asked in this order. */
enum triad_question {
	TRIAD_ASK_CAPABILITIES = 1 << 0, /* of an agent */
	TRIAD_ASK_SUMMARY = 1 << 1,      /* of an agent; in a port: it waits for the
					  * summary */
	TRIAD_ASK_COUNTERS = 1 << 2,
	TRIAD_ASK_EXTENDED = 1 << 3,
	TRIAD_ASK_RESET = 1 << 4,
	TRIAD_ASK_RESET_EXTENDED = 1 << 5,
	/* Of one detail attribute; the attributes are in sets of their own. */
	TRIAD_ASK_DETAIL = 1 << 6,
	TRIAD_ASK_RESET_DETAIL = 1 << 7,
};
#define TRIAD_ASK_RESETS (TRIAD_ASK_RESET | TRIAD_ASK_RESET_EXTENDED)

struct triad_backoff {
	uint8_t misses; /* sweeps in a row without an answer */
	uint8_t wait;   /* sweeps to leave out */
};

struct triad_summary {
	uint32_t has;                            /* bit i: sum[i] was read */
	uint32_t sum[TRIAD_FIRST_WIDE_COUNTER];  /* the agent's last sums */
	uint64_t read[TRIAD_FIRST_WIDE_COUNTER]; /* sums of its ports' last values */
};

struct triad_sweep_agent {
	struct triad_mad_address to;
	uint32_t first_port; /* index in the fabric */
	uint32_t n_ports;
	uint32_t summary; /* index, or TRIAD_FABRIC_NONE */
	uint16_t capabilities;
	bool known;      /* 'capabilities' are known */
	bool redirected; /* the agent redirected us to 'to' */
	bool has_answered_extended;
	bool was_alive; /* it answered in the last sweep it was asked in */
	/* Detail attributes that it refused; that it did not answer; that it has
	 * answered. */
	uint32_t refused, missed, reported;
	uint32_t trying; /* attributes being tried at one of its ports for the first
			  * time */
	struct triad_backoff backoff;
	/* of the present sweep: */
	uint8_t todo, pending;
	bool answered;
	bool silent;
	bool queued;
	uint16_t failures; /* ports that failed, in a row */
	uint8_t redirects;
	uint16_t in_flight;
	uint32_t next_port; /* offset from 'first_port': nothing to ask before it */
};

struct triad_port_plan {
	uint32_t near_full; /* counters to be reset */
	struct triad_backoff backoff;
	bool reset_wanted; /* a reset of all its counters was requested, for the next
			    * sweep */
	bool errors_known; /* read since its agent's sums changed */
	bool wait_behind;  /* its agent's sum of PortXmitWait has changed since */
	/* of the present sweep: */
	uint8_t todo, pending;
	uint32_t details, details_pending, details_to_reset; /* attributes */
	bool resets_all;
	bool reset_tried;
	bool failed;
	bool left_out;
	bool passed; /* the sink does not want it in this sweep */
	bool finished;
};

struct triad_sweep_agents {
	const struct triad_sweep_sink *sink;
	const struct triad_sweep_params *params;
	struct triad_sweep_progress *progress;
	struct triad_fabric *fabric;
	struct triad_sweep_agent *agents;
	uint32_t n_agents;
	struct triad_summary *summaries;
	uint32_t n_summaries;
	struct triad_port_plan *ports;
	/* Agents with questions to ask, in a ring with room for all. */
	uint32_t *ready;
	uint32_t ready_first;
	uint32_t n_ready;
};

/* The agents of 'fabric', which is referenced.  Returns 0 or ENOMEM. */
int triad_sweep_agents_init(struct triad_sweep_agents *agents,
	struct triad_fabric *fabric, const struct triad_sweep_agents *like);
void triad_sweep_agents_clear(struct triad_sweep_agents *agents);

/* Takes over the state of agents that have not moved from 'old', including the questions of
 * a 'running' sweep, which also asks new agents and ports.  The maps (sized for the old
 * fabric) receive the new index of each agent and port, or TRIAD_FABRIC_NONE. */
void triad_sweep_agents_inherit(struct triad_sweep_agents *agents,
	const struct triad_sweep_agents *old, bool running, uint32_t *agent_map,
	uint32_t *port_map);

/* The agent's address without redirection. */
struct triad_mad_address triad_agent_own_address(
	const struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent);

/* The next agent with questions to ask, or NULL. */
struct triad_sweep_agent *triad_sweep_agents_next_ready(
	struct triad_sweep_agents *agents);
void triad_sweep_agents_make_ready(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* Puts back an agent that was just taken and asked about 'port'.  It becomes the next one
 * if there are more questions about that port, so that a port's answers come together; else
 * the last one. */
void triad_sweep_agents_put_back(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port);

#endif
