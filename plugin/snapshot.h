/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies OpenSM's subnet into a fabric (triad/fabric.h).
 *
 * The subnet is read under the SM's shared lock, some nodes at a time: after
 * TRIAD_SNAPSHOT_HOLD_US the lock is given back, and taken again behind the last node
 * that was read (OpenSM's map has an order).  So nobody waits long for the lock,
 * whatever the size of the fabric, and links are put together afterwards, without it.
 * When a heavy sweep begins meanwhile, the copy is a mixture; 'sweeps_begun' tells.
 *
 * Nothing in OpenSM's structures is kept after the call.
 *
 * Thread-safety: one snapshot at a time.  Locks: osm->lock, shared. */
#ifndef TRIAD_PLUGIN_SNAPSHOT_H
#define TRIAD_PLUGIN_SNAPSHOT_H

#include <stdatomic.h>

#include "triad/fabric.h"

#define TRIAD_SNAPSHOT_HOLD_US 2000

struct osm_opensm;

/* 'like' (may be NULL): the snapshot before this one.  'sweeps_begun' counts OpenSM's
 * heavy sweeps; when it moves during the call the fabric is marked as not consistent.
 * Returns 0 and a fabric with one reference, ENODATA (nothing discovered yet),
 * ECANCELED (OpenSM is ending), ENOMEM, EOVERFLOW or EINVAL. */
int triad_snapshot_take(struct osm_opensm *osm, const struct triad_fabric *like,
	const atomic_ulong *sweeps_begun, struct triad_fabric **fabric);

#endif
