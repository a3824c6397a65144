/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The changes that a policy's scopes would make in a fabric, and the problems of the
 * scopes there.
 *
 * Model: for each table of each port that isn't down, it compares the desired table
 * with the fabric's; a difference is a change.  The desired table is that of the
 * policy's scope (setup.h), else OpenSM's default for that kind of port, as OpenSM
 * would write it (VLs limited to those of the port).
 *
 * Tables of a port: a port of a CA or router has one SL2VL table (in-port 0), if it
 * has_sl2vl.  A switch's ports have one for each in-port, 0 included, if its port 0
 * has_sl2vl.  An enhanced port 0 is also an out-port: from in-port 0 it has the
 * defaults of TRIAD_QOS_PORT_SWITCH0, from others those of TRIAD_QOS_PORT_SWITCH. A
 * port 0 that is not enhanced has none.  Ports with vl_cap above 1 have the arbitration
 * tables that their caps give.  Those with any have a high limit, if the other end is
 * known or it is port 0: OpenSM sends it to no other.  If the fabric lacks a port's
 * rows (sl2vl.n, vlarb.n), they count as zeros.
 *
 * SMPs: one for each SL2VL table.  It is fewer if a switch has optimized_sl2vl, the SM
 * uses that (fabric->qos.optimized) and the routing engine has no tables of its own:
 * one for the whole switch if all its tables are equal and any must change, else one
 * for each out-port whose tables are equal, else one each.  One more is needed for
 * in-port 0 if that is not an enhanced port 0, because then "all" in-ports do not
 * include it.  One for each block of 32 entries of an arbitration table that differs;
 * one PortInfo for a high limit.
 *
 * Thread-safety: functions without state.
 * Memory: lists are capped (TRIAD_SETUP_MAX_CHANGES, _FINDINGS, _PATHS); the counts
 * include everything. */
#ifndef TRIAD_QOS_SETUP_PLAN_H
#define TRIAD_QOS_SETUP_PLAN_H

#include "qos/setup/setup.h"

#define TRIAD_SETUP_MAX_CHANGES 65536
#define TRIAD_SETUP_MAX_FINDINGS 1024
#define TRIAD_SETUP_MAX_PATHS 64

enum triad_setup_table {
	TRIAD_SETUP_SL2VL,
	TRIAD_SETUP_VLARB_LOW,
	TRIAD_SETUP_VLARB_HIGH,
	TRIAD_SETUP_HIGH_LIMIT,
	TRIAD_SETUP_N_TABLES
};

/* A change of one port; SL2VL tables of consecutive in-ports with the same change are
 * one. */
struct triad_setup_change {
	enum triad_setup_table table;
	uint32_t port;             /* index in the fabric's ports: the out-port */
	uint8_t in_first, in_last; /* numbers; SL2VL of a switch */
	uint16_t scope;            /* that requires it, or TRIAD_SCOPE_NONE */
	uint8_t n;                 /* entries of an arbitration table */
	union triad_setup_value {
		struct triad_sl2vl sl2vl;
		struct triad_vlarb_entry vlarb[TRIAD_VLARB_MAX];
		uint8_t high_limit;
	} from, to;
};

enum triad_setup_finding_kind {
	/* Warnings. */
	TRIAD_FINDING_NO_TARGET,  /* the scope fits no port */
	TRIAD_FINDING_HIDDEN,     /* a later scope applies everywhere it fits */
	TRIAD_FINDING_VLARB_VL,   /* a VL the port lacks: the entry is skipped */
	TRIAD_FINDING_OVERRIDDEN, /* the routing engine replaces the tables */
	TRIAD_FINDING_DEADLOCK,   /* the engine chose SLs for other VLs than those of
				   * scopes */
	/* Errors. */
	TRIAD_FINDING_PORT_BEYOND, /* a number in 'from' or 'to' that the node lacks */
	TRIAD_FINDING_SL2VL_VL,    /* a VL the port lacks: it becomes VL15 */
	TRIAD_FINDING_VLARB_LONG,  /* longer than the port's table: default instead */
	TRIAD_N_FINDINGS
};

/* One scope at one node. */
struct triad_setup_finding {
	enum triad_setup_finding_kind kind;
	bool is_vlarb;    /* which kind of scope */
	bool is_high;     /* VLARB_VL, VLARB_LONG: which table */
	uint16_t scope;   /* index; OVERRIDDEN, DEADLOCK: TRIAD_SCOPE_NONE */
	uint32_t node;    /* index in the fabric; or TRIAD_FABRIC_NONE */
	uint8_t port;     /* the first port there; PORT_BEYOND: the number asked for */
	uint32_t n_ports; /* ports there with the same problem */
	uint8_t sl;       /* SL2VL_VL */
	uint8_t vl;       /* VLARB_VL, SL2VL_VL: that the port lacks */
	uint8_t asked, has; /* entries asked for and there; else numbers of data VLs or
	                     * of the highest port in 'has' */
};

/* An SL in use that is dead (desired.h) at a place on some path. */
struct triad_setup_path {
	uint8_t sl;
	uint32_t from, to; /* end ports of a path that crosses the place */
	uint32_t port;     /* the out-port where packets are dropped or stuck */
	uint8_t in_port;   /* number; 0 at the source */
};

struct triad_setup_plan {
	uint64_t n_tables;                        /* all tables */
	uint64_t n_changed[TRIAD_SETUP_N_TABLES]; /* tables or limits */
	uint64_t n_smps;
	uint32_t n_changed_ports;
	uint32_t n_ports; /* examined */
	uint64_t hash;    /* of all changes; equal plans have equal ones */
	struct triad_setup_change *changes;   /* by node and port */
	uint32_t n_changes;                   /* listed */
	uint64_t n_changes_total;             /* without the cap */
	struct triad_setup_finding *findings; /* by scope, then node */
	uint32_t n_findings, n_findings_total;
	uint32_t n_errors; /* among all findings */
	struct triad_setup_path *paths;
	uint32_t n_paths;
	uint64_t n_dead_places; /* (in-port, out-port, SL) on some path */
	/* End ports that are cut off from the SM by a scope, and the first of them: on
	 * the path to or from the SM, the SL of its requests or answers is dead.  GMPs
	 * use two
	 * SLs: triad_fabric_port.sl for the SM's requests; sm_sl for requests to the
	 * SM, and its answers. */
	uint32_t n_cut_off, first_cut_off;
};

static inline uint64_t triad_setup_plan_n_changed(const struct triad_setup_plan *plan)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TRIAD_SETUP_N_TABLES; i++)
		n += plan->n_changed[i];
	return n;
}

/* 'setup' may be NULL: OpenSM's defaults everywhere.  'fabric' needs fabric->sa.qos.
 * Returns 0, ENOMEM or EOVERFLOW. */
int triad_setup_plan_make(struct triad_setup *setup, const struct triad_fabric *fabric,
	struct triad_setup_plan **plan);
void triad_setup_plan_free(struct triad_setup_plan *plan); /* accepts NULL */

/* A finding in words, as the log and 'triadctl qos plan' show it: scope with its line,
 * node, port, what, and what is done. */
void triad_setup_finding_format(const struct triad_setup_finding *finding,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	char *text, size_t size);
bool triad_setup_finding_is_error(const struct triad_setup_finding *finding);

#endif
