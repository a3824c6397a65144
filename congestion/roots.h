/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Explains congestion: the ports where it begins, the ports that wait because of them,
 * and whose packets are involved.
 *
 * Model: a port waits (PortXmitWait) while it has packets and the buffer at the other
 * end of its link has no room.  That buffer is full because the port by which its
 * packets leave next waits itself, or sends all the time.  So waiting spreads against
 * the direction of packets, from a root:
 *
 *     a port to a host that waits          the host takes packets too slowly
 *     a port that sends all the time,      more comes to it than its link carries: it
 *     does not wait, and holds up          counts no waits itself, as the ports do that
 *     ports that send to it                send to it
 *
 * (tests/sim/flows.h shows both.)  The tree of a root is the waiting ports from which
 * pairs of hosts turn (turns.h) into the root or into a port of the tree.  A port can
 * be in the trees of several roots.
 *
 * A busy port is a root if it is the only port that can hold up some waiting port, or
 * if most of its traffic comes from waiting ports.  The latter is estimated
 * (estimate.h): the rates into and out of a switch are spread over its turns as evenly
 * as their sums allow.
 *
 * The traffic of many hosts to one host fills each link from where their paths meet.
 * Then the root is the port to the host, not the first of the full links.
 *
 * Hosts: those in the tree whose own port waits.  Counters don't show where a host
 * sends, so a role is stated only if it follows from routes and waits:
 *
 *     victim       on each of its paths over the root, some link before the root does not
 *                  wait.  So the host waits for packets of others.
 *     contributor  it has a path over the root on which each link waits, and is the only
 *                  host that can have sent the root's packets through its branch of the
 *                  tree.
 *     undecided    it has such a path, and so have others of its branch: at least one of
 *                  them contributes.  Two hosts at one switch that send over the same
 *                  links, one to the root and one elsewhere, get the same share of the
 *                  links.  So all counters are the same, whichever of the two contributes.
 *
 * If traffic changed from sweep to sweep, a traffic matrix (matrix.h) decides about the
 * undecided hosts: a host that sends most of its traffic elsewhere is a victim.
 *
 * VLs: each has buffers of its own, so all this is done for each plane (planes.h)
 * separately, with the waits of the plane's VLs if ports count them.  A root then has a
 * VL, and two trees that cross the same links on different VLs have two roots.  Rates
 * by VL are not known, so a link is busy by its total traffic.  If the VL of a busy
 * port waits, and nothing behind it could hold it up, then it waits for its turn among
 * the VLs: it is a root and not in a tree.  A root has no VL if no port of its tree
 * counts waits by VL.
 *
 * Loss: the rate at which the tree's outermost ports, mostly those of hosts, could have
 * sent while they waited.  It is an upper bound of the cost: a host that offers more
 * than the root can carry would have to wait anyway.  A port whose counter stopped at
 * its maximum may have waited all the time.
 *
 * A lower bound of a port's wait that is below the limit does not tell whether the port
 * waits: it counts neither as waiting nor as known.
 *
 * Thread-safety: functions without state; what they return is immutable.
 * Memory: for each root its waiting ports and hosts; TRIAD_CONGESTION_MAX_ROOTS are
 * kept, those with the greatest loss. */
#ifndef TRIAD_CONGESTION_ROOTS_H
#define TRIAD_CONGESTION_ROOTS_H

#include "congestion/matrix.h"
#include "congestion/planes.h"

#define TRIAD_CONGESTION_MAX_ROOTS 64u

/* A port's last interval: the share of time that it waited, and of its link's rate that
 * it sent, from 0 to 1; NAN: not known, counts as 0. */
struct triad_congestion_load {
	float wait, sent;
	bool at_least; /* PortXmitWait stopped at its maximum: 'wait' is a lower bound */
};

/* Limits by which all of Triad calls a port waiting or busy.  Less waiting than a tenth of
 * the time is what bursts cause on a healthy fabric; headers and credits leave no more
 * than some nine tenths of a link's rate for data. */
#define TRIAD_CONGESTION_WAIT 0.1f
#define TRIAD_CONGESTION_BUSY 0.9f

/* From 'wait' on a port counts as waiting, from 'busy' on as sending all the time. */
struct triad_congestion_limits {
	float wait, busy;
};

static inline bool triad_congestion_load_waits(const struct triad_congestion_load *load,
	const struct triad_congestion_limits *limits)
{
	return load->wait >= limits->wait;
}

/* Whether only a lower bound is known, below the limit: whether the port waits is not. */
static inline bool triad_congestion_load_is_open(
	const struct triad_congestion_load *load,
	const struct triad_congestion_limits *limits)
{
	return load->at_least && load->wait < limits->wait;
}

enum triad_congestion_kind {
	TRIAD_CONGESTION_SLOW_HOST, /* a host that takes less than its link carries */
	TRIAD_CONGESTION_INCAST,    /* a host that is sent more than its link carries */
	TRIAD_CONGESTION_WEAK_LINK, /* slower than the switch's other links to the
				     * same level, or than it could be */
	TRIAD_CONGESTION_IMBALANCE, /* the switch's other links to that level have
				     * fewer pairs, and room */
	TRIAD_CONGESTION_FULL_LINK, /* a link with too much traffic, for none of
				     * these reasons */
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
	bool at_least; /* as in its load */
	float wait, sent;
	float share; /* share of its traffic that crosses the root, by the matrix; or
		      * NAN */
};

struct triad_congestion_root {
	uint32_t port; /* index in the fabric's ports: packets leave by it */
	uint8_t kind;  /* enum triad_congestion_kind */
	uint8_t vl;    /* or TRIAD_CONGESTION_NO_VL: not known */
	bool at_least; /* as in its load */
	/* Set by who compares sweeps (track.h): whether it was one in the sweep before was
	 * not known. */
	bool may_be_older;
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
	uint32_t n_links;                    /* ports with a link */
	uint32_t n_known;                    /* of these, ports whose wait is known */
	uint32_t n_open;                     /* of the others, ports of a lower bound */
	uint32_t n_waiting;                  /* of these, ports that wait */
	uint32_t n_unexplained;              /* of these, ports in no tree */
};

/* 'loads' has each port of the layout's fabric.  'by_vl' may be NULL, and so may
 * 'matrix', which has learnt from these loads.  Returns 0 or ENOMEM. */
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
