/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a policy's scopes would change in a fabric, and what is wrong with them there.
 *
 * Model: for each table of each port that isn't down, what it should be: what the
 * policy's scope says (setup.h), else OpenSM's default for that kind of port, as OpenSM
 * would write it (its VLs cut to those of the port); and what it is according to the
 * fabric.  A difference is a change.
 *
 * What is there per port: a CA's or router's port one SL2VL table (in-port 0), if it
 * has_sl2vl; a switch's ports one for each in-port, 0 included, if its port 0
 * has_sl2vl, an enhanced port 0 among them as out-port 0 - where in-port 0 to out-port
 * 0 has the defaults of TRIAD_QOS_PORT_SWITCH0 and the others those of
 * TRIAD_QOS_PORT_SWITCH; nothing for a port 0 that is not enhanced.  Ports with
 * vl_cap above 1 have the arbitration tables that their caps say; those of them that
 * have any a high limit, if the other end is known or it is port 0, because OpenSM
 * sends it to no other.
 * A port without the rows in the fabric (sl2vl.n, vlarb.n) is taken to have zeros.
 *
 * SMPs: one for each SL2VL table; but where a switch has optimized_sl2vl, the SM uses
 * that (fabric->qos.optimized) and the routing engine has no tables of its own: one for
 * the whole switch when all its tables are alike and one is to be changed, else one for
 * each such out-port, else one each; and one more for in-port 0 where that is not an
 * enhanced port 0, because "all" in-ports are without it then.
 * One for each block of 32 entries of an arbitration table that differs; one PortInfo
 * for a high limit.
 *
 * Thread-safety: functions without state.
 * Memory: lists are capped (TRIAD_SETUP_MAX_CHANGES, _FINDINGS, _PATHS); the counts
 * always are of everything. */
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

/* Of one port; SL2VL tables of in-ports in a row that change alike are one. */
struct triad_setup_change {
	enum triad_setup_table table;
	uint32_t port;             /* index in the fabric's ports: the out-port */
	uint8_t in_first, in_last; /* numbers; SL2VL of a switch */
	uint16_t scope;            /* that asks for it, or TRIAD_SCOPE_NONE */
	uint8_t n;                 /* entries of an arbitration table */
	union triad_setup_value {
		struct triad_sl2vl sl2vl;
		struct triad_vlarb_entry vlarb[TRIAD_VLARB_MAX];
		uint8_t high_limit;
	} from, to;
};

enum triad_setup_finding_kind {
	/* Warnings. */
	TRIAD_FINDING_NO_TARGET,  /* no port that the scope fits */
	TRIAD_FINDING_HIDDEN,     /* a later scope applies wherever it fits */
	TRIAD_FINDING_VLARB_VL,   /* a VL the port lacks: the entry is skipped */
	TRIAD_FINDING_OVERRIDDEN, /* the routing engine has the last word on tables */
	TRIAD_FINDING_DEADLOCK,   /* it chose SLs for VLs other than those of scopes */
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
	uint32_t n_ports; /* ports there of which the same is true */
	uint8_t sl;       /* SL2VL_VL */
	uint8_t vl;       /* VLARB_VL, SL2VL_VL: that the port lacks */
	uint8_t asked, has; /* entries asked for and there; else numbers of data VLs or
	                     * of the highest port in 'has' */
};

/* An SL that is in use and has no VL, or one that is never sent (desired.h), at a place
 * on the way of some path. */
struct triad_setup_path {
	uint8_t sl;
	uint32_t from, to; /* end ports: a path that goes this way */
	uint32_t port;     /* the out-port where it ends */
	uint8_t in_port;   /* number; 0 at the source */
};

struct triad_setup_plan {
	uint64_t n_tables;                        /* that there are */
	uint64_t n_changed[TRIAD_SETUP_N_TABLES]; /* tables or limits */
	uint64_t n_smps;
	uint32_t n_changed_ports;
	uint32_t n_ports; /* looked at */
	uint64_t hash;    /* of all changes; equal plans have equal ones */
	struct triad_setup_change *changes;   /* by node and port */
	uint32_t n_changes;                   /* listed */
	uint64_t n_changes_total;             /* that there would be in the list */
	struct triad_setup_finding *findings; /* by scope, then node */
	uint32_t n_findings, n_findings_total;
	uint32_t n_errors; /* among all findings */
	struct triad_setup_path *paths;
	uint32_t n_paths;
	uint64_t n_dead_places; /* (in-port, out-port, SL) on the way of some path */
	/* End ports that the SM's own requests and answers could not reach, or that
	 * could not reach it, because of a scope: on the way their SL has no VL there,
	 * or one that is never sent; and the first of them.  GMPs go in two SLs:
	 * triad_fabric_port.sl, where the SM asks, and sm_sl, where it is asked and
	 * answers. */
	uint32_t n_cut_off, first_cut_off;
};

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
