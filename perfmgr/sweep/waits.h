/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides when ports of switches are read for PortXmitWait.
 *
 * Model: PortXmitWait moves wherever there is traffic, so a sum of it that moved does
 * not have all ports of the switch read in each sweep, as an error has.  Reading a
 * switch's ports costs credit: a share of a sweep's queries (params.round_share, of
 * which rounds.h keeps a quarter).  Unspent credit is saved, up to one reading of all
 * ports, so that congestion that begins is found in the same sweep everywhere.
 *
 * When the sum comes, it tells how much its ports can have waited:
 *
 *     much     one port alone can have waited for params.wait_matters of the time, or
 *              the sum does not say, because it stopped at its maximum: all ports of the
 *              switch are read in this sweep.  When credit is short, those that waited
 *              at their last reading are, and all of them when the switch's turn comes.
 *     little   ports that waited at their last reading are read, to see whether they
 *              stopped; the others in a later sweep, from credit beyond half of what can
 *              be saved, or when they were left for an hour's sweeps.
 *
 * On fast links the counter is full after seconds.  A port that stopped at its maximum is
 * held: once it was reset, the same sweep reads it again, before it can be full.  So its
 * rate is that of a moment, and a lower bound only if it then waited less than before.
 * Nothing else of that reading counts: the changes since the last sweep stay.  A reading
 * without the second one would be in vain, so the reset and the second reading may leave
 * credit in debt, which later sweeps pay back; those of adapters, which each sweep reads,
 * are no part of it.
 *
 * What holds up a port is behind its link.  So once it is known that a port waits, the ports
 * of the switch at the other end come before those of others, with half of the credit: a host
 * that begins to wait leads to the root of congestion from switch to switch (the one that was
 * led to last is read first), long before
 * these have their turns.
 *
 * A port that was not read since its sum moved is 'behind'.  Its last reading stands.
 * But if its last value was a 0 that an unchanged sum told, it is unknown now.
 *
 * Internal to the scheduler; thread-safety: none. */
#ifndef TRIAD_PERFMGR_WAITS_H
#define TRIAD_PERFMGR_WAITS_H

#include "perfmgr/sweep/sweep_agents.h"

enum triad_sum_of_waits {
	TRIAD_SUM_SAME,
	TRIAD_SUM_MOVED_LITTLE,
	TRIAD_SUM_MOVED_MUCH,
};

/* Begins a sweep of all ports, after triad_plan_begin(), and asks ports that are behind.
 * 'credit': what this sweep adds.  Returns what can't be saved, for others. */
double triad_waits_begin(
	struct triad_waits *waits, struct triad_sweep_agents *agents, double credit);

/* How the agent's sum of PortXmitWait changed: to 'raw', at 'now_us', from the one in its
 * summary. */
enum triad_sum_of_waits triad_waits_compare(const struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint64_t raw, uint64_t now_us);

/* The agent's sum came: asks those of its ports that are to be read now. */
void triad_waits_add_sum(struct triad_sweep_agents *agents,
	struct triad_sweep_agent *agent, enum triad_sum_of_waits sum);

/* It is known now that the port waits: the ports of the switch behind its link come first. */
void triad_waits_follow_link(struct triad_sweep_agents *agents, uint32_t port);

/* The port's PortXmitWait, which had stopped, was just reset: holds it, if it may. */
void triad_waits_hold(struct triad_sweep_agents *agents,
	const struct triad_sweep_agent *agent, uint32_t port, uint64_t now_us);

/* Asks held ports whose time has come.  Returns when the next one's does, or
 * UINT64_MAX. */
uint64_t triad_waits_release(struct triad_sweep_agents *agents, uint64_t now_us);

/* Held ports have new numbers, or are gone. */
void triad_waits_follow(
	struct triad_waits *waits, const uint32_t *agent_map, const uint32_t *port_map);

#endif
