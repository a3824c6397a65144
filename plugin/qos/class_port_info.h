/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SA's ClassPortInfo while Triad answers with QoS. OpenSM reports support for QoS
 * only when it programs the tables itself, and clients send Service-IDs only to an SA
 * that reports it [qos-rfc 2]. */
#ifndef TRIAD_PLUGIN_QOS_CLASS_PORT_INFO_H
#define TRIAD_PLUGIN_QOS_CLASS_PORT_INFO_H

struct osm_opensm;
struct osm_madw;

/* Answers SubnAdmGet(ClassPortInfo) as OpenSM does, but with support for QoS. The
 * caller keeps the MAD. */
void triad_class_port_info_answer(struct osm_opensm *osm, struct osm_madw *madw);

#endif
