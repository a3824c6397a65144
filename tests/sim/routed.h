/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small fabrics with forwarding and SL2VL tables, as plain arrays that a test can
 * damage, and an oracle that follows their routes pair by pair, hop by hop.  The oracle
 * shares no code with what is compared with it. */
#ifndef TRIAD_TESTS_SIM_ROUTED_H
#define TRIAD_TESTS_SIM_ROUTED_H

#include "triad/fabric.h"

#define ROUTED_SWITCHES 12u
#define ROUTED_PORTS 9u /* of a switch, port 0 among them */
#define ROUTED_HOSTS 32u
#define ROUTED_LIDS 256u
#define ROUTED_NONE 255u

/* What is at the other end of a switch's port. */
struct routed_far {
	enum { ROUTED_NOTHING, ROUTED_SWITCH, ROUTED_HOST } kind;
	unsigned to;   /* a switch or a host */
	unsigned port; /* number there */
	bool is_down;  /* this end */
};

struct routed {
	unsigned n_switches, n_hosts, lmc;
	bool qos;
	struct routed_far far[ROUTED_SWITCHES][ROUTED_PORTS];
	unsigned host_switch[ROUTED_HOSTS], host_port[ROUTED_HOSTS];
	uint8_t lft[ROUTED_SWITCHES][ROUTED_LIDS];
	uint8_t vl[ROUTED_SWITCHES][ROUTED_PORTS][ROUTED_PORTS][16]; /* in, out */
};

static inline unsigned routed_switch_lid(unsigned sw)
{
	return 1 + sw;
}

static inline unsigned routed_host_lid(unsigned host)
{
	return 64 + 4 * host;
}

/* --- making --- */

/* 'n' switches without links; no table has a route, and all SLs map to VL0. */
void routed_init(struct routed *routed, unsigned n);

/* Links two switches by their first free ports; a host by its switch's. */
void routed_link(struct routed *routed, unsigned a, unsigned b);
unsigned routed_add_host(struct routed *routed, unsigned sw);

/* Fills the tables with shortest paths; 'seed' chooses among several. */
void routed_route(struct routed *routed, uint64_t *seed);

/* Random damage: links that are down, tables with mistakes, SL2VL tables. */
void routed_random(struct routed *routed, uint64_t *seed);

/* Switch i has GUID 0x1000 + 16 i, host i 0x100000 + 16 i, its port one more.
 * The SM is at host 0. */
struct triad_fabric *routed_fabric(const struct routed *routed);

/* --- the oracle --- */

enum routed_end {
	ROUTED_ARRIVES,
	ROUTED_NO_ROUTE,
	ROUTED_DEAD_PORT,
	ROUTED_ELSEWHERE,
	ROUTED_CIRCLES,
	ROUTED_N_ENDS
};

struct routed_walk {
	enum routed_end end;
	unsigned n;                       /* switches passed */
	unsigned sw[ROUTED_SWITCHES + 2]; /* each one, */
	unsigned in[ROUTED_SWITCHES + 2], out[ROUTED_SWITCHES + 2]; /* and its ports */
};

/* From switch 'sw', entered by 'in_port', to a LID. */
struct routed_walk routed_walk(
	const struct routed *routed, unsigned sw, unsigned in_port, unsigned lid);

/* The number of links on the shortest path between two switches, or ROUTED_NONE. */
unsigned routed_distance(const struct routed *routed, unsigned from, unsigned to);

/* The level of each switch, as routes/layout.h defines it; 0: none. */
void routed_levels(const struct routed *routed, unsigned found[ROUTED_SWITCHES]);
bool routed_is_tree(
	const struct routed *routed, const unsigned levels[ROUTED_SWITCHES]);

#endif
