/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SLs of paths, for the check of routes: the SLs of the QoS policy's levels; and,
 * if the routing engine decides on SLs (LASH, DFSSSP, Nue, torus-2QoS), the engine's.
 *
 * The engine is asked about each pair of hosts under OpenSM's shared lock, which is
 * held for TRIAD_SNAPSHOT_HOLD_US at a time, for TRIAD_ROUTE_SLS_MAX pairs at most.
 * Its answers are valid only for the present fabric, so a new sweep cancels the
 * queries.
 *
 * For a command, the engine is asked about one pair, and only if the lock is free.
 *
 * Thread-safety: the thread triad-routes; _between: any.  Locks: osm->lock, shared. */
#ifndef TRIAD_PLUGIN_ROUTE_SLS_H
#define TRIAD_PLUGIN_ROUTE_SLS_H

#include "service/route_checker.h"

/* Some 2,000 hosts; the engine answers in less than a microsecond. */
#define TRIAD_ROUTE_SLS_MAX 4000000u

struct osm_opensm;

/* Asks the routing engine in use for the SLs of struct triad_routes_sls.of: all that it
 * may give a pair, also where it draws one at random (routes/lanes.h).  Calls
 * 'is_over' between two holds of the lock; true cancels.  Returns 0, E2BIG, EAGAIN (the
 * engine does not decide on SLs, or draws some so seldom that they are not known) or
 * ECANCELED. */
int triad_route_sls_ask_engine(struct osm_opensm *osm,
	const struct triad_routes_layout *layout, uint16_t *sls,
	bool (*is_over)(void *context), void *context);

/* 'context' is a struct triad_plugin; see struct triad_route_source. */
uint16_t triad_route_sls_of_policy(void *context);
int triad_route_sls_ask(void *context, const struct triad_routes_layout *layout,
	uint16_t *sls, bool (*is_stopped)(void *), void *stop_context);

uint16_t triad_route_sls_between(
	void *context, uint16_t slid, uint16_t dlid, uint8_t hint);

#endif
