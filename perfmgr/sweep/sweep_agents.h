/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agents (PMAs) of a fabric that sweeps ask, and the state of each.
 *
 * Model: an agent is a PMA behind one LID, with the ports that it answers for: all of a
 * switch, one of a CA.  In a sweep, each agent and each port has a set of questions to
 * be asked ('todo') and a set of questions without an answer yet ('pending'); plan.h
 * fills the first, answers.h empties the second.
 *
 * The scheduler asks agents in turn, port by port.  An agent answers one question after
 * the other, so many agents at a time are faster than many questions to one.
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
	/* Of one detail attribute; ports keep these in sets of their own. */
	TRIAD_ASK_DETAIL = 1 << 6,
	TRIAD_ASK_RESET_DETAIL = 1 << 7,
};
#define TRIAD_ASK_RESETS (TRIAD_ASK_RESET | TRIAD_ASK_RESET_EXTENDED)

struct triad_backoff {
	uint8_t misses; /* sweeps in a row without an answer */
	uint8_t wait;   /* sweeps to leave out */
};

struct triad_summary {
	uint64_t at_us;                         /* when it was read */
	uint32_t has;                           /* bit i: sum[i] was read */
	uint64_t sum[TRIAD_FIRST_WIDE_COUNTER]; /* the agent's last answer */
	uint64_t read[TRIAD_N_COUNTERS];        /* sum over its ports' last readings */
	uint16_t
		n_left; /* unchanged sums until its ports are read all the same; 0: none
	                  * was believed yet */
};

/* How many unchanged sums in a row are believed.  A sum can stay by chance: what a reset took
 * from one port, errors added at another.  So the ports are read now and then. */
#define TRIAD_SUMS_BELIEVED 60u

struct triad_sweep_agent {
	struct triad_mad_address to;
	uint32_t first_port; /* index in the fabric */
	uint32_t n_ports;
	uint32_t summary; /* index, or TRIAD_FABRIC_NONE */
	uint32_t capabilities;
	bool known;      /* 'capabilities' are known */
	bool redirected; /* the agent redirected us to 'to' */
	bool has_answered_extended;
	bool had_data; /* a port's PortCountersExtended did, before the present sweep */
	bool was_alive; /* it answered in the last sweep it was asked in */
	bool waits_due; /* ports that are behind with PortXmitWait are next (waits.h) */
	uint32_t waits_first; /* these come before those of others, the highest number
			       * first; 0: they do not */
	uint8_t waits_late;   /* sweeps since they are behind */
	/* Detail attributes that it refused; that it did not answer; that it has
	 * answered. */
	uint32_t refused, missed, reported;
	uint32_t trying; /* attributes being tried at one of its ports for the first
			  * time */
	struct triad_backoff backoff;
	/* of the present sweep: */
	uint8_t todo, pending;
	bool answered;     /* any question */
	bool has_data;     /* as 'had_data', in it */
	bool silent;       /* it is asked nothing more */
	bool queued;       /* it is in 'ready' */
	uint16_t failures; /* failures in a row, since its last answer */
	uint8_t redirects;
	uint16_t in_flight;
	uint32_t next_port; /* offset from 'first_port'; ports before it have nothing to
	                     * ask */
};

struct triad_port_plan {
	uint32_t near_full; /* counters to be reset */
	struct triad_backoff backoff;
	bool reset_wanted; /* requested: all its counters, in the next sweep */
	bool errors_known; /* read since its agent's sums changed */
	bool wait_behind;  /* its agent's sum of PortXmitWait has changed since */
	bool wait_told;    /* its last PortXmitWait is that of an unchanged sum: none */
	bool waited; /* at its last reading, for long enough to matter, or it may have */
	bool waits;  /* when that was last known */
	bool wait_full; /* its last PortXmitWait was the maximum */
	uint8_t proven; /* sweeps until its wide errors are compared again */
	/* of the present sweep: */
	uint8_t todo, pending;
	uint32_t details, details_pending, details_to_reset; /* attributes */
	bool resets_all;  /* all its counters are reset */
	bool reset_tried; /* once a sweep is enough */
	bool held;        /* to be read again a moment later (waits.h) */
	bool was_held;    /* it is read again, for PortXmitWait alone */
	bool failed;      /* it is unanswered */
	bool left_out;    /* not asked, for its long silence */
	bool passed;      /* the sink does not want it */
	bool finished;    /* reported done */
};

/* See waits.h. */
#define TRIAD_MOST_HELD 16384u
struct triad_waits {
	bool has_begun;
	uint32_t at;      /* the agent whose turn is next */
	uint32_t n_first; /* the last number of agents that come first */
	double credit;    /* queries that may be added; below 0: owed */
	double hot;       /* that ports that waited may take whatever the credit is */
	uint64_t n_asked; /* queries added since the last sweep of all ports began */
	struct triad_held {
		uint64_t due_us;
		uint32_t agent, port;
	} held[TRIAD_MOST_HELD];
	unsigned n_held;
};

struct triad_sweep_agents {
	const struct triad_sweep_sink *sink;
	const struct triad_sweep_params *params;
	struct triad_sweep_progress *progress;
	struct triad_waits *waits;
	struct triad_fabric *fabric;
	struct triad_sweep_agent *agents;
	uint32_t n_agents;
	struct triad_summary *summaries;
	uint32_t n_summaries;
	struct triad_port_plan *ports;
	/* Agents that may have something to ask: a ring with room for all. */
	uint32_t *ready;
	uint32_t ready_first;
	uint32_t n_ready;
};

/* Makes the agents of 'fabric', which it references, with sink, parameters, progress
 * and waits of 'like'.  Returns 0 or ENOMEM. */
int triad_sweep_agents_init(struct triad_sweep_agents *agents,
	struct triad_fabric *fabric, const struct triad_sweep_agents *like);
void triad_sweep_agents_clear(struct triad_sweep_agents *agents);

/* Takes over the state of agents that are in 'old' at the same LID, with the questions
 * of a 'running' sweep, which also asks new agents and ports.  The maps (room for the
 * old numbers) receive the new index of each agent and port, or TRIAD_FABRIC_NONE. */
void triad_sweep_agents_inherit(struct triad_sweep_agents *agents,
	const struct triad_sweep_agents *old, bool running, uint32_t *agent_map,
	uint32_t *port_map);

/* The question for a port's errors. */
static inline enum triad_question triad_agent_ask_errors(
	const struct triad_sweep_agent *agent)
{
	return triad_pma_has_wide_errors(agent->capabilities) ? TRIAD_ASK_EXTENDED
							      : TRIAD_ASK_COUNTERS;
}

/* The agent that answers for 'port': agents are in the order of their ports. */
struct triad_sweep_agent *triad_sweep_agents_of(
	struct triad_sweep_agents *agents, uint32_t port);

/* The agent's address without a redirection. */
struct triad_mad_address triad_agent_own_address(
	const struct triad_sweep_agents *agents, const struct triad_sweep_agent *agent);

/* The next agent with questions to ask, or NULL. */
struct triad_sweep_agent *triad_sweep_agents_next_ready(
	struct triad_sweep_agents *agents);
void triad_sweep_agents_make_ready(
	struct triad_sweep_agents *agents, struct triad_sweep_agent *agent);

/* Puts back an agent just taken, which asked about 'port'.  It comes next again if
 * there is more to ask about that port, so that a port's answers come together; else
 * last. */
void triad_sweep_agents_put_back(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, uint32_t port);

#endif
