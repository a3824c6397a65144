/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies OpenSM's subnet into a fabric (triad/fabric.h).
 *
 * It reads the subnet under the SM's shared lock, some nodes at a time.  After
 * TRIAD_SNAPSHOT_HOLD_US it releases the lock, takes it again, and continues after the
 * last node that it read (OpenSM's map is ordered).  So nobody waits long for the lock,
 * whatever the size of the fabric.  It connects links afterwards, without the lock.  If
 * a heavy sweep begins meanwhile, which 'sweeps_begun' shows, the copy may mix two
 * states of the subnet.
 *
 * It keeps no pointer into OpenSM's structures after the call.
 *
 * Thread-safety: one snapshot at a time.  Locks: osm->lock, shared. */
#ifndef TRIAD_PLUGIN_SNAPSHOT_H
#define TRIAD_PLUGIN_SNAPSHOT_H

#include <stdatomic.h>

#include "triad/fabric.h"

#define TRIAD_SNAPSHOT_HOLD_US 2000

struct osm_opensm;

/* 'like' (may be NULL): the snapshot before this one.  'defaults': what
 * triad_osm_defaults_read() read in the SM's thread.  'sweeps_begun' counts OpenSM's
 * heavy sweeps; if it changes during the call, the fabric is marked as not consistent.
 * Returns 0 and a fabric with one reference, ENODATA (nothing discovered yet),
 * ECANCELED (OpenSM is ending), ENOMEM, EOVERFLOW or EINVAL. */
int triad_snapshot_take(struct osm_opensm *osm, const struct triad_fabric *like,
	const struct triad_fabric_qos *defaults, const atomic_ulong *sweeps_begun,
	struct triad_fabric **fabric);

#endif
