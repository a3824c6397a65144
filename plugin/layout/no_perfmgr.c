/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <opensm/osm_config.h>

#undef OSM_DEBUG
#undef _DEBUG_
#undef ENABLE_OSM_PERF_MGR

#include "plugin/layout/measured.h"

MEASURED_LAYOUT(
	triad_layout_no_perfmgr, "without --enable-debug and with --disable-perf-mgr");
