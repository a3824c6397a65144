/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Defines the layout of OpenSM's structures for one set of options.  The including file
 * first changes the macros of osm_config.h; then MEASURED_LAYOUT(NAME, OPTIONS) defines
 * the layout that follows from them. */
#ifndef TRIAD_PLUGIN_LAYOUT_MEASURED_H
#define TRIAD_PLUGIN_LAYOUT_MEASURED_H

#include "plugin/layout/layout.h"
#include "plugin/opensm.h"

#ifdef _DEBUG_
#define MEASURED_DEBUG true
#else
#define MEASURED_DEBUG false
#endif
#ifdef ENABLE_OSM_PERF_MGR
#define MEASURED_PERFMGR true
#else
#define MEASURED_PERFMGR false
#endif

#define MEASURED_LAYOUT(name, text)                                                    \
	const struct triad_layout name = {                                             \
		.options = (text),                                                     \
		.has_debug = MEASURED_DEBUG,                                           \
		.has_perfmgr = MEASURED_PERFMGR,                                       \
		.subn_osm = offsetof(osm_opensm_t, subn.p_osm),                        \
		.sm_subn = offsetof(osm_opensm_t, sm.p_subn),                          \
		.sm_lock = offsetof(osm_opensm_t, sm.p_lock),                          \
		.sa_subn = offsetof(osm_opensm_t, sa.p_subn),                          \
		.sa_lock = offsetof(osm_opensm_t, sa.p_lock),                          \
		.sa_log = offsetof(osm_opensm_t, sa.p_log),                            \
		.subn = offsetof(osm_opensm_t, subn),                                  \
		.lock = offsetof(osm_opensm_t, lock),                                  \
		.log = offsetof(osm_opensm_t, log),                                    \
	}

#endif
