/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion explained: the ports where it begins, what waits because of them, and whose
 * packets.
 *
 * Model: a port waits (PortXmitWait) while it has packets and the buffer at the other end
 * of its link has no room.  That buffer is full because of a port that its packets leave
 * by next, and which waits itself, or sends all the time.  So waiting spreads against the
 * direction of packets, from a root:
 *
 *     a port to a host that waits          the host takes packets too slowly
 *     a port that sends all the time,      more comes to it than its link carries: it
 *     does not wait, and holds up          counts no waits itself, as the ports do that
 *     ports that send to it                send to it
 *
 * (tests/sim/flows.h shows both.)  The tree of a root is the waiting ports from which
 * pairs of hosts turn (turns.h) into the root or into a port of the tree.  A port can be
 * in the trees of several roots.
 *
 * A busy port is a root when it must be what holds up a waiting port, because nothing
 * else behind that can, or when most of what it sends comes from ports that wait.  The
 * latter is estimated: the rates into a switch and out of it are spread over its turns so
 * that their sums are right, as evenly as they allow.
 *
 * What many send to one host meets where their ways meet, and fills each link from there
 * on.  Then the root is the port to the host, not the first of them.
 *
 * Hosts: those in the tree whose own port waits.  Counters don't say where a host sends,
 * so only what follows from routes and waits is claimed:
 *
 *     victim       on each of its ways over the root a link before the root does not
 *                  wait: it waits for packets of others.
 *     contributor  it has such a way on which each link waits, and is the only one that
 *                  can have brought the root's packets into its branch of the tree.
 *     undecided    it has such a way, and others of its branch have, too: at least one
 *                  of them contributes.  Two hosts at one switch that send over the same
 *                  links, one to the root and one elsewhere, get the same share of them,
 *                  so their counters and those of all links on are the same whichever
 *                  of the two it is.
 *
 * Where traffic has changed from sweep to sweep, a matrix of it (matrix.h) decides about
 * the undecided: a host that sends most of what it sends elsewhere is a victim.
 *
 * VLs: each has buffers of its own, so all of this is looked for in each plane (planes.h)
 * by itself, with the waits of its VLs where ports count those.  A root then has a VL, and
 * two trees that cross the same links on different VLs are two roots.  A link is busy by
 * all that it sends, on whatever VL.  A busy port whose VL waits, with nothing behind it
 * that could hold that up, waits for its turn among VLs: it is a root and not in a tree.
 * Without a counter of a VL in its tree a root has none.  Rates are not known by VL.
 *
 * Loss: the rate at which waiting ports that nothing waits for (most are those of hosts)
 * could have sent while they waited.  A host that would send more than the root can carry
 * in any case waits for that, too: it is what waiting cost at most.
 *
 * Thread-safety: functions without state; what they return is immutable.
 * Memory: for each root its waiting ports and hosts; TRIAD_CONGESTION_MAX_ROOTS are kept,
 * those with the greatest loss. */
#ifndef TRIAD_CONGESTION_ROOTS_H
#define TRIAD_CONGESTION_ROOTS_H

#include "congestion/matrix.h"
#include "congestion/planes.h"

#define TRIAD_CONGESTION_MAX_ROOTS 64u

/* What a port did in its last interval, as shares of the time and of its link's rate
 * from 0 to 1; NAN: not known, which counts as 0. */
struct triad_congestion_load {
	float wait, sent;
};

/* A port waits from 'wait' on, and sends all the time from 'busy' on. */
struct triad_congestion_limits {
	float wait, busy;
};

enum triad_congestion_kind {
	TRIAD_CONGESTION_SLOW_HOST, /* takes less than its link carries */
	TRIAD_CONGESTION_INCAST,    /* a host that is sent more than its link carries */
	TRIAD_CONGESTION_WEAK_LINK, /* narrower or slower than its peers, or than it could be */
	TRIAD_CONGESTION_IMBALANCE, /* others beside it have fewer pairs, and room */
	TRIAD_CONGESTION_FULL_LINK, /* none of that: too much traffic for it */
	TRIAD_CONGESTION_N_KINDS
};

enum triad_congestion_role {
	TRIAD_CONGESTION_CONTRIBUTOR,
	TRIAD_CONGESTION_VICTIM,
	TRIAD_CONGESTION_UNDECIDED,
	TRIAD_CONGESTION_N_ROLES
};

struct triad_congestion_host {
	uint32_t port; /* index in the fabric's ports */
	uint8_t role;  /* enum triad_congestion_role */
	float wait, sent;
	float share; /* of what it sends, over the root, as the matrix has it; or NAN */
};

struct triad_congestion_root {
	uint32_t port; /* index in the fabric's ports: packets leave by it */
	uint8_t kind;  /* enum triad_congestion_kind */
	uint8_t vl;    /* or TRIAD_CONGESTION_NO_VL: it is not known */
	float wait, sent;
	double loss_bps;
	uint32_t n_waiting, n_hosts;
	uint32_t n_roles[TRIAD_CONGESTION_N_ROLES];
	uint32_t *waiting;                   /* ports, those near the root first */
	struct triad_congestion_host *hosts; /* by role, then by what they send */
};

struct triad_congestion {
	uint32_t n_roots, n_more;            /* roots beyond those kept */
	struct triad_congestion_root *roots; /* by loss, the greatest first */
	uint32_t n_waiting;                  /* ports */
	uint32_t n_unexplained;              /* of these, in no root's tree */
};

/* 'loads' is for each port of the layout's fabric; 'by_vl', and 'matrix', which has learnt
 * from them, may be NULL.  Returns 0 or ENOMEM. */
int triad_congestion_find(const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads,
	const struct triad_congestion_limits *limits,
	const struct triad_congestion_by_vl *by_vl,
	const struct triad_congestion_matrix *matrix, struct triad_congestion **found);
void triad_congestion_free(struct triad_congestion *found); /* accepts NULL */

/* The index of the root at 'port' on 'vl', or TRIAD_FABRIC_NONE. */
uint32_t triad_congestion_find_root(
	const struct triad_congestion *found, uint32_t port, uint8_t vl);

/* "slow host", "incast", "weak link", "imbalance of routes", "full link". */
const char *triad_congestion_kind_name(enum triad_congestion_kind kind);
/* "contributor", "victim", "undecided". */
const char *triad_congestion_role_name(enum triad_congestion_role role);
/* What to do about it: a sentence without a period. */
const char *triad_congestion_advice(enum triad_congestion_kind kind);

#endif
