/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares a cabling plan with a fabric: what a technician is to do, cable by cable.
 *
 * Model: ports are the vertices of a graph, planned and present cables its edges.  A port
 * has at most one edge of each kind, so that what is not as planned falls apart into
 * alternating paths and rings:
 *
 *     path, as many of both kinds     each cable has one wrong end: so many moves, from the
 *                                     port on that is free
 *     path, one planned cable more    the moves, and one cable is put in
 *     path, one present cable more    one cable is taken out, and the moves
 *     ring of two cables              one swap of two ends
 *     ring of more                    a ring: one end is held while the others move
 *
 * So each cable that is wrong is touched at one end, but for those that are put in or
 * taken out.  No list of single moves, swaps, puts and take-outs that gives the plan is
 * shorter.  Items about one path stand in the order in which they are to be carried out;
 * paths do not depend on each other.
 *
 * What can't be known is not a deviation: a node that the fabric does not have (its
 * cables may be there), a name that several nodes have, a port that is disabled or whose
 * far end does not answer.  Each is an item of its own.  A cable at such a place is
 * neither missing nor extra.
 *
 * Invariants: after the items up to any one are carried out, the next finds a cable at
 * the ports that it takes ends from, and none at those that it puts ends in, if nobody
 * else touches a cable.
 *
 * Complexity: O(n log n) in the ports of the fabric and the links of the plan.
 * Thread-safety: functions without state.  Memory: the result owns its arrays. */
#ifndef TRIAD_CABLING_COMPARE_H
#define TRIAD_CABLING_COMPARE_H

#include "cabling/plan.h"
#include "triad/diag.h"
#include "triad/fabric.h"

/* What is known of the cable at a port of the fabric. */
struct triad_cabling_cable {
	bool has_plug;
	uint16_t length_dm; /* decimetres; 0: not known */
};

enum triad_cabling_kind {
	TRIAD_CABLING_MOVE, /* the end in port 0 to port 1; the other end is in 2 */
	TRIAD_CABLING_SWAP, /* the ends in ports 0 and 1; the others are in 2 and 3 */
	TRIAD_CABLING_RING, /* by 'steps' */
	TRIAD_CABLING_PUT,  /* a cable between ports 0 and 1 */
	TRIAD_CABLING_TAKE_OUT, /* the cable between ports 0 and 1 */
	TRIAD_CABLING_REPLACE,  /* the cable between ports 0 and 1, because of 'what' */
	/* From here on: what can't be known. */
	TRIAD_CABLING_NODE_ABSENT,  /* the fabric does not have the node of 'end' */
	TRIAD_CABLING_NAME_SHARED,  /* several nodes have the name of 'end' */
	TRIAD_CABLING_PORT_ABSENT,  /* the switch has no port 0 */
	TRIAD_CABLING_PORT_UNKNOWN, /* port 0 is disabled, or nothing answers behind it;
	                              * its planned far end is 1 */
	TRIAD_CABLING_RATE_UNKNOWN, /* speed or width of 'n' links; the first is 0 to 1 */
	TRIAD_CABLING_LENGTH_UNKNOWN, /* length of 'n' cables, likewise */
	TRIAD_CABLING_ROWS_OPEN,      /* 'n' rows name no port at the far end */
	TRIAD_CABLING_N_KINDS
};

/* Bits of 'what': of REPLACE, what differs; of PUT, that a plug is in port 0 or 1. */
enum {
	TRIAD_CABLING_RATE = 1,
	TRIAD_CABLING_LENGTH = 2,
	TRIAD_CABLING_PLUG_0 = 4,
	TRIAD_CABLING_PLUG_1 = 8,
};

struct triad_cabling_port {
	uint32_t node; /* index in the fabric's nodes */
	uint8_t number;
};

struct triad_cabling_item {
	enum triad_cabling_kind kind;
	uint8_t what;
	uint16_t length_dm; /* of a cable to replace; 0: not known */
	unsigned n_ports;   /* used in 'ports' */
	struct triad_cabling_port ports[4];
	uint32_t link; /* of the plan, that it is about; UINT32_MAX: none */
	uint32_t n;    /* cables that it is about */
	struct triad_cabling_end end;
	/* Of a RING, in the result's 'steps': the end in step 0 is held; the end in step i
	 * goes to the port of step i - 1; the end that is held, to that of the last. */
	uint32_t first_step, n_steps;
};

struct triad_cabling_result {
	uint32_t n_items;
	struct triad_cabling_item *items; /* deviations first */
	struct triad_cabling_port *steps;
	uint32_t n_deviations; /* of the items */
	uint32_t n_planned;    /* cables of the plan */
	uint32_t n_right;      /* cables that are where they are planned */
	uint32_t n_outside;    /* cables of nodes that the plan does not have */
};

/* Compares 'plan' with 'fabric'.  'cables' (may be NULL) has an entry for each port of the
 * fabric.  Returns 0 and a result; EINVAL if the plan contradicts itself, with its lines in
 * 'diags'; ENOMEM.  Blocks for some 0.1 s for 100,000 links. */
int triad_cabling_compare(const struct triad_cabling_plan *plan,
	const struct triad_fabric *fabric, const struct triad_cabling_cable *cables,
	struct triad_diags *diags, struct triad_cabling_result **result);
/* Accepts NULL. */
void triad_cabling_result_free(struct triad_cabling_result *result);

static inline bool triad_cabling_is_deviation(const struct triad_cabling_item *item)
{
	return item->kind < TRIAD_CABLING_NODE_ABSENT;
}

#endif
