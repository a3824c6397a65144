/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <opensm/osm_config.h>

#undef OSM_DEBUG
#undef _DEBUG_
#undef ENABLE_OSM_PERF_MGR
#define OSM_DEBUG 1
#define _DEBUG_ 1

#include "plugin/layout/measured.h"

MEASURED_LAYOUT(
	triad_layout_debug_no_perfmgr, "with --enable-debug and --disable-perf-mgr");
