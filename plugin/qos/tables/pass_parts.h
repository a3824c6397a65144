/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a pass (pass.h), for its own files. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_PASS_PARTS_H
#define TRIAD_PLUGIN_QOS_TABLES_PASS_PARTS_H

#include "plugin/qos/tables/hooks.h"
#include "plugin/qos/tables/pass.h"

#define TRIAD_TABLES_PASS_MEMO_SIZE 65536 /* a power of two */

/* A cached class of a port, or of all ports of a switch, found in pass number
 * 'pass'. */
struct triad_tables_pass_memo {
	const void *key; /* a port or a node */
	uint32_t class;
	uint32_t pass : 31;
	uint32_t is_apart : 1; /* a node whose ports are not all of one class */
};

/* The node that the pass is at: its ports, and which scopes apply. */
struct triad_tables_pass_view {
	const osm_node_t *node;
	unsigned n;       /* ports, port 0 included */
	unsigned last_up; /* the highest number of a port that is not down; 0: none */
	struct triad_scopes_end ends[TRIAD_SCOPES_MAX_PORTS]; /* by number */
	struct triad_scopes_switch kinds;
	bool had_turn;
	const osm_physp_t *out; /* whose scopes are in 'row' */
	uint16_t row[TRIAD_SCOPES_MAX_PORTS];
};

struct triad_tables_pass {
	struct osm_opensm *osm;
	struct triad_setup *setup;   /* NULL: OpenSM's tables */
	struct triad_scopes *scopes; /* of 'setup'; kept from pass to pass */
	struct triad_scopes_needs needs;
	struct triad_fabric_qos qos;
	struct triad_engine_hooks engine;
	uint32_t number; /* of the pass; 31 bits of it */
	struct triad_tables_pass_view view;
	const osm_physp_t *vlarb_port; /* the port whose scope is 'vlarb_scope' */
	uint16_t vlarb_scope;
	osm_node_t *hidden; /* the switch that OpenSM is to skip */
	bool keeps;         /* memory is short: every port keeps its tables */
	struct triad_tables_pass_counts counts;
	struct triad_tables_pass_memo memo[TRIAD_TABLES_PASS_MEMO_SIZE];
};

/* --- pass_ports.c: ports as scopes see them --- */

/* Makes 'node' the node in 'view'. */
void triad_tables_pass_look_at(struct triad_tables_pass *pass, osm_node_t *node);

/* Makes 'out', a port of the switch in 'view', the one whose scopes are in 'row'. */
void triad_tables_pass_look_at_out(
	struct triad_tables_pass *pass, const osm_physp_t *out);

struct triad_scopes_end triad_tables_pass_end_of(
	struct triad_tables_pass *pass, const osm_physp_t *port);

/* The mask by which OpenSM limits VLs to those that the port uses now. */
static inline uint8_t triad_tables_pass_vl_mask(const osm_physp_t *port)
{
	uint8_t code = ib_port_info_get_op_vls(&port->port_info);

	return code ? (uint8_t)((1u << (code - 1)) - 1) : 0xf;
}

/* The data VLs that OpenSM will set for the port (coded). */
uint8_t triad_tables_pass_op_vls(
	const struct triad_tables_pass *pass, const osm_physp_t *port);

/* --- pass_switch.c: a switch's SL2VL tables as a whole --- */

/* Call it when OpenSM has finished the arbitration of all ports of the switch in
 * 'view'. */
void triad_tables_pass_step(struct triad_tables_pass *pass, osm_node_t *node);

/* Makes the tables of the skipped switch visible to OpenSM again. */
void triad_tables_pass_put_back(struct triad_tables_pass *pass);

/* The table as OpenSM writes it: all VLs except 15 are limited to those that the port
 * uses now. */
struct triad_sl2vl triad_tables_pass_cut(
	const osm_physp_t *port, const struct triad_sl2vl *table);

#endif
