/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries datagrams of the election over the fabric [portmgr/cluster/carrier.h], as
 * MADs from the port of an SM to those of others.  Addresses are GUIDs of ports.
 *
 * Model: it reads the LIDs from OpenSM's tables once a second.  A standby's tables are
 * from its last discovery.  So a peer that has sent an authentic datagram is answered
 * at the LID that it came from, as long as it keeps sending.
 *
 * A port without a LID can't be reached: on a fabric that starts, the OpenSMs agree
 * among themselves who sweeps first, and the election begins after that.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_PLUGIN_ELECTION_FABRIC_CARRIER_H
#define TRIAD_PLUGIN_ELECTION_FABRIC_CARRIER_H

#include "portmgr/cluster/carrier.h"

struct osm_opensm;

/* Not open yet; NULL when memory is short.  'osm' outlives it. */
struct triad_carrier *triad_fabric_carrier_new(struct osm_opensm *osm);

#endif
