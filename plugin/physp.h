/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads facts about OpenSM's ports that several parts need.  The caller holds
 * osm->lock, unless a function says otherwise. */
#ifndef TRIAD_PLUGIN_PHYSP_H
#define TRIAD_PLUGIN_PHYSP_H

#include <stdbool.h>

#include "plugin/opensm.h"

/* The most P_Keys read of one port.  IBA allows 65,536; devices have 128. */
#define TRIAD_PHYSP_MAX_PKEYS 1024

struct triad_physp_pkeys {
	uint16_t keys[TRIAD_PHYSP_MAX_PKEYS]; /* 0: an empty entry */
	uint32_t n;
};

void triad_physp_read_pkeys(const osm_physp_t *physp, struct triad_physp_pkeys *pkeys);

/* The number of entries up to the last P_Key; all entries after it are 0. */
uint32_t triad_physp_n_used(const struct triad_physp_pkeys *pkeys);

/* The port of a node, by GUID and number; NULL: OpenSM does not know it. */
osm_physp_t *triad_physp_find(
	struct osm_opensm *osm, uint64_t node_guid, uint8_t number);

/* The M_Key of the device that a node's port belongs to.  Returns false: OpenSM does not
 * know the port.  Takes osm->lock itself, shared, for a moment; any thread. */
bool triad_physp_find_m_key(
	struct osm_opensm *osm, uint64_t node_guid, uint8_t number, uint64_t *m_key);

/* The port whose capabilities, P_Keys and GUID apply to 'physp': for a switch, its port
 * 0. */
const osm_physp_t *triad_physp_with_capabilities(const osm_physp_t *physp);

#endif
