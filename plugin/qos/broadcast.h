/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* IPoIB broadcast groups that carry what the policy's level for their partition says
 * [qos-rfc 2.2]: SL and TClass, and MTU and rate, where they are limited.
 *
 * Model: OpenSM makes the groups from partitions.conf, in the sweep's step for P_Keys,
 * and then leaves them as they are.  What it made is remembered, what the policy says
 * is put there, and given back when there is no level for the partition any more.
 * Members that have joined learn of it when they join again.
 *
 * Thread-safety: any thread, OpenSM's lock not held.  Locks: 'lock', then OpenSM's,
 * exclusively, for as long as it takes to look at all multicast groups.
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

/* From now on 'policy' holds; NULL: groups are as OpenSM makes them.  Takes a
 * reference. */
void triad_broadcast_set_policy(
	struct triad_broadcast *groups, struct triad_policy *policy);

/* OpenSM may have made groups.  Waits for OpenSM's lock alone. */
void triad_broadcast_apply(struct triad_broadcast *groups);

/* This SM is not the master any more: its groups go. */
void triad_broadcast_forget(struct triad_broadcast *groups);

#endif
