/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hooks between OpenSM's QoS pass and its routing engines.  OpenSM asks the engine in
 * use for every SL2VL table and every block of VL arbitration; with these hooks it asks
 * Triad.
 *
 * A routing engine may have hooks of its own, as torus-2QoS has.  Triad keeps them, and
 * its hooks call them afterwards.
 *
 * OpenSM passes only the engine's context, so the hooks find their owner in a static
 * variable: a process has only one OpenSM.
 *
 * Thread-safety: install and remove in the SM's thread, which also runs the pass, but
 * not during a pass; triad_hooks_has_other() in any thread.  Locks: one of its own,
 * held to copy some pointers. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_HOOKS_H
#define TRIAD_PLUGIN_QOS_TABLES_HOOKS_H

#include <stdbool.h>

#include "plugin/opensm.h"

/* As in struct osm_routing_engine. */
typedef void (*triad_sl2vl_hook)(void *context, osm_physp_t *port, uint8_t in,
	uint8_t out, ib_slvl_table_t *table);
typedef void (*triad_vlarb_hook)(void *context, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index);

/* A routing engine's own hooks; NULL: none. */
struct triad_engine_hooks {
	void *context;
	triad_sl2vl_hook sl2vl;
	triad_vlarb_hook vlarb;
};

/* Installs the two hooks before those of every routing engine that doesn't have them
 * yet; 'owner' is their context.  May be called repeatedly. */
void triad_hooks_install(struct osm_opensm *osm, triad_sl2vl_hook sl2vl,
	triad_vlarb_hook vlarb, void *owner);

/* Restores every engine's own hooks. */
void triad_hooks_remove(void);

/* The own hooks of the engine that OpenSM uses now. */
struct triad_engine_hooks triad_hooks_of_engine(const struct osm_opensm *osm);

/* True when that engine has hooks of its own. */
bool triad_hooks_has_other(const struct osm_opensm *osm);

#endif
