/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the SA says of itself when Triad does its QoS: OpenSM says that it supports QoS
 * only when it programs the tables itself, and clients send Service-IDs only to an SA
 * that does [qos-rfc 2]. */
#ifndef TRIAD_PLUGIN_QOS_CLASS_PORT_INFO_H
#define TRIAD_PLUGIN_QOS_CLASS_PORT_INFO_H

struct osm_opensm;
struct osm_madw;

/* Answers SubnAdmGet(ClassPortInfo) as OpenSM does, and that QoS is supported.  The MAD
 * stays the caller's. */
void triad_class_port_info_answer(struct osm_opensm *osm, struct osm_madw *madw);

#endif
