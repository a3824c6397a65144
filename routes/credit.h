/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Credit loops: circles of buffers, each of which can be emptied only when the next one
 * has room.
 *
 * Model: a channel is one direction of a link between switches and a VL. A channel
 * depends on another one when packets of some path come by the first and leave by the
 * second.  Channels that depend on each other in a circle may fill up and block for
 * ever; without a circle that is impossible (Dally, Seitz: Deadlock-free message
 * routing in multiprocessor interconnection networks, 1987).  Hosts are not part of
 * circles: packets begin and end there.
 *
 * Paths: those that arrive from each host at each LID of every other host, in each SL
 * that may be used between them.  VLs follow from the SL2VL tables; packets mapped to
 * VL15 are dropped.  Each set of channels that depend on each other counts as one loop.
 * Its shortest circle is shown, each step with a path that takes it.
 *
 * Two steps: first only links, as if there were one VL. If they have no circle, no SLs
 * and tables can cause one.  Otherwise channels are examined, on the links that are in
 * a circle or behind one; for that the SLs must be known.
 *
 * Thread-safety: functions without state; a result is immutable.
 * Memory: TRIAD_ROUTES_MAX_EDGES dependencies of channels. */
#ifndef TRIAD_ROUTES_CREDIT_H
#define TRIAD_ROUTES_CREDIT_H

#include "routes/tree.h"

#define TRIAD_ROUTES_MAX_LOOPS 8u       /* shown */
#define TRIAD_ROUTES_MAX_LOOP_STEPS 64u /* of each */

/* The SLs that packets may have. */
struct triad_routes_sls {
	uint16_t all; /* a bit for each, between any two; 0: not known */
	/* If not NULL: SLs (a bit each) from the hosts of a switch to a goal, in entry
	 * goal
	 * * n_switches + sw. */
	const uint16_t *of;
};

/* The VL for packets from 'in_port' out of 'port' (an index in the fabric's ports); 15:
 * dropped.  'vl' NULL: use the fabric's tables. */
struct triad_routes_vls {
	uint8_t (*vl)(const void *context, uint32_t port, unsigned in_port, uint8_t sl);
	const void *context;
};

/* One channel of a loop, and a path that continues from it to the next channel. */
struct triad_routes_step {
	uint32_t port; /* the out-port, an index in the fabric's ports */
	uint8_t vl;
	uint8_t sl;
	uint16_t lid;
	uint32_t from, to; /* indices in the fabric's ports; NONE: not found */
};

struct triad_routes_loop {
	uint32_t n_channels; /* of the shortest circle */
	uint32_t n_involved; /* channels that depend on each other */
	uint32_t n_steps;    /* shown: all, except in very long circles */
	struct triad_routes_step steps[TRIAD_ROUTES_MAX_LOOP_STEPS];
};

enum triad_routes_credit_state {
	TRIAD_ROUTES_CREDIT_CLEAN,
	TRIAD_ROUTES_CREDIT_LOOPS,
	TRIAD_ROUTES_CREDIT_NO_SLS,    /* not checked: only the routing engine knows
				        * the SLs */
	TRIAD_ROUTES_CREDIT_TOO_LARGE, /* not checked: too many dependencies */
};

struct triad_routes_credit {
	enum triad_routes_credit_state state;
	bool by_links; /* the links have no circle: clean for any SLs */
	uint32_t n_loops;
	uint32_t n_dependencies; /* of channels; 0 with 'by_links' */
	uint32_t n_shown;
	struct triad_routes_loop loops[TRIAD_ROUTES_MAX_LOOPS];
};

/* --- dependencies of links, collected by other checks --- */

struct triad_routes_deps {
	const struct triad_routes_layout *layout;
	size_t *first;   /* of each switch's in-port 0, in 'words' */
	uint64_t *words; /* for each in-port a bit for each out-port */
	size_t n_words;
};

/* Return 0 or ENOMEM; clear in either case.  The copy is for a layout of the same links. */
int triad_routes_deps_init(
	struct triad_routes_deps *deps, const struct triad_routes_layout *layout);
int triad_routes_deps_copy(struct triad_routes_deps *copy,
	const struct triad_routes_deps *deps, const struct triad_routes_layout *layout);
void triad_routes_deps_clear(struct triad_routes_deps *deps);

static inline uint32_t triad_routes_deps_width(const struct triad_routes_switch *sw)
{
	return (sw->n_links + 63) / 64;
}

static inline void triad_routes_deps_add(struct triad_routes_deps *deps, uint32_t sw,
	unsigned in_port, unsigned out_port)
{
	uint32_t width = triad_routes_deps_width(&deps->layout->switches[sw]);

	deps->words[deps->first[sw] + (size_t)in_port * width + out_port / 64] |=
		UINT64_C(1) << out_port % 64;
}

/* --- loops --- */

/* Fills 'credit'; 'deps' has the dependencies of all paths of the layout.  Returns 0 or
 * ENOMEM. */
int triad_routes_credit_find(const struct triad_routes_deps *deps,
	const struct triad_routes_sls *sls, const struct triad_routes_vls *vls,
	struct triad_routes_credit *credit);

/* The SLs that packets may have according to the fabric: those of partitions, and those
 * that the SM answers; only SL 0 if the SM programs no tables. */
uint16_t triad_routes_sls_of(const struct triad_fabric *fabric);

/* The VL by the fabric's tables; VL0 if the SM programs no tables or the port has
 * none. */
uint8_t triad_routes_fabric_vl(
	const struct triad_fabric *fabric, uint32_t port, unsigned in_port, uint8_t sl);

#endif
