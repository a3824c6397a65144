/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Includes OpenSM's headers in the order that gives its structures the layout of the
 * opensm program: osm_config.h comes first, because it decides the members of
 * osm_opensm_t.  Files of plugin/ include OpenSM through this header, which also has how
 * to read what OpenSM is changing. */
#ifndef TRIAD_PLUGIN_OPENSM_H
#define TRIAD_PLUGIN_OPENSM_H

#include <opensm/osm_config.h>

#include <complib/cl_passivelock.h>
#include <complib/cl_qmap.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

/* One value of OpenSM's that its threads may change meanwhile, without the lock: the state of
 * the SM, for example.  'place' points to it.  Successive ones are read in that order. */
#define triad_osm_peek(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)

/* Changes such a value, which other threads of ours peek at or change, too. */
#define triad_osm_poke(place, value)                                                   \
	__atomic_store_n((place), (__typeof__(*(place)))(value), __ATOMIC_RELEASE)

#endif
