/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The policy's tables in OpenSM's QoS pass.
 *
 * Model: in each heavy sweep and each reroute OpenSM walks over its nodes, holding its
 * lock exclusively: first all arbitration tables of a node's ports, then their SL2VL
 * tables.  It asks a hook for each table, compares the answer with what the port has,
 * and sends what differs.  Our hook answers from the subnet as it is at that moment,
 * which nothing can change meanwhile, and from the policy's scopes (setup.h); OpenSM's
 * defaults stay where no scope applies.  The routing engine's own hook, if there is
 * one, is called after ours and decides.
 *
 * This alone makes OpenSM ask for each pair of a switch's ports, and send an SMP for
 * each table that changed, even to switches that take many tables in one SMP (optimised
 * SL2VL mapping).  So, where no routing engine has tables of its own, we check a
 * switch's SL2VL tables ourselves, after OpenSM is through with the arbitration of its
 * last port.  If all are right, or after we sent a few SMPs because the switch can take
 * them and the SM may use them, we make OpenSM skip the switch's tables: we clear the
 * bit in its copy of port 0's PortInfo that says that there are any, and restore it
 * when OpenSM asks about the next table.  We do this only when it is certain that
 * OpenSM will ask; and at the end of the pass we check the bit once more.  OpenSM does
 * everything else.
 *
 * Without a policy ('scopes' NULL) a pass gives every port OpenSM's tables, and counts
 * what still differs: when nothing does, the hooks can be removed.
 *
 * SMPs that cover many tables never overlap, so one that is repeated late changes
 * nothing.
 *
 * Thread-safety: everything in the SM's thread, under OpenSM's lock as OpenSM takes it.
 * Memory: about a MB, allocated at the start; none in a pass except for new classes of
 * ports (setup.h). */
#ifndef TRIAD_PLUGIN_QOS_TABLES_PASS_H
#define TRIAD_PLUGIN_QOS_TABLES_PASS_H

#include "plugin/opensm.h"
#include "qos/setup/setup.h"

struct triad_tables_pass;

struct triad_tables_pass_counts {
	uint64_t n_tables;    /* that OpenSM asked about */
	uint64_t n_differing; /* of those, tables that differ and are to be sent */
	uint64_t n_smps;      /* that we sent ourselves */
	/* Tables on which the routing engine had the last word. */
	uint64_t n_overridden;
	int error; /* ports could not be classified, and keep their tables: ENOMEM,
		    * EOVERFLOW */
};

/* NULL: no memory. */
struct triad_tables_pass *triad_tables_pass_new(struct osm_opensm *osm);
void triad_tables_pass_free(struct triad_tables_pass *pass); /* accepts NULL */

/* Begins a pass with 'setup' (may be NULL), of which it takes a reference.  Under
 * OpenSM's lock.  Returns 0, ENOMEM or EOVERFLOW: then the pass changes no tables. */
int triad_tables_pass_begin(struct triad_tables_pass *pass, struct triad_setup *setup);

/* Ends the pass.  Without OpenSM's lock, which it takes exclusively if it must restore
 * something. */
struct triad_tables_pass_counts triad_tables_pass_end(struct triad_tables_pass *pass);

/* The hooks (hooks.h), with the pass as their context. */
void triad_tables_pass_sl2vl(
	void *pass, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *table);
void triad_tables_pass_vlarb(void *pass, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index);

#endif
