/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin as it would be if it had been built with the headers of an OpenSM that was
 * configured in another way than this host's: create() must refuse to go on. */
#include <opensm/osm_config.h>

#ifdef ENABLE_OSM_PERF_MGR
#undef ENABLE_OSM_PERF_MGR
#else
#define ENABLE_OSM_PERF_MGR 1
#endif

#include "plugin/entry.c"
