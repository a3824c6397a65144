/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What to do about bad links: the worst first, what it costs to be without each, and whether it
 * may be taken out of routing without asking anybody.
 *
 * Model: findings of one link are one proposal, and so are those of a node.  The order:
 *
 *   1. links that corrupt or lose packets now: bit errors, counters of errors, flaps
 *   2. links that will: a hot module, one that gets too little light
 *   3. links that are merely slow
 *   4. nodes, which are proposed only
 *
 * and among these those that are sure, then by how many times they are over their limit.
 *
 * Greedy, as CorrOpt's fast check [capacity.h]: links are judged in this order, and each that is
 * taken is gone for those after it.  A link is taken if its evidence is sure and nothing speaks
 * against it:
 *
 *   guards     a link of a host or router is not taken, its last one or not: what is sent to that
 *              port would be lost.  Nor one that is the only way to an SM or to a node
 *              (portmgr/plan/guard.h).
 *   max_out    so many links of a tier may be out, those that were taken before included.  A tier
 *              is the links between two levels (routes/layout.h); 0: hosts.
 *   capacity   each switch that loses paths keeps at least that share of them (capacity.h)
 *
 * What is not known speaks against it, too: where this SM is, the routes, the levels of what is
 * no tree.  A plan says what could be done now; times (how long a link was bad, when it was out
 * last) are the caller's.
 *
 * Costs are estimates: pairs that cross the link by the present tables (routes/repair.h), and how
 * pairs lie on links without this one and those that are out or taken before (routes/without.h).
 * Only the first 'max_judged' links have costs, and only these are taken: when so many links are
 * bad, something else is.
 *
 * Thread-safety: functions without state.
 * Memory: the plan owns its arrays, and holds the fabric.  Time: milliseconds for a link whose pairs
 * are found, and a pass over all LIDs for one that is counted. */
#ifndef TRIAD_HEAL_PLAN_H
#define TRIAD_HEAL_PLAN_H

#include "damp/links.h"
#include "heal/finding.h"
#include "routes/check.h"

/* In the order in which they are tried. */
enum triad_heal_remedy {
	TRIAD_HEAL_RETRAIN, /* bounce it: the ends negotiate again */
	TRIAD_HEAL_SLOWER,  /* less speed or width, where both ends can */
	TRIAD_HEAL_OUT,     /* out of routing, its ports in INIT */
	TRIAD_HEAL_DISABLE,
	TRIAD_HEAL_N_REMEDIES
};

/* Take it, or why it is only proposed. */
enum triad_heal_why {
	TRIAD_HEAL_TAKE,
	TRIAD_HEAL_IS_OUT, /* of routing already */
	TRIAD_HEAL_NODE,
	TRIAD_HEAL_LAST_OF_HOST,
	TRIAD_HEAL_OF_HOST,
	TRIAD_HEAL_WAY_TO_SM,
	TRIAD_HEAL_ONLY_WAY, /* to a node */
	TRIAD_HEAL_NO_SM,    /* how this SM reaches it is not known */
	TRIAD_HEAL_NO_ROUTES,
	TRIAD_HEAL_NO_TIERS,
	TRIAD_HEAL_NOT_SURE,
	TRIAD_HEAL_TIER_FULL,
	TRIAD_HEAL_CAPACITY,
	TRIAD_HEAL_TOO_MANY,
	TRIAD_HEAL_N_WHYS
};

/* A link that carries nothing now. */
struct triad_heal_out {
	struct triad_damp_ends ends;
	bool is_taken; /* by Triad: it counts against max_out; else it is down */
};

struct triad_heal_input {
	struct triad_fabric *fabric;
	/* Of this fabric; NULL: routes are not known. */
	const struct triad_routes_check *check;
	const struct triad_heal_finding *findings;
	uint32_t n_findings;
	const struct triad_heal_out *out;
	uint32_t n_out;
	const uint64_t *sm_guids; /* port GUIDs of other SMs */
	uint32_t n_sm_guids;
	uint32_t max_out;    /* of a tier */
	double min_capacity; /* a share, 0 to 1 */
	uint32_t max_judged;
	/* Of these, so many with the link that is worst then; 0: nobody reads costs, and only links
	 * that are taken have those of pairs. */
	uint32_t max_counted;
};

struct triad_heal_cost {
	bool is_known;            /* of the pairs */
	uint64_t n_moved, n_lost; /* pairs */
	/* The link with the most pairs of those that get more by it; TRIAD_FABRIC_NONE: none
	 * does. */
	uint32_t worst;
	uint64_t worst_pairs, worst_before;
	/* Paths to the top tier: the least share that a switch would keep (capacity.h), and
	 * hosts whose switch would have one path left. */
	double share;     /* NAN: not known */
	uint32_t at_node; /* that switch's, or TRIAD_FABRIC_NONE */
	uint32_t n_hosts_one;
};

struct triad_heal_proposal {
	uint32_t node; /* index in the fabric's nodes: that of 'port', or the bad one */
	/* The link's ends, indices in the fabric's ports, that of the worst finding first;
	 * TRIAD_FABRIC_NONE: it is about the node. */
	uint32_t port, far;
	uint16_t tier[2];  /* levels, the lower one first; TRIAD_ROUTES_NO_LEVEL */
	uint32_t first, n; /* in the plan's findings: the worst first */
	uint32_t remedies; /* bit i: remedy i */
	enum triad_heal_why why; /* or TRIAD_HEAL_TAKE */
	struct triad_heal_cost cost;
};

struct triad_heal_plan {
	struct triad_fabric *fabric;
	uint32_t n, n_findings;
	struct triad_heal_proposal *proposals; /* the worst first */
	struct triad_heal_finding *findings;
	uint32_t n_take;
	uint32_t n_unlinked; /* findings at ports that have no link now */
};

/* Returns 0 or ENOMEM. */
int triad_heal_plan_make(
	const struct triad_heal_input *input, struct triad_heal_plan **plan);
void triad_heal_plan_free(struct triad_heal_plan *plan); /* accepts NULL */

/* 1 to 4, as above. */
unsigned triad_heal_rank(unsigned kind);

/* Words for programs ("bit_errors", "retrain", "take"), and texts for people; the text of
 * TRIAD_HEAL_TAKE is NULL. */
const char *triad_heal_kind_name(unsigned kind);
const char *triad_heal_remedy_name(unsigned remedy);
const char *triad_heal_remedy_text(unsigned remedy);
const char *triad_heal_why_name(unsigned why);
const char *triad_heal_why_text(unsigned why);

#endif
