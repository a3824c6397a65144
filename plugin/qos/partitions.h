/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The partitions that OpenSM has set up. */
#ifndef TRIAD_PLUGIN_QOS_PARTITIONS_H
#define TRIAD_PLUGIN_QOS_PARTITIONS_H

#include "triad/fabric.h"

struct osm_opensm;

/* Reads the partitions into '*list', sorted by P_Key, without their SLs; the caller
 * frees it.  The caller holds osm->lock.  Returns 0 or ENOMEM. */
int triad_partitions_read(const struct osm_opensm *osm,
	struct triad_fabric_partition **list, uint32_t *n);

#endif
