/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM's headers, in the only order that gives its structures the layout that the
 * opensm program has: osm_config.h decides members of osm_opensm_t.  Files of
 * plugin/ include OpenSM through this one. */
#ifndef TRIAD_PLUGIN_OPENSM_H
#define TRIAD_PLUGIN_OPENSM_H

#include <opensm/osm_config.h>

#include <complib/cl_passivelock.h>
#include <complib/cl_qmap.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#endif
