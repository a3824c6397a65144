/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What osm_config.h says in the file that includes this, which may have changed that
 * before; MEASURED_LAYOUT(NAME, OPTIONS) is the layout that OpenSM's structures have
 * by that. */
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
