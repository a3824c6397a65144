/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What this SM is at the moment. */
#ifndef TRIAD_PLUGIN_SM_STATE_H
#define TRIAD_PLUGIN_SM_STATE_H

struct osm_opensm;

/* "master", "standby", "discovering", "not-active" or "starting"; each has one address,
 * so that states may be compared by it.  Takes no lock: OpenSM writes an octet. */
const char *triad_sm_state(const struct osm_opensm *osm);

#endif
