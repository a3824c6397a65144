/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The present state of this SM, and which other SM is master. */
#ifndef TRIAD_PLUGIN_SM_STATE_H
#define TRIAD_PLUGIN_SM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct osm_opensm;

/* "master", "standby", "discovering", "not-active" or "starting".  Each has one
 * address, so callers may compare pointers.  Takes no lock: OpenSM writes a single
 * octet. */
const char *triad_sm_state(const struct osm_opensm *osm);

/* Whether this SM is master and in its first sweep, or about to begin it.  In that
 * sweep OpenSM empties its SA and drops requests. */
bool triad_sm_is_in_first_sweep(const struct osm_opensm *osm);

/* Whether another SM is master, or is to be. */
bool triad_sm_is_standby(const struct osm_opensm *osm);

/* Finds another SM that was master when this master last asked it.  Sets '*guid' to the
 * GUID of its port, or 0, and '*waits' to whether this SM waits for it to hand over.
 * Returns false, and sets neither, if OpenSM's lock is not free; never waits for it. */
bool triad_sm_other_master(struct osm_opensm *osm, uint64_t *guid, bool *waits);

/* The number of SMPs whose answers OpenSM waits for, and of those sent and received
 * since its start. */
void triad_sm_smps(
	const struct osm_opensm *osm, uint32_t *n_outstanding, uint32_t *n_moved);

/* The SM_Key that makes a request to the SA trusted, as this SM is configured. */
uint64_t triad_sm_sa_key(const struct osm_opensm *osm);

/* Whether routes come from a file (the routing engine 'file'), whatever links are up. */
bool triad_sm_routes_by_file(const struct osm_opensm *osm);

/* The path of the file by which OpenSM names nodes: the configured one, or its default if
 * that is there; NULL: none. */
const char *triad_sm_node_name_map(const struct osm_opensm *osm);

#endif
