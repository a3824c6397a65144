/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The policy's tables in OpenSM's QoS pass.
 *
 * Model: in each heavy sweep and each reroute OpenSM goes through its nodes, holding
 * its lock exclusively: first all arbitration tables of a node's ports, then their
 * SL2VL tables; it asks a hook what each should be, compares that with what it knows
 * the port to have, and sends what differs.  We answer from the subnet as it is at that
 * moment, which nobody can change meanwhile, by what the policy's scopes say (setup.h);
 * what they leave open stays as OpenSM has it.  Then the routing engine's own hook, if
 * there is one, has the last word.
 *
 * That alone makes OpenSM ask for each pair of a switch's ports, and send an SMP for
 * each that changed, also to switches that could take one SMP for many (optimised SL2VL
 * mapping).  So, where no routing engine has tables of its own, we look at a switch's
 * SL2VL tables ourselves, when OpenSM is through with the arbitration of its last port:
 * - when all is right, or
 * - when a few SMPs do, because the switch can and the SM may use that, after having
 *   sent them,
 * OpenSM is made to pass over its tables: we take the bit in the copy of port 0's
 * PortInfo that says that it has any, and put it back when OpenSM asks about what comes
 * next.  This is done only when it is certain that it will ask; and with the pass's end
 * the bit is looked at once more.  Whatever else there is to do is OpenSM's.
 *
 * Without a policy ('scopes' NULL) a pass gives every port OpenSM's tables, and counts
 * what is still otherwise: then the hooks can go.
 *
 * SMPs that cover many tables never overlap, so that one which is repeated late changes
 * nothing.
 *
 * Thread-safety: everything in the SM's thread, under OpenSM's lock as OpenSM takes it.
 * Memory: about a MB, taken when it is made; none in a pass but for new classes of
 * ports (setup.h). */
#ifndef TRIAD_PLUGIN_QOS_TABLES_PASS_H
#define TRIAD_PLUGIN_QOS_TABLES_PASS_H

#include "plugin/opensm.h"
#include "qos/setup/setup.h"

struct triad_tables_pass;

struct triad_tables_pass_counts {
	uint64_t n_tables;    /* that OpenSM asked about */
	uint64_t n_differing; /* of those: to be sent */
	uint64_t n_smps;      /* that we sent ourselves */
	uint64_t
		n_overridden; /* tables on which the routing engine had the last word */
	int error; /* ports could not be told apart, and keep what they have: ENOMEM,
	            * EOVERFLOW */
};

/* NULL: no memory. */
struct triad_tables_pass *triad_tables_pass_new(struct osm_opensm *osm);
void triad_tables_pass_free(struct triad_tables_pass *pass); /* accepts NULL */

/* A pass begins, with 'setup' (may be NULL), of which it takes a reference.  Under
 * OpenSM's lock.  Returns 0, ENOMEM or EOVERFLOW: then nothing is changed in it. */
int triad_tables_pass_begin(struct triad_tables_pass *pass, struct triad_setup *setup);

/* It is over.  Without OpenSM's lock, which is taken exclusively if something must be
 * put back. */
struct triad_tables_pass_counts triad_tables_pass_end(struct triad_tables_pass *pass);

/* The hooks (hooks.h), with the pass as their context. */
void triad_tables_pass_sl2vl(
	void *pass, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *table);
void triad_tables_pass_vlarb(void *pass, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index);

#endif
