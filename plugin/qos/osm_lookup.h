/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM's subnet as it is this moment, where a snapshot is not enough.
 *
 * Locks: osm->lock, shared: tried, never waited for, unless said otherwise. */
#ifndef TRIAD_PLUGIN_QOS_OSM_LOOKUP_H
#define TRIAD_PLUGIN_QOS_OSM_LOOKUP_H

#include <stdbool.h>

#include "qos/decide.h"

struct osm_opensm;

/* True when the end port is still there with the LIDs that it has in 'fabric', or when
 * OpenSM's lock is not free: then nobody can see a change either. */
bool triad_osm_lookup_is_same(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint32_t port);

/* True when 'guid' still is an alias of the end port, or when OpenSM's lock is not
 * free.  Aliases come and go without a sweep, as virtual machines do. */
bool triad_osm_lookup_has_alias(struct osm_opensm *osm,
	const struct triad_fabric *fabric, uint32_t port, uint64_t guid);

/* The end port that OpenSM knows by 'guid', as far as 'fabric' has it;
 * TRIAD_FABRIC_NONE, too, when its lock is not free. */
uint32_t triad_osm_lookup_find_alias(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint64_t guid);

/* How many GUIDs besides their own OpenSM knows ports by, and one; 0 when its lock is
 * not free. */
uint32_t triad_osm_lookup_n_aliases(struct osm_opensm *osm);

/* The routing engine's word on SLs.  The caller holds osm->lock as long as it uses
 * it. */
struct triad_path_engine triad_osm_lookup_engine(struct osm_opensm *osm);

#endif
