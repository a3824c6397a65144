/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The desired QoS tables of a fabric: the scope that applies to each table, and its
 * contents.
 *
 * Model: each examined port (not down, and not the port 0 of a switch without tables)
 * has the scope of its arbitration tables, and one row for each kind of in-port
 * (setup.h), with the scope of its SL2VL tables and the SLs that are dead there.  An
 * enhanced port 0 has one more row, for packets from port 0 itself, for which OpenSM
 * has another default.  Contents are not stored: they follow from scope, kind of port
 * and number of VLs.
 *
 * An SL is dead at a place where it has no VL, or a VL that is never sent: one without
 * weight in both arbitration tables of the out-port [IBA 7.6.9].  A port without
 * arbitration tables sends all VLs.
 *
 * In-ports are numbered from 0 to the switch's highest port, including ports that the
 * fabric lacks: OpenSM sends tables for them, too.
 *
 * OpenSM's defaults are those that osm_qos.c writes: a mask limits VLs to the port's,
 * except VL 15 in an SL2VL table.
 *
 * Thread-safety: filled by one thread, then read only; the scopes belong to it.
 * Memory: owned until triad_desired_clear(); sized by the fabric, whose sizes are
 * capped, and TRIAD_DESIRED_MAX_ROWS. */
#ifndef TRIAD_QOS_DESIRED_H
#define TRIAD_QOS_DESIRED_H

#include "qos/setup/setup.h"

#define TRIAD_DESIRED_MAX_ROWS (1u << 26)
#define TRIAD_DESIRED_N_CODES 6 /* codes of numbers of VLs; higher ones as the last */
#define TRIAD_DESIRED_NO_VL 15  /* packets mapped to VL 15 are dropped [IBA 7.6.6] */

/* SL2VL tables of in-ports of one kind. */
struct triad_desired_row {
	uint16_t scope;
	uint16_t dead; /* a bit for each SL that has no VL, or one that is never sent */
};

struct triad_desired_port {
	uint32_t first_row; /* in 'rows', or TRIAD_FABRIC_NONE: no SL2VL tables */
	uint16_t vlarb;     /* scope */
	uint16_t sent;      /* a bit for each VL that is ever sent */
	uint8_t op_vls;     /* coded; triad_fabric_op_vls() */
	uint8_t kind;       /* enum triad_qos_port_kind */
	bool is_looked_at;
	bool has_vlarb; /* it may have arbitration tables, according to its caps */
};

struct triad_desired_node {
	size_t first_kind;  /* of in-port 0, in 'kinds' */
	uint16_t n_kinds;   /* of in-ports; 1 for CAs and routers */
	uint16_t n_numbers; /* the highest port number plus one */
	bool has_sl2vl;
};

/* A cache of the last result: neighbouring ports mostly have the same. */
struct triad_desired_last_sent {
	bool is_known;
	uint16_t scope, sent;
	uint8_t op_vls, kind;
	unsigned n_low, n_high;
};

struct triad_desired {
	struct triad_setup *setup;   /* borrowed; may be NULL */
	struct triad_scopes *scopes; /* NULL when 'setup' is */
	const struct triad_fabric *fabric;
	uint32_t *classes; /* by port */
	struct triad_desired_port *ports;
	struct triad_desired_node *nodes;
	uint8_t *kinds;
	struct triad_desired_row *rows;
	uint32_t n_rows;
	size_t rows_room;
	uint16_t dead; /* SLs that are dead anywhere */
	struct triad_desired_last_sent last_sent;
	struct triad_qos_defaults defaults[TRIAD_QOS_N_PORT_KINDS]
					  [TRIAD_DESIRED_N_CODES];
};

/* 'setup' may be NULL.  Returns 0, ENOMEM or EOVERFLOW; on error there is nothing to
 * clear. */
int triad_desired_resolve(struct triad_desired *desired, struct triad_setup *setup,
	const struct triad_fabric *fabric);
void triad_desired_clear(struct triad_desired *desired);

/* The number of rows of the port 'port', from its first one on. */
static inline unsigned triad_desired_n_rows(
	const struct triad_desired *desired, uint32_t port)
{
	const struct triad_desired_node *node =
		&desired->nodes[desired->fabric->ports[port].node];

	return node->n_kinds +
		(desired->ports[port].kind == TRIAD_QOS_PORT_SWITCH0 ? 1u : 0u);
}

/* The index, among the port's rows, of the row for 'in_port' (a number). */
static inline unsigned triad_desired_row_at(
	const struct triad_desired *desired, uint32_t port, unsigned in_port)
{
	const struct triad_desired_node *node =
		&desired->nodes[desired->fabric->ports[port].node];

	if (!in_port && desired->ports[port].kind == TRIAD_QOS_PORT_SWITCH0)
		return node->n_kinds;
	return desired->kinds[node->first_kind + in_port];
}

/* SLs that are dead from 'in_port' out of 'port'; 0 where there are no SL2VL tables. */
static inline uint16_t triad_desired_dead(
	const struct triad_desired *desired, uint32_t port, unsigned in_port)
{
	uint32_t first = desired->ports[port].first_row;

	if (first == TRIAD_FABRIC_NONE)
		return 0;
	return desired->rows[first + triad_desired_row_at(desired, port, in_port)].dead;
}

/* Those of them that a scope causes; a scope of either kind can be the cause. */
static inline uint16_t triad_desired_dead_by_scope(
	const struct triad_desired *desired, uint32_t port, unsigned in_port)
{
	uint32_t first = desired->ports[port].first_row;
	const struct triad_desired_row *row;

	if (first == TRIAD_FABRIC_NONE)
		return 0;
	row = &desired->rows[first + triad_desired_row_at(desired, port, in_port)];
	return row->scope == TRIAD_SCOPE_NONE &&
			desired->ports[port].vlarb == TRIAD_SCOPE_NONE
		? 0
		: row->dead;
}

/* The contents of row 'at' of 'port', counted from its first one. */
const struct triad_sl2vl *triad_desired_sl2vl(
	const struct triad_desired *desired, uint32_t port, unsigned at);

/* The low or high table, 'n' entries, of a port that has them.  Returns the scope that
 * it is from. */
uint16_t triad_desired_vlarb(const struct triad_desired *desired, uint32_t port,
	bool high, struct triad_vlarb_entry *entries, unsigned n);

/* The high limit; likewise. */
uint16_t triad_desired_high_limit(
	const struct triad_desired *desired, uint32_t port, uint8_t *limit);

/* The number of entries that the port's table has; 0: no such table. */
static inline unsigned triad_desired_n_vlarb(
	const struct triad_desired *desired, uint32_t port, bool high)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];
	unsigned n = high ? at->vlarb_high_cap : at->vlarb_low_cap;

	if (!desired->ports[port].has_vlarb)
		return 0;
	return n < TRIAD_VLARB_MAX ? n : TRIAD_VLARB_MAX;
}

/* Whether a scope's high limit reaches the port.  OpenSM sends it with the link's
 * settings, so, except for port 0, only if it knows the other end.  And Triad supplies
 * it when OpenSM asks for arbitration tables, so only if the port has them. */
static inline bool triad_desired_has_high_limit(
	const struct triad_desired *desired, uint32_t port)
{
	const struct triad_fabric_port *at = &desired->fabric->ports[port];

	return desired->ports[port].has_vlarb &&
		(at->vlarb_low_cap || at->vlarb_high_cap) &&
		(at->remote != TRIAD_FABRIC_NONE || !at->number);
}

#endif
