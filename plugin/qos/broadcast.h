/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Applies the policy to IPoIB broadcast groups: a group gets SL and TClass of the QoS
 * level for its partition, and MTU and rate where the level limits them [qos-rfc 2.2].
 *
 * Model: OpenSM creates the groups from partitions.conf, in the sweep's step for
 * P_Keys, and then leaves them unchanged.  Triad remembers OpenSM's values, writes
 * those of the policy, and restores OpenSM's when the partition no longer has a level.
 * Members that have already joined learn the new values when they join again.
 *
 * Thread-safety: any thread, OpenSM's lock not held.  Locks: 'lock', then OpenSM's,
 * exclusively, for a walk over all multicast groups.
 * Memory: 64 octets a broadcast group, TRIAD_BROADCAST_MAX of them at most. */
#ifndef TRIAD_PLUGIN_QOS_BROADCAST_H
#define TRIAD_PLUGIN_QOS_BROADCAST_H

#include "qos/policy/policy.h"
#include "triad/log.h"

#define TRIAD_BROADCAST_MAX 4096

struct osm_opensm;
struct triad_broadcast;

/* NULL: no memory. */
struct triad_broadcast *triad_broadcast_new(
	struct osm_opensm *osm, struct triad_log *log);
void triad_broadcast_free(struct triad_broadcast *groups); /* accepts NULL */

/* Sets the policy for the groups; NULL: the groups stay as OpenSM creates them.  Takes
 * a reference. */
void triad_broadcast_set_policy(
	struct triad_broadcast *groups, struct triad_policy *policy);

/* Call it when OpenSM may have created groups.  Waits only for OpenSM's lock. */
void triad_broadcast_apply(struct triad_broadcast *groups);

/* This SM is no longer the master: forgets its groups. */
void triad_broadcast_forget(struct triad_broadcast *groups);

#endif
