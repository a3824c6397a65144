/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics for tests of paths: planned first, so that a test can change anything about
 * them, then built.
 *
 *     struct plan *plan = plan_new();
 *     unsigned sw = plan_add_switch(plan, 4), host = plan_add_host(plan, 1);
 *
 *     plan_link(plan, sw, 1, host, 1);
 *     plan_give_lids(plan, 0);
 *     plan_route(plan);
 *     plan_port(plan, host, 1)->mtu = 3;
 *     fabric = plan_build(plan);
 *
 * Ports begin as active ones with an MTU of 4,096 octets and 100 Gb/s, and are full
 * members of the default partition.  Aborts on an error, as each test has a process of
 * its own. */
#ifndef TRIAD_TESTS_SIM_PLANS_H
#define TRIAD_TESTS_SIM_PLANS_H

#include "triad/fabric.h"

#define PLAN_MAX_NODES 160
#define PLAN_MAX_PORTS 16 /* the highest number and one */
#define PLAN_MAX_PKEYS 16
#define PLAN_MAX_LIDS 2048
#define PLAN_NO_ROUTE 255

struct plan_port {
	bool is_there;
	struct triad_fabric_port port; /* its 'node' and 'remote' don't matter */
	unsigned far_node, far_number; /* far_number 0: no link */
	unsigned n_pkeys;
	uint16_t pkeys[PLAN_MAX_PKEYS];
	unsigned n_sl2vl; /* rows, by in-port */
	struct triad_sl2vl sl2vl[PLAN_MAX_PORTS];
	uint8_t keeps_vls; /* the device has no more operational (coded); 0: what it's
	                    * asked for */
	unsigned n_vlarb;  /* entries: low ones, then high ones */
	struct triad_vlarb_entry vlarb[2 * TRIAD_VLARB_MAX];
};

struct plan_node {
	struct triad_fabric_node node;
	char name[TRIAD_NODE_NAME_SIZE];
	unsigned n_numbers; /* ports have numbers below */
	struct plan_port ports[PLAN_MAX_PORTS];
	uint32_t lft_size;
	uint8_t lft[PLAN_MAX_LIDS];
};

struct plan {
	unsigned n_nodes;
	struct plan_node nodes[PLAN_MAX_NODES];
	unsigned n_lids; /* the highest one that was given, and one */
	unsigned n_aliases;
	struct {
		uint64_t guid, of;
	} aliases[64];
	unsigned n_partitions;
	struct {
		uint16_t pkey;
		uint8_t sl;
		const char *name;
	} partitions[16];
	uint64_t sm_port_guid;
	struct triad_fabric_sa sa;
	struct triad_fabric_qos qos;
};

struct plan *plan_new(void);
void plan_free(struct plan *plan);

/* Node i has GUID 0x1000 * (1 + i), its port n that and n; a switch's ports that alone.
 * Switches are called "switch-i", hosts "host-i".  Return the node's index. */
unsigned plan_add_switch(struct plan *plan, unsigned n_ports);
unsigned plan_add_host(struct plan *plan, unsigned n_ports);

struct plan_port *plan_port(struct plan *plan, unsigned node, unsigned number);
void plan_link(struct plan *plan, unsigned a, unsigned a_number, unsigned b,
	unsigned b_number);

/* Replaces what the port has. */
void plan_set_pkeys(struct plan_port *port, const uint16_t *pkeys, unsigned n);

void plan_add_alias(struct plan *plan, uint64_t guid, uint64_t of);
void plan_add_partition(struct plan *plan, uint16_t pkey, uint8_t sl, const char *name);

/* From 1 on, aligned, to every end port; LMC of switches is 0. */
void plan_give_lids(struct plan *plan, unsigned lmc);

/* Shortest paths; the LIDs of one port use those of equal length in turn. */
void plan_route(struct plan *plan);

/* Sends SLs to VL 15: those that 'sls' lacks, at 'port', from 'in_port'. */
void plan_set_sls(struct plan_port *port, unsigned in_port, uint16_t sls);

/* OpenSM's own defaults for all kinds of ports; 'n_vls' (coded) data VLs, SL2VL tables
 * and 'n_entries' of each arbitration table for all ports that are there.  Port 0 of
 * each switch is enhanced.  The tables hold what OpenSM writes by default. */
void plan_use_qos(struct plan *plan, unsigned vl_cap, unsigned n_entries);

/* The tables of all ports as OpenSM writes them by default, once more; and
 * PortInfo:OperationalVLs as devices keep them. */
void plan_program_defaults(struct plan *plan);

/* The index of that port in the fabric. */
uint32_t plan_index(const struct triad_fabric *fabric, const struct plan *plan,
	unsigned node, unsigned number);

/* With one reference. */
struct triad_fabric *plan_build(const struct plan *plan);

/* A fat tree of two stages with a few oddities: MTUs, rates, P_Keys and SL2VL tables of
 * all kinds, hosts with two ports, aliases, two hosts without a switch between.  The
 * same seed gives the same. */
struct plan *plan_random_tree(uint64_t seed);

#endif
