/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QoS tables that OpenSM programs by default: from opensm.conf (qos_ca_*,
 * qos_sw0_*, qos_swe_*, qos_rtr_*, else qos_*), else OpenSM's built-in ones.
 *
 * The texts are parsed as OpenSM parses them, mistakes included: entries after their
 * end are 0. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_OSM_DEFAULTS_H
#define TRIAD_PLUGIN_QOS_TABLES_OSM_DEFAULTS_H

#include "triad/fabric.h"

struct osm_opensm;

/* Only in create() and in report() of the SM's own thread: when that thread reads OpenSM's
 * file again, before and after HEAVY_SWEEP_START, it frees the texts without a lock. */
void triad_osm_defaults_read(
	const struct osm_opensm *osm, struct triad_fabric_qos *qos);

#endif
