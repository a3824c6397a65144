/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which entries of forwarding tables lead packets around lost links, and in what order they
 * may be written.
 *
 * Model: paths that don't cross a lost link stay as they are.  Of the others, each switch
 * that packets pass sends them another way, to a switch from which they arrive:
 *
 *   in a tree    down if they can arrive by going down alone, else up: so no path turns from
 *                down to up, as the routing engines for trees have it
 *   otherwise    by the shortest way
 *
 * by the link that the fewest pairs cross.  A switch that can keep its entry keeps it, and
 * so does one that has no other way.
 *
 * Steps: entries of one step may be written in any order, and at the same time; a step begins
 * when the one before it has been written.  An entry is in a later step than all changed
 * entries that its packets meet behind it.  So at any time packets follow old entries, then
 * from the first new one on only those that stay, up to the goal: they never circle.
 *
 * Credit loops: the repair adds none when no dependency of links that it adds (by new paths,
 * and by packets that took an old one up to a switch and a new one from there) lies in a circle
 * of all dependencies together, old and added.  Circles that the old ones have stay: VLs may
 * keep them open, or not.  Where packets have several VLs, a moved path may be the first on its
 * VL where others passed before: then all that moved paths depend on counts as added.
 *
 * Goals: LIDs of hosts from all hosts, and of switches from the SM's.  An SM on a switch is as a
 * host there, but in no pair that is counted.
 *
 * Time: grows with the LIDs that are sent over the links and with the switches that send
 * there, not with the fabric: some milliseconds for a link among 10,000 hosts
 * (tests/bench/repair.c).
 *
 * Thread-safety: functions without state.
 * Memory: 32 octets for each port of a switch, and TRIAD_ROUTES_MAX_CHANGES changes; the
 * result owns its arrays. */
#ifndef TRIAD_ROUTES_REPAIR_H
#define TRIAD_ROUTES_REPAIR_H

#include "routes/added.h"
#include "routes/check.h"

#define TRIAD_ROUTES_MAX_CHANGES (1u << 20)

struct triad_routes_change {
	uint32_t sw; /* the switch's number (layout.h) */
	uint16_t lid;
	uint16_t step;     /* from 0 on */
	uint8_t from, out; /* the port that it is sent to, and is to be sent to */
};

enum triad_routes_proof {
	TRIAD_ROUTES_NO_CIRCLE,  /* no links depend on each other in a circle */
	TRIAD_ROUTES_NONE_ADDED, /* some do before it, but none by the repair */
	TRIAD_ROUTES_MAY_CLOSE,  /* some would do by the repair: 'circle' */
};

struct triad_routes_repair {
	struct triad_routes_change *changes; /* by step, switch, LID */
	uint32_t n_changes, n_steps;
	uint32_t n_blocks; /* to be written: of 64 LIDs, one of several steps in each */
	uint32_t n_switches; /* that have them */
	uint64_t n_crossing; /* pairs that cross the links; of these */
	uint64_t n_lost;     /* those without another way */
	enum triad_routes_proof proof;
	struct triad_routes_circle circle; /* one that the repair may close */
};

/* What a routing engine does, at the next sweep, with entries that somebody wrote. */
enum triad_routes_next_sweep {
	TRIAD_ROUTES_SWEEP_UNKNOWN,
	TRIAD_ROUTES_SWEEP_KEEPS,  /* keeps those that are of a shortest way */
	TRIAD_ROUTES_SWEEP_AFRESH, /* computes all of them afresh */
	TRIAD_ROUTES_SWEEP_OWN,    /* writes those of its file, over any link */
};
/* 'engine' is its name, as of triad_fabric_sa.engine. */
enum triad_routes_next_sweep triad_routes_next_sweep(const char *engine);

/* Around the links of 'n' of the fabric's ports.  'check' is one of all pairs.  Returns 0,
 * ENOMEM or EOVERFLOW (more changes than TRIAD_ROUTES_MAX_CHANGES). */
int triad_routes_repair_make(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_repair **repair);
/* The same by the shortest ways also in a tree: all pairs that links connect arrive. */
int triad_routes_repair_make_shortest(const struct triad_routes_check *check,
	const uint32_t *ports, uint32_t n, struct triad_routes_repair **repair);
void triad_routes_repair_free(struct triad_routes_repair *repair); /* accepts NULL */

#endif
