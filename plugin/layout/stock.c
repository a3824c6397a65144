/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <opensm/osm_config.h>

#undef OSM_DEBUG
#undef _DEBUG_
#undef ENABLE_OSM_PERF_MGR
#define ENABLE_OSM_PERF_MGR 1

#include "plugin/layout/measured.h"

MEASURED_LAYOUT(triad_layout_stock, "without --enable-debug and with its PerfMgr");
