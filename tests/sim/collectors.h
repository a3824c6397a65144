/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated fabric that many agents share: any number of claims machines
 * (collect/claims.h) and one observer, with clocks of their own, on a broker that
 * loses, delays, duplicates and reorders messages, and that can be partitioned.
 *
 * Model: agents are numbered from 0 and sit at hosts of a fat tree of three levels, far
 * from each other; the observer is number n_agents.  Nodes of the fabric leave and
 * return; each agent learns of it at another time.  All messages go through the codec.
 * Time is simulated; one event after the other is taken from a heap, and the same seed
 * gives the same run.
 *
 * Checked after collectors_watch(), when no message is lost: by what running agents
 * believe of themselves, no node has two owners for longer than a liveness time, and no
 * node that an agent can reach lacks an owner for longer than two.  Always checked: an
 * agent that was paused for longer than a liveness time believes that it owns nothing.
 *
 * Aborts when memory is short, as each test has a process of its own. */
#ifndef TRIAD_TESTS_SIM_COLLECTORS_H
#define TRIAD_TESTS_SIM_COLLECTORS_H

#include "collect/claims.h"

#define COLLECTORS_LIVENESS_US UINT64_C(5000000)
#define COLLECTORS_BACKOFF_US UINT64_C(200000)
#define COLLECTORS_DIAMETER 7u
#define COLLECTORS_MAX_GROUPS 3u

struct collectors;

/* About 'n_nodes' of them (36 at least).  All agents are dead at first; the observer is
 * not. */
struct collectors *collectors_new(unsigned n_agents, uint32_t n_nodes, uint64_t seed);
void collectors_free(struct collectors *collectors);

void collectors_run(struct collectors *collectors, uint64_t us);
uint64_t collectors_now_us(const struct collectors *collectors);
uint64_t collectors_n_events(const struct collectors *collectors);
uint64_t collectors_random(struct collectors *collectors, uint64_t below);
uint32_t collectors_n_nodes(const struct collectors *collectors);

/* --- the broker --- */
void collectors_loss(struct collectors *collectors, unsigned percent);
void collectors_doubles(struct collectors *collectors, unsigned percent);
/* Messages from one agent to another keep their order, unless overtaking is allowed. */
void collectors_delay(struct collectors *collectors, uint64_t min_us, uint64_t max_us,
	bool may_overtake);
/* Agents of different groups don't receive each other's messages.  'groups' includes
 * the observer. */
void collectors_partition(struct collectors *collectors, const unsigned *groups);

/* --- the fabric --- */
void collectors_node(struct collectors *collectors, uint32_t node, bool is_up);
/* Each node fails at random with this mean time between failures, and returns after 1
 * to 10 s.  0: none fails, and nodes that are down stay down. */
void collectors_mtbf(struct collectors *collectors, uint64_t mtbf_us);

/* --- an agent --- */
void collectors_kill(struct collectors *collectors, unsigned agent);
void collectors_leave(struct collectors *collectors, unsigned agent);
void collectors_start(struct collectors *collectors, unsigned agent);
void collectors_pause(struct collectors *collectors, unsigned agent, bool is_paused);
void collectors_drain(struct collectors *collectors, unsigned agent, bool drain);
bool collectors_is_alive(const struct collectors *collectors, unsigned agent);
bool collectors_is_running(const struct collectors *collectors, unsigned agent);
/* NULL while it is dead. */
struct triad_claims *collectors_of(struct collectors *collectors, unsigned agent);

/* --- what is so --- */
struct collectors_traffic {
	uint64_t n_to_all, octets_to_all; /* OWNER and WHO_OWNS; once each */
	uint64_t n_to_one, octets_to_one;
};
struct collectors_traffic collectors_traffic(const struct collectors *collectors);

void collectors_watch(struct collectors *collectors, bool is_watching);
/* The first violation; NULL: none. */
const char *collectors_violation(const struct collectors *collectors);

/* Checks that all agents of a group know the same owner of each node that one of them
 * can reach, that the owner is among the nearest agents that don't drain and, if
 * 'with_loads', that it does not own many more nodes than others at that distance.
 * Returns NULL, or what is wrong. */
const char *collectors_check(struct collectors *collectors, bool with_loads);

/* Writes what each believes of the others to standard error. */
void collectors_describe(struct collectors *collectors);

#endif
