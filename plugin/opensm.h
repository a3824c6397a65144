/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Includes OpenSM's headers in the order that gives its structures the layout of the
 * opensm program: osm_config.h comes first, because it decides the members of
 * osm_opensm_t.  Files of plugin/ include OpenSM through this header. */
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
