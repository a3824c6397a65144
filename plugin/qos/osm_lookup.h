/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Looks up OpenSM's present subnet, where a snapshot may be too old.
 *
 * Locks: osm->lock, shared; it tries and never waits, unless noted otherwise. */
#ifndef TRIAD_PLUGIN_QOS_OSM_LOOKUP_H
#define TRIAD_PLUGIN_QOS_OSM_LOOKUP_H

#include <stdbool.h>

#include "qos/decide.h"

struct osm_opensm;

/* True when the end port still exists and has the same LIDs as in 'fabric'; also when
 * OpenSM's lock is not free, because then nobody can see a change either. */
bool triad_osm_lookup_is_same(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint32_t port);

/* True when 'guid' is still an alias of the end port; also when OpenSM's lock is not
 * free.  Aliases come and go with virtual machines, without a sweep. */
bool triad_osm_lookup_has_alias(struct osm_opensm *osm,
	const struct triad_fabric *fabric, uint32_t port, uint64_t guid);

/* The end port to which OpenSM maps 'guid'; TRIAD_FABRIC_NONE when 'fabric' lacks it,
 * or OpenSM's lock is not free. */
uint32_t triad_osm_lookup_find_alias(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint64_t guid);

/* The number of alias GUIDs that OpenSM knows, plus one; 0 when its lock is not
 * free. */
uint32_t triad_osm_lookup_n_aliases(struct osm_opensm *osm);

/* The routing engine's function that chooses SLs.  The caller holds osm->lock as long
 * as it uses it. */
struct triad_path_engine triad_osm_lookup_engine(struct osm_opensm *osm);

#endif
