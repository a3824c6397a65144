/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin, as if built with the headers of an OpenSM whose configuration
 * (ENABLE_OSM_PERF_MGR) differs from this host's: create() must fail. */
#include <opensm/osm_config.h>

#ifdef ENABLE_OSM_PERF_MGR
#undef ENABLE_OSM_PERF_MGR
#else
#define ENABLE_OSM_PERF_MGR 1
#endif

#include "plugin/entry.c"
