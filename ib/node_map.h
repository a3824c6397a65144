/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names of nodes by their GUIDs, as OpenSM reads them from its node_name_map_name.
 *
 * Model: a line has a node's GUID and its name, which a quote or a '#' ends:
 *
 *     0x0002c9f17809a500 "leaf-01"   # rack 3
 *
 * The first line of a GUID counts.  A name replaces the node's description, so it is what
 * the SM calls the node; other readers of the fabric get descriptions from the SA, or
 * from the nodes.
 *
 * Thread-safety: functions without state.  Memory: none, but for the fabric's.
 * Source: OpenSM's complib/cl_nodenamemap.h. */
#ifndef TRIAD_IB_NODE_MAP_H
#define TRIAD_IB_NODE_MAP_H

#include "triad/fabric.h"

#define TRIAD_NODE_MAP_MAX_OCTETS ((size_t)16 << 20) /* of the file */

struct triad_node_map_result {
	uint32_t n_lines;    /* with a name */
	uint32_t n_named;    /* nodes of the fabric that got one */
	unsigned wrong_line; /* the first that can't be read, from 1; 0: none */
};

/* Gives the nodes of 'fabric' the names of a map's text ('size' octets).  Only for one
 * that no other thread has yet.  Skips lines that can't be read.  Returns 0, or ENOMEM:
 * then the names hold, and labels may not be unique. */
int triad_node_map_apply(struct triad_fabric *fabric, const char *text, size_t size,
	struct triad_node_map_result *result);

#endif
