/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the records that clients registered with OpenSM's SA (portmgr/sa/sa_record.h).
 *
 * It reads the SA under the SM's shared lock, which it holds for
 * TRIAD_SA_SNAPSHOT_HOLD_US and releases in between.  So the records may be of
 * different moments, all some milliseconds before the end of the call.  The lists of
 * subscriptions and services have no order that would allow to continue after a break:
 * it reads each in one piece.
 *
 * It keeps no pointer into OpenSM's structures after the call.
 *
 * Thread-safety: one thread.  Locks: osm->lock, shared. */
#ifndef TRIAD_PLUGIN_SA_SNAPSHOT_H
#define TRIAD_PLUGIN_SA_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_SA_SNAPSHOT_HOLD_US 2000

struct osm_opensm;

/* All zeros at first.  The next call reuses the memory. */
struct triad_sa_snapshot {
	uint8_t *octets; /* records, one behind the other */
	size_t size, room;
	uint64_t hold_us; /* the longest hold of the lock */
	uint64_t took_us;
};

/* Returns 0, ENOMEM, or ECANCELED: OpenSM is ending. */
int triad_sa_snapshot_take(struct osm_opensm *osm, struct triad_sa_snapshot *snapshot);
void triad_sa_snapshot_clear(struct triad_sa_snapshot *snapshot);

#endif
