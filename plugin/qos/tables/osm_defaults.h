/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QoS tables that OpenSM programs where nobody says otherwise: what opensm.conf has
 * (qos_ca_*, qos_sw0_*, qos_swe_*, qos_rtr_*, else qos_*), else what is built in.
 *
 * The texts are read as OpenSM reads them, mistakes included: what is behind their end
 * is 0. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_OSM_DEFAULTS_H
#define TRIAD_PLUGIN_QOS_TABLES_OSM_DEFAULTS_H

#include "triad/fabric.h"

struct osm_opensm;

/* The caller holds osm->lock: OpenSM frees the texts when it reads its file again. */
void triad_osm_defaults_read(
	const struct osm_opensm *osm, struct triad_fabric_qos *qos);

#endif
