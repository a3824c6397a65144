/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Between OpenSM's QoS pass and its routing engines: OpenSM asks the engine in use
 * about every SL2VL table and every block of VL arbitration, and with these hooks it
 * asks us.
 *
 * A routing engine may have hooks of its own, as torus-2QoS has: they are kept, and
 * asked behind ours by whoever answers.
 *
 * OpenSM passes the engine's context only, so what is asked is found by a static: there
 * is one OpenSM in a process.
 *
 * Thread-safety: install and remove in the SM's thread, where the pass runs, too, but
 * not inside of a pass; triad_hooks_has_other() anywhere.  Locks: one of its own, held
 * for some pointers. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_HOOKS_H
#define TRIAD_PLUGIN_QOS_TABLES_HOOKS_H

#include <stdbool.h>

#include "plugin/opensm.h"

/* The same as in struct osm_routing_engine. */
typedef void (*triad_sl2vl_hook)(void *context, osm_physp_t *port, uint8_t in,
	uint8_t out, ib_slvl_table_t *table);
typedef void (*triad_vlarb_hook)(void *context, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index);

/* What a routing engine had itself; NULL: nothing. */
struct triad_engine_hooks {
	void *context;
	triad_sl2vl_hook sl2vl;
	triad_vlarb_hook vlarb;
};

/* Puts the two in front of every routing engine that doesn't have them; 'owner' is
 * their context.  Can be called again and again. */
void triad_hooks_install(struct osm_opensm *osm, triad_sl2vl_hook sl2vl,
	triad_vlarb_hook vlarb, void *owner);

/* Gives every engine back what it had. */
void triad_hooks_remove(void);

/* Of the engine that OpenSM uses now. */
struct triad_engine_hooks triad_hooks_of_engine(const struct osm_opensm *osm);

/* True when that engine has hooks of its own. */
bool triad_hooks_has_other(const struct osm_opensm *osm);

#endif
